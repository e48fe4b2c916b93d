"""Impacts of one contact that kernels decide: those of the general way, by the same laws, however many in a row."""

from __future__ import annotations

import math
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from evidence import first
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.event_driven import event_stepper
from gaussdyn.integrate.event_driven.clear_events import PassedStep
from gaussdyn.integrate.event_driven.compiled import phase_impact
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.impact.impact import impact
from gaussdyn.integrate.impact.impact_laws import Moreau, Newton
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.forces import Spring
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import ball
from gaussdyn.mechanics.spatial.joints import BallJoint
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State

G = 9.81


def discs(seed: int) -> tuple[PlanarSystem, State]:
    """Return discs that bounce on belts of their own, joined by springs."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    names = [f"b{k}" for k in range(n)]
    forces = [Spring(a=Marker(a), b=Marker(b), stiffness=rng.uniform(1.0, 5.0)) for a, b in pairwise(names)]
    contacts = [
        PlanarContact(
            point=Marker(key), plane=HalfPlane(name=f"floor{key}", belt=rng.choice([0.0, 0.4])), radius=0.1,
            mu=rng.choice([0.0, rng.uniform(0.1, 1.0)]), eps_n=rng.uniform(0.3, 0.9), eps_t=rng.choice([0.0, 0.3]),
        )
        for key in names
    ]  # fmt: skip
    masses = rng.uniform(0.5, 2.0, n).tolist()
    bodies = [PlanarBody(name=key, mass=m, inertia=0.005 * m) for key, m in zip(names, masses, strict=True)]
    system = PlanarSystem(bodies=bodies, forces=forces, gravity=(0.0, -G), contacts=contacts)
    places = {key: (k, rng.uniform(0.3, 1.0), 0.0) for k, key in enumerate(names)}
    return system, system.state(places, {key: tuple(rng.normal(size=3)) for key in names})


def jointed(seed: int) -> tuple[SpatialSystem, State]:
    """Return a ball above a floor, or two with a joint beside their centres, turned at random."""
    rng = np.random.default_rng(seed)
    names, arm = ["b0", "b1"][: 1 + seed % 2], np.array([0.3, 0.1, 0.0])
    joints = [
        BallJoint(name=f"j{a}", a=SpatialMarker(a, tuple(arm)), b=SpatialMarker(b, tuple(-arm)))
        for a, b in pairwise(names)
    ]
    system = SpatialSystem(
        bodies=[ball(key, mass=rng.uniform(0.5, 2.0), radius=0.2) for key in names], joints=joints,
        obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=rng.choice([0.0, rng.uniform(0.1, 0.6)]), eps_n=rng.uniform(0.3, 0.9),
                           eps_t=rng.choice([0.0, 0.2])),
    )  # fmt: skip
    x, places = np.array([0.0, 0.0, rng.uniform(0.8, 1.0)]), {}
    for key in names:
        turn = Rotation.from_rotvec(0.3 * rng.normal(size=3))
        x = x + turn.apply(arm) if places else x
        places[key] = (*x, *np.roll(turn.as_quat(), 1))
        x = x + turn.apply(arm)
    return system, system.state(places, {} if joints else {"b0": (*rng.normal(size=2), -1.0, *rng.normal(size=3))})


MADE = [(discs, seed) for seed in range(4)] + [(jointed, seed) for seed in range(4)]
MORE = [(made, seed) for made in (discs, jointed) for seed in range(4, 20)]


@pytest.mark.parametrize(
    ("made", "seed"), [*MADE, *(pytest.param(*one, marks=pytest.mark.slow) for one in MORE)]
)  # fmt: skip
def test_bounces_are_those_that_are_decided_without_kernels(made, seed):
    system, state = made(seed)
    run = simulate(system, state, 0.7, stepper=EventDriven())
    with mock.patch.object(event_stepper, "clear_steps", return_value=None):
        other = simulate(system, state, 0.7, stepper=EventDriven())
    assert run.status == other.status == "COMPLETED", (run.stop, other.stop)
    assert any(event.kind == "impact" for event in run.events)
    assert [(one.kind, one.id) for one in run.events] == [(one.kind, one.id) for one in other.events]
    times = [np.array([one.t for one in found.events]) for found in (run, other)]
    np.testing.assert_allclose(*times, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.q, other.q, rtol=0, atol=1e-10)
    last = np.append(1.0, np.diff(run.t))  # forces are impulses over steps, which may be very short
    for name, column in run.columns.items():
        by = last if column.unit in ("N", "N m") else 1.0
        np.testing.assert_allclose(by * column.values, by * other.columns[name].values, rtol=0, atol=1e-8, err_msg=name)
    assert len(run.impacts) == len(other.impacts)
    for one, two in zip(run.impacts, other.impacts, strict=True):
        assert (one.step, one.kind, one.kept) == (two.step, two.kind, two.kept)
        np.testing.assert_allclose(one.after, two.after, rtol=0, atol=1e-10)
        assert [own.keys() for own in one.problems] == [own.keys() for own in two.problems]
        for own, known in zip(one.problems, two.problems, strict=True):
            for key, p in own.items():
                np.testing.assert_allclose(p, known[key], rtol=0, atol=1e-9, err_msg=key)
    assert audit(run, system).passed


def test_they_are_the_same_to_the_bit_however_many_in_a_row():
    """One by one from copies of states, and all in one run: states, what they remember, and what is recorded."""
    clear = {discs: 0, jointed: 0}
    for made, seed in MADE:
        system, state = made(seed)
        run = simulate(system, state, 0.8, stepper=EventDriven())
        assert simulate(system, state, 0.8, stepper=EventDriven(), examine="cheap").state_hash == run.state_hash
        for k in range(1, len(run.t)):
            copy = State(t=state.t, q=state.q.copy(), v=state.v.copy(), memory=dict(state.memory))
            step = EventDriven().advance(system, copy, 0.8)
            state, bounces = step.state, isinstance(step, PassedStep)
            clear[made] += bounces
            assert (state.t, state.q.tobytes(), state.v.tobytes()) == (run.t[k], run.q[k].tobytes(), run.v[k].tobytes())
            if bounces:
                assert run.columns["kinetic"].values[k] == step.energy[0]
        assert state.digest() == run.state_hash
    assert min(clear.values()) > 10, clear


def steps_of(system, state, t_end, stepper):
    """Return all steps of a motion."""
    found = []
    while state.t < t_end:
        found.append(stepper.advance(system, state, t_end))
        state = found[-1].state
    return found


@pytest.mark.parametrize(("made", "seed"), [(discs, 1), (jointed, 2)])
def test_a_step_says_what_one_of_the_general_way_does(made, seed):
    system, state = made(seed)
    step = next(one for one in steps_of(system, state, 0.8, EventDriven()) if isinstance(one, PassedStep))
    with mock.patch.object(event_stepper, "clear_steps", return_value=None):
        other = EventDriven().advance(system, step.start, 0.8)
    assert type(other) is not PassedStep
    assert [row.id for row in step.rows] == [row.id for row in other.rows]
    assert step.modes == other.modes
    assert step.state.memory.keys() == other.state.memory.keys()
    for name in ("reactions", "forces"):
        mine, known = getattr(step, name), getattr(other, name)
        assert mine.keys() == known.keys()
        for key, r in mine.items():
            np.testing.assert_allclose(r, known[key], rtol=0, atol=1e-9, err_msg=key)
    for key, x in step.state.memory.items():
        np.testing.assert_allclose(x, other.state.memory[key], rtol=1e-9, atol=1e-9, err_msg=key)
    np.testing.assert_allclose(step.solution.x, other.solution.x, rtol=0, atol=1e-9)
    assert step.solution.residuals.E == other.solution.residuals.E == 0.0
    assert step.work.reactions == pytest.approx(other.work.reactions, abs=1e-10)
    np.testing.assert_allclose(step.arcs[-1].v, other.arcs[-1].v, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("law", "known"), [(Moreau(eps=0.4), True), (Moreau(), True), (Newton(eps_n=0.4), False), (Newton(), False)]
)
def test_the_law_of_an_impact_is_the_one_that_was_asked_for(law, known):
    """What a kernel made of an impact is what `impact` makes of the state before; kernels know Moreau's law alone."""
    system, state = discs(1)
    steps = steps_of(system, state, 0.8, EventDriven(impact=law))
    strikes = [(one, strike) for one in steps for strike in one.impacts if strike.kind == "impact"]
    assert strikes
    assert any(isinstance(one, PassedStep) for one, _ in strikes) == known
    for one, strike in strikes:
        said = impact(system, State(t=strike.t, q=strike.q, v=strike.before), law=law)
        np.testing.assert_allclose(strike.after, said.v, rtol=0, atol=1e-12)
        assert one.restitution == said.kept


