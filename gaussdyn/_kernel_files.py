"""Source files with kernels, and what the machine code of each is made of.

Numba's own cache on disk looks only at the file of a kernel itself: an edited inner kernel in another file would leave
its cached callers stale. Here machine code is named by a hash over the file, all files with kernels (or records) that
it reaches by imports, and those that constants come from. What is made of the same is the same, in whatever checkout or
environment it lies.
"""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parent
KERNELS = re.compile(r"^from \.+_jit import", re.MULTILINE)
COMPILER = PACKAGE / "_jit"
IMPORT = re.compile(r"^from (\.+)([\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
ALWAYS = (  # of `_jit`: what compiles them
    "__init__.py", "kernels.py", "lean.py", "lean_values.py", "rare.py", "record_types.py",
)  # fmt: skip
CONSTANT = re.compile(r"\b[A-Z][A-Z0-9_]+\b")


class Source(NamedTuple):
    """What matters of one source file of the package."""

    content: bytes  # its place in the package, and a hash of its text
    defines: bool  # kernels or records: it imports `_jit`, or is a part of it
    imports: frozenset[Path]
    constants: frozenset[Path]  # files that it takes names in UPPER CASE from


@cache
def source(path: Path) -> Source:
    """Read one file, once in a process."""
    text = path.read_text(encoding="utf-8")
    imports, constants = set[Path](), set[Path]()
    for dots, module, names in IMPORT.findall(text):
        base = path.parents[len(dots) - 1].joinpath(*module.split("."))
        taken = _files(base, names)
        imports |= taken
        if CONSTANT.search(names):
            constants |= taken
    place = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name  # one generated
    content = place.encode() + hashlib.sha256(text.encode()).digest()
    defines = path.parent == COMPILER or bool(KERNELS.search(text))
    return Source(content, defines, frozenset(imports), frozenset(constants))


def _files(base: Path, names: str) -> set[Path]:
    """Return the files that names are imported from: a module, or a package and modules in it."""
    module = base.with_suffix(".py")
    if module in _package():
        return {module}
    return {base / "__init__.py", *(base / f"{name}.py" for name in re.findall(r"\w+", names))} & _package()


@cache
def _package() -> frozenset[Path]:
    """Return all files of the package."""
    return frozenset(PACKAGE.rglob("*.py"))


def kernel_sources() -> list[Path]:
    """Return the source files that define kernels or records, sorted."""
    return sorted(path for path in _package() if KERNELS.search(path.read_text(encoding="utf-8")))


def reached(files: Iterable[Path]) -> set[Path]:
    """Return some source files and all files of the package that they import at their top level, one from the other."""
    seen, ahead = set[Path](), set(files)
    while ahead:
        path = ahead.pop()
        if path not in seen:
            seen.add(path)
            ahead |= source(path).imports
    return seen


def parts_of(path: Path) -> set[Path]:
    """Return all files that the machine code of a file's kernels is made of: files with kernels, and of constants."""
    always = {path, *(COMPILER / name for name in ALWAYS)}
    parts, ahead = set[Path](), always | {file for file in reached(always) if source(file).defines}
    while ahead := ahead - parts:
        parts |= ahead
        ahead = {other for file in ahead for other in source(file).constants}
    return parts


@cache
def machine_code_name(path: Path) -> str:
    """Return the name of a source file and 16 hex digits over all that machine code of its kernels is made of."""
    content = b"".join(sorted(source(file).content for file in parts_of(path)))
    return f"{path.stem}-{hashlib.sha256(_machine().encode() + content).hexdigest()[:16]}"


@cache
def _machine() -> str:
    """Return what else machine code depends on (numba itself looks at the processor's instructions)."""
    return f"{version('numba')} {version('llvmlite')} {sys.version_info[:2]} {platform.machine()}"
