"""Expressions as plain data: what is stored, hashed and read back, without evaluating any text.

A tree is a number, the name of a symbol, true or false, or a list of a head and its arguments, e.g.
``["Mul", ["Rational", 1, 2], "p0", ["Pow", "v0", 2]]``. Symbols are ``t``, ``q0``, ``v0`` (rates), ``u0`` (controls)
and ``p0`` (parameters); heads are those of the table below and no others.
"""

from __future__ import annotations

import math

import sympy as sp

from ...errors import InputError
from .model import SYMBOL, Tree

CONSTANTS = {"pi": sp.pi, "E": sp.E}
HEADS = {
    head.__name__: head
    for head in (
        sp.Add, sp.Mul, sp.Pow, sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan, sp.atan2, sp.sinh, sp.cosh, sp.tanh,
        sp.asinh, sp.acosh, sp.atanh, sp.exp, sp.log, sp.Abs, sp.sign, sp.Heaviside, sp.Max, sp.Min, sp.Piecewise,
        sp.StrictLessThan, sp.LessThan, sp.StrictGreaterThan, sp.GreaterThan, sp.Equality, sp.Unequality,
        sp.And, sp.Or, sp.Not,
    )
}  # fmt: skip
LARGEST = 2**53  # integers up to this are exact as floats
DEEPEST = 100  # well below where Python's stack ends, also in what sympy does with it


def symbol(name: str) -> sp.Symbol:
    """Return the real symbol of a canonical name, e.g. ``q0``."""
    return sp.Symbol(name, real=True)


def symbols(letter: str, count: int) -> list[sp.Symbol]:
    """Return the symbols of a letter, e.g. q0, q1, q2."""
    return [symbol(f"{letter}{k}") for k in range(count)]


def to_tree(name: str, expression: sp.Basic, depth: int = 0) -> Tree:
    """Return an expression in canonical symbols as a tree.

    Raises
    ------
    InputError
        A function or a number that has no tree (complex, infinite, an integral, an unknown function).
    """
    if depth > DEEPEST:
        raise InputError(
            name, f"an expression nested {depth} deep", f"at most {DEEPEST}", "Write sympy.simplify(expression)."
        )
    if expression.is_Number or expression in (sp.pi, sp.E):
        return _number(name, expression)
    if isinstance(expression, sp.Symbol):
        return str(expression.name)
    if expression in (sp.true, sp.false):
        return bool(expression)
    if isinstance(expression, sp.Piecewise):
        pairs = [[to_tree(name, part, depth + 1) for part in pair] for pair in expression.args]
        return ["Piecewise", *pairs]
    head = expression.func.__name__
    if HEADS.get(head) is not expression.func:
        raise InputError(
            name,
            f"{head} in {expression}",
            f"numbers, symbols, and {', '.join(sorted(HEADS))}",
            "Write sympy.Piecewise or sqrt(x**2) with these.",
        )
    return [head, *(to_tree(name, part, depth + 1) for part in expression.args)]


def _number(name: str, value: sp.Basic) -> Tree:
    for word, constant in CONSTANTS.items():
        if value == constant:
            return [word]
    if isinstance(value, sp.Integer) and abs(value) <= LARGEST:
        return int(value)
    if isinstance(value, sp.Rational) and not isinstance(value, sp.Integer) and max(abs(value.p), value.q) <= LARGEST:
        return ["Rational", int(value.p), int(value.q)]
    x = float(value)
    if not math.isfinite(x):
        raise InputError(name, str(value), "finite numbers", "Write sympy.Rational(1, 3), sympy.pi or 0.5.")
    return x


def to_sympy(name: str, tree: Tree, depth: int = 0) -> sp.Basic:
    """Return the expression of a tree, as it stands: nothing in it is evaluated.

    Raises
    ------
    InputError
        Anything that is not a tree.
    """
    if depth > DEEPEST + 1:
        raise InputError(name, "a tree nested too deep", f"at most {DEEPEST}", "Write sympy.simplify(expression).")
    if isinstance(tree, bool):
        return sp.true if tree else sp.false
    if isinstance(tree, int):
        return sp.Integer(tree)
    if isinstance(tree, float) and math.isfinite(tree):
        return sp.Float(tree)
    if isinstance(tree, str) and SYMBOL.fullmatch(tree):
        return symbol(tree)
    if not isinstance(tree, (list, tuple)) or not tree or not isinstance(tree[0], str):
        raise InputError(
            name,
            repr(tree),
            "a number, a symbol (t, q0, v0, p0, u0), or a list of a head and arguments",
            'Write ["Add", "q0", 1].',
        )
    return _compound(name, tree[0], tree[1:], depth)


def _compound(name: str, head: str, rest: Tree, depth: int) -> sp.Basic:
    if head in CONSTANTS and not rest:
        return CONSTANTS[head]
    if head == "Rational" and _is_ratio(rest):
        return sp.Rational(*rest)
    if head not in HEADS or not rest:
        raise InputError(
            name,
            repr(head),
            ", ".join(sorted([*HEADS, *CONSTANTS, "Rational"])),
            "Write sympy.sin(...), or another of them.",
        )
    if head == "Piecewise" and all(_is_pair(part) for part in rest):
        return sp.Piecewise(*(_parts(name, pair, depth) for pair in rest), evaluate=False)
    parts = _parts(name, rest, depth)
    try:  # a Piecewise of something else ends here too
        return HEADS[head](*parts, evaluate=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            name, f"{head} of {len(parts)} arguments", "as many as it takes", f"{error}: sympy.{head}(...)"
        ) from None


def _parts(name: str, trees: Tree, depth: int) -> tuple[sp.Basic, ...]:
    return tuple(to_sympy(name, part, depth + 1) for part in trees)


def _is_ratio(rest: Tree) -> bool:
    return len(rest) == 2 and all(type(part) is int for part in rest) and rest[1] > 0


def _is_pair(tree: Tree) -> bool:
    return isinstance(tree, (list, tuple)) and len(tree) == 2
