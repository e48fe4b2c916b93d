"""When dry friction can hold a system at rest: |F(q)| <= C(q), with its derivatives over numbers and over intervals.

At rest M a = h + J^T r = 0 gives the friction that is needed, r = -J^-T h; F = -r is what pulls. A normal reaction is
found in the same way, with the gap closed: C = mu_s N. Source: Ivanov (2009), section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from ...arrays import Array
from ...errors import InputError
from ...linalg.intervals import FUNCTIONS, HALF_PI, Interval
from ...mechanics.lagrangian.equations import Rows, equations
from ...mechanics.lagrangian.expressions import symbol, symbols
from ...mechanics.lagrangian.model import Element, Model
from ...mechanics.lagrangian.system import LagrangianSystem
from ...mends import one_of

KINKED = (sp.Abs, sp.sign, sp.Heaviside, sp.Max, sp.Min, sp.Piecewise, sp.atan2)
Values = Callable[[Sequence[Any]], list[Any]]


class Smooth:
    """A function g(q, lam) with its first and second derivatives, over intervals and over numbers.

    Parameters
    ----------
    g : expression
        In canonical symbols.
    x : sequence of symbols
        q and the parameter that moves, last.
    p : sequence of symbols
        The other parameters.
    values : Array
        Their values.
    """

    __slots__ = ("_exact", "_plain", "_values", "g", "p", "values", "x")

    def __init__(self, g: sp.Expr, x: Sequence[sp.Symbol], p: Sequence[sp.Symbol], values: Array) -> None:
        self.g, self.x, self.p, self.values = g, tuple(x), tuple(p), values
        self._exact: dict[tuple[int, ...], Values] = {}
        self._plain: dict[tuple[int, ...], Values] = {}

    def at(self, X: Sequence[Interval], *index: int) -> Interval:
        """Return the derivative with respect to x[i], x[j], .. over boxes."""
        if index not in self._exact:
            self._exact[index] = _over_intervals(self.derivative(*index), (*self.x, *self.p))
        found: Interval = self._exact[index]([*X, *map(float, self.values)])[0]
        return Interval(*np.broadcast_arrays(found.lo, found.hi, X[0].lo)[:2])

    def number(self, x: Sequence[Any], *index: int) -> Any:
        """Return the derivative at points: numbers or arrays."""
        if index not in self._plain:
            self._plain[index] = sp.lambdify([(*self.x, *self.p)], [self.derivative(*index)], "numpy")
        return self._plain[index]([*x, *map(float, self.values)])[0]

    def derivative(self, *index: int) -> sp.Expr:
        """Return the derivative as an expression."""
        return _derivative(self.g, tuple(self.x[i] for i in sorted(index)))


@lru_cache(maxsize=512)
def _derivative(g: sp.Expr, by: tuple[sp.Symbol, ...]) -> sp.Expr:
    return sp.diff(g, *by) if by else g


@lru_cache(maxsize=512)
def _over_intervals(g: sp.Expr, arguments: tuple[sp.Symbol, ...]) -> Values:
    """Return a function over intervals; fractions and pi become the intervals that hold them."""
    square_root, constants = sp.Function("sqrt"), {}
    g = g.replace(lambda e: e.is_Pow and e.exp == sp.Rational(1, 2), lambda e: square_root(e.base))
    g = g.replace(lambda e: e.is_Pow and e.exp == sp.Rational(-1, 2), lambda e: 1 / square_root(e.base))
    g = g.replace(lambda e: e.is_Pow and e.exp.is_number and not e.exp.is_Integer,
                  lambda e: sp.Function("exp")(e.exp * sp.Function("log")(e.base)))  # fmt: skip
    for number in (g.atoms(sp.Rational) - g.atoms(sp.Integer)) | g.atoms(sp.NumberSymbol):
        constants[number] = sp.Dummy(real=True)
    names = tuple(constants.values())
    function = sp.lambdify([(*arguments, *names)], [g.xreplace(constants)], modules=[{**FUNCTIONS}], cse=True)
    held = [_held(number) for number in constants]

    def values(X: Sequence[Any]) -> list[Any]:
        """Return g over the boxes X."""
        return [x if isinstance(x, Interval) else Interval(x) for x in function([*X, *held])]

    return values


def _held(number: sp.Expr) -> Interval:
    if number == sp.pi:
        return HALF_PI * 2.0
    x = float(number)
    return Interval(np.nextafter(x, -np.inf), np.nextafter(x, np.inf))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RestConditions:
    """Where friction holds a system: `rough` <= 0 and, for a contact that can only push, `pushes` >= 0.

    Attributes
    ----------
    names, units : tuple of str
        Of the coordinates q over which the family lies: one or two.
    parameter, unit : str
        What moves.
    F, C : expression
        Pull along the slip (one or two components) and what friction can hold.
    sides : tuple of Smooth
        One coordinate: F - C (its zeros are L+) and -F - C (L-); both must be <= 0.
    phi : Smooth
        |F|^2 - C^2.
    pushes : Smooth or None
        The normal reaction.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    parameter: str
    unit: str
    F: tuple[sp.Expr, ...]
    C: sp.Expr
    sides: tuple[Smooth, ...]
    phi: Smooth
    pushes: Smooth | None

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.names)


