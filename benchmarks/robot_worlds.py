"""Many ants in one loop, told random torques each, beside `mujoco.rollout`: one thread and all of them.

Wall and CPU time of a world-step, us: all steps of a world at once, one step of all worlds at a time (what this costs
more is overhead), and on one thread per core. The same worlds and controls go to MuJoCo (Newton's method, pyramids), on
as many threads, a step at a time as well. Rounds take turns; the best of each counts.

Run: ``python benchmarks/robot_worlds.py [--worlds 256] [--steps 40]``, after ``pip install mujoco gymnasium``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gaussdyn import MoreauJean, State, read_robot
from gaussdyn._warmup import cores
from gaussdyn.integrate.worlds import Worlds
from gaussdyn.league.robot_race import DT, POSE, PYRAMIDAL, Theirs, robot_files

ROUNDS = 3


def timed(work: Callable[[], object], count: int) -> np.ndarray:
    """Return wall and CPU time over a count, us."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return 1e6 / count * np.array([time.perf_counter() - wall, time.process_time() - cpu])


def spread(start: State, worlds: int) -> list[State]:
    """Return the start with other velocities for every world."""
    drawn = np.random.default_rng(1).normal(0.0, 0.05, (worlds, len(start.v)))
    return [State(q=start.q, v=start.v + one, t=start.t) for one in drawn]


def ours(states: list[State], system: object, told: np.ndarray, threads: int, at_once: int) -> np.ndarray:
    """Return the times of a world-step in calls of so many steps."""
    worlds, steps = Worlds(system, states, stepper=MoreauJean(dt=DT), threads=threads), told.shape[1]

    def work() -> None:
        for s in range(0, steps, at_once):
            worlds.step(told[:, s], n=at_once)

    return timed(work, len(states) * steps)


def theirs(file: Path, states: list[State], told: np.ndarray, threads: int) -> np.ndarray:
    """Return the times of MuJoCo for a world-step, all worlds taken a step at a time."""
    from mujoco import MjData, rollout

    one = Theirs(file, states[0], PYRAMIDAL)
    now = np.tile(one.state, (len(states), 1))
    now[:, -one.model.nv :] = [state.v for state in states]
    data = [MjData(one.model) for _ in range(threads)]

    def work() -> None:
        nonlocal now
        with rollout.Rollout(nthread=threads) as runner:
            for s in range(told.shape[1]):
                found, _ = runner.rollout(one.model, data, now, told[:, s : s + 1])
                now = np.asarray(found)[:, -1]

    return timed(work, len(states) * told.shape[1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--steps", type=int, default=40)
    asked = parser.parse_args()
    file = next(one for one in robot_files() if one.stem == "ant")
    robot = read_robot(file)
    system, states = robot.system(), spread(robot.start("", joints=POSE, project=True), asked.worlds)
    drawn = np.random.default_rng(0).uniform(-1.0, 1.0, (asked.worlds, 1, len(system.actuators)))
    told, many = np.repeat(drawn, asked.steps, axis=1), cores()  # held, so that all calls take the same steps
    cases: dict[str, Callable[[], np.ndarray]] = {
        "ours, all steps at once, 1 thread": lambda: ours(states, system, told, 1, asked.steps),
        "ours, step by step, 1 thread": lambda: ours(states, system, told, 1, 1),
        f"ours, step by step, {many} threads": lambda: ours(states, system, told, many, 1),
        f"ours, all steps at once, {many} threads": lambda: ours(states, system, told, many, asked.steps),
        "MuJoCo, step by step, 1 thread": lambda: theirs(file, states, told, 1),
        f"MuJoCo, step by step, {many} threads": lambda: theirs(file, states, told, many),
    }
    ours(states[:2], system, told[:2], 1, asked.steps)  # loads the kernels
    rounds = [{name: case() for name, case in cases.items()} for _ in range(ROUNDS)]
    print(f"{asked.worlds} ants x {asked.steps} steps of {1e3 * DT:g} ms, us per world-step      wall      cpu")
    for name in cases:
        wall, cpu = np.min([one[name] for one in rounds], axis=0)
        print(f"{name:<52}{wall:>10.2f}{cpu:>9.2f}")


if __name__ == "__main__":
    main()
