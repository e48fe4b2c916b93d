"""One rigid body in space that touches a plane at one point, exactly as a JSON file states it.

r points from the centre of mass to the contact, the third axis is the normal into the body. With a reaction R the
contact accelerates as m w = F_star + B R, B = 1 + m [r]^T J^-1 [r]. F_star is m times the free acceleration:
    F_star = force + m (J^-1 (moment - Omega x J Omega)) x r + m Omega x (Omega x r),
the last two of which are the gyroscopic and the centripetal part (left out by Ivanov 2009, 5.14-5.15).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..._show import brief
from ...errors import InputError
from ...linalg.rational import dot, integer_row, numbers_of, rational, rationals, solve, text

KIND = "spatial_body"
KEYS = ("m", "J", "r", "mu", "mu_s", "F_star", "force", "moment", "omega", "slip")
ROWS = (2, 0, 1)  # n, t1, t2 among the axes
Vector = Sequence[Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactSpatialBody:
    """Exact data of a body on one point.

    Attributes
    ----------
    name : str
    m : Fraction
        Mass, kg; 1 if a file does not say.
    J : rows of Fraction, shape (3, 3)
        Central inertia, kg m^2.
    r : Fraction, shape (3,)
        From the centre of mass to the contact, m.
    mu, mu_s : Fraction
        Friction of slip and of rest.
    F_star : Fraction, shape (3,)
        m times the acceleration of the contact point without reaction, N.
    slip : (x, y) or None
        Velocity of the contact along the plane, any length; None at rest.
    numbers : str
        "rational", or "exact values of doubles" if any number was given as one.
    """

    name: str
    m: Fraction
    J: tuple[tuple[Fraction, ...], ...]
    r: tuple[Fraction, ...]
    mu: Fraction
    mu_s: Fraction
    F_star: tuple[Fraction, ...]
    slip: tuple[Fraction, Fraction] | None = None
    numbers: str = "rational"

    __repr__ = brief

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ExactSpatialBody:
        """Read a body; unknown keys are ignored. Instead of F_star: force, and if not zero moment and omega.

        Raises
        ------
        InputError
            A missing key, a wrong length, a value out of range; names the key.
        """
        for key in ("J", "r", "mu"):
            if key not in data:
                raise InputError(
                    key,
                    "nothing",
                    "a spatial body needs the keys J, r, mu and F_star",
                    f"Add {key}: ..., see `gaussdyn outcome --help`.",
                )
        m, mu = _positive("m", data.get("m", 1)), rational(data["mu"], "mu")
        if mu < 0:
            raise InputError("mu", mu, "a number >= 0", 'Write "mu": 0.5.')
        mu_s = mu if data.get("mu_s") is None else rational(data["mu_s"], "mu_s")
        if mu_s < mu:
            raise InputError("mu_s", mu_s, f">= mu = {mu}", f'Write "mu_s": {mu}.')
        J, r = _inertia(data["J"]), _vector("r", data["r"], 3)
        return cls(
            name=str(data.get("name", "")), m=m, J=J, r=r, mu=mu, mu_s=mu_s, F_star=_load(data, m, J, r),
            slip=_slip(data.get("slip")), numbers=numbers_of([data.get(key) for key in KEYS]),
        )  # fmt: skip

    def local(self) -> tuple[tuple[tuple[Fraction, ...], ...], tuple[Fraction, ...]]:
        """Return W and q of w = W R + q with rows and columns (n, t1, t2)."""
        arms = _arms(self.r)
        turned = [_apart(self.J, column) for column in zip(*arms, strict=True)]  # columns of J^-1 [r]
        W = tuple(tuple(int(i == j) / self.m - dot(arms[i], turned[j]) for j in ROWS) for i in ROWS)
        return W, tuple(self.F_star[i] / self.m for i in ROWS)

    def document(self) -> dict[str, Any]:
        """Return the data as certificates hold them."""
        return {
            "m": str(self.m), "J": [text(row) for row in self.J], "r": text(self.r), "mu": str(self.mu),
            "mu_s": str(self.mu_s), "F_star": text(self.F_star), "slip": None if self.slip is None else text(self.slip),
        }  # fmt: skip


def _arms(r: Vector) -> list[list[Fraction]]:
    """Return [r], so that [r] x = r cross x."""
    x, y, z = r
    zero = Fraction(0)
    return [[zero, -z, y], [z, zero, -x], [-y, x, zero]]


def _crossed(a: Vector, b: Vector) -> list[Fraction]:
    return [dot(row, b) for row in _arms(a)]


def _apart(J: Sequence[Vector], b: Vector) -> list[Fraction]:
    """Return J^-1 b."""
    x = solve([integer_row([*row, end])[0] for row, end in zip(J, b, strict=True)], 3)
    assert x is not None
    return x


def _load(data: Mapping[str, Any], m: Fraction, J: Sequence[Vector], r: Vector) -> tuple[Fraction, ...]:
    """Return F_star, as given or from force, moment and angular velocity."""
    if data.get("F_star") is not None:
        return _vector("F_star", data["F_star"], 3)
    if data.get("force") is None:
        raise InputError(
            "F_star", "nothing", "F_star, or force (and moment, omega)", "Add F_star: [0, 0, -9.81, 0, 0, 0]"
        )
    force = _vector("force", data["force"], 3)
    moment, omega = (_vector(key, data.get(key) or [0, 0, 0], 3) for key in ("moment", "omega"))
    turning = [x - y for x, y in zip(moment, _crossed(omega, [dot(row, omega) for row in J]), strict=True)]
    parts = force, _crossed(_apart(J, turning), r), _crossed(omega, _crossed(omega, r))
    return tuple(f + m * (a + c) for f, a, c in zip(*parts, strict=True))


def _inertia(value: Any) -> tuple[tuple[Fraction, ...], ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 3:
        raise InputError("J", repr(value), "3 rows of 3 numbers", "Write J: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]")
    J = tuple(_vector(f"J[{i}]", row, 3) for i, row in enumerate(value))
    if any(J[i][j] != J[j][i] for i in range(3) for j in range(i)):
        raise InputError("J", repr(value), "a symmetric matrix", 'Write "J": ((J + J.T) / 2).tolist().')
    minor = J[0][0] * J[1][1] - J[0][1] ** 2
    if not (J[0][0] > 0 and minor > 0 and dot(J[0], _crossed(J[1], J[2])) > 0):
        raise InputError("J", repr(value), "a positive definite matrix", "Write J: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]")
    return J


def _positive(name: str, value: Any) -> Fraction:
    x = rational(value, name)
    if x <= 0:
        raise InputError(name, x, "a number > 0", f'Write "{name}": 1.0.')
    return x


def _vector(name: str, value: Any, size: int) -> tuple[Fraction, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != size:
        raise InputError(name, repr(value), f"a list of {size} numbers", f'Write "{name}": {[0.0] * size}.')
    return tuple(rationals(value, name))


def _slip(value: Any) -> tuple[Fraction, Fraction] | None:
    if value is None:
        return None
    x, y = _vector("slip", value, 2)
    if not (x or y):
        return None
    return x, y
