"""The public surface: names, laziness, layers, docstrings."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import gaussdyn
from gaussdyn._former_paths import FORMER
from tests.sources import tree

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gaussdyn"
NAMES = [
    "Acceleration", "ComplementarityProblem", "ContactLaw", "EventDriven", "InputError", "LagrangianSystem",
    "LinearComplementarity", "MoreauJean", "PlanarSystem", "Position", "QuadraticProgram", "SpatialSystem", "State",
    "Tolerance", "Trajectory", "UserSystem", "Velocity", "admissible_set", "assemble", "audit", "build", "check_system",
    "crosscheck", "explore", "fit", "forces", "gauss_program", "outcome", "plot", "read_robot", "resolve", "simulate",
    "snapshot", "solve", "study",
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


def test_public_names_exist_and_say_what_they_are() -> None:
    assert [name for name in NAMES if not getattr(gaussdyn, name).__doc__] == []
    assert set(NAMES) <= set(dir(gaussdyn))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'utils'"):
        _ = gaussdyn.utils  # type: ignore[attr-defined]


def test_types_and_names_agree() -> None:
    """What type checkers see (TYPE_CHECKING), what __all__ lists, and what is found at run time are the same."""
    block = next(node for node in tree(PACKAGE / "__init__.py").body if isinstance(node, ast.If))
    seen = {
        alias.name: f"gaussdyn.{node.module}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(seen) == sorted(NAMES)
    for name, module in seen.items():
        assert getattr(sys.modules.get(module) or __import__(module, fromlist=[name]), name) is getattr(gaussdyn, name)


def faces() -> list[str]:
    """Return the packages that offer names: those that list them."""
    inits = sorted(PACKAGE.rglob("*/__init__.py"))
    found = [init for init in inits if "__all__ = [" in init.read_text(encoding="utf-8")]
    return [".".join(("gaussdyn", *init.parent.relative_to(PACKAGE).parts)) for init in found]


def code_of(path: Path) -> str:
    """Return the Python of a page, a notebook or an example."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        return "\n".join("".join(cell["source"]) for cell in cells)
    if path.suffix == ".md":
        return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    return text


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
TAUGHT = [*PAGES, *(path for path in sorted((ROOT / "examples").iterdir()) if path.suffix in (".py", ".ipynb"))]

MENTIONED = re.compile(r"\bgaussdyn(?:\.[a-zA-Z_]\w*)+")


def taught() -> Iterator[tuple[str, str, str]]:
    """Yield file, module and name of all that pages and examples import of the package."""
    for path in TAUGHT:
        for node in ast.walk(ast.parse(code_of(path))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gaussdyn":
                yield from ((path.name, node.module or "", alias.name) for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from ((path.name, alias.name, "") for alias in node.names if alias.name.startswith("gaussdyn."))


def test_pages_and_examples_import_from_the_root_or_a_face() -> None:
    """One public path per name: the root for what it offers, else the one package that lists the name."""
    known, root = faces(), {*NAMES, "checker"}  # the checker is a program of its own, a module
    wrong = [
        (file, module, name)
        for file, module, name in taught()
        if (name not in root if module == "gaussdyn" else module not in known or name in root)
        or (module != "gaussdyn" and name not in import_module(module).__all__)
    ]
    assert wrong == []


def test_what_pages_mention_is_there() -> None:
    """A dotted name in a page is a public name, a face, or a name that a face offers."""
    known = faces()
    for page in PAGES:
        for path in MENTIONED.findall(page.read_text(encoding="utf-8")):
            home, _, name = path.rpartition(".")
            if path not in known and path not in ("gaussdyn.errors", "gaussdyn.checker"):
                offered = import_module(home).__all__ if home in ("gaussdyn", *known) else ()
                assert name in offered, (page.name, path)


def test_no_two_faces_offer_the_same_thing() -> None:
    """A name of two faces is another thing in each, but for the parts that bodies in the plane and in space share."""
    shared = {"Drive", "Gear", "JointFriction", "Limit", "Motor"}
    offers: defaultdict[str, list[object]] = defaultdict(list)
    for face in faces():
        module = import_module(face)
        assert module.__all__ == sorted(module.__all__), face
        for name in module.__all__:
            offers[name].append(getattr(module, name) if hasattr(module, name) else import_module(f"{face}.{name}"))
    twice = {name for name, found in offers.items() if len({id(one) for one in found}) < len(found)}
    assert twice == shared
    assert all(offers[name][0] is getattr(gaussdyn, name) for name in NAMES if name in offers)


def test_the_root_shows_public_names_only() -> None:
    assert sorted(dir(gaussdyn)) == sorted([*NAMES, "__version__"])


@pytest.mark.parametrize("former", FORMER)
def test_an_earlier_path_gives_the_module_that_is_there_now(former: str) -> None:
    """It says where to import from: a face that offers names of that module, or the root."""
    home, face = FORMER[former]
    sys.modules.pop(f"gaussdyn.{former}", None)
    with pytest.warns(DeprecationWarning, match=f"import from gaussdyn{'.' if face else ''}{face}"):
        found = import_module(f"gaussdyn.{former}")
    assert found is import_module(f"gaussdyn.{home}")
    offered = import_module(f"gaussdyn.{face}" if face else "gaussdyn")
    named = {name for name in offered.__all__ if getattr(offered, name, None) is vars(found).get(name, found)}
    assert named or f"gaussdyn.{home}" in [f"{offered.__name__}.{name}" for name in offered.__all__]


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = run_python("import sys, gaussdyn; print(*sys.modules)").split()
    assert [name for name in HEAVY if name in loaded] == []


def test_help_is_quick_because_it_loads_no_mathematics() -> None:
    code = """
import contextlib, io, sys
from gaussdyn.cli import main
for words in (["--help"], ["run", "--help"], ["solve", "--help"], ["--version"]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(words)
print(*sys.modules)
"""
    loaded = run_python(code).split()
    assert [name for name in HEAVY if name in loaded and name not in ("typer", "rich")] == []


@pytest.mark.slow
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


@pytest.mark.slow  # make check runs it too
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


@pytest.mark.xdist_group("sources")  # trees are made once
def test_files_are_documented_and_of_readable_size() -> None:
    faults = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = len(text.splitlines())
        faults += [(path, name) for name in undocumented(tree(path))]
        faults += [(path, "no docstring")] if text.strip() and not ast.get_docstring(tree(path)) else []
        faults += [(path, f"{lines} lines")] if lines > 500 else []
    assert faults == []


def test_license_and_citation_are_there() -> None:
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("BSD 3-Clause")
    assert gaussdyn.__version__ in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
