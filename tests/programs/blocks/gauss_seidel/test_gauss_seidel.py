"""One-block solutions of every law are exact; sweeps converge to the right answer, dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from block_cases import LAWS, bodies, guided, one_block
from evidence import examples

from gaussdyn.programs.blocks.gauss_seidel.gauss_seidel import GaussSeidel
from gaussdyn.programs.blocks.scaled import scaled
from gaussdyn.programs.laws.laws import Associated, BilateralCoulomb, Coulomb, Dry, Rolling, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solution.residuals import block_residuals, natural_map
from gaussdyn.programs.work import Work


def solved_alone(problem):
    """The one-block solution without any polishing, and its natural map relative to the data."""
    data = scaled(problem)
    x, _ = GaussSeidel(sweeps=1).improve(data, np.zeros(len(problem.q)))
    r = x * data.unit
    u, rho = problem.motion(r), problem.rho
    scale = rho[0] * np.linalg.norm(problem.q) + np.linalg.norm(r)
    return r, u, np.linalg.norm(natural_map(problem, u, r, rho)) / scale


@pytest.mark.drawn
@pytest.mark.parametrize("skew", [0.0, 0.5], ids=["symmetric", "unsymmetric"])
@pytest.mark.parametrize("name", LAWS)
def test_one_block_is_solved_to_rounding(name, skew):
    worst = max(solved_alone(one_block(LAWS[name], seed, skew))[2] for seed in range(examples(200, fast=50)))
    assert worst < 1e-13


@pytest.mark.drawn
@pytest.mark.parametrize(
    "law", [Coulomb(0.5), BilateralCoulomb(0.5), Dry(0.3, dim=2), Rolling(0.5, 0.2), Associated(0.5)]
)
@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_one_block_in_extreme_units(law, size):
    for seed in range(examples(40, fast=20)):
        base = one_block(law, seed)
        law_ = law if not isinstance(law, Dry) else Dry(law.c * 1e3 / size, dim=2)
        problem = ComplementarityProblem(W=base.W * size, q=base.q * 1e3, laws=[law_])
        assert solved_alone(problem)[2] < 1e-13


def test_slip_against_the_closed_form():
    """W = I: the reaction is mu r_N against the push, and the block keeps the push less friction."""
    problem = ComplementarityProblem(W=np.eye(3), q=np.array([-2.0, 3.0, 4.0]), laws=[Coulomb(0.5)])
    r, u, _ = solved_alone(problem)
    np.testing.assert_allclose(r, [2.0, -0.6, -0.8], rtol=1e-14)
    np.testing.assert_allclose(u, [0.0, 2.4, 3.2], atol=1e-14)


def test_rolling_against_the_closed_form():
    problem = ComplementarityProblem(W=np.eye(5), q=np.array([-1.0, 3.0, 0.0, 0.0, 0.1]), laws=[Rolling(0.5, 0.2)])
    r, _, _ = solved_alone(problem)
    np.testing.assert_allclose(r, [1.0, -0.5, 0.0, 0.0, -0.1], atol=1e-14)


def test_associated_lifts_the_sliding_block():
    """The relaxation's artefact u_N = mu |u_T|; Coulomb's block stays on the floor."""
    q = np.array([-1.0, 5.0, 0.0])
    _, lifted, _ = solved_alone(ComplementarityProblem(W=np.eye(3), q=q, laws=[Associated(0.5)]))
    assert lifted[0] == pytest.approx(0.5 * np.linalg.norm(lifted[1:]))
    _, kept, _ = solved_alone(ComplementarityProblem(W=np.eye(3), q=q, laws=[Coulomb(0.5)]))
    assert kept[0] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("w", "w_abs", "q", "r"),
    [(1.0, 0.5, -3.0, 2.0), (1.0, 0.5, 3.0, -6.0), (1.0, 2.0, -3.0, None), (1.0, 2.0, 3.0, None)],
)
def test_guided_row(w, w_abs, q, r):
    """k = w_abs / w > 1: two solutions or none (Painlevé and Klein); below 1 always one."""
    answer = GaussSeidel().solve(guided(w, w_abs, q))
    solutions = [x for x in (-q / (w + w_abs), -q / (w - w_abs)) if (w * x + w_abs * abs(x) + q) == pytest.approx(0.0)]
    assert answer.solved == bool(solutions)
    if r is not None:
        assert answer.r[0] == pytest.approx(r)
    elif solutions:
        assert min(abs(answer.r[0] - x) for x in solutions) < 1e-12


def test_degenerate_blocks():
    zero = ComplementarityProblem(W=np.zeros((3, 3)), q=np.array([1.0, 2.0, 0.0]), laws=[Coulomb(0.5)])
    assert GaussSeidel().solve(zero).solved
    rank_one = np.outer([1.0, 0.2, 0.1], [1.0, 0.2, 0.1])
    flat = ComplementarityProblem(W=rank_one, q=np.array([-1.0, -0.2, -0.1]), laws=[Coulomb(0.5)])
    assert GaussSeidel().solve(flat).solved
    stuck = ComplementarityProblem(W=np.zeros((1, 1)), q=np.array([-1.0]), laws=[Unilateral()])
    assert not GaussSeidel().solve(stuck).solved


def test_sparse_and_dense_sweeps_agree():
    laws = [Coulomb(0.3), Unilateral(), Coulomb(0.5, dim=2), Rolling(0.3, 0.1), Dry(0.2), BilateralCoulomb(0.2, dim=2)]
    dense = bodies(laws, seed=8, freedoms=30, skew=0.05)
    sparse = ComplementarityProblem(W=sp.csr_array(dense.W), q=dense.q, laws=laws)
    one, two = GaussSeidel().solve(dense), GaussSeidel().solve(sparse)
    assert one.solved
    assert two.solved
    np.testing.assert_allclose(one.u, two.u, atol=1e-11)


def test_it_stops_at_its_limits_and_says_so():
    problem = bodies([Coulomb(1.5)] * 30, seed=3, freedoms=30)
    data = scaled(problem)
    x, sweeps = GaussSeidel(sweeps=7).improve(data, np.zeros(90))
    assert sweeps == 7
    assert not block_residuals(problem, x * data.unit).small()
    assert GaussSeidel().improve(data, np.zeros(90), Work(0.0))[1] == 0
