"""Kernels of the package, from its text: those that Python calls are marked so, and every one is reached."""

from __future__ import annotations

import ast
import dis
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType

import pytest

from gaussdyn._kernel_files import PACKAGE, kernel_sources
from tests.sources import statements, tree

pytestmark = pytest.mark.xdist_group("sources")  # trees are made once
ROOT = PACKAGE.parent
Place = tuple[Path, str]  # a file, and a name that it defines


def defined(path: Path) -> dict[str, ast.FunctionDef]:
    """Return the kernels of a file by name."""
    functions = (node for node in tree(path).body if isinstance(node, ast.FunctionDef))
    return {node.name: node for node in functions if any("kernel(" in ast.unparse(d) for d in node.decorator_list)}


@cache
def kernels() -> dict[Place, ast.FunctionDef]:
    return {(path, name): node for path in kernel_sources() for name, node in defined(path).items()}


def imported(path: Path, node: ast.ImportFrom) -> Iterator[tuple[str, Place]]:
    """Yield for names that an import binds where they are defined: names of files of this package, or in them."""
    base = path.parents[node.level - 1] if node.level else ROOT
    base = base.joinpath(*(node.module or "").split("."))
    for alias in node.names:
        inner = base / f"{alias.name}.py"
        yield alias.asname or alias.name, (inner, "") if inner.is_file() else (base.with_suffix(".py"), alias.name)


@cache
def bound(path: Path) -> dict[str, Place]:
    """Return what the names of a file, wherever it imports them, stand for."""
    found = {name: (path, name) for name in defined(path)} if path.is_relative_to(PACKAGE) else {}
    for node in statements(tree(path)):
        if isinstance(node, ast.ImportFrom):
            found |= imported(path, node)
    return {name: place for name, place in found.items() if place[0] in kernel_files()}


@cache
def kernel_files() -> set[Path]:
    return {path for path, _ in kernels()}


@cache
def codes_at_top(path: Path) -> list[CodeType]:
    """Return the functions and classes of a file, and last the file itself."""
    whole = compile(tree(path), str(path), "exec")
    return [*(part for part in whole.co_consts if isinstance(part, CodeType)), whole]


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from codes(part)


def mentioned(path: Path, code: CodeType) -> Iterator[Place]:
    """Yield the kernels that one piece of a file uses by name, or as attributes of a module."""
    names, before = bound(path), ""
    if names.keys().isdisjoint(code.co_names):
        return
    for step in dis.get_instructions(code):
        place = (path, "")
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") or (step.opname == "IMPORT_FROM" and code.co_name != "<module>"):
            place = names.get(step.argval, place)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and before in names:
            place = names[before][0], step.argval
        if place in kernels():
            yield place
        before = step.argval if isinstance(step.argval, str) else ""


def used(path: Path, *, in_kernels: bool) -> dict[str, set[Place]]:
    """Return for every kernel of a file the kernels that it uses, or under "" those that the rest of the file uses."""
    own, found = set(defined(path)), dict[str, set[Place]]()
    *parts, whole = codes_at_top(path)
    for part in parts:
        if (part.co_name in own) == in_kernels:
            inside = {place for code in codes(part) for place in mentioned(path, code)}
            found.setdefault(part.co_name if in_kernels else "", set()).update(inside)
    if not in_kernels:
        found.setdefault("", set()).update(mentioned(path, whole))
    return found


@cache
def from_python(folder: Path) -> set[Place]:
    """Return the kernels that functions of a folder use that are no kernels themselves."""
    files = {path.stem for path in kernel_sources()}
    lines = {path: " ".join(re.findall("from .*", path.read_text(encoding="utf-8"))) for path in folder.rglob("*.py")}
    looked_at = [path for path, text in lines.items() if not files.isdisjoint([path.stem, *re.findall(r"\w+", text)])]
    return {place for path in looked_at for place in used(path, in_kernels=False)[""]}


def test_kernels_that_python_calls_are_entries_and_no_others() -> None:
    """Any other is given in every process anew what it is called through."""
    marked = {place for place, node in kernels().items() if "entry=True" in ast.unparse(node.decorator_list[0])}
    assert {f"{path.stem}.{name}" for path, name in marked ^ from_python(PACKAGE)} == set()


def test_every_kernel_is_reached_from_python() -> None:
    calls = {(path, name): found for path in kernel_sources() for name, found in used(path, in_kernels=True).items()}
    ahead = set().union(*(from_python(ROOT / folder) for folder in ("gaussdyn", "tests", "benchmarks")))
    reached = set[Place]()
    while ahead:
        reached |= ahead
        ahead = set().union(*(calls[place] for place in ahead)) - reached
    assert {f"{path.stem}.{name}" for path, name in kernels().keys() - reached} == set()


def test_a_use_is_seen_by_name_and_as_an_attribute_and_not_in_a_kernel() -> None:
    path = PACKAGE / "linalg" / "dense.py"
    called = PACKAGE / "integrate" / "worlds" / "lane.py"
    assert (PACKAGE / "integrate" / "worlds" / "world_kernels.py", "advance_worlds") in used(called, in_kernels=False)[
        ""
    ]
    assert used(path, in_kernels=False)[""] == set()
    assert any(used(path, in_kernels=True).values())


def test_kernels_take_at_most_eight_arguments() -> None:
    """More of them belong together: in a record, which has a name. Branches are counted by ruff."""
    many = {f"{path.stem}.{name}": len(node.args.args) for (path, name), node in kernels().items()}
    assert {name: count for name, count in many.items() if count > 8} == {}


def test_no_two_records_have_one_name() -> None:
    """Signatures know them by it: the second one would be taken for the first."""
    named = re.compile(r"^@?record\((?:[^()]|\([^()]*\))*\)(?:\nclass (\w+)|\((\w+)\))", re.MULTILINE)
    texts = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    counts = Counter(first or second for text in texts for first, second in named.findall(text))
    assert {name for name, count in counts.items() if count > 1} == set()
    assert {"Model", "BodyMotions"} <= counts.keys()
