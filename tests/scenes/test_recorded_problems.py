"""The recorded contact problems in tests/data: solved, varied, and reproduced by the script that recorded them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.programs.files.fclib import read
from gaussdyn.programs.solution.residuals import residuals
from gaussdyn.programs.solve import solve

DATA = Path(__file__).resolve().parents[1] / "data"
FILES = sorted(DATA.glob("*.hdf5"))


def _script():
    name = "recording_script"
    spec = importlib.util.spec_from_file_location(name, DATA / "record.py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _dense(W):
    return W if isinstance(W, np.ndarray) else W.toarray()


def test_there_are_a_dozen_and_they_are_small():
    assert len(FILES) >= 12
    assert sum(path.stat().st_size for path in FILES) < 200_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_recorded_problem_is_solved(path):
    problem = read(path).problem
    solution = solve(problem)
    assert solution.solved, solution.explain()
    assert solution.residuals.E <= 1e-12
    assert residuals(problem, solution).E == solution.residuals.E
    # By hand: u = W r + q, unilateral, within the cone, friction against the slip.
    u = (_dense(problem.W) @ solution.r + problem.q).reshape(-1, 2)
    r, size = solution.r.reshape(-1, 2), np.linalg.norm(problem.q)
    mu = np.array([law.mu for law in problem.laws])
    assert u[:, 0].min() >= -1e-12 * size
    assert (np.abs(r[:, 1]) <= mu * r[:, 0] + 1e-12 * np.linalg.norm(r)).all()
    assert np.abs(u[:, 0] * r[:, 0]).max() <= 1e-12 * size * np.linalg.norm(r)
    slipping = np.abs(u[:, 1]) > 1e-9 * size
    assert (r[slipping, 1] * u[slipping, 1] <= 0.0).all()
    np.testing.assert_allclose(
        np.abs(r[slipping, 1]), mu[slipping] * r[slipping, 0], atol=1e-11 * np.linalg.norm(r)
    )  # fmt: skip


def test_they_are_redundant_sliding_sticking_and_opening():
    problems = [read(path).problem for path in FILES]
    redundant = [np.linalg.matrix_rank(_dense(p.W), tol=1e-9) < len(p.q) for p in problems]
    assert sum(redundant) >= 8
    seen = {mode for problem in problems for mode in solve(problem).modes}
    assert {"open", "stick", "slip"} <= seen


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_script_records_the_same_problem_again(path, tmp_path):
    again, first = read(_script().record(path.stem, tmp_path)).problem, read(path).problem
    assert again.laws == first.laws
    np.testing.assert_allclose(_dense(again.W), _dense(first.W), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(again.q, first.q, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_recorded_system_runs_on_and_passes_the_audit(path):
    """Through impacts, stops and rest: every step solved, every law met, and no energy from nowhere."""
    wanted = _script().RECORDINGS[path.stem]()
    run = simulate(wanted.system, wanted.state, 0.4, stepper=MoreauJean(dt=8 * wanted.dt))
    assert run.status == "COMPLETED", run.stop
    verdict = audit(run, wanted.system)
    assert verdict.passed, verdict.explain()
    assert run["energy"][-1] <= run["energy"][0] + run["work_forces"][-1] + _belt_work(path) + 1e-9


def _belt_work(path):
    """Bound the work of a running belt: mu m g times its way."""
    return 0.3 * 9.81 * 0.5 * 0.4 if path.stem == "belt" else 0.0
