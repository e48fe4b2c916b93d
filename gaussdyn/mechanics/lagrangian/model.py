"""A Lagrangian system as plain data, and where each of its values stands in the flat array that a kernel fills."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import InputError
from ..rows import KINDS, LEVELS, Kind, Level

Tree = Any  # int, float, bool, str, or a list of a head and trees; see `expressions`
SYMBOL = re.compile(r"t|[qvpu](0|[1-9][0-9]{0,5})")
ENERGIES = ("potential", "kinetic", "power")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A coordinate or a parameter: its name and unit."""

    name: str
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One constraint.

    Attributes
    ----------
    id, kind, level : str
        As of a `Row`.
    expressions : tuple of trees
        Position: the gap, then slip and rolling velocities, then the spin. Velocity: one per row.
    coefficients : tuple of (str, tree)
        mu, mu_s, mu_r, mu_t, eps_n, eps_t, cap, cap_s, those that it has.
    """

    id: str
    kind: Kind
    level: Level
    expressions: tuple[Tree, ...]
    coefficients: tuple[tuple[str, Tree], ...] = ()

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.expressions)

    @property
    def varies(self) -> bool:
        """Whether a coefficient is another one elsewhere, or at another time or velocity."""
        return any(of_state(tree) for _, tree in self.coefficients)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Everything that the equations of motion follow from, except for the values of the parameters.

    Attributes
    ----------
    coordinates, parameters : tuple of Quantity
        q0, q1, .. and p0, p1, .. of the trees.
    controls : tuple of str
        u0, u1, .. of the trees.
    kinetic, potential : tree
    forces : tuple of trees
        Generalised forces that the potential does not cover, one per coordinate.
    elements : tuple of Element
    drawing : tuple of (str, points)
        Shapes to draw: a name and its corners, pairs of trees.
    """

    coordinates: tuple[Quantity, ...]
    parameters: tuple[Quantity, ...] = ()
    controls: tuple[str, ...] = ()
    kinetic: Tree
    potential: Tree = 0
    forces: tuple[Tree, ...]
    elements: tuple[Element, ...] = ()
    drawing: tuple[tuple[str, tuple[tuple[Tree, Tree], ...]], ...] = ()

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def bends(self) -> bool:
        """Whether the mass may depend on the place: then there are Coriolis forces."""
        return any(name[0] == "q" for name in names_in(self.kinetic))

    @property
    def positions(self) -> tuple[Element, ...]:
        """The constraints on the position."""
        return tuple(element for element in self.elements if element.level == "position")

    def digest(self) -> str:
        """Return 16 hex digits over the expressions; names, units and values of parameters do not count."""
        parts = [(e.kind, e.level, e.expressions, e.coefficients) for e in self.elements]
        sizes = (self.size, len(self.parameters), len(self.controls))
        text = json.dumps([sizes, self.kinetic, self.potential, self.forces, parts, self.drawing])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def spec(self) -> dict[str, Any]:
        """Return plain data for JSON, from which `model_from_spec` builds the same model."""
        return {
            "coordinates": [[x.name, x.unit] for x in self.coordinates],
            "parameters": [[x.name, x.unit] for x in self.parameters],
            "controls": list(self.controls),
            "kinetic": self.kinetic,
            "potential": self.potential,
            "forces": list(self.forces),
            "constraints": [
                {
                    "id": e.id,
                    "kind": e.kind,
                    "level": e.level,
                    "expressions": list(e.expressions),
                    "coefficients": dict(e.coefficients),
                }
                for e in self.elements
            ],
            "drawing": [[name, [list(point) for point in points]] for name, points in self.drawing],
        }


def model_from_spec(spec: Mapping[str, Any]) -> Model:
    """Return the model that `Model.spec` described.

    Raises
    ------
    InputError
        Keys that are missing, kinds that do not exist; the expressions are read later.
    """
    try:
        model = Model(
            coordinates=tuple(Quantity(name=str(name), unit=str(unit)) for name, unit in spec["coordinates"]),
            parameters=tuple(Quantity(name=str(name), unit=str(unit)) for name, unit in spec["parameters"]),
            controls=tuple(map(str, spec["controls"])),
            kinetic=spec["kinetic"],
            potential=spec["potential"],
            forces=tuple(spec["forces"]),
            elements=tuple(_element(data) for data in spec["constraints"]),
            drawing=tuple((str(name), tuple((x, y) for x, y in points)) for name, points in spec["drawing"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            "spec", repr(error), "what LagrangianSystem.spec() returns", "Take it from spec = system.spec()."
        ) from None
    try:
        model.digest()
    except (TypeError, RecursionError) as error:
        raise InputError(
            "spec", type(error).__name__, "plain data, nested not too deep", "Take it from spec = system.spec()."
        ) from None
    if len(model.forces) != model.size or not model.size:
        raise InputError(
            "spec",
            f"{len(model.forces)} forces",
            f"one per coordinate, {model.size}",
            "Take it from spec = system.spec().",
        )
    return model


def _element(data: Mapping[str, Any]) -> Element:
    if data["kind"] not in KINDS or data["level"] not in LEVELS[:2] or not data["expressions"]:
        raise InputError(
            "spec",
            f"a {data['kind']} constraint of {data['level']}",
            f"{KINDS}, {LEVELS[:2]}",
            "Take it from spec = system.spec().",
        )
    return Element(
        id=str(data["id"]),
        kind=data["kind"],
        level=data["level"],
        expressions=tuple(data["expressions"]),
        coefficients=tuple((str(name), tree) for name, tree in data["coefficients"].items()),
    )


def of_state(tree: Tree) -> bool:
    """Return whether a tree has time, coordinates or velocities in it."""
    return any(name[0] in "tqv" for name in names_in(tree))


def names_in(tree: Tree) -> set[str]:
    """Return the symbols of a tree."""
    if isinstance(tree, str):
        return {tree} if SYMBOL.fullmatch(tree) else set()
    return set().union(*map(names_in, tree)) if isinstance(tree, (list, tuple)) else set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the values of one constraint stand: slices of the flat array, and the shape of J."""

    gap: int
    J: slice
    rate: slice
    drift: slice
    coefficients: slice
    shape: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands in the flat array of a system of n coordinates.

    Attributes
    ----------
    M, h : slice
    potential, kinetic, power : int
    places : tuple of Place
        One per constraint.
    size : int
    """

    n: int
    M: slice
    h: slice
    potential: int
    kinetic: int
    power: int
    places: tuple[Place, ...] = field(repr=False)
    size: int

    @classmethod
    def of(cls, n: int, elements: Sequence[Element]) -> Layout:
        """Return the layout: M, h, energies, then gap, J, rate, drift and coefficients of every constraint."""
        end = n * n + n
        energy, end, places = end, end + len(ENERGIES), []
        for element in elements:
            k, c = element.size, len(element.coefficients)
            J, rate, drift = end + 1, end + 1 + k * n, end + 1 + k * n + k
            places.append(
                Place(
                    gap=end,
                    J=slice(J, rate),
                    rate=slice(rate, drift),
                    drift=slice(drift, drift + k),
                    coefficients=slice(drift + k, drift + k + c),
                    shape=(k, n),
                )
            )
            end = drift + k + c
        M, h = slice(0, n * n), slice(n * n, n * n + n)
        return cls(n, M, h, energy, energy + 1, energy + 2, tuple(places), end)
