"""Robots from files: which reader serves which."""

from __future__ import annotations

from pathlib import Path

from ...errors import InputError
from .mjcf import read_mjcf
from .robot import Robot


def read_robot(path: str | Path) -> Robot:
    """Return the robot of an MJCF file, compiled by MuJoCo (the extra ``mjcf``).

    Parameters
    ----------
    path : str or Path
        A file that ends in .xml.

    Raises
    ------
    InputError
        No such file; another ending; what is wrong with it; what of it cannot be done yet, all of it.
    BackendMissing
        MuJoCo is not installed.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError("robot file", str(path), "a file that is there", "Its meshes and includes stand beside it.")
    if file.suffix.lower() not in (".xml", ".mjcf"):
        raise InputError("robot file", file.name, "MJCF, a file that ends in .xml")
    return read_mjcf(file)
