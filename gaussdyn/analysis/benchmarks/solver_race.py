"""A race of block solvers: this package beside Siconos' on the same problems, both judged by the same residuals.

Siconos (Acary and others, siconos/siconos) is run under an interpreter that has it, in a process of its own; only the
data and the reactions pass between the two. What counts is CPU time on one thread, without reading and compiling.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...arrays import EPS, Array
from ...programs.blocks.solve_blocks import solve_blocks
from ...programs.files.formats import read_problem
from ...programs.laws.laws import Coulomb
from ...programs.problems.complementarity import ComplementarityProblem
from ...programs.solution.residuals import block_residuals
from ...programs.solution.solution import Solution

TOLERANCES = (1e-8, 1e-12)
OWN, WARM, AGAIN = "gaussdyn", "gaussdyn, warm", "gaussdyn, changed q"
CHANGE = 1e-3  # of |q|, before a warm start
SPACE = ("NSGS-NSN", "NSGS-NSN-full", "NSGS-PLI-full", "NSN_AC", "PROX-NSN_AC", "NSN_FB", "ADMM", "VI_EG")
PLANE = ("NSGS", "LEMKE", "CPG")
REPEAT, SPAN = 20, 0.1  # a call is repeated up to so often and so many seconds; the shortest counts
PYTHON = "/usr/bin/python3"  # Debian's python3-siconos lives there; the variable SICONOS_PYTHON names another one


@dataclass(frozen=True, slots=True)
class Run:
    """What one solver did on one problem.

    Attributes
    ----------
    seconds : float
        CPU time.
    claimed : bool
        Whether the solver itself reported success.
    near : tuple of bool
        For every tolerance, whether rel_s, the measure that all aim at, is within twice of it.
    good : tuple of bool
        Whether E, rel_q and viol_u are so, too, up to rounding of the reactions.
    """

    seconds: float
    claimed: bool
    near: tuple[bool, ...]
    good: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """All runs on one problem, by solver and the tolerance asked for."""

    name: str
    contacts: int
    dim: int
    runs: dict[tuple[str, float], Run] = field(default_factory=dict)

    def time(self, solver: str, tol: float) -> float:
        """Return the time of the quickest run of a solver that met tol (rel_s), or infinity."""
        at = TOLERANCES.index(tol)
        return min((run.seconds for (s, _), run in self.runs.items() if s == solver and run.near[at]), default=np.inf)

    def best(self, tol: float) -> tuple[float, str]:
        """Return the time and the name of the quickest of the others; (inf, "none") if no one met tol."""
        others = dict.fromkeys(s for s, _ in self.runs if s not in (OWN, WARM, AGAIN))
        time, name = min(((self.time(s, tol), s) for s in others), default=(np.inf, "none"))
        return time, name if np.isfinite(time) else "none"


def recorded(folder: Path, least: int, most: int, match: str) -> list[tuple[str, ComplementarityProblem]]:
    """Return the recorded Coulomb problems of a folder in local form, by size."""
    found = []
    for path in sorted(folder.rglob("*.hdf5")):
        if match not in path.name:
            continue
        file = read_problem(path)
        blocks = file.problem
        if not least <= file.contacts <= most or not isinstance(blocks, ComplementarityProblem):
            continue
        if all(type(law) is Coulomb and law.size == blocks.laws[0].size for law in blocks.laws):
            found.append((path.stem, ComplementarityProblem(W=sp.csr_array(blocks.W), q=blocks.q, laws=blocks.laws)))
    return sorted(found, key=lambda item: len(item[1].q))


def judged(problem: ComplementarityProblem, r: Array, seconds: float, claimed: bool) -> Run:
    """Return the run with its successes, recomputed from the problem and the reaction alone."""
    none = (False,) * len(TOLERANCES)
    if not np.isfinite(r).all():
        return Run(seconds, claimed, none, none)
    found, nq = block_residuals(problem, r), float(np.linalg.norm(problem.q)) or 1.0
    rho = np.repeat(problem.rho, np.diff(problem.table.start))
    floors = 10.0 * EPS * np.array([found.floor / EPS, np.linalg.norm(r) / nq, np.linalg.norm(r / rho) / nq])
    figures = np.array([found.E, found.rel_q, found.viol_u], dtype=float)
    near = tuple((found.rel_s or 0.0) <= 2.0 * tol for tol in TOLERANCES)
    good = tuple(bool((figures <= np.maximum(2.0 * tol, floors)).all()) for tol in TOLERANCES)
    return Run(seconds, claimed, near, tuple(a and b for a, b in zip(near, good, strict=True)))


def clocked(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the shortest CPU time of a few calls, and the result."""
    best, begin = np.inf, time.perf_counter()
    for _ in range(REPEAT):
        start = time.thread_time()
        found = call()
        best = min(best, time.thread_time() - start)
        if time.perf_counter() - begin > SPAN:
            break
    return best, found


