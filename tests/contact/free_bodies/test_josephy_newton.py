"""Newton's method with normal impulses pivoted: answers where contacts depend on one another but for their normals."""

import numpy as np
import pytest
from evidence import examples

from gaussdyn.contact.free_bodies.block_places import block_places
from gaussdyn.contact.free_bodies.body_problem import BodyProblem, Contacts, Iterate
from gaussdyn.contact.free_bodies.coulomb import step_sizes
from gaussdyn.contact.free_bodies.islands import room_for
from gaussdyn.contact.free_bodies.josephy_newton import complementary, pivot_pairs
from gaussdyn.contact.free_bodies.newton import motion
from gaussdyn.contact.free_bodies.one_island import by_pivots, solve_island
from gaussdyn.contact.free_bodies.proximal import proximal_point
from gaussdyn.linalg.block_lu import analyse

TOL = 1e-10


def plates(seed, n=3, twist=1e-9):
    """Return plates that lie on one another and slide, each held at its own corners and at those of the one below.

    Normals of the two kinds differ by `twist`, so that rates disagree by as much and the right contacts have to open.
    """
    rng = np.random.default_rng(seed)
    pair, first, R, ra, rb = [], [0], [], [], []
    for b in range(n):
        for upper in (True, False) if b else (True,):
            below, above = b - 1, b
            tilt = twist * rng.normal(size=2) if upper else np.zeros(2)
            N = np.array([*tilt, 1.0])
            N /= np.linalg.norm(N)
            T1 = np.cross(N, [0.0, 1.0, 0.0])
            T1 /= np.linalg.norm(T1)
            frame = np.array([N, T1, np.cross(N, T1)])
            if not upper:
                frame, (below, above) = np.array([-frame[0], frame[1], -frame[2]]), (b, b - 1)
            pair.append((below, above))
            first.append(first[-1] + 4)
            x = np.array([0.0, 0.0, b])
            for corner in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                size = 1.0 if upper else 0.8
                point = np.array([size * corner[0], size * corner[1], b - 0.5])
                R.append(frame)
                centre = {b: x, b - 1: x - [0.0, 0.0, 1.0]}
                ra.append(point - centre[below] if below >= 0 else point)
                rb.append(point - centre[above])
    pair, first = np.array(pair), np.array(first)
    c = int(first[-1])
    M = np.zeros((n, 4, 3))
    M[:, 3, 0], M[:, :3] = 1.0 + rng.uniform(size=n), np.eye(3) * 0.5
    inverse = np.zeros_like(M)
    inverse[:, 3, 0], inverse[:, :3] = 1.0 / M[:, 3, 0], np.linalg.inv(M[:, :3])
    h = np.zeros((n, 6))
    h[:, :3] = M[:, 3, :1] * (rng.normal(size=(n, 3)) * (1.0, 1.0, 0.0) - (0.0, 0.0, 0.3))
    h[:, 3:] = 0.03 * rng.normal(size=(n, 3))
    ordering = analyse(n, pair[:, 0].copy(), pair[:, 1].copy())
    slot = block_places(n, pair, ordering)
    contacts = Contacts(pair, first, slot, np.array(R), np.array(ra), np.array(rb))
    mu, rho = np.full(c, 0.3), np.zeros(c)
    step_sizes(contacts, mu, inverse, rho)
    problem = BodyProblem(contacts, M, inverse, h, np.zeros((c, 3)), mu, rho)
    return problem, ordering, room_for(problem, ordering), Iterate(*np.zeros((4, c, 3)), np.zeros((n, 6)))


def natural_map(problem, p, u):
    """Return E = |p - P(p - rho u^)| / |rho q| by numpy, u^ = u + mu |u_T| N and P the projection on the cones."""
    mu, rho = problem.mu, problem.rho
    x = p - rho[:, None] * u
    x[:, 0] -= rho * mu * np.hypot(u[:, 1], u[:, 2])
    for row, m in zip(x, mu, strict=True):
        t = np.hypot(row[1], row[2])
        if m * t <= -row[0]:
            row[:] = 0.0
        elif t > m * row[0]:
            row[0] = (row[0] + m * t) / (1.0 + m * m)
            row[1:] *= m * row[0] / t
    nothing, v, q, F = np.zeros_like(p), np.zeros((len(problem.M), 6)), np.zeros_like(p), np.zeros((len(problem.M), 6))
    motion(problem, nothing, F, v, q)
    return np.linalg.norm(p - x) / np.linalg.norm(rho[:, None] * q)


@pytest.mark.drawn
def test_sliding_plates_are_solved_from_nothing_in_a_few_steps():
    """Most of them: it is a Newton method. What it claims is true of all."""
    seeds, solved = range(examples(100, fast=20)), 0
    for seed in seeds:
        problem, ordering, work, iterate = plates(seed)
        E, floor, factors = by_pivots(problem, ordering, work, iterate, TOL)
        assert pytest.approx(natural_map(problem, iterate.p, iterate.u), rel=1e-3, abs=1e-14) == E, seed
        solved += bool(max(TOL, floor) >= E and factors <= 16)
    assert solved >= 0.8 * len(seeds)


@pytest.mark.drawn
def test_islands_of_sliding_plates_are_solved_and_then_cost_a_check():
    for seed in range(examples(60, fast=12)):
        problem, ordering, work, iterate = plates(seed)
        good, _factors, _slow = solve_island(problem, ordering, work, iterate, TOL, 0.01 * TOL, 120.0)
        assert good, seed
        _good, factors, _slow = solve_island(problem, ordering, work, iterate, TOL, TOL, 120.0)
        assert factors == 0


@pytest.mark.drawn
def test_linear_complementarity_problems_are_solved():
    for seed in range(examples(200, fast=40)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 13))
        A = rng.normal(size=(n, n))
        W, q, rho, x = A @ A.T + 1e-3 * np.eye(n), rng.normal(size=n), rng.uniform(0.1, 10.0, n), np.zeros(n)
        assert complementary(W, q, rho, x)
        u = W @ x + q
        assert x.min() >= 0.0
        assert u.min() >= -1e-9
        assert np.abs(x * u).max() <= 1e-9


@pytest.mark.drawn
def test_pairs_are_pivoted_where_proximal_points_end():
    """Normals differ by 1e-6 to 1e-4: W has eigenvalues that are the squares of these, below proximal terms."""
    begun = solved = 0
    for seed in range(examples(60, fast=10)):
        problem, ordering, work, iterate = plates(seed, n=6, twist=10.0 ** -(4 + seed % 3))
        E, _factors, floor = proximal_point(problem, ordering, work, iterate.p, iterate.v, iterate.u, TOL, 60)
        if max(TOL, floor) >= E or E > 1e-6:
            continue
        E, floor, _factors = pivot_pairs(problem, ordering, work, iterate, TOL, 100)
        assert pytest.approx(natural_map(problem, iterate.p, iterate.u), rel=1e-3, abs=1e-14) == E, seed
        begun, solved = begun + 1, solved + bool(max(TOL, floor) >= E)
    assert begun >= 0.3 * (seed + 1)
    assert solved >= 0.8 * begun
