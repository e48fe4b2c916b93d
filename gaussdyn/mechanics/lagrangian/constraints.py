"""Constraints of a system from symbols: expressions as a user writes them, in sympy.

The sign convention is that of `constraints`: kind="unilateral" keeps the expression >= 0, kind="bilateral" = 0.
An expression may hold the time, coordinates, parameters and numbers; velocities where it says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from ...mends import one_of
from ..rows import Kind, Level
from ..user.constraints import Sign, check_name

Expression = Any  # a sympy expression or a number: sympy itself is only imported where it is needed


@dataclass(frozen=True, slots=True)
class Holonomic:
    """phi(t, q) = 0 (or >= 0): a joint, a prescribed motion; a stop or a string without friction.

    Parameters
    ----------
    phi : expression
        Of t and q, m or rad.
    kind : str
        "bilateral" or "unilateral".
    eps_n : expression
        Newton restitution in [0, 1], of parameters, t and q.
    name : str, optional
        Default "holonomic0", "contact1", .. by kind and place in the list.
    """

    phi: Expression
    kind: Sign = "bilateral"
    eps_n: Expression = 0.0
    name: str | None = None

    def __post_init__(self) -> None:
        _check_sign(self.kind)
        check_name(self.name)

    def row(self) -> tuple[Kind, Level, tuple[Expression, ...], dict[str, Expression]]:
        """Return kind and level of its rows, their expressions, and the coefficients."""
        return self.kind, "position", (self.phi,), {"eps_n": self.eps_n}


@dataclass(frozen=True, slots=True)
class Nonholonomic:
    """psi(t, q, v) = 0 (or >= 0): a knife edge, rolling, a speed limit; linear or nonlinear in v.

    Parameters
    ----------
    psi : expression
        Of t, q and v, m/s. No accelerations.
    kind : str
        "bilateral" or "unilateral".
    name : str, optional
    """

    psi: Expression
    kind: Sign = "bilateral"
    name: str | None = None

    def __post_init__(self) -> None:
        _check_sign(self.kind)
        check_name(self.name)

    def row(self) -> tuple[Kind, Level, tuple[Expression, ...], dict[str, Expression]]:
        """Return kind and level of its rows, their expressions, and the coefficients."""
        return self.kind, "velocity", (self.psi,), {}


@dataclass(frozen=True, slots=True)
class Contact:
    """A gap with Coulomb friction: gap(t, q) >= 0 (or = 0: a slider in its guide), and the slip along its tangents.

    Parameters
    ----------
    gap : expression
        Of t and q, m: a distance, so that its reaction is a force.
    slip : expression, or a sequence of one or two
        Velocity of the body relative to the obstacle along each tangent, m/s: of t, q and v, linear in v.
    mu, mu_s : expression
        Friction coefficient of slip and of rest (default mu), of parameters, t, q and v (Stribeck's law, see
        `slip_law`).
    rolling : sequence of two expressions
        Angular velocity relative to the obstacle along the two tangents, rad/s; needed for `mu_r`.
    mu_r : expression
        Rolling resistance, m.
    spin : expression, optional
        Angular velocity relative to the obstacle about the normal, rad/s; needed for `mu_t`.
    mu_t : expression
        Torsional friction, m.
    kind : str
        "unilateral" or "bilateral".
    eps_n, eps_t : expression
        Newton restitution, normal in [0, 1] and tangential in [-1, 1].
    name : str, optional
    """

    gap: Expression
    slip: Expression | Sequence[Expression]
    mu: Expression
    mu_s: Expression | None = None
    rolling: Sequence[Expression] = ()
    mu_r: Expression = 0.0
    spin: Expression | None = None
    mu_t: Expression = 0.0
    kind: Sign = "unilateral"
    eps_n: Expression = 0.0
    eps_t: Expression = 0.0
    name: str | None = None

    def __post_init__(self) -> None:
        _check_sign(self.kind)
        check_name(self.name)
        object.__setattr__(self, "slip", _some("slip", self.slip, (1, 2)))
        object.__setattr__(self, "rolling", _some("rolling", self.rolling, (0, 2)))
        for name, given in (("rolling", bool(self.rolling)), ("spin", self.spin is not None)):
            if given and (len(self.slip) != 2 or self.kind == "bilateral"):
                raise InputError(
                    name,
                    f"{len(self.slip)} slip of a {self.kind} contact",
                    "two, and unilateral",
                    'Write slip=[s1, s2], kind="unilateral".',
                )
        if not self.rolling and self.mu_r != 0:
            raise InputError("mu_r", self.mu_r, "0 without rolling", "Give rolling=[two angular velocities].")
        if self.spin is None and self.mu_t != 0:
            raise InputError("mu_t", self.mu_t, "0 without spin", "Give spin=angular velocity about the normal.")

    def row(self) -> tuple[Kind, Level, tuple[Expression, ...], dict[str, Expression]]:
        """Return kind and level of its rows, their expressions, and the coefficients."""
        coefficients = {"mu": self.mu, "mu_r": self.mu_r, "eps_n": self.eps_n, "eps_t": self.eps_t}
        if self.mu_s is not None:
            coefficients["mu_s"] = self.mu_s
        kind: Kind = "contact" if self.kind == "unilateral" else "bilateral_contact"
        spin = () if self.spin is None else (self.spin,)
        if spin:
            coefficients["mu_t"] = self.mu_t
        return kind, "position", (self.gap, *self.slip, *self.rolling, *spin), coefficients


@dataclass(frozen=True, slots=True)
class Friction:
    """Dry friction under a given load: a force of at most `cap` against the slip (joint friction, a belt).

    Parameters
    ----------
    slip : expression, or a sequence of one or two
        Of t, q and v, linear in v, m/s or rad/s.
    cap, cap_s : expression
        Largest force while slipping and at rest (default cap), N or N m; of parameters, t, q and v.
    name : str, optional
    """

    slip: Expression | Sequence[Expression]
    cap: Expression
    cap_s: Expression | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        object.__setattr__(self, "slip", _some("slip", self.slip, (1, 2)))

    def row(self) -> tuple[Kind, Level, tuple[Expression, ...], dict[str, Expression]]:
        """Return kind and level of its rows, their expressions, and the coefficients."""
        at_rest = {} if self.cap_s is None else {"cap_s": self.cap_s}
        return "dry", "velocity", tuple(self.slip), {"cap": self.cap, **at_rest}


SymbolicConstraint = Holonomic | Nonholonomic | Contact | Friction


def _check_sign(kind: str) -> None:
    if kind not in ("unilateral", "bilateral"):
        raise InputError("kind", repr(kind), "unilateral, bilateral", one_of("kind", kind, ("unilateral", "bilateral")))


def _some(name: str, value: Any, sizes: tuple[int, int]) -> tuple[Expression, ...]:
    """Return one expression or several as a tuple."""
    parts = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if len(parts) not in sizes:
        raise InputError(
            name, f"{len(parts)} expressions", f"{sizes[0]} or {sizes[1]}", f"Write [{', '.join(['0'] * sizes[0])}]."
        )
    return parts
