"""The public surface: names, laziness, layers, docstrings."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gaussdyn

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gaussdyn"
NAMES = [
    "Acceleration", "ComplementarityProblem", "ContactLaw", "EventDriven", "InputError", "LagrangianSystem",
    "LinearComplementarity", "MoreauJean", "PlanarSystem", "Position", "QuadraticProgram", "SpatialSystem", "State",
    "Trajectory", "UserSystem", "Velocity", "admissible_set", "assemble", "audit", "build", "check_system",
    "crosscheck", "explore", "gauss_program", "outcome", "plot", "resolve", "simulate", "snapshot", "solve",
]  # fmt: skip
HEAVY = (
    "numba",
    "scipy",
    "cvxpy",
    "osqp",
    "clarabel",
    "h5py",
    "sympy",
    "numpy",
    "plotly",
    "matplotlib",
    "typer",
    "rich",
)


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.strip()


def test_the_public_names_are_these() -> None:
    assert gaussdyn.__all__ == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_exists_and_says_what_it_is(name: str) -> None:
    value = getattr(gaussdyn, name)
    assert value.__doc__
    assert name in dir(gaussdyn)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'utils'"):
        _ = gaussdyn.utils  # type: ignore[attr-defined]


def test_types_and_names_agree() -> None:
    """What type checkers see (TYPE_CHECKING), what __all__ lists, and what is found at run time are the same."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: f"gaussdyn.{node.module}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(seen) == sorted(NAMES)
    for name, module in seen.items():
        assert getattr(sys.modules.get(module) or __import__(module, fromlist=[name]), name) is getattr(gaussdyn, name)


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = run_python("import sys, gaussdyn; print(*sys.modules)").split()
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["solve", "--help"], ["--version"]])
def test_help_is_quick_because_it_loads_no_mathematics(words: list[str]) -> None:
    code = f"""
import contextlib, io, sys
from gaussdyn.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main({words!r})
print(*sys.modules)
"""
    loaded = run_python(code).split()
    assert [name for name in HEAVY if name in loaded and name not in ("typer", "rich")] == []


def test_scenes_can_be_listed_without_compiling() -> None:
    code = """
import contextlib, io, sys
from gaussdyn.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(["scenes"])
print(*sys.modules)
"""
    loaded = run_python(code).split()
    assert "gaussdyn.scenes.catalogue" in loaded
    assert "numba" not in loaded
    assert "cvxpy" not in loaded


def test_floors_import_downwards_only() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    if not lint.exists():
        pytest.skip("import-linter is not installed (it comes with the extra dev)")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


def undocumented(node: ast.Module | ast.ClassDef) -> list[str]:
    """Names of public classes, functions and methods without a docstring."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    public = [part for part in node.body if isinstance(part, kinds) and not part.name.startswith("_")]
    inside = [name for part in public if isinstance(part, ast.ClassDef) for name in undocumented(part)]
    return [part.name for part in public if not ast.get_docstring(part)] + inside


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_are_documented_and_of_readable_size(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree) or not text.strip()
    assert undocumented(tree) == []
    assert len(text.splitlines()) <= 500


def test_license_and_citation_are_there() -> None:
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("BSD 3-Clause")
    assert gaussdyn.__version__ in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
