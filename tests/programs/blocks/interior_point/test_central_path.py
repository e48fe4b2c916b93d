"""Central paths: smoothed projections against differences and their limit, the path on a problem with one solution."""

from __future__ import annotations

import numpy as np
import pytest
from block_cases import bodies
from hypothesis import given
from hypothesis import strategies as st

from gaussdyn.linalg.cones import project_friction_cone
from gaussdyn.programs.blocks.interior_point.central_path import HELD, CentralPath, _Course
from gaussdyn.programs.blocks.interior_point.path_kernels import (
    PathProblem,
    central_map,
    path_space,
    smoothed_projection,
)
from gaussdyn.programs.blocks.newton.block_form import block_form
from gaussdyn.programs.blocks.scaled import scaled
from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.laws.laws import Coulomb, Rolling, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.work import Work

VECTORS = st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3).map(np.array)


def projected(z, d, tau):
    p, P, slope = np.zeros(3), np.zeros((3, 3)), np.zeros(3)
    smoothed_projection(z, d, tau, p, P, slope)
    return p, P, slope


def jordan(x, y):
    """The product of the second-order cone: x o y = (x.y, x_N y_T + y_N x_T)."""
    return np.array([x @ y, *(x[0] * y[1:] + y[0] * x[1:])])


@given(VECTORS, st.floats(0.05, 1.0))
def test_smoothed_projection_is_the_central_point(z, tau):
    """x = p(z) and y = x - z lie inside the cone and x o y = tau^2 e; this determines both."""
    x = projected(z, 3, tau)[0]
    y = x - z
    np.testing.assert_allclose(jordan(x, y), [tau**2, 0.0, 0.0], atol=1e-12)
    assert x[0] > np.hypot(x[1], x[2])
    assert y[0] > np.hypot(y[1], y[2])


@given(VECTORS, st.floats(0.1, 1.0), st.sampled_from([1, 3]))
def test_derivatives_of_the_smoothed_projection(z, tau, d):
    _, P, slope = projected(z, d, tau)
    h = 1e-6
    for k, e in enumerate(h * np.eye(3)[:d]):
        moved = (projected(z + e, d, tau)[0] - projected(z - e, d, tau)[0]) / (2.0 * h)
        np.testing.assert_allclose(P[:d, k], moved[:d], atol=1e-8)
    moved = (projected(z, d, tau + h)[0] - projected(z, d, tau - h)[0]) / (2.0 * h)
    np.testing.assert_allclose(slope[:d], moved[:d], atol=1e-8)


@given(VECTORS)
def test_smoothed_projection_becomes_the_projection(z):
    exact = project_friction_cone(z[None], np.ones(1))[0]
    for tau in (1e-2, 1e-5, 1e-9):
        assert np.abs(projected(z, 3, tau)[0] - exact).max() <= 2.0 * tau
        assert abs(projected(z, 1, tau)[0][0] - max(z[0], 0.0)) <= tau


def course(laws, seed, freedoms):
    problem = bodies(laws, seed, freedoms=freedoms)
    data = scaled(problem)
    form = block_form(data)
    return problem, data, _Course.of(data, form)


MIXED = [Coulomb(0.4), Unilateral(), Coulomb(1.3), Coulomb(0.6, dim=2), Coulomb(0.0)] * 5


def test_derivatives_of_the_central_map():
    """C dr + D W dr and the slope in log tau are those of F, for blocks of every size and mu."""
    _, _, way = course(MIXED, 3, 90)
    g = np.random.default_rng(1)
    n = len(way.sizes)
    weights, space = np.exp(g.uniform(-1.0, 1.0, n)), path_space(n, way.ordering)
    r, dr = g.normal(size=(n, 3)), g.normal(size=(n, 3))
    rows = np.arange(3) < way.form.sizes[:, None]
    r, dr = r * rows, dr * rows

    def value(x, tau):
        central_map(PathProblem(way.blocks, way.ordering, way.q, way.sizes, weights), tau, x, space)
        return space[0][1].copy()

    h, tau = 1e-6, 0.3
    across = (value(r + h * dr, tau) - value(r - h * dr, tau)) / (2.0 * h)
    along = (value(r, tau * np.exp(h)) - value(r, tau * np.exp(-h))) / (2.0 * h)
    value(0.0 * r, tau)
    u0 = space[0][0].copy()
    value(dr, tau)
    Wdr = space[0][0] - u0
    value(r, tau)
    V, C, D = space[:3]
    np.testing.assert_allclose(np.einsum("kij,kj->ki", C, dr) + np.einsum("kij,kj->ki", D, Wdr), across, atol=1e-7)
    np.testing.assert_allclose(V[2], along, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_ends_of_a_path_tend_to_the_only_solution(seed):
    """Little friction and W regular: u and r are unique, and the path ends there, ever nearer."""
    laws = [Coulomb(0.05), Unilateral(), Coulomb(0.1, dim=2)] * 7
    problem, data, way = course(laws, seed, 90)
    exact = solve_blocks(problem).require().r / data.unit
    weights = np.exp(np.random.default_rng(seed).uniform(-1.5, 1.5, len(laws)))
    far = [np.linalg.norm(r - exact) for r, _ in way.points(weights, 500, Work())]
    assert len(far) >= 5
    assert far[0] <= 1e3 * HELD * np.linalg.norm(exact)
    assert far[-1] <= 1e-2 * far[0]


def test_it_solves_from_a_point_nearby():
    problem, data, _ = course([Coulomb(0.5)] * 20, 2, 40)
    exact = solve_blocks(problem).require().r / data.unit
    size = 1e-2
    while data.residual(exact * (1.0 + size)) > 1e-5:
        size *= 0.3
    begin = exact * (1.0 + size)
    assert data.residual(begin) > 1e-9
    r, steps = CentralPath().improve(data, begin)
    assert data.residual(r) <= 1e-12
    assert steps > 0


@pytest.mark.parametrize("laws", [[Rolling(0.5, 0.2)] * 9, [Coulomb(0.5)] * 3])
def test_other_problems_are_returned_as_they_are(laws):
    data = scaled(bodies(laws, 1, freedoms=60))
    r = np.zeros(len(data.q))
    answer, steps = CentralPath().improve(data, r)
    assert answer is r
    assert steps == 0


def test_a_point_that_is_no_solution_at_all_is_left():
    problem = ComplementarityProblem(W=np.eye(60), q=-np.ones(60), laws=[Coulomb(0.5)] * 20)
    data = scaled(problem)
    assert CentralPath().improve(data, np.zeros(60))[1] == 0
