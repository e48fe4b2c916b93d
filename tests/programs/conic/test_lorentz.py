"""The algebra of Lorentz cones: Nesterov and Todd's scaling, Jordan products, and the longest step inside."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussdyn.programs.conic.lorentz import longest, product, quotient, scaled, scaling

sizes = st.lists(st.integers(1, 4), min_size=1, max_size=3)
seeds = st.integers(0, 2**31)


def starts(cones):
    return np.concatenate(([0], np.cumsum(cones))).astype(np.int64)


def inside(rng, cones, near):
    """Return a point inside all cones, at the share `near` of its distance from their axes to their borders."""
    parts = []
    for d in cones:
        way = rng.normal(size=d - 1)
        height = rng.uniform(0.1, 10.0)
        parts.append(np.r_[height, near * height * way / max(np.linalg.norm(way), 1e-300)])
    return np.concatenate(parts)


def heights(x, start):
    return np.array([x[a] - np.linalg.norm(x[a + 1 : b]) for a, b in pairwise(start)])


def scaling_of(x, z, start):
    """Return lam, and the functions W and W^-1."""
    beta, v, lam = np.empty(len(start) - 1), np.empty(len(x)), np.empty(len(x))
    scaling(x, z, start, beta, v, lam)

    def times(u, inverse):
        out = np.empty(len(u))
        scaled(beta, v, start, u, inverse, out)
        return out

    return lam, beta, times


@settings(max_examples=60, deadline=None)
@given(sizes, seeds, st.floats(0.0, 0.99))
def test_the_scaling_takes_x_and_z_to_one_point_and_the_cone_to_itself(cones, seed, near):
    """W z = W^-1 x = lam, W is symmetric, and W J W = beta^2 J, cone by cone: the definition of the scaling."""
    rng, start = np.random.default_rng(seed), starts(cones)
    x, z = inside(rng, cones, near), inside(rng, cones, near)
    lam, beta, times = scaling_of(x, z, start)
    size = np.abs(lam).max()
    np.testing.assert_allclose(times(z, False), lam, rtol=0, atol=1e-11 * size)
    np.testing.assert_allclose(times(x, True), lam, rtol=0, atol=1e-11 * size)
    W = np.column_stack([times(e, False) for e in np.eye(len(x))])
    J = np.full(len(x), -1.0)
    J[start[:-1]] = 1.0
    np.testing.assert_allclose(W, W.T, rtol=1e-12, atol=1e-14)
    expected = np.diag(J * np.repeat(beta**2, cones))
    np.testing.assert_allclose(W @ np.diag(J) @ W, expected, rtol=0, atol=1e-11 * np.abs(W).max() ** 2)


@settings(max_examples=60, deadline=None)
@given(sizes, seeds, st.floats(0.0, 0.99))
def test_the_quotient_takes_the_product_back(cones, seed, near):
    rng, start = np.random.default_rng(seed), starts(cones)
    lam, u = inside(rng, cones, near), rng.normal(size=sum(cones))
    d, back = np.empty(len(u)), np.empty(len(u))
    product(lam, u, start, d)
    quotient(lam, d, start, back)
    np.testing.assert_allclose(back, u, rtol=0, atol=1e-12 / (1.0 - near))


@settings(max_examples=60, deadline=None)
@given(sizes, seeds, st.floats(0.0, 0.99))
def test_the_longest_step_ends_on_the_border_of_a_cone(cones, seed, near):
    rng, start = np.random.default_rng(seed), starts(cones)
    lam, d = inside(rng, cones, near), rng.normal(size=sum(cones))
    step = longest(lam, d, start)
    at, size = lam + min(step, 1e6) * d, np.abs(lam).max() + min(step, 1e6) * np.abs(d).max()
    assert heights(lam + 0.5 * min(step, 1e6) * d, start).min() > 0.0
    assert heights(at, start).min() == pytest.approx(0.0, abs=1e-10 * size) or step == 1e10
    assert step < 1e10 or heights(d, start).min() >= -1e-9  # without an end: d lies in all cones
