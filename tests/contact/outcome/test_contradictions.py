"""Constraints that cannot hold together, and constraints that repeat each other: what is said, and by which name."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.contact.admissible_set import admissible_set
from gaussdyn.contact.reactions import reactions
from gaussdyn.contact.resolve import resolve
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.errors import InputError
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Acceleration, Position, UserSystem, Velocity
from gaussdyn.programs.solution.status import Status

FLOOR = Position(lambda t, q: q[1], mu=0.2, name="floor")
SMOOTH = Position(lambda t, q: q[1], name="floor")
DOWN = Acceleration([0.0, -1.0], 1.0, name="down")
SIDE = Acceleration([1.0, 0.0], 0.0, name="side")


def at_rest(*constraints, **options):
    system = UserSystem(2, np.eye(2), [5.0, -10.0], list(constraints))
    return snapshot(system, State(q=[0.0, 0.0], v=[0.0, 0.0]), **options)


@pytest.mark.parametrize("floor", [SMOOTH, FLOOR], ids=["smooth", "rough"])
def test_the_constraints_are_named_and_no_motion_is_returned(floor):
    dynamics = at_rest(SIDE, floor, DOWN)
    answer = resolve(dynamics)
    assert answer.status is Status.INFEASIBLE
    assert answer.x is None
    assert answer.certificate.verify()
    assert "floor, down contradict each other" in answer.explain()
    assert "side" not in answer.message
    assert reactions(dynamics, answer) == {}


def test_a_rod_that_slides_into_the_paradox_has_no_acceleration():
    # Painleve: friction so large that the sliding tip is pressed the harder into the floor the more it is pushed
    tip = Position(lambda t, q: q[1] - np.sin(q[2]), mu=2.0, tangent=lambda t, q: [1.0, 0.0, np.sin(q[2])], name="tip")
    rod = UserSystem(3, np.diag([1.0, 1.0, 1 / 3]), [0.0, -9.81, 0.0], [tip])
    dynamics = snapshot(rod, State(q=[0.0, np.sin(1.0), 1.0], v=[-1.0, 0.0, 0.0]))
    answer = resolve(dynamics)
    assert answer.status is Status.INFEASIBLE
    assert answer.x is None
    assert "tip" in answer.message
    assert reactions(dynamics, answer) == {}


def test_a_bent_velocity_constraint_elsewhere_does_not_spoil_the_proof():
    bent = Velocity(lambda t, q, v: v[0] ** 2 + v[1] ** 2 - 1.0, kind="bilateral", name="speed")
    up = Acceleration([0.0, 1.0], 1.0, name="up")
    system = UserSystem(2, np.eye(2), [0.0, 0.0], [bent, up, DOWN])
    answer = resolve(snapshot(system, State(q=[0.0, 0.0], v=[1.0, 0.0]), level="velocity", dt=0.1))
    assert answer.status is Status.INFEASIBLE
    assert "up, down contradict each other" in answer.message


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3], ids=["km", "m", "mm"])
@pytest.mark.parametrize("spin", [0.3, 3.0])
def test_three_parallel_cranks_by_differences_in_any_unit(unit, spin):
    # a coupler on three parallel cranks moves on a circle without turning; one crank is redundant
    length, angle, g = 1.3 * unit, 0.7, 9.81 * unit

    def crank(k):
        def phi(t, q):
            return np.hypot(q[0] + k * unit * (np.cos(q[2]) - 1.0), q[1] + k * unit * np.sin(q[2])) - length

        return Position(phi, kind="bilateral", name=f"crank{k}")

    system = UserSystem(3, np.diag([1.0, 1.0, unit**2]), [0.0, -g, 0.0], [crank(k) for k in range(3)])
    e, t = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    state = State(q=[*(length * e), 0.0], v=[*(length * spin * t), 0.0])
    answer = resolve(snapshot(system, state))
    assert answer.solved
    assert answer.r_unique is False
    expected = -length * spin**2 * e - g * np.cos(angle) * t
    np.testing.assert_allclose(answer.x, [*expected, 0.0], atol=1e-9 * np.abs(expected).max())


def test_the_stages_say_what_they_take():
    dynamics = at_rest(SMOOTH)
    with pytest.raises(InputError, match="dynamics: given UserSystem"):
        resolve(dynamics.system)
    with pytest.raises(InputError, match="method: given 'lemke'"):
        resolve(dynamics, method="lemke")
    with pytest.raises(InputError, match="convex: "):
        admissible_set(dynamics, convex=[3])
    with pytest.raises(InputError, match="state: given tuple"):
        snapshot(dynamics.system, ([0.0, 0.0], [0.0, 0.0]))
    with pytest.raises(InputError, match="activation: given 1e-09"):
        snapshot(dynamics.system, State(q=[0.0, 0.0], v=[0.0, 0.0]), activation=1e-9)
