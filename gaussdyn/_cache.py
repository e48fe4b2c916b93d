"""Where compiled kernels and generated sources are kept on disk.

Numba's own on-disk cache looks only at the file of the function itself, so an edited inner kernel in another
file would leave its cached callers stale. The cache directory is therefore named by a hash over the sources of
every module that defines kernels (and of those they take constants from), and the numba version.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
MARK = re.compile(r"^from \.+_jit import", re.MULTILINE)
IMPORT = re.compile(r"^from (\.+)([\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TRIED = 1 << 20  # bytes that are written to see whether there is room
NEEDED = "100 MB"
CONSTANT = re.compile(r"\b[A-Z][A-Z0-9_]+\b")


def kernel_sources() -> list[Path]:
    """Return the source files that define kernels, sorted: those that import `_jit`."""
    return [p for p in sorted(PACKAGE.rglob("*.py")) if MARK.search(p.read_text(encoding="utf-8"))]


def constant_sources() -> list[Path]:
    """Return the files of the package that kernel files take constants (UPPER CASE names) from, sorted."""
    found = set()
    for path in kernel_sources():
        for dots, module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
            source = path.parents[len(dots) - 1].joinpath(*(module or "__init__").split(".")).with_suffix(".py")
            if CONSTANT.search(names) and source.is_file():
                found.add(source)
    return sorted(found)


def source_hash() -> str:
    """Return 16 hex digits over all kernel sources, the numba version and the processor type."""
    digest = hashlib.sha256(f"{version('numba')} {sys.version_info[:2]} {platform.machine()}".encode())
    for path in sorted(
        {PACKAGE / "_jit.py", PACKAGE / "_records.py", PACKAGE / "_cache.py", *kernel_sources(), *constant_sources()}
    ):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Return where this version of the kernels is cached (GAUSSDYN_CACHE overrides ``~/.cache/gaussdyn``).

    Where that place cannot be written, or is full, a private one under the system's folder for temporary files is
    taken, with a note on standard error. The directory exists on return, unless that cannot be written either.
    """
    name, chosen = f"kernels-{source_hash()}", os.environ.get("GAUSSDYN_CACHE")
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
