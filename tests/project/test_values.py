"""Nothing is handed on behind values where motions go from event to event: no memory of modules, no identities."""

from __future__ import annotations

import ast
from pathlib import Path

import gaussdyn

PACKAGE = Path(gaussdyn.__file__).parent
ROOMS = ("contact", "mechanics", "integrate/event_driven", "integrate/impact", "integrate/singular")
PLAIN = {"str", "int", "float", "bool", "Path", "tuple[float, ...]", "tuple[str, ...]"}


def files():
    yield from (path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py")))
    yield from sorted((PACKAGE / "integrate").glob("*.py"))


def remembers(node):
    """Whether answers to a function are kept by what are no plain values, which are found by identity."""
    names = {ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in node.decorator_list}
    said = [ast.unparse(arg.annotation) if arg.annotation else "" for arg in node.args.args]
    return bool(names & {"lru_cache", "cache"}) and any(not (one in PLAIN or one.startswith("type[")) for one in said)


def faults(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id":
            yield node.lineno, "id()"
        if isinstance(node, ast.Import | ast.ImportFrom) and "weakref" in ast.unparse(node):
            yield node.lineno, "weakref"
        if isinstance(node, ast.FunctionDef) and remembers(node):
            yield node.lineno, f"answers of {node.name} kept by identity"
    for node in tree.body:
        value = getattr(node, "value", None)
        entries = getattr(value, "keys", None) or getattr(value, "elts", None)
        if isinstance(value, ast.Dict | ast.List | ast.Set) and not entries:
            yield node.lineno, "a memory of the module"
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from ((one.lineno, "global") for one in ast.walk(node) if isinstance(one, ast.Global))


def test_nothing_is_remembered_by_identity_or_in_modules():
    found = {path: list(faults(ast.parse(path.read_text(encoding="utf-8")))) for path in files()}
    assert not {str(path.relative_to(PACKAGE)): some for path, some in found.items() if some}
