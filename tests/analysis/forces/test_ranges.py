"""Ranges of reactions: closed forms and independent linear programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from gaussdyn import InputError, Position, State, UserSystem, build, forces, outcome, snapshot
from gaussdyn.analysis.forces import exact, polygon
from gaussdyn.contact.active_set import active_set
from gaussdyn.contact.snapshot import LocalDynamics


def plane(normal: Sequence[float], name: str, tangent: Sequence[float] | None = None, mu: float = 0.0) -> Position:
    """Return normal . q >= 0."""
    n = np.array(normal)
    slide = {} if tangent is None else {"tangent": lambda t, q: list(tangent), "mu": mu}
    return Position(lambda t, q: float(n @ q), jacobian=lambda t, q: n, name=name, **slide)


def bar(load: float, moment: float) -> UserSystem:
    """Return a bar of mass 6 kg and inertia 2 kg m^2 on supports at -1, 0 and 1 m; q = height, turn."""
    held = [plane([1.0, x], f"support{x:+d}") for x in (-1, 0, 1)]
    return UserSystem(2, np.diag([6.0, 2.0]), [load, moment], held)


def at_rest(system: UserSystem) -> State:
    return State(q=np.zeros(system.nq), v=np.zeros(system.nv))


@pytest.mark.parametrize(("moment", "ranges"), [
    (0.0, [(0, 30), (0, 60), (0, 30)]),
    (45.0, [(45, 52.5), (0, 15), (0, 7.5)]),
])  # fmt: skip
def test_a_bar_on_three_supports(moment: float, ranges: list[tuple[float, float]]) -> None:
    system = bar(-60.0, moment)
    found = forces(system, at_rest(system))
    assert [(one.low, one.high) for one in found.ranges()] == [pytest.approx(ends, abs=1e-9) for ends in ranges]
    rational = exact(found)
    assert [(r.low, r.high) for r in map(rational.range, found.names)] == [tuple(ends) for ends in ranges]
    assert found.degree == 1
    assert not found.unique
    assert found.verify(1e-12)


def test_a_bar_that_tips_has_one_force() -> None:
    system = bar(-60.0, 70.0)
    found = forces(system, at_rest(system))
    assert [one.low for one in found.ranges()] == pytest.approx([67.5, 0.0, 0.0], abs=1e-9)
    assert found.unique
    assert found.deciding() == ()
    assert found.allowed.modes["support+1"] == "open"


def test_a_table_on_four_legs_without_friction() -> None:
    a, b, x, y, weight = 0.8, 0.5, 0.1, -0.05, 196.2
    feet = [(s * a - x, t * b - y) for s, t in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    held = [plane([1.0, dy, -dx], f"leg{k}") for k, (dx, dy) in enumerate(feet)]
    system = UserSystem(3, np.eye(3), [-weight, 0.0, 0.0], held)
    found = forces(system, at_rest(system))
    smallest = weight / 4 * np.array([1 + s * x / a + t * y / b for s, t in ((1, 1), (-1, 1), (-1, -1), (1, -1))])
    turn = np.array([1.0, -1.0, 1.0, -1.0])
    low, high = -smallest[turn > 0].min(), smallest[turn < 0].min()
    for k, one in enumerate(found.ranges()):
        ends = sorted([smallest[k] + turn[k] * low, smallest[k] + turn[k] * high])
        assert (one.low, one.high) == pytest.approx(ends, abs=1e-9)
    assert found.range("leg").low == pytest.approx(weight, abs=1e-9)
    assert found.range("leg").unique


def test_a_ladder_with_friction_at_both_ends() -> None:
    """N1 + T2 = W, T1 = N2 and, about the foot, N2 tan(angle) + T2 = W / 2; T2 is free within both cones."""
    mu, angle, weight = 0.5, 1.0, 10.0
    s, c = math.sin(angle), math.cos(angle)
    floor = plane([0.0, 1.0, -c], "floor", [1.0, 0.0, s], mu)
    wall = plane([-1.0, 0.0, s], "wall", [0.0, 1.0, c], mu)
    system = UserSystem(3, np.eye(3), [0.0, -weight, 0.0], [floor, wall])
    found = forces(system, at_rest(system))
    tan = s / c
    highest = min(0.5 * weight * mu / (tan + mu), weight)  # T2 = mu N2
    lowest = max(-0.5 * weight * mu / (tan - mu), weight * (0.5 - mu * tan) / (1.0 - mu * tan))
    up = found.range("wall.T1")
    assert (up.low, up.high) == pytest.approx((lowest, highest), abs=1e-9)
    assert (found.range("floor.N").low, found.range("wall.N").high) == pytest.approx(
        (weight - highest, (0.5 * weight - lowest) / tan), abs=1e-9
    )


def linear_range(dynamics: LocalDynamics, x: np.ndarray, c: np.ndarray) -> tuple[float, float]:
    """Return the range of c.r by an independent program: planar contacts at rest, joints, supports."""
    rows = [active.row for active in active_set(dynamics).rows]
    J = np.vstack([row.J for row in rows])
    A, bounds, place = [], [], 0
    for row in rows:
        free = row.kind == "bilateral"
        bounds += [(None if free else 0.0, None)] + [(None, None)] * (row.size - 1)
        if row.kind == "contact" and row.size == 2:
            for sign in (1.0, -1.0):
                A.append(np.zeros(len(J)))
                A[-1][place : place + 2] = -row.mu_s, sign
        place += row.size
    limits = {"A_ub": np.array(A), "b_ub": np.zeros(len(A))} if A else {}
    ends = [
        linprog(sign * c, A_eq=J.T, b_eq=dynamics.M @ x - dynamics.h, bounds=bounds, **limits, method="highs").fun
        for sign in (1.0, -1.0)
    ]
    return ends[0], -ends[1]


@pytest.mark.parametrize("name", ["capstan", "arch", "wedge_lock"])
def test_planar_scenes_at_rest_agree_with_another_program(name: str) -> None:
    dynamics = snapshot(build(name))
    found = forces(dynamics)
    for k, one in list(enumerate(found.ranges()))[:: max(1, len(found.names) // 12)]:
        ends = linear_range(dynamics, found.allowed.motion, np.eye(len(found.names))[k])
        assert (one.low, one.high) == pytest.approx(ends, abs=1e-9 * one.size)
    assert found.verify()


def test_an_arch_of_twenty_stones_agrees_with_another_program() -> None:
    scene = build("arch", stones=20, thickness=0.2)
    dynamics = snapshot(scene)
    found = forces(dynamics)
    thrust = found.range({"stone00.in/right": 1.0, "stone00.out/right": 1.0})
    c = np.zeros(len(found.names))
    c[[0, 2]] = 1.0
    assert (thrust.low, thrust.high) == pytest.approx(linear_range(dynamics, found.allowed.motion, c), rel=1e-9)
    assert thrust.gap <= 1e-9
    assert found.degree > 0


def test_a_table_that_slides_keeps_its_friction_on_its_cone() -> None:
    found = forces(build("table"))
    ranges = {one.of: one for one in found.ranges()}
    assert set(found.allowed.modes.values()) == {"slips"}
    for foot in range(4):
        n, t = ranges[f"table.foot{foot}/floor.N"], ranges[f"table.foot{foot}/floor.T1"]
        assert (-t.high, -t.low) == pytest.approx((0.5 * n.low, 0.5 * n.high), abs=1e-9)


def test_a_body_between_two_walls_may_be_wedged_as_hard_as_one_likes_and_a_direction_says_so() -> None:
    walls = [plane([s, 0.0], name, [0.0, 1.0], 1.0) for s, name in ((1.0, "left"), (-1.0, "right"))]
    system = UserSystem(2, np.eye(2), [0.0, -10.0], walls)
    found = forces(system, at_rest(system), motion=[0.0, 0.0])  # it may fall as well, without any force
    push = found.range("left")
    assert push.low == pytest.approx(5.0, abs=1e-9)
    assert push.high == np.inf
    assert "a wedge" in push.explain()
    J = np.vstack([active.row.J for active in active_set(found.dynamics).rows])
    assert pytest.approx(np.zeros(2), abs=1e-9) == J.T @ push.high_at
    rational = exact(found).range("left")
    assert (rational.low, rational.high) == (5, None)


def test_redundant_joints_hold_each_other() -> None:
    found = forces(build("bricard"))
    assert found.degree == 1
    assert not found.range("hinge0:x").bounded
    assert found.range("hinge0:tilt_x").unit == "N m"


def test_a_motion_that_is_asked_for_may_be_forbidden_or_without_forces() -> None:
    system = bar(-60.0, 0.0)
    with pytest.raises(InputError, match="forbids this motion"):
        forces(system, at_rest(system), motion=[-1.0, 0.0])
    lifted = forces(system, at_rest(system), motion=[1.0, 0.0])
    assert lifted.empty
    assert lifted.verify()
    assert "No reactions" in lifted.explain()
    assert not forces(system, at_rest(system), motion=[0.0, 0.0]).empty


def test_the_answer_of_the_solver_is_in_the_set_and_others_are_not() -> None:
    from gaussdyn.contact.reactions import reactions
    from gaussdyn.contact.resolve import resolve

    dynamics = snapshot(build("four_legs"))
    found, answer = forces(dynamics), reactions(dynamics, resolve(dynamics))
    assert found.contains(answer)
    wrong = {id: r + np.array([1e-3, 0.0, 0.0]) for id, r in answer.items()}
    assert not found.contains(wrong)
    for one in found.ranges():
        assert found.contains(one.low_at, 1e-9)
        assert found.contains(one.high_at, 1e-9)


def test_two_forces_together_lie_between_two_polygons() -> None:
    system = bar(-60.0, 0.0)
    found = forces(system, at_rest(system))
    segment = polygon(found, "support-1", "support+0", directions=8)
    assert segment.bounded
    assert segment.inner.min(axis=0) == pytest.approx([0.0, 0.0], abs=1e-9)
    assert segment.inner.max(axis=0) == pytest.approx([30.0, 60.0], abs=1e-9)
    table = forces(build("four_legs"))
    pair = polygon(table, "leg0.T1", "leg1.T1", directions=48)
    inner, outer = pair.area
    assert 0.95 * outer < inner <= outer
    with pytest.raises(InputError, match="4 to 10000"):
        polygon(table, "leg0", "leg1", directions=2)


def test_a_set_of_one_motion_is_said_to_be_of_one() -> None:
    found = forces(build("four_legs"))
    assert "outcome" in found.explain()
    assert str(outcome(snapshot(build("table"))).verdict) == "UNIQUE"


def test_wrong_questions_are_answered_in_words() -> None:
    found = forces(build("four_legs"))
    with pytest.raises(InputError, match="one factor per reaction, 12"):
        found.range([1.0, 2.0])
    with pytest.raises(InputError, match="leg0"):
        found.range("lag0")
    with pytest.raises(InputError, match="Choose one of hinge0"):
        forces(build("bricard")).range("hinge0")
    with pytest.raises(InputError, match="no single polyhedron"):
        exact(found)
    with pytest.raises(InputError, match="a snapshot and these"):
        forces(found.dynamics, dt=0.1)
    with pytest.raises(InputError, match="IMPACT_NEEDED"):
        forces(bar(0.0, 0.0), State(q=np.zeros(2), v=[-1.0, 0.0]))


def test_blocks_over_the_edge_of_a_table_have_one_set_of_forces() -> None:
    """Harmonic overhang but for 1e-9: what is above presses on the edge and the inner end of every block, by levers."""
    scene = build("overhang")
    found = forces(scene)
    assert found.unique
    weight, half = Fraction(9.81), Fraction(scene.params["length"]) / 2
    centres = [Fraction(float(x)) for x in scene.state.q[::3]]  # lowest first
    edges = [Fraction(0), *(x + half for x in centres)]
    loads: list[Fraction] = []
    for k, (edge, x) in enumerate(zip(edges, centres, strict=False)):
        above = centres[k:]
        outer = (sum(above) / len(above) - x + half) / (edge - x + half)
        loads += [len(above) * weight * outer, len(above) * weight * (1 - outer)]
    highest = sorted(one.high for one in found.ranges())
    assert highest == pytest.approx(sorted(float(load) for load in loads), abs=1e-9)


def test_a_block_in_a_corner_agrees_with_another_program() -> None:
    """A square pushed into a rough corner touches each wall at two points: five numbers are free."""
    h, mu = 0.5, 0.6
    places = {"floor left": (-h, -h), "floor right": (h, -h), "wall low": (-h, -h), "wall high": (-h, h)}
    held = []
    for name, (x, y) in places.items():
        up, along = [0.0, 1.0, x], [1.0, 0.0, -y]
        n, t = (up, along) if name.startswith("floor") else (along, up)
        held.append(plane(n, name, t, mu))
    system = UserSystem(3, np.eye(3), [-7.0, -10.0, 1.0], held)
    found = forces(system, at_rest(system), motion=np.zeros(3))
    assert found.degree == 5
    for k, one in enumerate(found.ranges()):
        ends = linear_range(found.dynamics, found.allowed.motion, np.eye(8)[k])
        assert (one.low, one.high) == pytest.approx(ends, abs=1e-9)
        rational = exact(found).range(found.names[k])
        assert rational.high is not None
        assert float(rational.high) == pytest.approx(one.high, abs=1e-9)


def test_a_bipod_held_on_both_sides_has_every_side_looked_at() -> None:
    found = forces(build("bipod"))
    assert len(found.allowed.alternatives) == 4
    assert found.verify()


@pytest.mark.parametrize("name", [
    "belt_oscillator", "bipod", "brick_on_slope", "conveyor", "cue_ball", "duffing_friction", "duffing_plane",
    "four_bar", "incline", "launched_cube", "pinched_capsule", "rail_cars", "rimless_wheel", "turntable",
    "wall_press", "wedge",
])  # fmt: skip
def test_of_every_kind_of_scene_the_proofs_hold_and_the_ends_are_in_the_set(name: str) -> None:
    found = forces(build(name))
    assert found.verify()
    for one in found.ranges():
        assert found.contains(one.low_at, 1e-9)
        assert found.contains(one.high_at, 1e-9)


def test_impulses_of_a_step_carry_the_weight_of_the_step() -> None:
    found = forces(build("four_legs"), level="velocity", dt=1e-3)
    total = found.range("floor")
    assert (total.low, total.unit) == (pytest.approx(20.0 * 9.81 * 1e-3, abs=1e-10), "N s")
