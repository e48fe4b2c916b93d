"""Runs whose motion grows beyond all numbers stop before, and keep what was."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
import stepping_cases
import sympy as sp
from falsified import jointed
from small_systems import Oscillator
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn import LagrangianSystem, PlanarSystem, SpatialSystem, State, UserSystem
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.stepper import Step
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.integrate.time_stepping.tolerance import Tolerance
from gaussdyn.integrate.worlds import Worlds
from gaussdyn.mechanics import planar
from gaussdyn.mechanics.planar.shapes import Disc
from gaussdyn.mechanics.spatial import HalfSpace
from gaussdyn.mechanics.spatial.bodies import ball
from gaussdyn.mechanics.trees import Actuator, TreeBody, TreeJoint, TreeSystem
from gaussdyn.scenes.catalogue import build

DT = 0.1
PUSH = 1e153  # N on every kg, so that a speed grows by 1e152 m/s in a step


def free():
    system = SpatialSystem(bodies=[ball("a", mass=1.0, radius=0.1)], obstacles=[HalfSpace(name="floor")])
    return system, system.state({"a": (0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0)}), np.eye(6)[2]


def held():
    """Two balls in a ball joint, both pushed alike."""
    system, state, *_ = jointed(1.0, DT)()
    return system, State(q=state.q, v=np.zeros(12)), np.tile(np.eye(6)[2], 2) * np.repeat([1.0, 2.0], 6)


def tree():
    rail = TreeJoint(name="rail", motion="slide", axis=(1, 0, 0))
    cart = TreeBody(name="cart", joints=(rail,), mass=1.0, inertia=np.diag([0.1, 0.1, 0.1]))
    system = TreeSystem(bodies=[cart], actuators=[Actuator(name="motor", factors={"rail": 1.0})])
    return system, system.state(), np.ones(1)


def disc():
    body = planar.PlanarBody(name="a", mass=1.0, inertia=0.1, shapes=(Disc(name="r", radius=0.1),))
    system = PlanarSystem(bodies=[body], obstacles=[planar.HalfPlane(name="floor")])
    return system, system.state({"a": (0.0, 0.5, 0.0)}), np.eye(3)[1]


def lagrangian():
    x = dynamicsymbols("x")
    return (
        LagrangianSystem({x: "m"}, kinetic=x.diff() ** 2 / 2, potential=sp.S.Zero),
        State(q=[0.0], v=[0.0]),
        np.ones(1),
    )


def user():
    system = UserSystem(1, [[1.0]], lambda t, q, v, control=None: np.zeros(1) if control is None else control)
    return system, State(q=[0.0], v=[0.0]), np.ones(1)


def own():
    return Oscillator(k=0.0), State(q=[0.0], v=[0.0]), np.ones(1)


KINDS = {one.__name__: one for one in (free, held, tree, disc, lagrangian, user, own)}


def bounded(*vectors):
    with np.errstate(over="ignore"):
        return all(np.isfinite(x @ x) for x in vectors)


@pytest.mark.parametrize("kind", KINDS)
def test_a_motion_that_grows_beyond_all_numbers_stops_where_it_does(kind):
    """In one call, asked in every step, or step by step: the last state has squares, one twice as fast would not."""
    system, start, way = KINDS[kind]()
    method, push = MoreauJean(dt=DT), PUSH * way
    with np.errstate(over="ignore", invalid="ignore"):
        runs = [simulate(system, start, 100.0, stepper=method, control=one) for one in (push, lambda t, state: push)]
        state, step, states = start, method.advance(system, start, 100.0, control=push), [start]
        while step.solution.solved:
            states.append(state := step.state)
            step = method.advance(system, state, 100.0, control=push)
    for run in runs:
        assert run.status == "STOPPED"
        assert run.stop.t == run.t[-1] == state.t
        assert np.array_equal(run.q, [one.q for one in states])
        assert np.array_equal(run.v, [one.v for one in states])
        assert f"t = {state.t:.6g} s" in run.stop.reason
        assert "grows beyond all numbers" in run.stop.reason
    assert bounded(*run.q, *run.v)
    assert not bounded(np.concatenate([4.0 * state.q, 2.0 * state.v]))
    assert step.state is step.start


def grown(system, gain):
    """Return a control that pushes along the velocities, the more the faster these are."""
    actuators = getattr(system, "actuators", None)
    n = system.nv if actuators is None else len(actuators)
    return lambda t, state: gain * (0.1 + np.resize(state.v, n))


DRIVEN = ["user", "lagrangian", "tree", "mechanism", "linkage", "pile", "tumble"]
PUSHES = [(1e4, None), (1e120, None), (1e200, None), (1e30, Tolerance(1e-4))]
HELD = "tree", 1e4  # by the limits of its joints: it does not grow beyond 1e4 rad/s


@pytest.mark.parametrize(
    ("case", "gain", "step"), [(case, *push) for push in PUSHES for case in DRIVEN if (case, push[0]) != HELD]
)
def test_runs_that_are_driven_apart_stop_with_a_reason_and_finite_states(case, gain, step):
    system, start = getattr(stepping_cases, case)(0)
    with np.errstate(over="ignore", invalid="ignore"):
        run = simulate(system, start, 0.2, stepper=MoreauJean(dt=1e-3, step=step), control=grown(system, gain))
    assert run.status == "STOPPED"
    assert run.stop.t == run.t[-1]
    assert np.isfinite(run.q).all()
    assert np.isfinite(run.v).all()
    assert "InputError" not in run.stop.reason  # the motion is at fault: no function, and nothing handed on to solvers


def test_passes_that_overflow_have_not_settled():
    """A rattleback that a torque spins up: the change of squares that overflow, relative to them, is no number."""
    scene = build("rattleback")
    run = simulate(scene.system, scene.state, 0.1, stepper=MoreauJean(dt=1e-3), control=grown(scene.system, -0.02))
    assert run.status == "STOPPED"
    assert np.isfinite(run.q).all()
    fastest = np.abs(run.v).max(axis=1)
    assert (fastest[1:] < 1e3 * fastest[:-1]).all()
    assert "celt.w" in run.stop.reason


def test_worlds_stop_one_by_one():
    system, start, _way = tree()
    worlds = Worlds(system, [start, start], stepper=MoreauJean(dt=DT))
    worlds.step(PUSH * np.array([[1.0], [0.0]]), n=200)
    assert list(worlds.stopped) == [0]
    assert "grows beyond all numbers" in worlds.stopped[0]
    assert bounded(worlds.state(0).q, worlds.state(0).v)


class Breaks:
    """A stepper of one's own, whose steps lead nowhere from some time on."""

    name = "breaks"

    def __init__(self):
        self.own = MoreauJean(dt=DT)

    def settings(self):
        return {"name": self.name}

    def advance(self, system, state, t_max, *, control=None):
        step = self.own.advance(system, state, t_max, control=control)
        if state.t < 0.45:
            return step
        nowhere = State.trusted(step.state.t, step.state.q * np.nan, step.state.v, {})
        return Step(**{one.name: getattr(step, one.name) for one in fields(Step)} | {"state": nowhere})


def test_a_stepper_of_ones_own_that_leads_nowhere_is_stopped():
    system, start, _ = own()
    run = simulate(system, start, 1.0, stepper=Breaks())
    assert (run.status, len(run)) == ("STOPPED", 6)
    assert "a step from t = 0.5 s to numbers that are not finite" in run.stop.reason
