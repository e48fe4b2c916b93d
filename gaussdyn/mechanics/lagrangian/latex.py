"""Equations of motion in LaTeX, in the names that the user gave."""

from __future__ import annotations

import sympy as sp
from sympy.simplify.fu import TR10i

from .equations import Equations, Rows, equations
from .expressions import symbol, symbols
from .model import Element, Model

PARTS = ("N", "T1", "T2", "R1", "R2", "S")

SHORT = 60  # operations up to which products are contracted: longer ones would take seconds


def latex(model: Model) -> str:
    """Return an ``align*`` environment: one equation per coordinate, then the constraints and their laws."""
    derived, names = equations(model), _names(model)
    reactions = [_reactions(element) for element in model.elements]
    lines = [_motion(model, derived, reactions, i, names) for i in range(model.size)]
    for element, rows, names_r in zip(model.elements, derived.rows, reactions, strict=True):
        lines += _laws(element, rows, names_r, names)
    body = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


def _names(model: Model) -> dict[sp.Symbol, str]:
    names = {symbol("t"): "t"}
    for k, coordinate in enumerate(model.coordinates):
        letter = _written(coordinate.name)
        head, _, index = letter.partition("_")
        index = f"_{index}" if index else ""
        names[symbol(f"q{k}")] = letter
        names[symbol(f"v{k}")] = f"\\dot{{{head}}}{index}"
        names[symbol(f"a{k}")] = f"\\ddot{{{head}}}{index}"
    names |= {symbol(f"p{k}"): _written(x.name) for k, x in enumerate(model.parameters)}
    names |= {symbol(f"u{k}"): _written(x) for k, x in enumerate(model.controls)}
    return names


def _written(name: str) -> str:
    """Return a name in LaTeX: Greek letters and indices as sympy has them, words upright."""
    head, _, index = str(sp.latex(sp.Symbol(name))).partition("_")
    head = f"\\mathrm{{{head}}}" if len(head) > 1 and head.isalpha() else head
    return f"{head}_{index}" if index else head


def _motion(model: Model, derived: Equations, reactions: list[list[str]], i: int, names: dict[sp.Symbol, str]) -> str:
    """Return M a = h + J^T r for one coordinate."""
    a = symbols("a", model.size)
    left = sum((_tidy(derived.M[i, j]) * a[j] for j in range(model.size)), sp.S.Zero)
    right, r = _tidy(derived.h[i]), names.copy()
    for rows, named in zip(derived.rows, reactions, strict=True):
        for k, name in enumerate(named):
            force = sp.Dummy(name)
            r[force] = name
            right += _tidy(rows.J[k, i]) * force
    return f"{sp.latex(left, symbol_names=r)} &= {sp.latex(right, symbol_names=r)}"


def _tidy(value: sp.Expr) -> sp.Expr:
    """Return the expanded expression, shorter by squares and differences of angles where that is quickly found."""
    value = sp.expand(value)
    for cosine in value.atoms(sp.cos):
        other = sp.expand(value.subs(cosine**2, 1 - sp.sin(cosine.args[0]) ** 2))
        value = min(value, other, key=sp.count_ops)
    return min(value, TR10i(value), key=sp.count_ops) if value.count_ops() <= SHORT else value


def _reactions(element: Element) -> list[str]:
    """Return the symbols of the reactions of one constraint."""
    label = "\\mathrm{" + element.id.replace("_", "\\_") + "}"
    if element.kind in ("bilateral", "unilateral"):
        return [f"\\lambda_{{{label}}}"]
    parts = ("T1", "T2") if element.kind == "dry" else ("N", "T1", "T2", "S") if element.size == 4 else PARTS
    return [f"r_{{{part},{label}}}" for part in parts[: element.size]]


def _laws(element: Element, rows: Rows, r: list[str], names: dict[sp.Symbol, str]) -> list[str]:
    """Return the constraint and the law of its reaction."""

    def said(value: sp.Expr) -> str:
        """Return an expression in the user's names."""
        return str(sp.latex(_tidy(value), symbol_names=names))

    gap, coefficients = said(rows.gap), dict(zip((n for n, _ in element.coefficients), rows.coefficients, strict=True))
    if element.kind == "bilateral":
        return [f"{gap} &= 0"]
    if element.kind == "unilateral":
        return [f"0 \\le {gap} &\\perp {r[0]} \\ge 0"]
    slips = [f"{said(rate)} &= 0 \\text{{ or slip against }} {name}" for rate, name in _slips(element, rows, r)]
    if element.kind == "dry":
        size, bound = _length(r), said(coefficients["cap"])
    else:
        size, bound = _length(r[1:3]), f"{said(coefficients['mu'])} \\, |{r[0]}|"
    first = {"contact": [f"0 \\le {gap} &\\perp {r[0]} \\ge 0"], "bilateral_contact": [f"{gap} &= 0"]}
    return [*first.get(element.kind, []), *slips, f"{size} &\\le {bound}"]


def _slips(element: Element, rows: Rows, r: list[str]) -> list[tuple[sp.Expr, str]]:
    start = 0 if element.kind == "dry" else 1
    return list(zip(rows.rate, r, strict=True))[start : start + 2]


def _length(r: list[str]) -> str:
    return f"|{r[0]}|" if len(r) == 1 else f"|({', '.join(r)})|"
