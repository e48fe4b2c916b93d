"""The sources of the project as trees, each made once for all the tests that look at them."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HOLDS_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)


@cache
def tree(path: Path) -> ast.Module:
    """Return the tree of a file, which is for reading."""
    found = ast.parse(path.read_text(encoding="utf-8"))
    gc.freeze()  # two million nodes that stay: looking for waste among them takes longer than the tests
    return found


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield all statements below a node: imports and definitions are found so, without a look at expressions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, HOLDS_STATEMENTS):
            if isinstance(child, ast.stmt):
                yield child
            yield from statements(child)
