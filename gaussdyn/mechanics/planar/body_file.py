"""One rigid body in the plane with contacts at given points, exactly as a JSON file states it.

Coordinates (x, y, angle) of the centre of mass; points are relative to it; a normal n points into the body and need
not have length one; the tangent is t = (n_y, -n_x). Numbers are kept as exact rationals: a string "p/q" or an integer
as it stands, a JSON number with a fraction as the exact value of its double.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..._show import brief
from ...errors import InputError
from ...linalg.rational import dot, numbers_of, rational, rationals, text

KIND = "planar_body"
NEEDED = ("m", "J", "points", "mu", "force")
KEYS = ("m", "J", "points", "normals", "mu", "mu_s", "bilateral", "state", "force", "drift")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactBody:
    """Exact data of a body at rest or sliding on contacts.

    Attributes
    ----------
    m, J : Fraction
        Mass, kg, and central moment of inertia, kg m^2.
    points, normals : tuple of (x, y)
        Contact points, m, and normals.
    mu, mu_s : tuple of Fraction
        Friction of slip and of rest, per contact.
    bilateral : tuple of bool
        Whether the contact is held from both sides.
    state : tuple of int
        0 at rest, 1 or -1 sliding along t or -t.
    force : (Fx, Fy, M)
        Load on the centre of mass, N and N m.
    drift : tuple of (n, t)
        Acceleration of every contact that does not depend on forces, m/s^2.
    numbers : str
        "rational", or "exact values of doubles" if any number was given as one.
    """

    name: str
    m: Fraction
    J: Fraction
    points: tuple[tuple[Fraction, ...], ...]
    normals: tuple[tuple[Fraction, ...], ...]
    mu: tuple[Fraction, ...]
    mu_s: tuple[Fraction, ...]
    bilateral: tuple[bool, ...]
    state: tuple[int, ...]
    force: tuple[Fraction, ...]
    drift: tuple[tuple[Fraction, ...], ...]
    numbers: str = "rational"

    __repr__ = brief

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ExactBody:
        """Read a body; unknown keys are ignored.

        Raises
        ------
        InputError
            A missing key, a wrong length, a value out of range; names the key.
        """
        for key in NEEDED:
            if key not in data:
                raise InputError(
                    key,
                    "nothing",
                    f"a planar body needs the keys {', '.join(NEEDED)}",
                    f"Add {key}: ..., see `gaussdyn outcome --help`.",
                )
        points = _pairs("points", data["points"], None)
        count = len(points)
        normals = data.get("normals", "all (0,1)")
        upright = isinstance(normals, str) and normals.replace(" ", "") == "all(0,1)"
        mu = _positive("mu", _list("mu", data["mu"], count))
        mu_s = _positive("mu_s", _list("mu_s", data["mu_s"], count)) if data.get("mu_s") is not None else mu
        body = cls(
            name=str(data.get("name", "")),
            m=_mass("m", data["m"]),
            J=_mass("J", data["J"]),
            points=points,
            normals=((Fraction(0), Fraction(1)),) * count if upright else _pairs("normals", normals, count),
            mu=mu,
            mu_s=mu_s,
            bilateral=_choices("bilateral", data.get("bilateral"), count, (False, True)),
            state=_choices("state", data.get("state"), count, (0, 1, -1)),
            force=tuple(rationals(_list("force", data["force"], 3), "force")),
            drift=_pairs("drift", data["drift"], count) if data.get("drift") else ((Fraction(0),) * 2,) * count,
            numbers=numbers_of([data.get(key) for key in KEYS]),
        )
        return body._checked()

    def _checked(self) -> ExactBody:
        for k, normal in enumerate(self.normals):
            if not any(normal):
                raise InputError(f"normals[{k}]", "(0, 0)", "a vector that is not zero", 'Write "normals": [[0, 1]].')
            if self.mu_s[k] < self.mu[k]:
                raise InputError(
                    f"mu_s[{k}]", self.mu_s[k], f">= mu[{k}] = {self.mu[k]}", f'Write "mu_s": [{self.mu[k]}].'
                )
        return self

    def jacobian(self) -> list[list[Fraction]]:
        """Return the rows (n, t) of every contact in turn, shape (2 contacts, 3)."""
        rows = []
        for (x, y), (nx, ny) in zip(self.points, self.normals, strict=True):
            for ex, ey in ((nx, ny), (ny, -nx)):
                rows.append([ex, ey, x * ey - y * ex])
        return rows

    def local(self) -> tuple[list[list[Fraction]], list[Fraction]]:
        """Return G and b with a = G r + b: contact accelerations for contact forces, both (n, t) by contact."""
        rows, mass = self.jacobian(), (self.m, self.m, self.J)
        light = [[x / m for x, m in zip(row, mass, strict=True)] for row in rows]
        G = [[dot(row, other) for other in rows] for row in light]
        flat = [x for pair in self.drift for x in pair]
        b = [dot(row, self.force) + d for row, d in zip(light, flat, strict=True)]
        return G, b

    def document(self) -> dict[str, Any]:
        """Return the body in its file format, with every number as a rational string."""
        return {
            "m": str(self.m), "J": str(self.J),
            "points": [text(p) for p in self.points], "normals": [text(n) for n in self.normals],
            "mu": text(self.mu), "mu_s": text(self.mu_s), "bilateral": list(self.bilateral),
            "state": list(self.state), "force": text(self.force), "drift": [text(d) for d in self.drift],
        }  # fmt: skip


def _list(name: str, value: Any, count: int | None) -> list[Any]:
    if not isinstance(value, Sequence) or isinstance(value, str) or (count is not None and len(value) != count):
        raise InputError(
            name,
            repr(value),
            f"a list of {'numbers' if count is None else count}",
            f'Write "{name}": {[0.0] * (count or 2)}.',
        )
    return list(value)


def _pairs(name: str, value: Any, count: int | None) -> tuple[tuple[Fraction, ...], ...]:
    rows = _list(name, value, count)
    return tuple(tuple(rationals(_list(f"{name}[{k}]", row, 2), f"{name}[{k}]")) for k, row in enumerate(rows))


def _positive(name: str, values: list[Any]) -> tuple[Fraction, ...]:
    exact = rationals(values, name)
    for k, x in enumerate(exact):
        if x < 0:
            raise InputError(f"{name}[{k}]", x, "a number >= 0", f"Write {name}[{k}] = {-x}.")
    return tuple(exact)


def _mass(name: str, value: Any) -> Fraction:
    x = rational(value, name)
    if x <= 0:
        raise InputError(name, x, "a number > 0", f'Write "{name}": 1.0.')
    return x


def _choices(name: str, value: Any, count: int, allowed: tuple[Any, ...]) -> tuple[Any, ...]:
    if value is None:
        return (allowed[0],) * count
    kind = type(allowed[0])
    for k, x in enumerate(_list(name, value, count)):
        if type(x) is not kind or x not in allowed:
            raise InputError(
                f"{name}[{k}]", repr(x), " or ".join(str(a) for a in allowed), f'Write "{name}": [{allowed[0]!r}].'
            )
    return tuple(value)
