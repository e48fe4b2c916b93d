"""Events that kernels decide: those found without, the same to the bit however many in a row, by the same laws."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
from evidence import first

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.contact.assemble import assemble, start_of_blocks
from gaussdyn.contact.snapshot import Activation, snapshot
from gaussdyn.integrate.contact_modes import Mode
from gaussdyn.integrate.event_driven import event_stepper
from gaussdyn.integrate.event_driven.clear_events import PassedStep
from gaussdyn.integrate.event_driven.compiled import phase_jump
from gaussdyn.integrate.event_driven.compiled.phase_arrays import CompiledPhase
from gaussdyn.integrate.event_driven.compiled.records import OFF
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.event_driven.smooth_phase import Phase
from gaussdyn.integrate.run.step_evidence import as_arrays
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.planar.bodies import Marker, Point, disc, fixed
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.forces import Drag, Load, Shaking, Spring
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.state import State
from gaussdyn.programs.solution.residuals import block_residuals

G = 9.81


def sliders(seed: int) -> tuple[PlanarSystem, State]:
    """Return some points on floors of their own, coupled by springs and shaken."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    bodies = [Point(name=f"b{k}", mass=rng.uniform(0.5, 2.0)) for k in range(n)]
    forces = [Shaking(amplitude=rng.uniform(2.0, 6.0), frequency=rng.uniform(0.1, 0.5))]
    contacts = []
    for k in range(n):
        to = Marker(f"b{k - 1}") if k else fixed(0.0, 0.0, "wall")
        forces.append(Spring(a=Marker(f"b{k}"), b=to, stiffness=rng.uniform(1.0, 30.0)))
        mu, plane = rng.uniform(0.05, 0.3), HalfPlane(name=f"floor{k}", belt=rng.choice([0.0, 0.4]))
        rest = mu * rng.choice([1.0, 1.5])
        contacts.append(PlanarContact(point=Marker(f"b{k}"), plane=plane, mu=mu, mu_s=rest))
    system = PlanarSystem(bodies=bodies, forces=forces, gravity=(0.0, -G), contacts=contacts)
    places = {f"b{k}": (rng.uniform(-1.0, 1.0), 0.0) for k in range(n)}
    speeds = {f"b{k}": (rng.uniform(-2.0, 2.0), 0.0) for k in range(n)}
    return system, system.state(places, speeds)


def without():
    """Have no event be clear."""
    return mock.patch.object(event_stepper, "clear_steps", return_value=None)


def test_audits_miss_arcs_that_cannot_be_followed_once_more():
    """A sample of theirs is at a pole: the run is judged, and fails, by what is left."""
    system, state = sliders(1)
    run = simulate(system, state, 5.0, stepper=EventDriven())
    with mock.patch.object(CompiledPhase, "passed", side_effect=np.linalg.LinAlgError("a sample is beyond a pole")):
        checked = audit(run, system)
    assert not checked.passed
    assert "kinematics" in checked.explain()