def rest_conditions(system: object, parameter: str) -> RestConditions:
    """Derive the conditions of rest.

    Parameters
    ----------
    system : LagrangianSystem
        One constraint with friction (`Friction` or `Contact`), as many rows as coordinates.
    parameter : str
        Name of the parameter that moves.

    Raises
    ------
    InputError
        Another kind of system; forces or slip that depend on the time; a slip that does not vanish at rest; functions
        with kinks.
    """
    system, model = _checked(system, parameter)
    element, rows, h = _derived(model)
    n, moved = model.size, list(system.params).index(parameter)
    q = symbols("q", n)
    r = -(rows.J.T).LUsolve(h)
    keep, closed = _closed(element, rows, q)
    dry = element.kind == "dry"
    F = tuple(_smooth(name_of(element), (-part).subs(closed)) for part in (r if dry else r[1:, :]))
    C = _smooth(name_of(element), sp.sympify(_largest(element, rows, r[0])).subs(closed))
    p = symbols("p", len(model.parameters))
    x, others = [*(q[k] for k in keep), p[moved]], [s for k, s in enumerate(p) if k != moved]
    values = np.array([value for k, value in enumerate(system.params.values()) if k != moved])
    phi = sum((part**2 for part in F), sp.S.Zero) - C**2
    return RestConditions(
        names=tuple(model.coordinates[k].name for k in keep), units=tuple(model.coordinates[k].unit for k in keep),
        parameter=parameter, unit=model.parameters[moved].unit, F=F, C=C,
        sides=tuple(Smooth(g, x, others, values) for g in _sides(element, F, C, phi)),
        phi=Smooth(phi, x, others, values),
        pushes=Smooth(r[0].subs(closed), x, others, values) if element.kind == "contact" and len(F) == 2 else None,
    )  # fmt: skip


def _checked(system: object, parameter: str) -> tuple[LagrangianSystem, Model]:
    """Return the system and its model, which has this parameter."""
    if not isinstance(system, LagrangianSystem):
        mend = "Its derivatives prove what is found: write it as a LagrangianSystem(...)."
        raise InputError("system", type(system).__name__, "a LagrangianSystem with Friction or Contact", mend)
    if parameter not in system.params:
        raise InputError(
            "parameter",
            repr(parameter),
            ", ".join(system.params) or "none",
            one_of("parameter", parameter, system.params) or "Write parameters={...}.",
        )
    return system, system.model


def _largest(element: Element, rows: Rows, N: sp.Expr) -> Any:
    """Return the largest friction at rest: a cap, or mu_s times the normal reaction."""
    coefficients = dict(zip((name for name, _ in element.coefficients), rows.coefficients, strict=True))
    if element.kind == "dry":
        return coefficients.get("cap_s", coefficients.get("cap"))
    return coefficients.get("mu_s", coefficients["mu"]) * N


