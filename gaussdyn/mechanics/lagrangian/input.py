"""What a user writes in sympy, read into a `Model`: symbols are told apart by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from ...arrays import scalar
from ...errors import InputError
from .constraints import Contact, Friction, Holonomic, Nonholonomic, SymbolicConstraint
from .expressions import symbol, to_tree
from .model import Element, Model, Quantity, Tree

TIME = "t"
MEANING = {"q": "coordinates", "v": "velocities", "u": "controls", "p": "parameters"}

OF_SLIP = ("mu", "mu_s", "cap", "cap_s")  # coefficients that may depend on velocities: Stribeck's law, say


def read_model(
    *,
    coordinates: Any,
    velocities: Any,
    kinetic: Any,
    potential: Any,
    forces: Any,
    constraints: Any,
    parameters: Any,
    controls: Any,
    drawing: Any,
) -> tuple[Model, tuple[float, ...]]:
    """Return the model and the values of its parameters; see `LagrangianSystem` for the arguments.

    Raises
    ------
    InputError
        Symbols without a value, names used twice, expressions that hold what they must not.
    """
    q = _quantities("coordinates", coordinates)
    values = {} if parameters is None else _values(parameters)
    u = [_name("controls", x) for x in ([] if controls is None else controls)]
    names = [name for name, _ in q]
    reader = Reader(names, _velocity_names(velocities, coordinates), list(values), u)
    elements = tuple(_elements(reader, [] if constraints is None else constraints))
    model = Model(
        coordinates=tuple(Quantity(name=name, unit=unit) for name, unit in q),
        parameters=tuple(Quantity(name=name, unit=unit) for name, (_, unit) in values.items()),
        controls=tuple(u),
        kinetic=reader.tree("kinetic", kinetic, "qvp"),
        potential=reader.tree("potential", potential, "qp"),
        forces=tuple(reader.tree(f"forces[{k}]", x, "qvup") for k, x in enumerate(_forces(forces, names))),
        elements=elements,
        drawing=tuple(_drawn(reader, name, points) for name, points in (drawing or {}).items()),
    )
    reader.complain()
    return model, tuple(value for value, _ in values.values())


class Reader:
    """Turns a user's expressions into trees, and remembers symbols that nobody declared."""

    def __init__(self, q: Sequence[str], v: Sequence[str], p: Sequence[str], u: Sequence[str]) -> None:
        groups = {"q": q, "v": v, "u": u, "p": p}
        self.names: dict[str, str] = {TIME: TIME}
        for letter, members in groups.items():
            for k, name in enumerate(members):
                if name in self.names:
                    raise InputError(
                        MEANING[letter],
                        repr(name),
                        "each name once, and t for the time",
                        "Write sympy.Symbol(...) with another name.",
                    )
                self.names[name] = f"{letter}{k}"
        self.missing: dict[str, list[str]] = {}

    def tree(self, what: str, expression: Any, allowed: str) -> Tree:
        """Return the tree of an expression that may hold the time and the kinds of symbols in `allowed`."""
        given = _sympified(what, expression)
        replaced = given.xreplace(self._canonical(what, given))
        for name in sorted(found.name for found in replaced.free_symbols if isinstance(found, _Canonical)):
            if name[0] not in allowed and name != TIME:
                raise InputError(what, f"an expression with {MEANING[name[0]]}: {given}", *_mend(what, allowed, name))
        return to_tree(what, replaced.xreplace({x: symbol(x.name) for x in replaced.free_symbols}))

    def complain(self) -> None:
        """Raise InputError if a symbol had no value."""
        if self.missing:
            found = "; ".join(f"{name} (in {', '.join(places)})" for name, places in sorted(self.missing.items()))
            known = ", ".join(self.names)
            mend = "Give them in parameters={symbol: (value, unit)}, or declare them as coordinates or controls."
            raise InputError("parameters", f"no value for {found}", f"a value for every symbol besides {known}", mend)

    def _canonical(self, what: str, given: sp.Basic) -> dict[sp.Basic, sp.Basic]:
        """Return what is replaced by what: rates of coordinates first, since they hold the coordinates."""
        table: dict[sp.Basic, sp.Basic] = {}
        for rate in given.atoms(sp.Derivative):
            table[rate] = self._rate(what, rate)
        for part in given.atoms(AppliedUndef):
            table[part] = self._known(what, part.func.__name__, ok=[str(x) for x in part.args] == [TIME])
        for part in given.free_symbols:
            table[part] = self._known(what, part.name)
        return table

    def _rate(self, what: str, rate: sp.Derivative) -> sp.Basic:
        inner, name = rate.expr, rate.expr.func.__name__
        of = self.names.get(name, "") if isinstance(inner, AppliedUndef) else ""
        if of[:1] not in ("q", "v"):
            mend = "Declare it as a coordinate; if it comes from Abs, make that real: dynamicsymbols(.., real=True)."
            raise InputError(what, str(rate), "derivatives of coordinates only", mend)
        if rate.derivative_count > 1 or of[0] == "v":
            mend = (
                "Constraints and forces hold coordinates and velocities; accelerations follow from them: take "
                "diff(x, t, 2) out."
            )
            raise InputError(what, f"an expression with the acceleration {rate}", "no accelerations", mend)
        return _Canonical(f"v{of[1:]}")

    def _known(self, what: str, name: str, *, ok: bool = True) -> sp.Basic:
        if name in self.names and ok:
            return _Canonical(self.names[name])
        places = self.missing.setdefault(name, [])
        if what not in places:
            places.append(what)
        return _Canonical("p999999")  # stands in until `complain`


