"""The one place that knows numba: compiled kernels and where their machine code is kept.

Numba's own on-disk cache looks only at the file of the function itself, so an edited inner kernel in another
file would leave its cached callers stale. The cache directory is therefore named by a hash over the sources of
every module that defines kernels (and of those they take constants from), and the numba version. Modules with
kernels are imported at the first solve, never with the package.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config, event

F = TypeVar("F", bound=Callable[..., Any])
PACKAGE = Path(__file__).resolve().parent
MARK = re.compile(r"^from \.+_jit import", re.MULTILINE)
IMPORT = re.compile(r"^from (\.+)([\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
CONSTANT = re.compile(r"\b[A-Z][A-Z0-9_]+\b")


def kernel_sources() -> list[Path]:
    """Return the source files that define kernels, sorted: those that import this module."""
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
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {platform.machine()}".encode())
    for path in sorted({PACKAGE / "_jit.py", *kernel_sources(), *constant_sources()}):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Return where this version of the kernels is cached (GAUSSDYN_CACHE overrides ``~/.cache/gaussdyn``).

    The directory exists on return. Where that place cannot be written, a private one under the system's folder
    for temporary files is taken, with a note on standard error.
    """
    name, chosen = f"kernels-{source_hash()}", os.environ.get("GAUSSDYN_CACHE")
    root = Path(chosen) if chosen else Path(os.path.expanduser("~")) / ".cache" / "gaussdyn"
    try:
        return _writable(root / name)
    except OSError as error:
        place = _private_temporary() / name
        place.mkdir(parents=True, exist_ok=True)
        _say(f"gaussdyn: cannot write {root} ({error.strerror}); compiled kernels go to {place}")
        return place


def _writable(place: Path) -> Path:
    """Create the directory if need be, and write in it once (access bits alone do not tell)."""
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=place):
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


class _Build(event.Listener):  # type: ignore[misc]
    """Announces the first kernel that is really compiled (not loaded from disk), and counts them all."""

    def __init__(self) -> None:
        self.compiled, self.seconds = 0, 0.0
        self.lock = threading.RLock()
        self.directory: Path | None = None

    def on_start(self, event: Any) -> None:
        """Count one more compilation; say so before the first."""
        if not self.compiled:
            _say("gaussdyn: compiling its kernels, once (up to a minute) ...")
        self.compiled += 1

    def on_end(self, event: Any) -> None:
        """Nothing to do: the time is taken around compiling and loading together."""


_build = _Build()


def kernel_directory() -> Path:
    """Return the cache directory of this process, chosen once."""
    with _build.lock:
        if _build.directory is None:
            _build.directory = cache_directory()
        return _build.directory


def build_statistics() -> dict[str, Any]:
    """Return ``compile_s`` (seconds spent compiling and loading kernels here) and ``compiled`` (how many)."""
    return {"compile_s": _build.seconds, "compiled": _build.compiled}


def kernel(signature: str | list[str], *, inline: bool = False) -> Callable[[F], F]:
    """Compile a function for fixed argument types, caching the machine code on disk.

    Parameters
    ----------
    signature : str or list of str
        Numba type strings, e.g. ``"float64(float64[::1], float64[:,::1])"``: the function is compiled when its
        module is imported, so that no call ever waits for the compiler.
    inline : bool
        Inline into callers (for a few lines only).
    """
    options = {"cache": True, "error_model": "numpy", "nogil": True, "boundscheck": False}

    def _compile(function: F) -> F:
        with _build.lock, event.install_listener("numba:compile", _build):
            start, saved = time.perf_counter(), config.CACHE_DIR
            config.CACHE_DIR = str(kernel_directory())
            try:
                jitted: F = numba.njit(signature, inline="always" if inline else "never", **options)(function)
                return jitted
            finally:
                config.CACHE_DIR = saved
                _build.seconds += time.perf_counter() - start

    return _compile


def stored_source(stem: str, write: Callable[[], str]) -> Path:
    """Return the file ``stem.py`` in the cache directory; `write` makes its text if it is not there yet.

    The stem must name the content (a hash of all that the text is made of), for a file that exists is not looked into.
    It is put in place as a whole, so that a killed process leaves no half of it.
    """
    path = kernel_directory() / f"{stem}.py"
    if not path.exists():
        text = write()
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False, encoding="utf-8") as part:
            part.write(text)
        os.replace(part.name, path)
    return path


def kernel_from(path: Path, name: str, signature: str) -> Callable[..., Any]:
    """Compile one function of a generated file for fixed argument types; its machine code is kept beside the file."""
    module_name = f"gaussdyn_generated_{path.stem}"
    with _build.lock:
        module = sys.modules.get(module_name)
        if module is None:
            spec = importlib.util.spec_from_file_location(module_name, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules[module_name] = module  # where numba looks for it when it loads the machine code
        compiled: Callable[..., Any] = kernel(signature)(getattr(module, name))
        return compiled


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
