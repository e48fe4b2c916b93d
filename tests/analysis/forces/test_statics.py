"""Limit loads and least actuator forces: closed forms, and proofs on both sides."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn import InputError, Position, State, UserSystem, build, snapshot
from gaussdyn.analysis.forces import holding, limit_load
from gaussdyn.arrays import Array

REST = State(q=np.zeros(3), v=np.zeros(3))
G = 9.81


def block(mu: float, half: float = 0.5, height: float = 1.0, mass: float = 2.0) -> UserSystem:
    """Return a block on a floor; q = place of its mass centre (from where it stands) and turn."""
    feet = []
    for name, x in (("left", -half), ("right", half)):
        n, t = np.array([0.0, 1.0, x]), np.array([1.0, 0.0, height])
        feet.append(Position(lambda t_, q, n=n: float(n @ q), jacobian=lambda t_, q, n=n: n, mu=mu, name=name,
                             tangent=lambda t_, q, t=t: t))  # fmt: skip
    return UserSystem(3, np.diag([mass, mass, 1.0]), [0.0, -mass * G, 0.0], feet)


@pytest.mark.parametrize(("mu", "limit", "right"), [(0.3, 0.3, "slips"), (0.8, 0.5, "stays")])
def test_a_block_pushed_at_its_middle_slips_or_tips(mu: float, limit: float, right: str) -> None:
    """Level push at the mass centre, 1 m above the floor: it slips at mu W, or tips about its edge at W / 2."""
    weight = 2.0 * G
    found = limit_load(block(mu), REST, [weight, 0.0, 0.0])
    assert (found.low, found.high) == pytest.approx((-limit, limit), abs=1e-9)
    assert found.verify()
    assert found.modes[1]["right"] == right
    if right == "stays":
        assert found.modes[1]["left"] == "opens"
        assert "opens at left" in found.explain()
    assert found.mechanisms[1] @ [weight, 0.0, 0.0] == pytest.approx(1.0)


def test_a_wedge_holds_any_load() -> None:
    walls = [Position(lambda t, q, s=s: s * q[0], jacobian=lambda t, q, s=s: [s, 0.0], mu=1.0, name=name,
                      tangent=lambda t, q: [0.0, 1.0]) for s, name in ((1.0, "left"), (-1.0, "right"))]  # fmt: skip
    found = limit_load(UserSystem(2, np.eye(2), [0.0, -1.0], walls), State(q=[0.0, 0.0], v=[0.0, 0.0]), [0.0, -1.0])
    assert found.high == np.inf
    assert "Nothing gives way above" in found.explain()


def test_a_load_that_nothing_can_hold_is_said() -> None:
    found = limit_load(block(0.3), REST, [1.0, 0.0, 0.0], motion=[0.0, 5.0, 0.0])
    assert not found.held
    assert math.isnan(found.high)
    assert found.verify()


def test_the_top_of_a_table_on_four_legs_bears_as_much_as_its_feet_allow() -> None:
    dynamics = snapshot(build("four_legs", push=0.0, mu=0.4))
    down = np.zeros(6)
    down[0] = 1.0
    found = limit_load(dynamics, None, down)
    assert found.verify()
    weight = 20.0 * G
    assert found.high <= 0.4 * weight + 1e-9  # slips at the latest
    assert found.high > 0.0


def test_where_it_slips_and_tips_at_once_the_mechanism_is_not_determined() -> None:
    """mu = half width over height: any share of slipping and tipping uses up the same push."""
    push = [2.0 * G, 0.0, 0.0]
    found = limit_load(block(0.5), REST, push)
    (turn,) = found.others[1].T
    assert turn @ push == pytest.approx(0.0, abs=1e-9)
    assert abs(turn[2]) > 0.1  # tips about the right foot, less or more
    assert "one of several: 1 number" in found.explain()
    assert all(other.shape == (3, 0) for mu in (0.49, 0.51) for other in limit_load(block(mu), REST, push).others)


@pytest.mark.parametrize(("second", "free"), [(10.0, 1), (12.0, 0)])
def test_two_bodies_at_their_limit_share_the_slip_as_they_like(second: float, free: int) -> None:
    """Two bodies pushed alike: equal weights slip both or either, of unequal ones the lighter slips alone."""
    rows = []
    for k, name in enumerate(("first", "second")):
        t, n = np.eye(4)[2 * k], np.eye(4)[2 * k + 1]
        rows.append(Position(lambda t_, q, n=n: float(n @ q), jacobian=lambda t_, q, n=n: n, mu=0.5, name=name,
                             tangent=lambda t_, q, t=t: t))  # fmt: skip
    bodies = UserSystem(4, np.eye(4), [0.0, -10.0, 0.0, -second], rows)
    found = limit_load(bodies, State(q=np.zeros(4), v=np.zeros(4)), [1.0, 0.0, 1.0, 0.0])
    assert found.high == pytest.approx(5.0, abs=1e-9)
    assert found.others[1].shape == (4, free)
    if not free:
        assert found.mechanisms[1] == pytest.approx([1.0, 0.5, 0.0, 0.0], abs=1e-9)
        assert found.modes[1] == {"first": "slips", "second": "stays"}


def inclined(mu: float, angle: float) -> tuple[UserSystem, State]:
    n, t = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    slope = Position(lambda t_, q: float(q[1]), jacobian=lambda t_, q: n, tangent=lambda t_, q: t, mu=mu, name="slope")
    load = 3.0 * G * np.array([math.sin(angle), -math.cos(angle)])
    return UserSystem(2, 3.0 * np.eye(2), load, [slope]), State(q=[0.0, 0.0], v=[0.0, 0.0])


@pytest.mark.parametrize("norm", ["euclid", "sum", "max"])
def test_a_block_on_a_slope_is_held_by_as_little_as_friction_leaves(norm: str) -> None:
    mu, angle = 0.2, 0.5
    system, state = inclined(mu, angle)
    found = holding(system, state, [[1.0, 0.0]], norm=norm)  # type: ignore[arg-type]
    least = 3.0 * G * (math.sin(angle) - mu * math.cos(angle))
    assert found.forces == pytest.approx([-least], abs=1e-9)
    assert found.size == pytest.approx(least, abs=1e-9)
    assert found.verify()
    assert holding(system, state, [[1.0, 0.0]], limits=[1.1 * least]).held
    weak = holding(system, state, [[1.0, 0.0]], limits=[0.9 * least])
    assert not weak.held
    assert weak.verify()
    assert "No actuator forces" in weak.explain()


def test_pulling_off_the_slope_as_well_needs_less_in_the_euclidean_norm() -> None:
    """The best pull is along the edge of the friction cone: W sin(angle - atan mu)."""
    mu, angle = 0.2, 0.5
    system, state = inclined(mu, angle)
    found = holding(system, state, np.eye(2))
    assert found.size == pytest.approx(3.0 * G * math.sin(angle - math.atan(mu)), abs=1e-9)
    sums: dict[str, Array] = {norm: holding(system, state, np.eye(2), norm=norm).forces for norm in ("sum", "max")}  # type: ignore[arg-type]
    assert np.abs(sums["sum"]).sum() <= np.abs(found.forces).sum() + 1e-9
    assert np.abs(sums["max"]).max() <= np.abs(found.forces).max() + 1e-9


def test_a_motion_is_held_by_the_force_that_makes_it() -> None:
    system, state = inclined(0.0, 0.5)
    found = holding(system, state, [[1.0, 0.0]], motion=[1.0, 0.0])
    assert found.forces == pytest.approx([3.0 * (1.0 - G * math.sin(0.5))], abs=1e-9)


def test_wrong_input_is_refused() -> None:
    system, state = inclined(0.2, 0.5)
    with pytest.raises(InputError, match="load"):
        limit_load(system, state, [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="zeros"):
        limit_load(system, state, [0.0, 0.0])
    with pytest.raises(InputError, match="euclid, sum or max"):
        holding(system, state, [[1.0, 0.0]], norm="least")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="numbers > 0"):
        holding(system, state, [[1.0, 0.0]], limits=[0.0])
    with pytest.raises(InputError, match="actuators"):
        holding(system, state, [[1.0, 0.0, 0.0]])
    with pytest.raises(InputError, match="IMPACT_NEEDED"):
        limit_load(system, State(q=[0.0, 0.0], v=[0.0, -1.0]), [1.0, 0.0])