class _Canonical(sp.Symbol):  # type: ignore[misc]
    """A canonical symbol while user's symbols, which may have the same name, are still about."""

    def __new__(cls, name: str) -> _Canonical:
        return sp.Symbol.__xnew__(cls, name, real=True)  # type: ignore[no-any-return]


def _mend(what: str, allowed: str, name: str) -> tuple[str, str]:
    """Return what is allowed in an expression, and what to write instead."""
    words = ", ".join(["the time", *(MEANING[letter] for letter in allowed)])
    if name[0] == "v" and what == "potential":
        return words, "Put it into forces={...}, or into kinetic=..."
    return words, "A constraint on velocities is Nonholonomic(psi)." if name[0] == "v" else ""


def _sympified(what: str, expression: Any) -> sp.Basic:
    if isinstance(expression, str) or expression is None:
        raise InputError(
            what,
            repr(expression),
            "a sympy expression or a number",
            "Text is not evaluated: write sympy.sympify(...) yourself.",
        )
    try:
        value = sp.sympify(expression, strict=True)
        value = value.xreplace({rate: rate.doit() for rate in value.atoms(sp.Derivative)})  # of a product, say
    except (sp.SympifyError, AttributeError):
        value = expression
    if not isinstance(value, sp.Expr):
        raise InputError(what, repr(expression), "a sympy expression or a number", "Write sympy.sympify(expression).")
    return value


def _name(what: str, x: Any) -> str:
    if isinstance(x, AppliedUndef) and [str(part) for part in x.args] == [TIME]:
        return str(x.func.__name__)
    if isinstance(x, sp.Symbol):
        return str(x.name)
    if isinstance(x, str) and x and what == "parameters":
        return x
    allowed = "symbols, or functions of t as from dynamicsymbols" if what != "parameters" else "symbols or names"
    raise InputError(what, repr(x), allowed, 'Write sympy.Symbol("x").')


def _quantities(what: str, given: Any) -> list[tuple[str, str]]:
    """Return names and units of the coordinates."""
    if isinstance(given, Mapping):
        return [(_name(what, x), str(unit)) for x, unit in given.items()]
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise InputError(
            what, repr(given), "a list of symbols, or a mapping of symbols to units", 'Write x = sympy.Symbol("x").'
        )
    found = [(_name(what, x), "SI") for x in given]
    if not found:
        raise InputError(what, "none", "one or more", 'Write q=["x"].')
    return found


def _velocity_names(velocities: Any, coordinates: Any) -> list[str]:
    """Return the names of the velocity symbols; none where coordinates are functions of the time."""
    plain = [x for x in coordinates if isinstance(x, sp.Symbol)]
    if velocities is None and plain:
        mend = "Name their rates, velocities=[...], or write the coordinates with dynamicsymbols."
        raise InputError("velocities", None, f"one symbol per coordinate, because {plain[0]} is a symbol", mend)
    if velocities is None:
        return []
    names = [_name("velocities", x) for x in velocities]
    if len(names) != len(coordinates):
        raise InputError(
            "velocities",
            f"{len(names)}",
            f"{len(coordinates)}, one per coordinate",
            "Write velocities=sympy.symbols('vx vy').",
        )
    return names


