"""The one place that knows numba: compiled kernels and where their machine code is kept.

Numba's own on-disk cache looks only at the file of the function itself, so an edited inner kernel in another
file would leave its cached callers stale. The cache directory is therefore named by a hash over the sources of
every module that defines kernels, and the numba version. Modules with kernels are imported at the first solve,
never with the package.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config

F = TypeVar("F", bound=Callable[..., Any])
PACKAGE = Path(__file__).resolve().parent
MARK = "from .._jit import", "from ..._jit import", "from ._jit import"


def kernel_sources() -> list[Path]:
    """Return the source files that define kernels, sorted: those that import this module."""
    files = [p for p in sorted(PACKAGE.rglob("*.py")) if p.name != "_jit.py"]
    return [p for p in files if any(mark in p.read_text(encoding="utf-8") for mark in MARK)]


def source_hash() -> str:
    """Return 16 hex digits over all kernel sources, the numba version and the processor type."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {platform.machine()}".encode())
    for path in [PACKAGE / "_jit.py", *kernel_sources()]:
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Return where this version of the kernels is cached (GAUSSDYN_CACHE overrides ``~/.cache/gaussdyn``)."""
    root = os.environ.get("GAUSSDYN_CACHE") or str(Path.home() / ".cache" / "gaussdyn")
    return Path(root) / f"kernels-{source_hash()}"


_directory = cache_directory()
_announced = _directory.is_dir()


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

    def compile_(function: F) -> F:
        _announce()
        saved, config.CACHE_DIR = config.CACHE_DIR, str(_directory)
        try:
            options = {"cache": True, "error_model": "numpy", "nogil": True, "boundscheck": False}
            jitted: F = numba.njit(signature, inline="always" if inline else "never", **options)(function)
            return jitted
        finally:
            config.CACHE_DIR = saved

    return compile_


def _announce() -> None:
    global _announced
    if not _announced:
        _announced = True
        print("gaussdyn: compiling its kernels, once (up to a minute) ...", file=sys.stderr, flush=True)
        _directory.mkdir(parents=True, exist_ok=True)
