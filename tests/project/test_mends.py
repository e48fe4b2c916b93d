"""Every error of a caller says what to write instead: a line of code, an option or a command.

What is known in the source is looked at here; MENDS=asked lets all tests ask the errors that they meet.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gaussdyn
from gaussdyn import InputError
from gaussdyn.mends import in_order, meant, numbers, one_number, one_of
from tests.mended import says_code
from tests.sources import statements, tree

pytestmark = pytest.mark.xdist_group("sources")  # trees are made once
PACKAGE = Path(gaussdyn.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
SOMETHING = ("'ball'", "3")  # stand for what is known only when the error is raised: as it is written, or any text


def literal(node: ast.expr) -> str:
    """Return a text as far as the source knows it; empty where all of it is put together elsewhere."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = [one.value if isinstance(one, ast.Constant) else SOMETHING[one.conversion == -1] for one in node.values]
        return "" if parts[-1] == SOMETHING[True] else "".join(map(str, parts))
    if isinstance(node, ast.BinOp):
        sides = literal(node.left), literal(node.right)
        return "".join(sides) if all(sides) else ""
    return ""


def ways(node: ast.expr, scope: ast.AST) -> list[ast.expr]:
    """Return what a mend may be: the sides of a choice, and what is assigned to a name within the function."""
    if isinstance(node, ast.IfExp):
        return [*ways(node.body, scope), *ways(node.orelse, scope)]
    if isinstance(node, ast.Name):
        given = [one for one in ast.walk(scope) if isinstance(one, ast.Assign)]
        named = [one.value for one in given if any(ast.unparse(name) == node.id for name in one.targets)]
        return [way for value in named for way in ways(value, scope)] or [node]
    return [node]


def errors(path: Path) -> list[tuple[ast.Call, ast.AST]]:
    """Return the calls that make an error, with the function (or the module) in which they stand."""
    if "InputError(" not in path.read_text(encoding="utf-8"):
        return []
    whole = tree(path)
    functions = [node for node in statements(whole) if isinstance(node, ast.FunctionDef)]
    home = {id(node): function for function in functions for node in ast.walk(function)}  # the innermost comes last
    calls = [node for node in ast.walk(whole) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return [(call, home.get(id(call), whole)) for call in calls if call.func.id == "InputError"]


def mended(call: ast.Call, scope: ast.AST) -> bool:
    """Return whether a mend is given, with code in it where the source knows it."""
    if any(isinstance(part, ast.Starred) for part in call.args):
        return True  # what is allowed and the mend, from `nearest`
    mend = call.args[3] if len(call.args) > 3 else next((k.value for k in call.keywords if k.arg == "mend"), None)
    return mend is not None and all(says_code(literal(way) or "x()") for way in ways(mend, scope))


def test_every_error_says_what_to_write() -> None:
    found = [
        (path.relative_to(PACKAGE), ast.unparse(call))
        for path in FILES
        for call, scope in errors(path)
        if not mended(call, scope)
    ]
    assert found == []


LINES = [
    (one_number("radius", 0.0, open_low=True), "Write radius=0.05."),
    (one_number("theta", 0.5, 1.0), "Write theta=0.5."),
    (one_number("gap", 0.0), "Write gap=1."),
    (one_number("mu", 0.7, 0.9, open_low=True), "Write mu=0.8."),
    (one_number("--dt", 0.0), "Write --dt 0.001."),
    (numbers("at", 3), "Write at=[0.0, 0.0, 0.0]."),
    (numbers("half of brick", 3), "Write half=(0.1, 0.1, 0.1)."),
    (numbers("gravity", 2), "Write gravity=(0.0, -9.81)."),
    (numbers("place of ball", 2), "Write place={'ball': (0.0, 0.1)}."),
    (numbers("rates of hip (angle)", 1), "Write rates={'hip': [0.0]}."),
    (numbers("J", 2, 3), "Write J=numpy.zeros((2, 3))."),
    (numbers("mass(q)", 3, 3), "Write def mass(q): return numpy.eye(3)."),
    (numbers("q"), "Write q=[0.0, 0.0]."),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_the_line_for_numbers(line: str, expected: str) -> None:
    assert line == expected


def test_words_and_ranges() -> None:
    assert one_of("on_failure", "recod", ("stop", "record")) == "Write on_failure='record'."
    assert one_of("rule", 3, ("limit", "instant")) == "Write rule='limit'."
    assert meant("bal", ("ball", "floor")) == "Did you mean ball? Write 'ball'."
    assert in_order("between", 2.0, 1.0) == "Write between=(1, 2)."


def test_lines_are_taken() -> None:
    """What a message says to write is what the same call takes."""
    from gaussdyn import ContactLaw, MoreauJean

    for wrong in (lambda: ContactLaw(mu=-1.0), lambda: MoreauJean(dt=0.0), lambda: MoreauJean(theta=3.0)):
        with pytest.raises(InputError) as caught:
            wrong()
        line = caught.value.mend.removeprefix("Write ").removesuffix(".")
        cls = MoreauJean if caught.value.name in ("dt", "theta") else ContactLaw
        eval(f"cls({line})", {"cls": cls})


def test_what_a_status_is_explained_with_can_be_typed() -> None:
    from gaussdyn.cli.explain.explanations import explanations

    assert [word for word, one in explanations().items() if not any(map(says_code, one.tries))] == []


def test_the_first_slips_of_a_newcomer() -> None:
    """A time in the place of the state, one body without its list, what no joint is called."""
    from gaussdyn import PlanarSystem, build, simulate
    from gaussdyn.mechanics.planar import JointFriction, box

    rod = box("rod", mass=1.0, width=1.0, height=0.1)
    with pytest.raises(InputError, match=r"Write simulate\(scene, t_end=0\.01\)"):
        simulate(build("incline"), 0.01)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"Write bodies=\[\.\.\.\], also for one"):
        PlanarSystem(bodies=rod)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"nothing, for there is none\. Leave 'hip' out"):
        PlanarSystem(bodies=[rod], joints=[JointFriction(joint="hip", cap=1.0)])
    with pytest.raises(InputError, match=r"Write place=\{'rod': \(0\.0, 0\.1, 0\.0\)\}"):
        PlanarSystem(bodies=[rod]).state({"rod": (0.0, 1.0)})


def test_where_a_file_cannot_be_written_its_folder_is_named(tmp_path: Path) -> None:
    from gaussdyn import build, simulate

    run = simulate(build("incline"), t_end=0.01)
    for write, name in ((run.save, "run.h5"), (run.view, "run.html")):
        with pytest.raises(InputError, match=f"mkdir -p {tmp_path}/none"):
            write(tmp_path / "none" / name)  # type: ignore[operator]


@pytest.mark.slow
def test_a_study_at_the_top_of_a_script_says_so_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text('from gaussdyn import study\nstudy("incline", {"mu": [0.1, 0.2]}, "block.speed", where=2)\n')
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.stderr.count("Traceback") == 1
    assert "if __name__ ==" in done.stderr.splitlines()[-1]
