"""Robots from files: which reader serves which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...mends import one_of
from ..contact_law import ContactLaw
from . import mjcf, urdf
from .built_in_overlaps import parted
from .robot import Robot
from .urdf import Base


def read_robot(
    path: str | Path,
    *,
    mend: bool = False,
    base: Base | None = None,
    floor: float | None = None,
    contact: ContactLaw | None = None,
) -> Robot:
    """Return the robot of an MJCF file (compiled by MuJoCo, the extra ``mjcf``) or of a URDF file (no extra).

    Parameters
    ----------
    path : str or Path
        A file that ends in .xml or .urdf.
    mend : bool
        Give links without inertia a small one, and take the nearest possible one for inertias that no body has; leave
        out what is not known in a URDF file; let bodies that are in one another wherever joints stand not touch. All
        that was mended is listed in `Robot.ignored`.
    base : "fixed" or "free"
        What the root of a URDF file is; "fixed" by default. MJCF files say it themselves, as they do the rest.
    floor : float, optional
        The height of a floor under the robot of a URDF file, m; none by default.
    contact : ContactLaw, optional
        Of all pairs of a URDF file; ``ContactLaw(mu=1.0)`` by default.

    Raises
    ------
    InputError
        No such file; another ending; what is wrong with it and in which line; what cannot be done yet, all of it.
    BackendMissing
        MuJoCo is not installed, and the file is MJCF.
    """
    own = _own(path, base, floor, contact)
    robot: Robot = served(Path(path), mjcf.read_mjcf, urdf.read_urdf)(mend=mend, **own)
    return parted(robot) if mend else robot


def survey(path: str | Path, *, mend: bool = False, base: Base | None = None) -> dict[str, Any]:
    """Return what a file holds (counts), what of it is ignored, and what is missing, as plain data."""
    own = _own(path, base, None, None)
    found: dict[str, Any] = served(Path(path), mjcf.survey, urdf.survey)(mend=mend, **own)
    return found


def served(file: Path, mjcf: Callable[..., Any], urdf: Callable[..., Any]) -> Callable[..., Any]:
    """Return which of two functions serves a file, with the file as its first argument."""
    if not file.is_file():
        raise InputError(
            "robot file",
            str(file),
            "a file that is there",
            f"Its meshes and includes stand beside it: ls {Path(file).parent}",
        )
    kind = file.suffix.lower()
    if kind not in (".xml", ".mjcf", ".urdf"):
        mend = (
            f"Run xacro on it first: xacro {file.name} > robot.urdf"
            if kind == ".xacro"
            else f"mv {file.name} robot.xml, if it is MJCF."
        )
        raise InputError("robot file", file.name, "MJCF, a file that ends in .xml, or URDF, one in .urdf", mend)
    chosen = urdf if kind == ".urdf" else mjcf
    return lambda **options: chosen(file, **options)


def _own(path: str | Path, base: Base | None, floor: float | None, contact: ContactLaw | None) -> dict[str, Any]:
    """Return what only URDF files are told, checked."""
    given = {"base": base, "floor": floor, "contact": contact}
    given = {name: value for name, value in given.items() if value is not None}
    if given and Path(path).suffix.lower() != ".urdf":
        raise InputError(
            ", ".join(given),
            Path(path).name,
            "a URDF file",
            f"MJCF files say themselves what these say: read_robot({Path(path).name!r}).",
        )
    if base not in (None, "fixed", "free"):
        raise InputError("base", repr(base), "'fixed' or 'free'", one_of("base", base, ("free", "fixed")))
    if contact is not None and not isinstance(contact, ContactLaw):
        raise InputError("contact", repr(contact), "a ContactLaw", "Write contact=ContactLaw(mu=0.5).")
    return given
