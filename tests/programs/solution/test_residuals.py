"""The audit: the compiled pass against the laws' own definitions, known answers, and answers that must be refused."""

from __future__ import annotations

import numpy as np
import pytest
from block_cases import LAWS, bodies, coulomb_residual, guided

from gaussdyn.programs.laws.laws import Coulomb, Rolling, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, LinearComplementarity
from gaussdyn.programs.problems.quadratic import QuadraticProgram
from gaussdyn.programs.solution.residuals import (
    Residuals,
    block_residuals,
    examine,
    kkt_residuals,
    modes,
    natural_map,
    residuals,
    step_sizes,
)
from gaussdyn.programs.solution.solution import Solution
from gaussdyn.programs.solution.status import Status


def test_compiled_audit_equals_the_laws():
    laws = list(LAWS.values())
    g = np.random.default_rng(0)
    for seed in range(30):
        problem = bodies(laws, seed, freedoms=20, skew=0.2)
        r = np.repeat(g.choice([0.0, 1.0, 5.0], size=len(laws)), np.diff(problem.table.start))
        r *= g.normal(size=len(r))
        got, _, u = examine(problem, r)
        for rho, figure, scale in (
            (problem.rho, got.E, np.linalg.norm(np.repeat(problem.rho, np.diff(problem.table.start)) * problem.q)),
            (np.ones(len(laws)), got.rel_q, np.linalg.norm(problem.q)),
        ):
            assert figure == pytest.approx(np.linalg.norm(natural_map(problem, u, r, rho)) / scale, rel=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_target_residual_by_an_independent_formula(dim):
    problem = bodies([Coulomb(0.4, dim=dim)] * 4, seed=2, freedoms=9, skew=0.2)
    r = np.random.default_rng(1).normal(size=4 * dim)
    E = coulomb_residual(problem.W, problem.q, [0.4] * 4, r, dim)
    assert pytest.approx(E, rel=1e-12) == block_residuals(problem, r).E


def block_on_floor(push, reaction, mu=0.5):
    """Unit mass pressed down by 1 and pushed sideways; figures known by hand."""
    problem = ComplementarityProblem(W=np.eye(3), q=np.array([-1.0, push, 0.0]), laws=[Coulomb(mu)])
    return problem, np.asarray(reaction, dtype=float)


@pytest.mark.parametrize(
    ("push", "reaction", "mode"),
    [(0.3, [1, -0.3, 0], "stick"), (2.0, [1, -0.5, 0], "slip"), (0.5, [1, -0.5, 0], "degenerate")],
)
def test_known_answers_and_modes(push, reaction, mode):
    problem, r = block_on_floor(push, reaction)
    figures, names, u = examine(problem, r)
    assert figures.small()
    assert figures.E == 0.0
    assert figures.angle == figures.slip == figures.penetration == 0.0
    assert names == (mode,) == modes(problem, u, r)


def test_each_physical_figure_sees_its_own_fault():
    problem, r = block_on_floor(2.0, [1.0, -0.5, 0.0])
    q = np.linalg.norm(problem.q)
    low = block_residuals(problem, np.array([0.7, -0.35, 0.0]))
    assert low.penetration == pytest.approx(0.3 / q)
    wide = block_residuals(problem, np.array([1.0, -0.7, 0.0]))
    assert wide.cone == pytest.approx(0.2 / np.hypot(1.0, 0.7))
    turned = block_residuals(problem, np.array([1.0, -0.3, -0.4]))
    assert turned.angle == pytest.approx(np.arctan2(0.4, 0.3) - np.arctan2(-0.4, 1.7))
    creeping = block_residuals(problem, np.array([1.0, -0.4, 0.0]))
    assert creeping.slip == pytest.approx(1.6 / q)
    assert block_residuals(problem, r).work == pytest.approx(-0.75 / (np.hypot(1.0, 0.5) * q))


def test_open_contact():
    problem = ComplementarityProblem(W=np.eye(3), q=np.array([1.0, 2.0, 0.0]), laws=[Coulomb(0.5)])
    figures, names, _ = examine(problem, np.zeros(3))
    assert figures.E == 0.0
    assert names == ("open",)


def test_stronger_at_rest_is_named_stick():
    problem = ComplementarityProblem(W=np.eye(2), q=np.array([-1.0, 0.45]), laws=[Coulomb(0.3, 0.5, dim=2)])
    figures, names, _ = examine(problem, np.array([1.0, -0.45]))
    assert figures.E == 0.0
    assert names == ("stick",)
    assert figures.cone == 0.0


def test_rolling_modes_and_cone():
    q = np.array([-1.0, 0.0, 0.0, 0.5, 0.0])
    problem = ComplementarityProblem(W=np.eye(5), q=q, laws=[Rolling(0.5, 0.2)])
    figures, names, _ = examine(problem, np.array([1.0, 0.0, 0.0, -0.2, 0.0]))
    assert figures.small()
    assert names == ("slip",)
    assert block_residuals(problem, np.array([1.0, 0.0, 0.0, -0.4, 0.0])).cone > 0.1


def test_guides_feel_both_signs():
    problem = guided(1.0, 0.2, -1.2)
    assert block_residuals(problem, np.array([1.0])).small()
    assert not block_residuals(problem, np.array([1.01])).small()


def test_dual_distance_is_the_distance():
    """viol_u is |u^ - P_K*(u^)| / |q|, here with K* = {u_N >= mu |u_T|} projected by hand."""
    problem = ComplementarityProblem(W=np.zeros((2, 2)), q=np.array([-3.0, 1.0]), laws=[Coulomb(0.5, dim=2)])
    # u^ = (-3 + 0.5, 1): nearest point of the edge (0.5, 1) / sqrt(1.25) has coordinate (-1.25 + 1) / sqrt(1.25) < 0
    assert block_residuals(problem, np.zeros(2)).viol_u == pytest.approx(np.hypot(2.5, 1.0) / np.hypot(3.0, 1.0))
    problem = ComplementarityProblem(W=np.zeros((2, 2)), q=np.array([-0.6, 1.0]), laws=[Coulomb(0.5, dim=2)])
    # u^ = (-0.1, 1): inside the wedge between K* and its polar, distance (0.5 * 1 - (-0.1)) / sqrt(1.25)
    assert block_residuals(problem, np.zeros(2)).viol_u == pytest.approx(0.6 / np.sqrt(1.25) / np.hypot(0.6, 1.0))


def test_a_reaction_that_runs_to_infinity_is_never_small():
    """Rounding hides any residual here: at 1e16 even the natural map itself is exactly 0."""
    W, q = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, -1.0])
    problem = ComplementarityProblem(W=W, q=q, laws=[Unilateral()] * 2)
    for size in (1e4, 1e8, 1e16):
        assert not block_residuals(problem, np.full(2, size)).small()
    assert not Residuals(E=1e-7, floor=1.0).small()
    assert not Residuals(E=0.0, floor=1.0).small()
    assert Residuals(E=1e-9, floor=2e-10).small()


