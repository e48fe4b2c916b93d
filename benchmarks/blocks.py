"""Recorded contact and complementarity problems, all solved with one setting: no options, cold start.

usage: python benchmarks/blocks.py [--seconds 30] [--match NAME] [--largest CONTACTS]

The problems are looked for in the folder named by GAUSSDYN_PROBLEMS (default ../shared/problems). E, rel_s and viol_u
are recomputed from the reaction alone; the time is the solver's, without reading and without compiling.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.files.formats import ProblemFile, read_problem
from gaussdyn.programs.solution.residuals import residuals
from gaussdyn.programs.solve import solve

HEAD = f"{'problem':<38}{'kind':<8}{'contacts':>8} {'status':<16}{'E':>9}{'rel_s':>9}{'viol_u':>9}{'ms':>10}  method"


def problems() -> list[Path]:
    root = Path(os.environ.get("GAUSSDYN_PROBLEMS", Path(__file__).resolve().parents[2] / "shared" / "problems"))
    return sorted([*root.rglob("*.hdf5"), *root.rglob("*.json")])


def row(file: ProblemFile, name: str, seconds: float | None) -> str:
    start = time.perf_counter()
    answer = solve(file.problem) if file.kind == "qp" else solve_blocks(file.problem, seconds=seconds)
    wall = 1e3 * (time.perf_counter() - start)
    figures = residuals(file.problem, answer)
    numbers = "".join(f"{x:9.0e}" if x is not None else " " * 9 for x in (figures.E, figures.rel_s, figures.viol_u))
    return f"{name[:37]:<38}{file.kind:<8}{file.contacts:>8} {answer.status:<16}{numbers}{wall:10.2f}  {answer.method}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="wall time after which a problem is stopped; default: none")
    parser.add_argument("--match", default="", help="only problems whose file name contains this")
    parser.add_argument("--largest", type=int, default=10**9, help="only problems with at most so many contacts")
    choice = parser.parse_args()
    print(HEAD)
    warm = False
    for path in problems():
        if choice.match not in path.name:
            continue
        file = read_problem(path)
        if file.contacts > choice.largest:
            continue
        if not warm:
            row(file, path.stem, 1.0)  # load the kernels
            warm = True
        print(row(file, path.stem, choice.seconds), flush=True)


if __name__ == "__main__":
    main()
