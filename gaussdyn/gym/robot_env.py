"""A robot as an environment of Gymnasium; the only module that imports it at the top."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from ..arrays import Array, scalar, vector
from ..errors import InputError
from ..integrate.actuator_states import told_at
from ..integrate.asked_control import Asked
from ..integrate.time_stepping.moreau_jean import MoreauJean
from ..mechanics.robots.robot import Robot
from ..mechanics.state import State
from ..mends import write
from ..programs.solution.status import Status

Reward = Callable[[State, State, Array], float]  # of the states before and after, and the action
Healthy = Callable[[State], bool]
EFFORT = 1e-3  # the price of an action, per square of its values, in the reward that is taken by default


class RobotEnv(gymnasium.Env[Array, Array]):  # type: ignore[misc]
    """A robot that is told its actuators, with exact contact.

    Observations are coordinates (without x and y of the first free body), velocities, and states of actuators.
    Actions are what the actuators are told, in the order of the file and within their limits, -1 to 1 where it has
    none. ``info`` has ``status`` and ``E`` (the residual) of the last step and ``t``; a step that is not SOLVED ends
    the episode, with ``reason``; so does a motion that grows beyond all numbers.

    Parameters
    ----------
    robot : Robot
    keyframe : str
        Where episodes begin.
    project : bool
        Mend starts that overlap or break limits.
    frames : int
        Steps of integration per action.
    dt : float, optional
        Their length, s; the file's by default.
    horizon : int
        Actions after which an episode is truncated.
    noise : float
        Coordinates and velocities of a start are moved by up to this at random.
    reward : callable, optional
        ``reward(before, after, action)``; by default the speed of the first free body (else joint) along its first
        coordinate, less 1e-3 per square of what the actuators are told.
    healthy : callable, optional
        ``healthy(state)``: an episode ends where it says no; by default it never does.
    corrections : bool
        Whether contact problems are solved again for the end of a step, see `MoreauJean`; by default they are not.

    Raises
    ------
    InputError
        A robot without actuators; NaN, numbers out of range; a start that cannot be mended.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        robot: Robot,
        *,
        keyframe: str = "",
        project: bool = True,
        frames: int = 5,
        dt: float | None = None,
        horizon: int = 1000,
        noise: float = 0.01,
        reward: Reward | None = None,
        healthy: Healthy | None = None,
        corrections: bool = False,
    ) -> None:
        if not robot.actuators:
            raise InputError(
                f"robot {robot.name}",
                "no actuators",
                "a robot that can be told something",
                'Add <motor joint="..."/> to its <actuator>: gaussdyn robot FILE lists the joints.',
            )
        self.robot, self.system, self.project = robot, robot.system(), project
        self.frames, self.horizon = (_count(*pair) for pair in (("frames", frames), ("horizon", horizon)))
        self.noise = scalar("noise", noise, low=0.0)
        self.stepper = MoreauJean(dt=robot.dt if dt is None else dt, corrections=corrections)
        self.begin = robot.start(keyframe, project=project)
        self.reward, self.healthy = reward or self._speed, healthy or (lambda state: True)
        self.state, self.taken, self.render_mode = self.begin, 0, None
        free = [name for name, (one, *_) in self.system.places.joints.items() if one.motion == "free"]
        self._way = self.system.coordinates(free[0]).start if free else 0
        hidden = (self._way, self._way + 1) if free else ()
        self._seen = np.array([k for k in range(self.system.nq) if k not in hidden], dtype=np.int64)
        limits = np.array([(one.control_low, one.control_high) for one in robot.actuators])
        low, high = np.where(np.isfinite(limits[:, 0]), limits[:, 0], -1.0), limits[:, 1]
        self.action_space = gymnasium.spaces.Box(low, np.where(np.isfinite(high), high, 1.0), dtype=np.float64)
        size = len(self._observation())
        self.observation_space = gymnasium.spaces.Box(-math.inf, math.inf, (size,), dtype=np.float64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:  # fmt: skip
        """Begin an episode, at ``options={"state": state}`` where that is given; return observation and ``info``."""
        super().reset(seed=seed)
        given = (options or {}).get("state")
        self.state, self.taken = self._moved() if given is None else given, 0
        return self._observation(), {"t": self.state.t, "status": "SOLVED", "E": 0.0}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Tell the actuators an action for `frames` steps.

        Returns
        -------
        observation, reward, terminated, truncated, info

        Raises
        ------
        InputError
            An action that is not finite, or of another length.
        """
        told = vector("action", action, len(self.robot.actuators))
        before, left = self.state, self.frames
        said: dict[str, Any] = {}
        while left and "reason" not in said:
            n, said = self._advance(told, left)
            left -= n
        self.taken += 1
        ended = "reason" in said or not self.healthy(self.state)
        gained = float(self.reward(before, self.state, told))
        truncated = not ended and self.taken >= self.horizon
        return self._observation(), gained, ended, truncated, {"t": self.state.t} | said

    def _advance(self, told: Array, n: int) -> tuple[int, dict[str, Any]]:
        """Go on by up to n steps; return how many, and what to say of the last."""
        system, stepper, follows = self.system, self.stepper, self.system.activations is not None
        asked = Asked(told, system, stepper, lambda: None) if follows else None  # states of actuators change by step
        many = stepper.advance_unrecorded(system, self.state, n, control=told if asked is None else asked)
        if many is not None and many.taken:
            self.state = many.state
            if asked is not None and asked.error is not None:
                raise asked.error
            return many.taken, {"status": "SOLVED", "E": float(many.E[-1])}
        held = told_at(system, told, self.state, stepper)
        try:
            step = held.after(
                stepper.advance(system, self.state, self.state.t + 2.0 * stepper.dt, control=held.control)
            )
        except InputError as error:  # the action is sound: a motion beyond all numbers
            k = int(np.argmax(np.abs(self.state.v)))
            name, unit = system.readings().v[k]
            where = f"no step from t = {self.state.t:g} s, where {name} is {self.state.v[k]:.3g} {unit}"
            return 1, {"status": str(Status.UNDECIDED), "E": 0.0, "reason": f"{where}: {error}"}
        solution, residuals = step.solution, step.solution.residuals
        said = {"status": str(solution.status), "E": residuals.E if residuals is not None else 0.0}
        if not solution.solved:
            return 1, said | {"reason": solution.explain()}
        self.state = step.state
        return 1, said

    def _moved(self) -> State:
        """Return the start, moved at random."""
        size = self.system.nv
        turn, v = self.np_random.uniform(-self.noise, self.noise, (2, size))
        q = self.system.move(self.begin.q, turn, 1.0)
        return self.robot.allowed(
            State(q=q, v=self.begin.v + v, memory=self.begin.memory), project=self.project
        )  # fmt: skip

    def _observation(self) -> Array:
        activations, own = self.system.activations, []
        if activations is not None:
            own.append(activations.states(self.state.memory)[activations.stateful])
        return np.concatenate([self.state.q[self._seen], self.state.v, *own])

    def _speed(self, before: State, after: State, action: Array) -> float:
        gone, time = after.q[self._way] - before.q[self._way], after.t - before.t
        return float(gone / time if time > 0.0 else 0.0) - EFFORT * float(action @ action)


def _count(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(name, repr(value), "a whole number, 1 and more", write(name, 1))
    return value
