"""Reports reach the disk whole or not at all: an older one stays until the new one is complete.

What a page shows or offers lies inside it, as data URLs.
"""

from __future__ import annotations

import base64
import errno
import os
from pathlib import Path

from .._files import unwritable
from ..errors import InputError
from ..integrate.run import hdf5 as storage


def place(path: Path, data: bytes | memoryview) -> Path:
    """Write a whole file, or leave what is there.

    Raises
    ------
    InputError
        No room, no rights, no such folder.
    """
    try:
        storage.place(path, memoryview(data))
    except OSError as error:
        raise refused(path, error) from None
    return path


def check_place(path: Path) -> None:
    """Refuse, before anything is drawn, a file in a folder that is not there.

    Raises
    ------
    InputError
    """
    if not path.parent.is_dir():
        raise refused(path, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)))


def refused(path: Path, error: OSError) -> InputError:
    """Return what to raise where a report cannot be written."""
    mend = f"Nothing changed there. {unwritable(path, error)}"
    return InputError("path", path, "a place with room that can be written", mend)


def data_url(kind: str, data: bytes) -> str:
    """Return data of a media type, e.g. image/png, as a URL that holds them whole."""
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
