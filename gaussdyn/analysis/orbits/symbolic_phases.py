"""The phases of a system from symbols: smooth fields, event functions and jumps, all with derivatives.

A mode is one letter per constraint: o (open), c (closed, or held), s (sticks), + and - (slips along its tangent, or
against it). Everything is derived once per mode and evaluated by plain Python functions, which for the few coordinates
that orbits have is quicker than arrays. State y = (q, v).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from ...arrays import Array
from ...errors import InputError
from ...integrate.contact_modes import CLOSED
from ...integrate.event_driven.event_location import Seen
from ...integrate.event_driven.guards import Guard
from ...mechanics.lagrangian.equations import Equations, equations
from ...mechanics.lagrangian.expressions import symbol, symbols
from ...mechanics.lagrangian.model import Element, Model
from ...mechanics.lagrangian.system import LagrangianSystem
from ...mechanics.scene import Scene

Numbers = Callable[..., list[float]]
ZERO = 1e-9  # m/s, m: what counts as no slip and as closed when a mode is looked for
FORWARD, BACKWARD = CLOSED.but(slip=(1.0,)), CLOSED.but(slip=(-1.0,))
HOLDS = 1e-7  # N: friction this much above its limit still holds: the slip that it would let through is rounding


@dataclass(frozen=True, slots=True, eq=False)
class SmoothPhase:
    """One mode.

    Attributes
    ----------
    mode : str
    field : callable
        (t, *y, *p) -> y'.
    extended : callable
        (t, *y, *Y, *p) -> (y', (df/dy Y) row by row).
    values : callable
        (t, *y, *p) -> guards.
    slopes : callable
        (t, *y, *p) -> derivative of every guard with respect to t, y, flat.
    guards : tuple of Guard
        stop, slip (with the direction in which it breaks loose), lift_off, touchdown.
    """

    mode: str
    field: Numbers
    extended: Numbers
    values: Numbers
    slopes: Numbers
    guards: tuple[Guard, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MovingPhase:
    """A mode for values of the parameters p, as `integrate.variations` follows it; n: the length of y."""

    phase: SmoothPhase
    p: tuple[float, ...]
    n: int
    redundant: bool = False  # accelerations could not be solved for

    @property
    def guards(self) -> tuple[Guard, ...]:
        """Its conditions."""
        return self.phase.guards

    def slope(self, t: float, z: Array) -> Array:
        """Return (y', Y')."""
        return np.array(self.phase.extended(t, *z.tolist(), *self.p))

    def look(self, t: float, z: Array) -> Seen:
        """Return the conditions and their rates."""
        at = (t, *z[: self.n].tolist(), *self.p)
        slopes = np.array(self.phase.slopes(*at)).reshape(len(self.guards), 1 + self.n)
        rates = slopes @ np.concatenate([[1.0], self.phase.field(*at)])
        return Seen(t, np.array(self.phase.values(*at)), rates)


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """A model with its phases and jumps, made when they are first asked for."""

    model: Model
    equations: Equations
    phases: dict[str, SmoothPhase] = field(default_factory=dict)
    jumps: dict[tuple[str, int], tuple[Numbers, Numbers]] = field(default_factory=dict)


class Phases:
    """The phases of a `LagrangianSystem` with given values of its parameters.

    Raises
    ------
    InputError
        A system of another kind, friction in more than one direction, or at bilateral contacts.
    """

    __slots__ = ("derived", "n", "p", "system")

    def __init__(self, system: object) -> None:
        if not isinstance(system, LagrangianSystem):
            mend = "Derivatives of its phases are needed: write it as a LagrangianSystem(...)."
            raise InputError("system", type(system).__name__, "a LagrangianSystem", mend)
        for element in system.model.elements:
            _check(element)
        self.system, self.n = system, system.nq
        self.derived = _derived(system.model)
        self.p: tuple[float, ...] = tuple(system.params.values())

    @classmethod
    def of(cls, system: object) -> Phases:
        """Return the phases of a system or of a scene with one; phases as they are.

        Raises
        ------
        InputError
            As `Phases`.
        """
        return system if isinstance(system, cls) else cls(system.system if isinstance(system, Scene) else system)

    def but(self, **values: float) -> Phases:
        """Return the phases for other values of parameters."""
        return Phases(self.system.with_params(**values))

    def phase(self, mode: str) -> SmoothPhase:
        """Return the phase of a mode."""
        known = self.derived.phases
        if mode not in known:
            known[mode] = _phase(self.derived, mode)
        return known[mode]

    def moving(self, mode: str) -> MovingPhase:
        """Return the phase of a mode for these values of the parameters."""
        return MovingPhase(self.phase(mode), self.p, 2 * self.n)

    def field(self, mode: str, t: float, y: Sequence[float]) -> Array:
        """Return y'."""
        return np.array(self.phase(mode).field(t, *y, *self.p))

    def values(self, mode: str, t: float, y: Sequence[float]) -> list[float]:
        """Return the guards of a mode."""
        return self.phase(mode).values(t, *y, *self.p)

    def slopes(self, mode: str, t: float, y: Sequence[float]) -> Array:
        """Return the derivatives of the guards with respect to (t, y), shape (guards, 1 + 2 n)."""
        phase = self.phase(mode)
        return np.array(phase.slopes(t, *y, *self.p)).reshape(len(phase.guards), 1 + 2 * self.n)

    def jump(self, mode: str, k: int, t: float, y: Sequence[float]) -> tuple[Array, Array]:
        """Return y+ after an impact at constraint k, and its derivatives with respect to (t, y)."""
        known = self.derived.jumps
        if (mode, k) not in known:
            known[mode, k] = _jump(self.derived, mode, k)
        value, slope = known[mode, k]
        n = 2 * self.n
        return np.array(value(t, *y, *self.p)), np.array(slope(t, *y, *self.p)).reshape(n, 1 + n)

    def autonomous(self) -> bool:
        """Whether nothing depends on the time for these values of the parameters."""
        values = dict(zip(symbols("p", len(self.p)), map(sp.Float, self.p), strict=True))
        e = self.derived.equations
        parts = [*e.h, *(x for rows in e.rows for x in (rows.gap, *rows.rate, *rows.drift, *rows.coefficients))]
        return not any(symbol("t") in sp.sympify(x).subs(values).free_symbols for x in parts)

    def mode_at(self, t: float, y: Sequence[float]) -> str:
        """Return the mode in which a motion begins at a state."""
        letters = ""
        for k, (element, row) in enumerate(zip(self.derived.model.elements, self._rows(t, y), strict=True)):
            letters += self._letter(k, element, row, t, y)
        for k, letter in enumerate(letters):
            if letter == "s":
                letters = self.settled(letters, k, t, y)
        return letters

    def _letter(self, k: int, element: Element, row: tuple[float, ...], t: float, y: Sequence[float]) -> str:
        """Return the mode of a constraint: closed c, open o, at rest s, or in slip + or -."""
        gap, *rate = row
        if element.kind == "bilateral":
            return "c"
        if element.kind != "dry" and (gap > ZERO or rate[0] > ZERO):
            return "o"
        if element.size == 1 and element.kind != "dry":
            return "c"
        return "s" if abs(rate[-1]) <= ZERO else "+" if rate[-1] > 0.0 else "-"

    def settled(self, mode: str, k: int, t: float, y: Sequence[float], before: str = "") -> str:
        """Return the mode after the slip of constraint k has vanished: stick where friction can hold, else slip on."""
        held = mode[:k] + "s" + mode[k + 1 :]
        guards = self.phase(held).guards
        left = {
            int(g.ahead[0]): x
            for g, x in zip(guards, self.values(held, t, y), strict=True)
            if g.k == k and g.kind == "slip"
        }
        if all(x >= -HOLDS for x in left.values()):
            return held
        worst = min(left, key=lambda sign: left[sign])
        return mode[:k] + ("+" if worst > 0 else "-") + mode[k + 1 :]

    def _rows(self, t: float, y: Sequence[float]) -> list[tuple[float, ...]]:
        q, v = np.array(y[: self.n]), np.array(y[self.n :])
        return [(row.gap, *row.rate.tolist()) for row in self.system.rows(t, q, v)]


def _check(element: Element) -> None:
    """Refuse constraints that orbits cannot follow."""
    tangents = element.size - (element.kind not in ("dry",))
    if element.kind == "bilateral_contact" or (element.kind in ("dry", "contact") and tangents > 1):
        given = f"{element.kind} with {element.size} rows"
        raise InputError(f"constraint {element.id!r}", given, "friction along one direction: Friction, or a unilateral "
                         "Contact in the plane", "Write Friction(slip=..., mu=...).")  # fmt: skip
    if element.level != "position" and element.kind != "dry":
        raise InputError(
            f"constraint {element.id!r}",
            f"level {element.level}",
            "constraints on the position",
            'Write level="position".',
        )


@lru_cache(maxsize=32)
def _known(digest: str, size: int) -> dict[str, Derived]:
    return {}


def _derived(model: Model) -> Derived:
    store = _known(model.digest(), model.size)
    if "it" not in store:
        store["it"] = Derived(model, equations(model))
    return store["it"]


def _symbols(derived: Derived) -> tuple[sp.Symbol, list[sp.Symbol], list[sp.Symbol]]:
    n, p = derived.model.size, len(derived.model.parameters)
    return symbol("t"), [*symbols("q", n), *symbols("v", n)], symbols("p", p)


def _numbers(arguments: Sequence[sp.Symbol], expressions: Sequence[Any]) -> Numbers:
    """Return a plain function of numbers."""
    function: Numbers = sp.lambdify(list(arguments), list(expressions), modules="math", cse=True)
    return function


def _rest(derived: Derived) -> tuple[sp.Matrix, dict[Any, Any]]:
    """Return h without controls."""
    zero = dict.fromkeys(symbols("u", len(derived.model.controls)), sp.S.Zero)
    return derived.equations.h.subs(zero), zero


def _phase(derived: Derived, mode: str) -> SmoothPhase:
    """Solve M a = h + B r, G a + w = 0 in symbols, and derive."""
    t, y, p = _symbols(derived)
    n = derived.model.size
    a, r = _solved(derived, mode)
    f = sp.Matrix([*y[n:], *a])
    Y = sp.Matrix(2 * n, 2 * n, sp.symbols(f"Y0:{4 * n * n}", real=True))
    guards, values = _guards(derived, mode, r)
    slopes = [g.diff(x) for g in values for x in (t, *y)]
    return SmoothPhase(
        mode=mode,
        field=_numbers([t, *y, *p], f),
        extended=_numbers([t, *y, *Y, *p], [*f, *(f.jacobian(y) * Y)]),
        values=_numbers([t, *y, *p], values),
        slopes=_numbers([t, *y, *p], slopes),
        guards=tuple(guards),
    )


def _solved(derived: Derived, mode: str) -> tuple[sp.Matrix, dict[tuple[int, int], sp.Expr]]:
    """Return a, and the reactions by (constraint, row)."""
    e, (h, held, columns) = derived.equations, _held_by(derived, mode)
    if not held:
        return e.M.LUsolve(h), {}
    G = sp.Matrix.vstack(*(e.rows[k].J[j, :] for k, j in held))
    w = sp.Matrix([e.rows[k].drift[j] for k, j in held])
    B = sp.Matrix.hstack(*columns)
    free, X = e.M.LUsolve(h), e.M.LUsolve(B)
    r = (G * X).LUsolve(-(G * free + w))
    return free + X * r, dict(zip(held, r, strict=True))


def _held_by(derived: Derived, mode: str) -> tuple[sp.Matrix, list[tuple[int, int]], list[sp.Matrix]]:
    """Return h with the friction that is known, the rows (constraint, row) that a mode holds, and how these push."""
    e, model = derived.equations, derived.model
    h, _ = _rest(derived)
    held: list[tuple[int, int]] = []
    columns: list[sp.Matrix] = []
    for k, letter in enumerate(mode):
        element, rows = model.elements[k], e.rows[k]
        sign = {"+": 1, "-": -1}.get(letter, 0)
        coefficients = _coefficients(element, rows.coefficients)
        if element.kind == "dry":
            if sign:
                h = h - sign * coefficients["cap"] * rows.J.T
            else:
                held.append((k, 0))
                columns.append(rows.J[0, :].T)
            continue
        if letter == "o":
            continue
        normal = rows.J[0, :].T
        held.append((k, 0))
        columns.append(normal - sign * coefficients["mu"] * rows.J[1, :].T if sign else normal)
        more = range(1, element.size) if letter == "s" or element.kind == "bilateral" else ()
        held += [(k, j) for j in more]
        columns += [rows.J[j, :].T for j in more]
    return h, held, columns


def _coefficients(element: Element, values: Sequence[sp.Expr]) -> dict[str, sp.Expr]:
    found = dict(zip((name for name, _ in element.coefficients), values, strict=True))
    found.setdefault("cap_s", found.get("cap", sp.S.Zero))
    found.setdefault("mu", sp.S.Zero)
    found.setdefault("mu_s", found["mu"])
    found.setdefault("eps_n", sp.S.Zero)
    return found


def _guards(derived: Derived, mode: str, r: dict[tuple[int, int], sp.Expr]) -> tuple[list[Guard], list[sp.Expr]]:
    """Return what ends a mode, and the expressions that fall below zero there."""
    guards: list[Guard] = []
    values: list[sp.Expr] = []
    for k, letter in enumerate(mode):
        element, rows = derived.model.elements[k], derived.equations.rows[k]
        coefficients = _coefficients(element, rows.coefficients)
        dry = element.kind == "dry"
        if letter == "o":
            guards.append(Guard("touchdown", element.id, k, "place"))
            values.append(rows.gap)
        elif element.kind != "bilateral" and not dry:
            guards.append(Guard("lift_off", element.id, k, "force"))
            values.append(r[k, 0])
        if letter in "+-":
            guards.append(Guard("stop", element.id, k, "speed", FORWARD if letter == "+" else BACKWARD))
            values.append(rows.rate[element.size - 1] * (1 if letter == "+" else -1))
        if letter == "s":
            most = coefficients["cap_s"] if dry else coefficients["mu_s"] * r[k, 0]
            T = r[k, 0 if dry else 1]
            # friction forward at its limit: it slips back
            guards += [Guard("slip", element.id, k, "force", way) for way in (BACKWARD, FORWARD)]
            values += [most - T, most + T]
    return guards, values


def _jump(derived: Derived, mode: str, k: int) -> tuple[Numbers, Numbers]:
    """Return y+ of an impact at constraint k by Newton's law, what is held being kept, and its derivatives."""
    t, y, p = _symbols(derived)
    e, n = derived.equations, derived.model.size
    element = derived.model.elements[k]
    coefficients = _coefficients(element, e.rows[k].coefficients)
    if coefficients["mu"] != 0 and element.size > 1:
        raise InputError(
            f"impact at {element.id!r}",
            "a contact with friction",
            "impacts without friction on orbits",
            "Write mu=0 for this contact.",
        )
    held = [(i, j) for i, j in _held_rows(derived, mode) if i != k] + [(k, 0)]
    G = sp.Matrix.vstack(*(e.rows[i].J[j, :] for i, j in held))
    rate = sp.Matrix([e.rows[i].rate[j] for i, j in held])
    aim = sp.Matrix([0] * (len(held) - 1) + [-(1 + coefficients["eps_n"]) * rate[-1]])
    X = e.M.LUsolve(G.T)
    v = sp.Matrix(y[n:]) + X * (G * X).LUsolve(aim)
    after = sp.Matrix([*y[:n], *v])
    return _numbers([t, *y, *p], after), _numbers([t, *y, *p], after.jacobian([t, *y]))


def _held_rows(derived: Derived, mode: str) -> list[tuple[int, int]]:
    found = []
    for k, letter in enumerate(mode):
        element = derived.model.elements[k]
        if letter == "o" or (element.kind == "dry" and letter != "s"):
            continue
        found += [(k, j) for j in range(element.size) if j == 0 or letter == "s" or element.kind == "bilateral"]
    return found
