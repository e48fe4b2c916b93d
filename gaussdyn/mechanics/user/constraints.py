"""Constraints as a user writes them: functions of (t, q, v), with the derivatives found by differences.

The sign convention is the same everywhere: kind="unilateral" keeps the expression >= 0, kind="bilateral" = 0.
"""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import ArrayLike

from ...arrays import scalar
from ...errors import InputError
from ...mends import one_of

Sign = Literal["unilateral", "bilateral"]


@dataclass(frozen=True, slots=True)
class Position:
    """phi(t, q) >= 0 (or = 0): a gap, a joint, a string, a stop; with `mu` a contact with friction.

    Parameters
    ----------
    phi : callable
        phi(t, q) -> number, m. With friction it must be a distance: its reaction is then a force.
    jacobian : callable, optional
        jacobian(t, q) -> d phi / d q, shape (nq,). By differences if not given.
    kind : str
        "unilateral" or "bilateral".
    mu, mu_s : float, optional
        Friction coefficient of sliding and at rest (default mu); None is frictionless.
    tangent : callable, optional
        tangent(t, q) -> shape (nv,) or (k, nv), k = 1 or 2: rows T whose product with v is the velocity of the
        body at the contact along the tangents. May be left out for a point in the plane, q = (x, y): then T is the
        gradient of phi turned clockwise, (n_y, -n_x).
    surface : callable or float
        Velocity of the ground along the tangents, m/s: the slip is T v - surface. A number, or surface(t, q) ->
        number or shape (k,).
    mu_r : float
        Rolling resistance in space, m: a moment of at most mu_r r_N acts against the rolling. Needs mu, two tangents
        and `rolling`.
    rolling : callable, optional
        rolling(t, q) -> shape (2, nv): rows R whose product with v is the angular velocity of the body, relative to
        the ground, along the two tangents (rad/s).
    mu_t : float
        Torsional friction in space, m: a moment of at most mu_t r_N acts against the spin about the normal. Needs mu,
        two tangents and `spin`.
    spin : callable, optional
        spin(t, q) -> shape (nv,): the row whose product with v is the angular velocity of the body, relative to the
        ground, about the normal (rad/s).
    eps_n, eps_t : float
        Newton restitution, normal in [0, 1] and tangential in [-1, 1].
    drift : callable, optional
        drift(t, q, v) -> what d2 phi / dt2 is without the acceleration. By differences if not given.
    name : str, optional
        Default "position0", "velocity1", .. by place in the list.

    Attributes
    ----------
    timeless : bool
        Whether phi surely does not depend on the time: the code of the function does not look at it.
    """

    phi: Callable[..., ArrayLike]
    jacobian: Callable[..., ArrayLike] | None = None
    kind: Sign = "unilateral"
    mu: float | None = None
    mu_s: float | None = None
    tangent: Callable[..., ArrayLike] | None = None
    surface: Callable[..., ArrayLike] | float = 0.0
    mu_r: float = 0.0
    rolling: Callable[..., ArrayLike] | None = None
    mu_t: float = 0.0
    spin: Callable[..., ArrayLike] | None = None
    eps_n: float = 0.0
    eps_t: float = 0.0
    drift: Callable[..., ArrayLike] | None = None
    name: str | None = None
    timeless: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_kind(self.kind, ("unilateral", "bilateral"))
        check_function("phi", self.phi, "t, q")
        object.__setattr__(self, "timeless", ignores_first(self.phi))
        check_name(self.name)
        for name in ("jacobian", "tangent", "rolling", "spin", "drift"):
            if getattr(self, name) is not None:
                check_function(name, getattr(self, name), "t, q, v" if name == "drift" else "t, q")
        if callable(self.surface):
            check_function("surface", self.surface, "t, q")
        if self.mu is not None:
            scalar("mu", self.mu, low=0.0)
        if self.mu_s is not None:
            if self.mu is None:
                raise InputError("mu_s", self.mu_s, "mu_s together with mu", f"Write mu={self.mu_s!r} as well.")
            scalar("mu_s", self.mu_s, low=self.mu)
        for name, rows in (("mu_r", "rolling"), ("mu_t", "spin")):
            most = scalar(name, getattr(self, name), low=0.0)
            if most > 0.0 and (self.mu is None or getattr(self, rows) is None or self.kind == "bilateral"):
                raise InputError(
                    name,
                    most,
                    f"a unilateral contact with mu, tangent and {rows}",
                    "Write mu=..., tangent=... as well.",
                )
        scalar("eps_n", self.eps_n, low=0.0, high=1.0)
        scalar("eps_t", self.eps_t, low=-1.0, high=1.0)


