"""The folder of measured data, which is not part of the package, and its files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import InputError, SceneError

VARIABLE = "GAUSSDYN_MEASURED"
FILES = {"tosses": "cube_tosses.h5", "impacts": "planar_impacts.h5", "joints": "adams_joints.h5"}


def measured_folder(given: str | Path | None = None) -> Path:
    """Return the folder of measured data: the one given, or that of the variable GAUSSDYN_MEASURED.

    Raises
    ------
    InputError
        Neither is given, or it is no folder that holds any of the files.
    """
    named = given if given is not None else os.environ.get(VARIABLE, "")
    mend = (
        f"It holds {', '.join(FILES.values())}; docs/measured.md says where they come from: export "
        f"{VARIABLE}=/where/it/lies"
    )
    if not str(named):
        raise InputError("FOLDER", "nothing", f"the folder of measured data, or {VARIABLE} set to it", mend)
    folder = Path(named)
    if not folder.is_dir() or not any((folder / name).is_file() for name in FILES.values()):
        raise InputError("FOLDER", folder, "a folder with measured data", mend)
    return folder


@contextmanager
def recorded(folder: Path, which: str) -> Iterator[Any]:
    """Open one of the files; every fault of its content is a SceneError.

    Raises
    ------
    InputError
        The file is not there.
    SceneError
        It is no HDF5 file, damaged, or lacks an entry.
    """
    import h5py

    path = folder / FILES[which]
    if not path.is_file():
        raise InputError(
            "FOLDER", folder, f"a folder with {FILES[which]}", "Take others: gaussdyn bench measured FOLDER --only NAME"
        )
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (KeyError, OSError, ValueError, TypeError) as error:
        raise SceneError(
            str(path), "", f"is not the file of {which} that docs/measured.md describes ({error})"
        ) from None
