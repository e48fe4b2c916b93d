"""Many ants in one loop, told random torques each, beside `mujoco.rollout`: one thread and all of them.

Wall and CPU time of a world-step, us: all steps in one call, one step of all worlds at a time, and on one thread per
core; and of the same runs alone, one after the other. The same worlds and controls go to MuJoCo (Newton's method,
pyramids) in the same ways. Rounds take turns; the best of each counts, and of ratios the median within rounds.

Run: ``python benchmarks/robot_worlds.py [--worlds 256] [--steps 40] [--rounds 3]``, after
``pip install mujoco gymnasium``; ``--whole`` leaves out calls of one step.
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
    worlds, steps = Worlds(system, states, stepper=MoreauJean(dt=DT), threads=threads), len(told)

    def work() -> None:
        for s in range(0, steps, at_once):
            worlds.step(told[s : s + at_once], n=at_once)

    return timed(work, len(states) * steps)


def alone(states: list[State], system: object, told: np.ndarray) -> np.ndarray:
    """Return the times of a step of runs one after the other, each in one call; told is the same in every step."""
    method = MoreauJean(dt=DT)

    def work() -> None:
        for state, control in zip(states, told[0], strict=True):
            left, kernels = len(told), method.kernels(system, state)
            while left:
                many = kernels.advance_many(method, state, left, control, record=False)
                state, left = many.state, left - many.taken
                if not many.taken:
                    state, left = method.advance(system, state, state.t + DT, control=control).state, left - 1

    return timed(work, len(states) * len(told))


def theirs(file: Path, states: list[State], told: np.ndarray, threads: int, at_once: int) -> np.ndarray:
    """Return the times of MuJoCo for a world-step in calls of so many steps."""
    from mujoco import MjData, rollout

    one, given = Theirs(file, states[0], PYRAMIDAL), np.ascontiguousarray(told.transpose(1, 0, 2))
    now = np.tile(one.state, (len(states), 1))
    now[:, -one.model.nv :] = [state.v for state in states]
    data = [MjData(one.model) for _ in range(threads)]

    def work() -> None:
        nonlocal now
        with rollout.Rollout(nthread=threads) as runner:
            for s in range(0, len(told), at_once):
                found, _ = runner.rollout(one.model, data, now, given[:, s : s + at_once])
                now = np.asarray(found)[:, -1]

    return timed(work, len(states) * len(told))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--whole", action="store_true")
    asked = parser.parse_args()
    file = next(one for one in robot_files() if one.stem == "ant")
    robot = read_robot(file)
    system, states = robot.system(), spread(robot.start("", joints=POSE, project=True), asked.worlds)
    drawn = np.random.default_rng(0).uniform(-1.0, 1.0, (asked.worlds, len(system.actuators)))
    told = np.tile(drawn, (asked.steps, 1, 1))
    ours(states[:2], system, told[:, :2], 1, asked.steps)  # loads the kernels

    def round_of(threads: int, at_once: int) -> np.ndarray:
        return np.array([ours(states, system, told, threads, at_once), theirs(file, states, told, threads, at_once)])

    at_once = (asked.steps,) if asked.whole else (asked.steps, 1)
    ways = [(threads, steps) for threads in sorted({1, cores()}) for steps in at_once]
    single, rounds = [], []
    for _ in range(asked.rounds):
        single.append(alone(states, system, told))
        rounds.append([round_of(*way) for way in ways])
    taken = np.array(rounds)  # round, way, whose, wall and CPU
    print(f"{asked.worlds} ants x {asked.steps} steps of {1e3 * DT:g} ms, us per world-step (wall, cpu): ours, MuJoCo")
    print("one after the other        " + "".join(f"{one:10.2f}" for one in np.min(single, axis=0)))
    for k, (threads, steps) in enumerate(ways):
        figures = taken[:, k].min(axis=0).reshape(-1)
        print(f"{threads} threads, {steps:4d} steps a call" + "".join(f"{one:10.2f}" for one in figures))
    beside = np.median(taken[:, 0, 0, 1] / np.array(single)[:, 1]) - 1.0
    print(f"a world-step in one call takes {100 * beside:+.1f} % of the CPU time of a step alone")
    if not asked.whole:
        more = np.median(taken[:, 1, :, 1] / taken[:, 0, :, 1], axis=0) - 1.0
        print(f"a step a call takes more CPU: ours {100 * more[0]:.1f} %, MuJoCo {100 * more[1]:.1f} %")
    gain = np.median(taken[:, 0, :, 0] / taken[:, -len(at_once), :, 0], axis=0)
    print(f"{cores()} threads are faster than one: ours {gain[0]:.2f} times, MuJoCo {gain[1]:.2f}")


if __name__ == "__main__":
    main()