@dataclass(frozen=True, slots=True)
class Velocity:
    """psi(t, q, v) >= 0 (or = 0): rolling, a knife edge, a speed limit; or dry friction on the slip psi.

    Parameters
    ----------
    psi : callable
        psi(t, q, v) -> number, m/s; linear or nonlinear in v.
    jacobian : callable, optional
        jacobian(t, q, v) -> d psi / d v, shape (nv,). By differences if not given.
    kind : str
        "unilateral", "bilateral", or "dry": psi is free, and a force of at most `cap` acts against it.
    cap, cap_s : float
        Of dry friction, N: the force while slipping, and the largest at rest (default cap).
    drift : callable, optional
        drift(t, q, v) -> d psi / dt without the acceleration. By differences if not given.
    name : str, optional
    """

    psi: Callable[..., ArrayLike]
    jacobian: Callable[..., ArrayLike] | None = None
    kind: Literal["unilateral", "bilateral", "dry"] = "unilateral"
    cap: float = 0.0
    cap_s: float | None = None
    drift: Callable[..., ArrayLike] | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        _check_kind(self.kind, ("unilateral", "bilateral", "dry"))
        check_name(self.name)
        for name in ("psi", "jacobian", "drift"):
            if name == "psi" or getattr(self, name) is not None:
                check_function(name, getattr(self, name), "t, q, v")
        cap = scalar("cap", self.cap, low=0.0)
        if self.kind != "dry" and (cap > 0 or self.cap_s is not None):
            raise InputError("cap", cap, "a cap only with kind='dry'", "Write kind='dry', or leave cap=... out.")
        if self.cap_s is not None:
            scalar("cap_s", self.cap_s, low=cap)


@dataclass(frozen=True, slots=True)
class Acceleration:
    """C(t, q, v) a >= d(t, q, v) (or = d).

    Parameters
    ----------
    C : callable or array_like
        Shape (nv,) or (k, nv): a constant, or C(t, q, v).
    d : callable or array_like
        Shape () or (k,): a constant, or d(t, q, v), m/s^2.
    kind : str
        "unilateral" or "bilateral".
    name : str, optional
        With k > 1 unilateral rows they are named name[0], name[1], ..
    """

    C: Callable[..., ArrayLike] | ArrayLike
    d: Callable[..., ArrayLike] | ArrayLike
    kind: Sign = "unilateral"
    name: str | None = None

    def __post_init__(self) -> None:
        _check_kind(self.kind, ("unilateral", "bilateral"))
        check_name(self.name)
        for name in ("C", "d"):
            if callable(getattr(self, name)):
                check_function(name, getattr(self, name), "t, q, v")


Constraint = Position | Velocity | Acceleration


def _check_kind(kind: str, allowed: tuple[str, ...]) -> None:
    if kind not in allowed:
        raise InputError("kind", repr(kind), ", ".join(allowed), one_of("kind", kind, allowed))


def check_function(name: str, value: object, arguments: str) -> None:
    """Raise InputError unless `value` can be called with these arguments, e.g. "t, q"."""
    if not callable(value):
        raise InputError(name, repr(value), f"a function of ({arguments})", f"Write {name}=lambda {arguments}: ...")
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # some built-in callables have none
        return
    try:
        signature.bind(*arguments.split(", "))
    except TypeError:
        mend = f"Write it as f = lambda {arguments}: ..., even where it does not need them all."
        raise InputError(name, f"a function of {signature}", f"a function of ({arguments})", mend) from None


LOOKS = frozenset(("locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe"))  # at all variables at once


def ignores_first(function: Callable[..., Any]) -> bool:
    """Return whether a function surely does not look at its first argument: its code names it nowhere.

    False where that is not known, of what is no plain function, say.
    """
    code = getattr(function, "__code__", None)
    if not inspect.isfunction(function) or code is None or code.co_argcount == 0:
        return False
    name = code.co_varnames[0]
    if name in code.co_cellvars or not LOOKS.isdisjoint(code.co_names):
        return False
    named = (one.argval for one in dis.get_instructions(code))
    texts = (one for one in code.co_consts if isinstance(one, str) and one != function.__doc__)  # that others evaluate
    spelt = any(name in re.findall(r"\w+", one) for one in texts)
    return not spelt and not any(name in one if isinstance(one, tuple) else name == one for one in named)


def check_name(name: object) -> None:
    """Raise InputError unless a name is a text, or None."""
    if name is not None and (not isinstance(name, str) or not name):
        raise InputError("name", repr(name), "a text that is not empty, or None", 'Write name="contact".')
