"""The one place that knows numba: compiled kernels, kept on disk (see `_cache`).

Modules with kernels are imported at the first solve, never with the package.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config, event

from ._cache import kernel_directory, say

F = TypeVar("F", bound=Callable[..., Any])


class _Build(event.Listener):  # type: ignore[misc]
    """Announces the first kernel that is really compiled (not loaded from disk), and counts them all."""

    def __init__(self) -> None:
        self.compiled, self.seconds = 0, 0.0
        self.lock = threading.RLock()

    def on_start(self, event: Any) -> None:
        """Count one more compilation; say so before the first."""
        if not self.compiled:
            say("gaussdyn: compiling its kernels, once (up to two minutes; `gaussdyn warmup` uses all cores) ...")
        self.compiled += 1

    def on_end(self, event: Any) -> None:
        """Nothing to do: the time is taken around compiling and loading together."""


_build = _Build()


def build_statistics() -> dict[str, Any]:
    """Return ``compile_s`` (seconds spent compiling and loading kernels here) and ``compiled`` (how many)."""
    return {"compile_s": _build.seconds, "compiled": _build.compiled}


def kernel(signature: str | list[str], *, inline: bool = False, borrows: bool = False) -> Callable[[F], F]:
    """Compile a function for fixed argument types, caching the machine code on disk.

    Parameters
    ----------
    signature : str or list of str
        Numba type strings, e.g. ``"float64(float64[::1], float64[:,::1])"``: the function is compiled when its
        module is imported, so that no call ever waits for the compiler.
    inline : bool
        Inline into callers (for a few lines only).
    borrows : bool
        The function neither makes nor returns arrays, so that numba need not count references: slices of its
        arguments then cost nothing (counting them can take longer than the work).
    """
    options = {"cache": True, "error_model": "numpy", "nogil": True, "boundscheck": False}
    if borrows:
        options["_nrt"] = False

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
