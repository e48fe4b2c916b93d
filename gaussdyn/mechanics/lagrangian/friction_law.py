"""A friction law T(N, w) taken apart: what it holds at rest, what is smooth, and its coefficient of friction.

The one way from a law to a `LagrangianSystem`, with b the slip speed and s a name:

* T(w), under a given load: ``Friction(b, cap=law.cap)`` and the force -law.rest along b;
* T(N, w), linear in the normal force N: ``Contact(gap, slip=b, mu=law.mu)`` beside these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError

SAMPLES = np.concatenate((np.geomspace(1e-6, 1e-3, 20)[:-1], np.linspace(1e-3, 5.0, 400)))  # m/s, looked at
ODD = 1e-12
HALVINGS = 40  # of an interval: a difference that they leave is a jump


@dataclass(frozen=True, slots=True)
class SlipLaw:
    """T(N, w) = (N mu(w) + cap) sign w + rest(w), the friction against a slip w.

    Attributes
    ----------
    cap : expression
        What is left of T(0, 0+), N: for `Friction`.
    rest : expression
        Continuous, rest(0) = 0, N: for the forces, with the sign of T.
    mu : expression
        Of |w|: for `Contact`; 0 where the law knows no normal force.
    """

    cap: Any
    rest: Any
    mu: Any = 0


def slip_law(T: Any, w: Any, values: Mapping[Any, float] | None = None, *, N: Any = None) -> SlipLaw:
    """Take a law apart, and check it.

    Parameters
    ----------
    T : expression
        Odd in w; may hold sign(w) and Abs(w).
    w : symbol or expression
        Slip speed, as it stands in T.
    values : mapping, optional
        Of the other symbols. With them the law is looked at up to 5 m/s: it must be passive, and jump only at w = 0.
    N : symbol, optional
        The normal force in T, linear.

    Raises
    ------
    InputError
        T(-w) is not -T(w), by how much and where; T(0+) < 0; T w < 0 somewhere; a jump away from w = 0, where; not
        linear in N.

    Examples
    --------
    >>> from sympy import sign, symbols
    >>> w, mu, alpha = symbols("w mu alpha")
    >>> slip_law(mu * sign(w) * (1 - alpha * sign(w) * w), w)
    SlipLaw(cap=mu, rest=-alpha*mu*w, mu=0)
    """
    import sympy as sp

    s = sp.Dummy(real=True)
    given = sp.sympify(T).subs(w, s)
    parts = [given] if N is None else _linear(given, sp.sympify(N))
    ways = [[part.xreplace({sp.Abs(s): k * s, sp.sign(s): sp.Integer(k)}) for k in (1, -1)] for part in parts]
    for plus, minus in ways:
        _check_odd(plus + minus.subs(s, -s), s, values)
        _check_passive(plus, s, values)
    (plus, minus), coefficient = ways[0], sp.Integer(0) if N is None else ways[1][0].subs(s, sp.Abs(w))
    cap = sp.simplify(plus.subs(s, 0))
    forward, back = sp.expand(plus - cap), sp.expand(minus + cap)
    rest = forward if sp.simplify(forward - back) == 0 else sp.Piecewise((forward, s >= 0), (back, True))
    return SlipLaw(cap, rest.subs(s, w), sp.simplify(coefficient))


def _linear(given: Any, N: Any) -> list[Any]:
    """Return T(0, w) and the factor of N."""
    import sympy as sp

    factor = sp.diff(given, N)
    if N in sp.simplify(factor).free_symbols:
        raise InputError(
            "law", f"dT/dN = {sp.simplify(factor)}", "a law that is linear in the normal force", "E.g. N mu(w) + c."
        )
    return [given.subs(N, 0), factor]


def _of_speed(part: Any, s: Any, values: Mapping[Any, float] | None) -> Callable[[Array], Array] | None:
    """Return an expression as a function of s, None where values of other symbols are not given."""
    import sympy as sp

    number = part.subs(values or {})
    if number.free_symbols - {s}:
        return None
    plain = sp.lambdify(s, number, "numpy")
    return lambda x: np.broadcast_to(np.asarray(plain(x), dtype=np.float64), x.shape)


def _check_passive(plus: Any, s: Any, values: Mapping[Any, float] | None) -> None:
    """Raise InputError if T(w) < 0 for some w > 0, or if T jumps there."""
    at = _of_speed(plus, s, values)
    if at is None:
        return
    start = float(at(np.zeros(1))[0])
    if start < 0.0:
        raise InputError(
            "law", f"T(0+) = {start:.6g}", "T(0+) >= 0: friction resists slip", "Turn its sign: law=lambda w: -law(w)."
        )
    T = at(SAMPLES)
    if not np.isfinite(T).all():
        raise InputError(
            "law",
            f"T = {T[~np.isfinite(T)][0]} at w = {SAMPLES[~np.isfinite(T)][0]:.4g} m/s",
            "numbers",
            "Divide by abs(w) + 1e-6, not by w: law=lambda w: 0.3 / (1 + abs(w)).",
        )
    k, size = int(T.argmin()), float(np.abs(T).max())
    if T[k] < -ODD * size:
        given = f"not passive: T = {T[k]:.6g} at w = {SAMPLES[k]:.4g} m/s"
        raise InputError(
            "law", given, "T w >= 0 for every slip: friction resists it", "Turn its sign: law=lambda w: -law(w)."
        )
    steps = np.abs(np.diff(T))
    for k in np.argsort(steps)[::-1][:5]:
        where = _jump(at, float(SAMPLES[k]), float(SAMPLES[k + 1]), 1e-9 * size)
        if where is not None:
            given = f"T jumps by {where[1]:.6g} at w = {where[0]:.6g} m/s"
            raise InputError(
                "law",
                given,
                "a law that jumps at w = 0 only",
                "Replace the jump by a steep slope: tanh((w - w0) / 1e-3).",
            )


def _jump(at: Callable[[Array], Array], a: float, b: float, least: float) -> tuple[float, float] | None:
    """Return where a function jumps between two places and by how much, None if it is continuous."""
    Ta, Tb = (float(x) for x in at(np.array([a, b])))
    for _ in range(HALVINGS):
        if abs(Tb - Ta) <= least:
            return None
        m = 0.5 * (a + b)
        Tm = float(at(np.array([m]))[0])
        if abs(Tm - Ta) >= abs(Tb - Tm):
            b, Tb = m, Tm
        else:
            a, Ta = m, Tm
    return 0.5 * (a + b), abs(Tb - Ta)


def _check_odd(off: Any, s: Any, values: Mapping[Any, float] | None) -> None:
    """Raise InputError unless T(w) + T(-w) vanishes for w > 0."""
    import sympy as sp

    off = sp.simplify(off)
    if off == 0:
        return
    at = _of_speed(off, s, values)
    if at is None:
        given = f"T(w) + T(-w) = {off.subs(values or {}).subs(s, sp.Symbol('w'))}"
        raise InputError(
            "law", given, "an odd law, T(-w) = -T(w)", "Write it of abs(w): law=lambda w: 0.3 * sign(w) * exp(-abs(w))."
        )
    sizes = np.abs(at(SAMPLES))
    k = int(sizes.argmax())
    if sizes[k] > ODD:
        given = f"T(w) + T(-w) = {sizes[k]:.6g} N at w = {SAMPLES[k]:.4g} m/s"
        raise InputError(
            "law", given, "an odd law, T(-w) = -T(w)", "Write it of abs(w): law=lambda w: 0.3 * sign(w) * exp(-abs(w))."
        )
