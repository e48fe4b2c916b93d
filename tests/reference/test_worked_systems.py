"""Worked systems with exact answers, from Omega through the Gauss program to the reactions.

Source: Grzesikiewicz, Jarzebowska, Wakulicz (1993); Kozlov (2008) for the knife edge and the energy example.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from evidence import examples

from gaussdyn.contact.admissible_set import admissible_set
from gaussdyn.contact.gauss_program import gauss_program
from gaussdyn.contact.resolve import reactions, resolve
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Acceleration, Position, UserSystem, Velocity
from gaussdyn.programs.quadratic.equivalent_programs import multiplier_dual, reaction_program
from gaussdyn.programs.solution.status import Status
from gaussdyn.programs.solve import solve


def gauss(system, q, v, t=0.0):
    """System -> Omega -> Gauss program -> solution, the same from the two equivalent programs."""
    dynamics = snapshot(system, State(q=q, v=v, t=t))
    omega = admissible_set(dynamics)
    program = gauss_program(dynamics, omega)
    solution = solve(program).require()
    other, dual = reaction_program(program), multiplier_dual(program)
    np.testing.assert_allclose(other.motion(solve(other.program).require().x), solution.x, atol=1e-8)
    np.testing.assert_allclose(dual.motion(dual.solve()), solution.x, atol=1e-8)
    assert omega.contains(solution.x, 1e-9)
    load = dynamics.M @ solution.x - dynamics.h - omega.A.T @ solution.lam - omega.C.T @ solution.r
    assert np.abs(load).max() < 1e-9 * (1.0 + np.abs(dynamics.h).max())
    assert (solution.r >= 0.0).all()
    return dynamics, solution


def force(dynamics, solution):
    """Generalised reaction M a - h."""
    return dynamics.M @ solution.x - dynamics.h


class TestString:
    """m = L = 1, pivot at the origin, radial direction (0.6, 0.8) above it."""

    SYSTEM = UserSystem(2, np.eye(2), [0.0, -9.81], [Position(lambda t, q: 1.0 - np.hypot(*q), name="string")])

    def at(self, speed_squared):
        v = np.sqrt(speed_squared) * np.array([0.8, -0.6])
        dynamics, solution = gauss(self.SYSTEM, [0.6, 0.8], v)
        return solution.x, reactions(dynamics, solution)["string"][0]

    def test_taut(self):
        a, tension = self.at(10.0)
        np.testing.assert_allclose(a, [-1.2912, -11.5316], atol=1e-10)
        assert tension == pytest.approx(2.152, abs=1e-10)

    def test_slack(self):
        a, tension = self.at(5.0)
        np.testing.assert_allclose(a, [0.0, -9.81], atol=1e-10)
        assert tension == 0.0

    def test_release_at_the_height_of_one_and_a_half_lengths(self):
        # v0^2 = 3.5 g L at the bottom: the tension m (v^2 / L + g cos) vanishes where cos = -1/2
        def tension(angle):
            v_squared = 3.5 * 9.81 - 2 * 9.81 * (1 - np.cos(angle))
            q = [np.sin(angle), -np.cos(angle)]
            v = np.sqrt(v_squared) * np.array([np.cos(angle), np.sin(angle)])
            dynamics, solution = gauss(self.SYSTEM, q, v)
            return reactions(dynamics, solution)["string"][0]

        release = np.arccos(-0.5)
        assert tension(release + 1e-6) == 0.0
        assert tension(release - 1e-6) == pytest.approx(3 * 9.81 * np.sin(release) * 1e-6, rel=1e-3)
        assert 1.0 - np.cos(release) == pytest.approx(1.5)


class TestCornerWithARedundantWall:
    """Walls x >= 0, y >= 0 and x + y >= 0; M = diag(2, 2), F = (-3, -5): a = 0, r = (3, 5), mu on a segment."""

    SYSTEM = UserSystem(
        2, 2.0 * np.eye(2), [-3.0, -5.0],
        [Position(lambda t, q: q[0]), Position(lambda t, q: q[1]), Position(lambda t, q: q[0] + q[1])],
    )  # fmt: skip

    def test_motion_and_generalised_reaction_are_unique(self):
        dynamics, solution = gauss(self.SYSTEM, [0.0, 0.0], [0.0, 0.0])
        np.testing.assert_allclose(solution.x, 0.0, atol=1e-12)
        np.testing.assert_allclose(force(dynamics, solution), [3.0, 5.0], atol=1e-11)

    def test_multipliers_are_of_minimum_norm_and_marked(self):
        _, solution = gauss(self.SYSTEM, [0.0, 0.0], [0.0, 0.0])
        np.testing.assert_allclose(solution.r, [1 / 3, 7 / 3, 8 / 3], atol=1e-7)
        assert solution.u_unique is True
        assert solution.r_unique is False
        null = solution.null_space / np.linalg.norm(solution.null_space, axis=0)
        np.testing.assert_allclose(np.abs(null[:, 0]), np.ones(3) / np.sqrt(3), atol=1e-9)


def rail_cars(mass, load, rigid):
    """Cars in a row; coupling i joins cars i and i + 1: rigid, or a buffer q_i - q_{i+1} >= 0."""

    def coupling(i):
        return Position(
            lambda t, q: q[i] - q[i + 1], kind="bilateral" if rigid[i] else "unilateral", name=f"coupling{i}"
        )

    n = len(mass)
    return UserSystem(n, np.diag(mass), load, [coupling(i) for i in range(n - 1)])


def pool_adjacent_violators(mass, load, rigid):
    """Accelerations of the cars in exact arithmetic: pool rigid neighbours, then those that run into each other."""
    pools = [[Fraction(m), Fraction(f), 1] for m, f in zip(mass, load, strict=True)]
    k = 0
    for joined in rigid:
        if joined:
            other = pools.pop(k + 1)
            pools[k] = [x + y for x, y in zip(pools[k], other, strict=True)]
        else:
            k += 1
    stack = []
    for pool in pools:
        stack.append(pool)
        while len(stack) > 1 and stack[-2][1] / stack[-2][0] < stack[-1][1] / stack[-1][0]:
            last = stack.pop()
            stack[-1] = [x + y for x, y in zip(stack[-1], last, strict=True)]
    return [float(f / m) for m, f, count in stack for _ in range(count)]


@pytest.mark.drawn
def test_rail_cars_agree_with_pool_adjacent_violators():
    for seed in range(examples(20, fast=8)):
        check_rail_cars_agree_with_pool_adjacent_violators(seed)


def check_rail_cars_agree_with_pool_adjacent_violators(seed):
    rng = np.random.default_rng(seed)
    n = 5 if seed < 10 else int(rng.integers(2, 12))
    mass, load = rng.integers(1, 9, n), rng.integers(-20, 20, n)
    rigid = rng.random(n - 1) < 0.4
    dynamics, solution = gauss(rail_cars(mass, load, rigid), np.zeros(n), np.zeros(n))
    np.testing.assert_allclose(solution.x, pool_adjacent_violators(mass, load, rigid), atol=1e-10)
    # the force in a coupling is what the cars behind it need
    r = reactions(dynamics, solution)
    for i in range(n - 1):
        needed = float((mass[: i + 1] * solution.x[: i + 1] - load[: i + 1]).sum())
        assert r[f"coupling{i}"][0] == pytest.approx(needed, abs=1e-9)


class TestBarOnThreeSupports:
    """Supports at -1, 0, 1; mass 6, inertia 2; q = (height, angle)."""

    @staticmethod
    def resolve(load):
        supports = [Position(lambda t, q, x=x: q[0] + x * q[1], name=f"support at {x}") for x in (-1, 0, 1)]
        system = UserSystem(2, np.diag([6.0, 2.0]), load, supports)
        dynamics, solution = gauss(system, [0.0, 0.0], [0.0, 0.0])
        return solution, np.concatenate(list(reactions(dynamics, solution).values()))

    def test_loaded_in_the_middle(self):
        solution, mu = self.resolve([-60.0, 0.0])
        np.testing.assert_allclose(solution.x, 0.0, atol=1e-12)
        np.testing.assert_allclose(mu, [20.0, 20.0, 20.0], atol=1e-7)  # of (s, 60 - 2 s, s) the shortest
        assert solution.r_unique is False

    def test_loaded_off_the_middle(self):
        solution, mu = self.resolve([-60.0, 45.0])
        np.testing.assert_allclose(solution.x, 0.0, atol=1e-12)
        s = mu[2] / 7.5  # on the segment (45, 15, 0) - (52.5, 0, 7.5)
        assert 0.0 <= s <= 1.0
        np.testing.assert_allclose(mu, [45 + 7.5 * s, 15 - 15 * s, 7.5 * s], atol=1e-9)
        assert s == pytest.approx(0.0, abs=1e-6)  # the shortest: d|mu|^2/ds = 2 (45 * 7.5 - 15 * 15) > 0 at s = 0

    def test_tips(self):
        solution, mu = self.resolve([-60.0, 70.0])
        np.testing.assert_allclose(solution.x, [1.25, 1.25], atol=1e-11)
        np.testing.assert_allclose(mu, [67.5, 0.0, 0.0], atol=1e-10)


def test_empty_omega_comes_with_a_farkas_certificate():
    system = UserSystem(
        2, np.eye(2), [0.0, 0.0],
        [
            Acceleration([1.0, 1.0], 2.0, kind="bilateral", name="sum"),
            Acceleration([[-1.0, 0.0], [0.0, -1.0]], [-0.5, -0.5], name="limits"),
        ],
    )  # fmt: skip
    solution = resolve(snapshot(system, State(q=[0, 0], v=[0, 0])))
    assert solution.status is Status.INFEASIBLE
    assert solution.certificate.verify()


class TestDiscExterior:
    """A point outside the unit disc at (1, 0) with v = (0, 2): the obstacle curves away at 4 m/s^2."""

    @staticmethod
    def resolve(load, v=(0.0, 2.0)):
        system = UserSystem(2, np.eye(2), load, [Position(lambda t, q: np.hypot(*q) - 1.0, name="disc")])
        return snapshot(system, State(q=[1.0, 0.0], v=v))

    def test_leaves_the_disc(self):
        dynamics = self.resolve([-3.0, 0.0])
        solution = resolve(dynamics)
        np.testing.assert_allclose(solution.x, [-3.0, 0.0], atol=1e-10)
        assert reactions(dynamics, solution)["disc"].tolist() == [0.0]

    def test_is_kept_on_the_disc(self):
        dynamics = self.resolve([-6.0, 0.0])
        solution = resolve(dynamics)
        np.testing.assert_allclose(solution.x, [-4.0, 0.0], atol=1e-10)
        np.testing.assert_allclose(reactions(dynamics, solution)["disc"], [2.0], atol=1e-10)

    def test_only_a_resting_gap_acts(self):
        assert not admissible_set(self.resolve([-6.0, 0.0], (0.1, 2.0))).rows
        approaching = resolve(self.resolve([-6.0, 0.0], (-0.1, 2.0)))
        assert approaching.status is Status.IMPACT_NEEDED
        assert approaching.x is None
        assert "disc" in approaching.message


def test_moving_floor_throws_the_body_off():
    # y >= A sin(w t): contact needs -A w^2 sin(w t) > -g
    def at(t, A=0.1, w=12.0):
        floor = Position(lambda t, q: q[0] - A * np.sin(w * t), name="floor")
        system = UserSystem(1, [[2.0]], [-2.0 * 9.81], [floor])
        dynamics, solution = gauss(system, [A * np.sin(w * t)], [A * w * np.cos(w * t)], t)
        return solution.x[0], reactions(dynamics, solution)["floor"][0], -A * w * w * np.sin(w * t)

    a, r, floor = at(0.05)
    assert a == pytest.approx(floor, abs=1e-9)
    assert r == pytest.approx(2.0 * (9.81 + floor), abs=1e-9)
    a, r, floor = at(0.1)
    assert floor < -9.81
    assert (a, r) == (pytest.approx(-9.81), 0.0)


@pytest.mark.parametrize("kind", ["bilateral", "unilateral"])
def test_knife_edge_of_the_sleigh(kind):
    m, J, c, v0, om, ph = 1.0, 0.5, 0.4, 1.0, 2.0, 0.3
    edge = Velocity(lambda t, q, v: -np.sin(q[2]) * v[0] + np.cos(q[2]) * v[1] - c * v[2], kind=kind, name="edge")
    system = UserSystem(3, np.diag([m, m, J]), np.zeros(3), [edge])
    along, across = np.array([np.cos(ph), np.sin(ph)]), np.array([-np.sin(ph), np.cos(ph)])
    v = np.r_[v0 * along + c * om * across, om]
    dynamics, solution = gauss(system, [0.0, 0.0, ph], v)
    assert reactions(dynamics, solution)["edge"][0] == pytest.approx(1.515151515152, abs=1e-10)
    # the closed form v = R tanh(c R t / k^2), om = (R / k) sech(c R t / k^2) gives dv/dt = c om^2 at any time
    w = np.array([np.cos(ph), np.sin(ph)]) @ solution.x[:2] + om * (across @ v[:2])
    assert w == pytest.approx(c * om**2, abs=1e-10)
    assert solution.x[2] == pytest.approx(-c * solution.lam.sum() / J - c * solution.r.sum() / J, abs=1e-10)


class TestEnergyAsAConstraint:
    """V = (x^2 + 4 y^2) / 2: the acceleration constraint gives the true motion, the velocity constraint a wrong one."""

    @staticmethod
    def slope(q):
        return np.array([q[0], 4.0 * q[1]])

    @pytest.mark.parametrize("t", [0.0, 0.4])
    def test_acceleration_constraint(self, t):
        law = Acceleration(lambda t, q, v: -self.slope(q), lambda t, q, v: self.slope(q) @ self.slope(q), "bilateral")
        q, v = [np.cos(t), np.sin(2 * t) / 2], [-np.sin(t), np.cos(2 * t)]
        _, solution = gauss(UserSystem(2, np.eye(2), [0.0, 0.0], [law]), q, v)
        np.testing.assert_allclose(solution.x, [-np.cos(t), -2 * np.sin(2 * t)], atol=1e-11)

    def test_velocity_constraint_keeps_the_direction(self):
        def energy(t, q, v):
            return 0.5 * (v @ v + q[0] ** 2 + 4 * q[1] ** 2) - 1.0

        system = UserSystem(2, np.eye(2), [0.0, 0.0], [Velocity(energy, kind="bilateral")])
        t = 0.4
        _, solution = gauss(system, [1.0, np.sin(2 * t) / 2], [0.0, np.cos(2 * t)])
        np.testing.assert_allclose(solution.x, [0.0, -2 * np.sin(2 * t)], atol=1e-10)


def test_reentrant_corner_has_two_minimisers():
    """Omega = {a1 <= 0 or a2 <= 0} is not convex: each of its two convex pieces has its own minimiser."""
    found = []
    for k in (0, 1):
        wall = Position(lambda t, q, k=k: -q[k])
        dynamics, solution = gauss(UserSystem(2, np.eye(2), [1.0, 1.0], [wall]), [0.0, 0.0], [0.0, 0.0])
        program = gauss_program(dynamics, admissible_set(dynamics))
        found.append((solution.x, program.objective(solution.x)))
    (first, Z1), (second, Z2) = found
    np.testing.assert_allclose(first, [0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(second, [1.0, 0.0], atol=1e-12)
    assert abs(Z1 - Z2) <= 1e-12
