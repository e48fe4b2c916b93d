"""Robots as environments of Gymnasium (the extra ``gym``), for learning and for control by others' code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BackendMissing
from ..mechanics.robots.robot import Robot

if TYPE_CHECKING:
    from .robot_env import RobotEnv

__all__ = ["make"]


def make(robot: Robot | str | Path, **options: Any) -> RobotEnv:
    """Return the environment of a robot.

    Parameters
    ----------
    robot : Robot, str or Path
        A robot, its file, or the name of a model that comes with gymnasium: ``"Ant"``, ``"HalfCheetah"``, ..
    **options
        See `RobotEnv`.

    Raises
    ------
    InputError
        No such file or model; a robot that cannot be had, without actuators, or whose start cannot be mended.
    BackendMissing
        gymnasium is not installed (or MuJoCo, for MJCF files).

    Examples
    --------
    >>> import gaussdyn.gym
    >>> env = gaussdyn.gym.make("Ant")
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    >>> str(info["status"])
    'SOLVED'
    """
    try:
        import gymnasium  # noqa: F401
    except ImportError:
        raise BackendMissing("gymnasium", "gym") from None
    from .models import found
    from .robot_env import RobotEnv

    return RobotEnv(found(robot), **options)
