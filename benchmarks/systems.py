"""Steps of systems of all kinds: CPU time on one thread.

us per step: many steps in one call, the bar that they are held to, one by one from Python, and with rows and forces
asked for in Python; medians of rounds that take turns. E is the largest residual of the laws, recomputed from the
impulses, gap the lowest one. Stacks of boxes are in `stepping.py`.

Run: ``python benchmarks/systems.py [--steps 300] [--only chain]``.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from mechanisms import chain

from gaussdyn import MoreauJean, build
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem, ListedSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.system import System

ROUNDS, FEW = 5, 20
SCENES = (
    "pendulum", "incline", "rocking_block", "zeno_ball", "coulomb_oscillator", "double_pendulum_impact", "four_bar",
    "andrews_squeezer", "capstan", "arch", "chaplygin_sleigh", "slider_crank", "woodpecker", "overhang", "bricard",
    "chain 1", "chain 5", "chain 20",
)  # fmt: skip
BARS = {
    "incline": 10, "four_bar": 40, "rocking_block": 20, "andrews_squeezer": 60, "double_pendulum_impact": 15,
    "chain 1": 15, "chain 5": 40, "chain 20": 150,
}  # fmt: skip


def timed(work: Callable[[], object]) -> float:
    """Return CPU time, us."""
    start = time.process_time()
    work()
    return 1e6 * (time.process_time() - start)


def walk(stepper: MoreauJean, kernels: CompiledSystem, state: State, end: float, steps: int) -> None:
    """Take steps one by one."""
    for _ in range(steps):
        state = stepper.advance(kernels.system, state, end).state


def walk_asking(stepper: MoreauJean, asked: ListedSystem, state: State, steps: int) -> None:
    """Take steps one by one, for which Python is asked for rows and forces."""
    for _ in range(steps):
        state = asked.advance(stepper, state, stepper.dt, state.t + stepper.dt).state


def named(name: str) -> tuple[System, State, float]:
    """Return a scene, or a mechanism as "chain 5", with its step."""
    kind, _, number = name.partition(" ")
    if kind == "chain":
        return *chain(int(number)), 2e-3
    scene = build(name)
    return scene.system, scene.state, scene.dt


def row(name: str, steps: int) -> str:
    """Return one line of the table."""
    system, state, dt = named(name)
    kernels, stepper = CompiledSystem.of(system, state), MoreauJean(dt=dt)
    assert isinstance(kernels, CompiledSystem)
    asked, end, times = ListedSystem(system), state.t + 2.0 * steps * dt, ([], [], [])
    kernels.advance_many(stepper, state, 2, t_max=end)
    done = kernels.advance_many(stepper, state, steps, t_max=end)
    count = done.taken
    for _ in range(ROUNDS):
        times[0].append(timed(lambda: kernels.advance_many(stepper, state, count, t_max=end)) / count)
        times[1].append(timed(lambda: walk(stepper, kernels, state, end, count)) / count)
        times[2].append(timed(lambda: walk_asking(stepper, asked, state, min(count, FEW))) / min(count, FEW))
    many, one, slow = (statistics.median(values) for values in times)
    figures = f"{many:9.1f}{BARS.get(name, '-'):>6}{one:9.1f}{slow:12.0f}{slow / many:8.0f}"
    return f"{name:24s}{figures}{done.passes.mean():8.1f}{done.E.max():10.1e}{done.gap.min():10.1e}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print("us per step                 many   bar  one by 1      by rows  ratio  passes     max E   low gap")
    for name in SCENES:
        if given.only in name:
            print(row(name, given.steps), flush=True)


if __name__ == "__main__":
    main()