def own_runs(row: Row, problem: ComplementarityProblem, cap: float) -> None:
    """Run this package cold at every tolerance, and warm: from the reactions for q to those for a changed q.

    The time includes the making of the problem from W, q and the laws. The change of q lies in the range of W: it is
    one that the bodies can make, so that the changed problem has a solution, too.
    """

    def solved(q: Array, tol: float, start: Array | None = None) -> Solution:
        """Make the problem anew and solve it."""
        made = ComplementarityProblem(W=problem.W, q=q, laws=problem.laws)
        return solve_blocks(made, start=start, tol=tol, seconds=cap)

    for tol in TOLERANCES:
        seconds, found = clocked(lambda tol=tol: solved(problem.q, tol))  # type: ignore[misc]
        row.runs[OWN, tol] = judged(problem, found.r, seconds, found.solved)
    change = problem.W @ np.random.default_rng(1).normal(size=len(problem.q))
    q = problem.q + CHANGE * np.linalg.norm(problem.q) / (float(np.linalg.norm(change)) or 1.0) * change
    other, tol = ComplementarityProblem(W=problem.W, q=q, laws=problem.laws), TOLERANCES[0]
    for name, start in ((AGAIN, None), (WARM, found.r)):
        seconds, then = clocked(lambda start=start: solved(q, tol, start))  # type: ignore[misc]
        row.runs[name, tol] = judged(other, then.r, seconds, then.solved)


def siconos_python() -> str | None:
    """Return the interpreter that has Siconos, or None."""
    python = os.environ.get("SICONOS_PYTHON", PYTHON)
    try:
        tried = subprocess.run([python, "-c", "import siconos.numerics"], capture_output=True, check=False)
    except OSError:
        return None
    return python if tried.returncode == 0 else None


def siconos_runs(row: Row, problem: ComplementarityProblem, python: str, cap: float) -> None:
    """Run every Siconos solver, all tolerances, each in a process of its own."""
    dimension = problem.laws[0].size
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "problem.dat"), Path(folder, "found.npy")
        path.write_text(_text(problem, dimension))
        for name in SPACE if dimension == 3 else PLANE:
            out.unlink(missing_ok=True)
            words = [path, dimension, len(problem.q), name, cap, REPEAT, SPAN, out, *TOLERANCES]
            child = [python, Path(__file__).with_name("siconos_child.py"), *words]
            subprocess.run([str(word) for word in child], check=False)
            found = np.load(out) if out.exists() else []
            for tol, (seconds, info, *r) in zip(TOLERANCES, found, strict=False):
                row.runs[name, tol] = judged(problem, np.array(r), float(seconds), bool(info == 0))


def _text(problem: ComplementarityProblem, d: int) -> str:
    """Return the problem in Siconos' format, W by sparse blocks (its best case; reading is not timed)."""
    W = sp.bsr_matrix(sp.csr_matrix(problem.W), blocksize=(d, d))
    W.sort_indices()
    m, n = len(problem.q), len(problem.laws)
    ends = "\t".join(str((i + 1) * d) for i in range(n))
    lines = [d, n, 1, m, m, len(W.indices), n, n, ends, ends, n + 1, len(W.indices)]
    lines += ["\t".join(map(str, W.indptr)), "\t".join(map(str, W.indices))]
    for p, block in enumerate(W.data):
        lines += [p, _numbers(block.flatten(order="F"))]
    lines += [_numbers(problem.q), _numbers(problem.table.P[:, 0])]
    return "\n".join(map(str, lines)) + "\n"


def _numbers(x: Iterable[float]) -> str:
    return "\t".join(f"{value:.17g}" for value in x)
