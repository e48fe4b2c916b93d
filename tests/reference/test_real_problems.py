"""Recorded problems of other programs, where they are at hand: E <= 1e-10 without options, by another formula too."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
from block_cases import coulomb_residual, problem_folder

from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.files.formats import read_problem
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solution.status import Status

ROOT = problem_folder()
FOUND = sorted([*ROOT.rglob("*.hdf5"), *ROOT.rglob("*.json")]) if ROOT else []
FILES = [path for path in FOUND if "mixed" not in path.parts]  # mixed problems are not read yet
SMALL = 150_000  # bytes; larger files go to the slow tier
BAR = 1e-10

pytestmark = pytest.mark.skipif(not FILES, reason="no recorded problems: set GAUSSDYN_PROBLEMS to their folder")


def known(path):
    slow = path.stat().st_size > SMALL
    return pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize("path", [known(path) for path in FILES])
def test_recorded_problem(path, tmp_path):
    file = read_problem(path)
    answer = solve_blocks(file.problem)
    figures = answer.audit()
    assert pytest.approx(answer.residuals.E, rel=1e-6, abs=1e-300) == figures.E
    assert np.isfinite(answer.r).all()
    bound = 700 if file.kind.endswith("2d") else 30
    if file.contacts <= bound:
        assert answer.status is Status.SOLVED
        assert figures.E <= BAR
    else:
        assert answer.status in (Status.SOLVED, Status.MAX_ITERATIONS, Status.UNDECIDED)
        assert answer.solved == figures.small()
    if file.fclib is not None:
        check_saved(file, answer, path, tmp_path / "saved.hdf5")


def check_saved(file, answer, source, target):
    """The saved file holds the problem unchanged, and r and u that fit; E by the loop over contacts where small."""
    file.save(target, answer)
    with h5py.File(target) as h, h5py.File(source) as old:
        root = next(key for key in old if key.startswith("fclib_"))
        np.testing.assert_array_equal(h[f"{root}/vectors/mu"][()], old[f"{root}/vectors/mu"][()])
        r, u = h["solution/r"][()], h["solution/u"][()]
        assert {"u", "r", "v", "l"} == set(h["solution"])
    problem = file.problem
    np.testing.assert_allclose(u, problem.motion(r), rtol=1e-12, atol=1e-12 * np.abs(problem.q).max())
    law = problem.laws[0]
    if isinstance(law, Coulomb) and len(problem.laws) <= 100 and np.linalg.norm(problem.q) > 1e-15:
        W = problem.W.toarray() if sp.issparse(problem.W) else problem.W
        E = coulomb_residual(W, problem.q, [x.mu for x in problem.laws], r, law.dim)
        assert pytest.approx(answer.residuals.E, rel=1e-3, abs=1e-15) == E


@pytest.mark.skipif(not any(p.stem == "lcp_Pang_isolated_sol" for p in FILES), reason="the file is not at hand")
def test_isolated_solution():
    (path,) = (p for p in FILES if p.stem == "lcp_Pang_isolated_sol")
    np.testing.assert_allclose(solve_blocks(read_problem(path).problem).require().x, [1.0, 0.0, 0.0], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 4, 8, 9])
def test_recorded_stack_under_other_loads_and_friction(seed):
    """Rows of the corners of a face depend on each other up to 1e-11: loads must be exchanged for the last digits."""
    found = [path for path in FILES if path.stem.startswith("BoxesStack1")]
    if not found:
        pytest.skip("not recorded here")
    g, W = np.random.default_rng(seed), read_problem(found[0]).problem.W
    q, mu = W @ g.normal(size=W.shape[0]), g.uniform(0.05, 1.5, W.shape[0] // 3)
    answer = solve_blocks(ComplementarityProblem(W=W, q=q, laws=[Coulomb(x) for x in mu]))
    assert answer.solved
    assert coulomb_residual(W.toarray() if sp.issparse(W) else W, q, mu, answer.r, 3) <= 1e-12


@pytest.mark.slow
def test_rock_pile_is_solved():
    """No setting of Siconos reaches 1e-8."""
    found = [path for path in FILES if path.stem == "RockPile_tob1"]
    if not found:
        pytest.skip("not recorded here")
    problem = read_problem(found[0]).problem
    answer = solve_blocks(problem)
    assert answer.solved
    mu = [law.mu for law in problem.laws]
    assert coulomb_residual(sp.csr_array(problem.W).toarray(), problem.q, mu, answer.r, 3) <= 1e-12
    again = solve_blocks(problem, start=answer.r)
    assert again.solved