@pytest.mark.parametrize("seed", [1, 4])
def test_arcs_are_the_same_whenever_they_are_asked_for(seed):
    """They are followed once more then, whatever has been passed or edited since."""
    system, state = sliders(seed)
    run = simulate(system, state, 6.0, stepper=EventDriven())
    told = as_arrays(run.evidence)
    state.q[:], state.v[:], run.final.q[:] = 0.0, 7.0, 0.0
    simulate(system, run.state(3), 6.0, stepper=EventDriven(rtol=1e-9))
    late = {k: run.evidence[k] for k in reversed(list(run.evidence))}
    again = as_arrays(dict(sorted(late.items())))
    assert len(told["arc_t"]) > 20
    for key, numbers in told.items():
        np.testing.assert_array_equal(again[key], numbers)
    with without():
        other = as_arrays(simulate(*sliders(seed), 6.0, stepper=EventDriven()).evidence)
    np.testing.assert_allclose(other["push"], told["push"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", first(1, range(1, 12)))
def test_the_events_are_those_that_are_decided_without_kernels(seed):
    system, state = sliders(seed)
    run = simulate(system, state, 6.0, stepper=EventDriven())
    with without():
        other = simulate(system, state, 6.0, stepper=EventDriven())
    assert run.status == other.status == "COMPLETED", (run.stop, other.stop)
    assert len(run.events) > 1
    assert [(one.kind, one.id) for one in run.events] == [(one.kind, one.id) for one in other.events]
    times = [np.array([one.t for one in found.events]) for found in (run, other)]
    np.testing.assert_allclose(*times, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.q, other.q, rtol=0, atol=1e-10)
    for name, column in run.columns.items():
        np.testing.assert_allclose(column.values, other.columns[name].values, rtol=0, atol=1e-8, err_msg=name)
    assert audit(run, system).passed


def test_they_are_the_same_to_the_bit_however_many_in_a_row():
    """One by one from copies of states, and all in one run: states, what they remember, and what is recorded."""
    clear = 0
    for seed in range(6):
        system, state = sliders(seed)
        run = simulate(system, state, 4.0, stepper=EventDriven())
        assert simulate(system, state, 4.0, stepper=EventDriven(), examine="cheap").state_hash == run.state_hash
        for k in range(1, len(run.t)):
            copy = State(t=state.t, q=state.q.copy(), v=state.v.copy(), memory=dict(state.memory))
            step = EventDriven().advance(system, copy, 4.0)
            state, clear = step.state, clear + isinstance(step, PassedStep)
            assert (state.t, state.q.tobytes(), state.v.tobytes()) == (run.t[k], run.q[k].tobytes(), run.v[k].tobytes())
            assert run.steps.E[k - 1] == step.solution.residuals.E
            if step.energy is not None:
                assert run.columns["kinetic"].values[k] == step.energy[0]
        assert state.digest() == run.state_hash
    assert clear > 10


def test_most_events_of_sliders_are_clear_and_landings_are_not():
    system, state = sliders(3)
    steps = []
    with mock.patch.object(event_stepper, "clear_steps", wraps=event_stepper.clear_steps) as asked:
        run = simulate(system, state, 6.0, stepper=EventDriven())
    assert asked.call_count < len(run.events)
    ball = PlanarSystem(
        bodies=[disc("b", mass=1.0, radius=0.1)], gravity=(0.0, -G),
        contacts=[PlanarContact(point=Marker("b"), plane=HalfPlane(name="floor"), radius=0.1, mu=0.2, eps_n=0.5)],
    )  # fmt: skip
    at = ball.state({"b": (0.0, 0.2, 0.0)}, {"b": (5.0, 0.0, 0.0)})
    while at.t < 2.0:
        step = EventDriven().advance(ball, at, 2.0)
        landed = any(change.kind in ("touchdown", "lift_off", "accumulation") for change in step.changes)
        assert not (landed and isinstance(step, PassedStep))
        steps.append(isinstance(step, PassedStep))
        at = step.state
    assert any(steps)  # the disc rolls at last


@pytest.mark.parametrize("seed", range(8))
def test_kernels_judge_laws_as_the_problem_does(seed):
    """Reactions that are off the laws by little or much, at places where some contacts stick and others slide."""
    rng = np.random.default_rng(seed)
    system, _ = sliders(seed)
    n = system.nv // 2
    q, v = np.zeros(system.nq), np.zeros(system.nv)
    q[0::2], v[0::2] = rng.uniform(-1.0, 1.0, n), rng.choice([-1.0, 0.0, 1.0], n)
    state = State(t=0.3, q=q, v=v)
    rows = system.rows(state.t, q, v)
    modes = {
        row.id: Mode(closed=True, slip=(math.copysign(1.0, row.rate[1]),) if abs(row.rate[1]) > 1e-9 else ())
        for row in rows
    }  # fmt: skip
    phase = Phase(system=system, control=None, modes=modes, rows=rows)
    ship = CompiledPhase.of(phase, EventDriven().accuracy)
    y, said = np.concatenate([q, v, np.zeros(2 * n + 2)]), np.empty(6)
    counts = np.array([1e-9, 1e-9, 0.0, 0.0])
    assert phase_jump.asked(ship.held, state.t, y, said) == 0
    room = ship.held.value.phase.room
    room.r[:] *= 1.0 + rng.choice([0.0, 1e-6, 0.1]) * rng.normal(size=len(room.r))
    assert phase_jump.judge(ship.held, counts, ship.laws, said) == 0
    dynamics = snapshot(system, state, activation=Activation())
    problem = assemble(dynamics)
    r = start_of_blocks(dynamics, {row.id: room.r[2 * k : 2 * k + 2] for k, row in enumerate(rows)})
    found = block_residuals(problem, r)
    form = problem.form
    terms = np.linalg.norm(np.abs(form.J) @ np.abs(dynamics.x_free) + np.abs(form.w))
    expected = found.E * min(1.0, np.linalg.norm(problem.q) / terms)
    assert said[OFF] == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_what_turns_at_one_time_is_one_event_and_not_a_clear_one():
    system = PlanarSystem(
        bodies=[Point(name=key, mass=1.0) for key in "ab"], gravity=(0.0, -G),
        forces=[Spring(a=Marker(key), b=fixed(0.0, 0.0, f"wall{key}"), stiffness=4.0) for key in "ab"],
        contacts=[PlanarContact(point=Marker(key), plane=HalfPlane(name="floor"), mu=0.02) for key in "ab"],
    )  # fmt: skip
    at, seen = system.state({"a": (1.0, 0.0), "b": (1.0, 0.0)}), 0
    while at.t < 5.0:
        step = EventDriven().advance(system, at, 5.0)
        assert not isinstance(step, PassedStep)
        seen, at = seen + len(step.changes), step.state
        assert len(step.changes) in (0, 2)
    assert seen >= 4


def test_a_step_that_ends_at_a_clear_event_can_be_given_another_end():
    system, state = sliders(3)
    step = EventDriven().advance(system, state, 6.0)
    while not isinstance(step, PassedStep):
        step = EventDriven().advance(system, step.state, 6.0)
    other = step.ending(State(t=step.state.t, q=step.state.q, v=step.state.v))
    assert type(other) is not PassedStep
    assert other.rows == step.rows
    assert other.reactions.keys() == step.reactions.keys()


def test_what_is_drawn_by_a_load_creeps_on_as_without_kernels():
    """Stick that ends at mu_s = mu begins with no acceleration: that is left to the laws a little later."""
    system = PlanarSystem(
        bodies=[Point(name="b", mass=1.0)], gravity=(0.0, -G),
        forces=[Shaking(amplitude=3.0, frequency=0.2), Drag(point=Marker("b"), damping=0.1),
                Load(point=Marker("b"), force_xy=(0.3, 0.0))],
        contacts=[PlanarContact(point=Marker("b"), plane=HalfPlane(name="floor"), mu=0.2)],
    )  # fmt: skip
    state = system.state({"b": (0.0, 0.0)})
    run = simulate(system, state, 20.0, stepper=EventDriven())
    with without():
        other = simulate(system, state, 20.0, stepper=EventDriven())
    assert {"slip", "stick"} <= {one.kind for one in run.events}
    np.testing.assert_allclose([one.t for one in run.events], [one.t for one in other.events], rtol=0, atol=1e-10)
