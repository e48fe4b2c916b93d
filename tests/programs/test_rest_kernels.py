"""A few contacts that friction just holds: reactions by the formula of a sliding block, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from block_cases import bodies, box, coulomb_residual

from gaussdyn.programs.few_blocks import few_blocks
from gaussdyn.programs.laws import Coulomb, Unilateral
from gaussdyn.programs.rest_kernels import closed_rows, rest_from

MU = 0.5


@pytest.mark.parametrize("angle", [0.0, 0.3, np.arctan(4 / 3), 2.0, -1.1])
def test_a_box_pushed_exactly_as_hard_as_friction_allows(angle):
    problem = box([MU * np.cos(angle), MU * np.sin(angle), -1, 0, 0, 0])
    answer = few_blocks(problem, problem, 1e-12)
    assert answer is not None
    assert answer.solved
    assert answer.iterations <= 8
    r = answer.r.reshape(-1, 3)
    assert coulomb_residual(np.asarray(problem.W), problem.q, [MU] * 4, answer.r, 3) <= 1e-12
    np.testing.assert_allclose(np.hypot(r[:, 1], r[:, 2]), MU * r[:, 0], atol=1e-8 * np.abs(r).max())
    assert np.linalg.norm(answer.u) <= 1e-11 * np.linalg.norm(problem.q)


def rest(problem, r):
    n = len(r)
    x = r.copy()
    work = np.zeros(n, dtype=np.int64), np.zeros((2, n)), np.zeros(n * n), np.zeros(n)
    table = (problem.table.code, problem.table.start, problem.table.P)
    return rest_from(np.ascontiguousarray(problem.W), problem.q, table, x, *work), x


def test_friction_is_shared_in_proportion_to_the_load():
    problem = box([0.2, 0.1, -1, 0, 0, 0])
    scale = np.abs(np.diag(problem.W)).mean()
    r = np.tile([1.0, 0.0, 0.0], 4) / scale
    for _ in range(3):
        held, r = rest(problem, r)
        assert held
    np.testing.assert_allclose(problem.W @ r + problem.q, 0.0, atol=1e-11 * np.linalg.norm(problem.q))
    load = r.reshape(-1, 3)
    np.testing.assert_allclose(load[:, 1] / load[:, 0], load[0, 1] / load[0, 0], rtol=1e-6)


def test_nothing_rests_without_load_or_under_other_laws():
    problem = box([0, 0, -1, 0, 0, 0])
    held, r = rest(problem, np.zeros(12))
    assert not held
    assert not r.any()
    mixed = bodies([Coulomb(0.3), Unilateral()], 0)
    table = (mixed.table.code, mixed.table.start, mixed.table.P)
    assert closed_rows(table, np.ones(4), np.zeros(4, dtype=np.int64), np.zeros(4), np.zeros(4)) == 0
