"""Robots by file, or by the names of the models that come with gymnasium."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import InputError
from ..mechanics.names import nearest
from ..mechanics.robots.read_robot import read_robot
from ..mechanics.robots.robot import Robot


def found(robot: Robot | str | Path) -> Robot:
    """Return a robot as it is, from its file, or from a model of gymnasium's.

    Raises
    ------
    InputError
        Neither a robot nor a file nor a model.
    """
    if isinstance(robot, Robot):
        return robot
    if Path(robot).suffix:
        return read_robot(robot)
    models = {path.stem: path for path in sorted(_folder().glob("*.xml"))}
    known = {_camel(name): path for name, path in models.items()}
    if str(robot) not in known:
        raise InputError("robot", repr(str(robot)), *nearest(str(robot), known))
    return read_robot(known[str(robot)])


def _folder() -> Path:
    import gymnasium

    return Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"


def _camel(name: str) -> str:
    """Return half_cheetah as HalfCheetah."""
    return "".join(word[:1].upper() + word[1:] for word in re.split("_", name))
