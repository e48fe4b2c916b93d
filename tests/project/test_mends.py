"""Every error of a caller says what to write instead: a line of code, an option or a command."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import gaussdyn
from gaussdyn import InputError
from gaussdyn.mends import line_for, says_code

PACKAGE = Path(gaussdyn.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
SOMETHING = "3"  # stands for what is known only when the error is raised


def literal(node: ast.expr | None) -> str | None:
    """Return a text as far as the source knows it; None for what is put together elsewhere."""
    if node is None:
        return ""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        if isinstance(node.values[0], ast.FormattedValue) and isinstance(node.values[0].value, ast.Name):
            return None
        return "".join(part.value if isinstance(part, ast.Constant) else SOMETHING for part in node.values)
    if isinstance(node, ast.BinOp):
        sides = literal(node.left), literal(node.right)
        return None if None in sides else "".join(map(str, sides))
    if isinstance(node, ast.IfExp):
        return literal(node.body) or literal(node.orelse)
    return None


def errors(path: Path) -> list[ast.Call]:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "InputError"]


def mended(call: ast.Call) -> bool:
    """Return whether the message has code in it, or allows something of a form from which code follows."""
    if any(isinstance(part, ast.Starred) for part in call.args):
        return True  # names that are known, see `nearest`
    name, given, allowed = map(literal, call.args[:3])
    own = call.args[3] if len(call.args) > 3 else next((k.value for k in call.keywords if k.arg == "mend"), None)
    mend = literal(own)
    if mend is None or allowed is None:  # put together from parts, such as the words or bounds that are allowed
        return True
    return says_code(mend) or says_code(allowed) or bool(line_for(name or "name", given or "", allowed))


def test_every_error_says_what_to_write() -> None:
    found = [
        (path.relative_to(PACKAGE), ast.unparse(call)) for path in FILES for call in errors(path) if not mended(call)
    ]
    assert found == []


LINES = [
    ("radius", "-1", "a number > 0", "radius=0.05"),
    ("theta", "2", "a number >= 0.5 and <= 1", "theta=0.5"),
    ("gap", "-1", "a number >= 0", "gap=0"),
    ("--steps", "3", "at least 25, for which a control is held", "--steps 25"),
    ("--set mu", "-1", "0 to 2", "--set mu=0"),
    ("on_failure", "'recod'", "stop, record", "on_failure='record'"),
    ("project", "3", "True or False", "project=True"),
    ("axis", "0", "a direction: three numbers that are not all zero", "axis=(0.0, 0.0, 1.0)"),
    ("at", "shape (2,)", "a vector of shape (3,)", "at=[0.0, 0.0, 0.0]"),
    ("J", "shape (2,)", "a matrix of shape (2, 3)", "J=numpy.zeros((2, 3))"),
    ("limit of knee", "2 to 1", "low < high", "limit=(1, 2)"),
    ("bodies", "two bodies called 'ball'", "different names", "name='ball2'"),
    ("states", "[]", "a list of at least one State", "states=[State(q=[0.0], v=[0.0])]"),
    ("half of a box", "0", "three numbers > 0", "half=(0.1, 0.1, 0.1)"),
    ("force", "nan at index (0,)", "finite numbers", "numpy.seterr(all='raise') to see where"),
    ("what it is", "", "something else", ""),
]


@pytest.mark.parametrize(("name", "given", "allowed", "line"), LINES)
def test_what_is_allowed_says_what_to_write(name: str, given: str, allowed: str, line: str) -> None:
    assert line_for(name, given, allowed) == line


def test_a_mend_of_its_own_is_not_added_to() -> None:
    assert str(InputError("mu", -1, "a number >= 0", "Write mu=0.3.")).endswith("allowed: a number >= 0. Write mu=0.3.")
    assert InputError("mu", -1, "a number >= 0").mend == "Write mu=0.5"
    assert InputError("method", 3, "a method, e.g. ActiveSet()").mend == ""


def test_lines_are_taken() -> None:
    """What a message says to write is what the same call takes."""
    from gaussdyn import ContactLaw, MoreauJean

    for wrong in (lambda: ContactLaw(mu=-1.0), lambda: MoreauJean(dt=0.0), lambda: MoreauJean(theta=3.0)):
        with pytest.raises(InputError) as caught:
            wrong()
        line = caught.value.mend.removeprefix("Write ")
        cls = MoreauJean if caught.value.name in ("dt", "theta") else ContactLaw
        eval(f"cls({line})", {"cls": cls})


def test_what_a_status_is_explained_with_can_be_typed() -> None:
    from gaussdyn.cli.explanations import explanations

    assert [word for word, one in explanations().items() if not any(map(says_code, one.tries))] == []
