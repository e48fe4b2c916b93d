"""Which gaps push: those of the minimum, in whatever order they are eliminated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from gaussdyn._jit import Held
from gaussdyn.integrate.time_stepping.core.problem.pushes import MANY, list_joined, room, squeeze
from gaussdyn.integrate.time_stepping.scheme import SOFT


@pytest.mark.parametrize("m", [MANY // 2, 2 * MANY])
def test_pushes_are_those_of_the_minimum(m: int) -> None:
    """Of 1/2 p.W p + gap.p + SOFT / 2 |p|^2 over p >= 0, by nonnegative least squares; gaps join at random."""
    rng = np.random.default_rng(m)
    Z = np.zeros((m, m))
    for row in Z:
        row[rng.choice(m, 3, replace=False)] = rng.normal(size=3)
    Z /= np.linalg.norm(Z, axis=1)[:, None]
    gap, push = 1e-3 * Z @ rng.normal(size=m), room(m, m, m)
    push.W[:, :m], push.gap[:], push.acts[:] = Z @ Z.T, gap, gap < 0.0
    held = Held(push)
    list_joined(held, m)
    assert sorted(push.order[:m]) == list(range(m))
    assert (list(push.order[:m]) == list(range(m))) == (m < MANY)
    assert squeeze(held, m, False)
    root = np.linalg.cholesky(Z @ Z.T + SOFT * np.eye(m))
    exact, _ = nnls(root.T, -np.linalg.solve(root, gap))
    assert np.abs(Z.T @ (push.p - exact)).max() <= 1e-9
    assert (push.p >= 0.0).all()
    push.centre[:] = push.p
    assert squeeze(held, m, True)
    by_the_factor = push.p.copy()
    assert squeeze(held, m, False)
    assert (push.p == by_the_factor).all()
