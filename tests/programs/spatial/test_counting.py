"""Motions counted in doubles, against the exact count."""

from __future__ import annotations

import numpy as np
import pytest
from spatial_contact_cases import contact, random_body

from gaussdyn.programs.spatial.counting import count_spatial, surely_unique
from gaussdyn.programs.spatial.one_contact import motions


def differences(seed: int, number: int) -> tuple[int, int, int]:
    """Return how many differ, how many are left to exact arithmetic, and how many have several motions."""
    rng = np.random.default_rng(seed)
    W = np.array([random_body(rng) for _ in range(number)])
    W[::3] += 0.3 * rng.normal(size=W[::3].shape)
    mu = rng.choice([0.3, 1.0, 2.0, 4.0], number)
    mu_s = mu * rng.choice([1.0, 1.3], number)
    reaction = np.stack([np.ones(number), mu * rng.uniform(-1, 1, number), mu * rng.uniform(-1, 1, number)], axis=1)
    q = -(W @ reaction[:, :, None])[:, :, 0] + rng.choice([0.0, 0.5, 3.0], (number, 1)) * rng.normal(size=(number, 3))
    counts = count_spatial(W, q, mu, mu_s)
    wrong = 0
    for k in np.flatnonzero(~counts.near):
        found = motions(contact(W[k], q[k], float(mu[k]), float(mu_s[k]))).motions
        letters = [one.letter for one in found]
        wrong += (letters.count("D"), letters.count("S"), letters.count("+")) != (
            counts.detach[k], counts.stick[k], counts.slips[k])  # fmt: skip
        if surely_unique(W[k], float(mu[k]), float(mu_s[k])) and np.allclose(W[k], W[k].T):
            wrong += len(found) != 1
    return wrong, int(counts.near.sum()), int((counts.total > 1).sum())


def test_counts_agree_with_the_exact_ones() -> None:
    wrong, near, several = differences(0, 60)
    assert (wrong, near < 6, several > 2) == (0, True, True)


@pytest.mark.slow
def test_counts_agree_with_the_exact_ones_many_times() -> None:
    wrong, near, several = differences(1, 1500)
    assert (wrong, near < 30, several > 60) == (0, True, True)


def test_degenerate_loads_are_left_to_exact_arithmetic() -> None:
    W = np.array([np.eye(3), np.eye(3), np.diag([1.0, 1.0, 0.0])])
    q = np.array([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.1, 0.0]])
    assert count_spatial(W, q, 0.5, 0.5).near.all()
    assert surely_unique(np.diag([1.0, 3.5, 3.5]), 10.0, 10.0)
    assert not surely_unique(np.diag([1.0, 3.5, 3.5]), 0.1, 0.2)
