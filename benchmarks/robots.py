"""Robots beside MuJoCo: time per step, how well the laws hold, and how deep bodies overlap.

Processor time per step on one thread, us, of compiled steps of `MoreauJean` against `mujoco.rollout` under the same
controls, which are held for 50 ms: zero, or random in the range of the actuators. Both begin at the same
state and then go their own ways; blocks of steps take turns, so that both see the same machine. E is the largest
residual of a step, and gap the least of all.

Run: ``python benchmarks/robots.py [--steps 1000] [FILE.xml ...]``, after ``pip install mujoco gymnasium``; without
files it takes examples/quadruped.xml and the ant and the humanoid of gymnasium.
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

from gaussdyn import MoreauJean, State, read_robot

DT, HELD = 2e-3, 25  # s; steps for which a control is held
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
        yield from (folder / "ant.xml", folder / "humanoid.xml")


def controls(system: Any, steps: int, random: bool) -> np.ndarray:
    """Return a control for every block."""
    low, high = (
        np.array([np.clip(getattr(one, f"control_{end}"), -1.0, 1.0) for one in system.actuators])
        for end in ("low", "high")
    )
    drawn = np.random.default_rng(0).uniform(low, high, size=(steps // HELD, len(low)))
    return drawn if random else np.zeros_like(drawn)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("files", nargs="*", type=Path)
    asked = parser.parse_args()
    print(f"{'':<28}{'nv':>4}{'ours':>8}{'passes':>8}{'by hand':>8}{'E':>9}{'gap, m':>10}"
          f"{'pyramidal':>11}{'elliptic':>10}{'gap, m':>10}{'ratio':>7}")  # fmt: skip
    for file in asked.files or files():
        robot = read_robot(file)
        system = robot.system()
        pose = {name: x for name, x in POSE.items() if name in system.places.joints}
        start = robot.start("stand" if robot.keyframes and not pose and file.stem == "quadruped" else "", joints=pose,
                            project=True)  # fmt: skip
        for random in (False, True):
            ours, rivals = Ours(system, start), [Theirs.of(file, start, cone) for cone in (0, 1)]
            ours.take(np.zeros(len(system.actuators)))  # loads the kernels
            ours = Ours(system, start)
            for control in controls(system, asked.steps, random):
                for one in (ours, *rivals):
                    one.take(control)
            n = asked.steps
            mine, pyramidal, elliptic = (1e6 * one.spent / n for one in (ours, *rivals))
            name = f"{file.stem}, {'random' if random else 'told zero'}"
            print(f"{name:<28}{system.nv:>4}{mine:>8.0f}{ours.passes / n:>8.1f}{ours.by_hand:>8}{ours.E:>9.0e}"
                  f"{ours.gap:>10.0e}{pyramidal:>11.0f}{elliptic:>10.0f}{rivals[1].gap:>10.0e}"
                  f"{mine / pyramidal:>7.1f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