def test_what_stays_after_an_impact_is_not_clear():
    """No restitution; and a body that slides while another one bounces on it, by a spring."""
    system = PlanarSystem(
        bodies=[PlanarBody(name=key, mass=1.0, inertia=0.005) for key in "ab"], gravity=(0.0, -G),
        forces=[Spring(a=Marker("a"), b=Marker("b"), stiffness=1.0)],
        contacts=[
            PlanarContact(point=Marker(key), plane=HalfPlane(name="floor"), radius=0.1, mu=0.1, eps_n=e)
            for key, e in (("a", 0.0), ("b", 0.8))
        ],
    )  # fmt: skip
    at = system.state({"a": (0.0, 0.2, 0.0), "b": (1.0, 0.5, 0.0)}, {"a": (3.0, 0.0, 0.0)})
    steps = steps_of(system, at, 0.9, EventDriven())
    struck = [one for one in steps if one.impacts]
    assert {key for one in struck for key in one.impacts[0].problems[0]} == {"a/floor", "b/floor"}
    assert len(struck) >= 3
    assert not any(isinstance(one, PassedStep) for one in struck)


@pytest.mark.parametrize("seed", first(8, range(20)))
def test_the_gap_rises_with_the_impulse_where_kernels_say_so(seed):
    """Friction for a given normal impulse, found by a scan of its directions: u_N(p_N) never falls."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3)) * [[1.0], [0.3], [0.3]]
    W, q, mu = A @ A.T + 0.1 * np.eye(3), rng.normal(size=3), rng.uniform(0.0, 1.5)

    def rate(p: float) -> float:
        """The normal rate at an impulse, with the friction that dissipates most."""
        b, T = q[1:] + W[1:, 0] * p, W[1:, 1:]
        stuck = -np.linalg.solve(T, b)
        if np.linalg.norm(stuck) > mu * p:

            def power(angle: float) -> float:
                """What friction minimises on the border of its disc."""
                x = mu * p * np.array([math.cos(angle), math.sin(angle)])
                return float(0.5 * x @ T @ x + b @ x)

            angles = np.linspace(0.0, 2.0 * math.pi, 200)
            near = angles[np.argmin([power(angle) for angle in angles])]
            best = minimize_scalar(power, bounds=(near - 0.05, near + 0.05), method="bounded", options={"xatol": 1e-12})
            stuck = mu * p * np.array([math.cos(best.x), math.sin(best.x)])
        return float(W[0, 0] * p + W[0, 1:] @ stuck + q[0])

    rates = np.array([rate(p) for p in np.linspace(0.0, 5.0, 60)])
    if phase_impact.rises(W.ravel(), 3, mu):
        assert (np.diff(rates) > 0.0).all()


def test_kernels_say_that_a_gap_need_not_rise():
    assert phase_impact.rises(np.diag([1.0, 2.0, 2.0]).ravel(), 3, 10.0)
    for tilt in (0.9, -0.9):
        W = np.array([[1.0, tilt], [tilt, 1.0]])
        assert phase_impact.rises(W.ravel(), 2, 0.9)
        assert not phase_impact.rises(W.ravel(), 2, 1.2)  # W_NN < mu |W_NT|: a rod that jams


@pytest.mark.parametrize("seed", [23, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 19, 37, 59))])
def test_balls_in_joints_that_come_to_slide_slowly_go_on_and_pass_the_audit(seed):
    """Friction turns slow slips at once: no forces are stiff; and as they stop friction has the direction they had."""
    system, state = jointed(seed)
    run = simulate(system, state, 2.0, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert {event.kind for event in run.events} >= {"impact", "accumulation"}
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def test_hundreds_of_bounces_are_where_their_flights_in_closed_form_end():
    """What a flight gains or loses by rounding all later ones have; 1.7e-9 s were lost until the last of these."""
    kept, n = 0.999, 687
    contact = PlanarContact(point=Marker("ball"), plane=HalfPlane(name="table"), eps_n=kept)
    system = PlanarSystem(
        bodies=[PlanarBody(name="ball", mass=1.0, inertia=0.1)], contacts=[contact], gravity=(0.0, -G)
    )
    fall = math.sqrt(2.0 / G)
    ends = [fall * math.fsum((1.0, *(2.0 * kept**m for m in range(1, k + 1)))) for k in range(n)]
    run = simulate(system, system.state({"ball": (0.0, 1.0, 0.0)}), ends[-1] + 0.1, stepper=EventDriven())
    times = [event.t for event in run.events if event.kind == "impact"]
    assert len(times) == n
    np.testing.assert_allclose(times, ends, rtol=0, atol=1e-10)
