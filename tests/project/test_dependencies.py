"""What is installed is needed: every library is imported by a file or is a tool that a file names, and is explained."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gaussdyn.cli.doctor_command import EXTRAS, REQUIRED
from tests.sources import statements, tree

pytestmark = pytest.mark.xdist_group("sources")  # trees are made once
ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WHERE = {"docs": ("docs",), "dev": ("tests", "benchmarks")}  # elsewhere the package itself must import it
MODULE = {"drake": "pydrake"}  # where a library is imported by another name than it is installed by
# Tools that nothing imports: the file that calls them, and by what word.
TOOLS = {
    "pytest-xdist": ("Makefile", "pytest -n auto"),
    "ruff": ("Makefile", "ruff check"),
    "mypy": ("Makefile", "/mypy"),
    "import-linter": ("Makefile", "lint-imports"),
    "mkdocs": ("Makefile", "mkdocs build"),
    "mkdocs-material": ("mkdocs.yml", "name: material"),
    "mkdocstrings": ("mkdocs.yml", "mkdocstrings:"),
}


def library(requirement: str) -> str:
    """Return the name in a requirement."""
    return re.match(r"[\w.-]+", requirement)[0]


EXTRA = {name: [library(one) for one in found] for name, found in PROJECT["optional-dependencies"].items()}
NEEDED = [("", library(one)) for one in PROJECT["dependencies"]]
NEEDED += [(extra, one) for extra, found in EXTRA.items() for one in found if one != "gaussdyn"]


def is_used(name: str, folder: str) -> bool:
    """Return whether a file of a folder imports a library; only files that have its name are looked into."""
    return any(name in path.read_text(encoding="utf-8") and name in imported(path) for path in files(folder))


@cache
def files(folder: str) -> list[Path]:
    return list((ROOT / folder).rglob("*.py"))


@cache
def imported(path: Path) -> frozenset[str]:
    """Return the top names that a file imports, by statement or by name in a call."""
    return frozenset(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    names_in_calls = folder_of(path) == "benchmarks"
    for node in ast.walk(tree(path)) if names_in_calls else statements(tree(path)):
        if isinstance(node, ast.Import):
            yield from (one.name.split(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.split(".")[0]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and names_in_calls:
            yield node.value  # benchmarks import what is there, by name


def folder_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


@pytest.mark.parametrize(("extra", "name"), NEEDED, ids=lambda value: value or "always")
def test_every_library_is_used(extra: str, name: str) -> None:
    if name in TOOLS:
        file, word = TOOLS[name]
        assert word in (ROOT / file).read_text(encoding="utf-8")
    else:
        assert any(is_used(MODULE.get(name, name), folder) for folder in WHERE.get(extra, ("gaussdyn",)))


def test_what_the_package_imports_is_installed() -> None:
    """Always, or with an extra; the checkers find each other, and the race runs a script where Siconos lives."""
    known = {MODULE.get(name, name) for extra, name in NEEDED if extra not in WHERE} | {"gaussdyn", "siconos"}
    own = {path.stem for path in (ROOT / "gaussdyn").glob("checker*.py")}
    assert frozenset().union(*map(imported, files("gaussdyn"))) - set(sys.stdlib_module_names) - own <= known


def test_doctor_and_readme_know_them_all() -> None:
    assert list(REQUIRED) == [name for extra, name in NEEDED if not extra]
    assert {extra: list(found) for extra, found in EXTRAS.items()} == {
        extra: found for extra, found in EXTRA.items() if extra not in WHERE
    }
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text[text.index("## What is installed") : text.index("## Fifteen lines")]
    for extra, name in NEEDED:
        assert re.search(rf"\b{re.escape(name)}\b", table), name
        assert not extra or f"`{extra}`" in table


def test_every_extra_that_is_named_exists() -> None:
    """In messages and in documents."""
    files = [
        *(ROOT / "gaussdyn").rglob("*.py"),
        *(ROOT / "docs").glob("**/*.md"),
        ROOT / "README.md",
        ROOT / "Makefile",
    ]
    texts = [path.read_text(encoding="utf-8") for path in files]
    named = {extra for text in texts for extra in re.findall(r"(?:gaussdyn|'\.)\\?\[(\w+)\\?\]'", text)}
    named |= {extra for text in texts for extra in re.findall(r"BackendMissing\([^,()]+, \"(\w+)\"\)", text)}
    assert named <= set(EXTRA)
    assert "report" in named
