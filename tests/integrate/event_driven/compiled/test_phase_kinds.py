"""The kernels of phases of trees, of systems from symbols and of functions in Python against the interpreted phase."""

from __future__ import annotations

import math
from dataclasses import replace

import jointed_cases
import numpy as np
import pytest
import sympy as sp
import tree_cases
from evidence import examples
from plain_phases import without_kernels
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.contact.snapshot import Activation
from gaussdyn.integrate.contact_modes import CLOSED, OPEN, Mode, parts_of, rough
from gaussdyn.integrate.event_driven.compiled.phase_arrays import CompiledPhase
from gaussdyn.integrate.event_driven.compiled.records import FOREST, FUNCTION
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.event_driven.phase_integrator import Accuracy
from gaussdyn.integrate.event_driven.smooth_phase import Phase
from gaussdyn.integrate.impact.impact_laws import Moreau
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.lagrangian import Contact, LagrangianSystem
from gaussdyn.mechanics.spatial.bodies import SpatialBody
from gaussdyn.mechanics.spatial.joints import Hinge
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.links import String
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.trees import TreeBody, TreeJoint
from gaussdyn.mechanics.trees.parts import Connect
from gaussdyn.mechanics.trees.system import TreeSystem
from gaussdyn.mechanics.user.system import Position, UserSystem, Velocity
from gaussdyn.scenes.catalogue import build

ACCURACY = Accuracy(rtol=1e-12, atol=1e-13, activation=Activation(), law=Moreau())


def modes_of(rows, rng):
    """Modes of all rows: joints are closed, others open, closed or slipping."""
    found = {}
    for row in rows:
        slip = parts_of(row)[0]
        way = rng.normal(size=slip.stop - slip.start)
        slipping = Mode(closed=True, slip=tuple((way / np.linalg.norm(way)).tolist())) if len(way) else CLOSED
        slips = rough(row) and rng.random() < 0.6
        opens = row.kind in ("unilateral", "contact") and rng.random() < 0.85  # else there are too many
        found[row.id] = OPEN if opens else slipping if slips else CLOSED
    return found


