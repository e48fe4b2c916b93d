"""resolve without friction: statuses, the velocity level, nonlinear velocity constraints, provenance of reactions."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest

from gaussdyn.contact.outcome.outcome import outcome
from gaussdyn.contact.rank_note import NO_LIMIT, OFF_BRANCH
from gaussdyn.contact.reactions import law_residual
from gaussdyn.contact.resolve import reactions, resolve
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Acceleration, Position, UserSystem, Velocity
from gaussdyn.programs.solution.status import Status
from gaussdyn.scenes.catalogue import build
from gaussdyn.scenes.linkages import darboux


def answer(system, q, v, t=0.0, **options):
    dynamics = snapshot(system, State(q=q, v=v, t=t), **options)
    solution = resolve(dynamics)
    return solution, reactions(dynamics, solution)


def one(*constraints, mass=2.0, load=-8.0):
    return UserSystem(1, [[mass]], [load], constraints)


FLOOR = Position(lambda t, q: q[0], name="floor")


def test_statuses_carry_no_acceleration():
    for gap, v, status in ((0.0, -1.0, Status.IMPACT_NEEDED), (-1e-3, 0.0, Status.PENETRATING)):
        solution, r = answer(one(FLOOR), [gap], [v])
        assert solution.status is status
        assert solution.x is None
        assert r == {}
        assert "floor" in solution.message


def test_an_open_joint_is_named():
    rod = Position(lambda t, q: q[0], kind="bilateral", name="rod")
    solution, _ = answer(one(FLOOR, rod), [0.25], [0.0])
    assert solution.status is Status.PENETRATING
    assert "bilateral rod (value 0.25" in solution.message
    assert "floor" not in solution.message


def test_the_residual_of_claimed_reactions():
    system = UserSystem(2, np.diag([2.0, 2.0]), [3.0, -8.0], [Position(lambda t, q: q[1], name="floor", eps_n=0.0)])
    dynamics = snapshot(system, State(q=[0.0, 0.0], v=[1.0, -1.0]), level="velocity", dt=0.1, ahead=0.0)
    r = reactions(dynamics, resolve(dynamics))
    assert law_residual(dynamics, r) <= 1e-14
    assert law_residual(dynamics, {"floor": 1.001 * r["floor"]}) == pytest.approx(1e-3, rel=0.01)
    assert law_residual(dynamics, {}) == pytest.approx(1.0)


def test_free_motion():
    solution, r = answer(one(FLOOR), [1.0], [0.0])
    assert solution.solved
    np.testing.assert_allclose(solution.x, [-4.0], rtol=1e-14)
    assert r == {}


class TestImpact:
    def test_newton(self):
        bouncing = Position(lambda t, q: q[0], name="floor", eps_n=0.5)
        solution, r = answer(one(bouncing), [0.0], [-2.0], level="velocity")
        np.testing.assert_allclose(solution.x, [1.0], rtol=1e-13)
        np.testing.assert_allclose(r["floor"], [6.0], rtol=1e-13)

    def test_three_balls_in_a_row(self):
        # all gaps closed, the first ball arrives: Newton with eps = 1 sends off the others together
        gaps = [Position(lambda t, q, i=i: q[i + 1] - q[i], eps_n=1.0, name=f"gap{i}") for i in range(2)]
        solution, _ = answer(UserSystem(3, np.eye(3), np.zeros(3), gaps), [0.0] * 3, [1.0, 0, 0], level="velocity")
        np.testing.assert_allclose(solution.x, [-1 / 3, 2 / 3, 2 / 3], atol=1e-13)
        assert solution.x @ solution.x == pytest.approx(1.0, abs=1e-13)

    def test_impact_is_the_nearest_admissible_velocity(self):
        M = np.array([[2.0, 0.5], [0.5, 1.0]])
        system = UserSystem(2, M, [0, 0], [Position(lambda t, q: q[1], name="floor")])
        solution, r = answer(system, [0.0, 0.0], [1.0, -2.0], level="velocity")
        n, v = np.array([0.0, 1.0]), np.array([1.0, -2.0])
        p = 2.0 / (n @ np.linalg.solve(M, n))
        np.testing.assert_allclose(solution.x, v + np.linalg.solve(M, n) * p, atol=1e-13)
        np.testing.assert_allclose(r["floor"], [p], atol=1e-13)


class TestStep:
    def test_at_rest_the_impulse_carries_the_weight(self):
        solution, r = answer(one(FLOOR), [0.0], [0.0], level="velocity", dt=0.25)
        np.testing.assert_allclose(solution.x, [0.0], atol=1e-15)
        np.testing.assert_allclose(r["floor"], [2.0], rtol=1e-14)

    def test_open_gap_closes_exactly(self):
        solution, _ = answer(one(FLOOR), [0.01], [-1.0], level="velocity", dt=0.1)
        assert 0.01 + 0.1 * solution.x[0] == pytest.approx(0.0, abs=1e-16)

    def test_acceleration_constraint_as_impulse(self):
        limit = Acceleration([-1.0], 1.0, name="limit")  # a <= -1
        solution, r = answer(one(limit, load=8.0), [0.0], [3.0], level="velocity", dt=0.1)
        np.testing.assert_allclose(solution.x, [2.9], rtol=1e-14)
        np.testing.assert_allclose(r["limit"], [1.0], rtol=1e-13)

    def test_acceleration_constraint_is_the_limit_of_the_step(self):
        slope = Acceleration([[1.0, 2.0]], [3.0], kind="bilateral", name="slope")
        system = UserSystem(2, np.diag([1.0, 3.0]), [0.5, -2.0], [slope])
        a, force = answer(system, [0, 0], [1.0, -1.0])
        v, impulse = answer(system, [0, 0], [1.0, -1.0], level="velocity", dt=0.01)
        np.testing.assert_allclose((v.x - [1.0, -1.0]) / 0.01, a.x, atol=1e-11)
        np.testing.assert_allclose(impulse["slope"] / 0.01, force["slope"], atol=1e-11)


class TestNonlinearVelocityConstraint:
    """|v| = c, and smooth others: psi holds at v+ to 1e-12, and the reaction is along its gradient there."""

    @staticmethod
    def sphere(kind="bilateral", speed=1.0):
        sign = 1.0 if kind == "bilateral" else -1.0
        return Velocity(lambda t, q, v: sign * (v @ v - speed**2), kind=kind, name="sphere")

    @pytest.mark.parametrize("free", [(1.3, 0.4), (3.0, 0.1), (-2.0, 4.0), (0.2, -0.1), (30.0, 1.0)])
    def test_nearest_point_on_the_circle(self, free):
        v, dt = np.array([0.0, 1.0]), 0.1
        system = UserSystem(2, np.eye(2), (np.array(free) - v) / dt, [self.sphere()])
        solution, _ = answer(system, [0.0, 0.0], v, level="velocity", dt=dt)
        assert solution.solved
        assert abs(solution.x @ solution.x - 1.0) <= 1e-12
        np.testing.assert_allclose(solution.x, free / np.linalg.norm(free), atol=1e-8)

    def test_speed_limit(self):
        system = UserSystem(2, np.eye(2), [40.0, 30.0], [self.sphere("unilateral")])
        fast, r = answer(system, [0.0, 0.0], [0.0, 0.0], level="velocity", dt=0.1)
        np.testing.assert_allclose(fast.x, [0.8, 0.6], atol=1e-9)
        assert r["sphere"][0] > 0
        slow, r = answer(system, [0.0, 0.0], [0.0, 0.0], level="velocity", dt=0.01)
        np.testing.assert_allclose(slow.x, [0.4, 0.3], atol=1e-12)
        assert r["sphere"][0] == 0.0

    def test_other_masses_and_a_contact(self):
        M = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 1.5]])
        psi = Velocity(lambda t, q, v: v[0] ** 3 + v[1] * v[2] - np.cos(v[0]) - 1.0, kind="bilateral", name="psi")
        floor = Position(lambda t, q: q[2], name="floor")
        system = UserSystem(3, M, [1.0, -2.0, -9.0], [psi, floor])
        solution, r = answer(system, [0.0] * 3, [1.2, 0.5, 0.0], level="velocity", dt=0.2)
        x = solution.x
        assert solution.solved
        assert abs(x[0] ** 3 + x[1] * x[2] - np.cos(x[0]) - 1.0) <= 1e-12
        gradient = np.array([3 * x[0] ** 2 + np.sin(x[0]), x[2], x[1]])
        h = M @ [1.2, 0.5, 0.0] + 0.2 * np.array([1.0, -2.0, -9.0])
        load = gradient * r["psi"][0] + np.array([0, 0, 1.0]) * r["floor"][0]
        np.testing.assert_allclose(M @ x - h, load, atol=1e-8)
        assert x[2] >= -1e-12

    def test_linear_constraint_needs_no_second_pass(self):
        edge = Velocity(lambda t, q, v: v[0] - 2.0 * v[1] + t, kind="bilateral")
        system = UserSystem(2, np.eye(2), [1.0, 0.0], [edge])
        solution, _ = answer(system, [0, 0], [1.0, 1.0], t=1.0, level="velocity", dt=0.1)
        assert solution.x[0] - 2 * solution.x[1] + 1.0 == pytest.approx(0.0, abs=1e-13)

    def test_says_so_where_no_velocity_satisfies_it(self):
        never = Velocity(lambda t, q, v: v[0] ** 2 + 1.0, kind="bilateral", name="never")
        solution, _ = answer(UserSystem(1, [[1.0]], [0.0], [never]), [0.0], [0.7], level="velocity", dt=0.1)
        assert not solution.solved
        assert solution.message


def test_contradictory_velocity_constraints_are_infeasible():
    rows = [Velocity(lambda t, q, v, c=c: v[0] - c, kind="bilateral") for c in (1.0, 2.0)]
    solution, _ = answer(one(*rows), [0.0], [1.0], level="velocity", dt=0.1)
    assert solution.status is Status.INFEASIBLE
    assert solution.certificate.verify()


def test_reactions_are_told_by_constraint():
    rod = Position(lambda t, q: q[0] - q[1], kind="bilateral", name="rod")
    both = Acceleration([[0, 0, 1.0], [0, 0, 2.0]], [1.0, 2.0], kind="bilateral", name="both")
    far = Position(lambda t, q: q[0] + 5.0, name="far")
    floor = Position(lambda t, q: q[1], name="floor")
    system = UserSystem(3, np.diag([1.0, 2.0, 3.0]), [-3.0, -4.0, 0.0], [far, rod, both, floor])
    solution, r = answer(system, [0.0] * 3, [0.0] * 3)
    assert set(r) == {"rod", "both", "floor"}
    np.testing.assert_allclose(r["rod"], [3.0], atol=1e-12)
    np.testing.assert_allclose(r["floor"], [7.0], atol=1e-12)
    np.testing.assert_allclose(r["both"], [0.6, 1.2], atol=1e-12)  # of all with r1 + 2 r2 = 3 the shortest
    np.testing.assert_allclose(solution.x, [0.0, 0.0, 1.0], atol=1e-12)


def test_users_convex_constraint():
    import cvxpy

    from gaussdyn.contact.admissible_set import admissible_set

    system = UserSystem(2, np.eye(2), [6.0, 8.0])
    dynamics = snapshot(system, State(q=[0, 0], v=[0, 0]))
    ball = [lambda a: cvxpy.norm(a) <= 5.0]
    solution = resolve(dynamics, convex=ball)
    np.testing.assert_allclose(solution.x, [3.0, 4.0], atol=1e-6)
    omega = admissible_set(dynamics, convex=ball)
    assert omega.contains(np.array([3.0, 4.0]), 1e-7)
    assert not omega.contains(np.array([3.1, 4.1]), 1e-7)
    push = reactions(dynamics, solution)["convex"]  # along -a, with M a = h + push
    np.testing.assert_allclose(push, solution.x - [6.0, 8.0], atol=1e-12)


def test_it_says_where_constraints_lose_rank_and_only_there():
    """Darboux's square: the solver's acceleration takes H off its line; beside it, and in a mechanism with redundant
    joints everywhere, there is nothing to say."""
    system = darboux.system_of(Fx=1.0)
    for h, words in ((0.0, True), (0.3, False)):
        at = snapshot(system, State(q=darboux.place(h), v=darboux.motion_of(h, 1.0)))
        found = resolve(at)
        assert found.status is Status.SOLVED
        assert found.r_unique is not words
        assert ("lose rank at this configuration, 8 instead of 9" in found.explain()) is words
        assert ("lose rank" in outcome(at).explain()) is words
        assert str(outcome(at).verdict) == "UNIQUE"
    rows = [Position(lambda t, q, k=k: k * q[0], kind="bilateral", name=f"wall{k}") for k in (1, 2)]
    found = resolve(snapshot(one(*rows), State(q=[0.0], v=[0.0])))
    assert found.r_unique is False
    assert "lose rank" not in found.explain()


def test_a_velocity_off_the_branches_is_refused_with_a_word_on_the_rank() -> None:
    system = build("singular_pendulum", b=2.01).system
    found = resolve(snapshot(system, State(q=[0.0, 0.0], v=[1.0, 0.0])))
    assert found.status == "INFEASIBLE"
    assert "rod cannot be met" in found.message
    assert "lose rank at this configuration, 0 instead of 1 beside it (rod)" in found.message
    assert "only velocities along one of them" in found.message
    for words in (NO_LIMIT, OFF_BRANCH):  # what they name is there
        place, name = re.findall(r"(gaussdyn[\w.]+)\.(\w+)", words)[0]
        assert callable(getattr(import_module(place), name))
