"""Robots beside MuJoCo: time per step, how well the laws hold, how deep bodies overlap, and what contacts do.

Processor time per step on one thread of compiled steps of `MoreauJean`, with corrections and without, against
`mujoco.rollout` under the same controls: those of the keyframe at which they begin (else zero), or random ones in the
range of the actuators, each held for 25 steps. All begin at the same state and then go their own ways; blocks of steps
take turns, so that all see the same machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError
from ..integrate.time_stepping.moreau_jean import MoreauJean
from ..mechanics.robots.read_robot import read_robot
from ..mechanics.robots.robot import Robot
from ..mechanics.state import State
from . import robot_errors

DT, HELD = 2e-3, 25  # s; steps for which a control is held
ASSETS = ("ant", "humanoid", "hopper", "walker2d_v5", "half_cheetah")
POSE = {"ankle_1": 1.0, "ankle_2": -1.0, "ankle_3": -1.0, "ankle_4": 1.0}  # in which the ant of gymnasium stands
KEYFRAMES = ("stand", "home")  # at the first of which a robot begins
PYRAMIDAL, ELLIPTIC = 0, 1  # cones of MuJoCo


@dataclass(frozen=True, slots=True)
class Contacts:
    """What contacts did in a run, see `robot_errors`: creep (m/s), energy put in (J), friction over mu N."""

    creep: float
    put_in: float
    friction: float


@dataclass(frozen=True, slots=True)
class Own:
    """A run of ours.

    Attributes
    ----------
    us, us_by_hand : float
        Processor time per step; the part of it that steps took which kernels handed over.
    problems : float
        Contact problems per step.
    by_hand : int
        Steps that kernels handed over.
    E, gap : float
        The largest residual, and the least gap, m.
    contacts : Contacts
    """

    us: float
    us_by_hand: float
    problems: float
    by_hand: int
    E: float
    gap: float
    contacts: Contacts


@dataclass(frozen=True, slots=True)
class Race:
    """One robot under one kind of control.

    Attributes
    ----------
    name, controls : str
    nv : int
    corrected, once : Own
        With corrections, and without, see `MoreauJean`.
    pyramidal_us, elliptic_us, their_gap : float
        Of MuJoCo.
    pyramidal, elliptic : Contacts
    """

    name: str
    controls: str
    nv: int
    corrected: Own
    once: Own
    pyramidal_us: float
    elliptic_us: float
    their_gap: float
    pyramidal: Contacts
    elliptic: Contacts


class Ours:
    """A run of ours, block by block."""

    def __init__(self, system: Any, state: State, corrections: bool) -> None:
        self.system, self.state, self.method = system, state, MoreauJean(dt=DT, corrections=corrections)
        self.kernels: Any = self.method.kernels(system, state)
        self.spent = self.spent_by_hand = self.E = self.gap = self.problems = 0.0
        self.by_hand = 0

    def take(self, control: Array) -> None:
        """Take a block of steps; those that kernels hand over are taken one by one."""
        left = HELD
        while left:
            since = time.process_time()
            many = self.kernels.advance_many(self.method, self.state, left, control, record=False)
            self.spent += time.process_time() - since
            if many.taken:
                self.state, left = many.state, left - many.taken
                self.E, self.gap = max(self.E, float(many.E.max())), min(self.gap, float(many.gap.min()))
                self.problems += float(many.passes.sum())
                continue
            since = time.process_time()
            step = self.method.advance(self.system, self.state, self.state.t + DT, control=control)
            self.state, left, self.by_hand = step.state, left - 1, self.by_hand + 1
            residuals = step.solution.require().residuals
            assert residuals is not None
            self.E = max(self.E, residuals.E)
            taken = time.process_time() - since
            self.spent, self.spent_by_hand = self.spent + taken, self.spent_by_hand + taken

    def told(self, steps: int, errors: robot_errors.Errors) -> Own:
        """Return what there is to say after so many steps, and of what contacts did in others like them."""
        us, by_hand = (1e6 * spent / steps for spent in (self.spent, self.spent_by_hand))
        return Own(us, by_hand, self.problems / steps, self.by_hand, self.E, self.gap, _did(errors))


class Theirs:
    """The same of MuJoCo, with the defaults of its solver."""

    def __init__(self, file: Path, start: State, cone: int) -> None:
        import mujoco

        self.model = model = mujoco.MjSpec.from_file(str(file)).compile()
        model.opt.timestep, model.opt.integrator, model.opt.cone = DT, mujoco.mjtIntegrator.mjINT_EULER, cone
        model.opt.solver, model.opt.iterations, model.opt.tolerance = mujoco.mjtSolver.mjSOL_NEWTON, 100, 1e-8
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_SENSOR)  # ours are read from runs afterwards
        self.data, kind = mujoco.MjData(model), mujoco.mjtState.mjSTATE_FULLPHYSICS
        self.data.qpos[:], self.data.qvel[:] = start.q, start.v
        self.state = np.zeros(mujoco.mj_stateSize(model, kind))
        mujoco.mj_getState(model, self.data, self.state, kind)
        self.spent = self.gap = 0.0

    def take(self, control: Array) -> None:
        """Take a block of steps."""
        from mujoco import rollout

        begin = time.process_time()
        states, _ = rollout.rollout(self.model, self.data, self.state, np.tile(control, (HELD, 1)))
        self.spent += time.process_time() - begin
        self.state = np.array(states).reshape(HELD, -1)[-1]
        self.gap = min([self.gap, *(contact.dist for contact in self.data.contact[: self.data.ncon])])


def robot_files(example: Path | None = None) -> Iterator[Path]:
    """Yield the models that are at hand: an example, and robots of gymnasium.

    Raises
    ------
    InputError
        There are none.
    """
    found = find_spec("gymnasium")
    if example is not None:
        yield example
    if found is None or found.origin is None:
        if example is None:
            raise InputError("FILE", "none, and gymnasium is not installed", "a robot file", "pip install gymnasium")
        return
    folder = Path(found.origin).parent / "envs/mujoco/assets"
    yield from (folder / f"{name}.xml" for name in ASSETS)


def race(file: Path, steps: int, random: bool) -> Race:
    """Run a robot from its keyframe 'stand' or 'home', or where its joints are zero, beside MuJoCo."""
    robot = read_robot(file)
    system = robot.system()
    start, held = _start(robot, system)
    told = _controls(system, steps)
    if not random:
        told[:] = held
    _take_turns([Ours(system, start, corrections) for corrections in (True, False)], told)  # loads all kernels
    ours = [Ours(system, start, corrections) for corrections in (True, False)]
    rivals = [Theirs(file, start, cone) for cone in (PYRAMIDAL, ELLIPTIC)]
    _take_turns([*ours, *rivals], told)
    count, each = HELD * len(told), list(np.repeat(told, HELD, axis=0))
    corrected, once = (run.told(count, robot_errors.ours(system, start, each, run.method)) for run in ours)
    pyramidal_us, elliptic_us = (1e6 * rival.spent / count for rival in rivals)
    pyramidal, elliptic = (_did(robot_errors.theirs(rival.model, start, each)) for rival in rivals)
    return Race(
        file.stem, "random" if random else "held", system.nv, corrected, once, pyramidal_us, elliptic_us, rivals[1].gap,
        pyramidal, elliptic,
    )  # fmt: skip


def _start(robot: Robot, system: Any) -> tuple[State, ArrayLike]:
    """Return where a robot begins, and the control of its keyframe, which holds it there."""
    pose = {name: x for name, x in POSE.items() if name in system.places.joints}
    known = {one.name: one for one in robot.keyframes}
    keyframe = next((name for name in KEYFRAMES if name in known), "")
    return robot.start(keyframe, joints=pose, project=True), known[keyframe].control if keyframe else 0.0


def _take_turns(runs: Sequence[Ours | Theirs], told: Array) -> None:
    for control in told:
        for run in runs:
            run.take(control)


def _did(errors: robot_errors.Errors) -> Contacts:
    return Contacts(errors.creep, errors.put_in, errors.friction)


def _controls(system: Any, steps: int) -> Array:
    """Return a random control for every block."""
    low, high = (
        np.array([np.clip(getattr(one, f"control_{end}"), -1.0, 1.0) for one in system.actuators])
        for end in ("low", "high")
    )
    return np.random.default_rng(0).uniform(low, high, size=(max(steps // HELD, 1), len(low)))