def _values(parameters: Any) -> dict[str, tuple[float, str]]:
    """Return values and units by name."""
    if not isinstance(parameters, Mapping):
        raise InputError(
            "parameters",
            repr(parameters),
            "a mapping of symbols to values or (value, unit)",
            'Write parameters={m: (1.0, "kg")}.',
        )
    found: dict[str, tuple[float, str]] = {}
    for key, given in parameters.items():
        name = _name("parameters", key)
        value, unit = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given, "SI")
        if name in found:
            raise InputError(
                "parameters", f"{name!r} twice", "each name once", f"Leave one: {name} = sympy.Symbol({name!r})."
            )
        found[name] = (scalar(f"parameter {name}", _plain(value)), str(unit))
    return found


def _plain(value: Any) -> Any:
    """Return a number of sympy as one of Python."""
    return float(value) if isinstance(value, sp.Expr) and value.is_number and value.is_real else value


def _forces(forces: Any, names: Sequence[str]) -> list[Any]:
    """Return one expression per coordinate."""
    if forces is None:
        return [0] * len(names)
    if not isinstance(forces, Mapping):
        given = list(forces) if isinstance(forces, Iterable) else [forces]
        if len(given) != len(names):
            raise InputError(
                "forces",
                f"{len(given)} expressions",
                f"{len(names)}, one per coordinate",
                "Write forces={x: F}, a mapping by coordinate.",
            )
        return given
    found: list[Any] = [0] * len(names)
    for x, force in forces.items():
        name = _name("forces", x)
        if name not in names:
            raise InputError(
                "forces",
                f"a force on {name!r}",
                f"coordinates: {', '.join(names)}",
                f"Write forces={{{names[0]}: ...}}.",
            )
        found[names.index(name)] = force
    return found


def _elements(reader: Reader, constraints: Any) -> Iterable[Element]:
    if not isinstance(constraints, Iterable):
        raise InputError("constraints", repr(constraints), "a list of constraints", "Write [Holonomic(...), ...].")
    seen: set[str] = set()
    for k, constraint in enumerate(constraints):
        if not isinstance(constraint, SymbolicConstraint):
            kinds = ", ".join(kind.__name__ for kind in (Holonomic, Nonholonomic, Contact, Friction))
            raise InputError(f"constraints[{k}]", repr(constraint), kinds, 'Write constraints=[Holonomic("y - x**2")].')
        name = constraint.name or f"{type(constraint).__name__.lower()}{k}"
        if name in seen:
            raise InputError(
                f"name of constraints[{k}]", repr(name), "one name per constraint", f'Write name="{name}2".'
            )
        seen.add(name)
        yield _element(reader, name, constraint)


def _element(reader: Reader, name: str, constraint: SymbolicConstraint) -> Element:
    kind, level, expressions, coefficients = constraint.row()
    first = "qp" if level == "position" else "qvp"
    trees = [reader.tree(name, x, "qvp" if k else first) for k, x in enumerate(expressions)]
    return Element(
        id=name,
        kind=kind,
        level=level,
        expressions=tuple(trees),
        coefficients=tuple(
            (word, reader.tree(f"{word} of {name}", x, "qvp" if word in OF_SLIP else "qp"))
            for word, x in coefficients.items()
        ),
    )


def _drawn(reader: Reader, name: str, points: Any) -> tuple[str, tuple[tuple[Tree, Tree], ...]]:
    """Return what a shape is drawn from: its corners."""
    if not isinstance(points, (list, tuple)) or not points or any(len(point) != 2 for point in points):
        raise InputError(
            f"drawing[{name!r}]", repr(points), "a list of points (x, y)", 'Write drawing={"rod": [(0, 0), (x, y)]}.'
        )
    return str(name), tuple((reader.tree(name, x, "qp"), reader.tree(name, y, "qp")) for x, y in points)
