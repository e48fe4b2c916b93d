"""A constraint evaluated at one state: rows of plain data that a system hands over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Literal

import numpy as np

from .._show import brief
from ..arrays import Array, matrix, scalar, vector
from ..errors import InputError
from ..mends import one_of

Kind = Literal["bilateral", "unilateral", "contact", "bilateral_contact", "dry"]
Level = Literal["position", "velocity", "acceleration"]
KINDS = ("bilateral", "unilateral", "contact", "bilateral_contact", "dry")
LEVELS = ("position", "velocity", "acceleration")
BOUNDS = (
    ("gap", -np.inf, np.inf), ("mu", 0.0, np.inf), ("mu_r", 0.0, np.inf), ("mu_t", 0.0, np.inf), ("cap", 0.0, np.inf),
    ("eps_n", 0.0, 1.0), ("eps_t", -1.0, 1.0),
)  # fmt: skip
SIZES = {"unilateral": (1,), "contact": (1, 2, 3, 4, 5, 6), "bilateral_contact": (1, 2, 3), "dry": (1, 2)}
ROLLING, SPIN = "mu_r", "mu_t"
MOMENTS = {
    4: ((slice(3, 4), SPIN),),
    5: ((slice(3, 5), ROLLING),),
    6: ((slice(3, 5), ROLLING), (slice(5, 6), SPIN)),
}  # by the number of rows of a contact


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Row:
    """One constraint at one state (t, q, v): its value, its rate, and how its second rate depends on a.

    A frictional contact has one normal row and one or two tangential rows, in the order (N, T1, T2).

    Parameters
    ----------
    id : str
        Stable name, the same from step to step, e.g. ``"block.corner0/ground"``.
    kind : str
        bilateral (= 0), unilateral (>= 0), contact (>= 0 with friction), bilateral_contact (= 0 with friction),
        dry (no normal row: friction of at most `cap` on every row).
    level : str
        position: phi(t, q); velocity: psi(t, q, v); acceleration: C a - d.
    gap : float
        phi of a position constraint, m; psi of a velocity constraint, m/s; 0 for an acceleration constraint.
    J : array_like, shape (k, nv)
        Derivative of the rate with respect to v (position, velocity), or C (acceleration).
    rate : array_like, shape (k,)
        Relative velocity of every row, explicit time dependence included; psi for a velocity constraint, m/s.
    drift : array_like, shape (k,)
        What the second rate is without a: acceleration of every row = J a + drift, m/s^2 (-d for acceleration rows).
    mu, mu_s, mu_r, mu_t : float
        Friction coefficients: sliding, at rest (< 0 stands for mu), rolling (m; needs rows N, T1, T2, R1, R2) and
        torsional (m; needs rows N, T1, T2, S, or N, T1, T2, R1, R2, S, with the spin S about the normal).
    cap, cap_s : float
        For dry rows, the largest force while slipping and at rest (< 0 stands for cap), N.
    eps_n, eps_t : float
        Newton restitution, normal and tangential, in [0, 1] and [-1, 1].
    between : pair of str
        Names of the bodies of a contact, the one that the normal points into first (obstacles of the ground by their
        own names); empty for other constraints.
    point : array_like, shape (2,) or (3,), optional
        Where a contact is in space, m.
    frame : array_like, shape (2, 2) or (3, 3), optional
        Directions in space of the rows N, T1, T2 of a contact.

    Raises
    ------
    InputError
        NaN, wrong shapes, a number of rows that the kind does not allow, an unknown kind or level, negative friction.
    """

    id: str
    kind: Kind
    level: Level = "position"
    gap: float = 0.0
    J: Array
    rate: Array
    drift: Array
    mu: float = 0.0
    mu_s: float = -1.0
    mu_r: float = 0.0
    mu_t: float = 0.0
    cap: float = 0.0
    cap_s: float = -1.0
    eps_n: float = 0.0
    eps_t: float = 0.0
    between: tuple[str, str] = ("", "")
    point: Array | None = None
    frame: Array | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        _choose("kind", self.kind, KINDS)
        _choose("level", self.level, LEVELS)
        J = matrix(f"J of {self.id}", self.J)
        object.__setattr__(self, "J", J)
        object.__setattr__(self, "rate", vector(f"rate of {self.id}", self.rate, len(J)))
        object.__setattr__(self, "drift", vector(f"drift of {self.id}", self.drift, len(J)))
        for name in ("mu_s", "cap_s"):
            given = getattr(self, name)
            if isinstance(given, (int, float)) and given < 0:
                object.__setattr__(self, name, getattr(self, name[:-2]))
        for name, low, high in (*BOUNDS, ("mu_s", self.mu, np.inf), ("cap_s", self.cap, np.inf)):
            x = getattr(self, name)
            if type(x) is not float or not low <= x <= high or x in (-np.inf, np.inf):  # quick, for this runs often
                object.__setattr__(self, name, scalar(f"{name} of {self.id}", x, low=low, high=high))
        _check_size(self)

    def but(self, **values: Any) -> Row:
        """Return the same constraint with other values, which are taken as they are: checked by whoever made them.

        Checking takes ten times as long as copying, and the rows of a system are made anew at every state.
        """
        other = object.__new__(Row)
        for put, value in zip(_PUT.values(), _values(self), strict=True):
            put(other, value)
        for name, value in values.items():
            _PUT[name](other, value)
        return other

    def late(self, make: Callable[[], Array], **values: Any) -> LateRow:
        """Return the same with other values, as `but`, whose J `make` gives when it is first asked for."""
        other = object.__new__(LateRow)
        values = {name: getattr(self, name) for name in _PUT if name != "J"} | values
        for name, value in values.items():
            _PUT[name](other, value)
        object.__setattr__(other, "_make", make)
        return other

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.rate)

    @property
    def bilateral(self) -> bool:
        """Whether the first row is an equality."""
        return self.kind in ("bilateral", "bilateral_contact")

    @property
    def frictional(self) -> bool:
        """Whether the constraint carries friction."""
        return self.kind in ("contact", "bilateral_contact", "dry") and self.size > (self.kind != "dry")

    @property
    def moments(self) -> tuple[tuple[slice, float], ...]:
        """Return which rows carry moments of friction, with their coefficients, those that are zero left out."""
        if self.mu_r == 0.0 and self.mu_t == 0.0:
            return ()
        given = [(rows, float(getattr(self, name))) for rows, name in MOMENTS[self.size]]
        return tuple((rows, mu) for rows, mu in given if mu > 0.0)

    @property
    def slip_speed(self) -> float:
        """Tangential speed, m/s (0 without friction)."""
        tangential = self.rate if self.kind == "dry" else self.rate[1:3]
        return float(np.sqrt((tangential**2).sum()))


class LateRow(Row):
    """A constraint whose J is made when it is first asked for: among many bodies it is wide, and few ask."""

    __slots__ = ("_make",)
    _make: Callable[[], Array]

    def __getattr__(self, name: str) -> Any:
        """Make J."""
        if name != "J":
            raise AttributeError(name)
        _PUT["J"](self, J := self._make())
        return J


_values = attrgetter(*(field.name for field in fields(Row)))
_PUT = {field.name: getattr(Row, field.name).__set__ for field in fields(Row)}


def pair_of(id: str, bodies: tuple[str, str]) -> tuple[str, str]:
    """Return the names of the two bodies of a contact; obstacles of the ground go by their own, as the id has it."""
    first, _, second = (label.split(":")[0] for label in id.partition("/"))
    return first if bodies[0] == "ground" else bodies[0], second if bodies[1] == "ground" else bodies[1]


def _check_size(row: Row) -> None:
    allowed = SIZES.get(row.kind, (row.size,))
    for name in (ROLLING, SPIN):
        if getattr(row, name) > 0.0:
            fit = {k for k, found in MOMENTS.items() if name in [one for _, one in found]}
            allowed = tuple(k for k in allowed if k in fit and row.kind == "contact")
    if row.size not in allowed:
        mend = (
            "mu_r > 0 needs a contact with rows N, T1, T2, R1, R2 (and S), mu_t > 0 one that ends with the "
            "spin S: ContactLaw(mu=0.5, mu_r=0.0) has neither."
        )
        moments = "".join(f" with {name} > 0" for name in (ROLLING, SPIN) if getattr(row, name) > 0.0)
        given = f"{row.size} rows of a {row.kind} constraint{moments}"
        raise InputError(f"J of {row.id}", given, f"{allowed or 'no such constraint'}", mend)


def _choose(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(name, repr(value), ", ".join(allowed), one_of(name, value, allowed))
