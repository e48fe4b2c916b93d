"""Dense quadratic programs: our active-set kernel beside daqp, piqp, osqp and clarabel.

The solvers take turns on the same programs in one process; every answer's KKT residual is recomputed from the
program. Compile time is apart. Run: ``OMP_NUM_THREADS=1 python benchmarks/quadratic.py [--programs 40] [--rounds 9]``.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gaussdyn.arrays import Array
from gaussdyn.programs.problems.quadratic import QuadraticProgram
from gaussdyn.programs.quadratic.dual_active_set import ActiveSet
from gaussdyn.programs.solution.residuals import kkt_residuals

Answer = tuple[Array, Array, Array]
Solver = Callable[[QuadraticProgram], Answer]
SIZES = ((6, 4), (6, 16), (30, 30), (60, 60))
LOOP = 5  # calls in a row, as in a loop over time steps, before the next solver takes its turn
BARS = {(6, 4): 15.0, (30, 30): 60.0}


def program(rng: np.random.Generator, n: int, rows: int) -> QuadraticProgram:
    """Return a feasible program with cond(H) <= 100 whose free minimum violates about half of the rows."""
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    H = (Q * 100.0 ** rng.uniform(0.0, 1.0, n)) @ Q.T
    C, inside = rng.normal(size=(rows, n)), rng.normal(size=n)
    d = C @ inside - np.where(rng.random(rows) < 0.5, 0.0, rng.exponential(size=rows))
    return QuadraticProgram(H=(H + H.T) / 2, g=-H @ (3.0 * rng.normal(size=n)), C=C, d=d)


def ours(p: QuadraticProgram) -> Answer:
    x, w, _, _ = solve_arrays(p.H, p.g, p.A, p.b, p.C, p.d)
    return x, w[: len(p.b)], w[len(p.b) :]


def audited(p: QuadraticProgram) -> Answer:
    found = ActiveSet().solve(p)
    return found.x, found.lam, found.r


def daqp(p: QuadraticProgram) -> Answer:
    x, _, _, info = modules["daqp"].solve(p.H, p.g, p.C, np.full(len(p.d), 1e30), p.d)
    return x, np.zeros(0), np.maximum(-np.asarray(info["lam"]), 0.0)


def piqp(p: QuadraticProgram) -> Answer:
    solver = modules["piqp"].DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.setup(p.H, p.g, None, None, p.C, p.d, None)
    solver.solve()
    return np.asarray(solver.result.x), np.zeros(0), np.asarray(solver.result.z_l)


def osqp(p: QuadraticProgram) -> Answer:
    solver = modules["osqp"].OSQP()
    H, C = modules["scipy.sparse"].csc_matrix(np.triu(p.H)), modules["scipy.sparse"].csc_matrix(p.C)
    solver.setup(H, p.g, C, p.d, np.full(len(p.d), np.inf), verbose=False, eps_abs=1e-8, eps_rel=1e-8,
                 max_iter=20000, adaptive_rho=1, adaptive_rho_interval=50)  # fmt: skip
    found = solver.solve(raise_error=False)
    return np.asarray(found.x), np.zeros(0), np.maximum(-np.asarray(found.y), 0.0)


def clarabel(p: QuadraticProgram) -> Answer:
    library, csc = modules["clarabel"], modules["scipy.sparse"].csc_matrix
    options = library.DefaultSettings()
    options.verbose, options.tol_gap_rel, options.tol_gap_abs, options.tol_feas = False, 1e-11, 1e-11, 1e-11
    cones = [library.NonnegativeConeT(len(p.d))]
    found = library.DefaultSolver(csc(np.triu(p.H)), p.g, csc(-p.C), -p.d, cones, options).solve()
    return np.asarray(found.x), np.zeros(0), np.asarray(found.z)


def measure(n: int, rows: int, count: int, rounds: int, solvers: dict[str, Solver]) -> dict[str, tuple[Any, ...]]:
    """Return for every solver its times (programs,) in us, each the median over rounds, and its largest residual."""
    rng = np.random.default_rng(20240611)
    programs = [program(rng, n, rows) for _ in range(count)]
    times = {name: np.zeros((count, rounds)) for name in solvers}
    worst = dict.fromkeys(solvers, 0.0)
    for k, p in track(list(enumerate(programs)), description=f"n = {n}, {rows} rows", transient=True):
        for turn in range(rounds):
            for name, solver in solvers.items():
                start = time.perf_counter()
                for _ in range(LOOP):
                    answer = solver(p)
                times[name][k, turn] = 1e6 * (time.perf_counter() - start) / LOOP
                if turn == 0:
                    worst[name] = max(worst[name], kkt_residuals(p, *answer).E)
    return {name: (np.median(times[name], axis=1), worst[name]) for name in solvers}


def table(n: int, rows: int, figures: dict[str, tuple[Any, ...]]) -> Table:
    bar = f"; bar {BARS[n, rows]:g} us" if (n, rows) in BARS else ""
    out = Table(title=f"n = {n}, {rows} rows{bar}")
    for heading in ("solver", "median us", "90 % us", "ratio to ours", "largest E"):
        out.add_column(heading, justify="left" if heading == "solver" else "right")
    own = np.median(figures["gaussdyn kernel"][0])
    for name, (times, worst) in figures.items():
        middle = np.median(times)
        out.add_row(name, f"{middle:.1f}", f"{np.quantile(times, 0.9):.1f}", f"{middle / own:.2f}", f"{worst:.1e}")
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    console = Console()
    console.print(f"kernels compiled or loaded in {loaded_in:.2f} s")
    solvers: dict[str, Solver] = {"gaussdyn kernel": ours, "gaussdyn audited": audited}
    for solver in (daqp, piqp, osqp, clarabel):
        if solver.__name__ in modules:
            solvers[solver.__name__] = solver
        else:
            console.print(f"{solver.__name__} is not installed: left out")
    for n, rows in SIZES:
        console.print(table(n, rows, measure(n, rows, options.programs, options.rounds, solvers)))


def _modules() -> dict[str, Any]:
    found = {}
    for name in ("daqp", "piqp", "osqp", "clarabel", "scipy.sparse"):
        try:
            found[name] = importlib.import_module(name)
        except ImportError:
            continue
    return found


begin = time.perf_counter()
from gaussdyn.programs.active_set.dual_method import solve_arrays  # noqa: E402  (timed)

loaded_in = time.perf_counter() - begin
modules = _modules()

if __name__ == "__main__":
    main()
