"""Systems from symbols: energies, forces and constraints in sympy, equations of motion derived and compiled.

    M(q) a = h(t, q, v) + reactions,    h = Q - dV/dq + dT/dq - (d/dt dT/dv without a),    dq/dt = v

A system is kept as plain data; sympy is imported when one is made from expressions, printed, or not in the cache.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ..._show import fitted, names, short
from ...arrays import Array, scalar, vector
from ...errors import InputError
from ...mends import one_of
from ..joints.columns import Readings
from ..rows import Row
from ..state import State
from .code import Evaluate, compiled, interpreted, stored_program, too_long
from .constraints import Contact as Contact
from .constraints import Expression, SymbolicConstraint
from .constraints import Friction as Friction
from .constraints import Holonomic as Holonomic
from .constraints import Nonholonomic as Nonholonomic
from .model import Element, Layout, Model, Place, model_from_spec

SHAPES = {1: ("point", "at"), 2: ("segment", "ends")}


class LagrangianSystem:
    """A mechanical system made of expressions.

    Parameters
    ----------
    coordinates : sequence of symbols, or mapping of symbol to unit
        Functions of the time as from ``sympy.physics.mechanics.dynamicsymbols``, or symbols with `velocities`.
    kinetic : expression
        T(t, q, v), J: quadratic in the velocities. ``t`` is the time.
    potential : expression
        V(t, q), J.
    forces : sequence of expressions, or mapping of coordinate to expression
        Generalised forces that the potential does not cover, N or N m: of t, q, v and controls.
    constraints : sequence of Holonomic, Nonholonomic, Contact or Friction
    parameters : mapping of symbol or name to value or (value, unit)
    velocities : sequence of symbols
        Rates of coordinates that are symbols; functions of the time are differentiated by ``.diff()``.
    controls : sequence of symbols
        Components of the control that `force` is given; without any, a control is added to the force.
    drawing : mapping of name to points
        What to draw: a list of corners (x, y), expressions of t = 0 and q. One is a point, two a segment.
    compile : bool, optional
        True compiles, False interprets; the default compiles what takes less than 20 s, and says so in `note`
        where it does not.
    name : str

    Raises
    ------
    InputError
        A symbol without a value, a constraint given twice or identically zero, a mass matrix that is singular or
        depends on the time, a coordinate that does not appear, accelerations in a constraint; all named.

    Examples
    --------
    >>> from sympy import cos, symbols
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> angle, (m, g, L) = dynamicsymbols("angle"), symbols("m g L")
    >>> pendulum = LagrangianSystem(
    ...     {angle: "rad"},
    ...     kinetic=m * L**2 * angle.diff() ** 2 / 2,
    ...     potential=-m * g * L * cos(angle),
    ...     parameters={m: (2.0, "kg"), g: (9.81, "m/s^2"), L: (0.5, "m")},
    ...     compile=False,
    ... )
    >>> float(pendulum.mass([0.0])[0, 0])
    0.5
    """

    __slots__ = ("_bending", "_choice", "_evaluate", "_made", "_values", "layout", "model", "name", "note")

    def __init__(
        self,
        coordinates: Sequence[Expression] | Mapping[Expression, str],
        *,
        kinetic: Expression,
        potential: Expression = 0,
        forces: Sequence[Expression] | Mapping[Expression, Expression] | None = None,
        constraints: Sequence[SymbolicConstraint] = (),
        parameters: Mapping[Any, Any] | None = None,
        velocities: Sequence[Expression] | None = None,
        controls: Sequence[Expression] = (),
        drawing: Mapping[str, Sequence[tuple[Expression, Expression]]] | None = None,
        compile: bool | None = None,
        name: str = "lagrangian system",
    ) -> None:
        from .checks import check_model
        from .input import read_model

        model, values = read_model(
            coordinates=coordinates,
            velocities=velocities,
            kinetic=kinetic,
            potential=potential,
            forces=forces,
            constraints=constraints,
            parameters=parameters,
            controls=controls,
            drawing=drawing,
        )
        self._assign(model, np.array(values), compile, name)
        check_model(model, self.layout, interpreted(stored_program("dynamics", model)), self._values)

    def _assign(self, model: Model, values: Array, compile: bool | None, name: str) -> None:
        """Set everything but what is compiled at the first evaluation; check the values of coefficients."""
        from .checks import check_coefficients

        self.model, self._values, self._choice, self.name, self.note = model, values, compile, str(name), ""
        self.layout = Layout.of(model.size, model.elements)
        self._evaluate: Evaluate | None = None
        self._bending: Evaluate | None = None
        self._made: dict[str, tuple[list[float], Row]] = {}
        check_coefficients(model, self.layout, interpreted(stored_program("dynamics", model)), values)

    def __repr__(self) -> str:
        ids = [element.id for element in self.model.elements]
        parts = [f"{self.name!r}", f"[{names(self.names, 8)}]", f"constraints=[{names(ids, 8)}]"]
        return fitted("LagrangianSystem", [*parts, short(self.params)])

    def __reduce__(self) -> tuple[Any, ...]:
        return LagrangianSystem.from_spec, (self.spec(),)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.model.size

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.model.size

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates, in the order of q."""
        return tuple(coordinate.name for coordinate in self.model.coordinates)

    @property
    def params(self) -> Mapping[str, float]:
        """Values of the parameters by name, in their units."""
        names = (parameter.name for parameter in self.model.parameters)
        return MappingProxyType(dict(zip(names, self._values.tolist(), strict=True)))

    @property
    def values_of_parameters(self) -> Array:
        """Values of the parameters in the order of the model: the p of `evaluate`."""
        return self._values

    @property
    def units(self) -> Mapping[str, str]:
        """Units of coordinates and parameters by name."""
        return {x.name: x.unit for x in (*self.model.coordinates, *self.model.parameters)}

    def mass(self, q: Array) -> Array:
        """Return M, shape (nv, nv)."""
        out = self.values(0.0, q, np.zeros(self.nv))
        return out[self.layout.M].reshape(self.nv, self.nv)

    def force(self, t: float, q: Array, v: Array, control: Array | None = None) -> Array:
        """Return h, shape (nv,)."""
        h = self.values(t, q, v, control)[self.layout.h]
        return h if control is None or self.model.controls else h + vector("control", control, self.nv)

    def coriolis(self, q: Array, v: Array) -> Array:
        """Return the Coriolis forces in h, -(dM/dt)(v) v + (v.M v)' / 2, shape (nv,); see `coriolis_of`."""
        out = np.zeros(self.nv)
        if self.model.bends:
            none = np.zeros(len(self.model.controls))
            self.bending(0.0, _ready("q", q, self.nq), _ready("v", v, self.nv), none, self._values, out)
        return out

    def qdot(self, q: Array, v: Array) -> Array:
        """Return v."""
        return np.array(v, dtype=np.float64)

    def move(self, q: Array, v: Array, dt: float) -> Array:
        """Return q + dt v."""
        moved: Array = q + dt * v
        return moved

    def near(self, t: float, q: Array, v: Array, dt: float) -> LagrangianSystem:
        """Return the system itself: its constraints are always the same."""
        return self

    def rows(self, t: float, q: Array, v: Array) -> tuple[Row, ...]:
        """Return every constraint evaluated at (t, q, v), in the order in which they were given."""
        out = self.values(t, q, v)
        finite = bool(np.isfinite(out).all())
        return tuple(
            self._row(element, place, out, finite)
            for element, place in zip(self.model.elements, self.layout.places, strict=True)
        )

    def _row(self, element: Element, place: Place, out: Array, finite: bool) -> Row:
        """Return one constraint; checked in full unless all is finite and its coefficients are those of last time."""
        state = {
            "gap": float(out[place.gap]),
            "J": out[place.J].reshape(place.shape),
            "rate": out[place.rate],
            "drift": out[place.drift],
        }
        values = out[place.coefficients].tolist()
        known, row = self._made.get(element.id, ([], None))
        if finite and row is not None and known == values:
            return row.but(**state)
        words = dict(zip((name for name, _ in element.coefficients), values, strict=True))
        row = Row(id=element.id, kind=element.kind, level=element.level, **state, **words)  # type: ignore[arg-type]
        self._made[element.id] = (values, row)
        return row

    def potential(self, t: float, q: Array) -> float:
        """Return V, J."""
        return float(self.values(t, q, np.zeros(self.nv))[self.layout.potential])

    def kinetic(self, t: float, q: Array, v: Array) -> float:
        """Return T, J; with explicit time dependence it is not 1/2 v.M v alone."""
        return float(self.values(t, q, v)[self.layout.kinetic])

    def power(self, t: float, q: Array, v: Array, control: Array | None = None) -> float:
        """Return how fast 1/2 v.M v + V grows without reactions, W: v.Q + dV/dt, and what moves the frame."""
        own = float(self.values(t, q, v, control)[self.layout.power])
        return own if control is None or self.model.controls else own + float(vector("control", control, self.nv) @ v)

    def values(self, t: float, q: Array, v: Array, control: Array | None = None) -> Array:
        """Return M, h, energies and all rows in one flat array, in the order of `layout`: one call of compiled code.

        Raises
        ------
        InputError
            Wrong shapes. What is not defined at this state is NaN.
        """
        u = np.zeros(len(self.model.controls)) if control is None or not self.model.controls else control
        u = vector("control", u, len(self.model.controls)) if self.model.controls else u
        out = np.empty(self.layout.size)
        evaluate = self._evaluate or self.evaluate
        evaluate(t, _ready("q", q, self.nq), _ready("v", v, self.nv), u, self._values, out)
        return out

    @property
    def evaluate(self) -> Evaluate:
        """The function (t, q, v, u, p, out) that fills `out` in the order of `layout`: machine code if compiled.

        Its arguments are a number and contiguous float64 vectors; p holds the values of the parameters.
        """
        if self._evaluate is None:
            self._evaluate = self._function(stored_program("dynamics", self.model))
        return self._evaluate

    @property
    def bending(self) -> Evaluate:
        """The function (t, q, v, u, p, out) that fills `out` with Coriolis forces: machine code if `evaluate` is."""
        if self._bending is None:
            path = stored_program("coriolis", self.model)
            self._bending = compiled(path) if hasattr(self.evaluate, "overloads") else interpreted(path)
        return self._bending

    def _function(self, path: Any) -> Evaluate:
        choice = self._choice
        if choice is None:
            self.note = too_long(path)
            choice = not self.note
            if self.note:
                warnings.warn(f"{self.name}: {self.note}", stacklevel=4)
        return compiled(path) if choice else interpreted(path)

    def curvature(self, t: float, q: Array) -> dict[str, tuple[Array, Array]]:
        """Return the second and third derivatives with respect to q of every position constraint, by id.

        Returns
        -------
        dict of str to (Array (nq, nq), Array (nq, nq, nq))
            d2 phi / dq_i dq_j and d3 phi / dq_i dq_j dq_k. Where gradients become dependent they decide which
            velocities and accelerations remain admissible.
        """
        n, positions = self.nq, self.model.positions
        out = np.empty(len(positions) * (n * n + n**3))
        none = np.zeros(len(self.model.controls))
        evaluate = interpreted(stored_program("curvature", self.model))
        evaluate(t, _ready("q", q, n), np.zeros(n), none, self._values, out)
        parts = out.reshape(len(positions), -1)
        return {
            element.id: (part[: n * n].reshape(n, n), part[n * n :].reshape(n, n, n))
            for element, part in zip(positions, parts, strict=True)
        }

    def drawables(self, q: Array) -> list[dict[str, Any]]:
        """Return the shapes of `drawing` in the pose q."""
        drawn, none = self.model.drawing, np.zeros(len(self.model.controls))
        out = np.empty(2 * sum(len(points) for _, points in drawn))
        if drawn:
            evaluate = interpreted(stored_program("drawing", self.model))
            evaluate(0.0, _ready("q", q, self.nq), np.zeros(self.nv), none, self._values, out)
        shapes, corners = [], iter(out.reshape(-1, 2).tolist())
        for name, points in drawn:
            shape, key = SHAPES.get(len(points), ("polygon", "points"))
            at = [next(corners) for _ in points]
            shapes.append({"shape": shape, "name": name, key: at[0] if key == "at" else at})
        return shapes

    def columns(self) -> dict[str, tuple[str, Any]]:
        """Return named outputs for a `Scene`: name -> (unit, function of a state); rates are called ``name'``."""
        found: dict[str, tuple[str, Any]] = {}
        for k, coordinate in enumerate(self.model.coordinates):
            found[coordinate.name] = (coordinate.unit, partial(_component, "q", k))
            found[f"{coordinate.name}'"] = (f"{coordinate.unit}/s", partial(_component, "v", k))
        return found

    def readings(self) -> Readings:
        """Return what its numbers are called in a run: coordinates by their names, rates as ``name'``."""
        of = self.model.coordinates
        q = tuple((coordinate.name, coordinate.unit) for coordinate in of)
        return Readings(q, tuple((f"{name}'", f"{unit}/s") for name, unit in q), {})

    def with_params(self, **values: float) -> LagrangianSystem:
        """Return the same system with other values of some parameters; nothing is derived or compiled anew.

        Raises
        ------
        InputError
            An unknown name, a value that is not finite, a coefficient out of range.
        """
        known = dict(self.params)
        for name, value in values.items():
            if name not in known:
                raise InputError(
                    "parameter",
                    repr(name),
                    ", ".join(known) or "none",
                    one_of("parameter", name, known) or "Write LagrangianSystem(..., parameters={...}).",
                )
            known[name] = scalar(f"parameter {name}", value)
        other = object.__new__(LagrangianSystem)
        other._assign(self.model, np.array(list(known.values())), self._choice, self.name)
        other._evaluate, other._bending, other.note = self._evaluate, self._bending, self.note
        return other

    def as_compiled(self) -> LagrangianSystem:
        """Return the same system, interpreted only where its functions are too long to compile."""
        if self._choice is not False:
            return self
        other = object.__new__(LagrangianSystem)
        other._assign(self.model, self._values, None, self.name)
        other._evaluate = other.evaluate
        return other

    def latex(self) -> str:
        """Return the equations of motion and the constraints as an ``align*`` environment."""
        from .latex import latex

        return latex(self.model)

    def spec(self) -> dict[str, Any]:
        """Return plain data (for JSON) from which `from_spec` builds the same system."""
        own = {"kind": "LagrangianSystem", "name": self.name, "compile": self._choice, "values": self._values.tolist()}
        return own | self.model.spec()

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> LagrangianSystem:
        """Build a system from what `spec` returned.

        Expressions are read as data; nothing in them is evaluated as text.

        Raises
        ------
        InputError
            Data of another form.
        """
        model = model_from_spec(spec)
        values = vector("values of the parameters", spec.get("values", []), len(model.parameters))
        system = cls.__new__(cls)
        system._assign(model, values, spec.get("compile"), spec.get("name", "lagrangian system"))
        return system


def _ready(name: str, x: Array, size: int) -> Array:
    """Return a vector that compiled code can take: float64, contiguous, of the right size."""
    if type(x) is np.ndarray and x.dtype == np.float64 and x.shape == (size,) and x.flags.carray:
        return x
    return vector(name, x, size)


def _component(letter: str, k: int, state: State) -> float:
    return float(getattr(state, letter)[k])
