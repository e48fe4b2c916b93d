"""One Siconos solver on one problem file: a stand-alone script for the interpreter that has Siconos (see `race`).

usage: python3 siconos_child.py PROBLEM.dat DIMENSION ROWS SOLVER CAP REPEAT SPAN OUT TOL...

Every tolerance is asked in turn, in a process of its own with CAP seconds of processor time; OUT.npy gets one row per
tolerance: CPU seconds (the shortest of up to REPEAT runs within SPAN seconds), info, and the reaction.
"""

import os
import resource
import sys
import tempfile
import time
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

MANY = 2_000_000_000


def options(sn: Any, dimension: int, name: str) -> Any:
    """Return the settings of a solver; `-full` stops Gauss-Seidel on the full residual, looked at every ten sweeps."""
    if dimension == 2:
        made = sn.SolverOptions(getattr(sn, "SICONOS_FRICTION_2D_" + name))
        made.iparam[0] = MANY
        return made
    base = name.split("-")[0] if name.startswith(("NSGS", "PROX")) else name
    made = sn.SolverOptions(getattr(sn, "SICONOS_FRICTION_3D_" + base))
    made.iparam[0] = {"NSN_AC": 1000, "NSN_FB": 1000, "PROX": 100_000}.get(base, MANY)
    if "PLI" in name:
        local = sn.SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration
        sn.solver_options_update_internal(made, 0, local)
        inner = sn.solver_options_get_internal_solver(made, 0)
        inner.iparam[0], inner.dparam[0] = 100, 1e-14
    if name.endswith("-full"):
        made.iparam[7], made.iparam[8] = 0, 10
    return made


def solve(words: list[str], tol: float, out: str) -> None:
    """Solve a few times, keeping the shortest time; the file is read again each time, untimed."""
    import siconos.numerics as sn

    path, dimension, rows, name = words[0], int(words[1]), int(words[2]), words[3]
    cap, repeat, span = float(words[4]), int(words[5]), float(words[6])
    sn.numerics_set_verbose(0)
    best, begin = np.inf, time.perf_counter()
    drive = sn.fc2d_driver if dimension == 2 else sn.fc3d_driver
    limit = int(np.ceil(time.process_time() + cap + span)) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 2))
    for _ in range(repeat):
        problem, setting = sn.frictionContact_new_from_filename(path), options(sn, dimension, name)
        setting.dparam[0] = tol
        r, u = np.zeros(rows), np.zeros(rows)
        start = time.thread_time()  # a limit on CPU time makes the clock of the process tick coarsely
        info = drive(problem, r, u, setting)
        best = min(best, time.thread_time() - start)
        np.save(out, np.concatenate([[best, float(np.ravel(info)[0])], r]))
        if time.perf_counter() - begin > span:
            break


def main() -> None:
    """Fork once per tolerance; a solver that fails one is not asked for a tighter one."""
    words, out, tolerances = sys.argv[1:8], sys.argv[8], sys.argv[9:]
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    found = []
    for tol in tolerances:
        part = os.path.join(tempfile.mkdtemp(dir=os.path.dirname(out)), "part.npy")
        child = os.fork()
        if child == 0:
            solve(words, float(tol), part)
            os._exit(0)
        os.waitpid(child, 0)
        if not os.path.exists(part):
            break
        found.append(np.load(part))
    missing = len(tolerances) - len(found)
    np.save(out, np.array(found + [np.full(int(words[2]) + 2, np.nan)] * missing))


if __name__ == "__main__":
    main()
