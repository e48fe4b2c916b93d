"""Where compiled kernels and generated sources are kept on disk: a folder of the user, by content (`_kernel_files`)."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from ._kernel_files import machine_code_name

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TRIED = 1 << 20  # bytes that are written to see whether there is room
NEEDED = "100 MB"
THROUGH = ".through"  # ends the name of what calls from Python go through to a kernel that is not for them


def cache_directory() -> Path:
    """Return where kernels are kept (GAUSSDYN_CACHE overrides ``~/.cache/gaussdyn``).

    Where that place cannot be written, or is full, a private one under the system's folder for temporary files is
    taken, with a note on standard error. The directory exists on return, unless that cannot be written either.
    """
    name, chosen = "kernels", os.environ.get("GAUSSDYN_CACHE")
    root = Path(chosen) if chosen else Path(os.path.expanduser("~")) / ".cache" / "gaussdyn"
    try:
        return _writable(root / name)
    except OSError as error:
        if error.errno in FULL and any((root / name).glob("*/*.nbi")):
            return root / name  # what is there is read all the same
        try:
            place = _writable(_private_temporary() / name)
        except OSError as second:
            say(f"gaussdyn: can write neither {root} ({reason(error)}) nor {tempfile.gettempdir()} ({reason(second)})")
            return root / name
        say(f"gaussdyn: cannot write {root} ({reason(error)}); compiled kernels go to {place}")
        return place


def _writable(place: Path) -> Path:
    """Create the directory if need be, and write in it once (access bits alone do not tell, nor whether it is full)."""
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=place) as trial:
        trial.write(bytes(TRIED))
        trial.flush()
    return place


def _private_temporary() -> Path:
    """Return a folder of this user alone: cached machine code that others could write must not be loaded."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    place = Path(tempfile.gettempdir()) / f"gaussdyn-{user}"
    place.mkdir(mode=0o700, exist_ok=True)
    status = place.lstat()
    if place.is_symlink() or (user and (status.st_uid != user or status.st_mode & 0o022)):
        return Path(tempfile.mkdtemp(prefix="gaussdyn-"))
    return place


@cache
def kernel_directory() -> Path:
    """Return the cache directory of this process, chosen once."""
    return cache_directory()


def machine_code(path: Path) -> Path:
    """Return the folder of the machine code of the kernels in a source file, which need not be there."""
    return kernel_directory() / machine_code_name(path)


def stored_source(stem: str, write: Callable[[], str]) -> Path:
    """Return the file ``stem.py`` in the cache directory; `write` makes its text if it is not there yet.

    The stem must name the content (a hash of all that the text is made of), for a file that exists is not looked into.
    It is put in place as a whole, so that a killed process leaves no half of it.
    """
    path = kernel_directory() / f"{stem}.py"
    if not path.exists():
        text = write()
        try:
            return _placed(path, text)
        except OSError as error:
            say(f"gaussdyn: cannot write {path.parent} ({reason(error)}); what is generated goes to a temporary folder")
            return _placed(Path(tempfile.mkdtemp(prefix="gaussdyn-")) / path.name, text)
    return path


def _placed(path: Path, text: str) -> Path:
    """Write a whole file, or nothing."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False, encoding="utf-8") as part:
        try:
            part.write(text)
            part.flush()
        except OSError:
            os.unlink(part.name)
            raise
    os.replace(part.name, path)
    return path


def reason(error: Exception) -> str:
    """Return in a few words why a file could not be read or written."""
    return str(getattr(error, "strerror", None) or error or type(error).__name__).split("\n")[0][:120]


def say(line: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
