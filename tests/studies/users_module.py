"""Functions of a study as a user writes them: at the top level of a module that worker processes can import."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from functools import cache

import numpy as np

from gaussdyn import MoreauJean, State, UserSystem, simulate

STEP = 1e-3  # s
FATAL = 3
SYSTEM = UserSystem(nq=1, mass=[[1.0]], force=[0.0])


def number(x):
    """Return a run of one step whose position is x."""
    return simulate(SYSTEM, State(q=[float(x)], v=[0.0]), t_end=STEP)


def slow_number(x):
    """Do the same, slowly."""
    time.sleep(0.02)
    return number(x)


def killed_at_three(x):
    """Do the same, but end the process at x = FATAL as the system does when memory runs out."""
    if x == FATAL:
        os.kill(os.getpid(), signal.SIGKILL)
    return number(x)


def square(run):
    """Measure the square of the position."""
    return {"square": float(run.q[-1, 0]) ** 2}


def thrice(run):
    """Measure something else under the same name."""
    return {"square": 3.0 * float(run.q[-1, 0])}


def two_numbers(x, y):
    """Return a run of one step whose position is x and whose velocity is y."""
    return simulate(SYSTEM, State(q=[float(x)], v=[float(y)]), t_end=STEP)


def pair(run):
    """Measure both, and their sum."""
    return {"pair": [run.q[0, 0], run.v[0, 0]], "sum": run.q[0, 0] + run.v[0, 0]}


@cache
def some_run():
    """Return a run whose states are put in afterwards."""
    return number(0.0)


def placed(x, y, z):
    """Return a run that ends at (x, y, z), without computing it."""
    return replace(some_run(), q=np.array([[x, y, z]]))


def ishigami(run):
    """Measure a function of three numbers whose sensitivities are known."""
    x, y, z = run.q[-1]
    return {"f": np.sin(x) + 7.0 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x)}


WELLS = UserSystem(nq=1, mass=[[1.0]], force=lambda t, q, v: q - q**3 - v)


def falls_into_a_well(x):
    """Return the run of a damped particle in two wells, let go at x."""
    return simulate(WELLS, State(q=[float(x)], v=[0.0]), t_end=30.0, stepper=MoreauJean(dt=0.05))


def end(run):
    """Measure where it ends."""
    return {"x": run.q[-1, 0]}
