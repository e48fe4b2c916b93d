"""Where a compiled step goes: collision, assembly, factorization, solve and verification of the rows of `stepping`.

Kernels that lead to several of these run as plain Python over a stretch of steps; they are found from the kernel of the
whole step on, in whatever module they are. Every kernel below them is called again with the same arguments, and the
fastest of three calls counts, less what a call costs from Python (that of a kernel with the same arguments that does
nothing: for one box that is more than the kernels themselves, so read the rows of many). The stretch ends in the same
state, bit by bit, as the compiled loop, whose time per step the parts are compared with: the rest is the loops of the
outer functions, and counting references to arrays in them.

Run: ``python benchmarks/stepping_profile.py [--steps 100] [--only "50 shaken"]``.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
import numpy as np
from stepping import DT, ROWS, stack

from gaussdyn._jit import Held
from gaussdyn._jit.kernels import loaded
from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean

LOOP = "gaussdyn.integrate.time_stepping.compiled.step_loop"
NAMED = {  # kernels whose room does not say what they are for
    "collision": "search carry_over group_pairs same_pairs move_bodies pose_bodies evaluate find_acting find_late "
    "hold_pushing let_go restitution join_overlaps find_resting meets_left forget_ahead",
    "assembly": "apply_loads turn_spins momentum renew place_contacts place_acting sort_by_pair step_sizes recall "
    "put_added_rates note_moved take_guess forget_joined lay_aside idle linearise_modes assemble",
    "factorization": "factorise",
    "solve": "",
    "verify": "motion residual scale_and_floor rounding_floor momentum_of largest_change held_push moved_from settle "
    "note_modes beyond_cones find_impact work_gain note_acting residual_at_end "
    "at_rest end_step keep_works keep_contacts keep_state",
}
PARTS = [*NAMED, "other"]
PART_OF = {name: part for part, names in NAMED.items() for name in names.split()}
ROOMS = {"mechanics": "collision", "contact": "solve", "programs": "solve", "linalg": "solve"}


def part_of(kernel: Any) -> str:
    """Return what a kernel is for: by its name, or by the room that it is in."""
    function = kernel.py_func
    return PART_OF.get(function.__name__) or ROOMS.get(function.__module__.split(".")[1], "other")


def called_by(kernel: Any) -> list[Any]:
    """Return the kernels that a kernel calls by name."""
    function = kernel.py_func
    used = (function.__globals__.get(name) for name in function.__code__.co_names)
    return [one for one in used if hasattr(one, "py_func")]


@cache
def leads_to(kernel: Any) -> frozenset[str]:
    """Return the parts of what a kernel calls, and what that calls: up to those that are named."""
    below = [one for one in called_by(kernel) if one is not kernel]
    return frozenset().union(*({part_of(one)} | (named(one) or leads_to(one)) for one in below))


def named(kernel: Any) -> frozenset[str]:
    """Return the part of a kernel if it is named, else none."""
    return frozenset({part_of(kernel)} if kernel.py_func.__name__ in PART_OF else ())


def opened() -> list[Any]:
    """Return the kernels of a step that lead to kernels of other parts than their own: these run as plain Python."""
    found, ahead = [], [importlib.import_module(LOOP).advance_bodies]
    while ahead:
        kernel = ahead.pop()
        if kernel not in found and not named(kernel) and leads_to(kernel) - {part_of(kernel)}:
            found.append(kernel)
            ahead += called_by(kernel)
    return found


def arrays(value: Any) -> Iterator[np.ndarray]:
    """Yield the arrays in nested tuples and records."""
    if isinstance(value, Held):
        value = value.value
    if isinstance(value, tuple):
        for part in value:
            yield from arrays(part)
    elif isinstance(value, np.ndarray):
        yield value


class Clock:
    """Times kernels by name, ns of CPU time, less what a call costs."""

    def __init__(self) -> None:
        self.spent: Counter[Any] = Counter()
        self.calls: Counter[Any] = Counter()
        self.cost: dict[Any, float] = {}

    def watched(self, kernel: Any) -> Callable[..., Any]:
        """Return a function that calls the kernel several times on the same state, and takes the fastest."""

        def call(*args: Any) -> Any:
            types = loaded(kernel).nopython_signatures[0].args
            if types not in self.cost:
                space: dict[str, Any] = {}
                names = ", ".join(f"a{i}" for i in range(len(types)))
                exec(f"def nothing({names}):\n    pass\n", space)
                nothing = numba.njit(types)(space["nothing"])
                self.cost[types] = min(_ns(nothing, args)[0] for _ in range(200))
            held = list(arrays(args))
            before = [x.copy() for x in held]
            kernel(*args)
            least = 1 << 62
            for _ in range(3):
                for x, y in zip(held, before, strict=True):
                    x[...] = y
                spent, answer = _ns(kernel, args)
                least = min(least, spent)
            self.spent[kernel] += least - self.cost[types]
            self.calls[kernel] += 1
            return answer

        return call


def _ns(function: Any, args: tuple[Any, ...]) -> tuple[int, Any]:
    """Return the CPU time of a call, and its answer."""
    start = time.process_time_ns()
    answer = function(*args)
    return time.process_time_ns() - start, answer


@contextmanager
def watching(clock: Clock) -> Iterator[None]:
    """Let callers run as Python and kernels be timed, in all modules of the compiled step."""
    callers = opened()
    known = {kernel: kernel.py_func for kernel in callers}
    kept: list[tuple[Any, str, Any]] = []
    for module in {importlib.import_module(kernel.py_func.__module__) for kernel in callers}:
        for name, value in list(vars(module).items()):
            if not hasattr(value, "py_func"):
                continue
            if value not in known:
                known[value] = clock.watched(value)
            kept.append((module, name, value))
            setattr(module, name, known[value])
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        for module, name, value in kept:
            setattr(module, name, value)


def profile(name: str, n: int, shake: float, top: float, steps: int) -> tuple[str, Clock]:
    """Return one line of the table, and what it is made of."""
    system, state = stack(n, shake, top)
    method = MoreauJean(dt=DT, tol=1e-10 if name.endswith("shaken") else 1e-12)
    one, other, clock = CompiledBodies(system), CompiledBodies(system), Clock()
    start = one.advance_many(method, state, 20).state
    start = other.advance_many(method, start, 400 if name.endswith("shaken") else 1).state
    times = []
    for _ in range(5):
        before = time.process_time()
        run = one.advance_many(method, start, steps)
        times.append(1e6 * (time.process_time() - before) / steps)
    with watching(clock):
        other._advance = importlib.import_module(LOOP).advance_bodies
        same = other.advance_many(method, start, steps)
    assert np.array_equal(run.state.q, same.state.q)
    assert np.array_equal(run.state.v, same.state.v)
    total, part = min(times), Counter[str]()
    for kernel, spent in clock.spent.items():
        part[part_of(kernel)] += spent
    us = [part[key] / steps / 1e3 for key in PARTS]
    text = f"{name:13s}{total:9.1f}" + "".join(f"{x:10.1f} {100 * x / total:3.0f} %" for x in us)
    rest = total - sum(us)
    return f"{text}{rest:10.1f} {100 * rest / total:3.0f} %", clock


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("--kernels", action="store_true", help="list the kernels of each row too")
    given = parser.parse_args()
    print(f"{'us per step':13s}{'measured':>9s}" + "".join(f"{key:>16s}" for key in PARTS) + f"{'rest':>16s}")
    for row in ROWS:
        if given.only in row[0]:
            text, clock = profile(*row, given.steps)
            print(text, flush=True)
            for kernel, spent in clock.spent.most_common() if given.kernels else ():
                name, each = kernel.py_func.__name__, clock.calls[kernel] / given.steps
                print(f"    {name:20s} {part_of(kernel):14s}{each:8.2f} calls{spent / given.steps / 1e3:9.2f} us")


if __name__ == "__main__":
    main()
