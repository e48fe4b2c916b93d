"""The kernels of a phase against the interpreted phase, and against whole runs without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence import first
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_phases import without_kernels
from random_scenes import falling, linked

from gaussdyn.contact.snapshot import Activation
from gaussdyn.integrate.contact_modes import CLOSED, OPEN, Mode
from gaussdyn.integrate.event_driven.compiled.phase_arrays import CompiledPhase
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.event_driven.phase_integrator import Accuracy
from gaussdyn.integrate.event_driven.smooth_phase import Phase
from gaussdyn.integrate.impact.impact_laws import Moreau
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.joints.limits_motors import Gear, JointFriction, Limit, Motor
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody, Point, disc, fixed
from gaussdyn.mechanics.planar.contacts import DryFriction, HalfPlane, PlanarContact, Rod, String
from gaussdyn.mechanics.planar.forces import Drag, Load, Shaking, Spring
from gaussdyn.mechanics.planar.joints import Hinge, Slider, Weld
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.planar.tables import tables_of
from gaussdyn.mechanics.state import State
from gaussdyn.scenes.catalogue import build

ACCURACY = Accuracy(rtol=1e-12, atol=1e-13, activation=Activation(), law=Moreau())
numbers = st.floats(-2.0, 2.0, allow_nan=False)
SLIP, BACK = Mode(closed=True, slip=(1.0,)), Mode(closed=True, slip=(-1.0,), sign=-1.0)


def everything():
    """A system with every part that has a table: bodies that turn, a half-plane on one of them, links, friction."""
    cart, rod, bob = Marker("cart", (0.3, -0.2)), Marker("rod", (-0.5, 0.1), "tip"), Marker("bob")
    ramp = HalfPlane(name="ramp", point=(0.1, 0.2), normal=(0.3, 1.0), belt=0.4, body="cart")
    return PlanarSystem(
        bodies=[PlanarBody(name="cart", mass=2.0, inertia=0.7), PlanarBody(name="rod", mass=1.3, inertia=0.2),
                Point(name="bob", mass=0.6)],
        contacts=[
            PlanarContact(point=rod, plane=ramp, mu=0.3, mu_s=0.5, radius=0.05),
            PlanarContact(point=bob, plane=HalfPlane(name="guide", normal=(1.0, 0.4)), mu=0.2, bilateral=True),
            Rod(a=cart, b=bob, length=1.1), String(a=rod, b=fixed(0.2, 3.0, "hook"), length=2.0),
            DryFriction(point=cart, direction=(0.6, 0.8), cap=0.7, cap_s=0.9, belt=0.2),
        ],
        forces=[Spring(a=cart, b=rod, stiffness=3.0, length=0.4, damping=0.2),
                Spring(a=bob, b=fixed(0.0, 0.0, "wall"), stiffness=1.0), Drag(point=rod, damping=0.3),
                Load(point=rod, force_xy=(0.4, -0.3), torque=0.2),
                Shaking(direction=(0.6, 0.8), amplitude=0.9, frequency=0.7, phase=0.1)],
    )  # fmt: skip


@pytest.mark.parametrize("chosen", [
    (OPEN, CLOSED, OPEN, OPEN, CLOSED), (CLOSED, CLOSED, SLIP, CLOSED, SLIP), (SLIP, BACK, BACK, OPEN, BACK),
    (OPEN, CLOSED, CLOSED, OPEN, CLOSED),
])  # fmt: skip
@settings(max_examples=15, deadline=None)
@given(q=st.lists(numbers, min_size=8, max_size=8), v=st.lists(numbers, min_size=8, max_size=8), t=numbers)
def test_kernels_give_the_accelerations_reactions_and_conditions_of_the_phase(chosen, q, v, t):
    check_kernels(everything(), chosen, np.array(q), np.array(v), t)


def check_kernels(system, chosen, q, v, t):
    """Rates and conditions of a phase by kernels are those of the interpreted phase."""
    rows = system.rows(t, q, v)
    by_kind = dict(zip(("contact", "bilateral", "bilateral_contact", "unilateral", "dry"), chosen, strict=True))
    modes = {row.id: CLOSED if row.kind == "bilateral" else by_kind[row.kind] for row in rows}
    phase = Phase(system=system, control=0.1 * np.arange(float(system.nv)), modes=modes, rows=rows)
    ship = CompiledPhase.of(phase, ACCURACY)
    assert ship is not None
    now = phase.instant(t, q, v)
    y = np.concatenate((q, v, np.zeros(sum(row.size for row in rows) + 2)))
    power = system.power(t, q, v, phase.control)
    expected = np.concatenate((v, now.a, *now.r, [v @ now.push, power]))
    scale = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(ship.slope(t, y), expected, rtol=0, atol=1e-10 * scale)
    seen = ship.look(t, y)
    np.testing.assert_allclose(seen.g, phase.conditions(now), rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(seen.rate, phase.rates(now), rtol=0, atol=1e-10 * scale)


TIP, HUB = Marker("a", (0.5, -0.1), "tip"), Marker("b", (0.2, 0.3), "hub")
KNEE, RAIL = Hinge(name="knee", a=TIP, b=HUB), Slider(name="rail", a=TIP, b=HUB, direction=(1.0, 2.0), angle=0.3)
HIP = Hinge(name="hip", a=Marker("c"), b=Marker("b", (-0.2, 0.3)))
JOINTED = {
    "hinge": ((KNEE, HIP), ()), "slider on a guide that moves": ((RAIL,), ()),
    "weld": ((Weld(name="seam", a=TIP, b=HUB, angle=-0.4), HIP), ()),
    "limit": ((KNEE, Limit(joint="knee", high=1.0, low=-2.0)), ()), "stop": ((RAIL, Limit(joint="rail", low=-1.0)), ()),
    "motors": ((RAIL, Motor(joint="rail", rate=2.0), HIP, Motor(joint="hip", rate=-1.0, cap=5.0)), ()),
    "friction": ((KNEE, JointFriction(joint="knee", cap=1.0, cap_s=2.0)), ()),
    "gear": ((RAIL, HIP, Gear(joint="rail", other="hip", ratio=0.3)), ()),
    "drives": ((RAIL, HIP), (
        Drive(joint="rail", effort=0.3, stiffness=2.0, target=0.4, damping=0.1, rate=0.2),
        Drive(joint="hip", effort=-0.2, stiffness=1.0, target=-0.3, damping=0.2, rate=0.1))),
}  # fmt: skip


@pytest.mark.parametrize("dry", [CLOSED, SLIP, BACK])
@pytest.mark.parametrize("name", JOINTED)
def test_joints_in_the_plane_and_what_acts_on_them_are_served(name, dry):
    bodies = [PlanarBody(name=body, mass=1.0 + k, inertia=0.2 + 0.1 * k) for k, body in enumerate("abc")]
    joints, forces = JOINTED[name]
    system, rng = PlanarSystem(bodies=bodies, joints=joints, forces=forces), np.random.default_rng(7)
    for stop in (OPEN, CLOSED):
        if name != "limit" or stop is OPEN:  # both of its stops cannot hold
            check_kernels(system, (OPEN, CLOSED, OPEN, stop, dry), *rng.normal(size=(2, 9)), 0.3)


@pytest.mark.parametrize("seed", first(1, [3, 8]))
def test_jointed_bodies_in_the_plane_move_with_kernels_as_without_them(seed, monkeypatch):
    system, state = linked(2, seed)
    fast = simulate(system, state, 0.45, stepper=EventDriven())
    without_kernels(monkeypatch)
    slow = simulate(system, state, 0.45, stepper=EventDriven())
    assert system.joints
    assert [(e.kind, e.id) for e in fast.events] == [(e.kind, e.id) for e in slow.events]
    np.testing.assert_allclose([e.t for e in fast.events], [e.t for e in slow.events], rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast.q[-1], slow.q[-1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["parallelogram", "equal_crank"])
def test_loops_that_lose_rank_move_with_kernels_as_without_them(name, monkeypatch):
    fast = simulate(build(name), stepper=EventDriven())
    without_kernels(monkeypatch)
    slow = simulate(build(name), stepper=EventDriven())
    assert fast.status == slow.status == "STOPPED"
    assert "lose rank" in str(fast.stop)
    t = 0.9 * slow.t[-1]
    np.testing.assert_allclose(fast.t[-1], slow.t[-1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(fast.at(t).q, slow.at(t).q, rtol=0, atol=1e-9)  # of rtol 1e-12 and 1e-13 differ as much


@pytest.mark.parametrize("name", ["coulomb_oscillator", "belt_oscillator", "rocking_block", "falling_rod"])
def test_a_run_with_kernels_is_the_run_without_them(name, monkeypatch):
    scene = build(name)
    assert tables_of(scene.system) is not None
    fast = simulate(scene, stepper=EventDriven())
    without_kernels(monkeypatch)
    slow = simulate(scene, stepper=EventDriven())
    assert [(e.kind, e.id) for e in fast.events] == [(e.kind, e.id) for e in slow.events]
    np.testing.assert_allclose([e.t for e in fast.events], [e.t for e in slow.events], rtol=0, atol=1e-11)
    np.testing.assert_allclose(fast.q[-1], slow.q[-1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast["work_reactions"][-1], slow["work_reactions"][-1], rtol=0, atol=1e-9)


def test_contacts_of_shapes_have_a_table_once_they_are_listed():
    shapes = PlanarSystem(bodies=[disc("ball", mass=1.0, radius=0.1)], obstacles=[HalfPlane(name="floor")])
    assert tables_of(shapes) is None
    assert len(tables_of(shapes.near(0.0, np.array([0.0, 0.1, 0.0]), np.zeros(3), 0.1)).numbers) == 1


@pytest.mark.parametrize(
    ("dim", "seed", "eps", "count"), first(2, [(2, 1, 0.5, 3), (3, 23, 0.0, 2), (3, 21, 0.0, 2), (2, 21, 0.5, None)])
)
def test_shapes_that_fall_on_shapes_move_with_kernels_as_without_them(dim, seed, eps, count, monkeypatch):
    """Also where features end: kernels do not know that, and Python says it."""
    system, state = falling(dim, seed, mu=0.5, eps_n=eps, eps_t=0.6 * eps, count=count)
    of, ended = CompiledPhase.of, []

    def made(phase, *given):
        """Note whether features end."""
        ended.append(any(guard.kind == "end" for guard in phase.guards))
        return of(phase, *given)

    monkeypatch.setattr(CompiledPhase, "of", made)
    fast = simulate(system, state, 0.24, stepper=EventDriven())
    without_kernels(monkeypatch)
    slow = simulate(system, state, 0.24, stepper=EventDriven())
    assert fast.status == slow.status == "COMPLETED", fast.stop
    assert any(ended)
    assert [(e.kind, e.id) for e in fast.events] == [(e.kind, e.id) for e in slow.events]
    np.testing.assert_allclose([e.t for e in fast.events], [e.t for e in slow.events], rtol=0, atol=1e-9)
    np.testing.assert_allclose(fast.q[-1], slow.q[-1], rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["belt_oscillator", "rocking_block"])
def test_a_run_from_copied_states_is_the_same_to_the_bit(name):
    """A leg may take over the phase that the last one has entered; from the numbers of the state it finds the same."""
    scene, stepper = build(name), EventDriven()
    known = copied = scene.state
    while known.t < scene.t_end:
        known = stepper.advance(scene.system, known, scene.t_end).state
        copied = State(t=copied.t, q=copied.q, v=copied.v, memory=dict(copied.memory))
        copied = stepper.advance(scene.system, copied, scene.t_end).state
        assert known.digest() == copied.digest()


@pytest.mark.parametrize(
    "name", ["coulomb_oscillator", "belt_oscillator", "zeno_ball", "rocking_block", "slack_string"]
)
def test_events_that_kernels_follow_up_to_are_those_that_python_polishes(name, monkeypatch):
    def sail(self, *given):
        """Sail, and leave the way up to the event to Python."""
        done = sailed(self, *given)
        if done.event is None:
            return done
        found.append(done.event[0])
        trail = done.trail
        cut = {key: getattr(trail, key)[:-1] for key in ("t", "h", "q", "v", "r")}
        return replace(done, event=None, trail=replace(trail, **cut))

    run, found, sailed = simulate(build(name), stepper=EventDriven()), [], CompiledPhase.sail
    monkeypatch.setattr(CompiledPhase, "sail", sail)
    other = simulate(build(name), stepper=EventDriven())
    assert found
    assert set(found) <= {event.t for event in run.events}
    assert [(a.t, a.kind, a.id) for a in run.events] == [(b.t, b.kind, b.id) for b in other.events]
    assert run.state_hash == other.state_hash
    one, two = (np.concatenate([arc.q for step in r.evidence.values() for arc in step.arcs]) for r in (run, other))
    assert np.array_equal(one, two)
