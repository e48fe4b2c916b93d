"""The last digits: polishing makes good reactions exact and never makes one worse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from block_cases import bodies, box

from gaussdyn.programs.blocks.newton.newton_steps import inner_newton
from gaussdyn.programs.blocks.polish import polish
from gaussdyn.programs.blocks.proximal_newton import ProximalNewton
from gaussdyn.programs.blocks.scaled import scaled
from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.laws.laws import BilateralCoulomb, Coulomb, Dry, Rolling, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem


@pytest.mark.parametrize("seed", range(5))
def test_a_perturbed_solution_is_restored(seed):
    laws = [Coulomb(0.3), Unilateral(), Rolling(0.4, 0.1), Dry(0.2), BilateralCoulomb(0.2, dim=2)]
    problem = bodies(laws, seed, freedoms=30)
    data, exact = scaled(problem), solve_blocks(problem).require().r
    noise = np.random.default_rng(seed).normal(size=len(exact))
    x = polish(data, exact / data.unit + 1e-6 * noise, 1e-12)
    assert data.residual(x) < 1e-13


def test_redundant_contacts_are_polished_too():
    problem = box([1.0, 0.0, -1.0, 0.0, 0.0, 0.1])
    data, exact = scaled(problem), solve_blocks(problem).require().r
    x = polish(data, exact / data.unit * (1 + 1e-7), 1e-12)
    assert data.residual(x) < 1e-13


@pytest.mark.parametrize("seed", range(10))
def test_it_never_makes_things_worse(seed):
    problem = bodies([Coulomb(1.5)] * 5, seed)
    data = scaled(problem)
    x = np.random.default_rng(seed).normal(size=15)
    assert data.residual(polish(data, x, 1e-12)) <= data.residual(x)


def test_large_and_small_newton_steps_agree(monkeypatch):
    """The compiled dense loop and the sparse one take the same steps."""
    problem = bodies([Coulomb(0.4)] * 6, seed=2, freedoms=30)
    data = scaled(problem)
    one, two = np.zeros(18), np.zeros(18)
    size, steps = inner_newton(data, 1e-2, np.zeros(18), one, 1e-13, 20)
    monkeypatch.setattr("gaussdyn.programs.blocks.scaled.DENSE_ROWS", 0)
    other, count = inner_newton(data, 1e-2, np.zeros(18), two, 1e-13, 20)
    assert max(size, other) < 1e-12
    assert steps == count
    np.testing.assert_allclose(one, two, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_proximal_newton_alone(seed):
    problem = bodies([Coulomb(0.8)] * 12, seed, freedoms=12)
    answer = ProximalNewton().solve(problem).require()
    assert answer.method == "proximal_newton"


def test_proximal_newton_on_large_sparse_problems():
    """80 boxes in a row, each on two contacts and coupled by nothing: block diagonal W of 480 rows."""
    one = bodies([Coulomb(0.5)] * 2, seed=4)
    problem = ComplementarityProblem(W=sp.block_diag([one.W] * 80), q=np.tile(one.q, 80), laws=list(one.laws) * 80)
    answer = ProximalNewton().solve(problem).require()
    np.testing.assert_allclose(answer.u, np.tile(solve_blocks(one).require().u, 80), atol=1e-10)
