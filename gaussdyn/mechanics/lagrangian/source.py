"""The text of a function that fills a flat array, generated from expressions with common parts computed once."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
from sympy.printing.codeprinter import PrintMethodNotImplementedError
from sympy.printing.pycode import PythonCodePrinter

from ...errors import InputError

HEADER = '''"""Generated from symbols; see gaussdyn.mechanics.lagrangian.system.source."""

from math import acos, acosh, asin, asinh, atan, atan2, atanh, copysign, cos, cosh, e, exp, log, pi, sin, sinh, sqrt
from math import tan, tanh


def evaluate(t, q, v, u, p, out):
'''


class _Printer(PythonCodePrinter):  # type: ignore[misc]
    """Prints numbers as numba and numpy take them alike."""

    def _print_sign(self, expression: sp.Expr) -> str:
        x = self._print(expression.args[0])
        return f"(0.0 if {x} == 0.0 else copysign(1.0, {x}))"

    def _print_Heaviside(self, expression: sp.Expr) -> str:
        x, middle = (self._print(part) for part in expression.args)
        return f"({middle} if {x} == 0.0 else (0.0 if {x} < 0.0 else 1.0))"

    def _print_Integer(self, expression: sp.Integer) -> str:
        return str(int(expression)) if abs(expression) < 2**53 else repr(float(expression))


def source(expressions: Sequence[sp.Expr]) -> str:
    """Return the text of a module with ``evaluate(t, q, v, u, p, out)``, which fills out with the expressions.

    Entries that are zero are written by one loop, equal entries together.

    Raises
    ------
    InputError
        A function that cannot be computed.
    """
    values = [_regular(expression) for expression in expressions]
    nonzero = [value for value in values if value != 0]
    common, reduced = sp.cse(nonzero)
    where = _places(values)
    printer = _Printer({"fully_qualified_modules": False, "allow_unknown_functions": False})
    lines = [f"{name} = {name[0]}[{name[1:]}]" for name in _inputs(nonzero)]
    try:
        lines += [f"{name} = {printer.doprint(value)}" for name, value in common]
        lines += ["for i in range(len(out)):", "    out[i] = 0.0"] if len(nonzero) < len(values) else []
        for value, simple in dict(zip(nonzero, reduced, strict=True)).items():
            targets = " = ".join(f"out[{k}]" for k in where[value])
            lines.append(f"{targets} = {printer.doprint(simple)}")
    except PrintMethodNotImplementedError as error:
        raise InputError(
            "expressions",
            str(error),
            "functions that can be computed in real numbers",
            'Write sympy.Symbol("x", real=True).',
        ) from None
    return HEADER + "".join(f"    {line}\n" for line in lines or ["pass"])


def _regular(value: sp.Expr) -> sp.Expr:
    """Return the expression without the impulses at a jump: they act on a set of measure zero."""
    value = sp.sympify(value)
    jumps = value.atoms(sp.DiracDelta)
    return value.xreplace(dict.fromkeys(jumps, sp.S.Zero)) if jumps else value


def _places(values: Sequence[sp.Expr]) -> dict[sp.Expr, list[int]]:
    where: dict[sp.Expr, list[int]] = {}
    for k, value in enumerate(values):
        where.setdefault(value, []).append(k)
    return where


def _inputs(values: Sequence[sp.Expr]) -> list[str]:
    """Return the names of the symbols q0, v0, u0, p0, .. that occur, sorted."""
    names = {name.name for value in values for name in value.free_symbols} - {"t"}
    return sorted(names, key=lambda name: (name[0], int(name[1:])))