def _sides(element: Element, F: tuple[sp.Expr, ...], C: sp.Expr, phi: sp.Expr) -> list[sp.Expr]:
    """Return what must be <= 0 at rest with one coordinate; a contact that can pull has C of both signs: phi."""
    if len(F) > 1:
        return []
    return [phi] if element.kind == "bilateral_contact" else [F[0] - C, -F[0] - C]


def name_of(element: Element) -> str:
    """Return how a constraint is called in messages."""
    return f"constraint {element.id!r}"


def _derived(model: Model) -> tuple[Element, Rows, sp.Matrix]:
    """Return the one constraint with friction, its rows and the forces, at rest."""
    elements = model.elements
    rough = [k for k, e in enumerate(elements) if e.kind in ("dry", "contact", "bilateral_contact")]
    sizes = [elements[k].size for k in rough]
    if (
        len(elements) != 1
        or not rough
        or sizes != [model.size]
        or model.size - (elements[0].kind != "dry") not in (1, 2)
    ):
        given = f"{model.size} coordinates, constraints {[f'{e.id}: {e.kind}, {e.size} rows' for e in elements]}"
        raise InputError("system", given, "one constraint with friction, with as many rows as there are coordinates, "
                         "one or two of them with friction", "Look at one state: gaussdyn outcome SCENE.")  # fmt: skip
    found = equations(model)
    still = dict.fromkeys((*symbols("v", model.size), *symbols("u", len(model.controls))), 0)
    h, rows = found.h.subs(still), found.rows[0]
    rate = sp.simplify(rows.rate.subs(still))
    t = symbol("t")
    if not rate.is_zero_matrix:
        mend = "On a moving belt a body at rest slips: its equilibria are single points: slip=xdot for a floor at rest."
        raise InputError(name_of(elements[0]), f"slip {list(rate)} at rest", "a slip that vanishes at rest", mend)
    if t in h.free_symbols or t in rows.J.free_symbols:
        raise InputError(
            "forces",
            "a force that depends on the time t",
            "forces of q alone at rest",
            "Look at one state instead: gaussdyn outcome SCENE.",
        )
    J = rows.J.subs(still)
    if sp.simplify(J.det()) == 0:
        raise InputError(
            name_of(elements[0]),
            "dependent rows",
            "independent slip along every coordinate",
            "Leave one of them out: constraints=[...].",
        )
    return elements[0], Rows(gap=rows.gap, J=J, rate=rate, drift=rows.drift, coefficients=rows.coefficients), h


def _closed(element: Element, rows: Rows, q: list[sp.Symbol]) -> tuple[list[int], dict[sp.Symbol, sp.Expr]]:
    """Return the coordinates that remain, and the one that the closed gap gives."""
    if element.kind == "dry":
        return list(range(len(q))), {}
    for k, one in reversed(list(enumerate(q))):
        slope = sp.simplify(rows.gap.diff(one))
        if slope.is_number and slope != 0:
            return [j for j in range(len(q)) if j != k], {one: sp.expand(one - rows.gap / slope)}
    raise InputError(
        name_of(element),
        f"gap {rows.gap}",
        "a gap y - f(x): linear in one of the coordinates",
        'Write it as y - f(x): Contact(gap="y - x**2").',
    )


def _smooth(name: str, expression: sp.Expr) -> sp.Expr:
    """Return the expression, if it has derivatives everywhere."""
    expression = sp.sympify(expression)
    kinks = sorted({type(part).__name__ for kind in KINKED for part in expression.atoms(kind)})
    if kinks:
        raise InputError(
            name,
            f"{', '.join(kinks)} in {expression}",
            "smooth functions of q",
            "Write sqrt(x**2 + 1e-6) instead of Abs(x).",
        )
    return expression
