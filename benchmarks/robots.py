"""Robots beside MuJoCo: time per step, how well the laws hold, how deep bodies overlap, and what contacts do.

Processor time per step on one thread, us, of compiled steps of `MoreauJean` against `mujoco.rollout` under the same
controls, which are held for 50 ms: zero, or random in the range of the actuators. Both begin at the same
state and then go their own ways; blocks of steps take turns, so that both see the same machine. E is the largest
residual of a step, and gap the least of all. A second table has the physical errors of `robot_errors`.

Run: ``python benchmarks/robots.py [--steps 1000] [FILE.xml ...]``, after ``pip install mujoco gymnasium``; without
files it takes examples/quadruped.xml and robots of gymnasium.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import robot_errors

from gaussdyn import MoreauJean, State, read_robot

DT, HELD = 2e-3, 25  # s; steps for which a control is held
ASSETS = ("ant", "humanoid", "hopper", "walker2d_v5", "half_cheetah")
POSE = {"ankle_1": 1.0, "ankle_2": -1.0, "ankle_3": -1.0, "ankle_4": 1.0}  # in which the ant of gymnasium stands


@dataclass
class Ours:
    """One run of ours, block by block."""

    system: Any
    state: State
    spent: float = 0.0
    E: float = 0.0
    gap: float = 0.0
    passes: float = 0.0
    by_hand: int = 0
    method: MoreauJean = field(default_factory=lambda: MoreauJean(dt=DT))

    def take(self, control: np.ndarray) -> None:
        """Take a block of steps; those that kernels hand over are taken one by one."""
        left, begin = HELD, time.process_time()
        while left:
            many = self.method.advance_many(self.system, self.state, left, np.inf, control=control)
            if many is None:
                step = self.method.advance(self.system, self.state, self.state.t + DT, control=control)
                self.state, left, self.by_hand = step.state, left - 1, self.by_hand + 1
                self.E = max(self.E, step.solution.residuals.E)
                continue
            self.state, left = many.state, left - len(many.q)
            self.E, self.gap = max(self.E, many.E.max()), min(self.gap, many.gap.min())
            self.passes += many.passes.sum()
        self.spent += time.process_time() - begin


@dataclass
class Theirs:
    """The same of MuJoCo, with the defaults of its solver."""

    model: Any
    data: Any
    state: np.ndarray
    spent: float = 0.0
    gap: float = 0.0

    @staticmethod
    def of(file: Path, start: State, cone: int) -> Theirs:
        import mujoco

        model = mujoco.MjSpec.from_file(str(file)).compile()
        model.opt.timestep, model.opt.integrator, model.opt.cone = DT, mujoco.mjtIntegrator.mjINT_EULER, cone
        model.opt.solver, model.opt.iterations, model.opt.tolerance = mujoco.mjtSolver.mjSOL_NEWTON, 100, 1e-8
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = start.q, start.v
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.zeros(mujoco.mj_stateSize(model, kind))
        mujoco.mj_getState(model, data, state, kind)
        return Theirs(model, data, state)

    def take(self, control: np.ndarray) -> None:
        """Take a block of steps."""
        from mujoco import rollout

        begin = time.process_time()
        states, _ = rollout.rollout(self.model, self.data, self.state, np.tile(control, (HELD, 1)))
        self.spent += time.process_time() - begin
        self.state = np.array(states).reshape(HELD, -1)[-1]
        self.gap = min([self.gap, *(contact.dist for contact in self.data.contact[: self.data.ncon])])


def files() -> Iterator[Path]:
    """Yield the models that there are."""
    yield Path(__file__).resolve().parents[1] / "examples/quadruped.xml"
    found = find_spec("gymnasium")
    if found is not None and found.origin is not None:
        folder = Path(found.origin).parent / "envs/mujoco/assets"
        yield from (folder / f"{name}.xml" for name in ASSETS)


def controls(system: Any, steps: int, random: bool) -> np.ndarray:
    """Return a control for every block."""
    low, high = (
        np.array([np.clip(getattr(one, f"control_{end}"), -1.0, 1.0) for one in system.actuators])
        for end in ("low", "high")
    )
    drawn = np.random.default_rng(0).uniform(low, high, size=(steps // HELD, len(low)))
    return drawn if random else np.zeros_like(drawn)


def times(system: Any, start: State, file: Path, steps: int, random: bool) -> str:
    """Return a line of the table of times."""
    ours, rivals = Ours(system, start), [Theirs.of(file, start, cone) for cone in (0, 1)]
    ours.take(np.zeros(len(system.actuators)))  # loads the kernels
    ours = Ours(system, start)
    for control in controls(system, steps, random):
        for one in (ours, *rivals):
            one.take(control)
    mine, pyramidal, elliptic = (1e6 * one.spent / steps for one in (ours, *rivals))
    return (f"{_name(file, random):<26}{system.nv:>4}{mine:>8.0f}{ours.passes / steps:>8.1f}{ours.by_hand:>8}"
            f"{ours.E:>9.0e}{ours.gap:>10.0e}{pyramidal:>11.0f}{elliptic:>10.0f}{rivals[1].gap:>10.0e}"
            f"{mine / pyramidal:>7.1f}")  # fmt: skip


def errors(system: Any, start: State, file: Path, steps: int, random: bool) -> str:
    """Return a line of the table of physical errors."""
    told = np.repeat(controls(system, steps, random), HELD, axis=0)
    found = [robot_errors.ours(system, start, told, DT)]
    found += [robot_errors.theirs(Theirs.of(file, start, cone).model, start, told) for cone in (0, 1)]
    figures = "".join(f"{one.creep:>12.0e}{one.put_in:>10.1e}{one.friction:>9.4f}" for one in found)
    return f"{_name(file, random):<26}{figures}"


def _name(file: Path, random: bool) -> str:
    return f"{file.stem}, {'random' if random else 'told zero'}"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("files", nargs="*", type=Path)
    asked = parser.parse_args()
    robots = []
    for file in asked.files or files():
        robot = read_robot(file)
        system = robot.system()
        pose = {name: x for name, x in POSE.items() if name in system.places.joints}
        keyframe = "stand" if robot.keyframes and not pose and file.stem == "quadruped" else ""
        robots.append((system, robot.start(keyframe, joints=pose, project=True), file, asked.steps))
    print(f"{'us per step':<26}{'nv':>4}{'ours':>8}{'passes':>8}{'by hand':>8}{'E':>9}{'gap, m':>10}"
          f"{'pyramidal':>11}{'elliptic':>10}{'gap, m':>10}{'ratio':>7}")  # fmt: skip
    for one in robots:
        for random in (False, True):
            print(times(*one, random), flush=True)
    columns = f"{'creep, m/s':>12}{'put in, J':>10}{'friction':>9}"
    print(f"\n{'':<26}{'ours':>31}{'pyramidal':>31}{'elliptic':>31}\n{'':<26}{3 * columns}")
    for one in robots:
        for random in (False, True):
            print(errors(*one, random), flush=True)


if __name__ == "__main__":
    main()
