"""The equations of motion that follow from energies, forces and constraints, derived with sympy.

With T = 1/2 v.M v + b.v + c (b, c from explicit time dependence) and p = dT/dv Lagrange's equations are

    M a = h + reactions,    h = Q - dV/dq + dT/dq - (dp/dq) v - dp/dt,

and the energy 1/2 v.M v + V of the protocol changes with the power v.Q + dV/dt - v.db/dt + v.dc/dq.
The rate of a row is psi(t, q, v), or the total derivative of phi(t, q); its Jacobian is d rate/dv and its drift term
d rate/dt + (d rate/dq) v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations

import sympy as sp

from ...errors import InputError
from .expressions import symbol, symbols, to_sympy
from .model import Element, Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """One constraint, derived.

    Attributes
    ----------
    gap : expression
    J : Matrix, shape (k, n)
    rate, drift : Matrix, shape (k, 1)
    coefficients : list of expressions
    """

    gap: sp.Expr
    J: sp.Matrix
    rate: sp.Matrix
    drift: sp.Matrix
    coefficients: list[sp.Expr]


@dataclass(frozen=True, slots=True, kw_only=True)
class Equations:
    """A system, derived: M (n, n), h (n, 1), energies and the rows of every constraint."""

    M: sp.Matrix
    h: sp.Matrix
    potential: sp.Expr
    kinetic: sp.Expr
    power: sp.Expr
    rows: tuple[Rows, ...]

    def flat(self) -> list[sp.Expr]:
        """Return every value in the order of `Layout`."""
        values = [*self.M, *self.h, self.potential, self.kinetic, self.power]
        for rows in self.rows:
            values += [rows.gap, *rows.J, *rows.rate, *rows.drift, *rows.coefficients]
        return values


def equations(model: Model) -> Equations:
    """Derive the equations of motion of a model.

    Raises
    ------
    InputError
        A kinetic energy that is not quadratic in the velocities, or whose mass matrix depends on the time.
    """
    n, t = model.size, symbol("t")
    q, v = sp.Matrix(symbols("q", n)), sp.Matrix(symbols("v", n))
    T, V = to_sympy("kinetic", model.kinetic), to_sympy("potential", model.potential)
    Q = sp.Matrix([to_sympy("forces", force) for force in model.forces])
    rest = dict.fromkeys(v, sp.S.Zero)
    p = _gradient(T, v)
    M, b, c = _mass(p, v), p.xreplace(rest).doit(), T.xreplace(rest).doit()
    h = Q - _gradient(V, q) + _gradient(T, q) - p.jacobian(q) * v - p.diff(t)
    power = v.dot(Q) + V.diff(t) + v.dot(_gradient(c, q) - b.diff(t))
    rows = tuple(_rows(element, q, v) for element in model.elements)
    return Equations(M=M, h=h, potential=V, kinetic=T, power=sp.sympify(power), rows=rows)


def dynamics(model: Model) -> list[sp.Expr]:
    """Return M, h, energies and rows, flat in the order of `Layout`."""
    return equations(model).flat()


def coriolis(model: Model) -> list[sp.Expr]:
    """Return the part of h that is quadratic in the velocities by the mass, (v.M v)' / 2 - (dM/dt) v."""
    q, v = (sp.Matrix(symbols(letter, model.size)) for letter in "qv")
    p = _gradient(to_sympy("kinetic", model.kinetic), v)
    p -= p.xreplace(dict.fromkeys(v, sp.S.Zero)).doit()
    return [*(_gradient(p.dot(v) / 2, q) - p.jacobian(q) * v)]


def drawing(model: Model) -> list[sp.Expr]:
    """Return the coordinates of all corners to draw, flat."""
    return [to_sympy(name, x) for name, points in model.drawing for point in points for x in point]


def _gradient(f: sp.Expr, x: sp.Matrix) -> sp.Matrix:
    """Return df/dx as a column."""
    return sp.Matrix([f.diff(xi) for xi in x])


def _mass(p: sp.Matrix, v: sp.Matrix) -> sp.Matrix:
    """Return dp/dv, each pair of entries derived once."""
    n, entries = len(v), {}
    for i in range(n):
        for j in range(i + 1):
            entries[i, j] = entries[j, i] = _mass_entry(p[i].diff(v[j]), v)
    return sp.Matrix(n, n, lambda i, j: entries[i, j])


def _mass_entry(entry: sp.Expr, v: sp.Matrix) -> sp.Expr:
    held = entry.free_symbols & set(v)
    if held:
        entry = sp.simplify(entry)
        held = entry.free_symbols & set(v)
    if held:
        mend = "Lagrange's function is T - V here: what is not quadratic goes into forces={...}."
        raise InputError("kinetic", f"d2T/dv2 depends on {held.pop()}", "quadratic in the velocities", mend)
    if symbol("t") in entry.free_symbols:
        mend = (
            "A mass matrix depends on q alone. Make what is prescribed a coordinate s of its own (with any mass) and "
            "prescribe it by Holonomic(s - s(t))."
        )
        raise InputError("kinetic", "a mass matrix that depends on the time t", "d2T/dv2 free of t", mend)
    return entry


def _rows(element: Element, q: sp.Matrix, v: sp.Matrix) -> Rows:
    parts = [to_sympy(element.id, tree) for tree in element.expressions]
    t, gap = symbol("t"), parts[0]
    if element.level == "position":
        parts[0] = gap.diff(t) + _gradient(gap, q).dot(v)
    elif element.kind == "dry":
        gap = sp.S.Zero  # nothing is to be kept at zero
    rate = sp.Matrix(parts)
    return Rows(
        gap=gap,
        J=rate.jacobian(v),
        rate=rate,
        drift=rate.diff(t) + rate.jacobian(q) * v,
        coefficients=[to_sympy(f"{name} of {element.id}", tree) for name, tree in element.coefficients],
    )


def curvature(model: Model) -> list[sp.Expr]:
    """Return all second and third derivatives of the position constraints with respect to q, flat.

    For each of them d2 phi, shape (n, n), then d3 phi, shape (n, n, n); equal entries are derived once.
    """
    q = symbols("q", model.size)
    values: list[sp.Expr] = []
    for element in model.positions:
        phi = to_sympy(element.id, element.expressions[0])
        second = _derivatives({(): phi}, q, 2)
        values += _filled(second, len(q), 2) + _filled(_derivatives(second, q, 3), len(q), 3)
    return values


def _derivatives(
    lower: dict[tuple[int, ...], sp.Expr], q: Sequence[sp.Symbol], order: int
) -> dict[tuple[int, ...], sp.Expr]:
    """Return derivatives by ascending index tuples, from those of any lower order."""
    found: dict[tuple[int, ...], sp.Expr] = {}
    for index in combinations_with_replacement(range(len(q)), order):
        known = next(index[:k] for k in range(order, -1, -1) if index[:k] in lower)
        value = lower[known]
        for i in index[len(known) :]:
            value = value.diff(q[i])
        found[index] = value
    return found


def _filled(values: dict[tuple[int, ...], sp.Expr], n: int, order: int) -> list[sp.Expr]:
    """Return the full symmetric array, flat."""
    flat = [sp.S.Zero] * n**order
    for index, value in values.items():
        for way in set(permutations(index)):
            place = 0
            for i in way:
                place = place * n + i
            flat[place] = value
    return flat
