"""Complete enumeration of modes: random LCPs, a table on n feet, bodies in V-grooves.

usage: python benchmarks/enumeration.py [--repeat 5] [--seed 0]

Wall time per problem in ms (median and largest over the repetitions): counted in floating point, enumerated with exact
proofs, and with the certificate written; then the leaves of the tree and the verdicts that occurred. Last, processor
time of outcome(certify=False) for bodies with 4 contacts, each asked once.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from gaussdyn.contact.outcome.outcome import outcome
from gaussdyn.contact.outcome.planar_body import planar_body_problem
from gaussdyn.mechanics.planar.body_file import ExactBody
from gaussdyn.programs.enumeration.certificate import prove
from gaussdyn.programs.enumeration.counting import count_solutions
from gaussdyn.programs.enumeration.enumerate import enumerate_modes
from gaussdyn.programs.enumeration.modal_problem import ModalProblem, lcp_problem

Make = Callable[[np.random.Generator], ModalProblem]


def lcp(n: int, *, monotone: bool) -> Make:
    def make(rng: np.random.Generator) -> ModalProblem:
        M, skew = rng.normal(size=(n, n)), rng.normal(size=(n, n))
        return lcp_problem((M @ M.T + skew - skew.T if monotone else M).tolist(), rng.normal(size=n).tolist())

    return make


def table(feet: int) -> Make:
    def make(rng: np.random.Generator) -> ModalProblem:
        points = [[f"{2 * i - feet + 1}/2", "-1"] for i in range(feet)]
        push = f"{int(rng.integers(-9, 10))}/10"
        return body({"m": 1, "J": 1, "points": points, "mu": ["1/2"] * feet, "force": [push, -1, 0]})

    return make


def groove(contacts: int) -> Make:
    def make(rng: np.random.Generator) -> ModalProblem:
        walls, points, normals = rng.uniform(0.3, 1.2, 2), [], []
        for i in range(contacts):
            side, angle = (-1.0, walls[0]) if i < contacts // 2 else (1.0, walls[1])
            reach = rng.uniform(0.5, 2.0)
            points.append([side * reach * np.cos(angle), reach * np.sin(angle) - 1.0])
            normals.append([-side * np.sin(angle), np.cos(angle)])
        force = [float(rng.normal()), float(rng.normal()) - 1.0, float(rng.normal())]
        mu = rng.uniform(0.1, 1.5, contacts).tolist()
        return body({"m": 1.0, "J": float(rng.uniform(0.1, 1)), "points": points, "normals": normals, "mu": mu,
                     "force": force})  # fmt: skip

    return make


def body(data: dict[str, Any]) -> ModalProblem:
    return planar_body_problem(ExactBody.of(data))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = work()
    return 1e3 * (time.perf_counter() - start), answer


def row(name: str, make: Make, seed: int, repeat: int) -> str:
    rng, counted, proved, written = np.random.default_rng(seed), [], [], []
    leaves, verdicts = [], Counter()
    for _ in range(repeat):
        modal = make(rng)
        W = np.array([[float(x) for x in line] for line in modal.W])
        q = np.array([float(x) for x in modal.q])
        counted.append(timed(lambda W=W, q=q, modal=modal: count_solutions(W, q, modal.blocks))[0])
        wall, found = timed(lambda modal=modal: enumerate_modes(modal))
        proved.append(wall)
        written.append(wall + timed(lambda found=found: prove(found))[0])
        leaves.append(len(found.leaves))
        verdicts[f"{found.verdict} {found.count}"] += 1
    columns = "".join(f"{statistics.median(x):9.1f}{max(x):9.1f}" for x in (counted, proved, written))
    return f"{name:<26}{columns}{max(leaves):8d}  " + ", ".join(f"{n} x {v}" for v, n in verdicts.most_common())


def bodies(rng: np.random.Generator, count: int) -> list[ExactBody]:
    """Return bodies on 4 random contacts, at rest and sliding, some with parallel normals."""
    made = []
    for k in range(count):
        flat = k % 3 == 0
        normals = np.c_[np.zeros(4) if flat else 0.6 * rng.normal(size=4), np.ones(4)]
        points = np.c_[np.arange(4) - 1.5, np.full(4, -1.0)] if flat else rng.normal(size=(4, 2))
        made.append(ExactBody.of({
            "m": 1.0, "J": float(rng.uniform(0.05, 1.0)), "points": points.tolist(), "normals": normals.tolist(),
            "mu": rng.uniform(0.0, 2.5, 4).tolist(), "state": rng.integers(-1, 2, 4).tolist() if k % 2 else [0] * 4,
            "force": rng.normal(size=3).tolist(),
        }))  # fmt: skip
    return made


def uncertified(seed: int, count: int = 200) -> str:
    walls: dict[str, list[float]] = {}
    made = bodies(np.random.default_rng(seed), count)
    gc.collect()
    gc.freeze()
    for one in made:
        start = time.process_time()
        verdict = outcome(one, certify=False).verdict
        kind = "continua" if verdict == "CONTINUUM" else "others"
        walls.setdefault(kind, []).append(1e3 * (time.process_time() - start))
    times = (f"{len(x)} {k}: median {statistics.median(x):.1f}, largest {max(x):.1f} ms" for k, x in walls.items())
    return "outcome(certify=False), bodies with 4 contacts: " + "; ".join(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    choice = parser.parse_args()
    problems = {
        **{f"LCP N(0,1) n={n}": lcp(n, monotone=False) for n in (4, 10, 16)},
        **{f"LCP A A' + skew n={n}": lcp(n, monotone=True) for n in (4, 10, 16)},
        **{f"table on {n} feet": table(n) for n in (4, 8)},
        **{f"V-groove, {n} contacts": groove(n) for n in (4, 8)},
    }
    print(f"{'':<26}{'counted':>18}{'proved':>18}{'+ certificate':>18}  leaves  verdicts")
    row("", table(2), 0, 1)  # load the kernels
    for name, make in problems.items():
        print(row(name, make, choice.seed, choice.repeat), flush=True)
    print(uncertified(choice.seed))


if __name__ == "__main__":
    main()