def test_nan_is_infinitely_wrong():
    problem, _ = block_on_floor(1.0, [0, 0, 0])
    figures, names, _ = examine(problem, np.array([1.0, np.nan, 0.0]))
    assert np.inf == figures.E
    assert not figures.small()
    assert names == ("degenerate",)
    assert figures.to_json()["E"] is None


def test_data_at_rounding_level_use_the_absolute_residual():
    problem = ComplementarityProblem(W=np.eye(3), q=np.array([-1e-18, 1e-19, 0.0]), laws=[Coulomb(0.5)])
    figures = block_residuals(problem, np.zeros(3))
    assert figures.small()
    assert 0.0 < figures.E < 1e-17


def test_step_sizes_are_those_of_the_problem():
    problem = bodies([Coulomb(0.3)] * 3, seed=1)
    assert step_sizes(problem) is problem.rho


def test_solutions_audit_themselves():
    lcp = LinearComplementarity(M=[[2.0]], q=[-4.0])
    good = Solution(problem=lcp, status=Status.SOLVED, x=np.array([2.0]), r=np.array([2.0]))
    assert good.audit().E == 0.0
    assert good.but(r=np.array([2.1])).audit().E > 1e-2
    problem, r = block_on_floor(2.0, [1.0, -0.5, 0.0])
    claimed = Solution(problem=problem, status=Status.SOLVED, r=r + 1e-6, residuals=Residuals(E=0.0))
    assert claimed.audit().E > 1e-7
    assert residuals(problem, claimed).E == claimed.audit().E


def test_kkt_residual_of_a_program_worked_by_hand():
    program = QuadraticProgram(H=np.eye(1), g=[0.0], C=[[1.0]], d=[2.0])
    assert kkt_residuals(program, np.array([2.0]), np.zeros(0), np.array([2.0])).E == 0.0
    assert kkt_residuals(program, np.array([1.0]), np.zeros(0), np.array([1.0])).E > 0.1
    assert kkt_residuals(program, np.array([3.0]), np.zeros(0), np.array([3.0])).E > 0.1
