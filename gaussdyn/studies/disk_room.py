"""A disk that is full, said as what it is: nothing that was kept before is lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._cache import FULL, reason
from ..errors import InputError

MARGIN = 2**20  # bytes beyond what is written: tables of the file, what others write meanwhile
MEND = "All runs before this one are kept: make room and go on with resume=True (--resume)."


@contextmanager
def room_on_disk(path: object) -> Iterator[None]:
    """Say so where a file cannot grow.

    Raises
    ------
    InputError
        The disk is full, or a limit is reached.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:  # HDF5 may say it in words only
        if getattr(error, "errno", None) not in FULL and not any(f"errno = {one}," in str(error) for one in FULL):
            raise
        where = path if isinstance(path, Path) else "the results"
        raise InputError("out", f"{where}: {reason(error)}", "a disk with room", MEND) from None


def check_room(path: object, size: int) -> None:
    """Refuse to write so many bytes where they do not fit: HDF5 does not outlive a write that fails.

    Raises
    ------
    InputError
        The disk is full.
    """
    if isinstance(path, Path):
        free = shutil.disk_usage(path.parent).free
        if free < size + MARGIN:
            said = f"{path}: {free} bytes are left"
            raise InputError("out", said, f"a disk with room for {size + MARGIN}", MEND)
