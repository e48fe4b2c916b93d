"""Where a compiled step goes: collision, assembly, factorization, solve and verification of the rows of `stepping`.

The functions that only call others run as plain Python over a stretch of steps; every kernel below them is called again
with the same arguments, and the fastest of three calls counts, less what a call costs from Python (that of a kernel
with the same arguments that does nothing: for one box that is more than the kernels themselves, so read the rows of
many). The stretch ends in the same state, bit by bit, as the compiled loop, whose time per step the parts are compared
with: the rest is the loops of the outer functions, and counting references to arrays in them.

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
from typing import Any

import numba
import numpy as np
from stepping import DT, ROWS, stack

from gaussdyn._jit import Held
from gaussdyn._jit.kernels import loaded
from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean

PARTS = {
    "collision": "search carry_over group_pairs same_pairs move_bodies pose_bodies evaluate find_acting find_late "
    "hold_pushing let_go farthest restitution join_overlaps find_resting meets_left",
    "assembly": "apply_loads turn_spins momentum renew place_contacts place_acting sort_by_pair step_sizes recall "
    "put_added_rates note_moved take_guess forget_joined lay_aside idle linearise_modes linearise_cones press assemble",
    "factorization": "factorise",
    "solve": "solve_factorised add_wrench relative_motion block_multiply copy_rows merit step_length room "
    "slope share_to_go",
    "verify": "motion residual scale_and_floor rounding_floor momentum_of largest_change held_push moved_from settle "
    "note_modes beyond_cones find_impact work_gain note_acting "
    "at_rest end_step keep_works keep_contacts keep_state",
}
PART_OF = {name: part for part, names in PARTS.items() for name in names.split()}
CALLERS = (
    "advance_bodies take_step find_contacts solve_and_judge solve_whole judge_impact leave_step begin_step begin_again "
    "solve_step refresh move_to_end project_held solve_contacts rest_bodies take_up take_again join_late leave_idle "
    "modes_newton without_impulses newton_step factorise_modes newton_direction next_term slips proximal_point "
    "regularised_newton shifted_motion follow_path project_end shift_end place_gaps close_gaps push_apart squeeze"
)
LOOP = "gaussdyn.integrate.time_stepping.compiled.step_loop"
MODULES = [
    f"gaussdyn.contact.free_bodies.{name}"
    for name in ("structure", "coulomb", "newton", "proximal", "bodies_interior_point")
]
MODULES += ["gaussdyn.linalg.block_lu"] + [
    f"gaussdyn.integrate.time_stepping.compiled.{name}"
    for name in (
        "body_kinematics",
        "active_contacts",
        "contact_search",
        "joining_contacts",
        "keep_bodies",
        "position_projection",
        "rest_correction",
        "contact_modes",
        "step",
        "impact_dissipation",
        "step_loop",
    )
]


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
        self.spent: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.cost: dict[Any, float] = {}

    def watched(self, name: str, kernel: Any) -> Callable[..., Any]:
        """Return a function that calls the kernel twice on the same state, and times the second call."""
        types = loaded(kernel).nopython_signatures[0].args
        space: dict[str, Any] = {}
        names = ", ".join(f"a{i}" for i in range(len(types)))
        exec(f"def nothing({names}):\n    pass\n", space)
        nothing = None if types in self.cost else numba.njit(types)(space["nothing"])

        def call(*args: Any) -> Any:
            if types not in self.cost:
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
            self.spent[name] += least - self.cost[types]
            self.calls[name] += 1
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
    modules, callers = [importlib.import_module(name) for name in MODULES], set(CALLERS.split())
    known: dict[str, Any] = {}
    kept: list[tuple[Any, str, Any]] = []
    for module in modules:
        for name, value in list(vars(module).items()):
            if (name not in callers and name not in PART_OF) or not hasattr(value, "py_func"):
                continue
            if name not in known:
                known[name] = value.py_func if name in callers else clock.watched(name, value)
            kept.append((module, name, value))
            setattr(module, name, known[name])
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
        part[PART_OF[kernel]] += spent
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
            for name, spent in clock.spent.most_common() if given.kernels else ():
                each = clock.calls[name] / given.steps
                print(f"    {name:20s} {PART_OF[name]:14s}{each:8.2f} calls{spent / given.steps / 1e3:9.2f} us")


if __name__ == "__main__":
    main()