def check_kernels(system, state, rng, control, who):
    """Rates and conditions by kernels are those of the equations that can be read; return whether rows are independent.

    Where they depend on one another reactions are the shortest.
    """
    t, q, v = state.t, state.q, state.v
    rows = system.rows(t, q, v)
    phase = Phase(system=system, control=control, modes=modes_of(rows, rng), rows=rows)
    ship = CompiledPhase.of(phase, ACCURACY)
    if phase.redundant:  # kernels pass none of its events without samples, where reactions are looked at
        assert CompiledPhase.of_clear(phase, ACCURACY) is None
    assert ship.held.value.phase.who == who
    q, v = system.move(q, v, 0.01), v + 0.1  # elsewhere than it was made
    now = phase.instant(t, q, v)
    y = np.concatenate((q, v, np.zeros(sum(row.size for row in rows) + 2)))
    power = system.power(t, q, v, control)
    expected = np.concatenate((system.qdot(q, v), now.a, *now.r, [v @ now.push, power]))
    scale = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(ship.slope(t, y), expected, rtol=0, atol=1e-10 * scale)
    seen = ship.look(t, y)
    np.testing.assert_allclose(seen.g, phase.conditions(phase.sharing(now)), rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(seen.rate, phase.rates(now), rtol=0, atol=1e-10 * scale)
    return not phase.redundant


BOLT = Connect(name="bolt", a="tip", b="hand", at_a=(0.1, 0.3, 0.2), turn=(0.8, 0.0, 0.6, 0.0))
PARTS = tree_cases.zoo().parts


@pytest.mark.parametrize("parts", [PARTS[:2], PARTS[:3], (PARTS[0], BOLT)], ids=["open", "pin", "bolt"])
@pytest.mark.parametrize("seed", range(examples(4)))
def test_trees_with_every_part_and_with_contacts(parts, seed):
    rng, whole = np.random.default_rng(seed), replace(tree_cases.zoo(), parts=parts)
    state = tree_cases.random_state(whole, seed)
    system = whole.within(state.q, 10.0)
    assert any(row.frame is not None for row in system.rows(state.t, state.q, state.v))
    assert any(check_kernels(system, state, rng, rng.normal(size=3), FOREST) for _ in range(60))


@pytest.mark.parametrize("rest", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bodies_in_the_coordinates_of_their_joints(rest, seed):
    """With all forces, ropes and parts, too; with joints that trees have no tables for, Python is asked."""
    rng = np.random.default_rng(seed)
    _, whole = jointed_cases.both(jointed_cases.random_parts(seed, forces=rest, others=rest))
    state, control = replace(jointed_cases.random_state(whole, seed), t=0.3), rng.normal(size=whole.nv)
    system = whole.within(state.q, 0.3)
    assert any(
        check_kernels(system, state, rng, control, FUNCTION if whole.forest is None else FOREST) for _ in range(60)
    )


@pytest.mark.parametrize("coordinates", ["bodies", "joints"])
def test_bodies_without_contacts_keep_their_energy(coordinates):
    """A ball that falls into a string that gives back a half: potential energy is that of its height at every event."""
    ball = SpatialBody(name="ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
    string = String(a=SpatialMarker("ball"), b=SpatialMarker("ground"), length=1.0, eps_n=0.5)
    system = SpatialSystem(bodies=[ball], joints=[string], coordinates=coordinates)
    run = simulate(system, system.state({"ball": (0.5, 0.0, 0.2)}), 0.9, stepper=EventDriven())
    assert run.event_counts["impact"] > 2
    assert run["potential"] == pytest.approx(9.81 * run["ball.z"], abs=1e-12)
    assert audit(run, system).passed


SYMBOLS = ("stribeck_belt", "duffing_friction", "turntable", "spinning_disc", "woodpecker", "knife_edge",
           "slider_crank", "slider_clearance")  # fmt: skip


@pytest.mark.parametrize("name", SYMBOLS)
def test_systems_from_symbols_with_friction_that_depends_on_the_state(name):
    scene, rng = build(name), np.random.default_rng(3)
    system, q = scene.system, scene.state.q
    for _ in range(examples(10, fast=4)):
        state = State(t=0.3, q=q + 0.1 * rng.normal(size=len(q)), v=scene.state.v + rng.normal(size=len(q)))
        check_kernels(system, state, rng, None if system.model.controls else rng.normal(size=system.nv), FUNCTION)


def sliding(mu):
    """A block on a floor, mu an expression of x, that slides at 1.5 m/s; it stops after 2 s at the latest."""
    x, y = dynamicsymbols("x y")
    floor = Contact(y, x.diff(), mu=mu(x), name="b/f")
    block = LagrangianSystem(
        [x, y], kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2, potential=9.81 * y, constraints=[floor]
    )
    return simulate(block, State(t=0.0, q=[0.0, 0.0], v=[1.5, 0.0]), 2.0, stepper=EventDriven()), block


def test_friction_that_is_below_zero_on_the_way_ends_a_run_there():
    run, _block = sliding(lambda x: sp.Rational(1, 5) - x)
    assert run.stop.reason.startswith("InputError: friction of b/f")
    assert run.final.q[0] == pytest.approx(0.2, abs=1e-6)
    run, block = sliding(lambda x: sp.Max(0, sp.Rational(1, 5) - x))
    assert run.status == "COMPLETED"
    assert run.final.v[0] == pytest.approx(math.sqrt(1.5**2 - 9.81 * 0.2**2), abs=1e-9)  # the work of friction
    assert audit(run, block).passed


def test_classes_of_your_own_say_what_their_functions_say():
    """A hinge with a torque of its own, N m."""

    class Driven(TreeSystem):
        def force(self, t, q, v, control=None):
            return super().force(t, q, v, control) + 0.5

    inertia = ((0.011, 0, 0), (0, 0.02, 0), (0, 0, 0.025))
    arm = TreeBody(
        name="a", parent="ground", mass=0.7, centre=(0.3, 0, 0), inertia=inertia,
        joints=(TreeJoint(name="j", axis=(0, 1, 0)),),
    )  # fmt: skip
    run = simulate(Driven(bodies=[arm], gravity=(0, 0, 0)), State(t=0.0, q=[0.0], v=[0.0]), 1.0, stepper=EventDriven())
    assert run.final.q[0] == pytest.approx(0.25 / (0.7 * 0.3**2 + 0.02), rel=1e-9)


def turning():
    """A knife edge that turns by a half-angle and slides on a wall; q has one coordinate more than v."""

    def qdot(q, v):
        """Of (x, y, quaternion about z)."""
        return np.array([v[0], v[1], -0.5 * q[3] * v[2], 0.5 * q[2] * v[2]])

    edge = Velocity(lambda t, q, v: 2.0 * q[2] * q[3] * v[0] + (q[3] ** 2 - q[2] ** 2) * v[1] + 0.1 * v[2])
    wall = Position(
        lambda t, q: 1.0 + q[0] + 0.1 * t * q[1] ** 2, mu=0.3, mu_s=0.4, tangent=lambda t, q: [0.0, 1.0, 0.2]
    )
    return UserSystem(
        4, lambda q: np.diag([1.0, 2.0 + q[0] ** 2, 0.3]), lambda t, q, v, u: -q[:3] - 0.1 * v + u,
        [edge, wall], nv=3, qdot=qdot, potential=lambda t, q: 0.5 * float(q[:3] @ q[:3]),
    )  # fmt: skip


def test_functions_in_python():
    system, rng = turning(), np.random.default_rng(5)
    for _ in range(examples(8)):
        a, v = rng.uniform(-1.0, 1.0), rng.normal(size=3)
        state = State(t=0.2, q=[rng.normal(), rng.normal(), math.cos(a), math.sin(a)], v=v)
        assert check_kernels(system, state, rng, rng.normal(size=3), FUNCTION)


def hinged_balls():
    """Two balls on a hinge above a floor, in the coordinates of the hinge."""
    a, b = (SpatialBody(name=x, mass=1.0, inertia=(0.1, 0.1, 0.1), shapes=(Sphere(radius=0.1),)) for x in "ab")
    system = SpatialSystem(
        bodies=[a, b], joints=[Hinge(name="h", a=SpatialMarker("a", (0.3, 0, 0)), b=SpatialMarker("b", (-0.3, 0, 0)))],
        obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.3, eps_n=0.5), pairs={("a", "b"): None},
        coordinates="joints",
    )  # fmt: skip
    state = system.state(place={"a": (0.0, 0.0, 0.3)}, joints={"h": 0.0}, rates={"h": 1.0})
    return system, state


def bouncing():
    """A point of Python functions that bounces on a slope and slides."""
    slope = Position(lambda t, q: 0.6 * q[0] + 0.8 * q[1], mu=0.2, eps_n=0.4)
    return UserSystem(2, np.eye(2), [0.0, -9.81], [slope]), State(t=0.0, q=[0.0, 0.3], v=[0.4, 0.0])


@pytest.mark.parametrize("made", [
    hinged_balls, bouncing, lambda: build("woodpecker"), lambda: build("turntable"), lambda: build("slider_clearance"),
], ids=["hinged balls", "bouncing", "woodpecker", "turntable", "clearance"])  # fmt: skip
def test_a_run_with_kernels_is_the_run_without_them(made, monkeypatch):
    found = made()
    given = (*found, 0.5) if isinstance(found, tuple) else (found,)
    fast = simulate(*given, stepper=EventDriven())
    without_kernels(monkeypatch)
    monkeypatch.setattr(TreeSystem, "listed", lambda *given: None)
    slow = simulate(*given, stepper=EventDriven())
    assert fast.status == slow.status == "COMPLETED"
    assert fast.events
    assert [(e.kind, e.id) for e in fast.events] == [(e.kind, e.id) for e in slow.events]
    np.testing.assert_allclose([e.t for e in fast.events], [e.t for e in slow.events], rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast.q[-1], slow.q[-1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast["work_reactions"][-1], slow["work_reactions"][-1], rtol=0, atol=1e-9)


def test_trees_list_contacts_over_planes_once():
    system, state = hinged_balls()
    every = system.listed(state.q)
    assert {row.id for row in every.rows(0.0, state.q, state.v)} == every.contact_ids
    assert len(every.contact_ids) == 2
    lifted = system.state(place={"a": (0.0, 0.0, 9.0)}, joints={"h": 0.0})
    assert [row.gap for row in every.rows(0.0, lifted.q, lifted.v)] == pytest.approx([8.9, 8.9], abs=1e-12)
