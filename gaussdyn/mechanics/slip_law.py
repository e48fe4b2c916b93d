"""A friction law T(w) of the slip speed, taken apart: its jump at w = 0, which holds at rest, and what is smooth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError

SAMPLES = np.linspace(1e-3, 5.0, 200)  # m/s, where a law is looked at
ODD = 1e-12


@dataclass(frozen=True, slots=True)
class SlipLaw:
    """T(w) = cap sign w + rest(w).

    Attributes
    ----------
    cap : expression
        T(0+), N: for `Friction`.
    rest : expression
        Continuous, rest(0) = 0, N: for the forces, with the sign of T.
    """

    cap: Any
    rest: Any


def slip_law(T: Any, w: Any, values: Mapping[Any, float] | None = None) -> SlipLaw:
    """Take a law apart.

    Parameters
    ----------
    T : expression
        Odd in w; may hold sign(w) and Abs(w).
    w : symbol or expression
        Slip speed, as it stands in T.
    values : mapping, optional
        Of the other symbols, to tell by how much a law is not odd.

    Raises
    ------
    InputError
        T(-w) is not -T(w), by how much and where; T(0+) < 0.

    Examples
    --------
    >>> from sympy import sign, symbols
    >>> w, mu, alpha = symbols("w mu alpha")
    >>> slip_law(mu * sign(w) * (1 - alpha * sign(w) * w), w)
    SlipLaw(cap=mu, rest=-alpha*mu*w)
    """
    import sympy as sp

    s = sp.Dummy(real=True)
    given = sp.sympify(T).subs(w, s)
    plus, minus = (given.xreplace({sp.Abs(s): k * s, sp.sign(s): sp.Integer(k)}) for k in (1, -1))
    _check_odd(plus + minus.subs(s, -s), s, values)
    cap = sp.simplify(plus.subs(s, 0))
    if values is not None and float(cap.subs(values)) < 0.0:
        raise InputError("law", f"T(0+) = {float(cap.subs(values)):.6g}", "T(0+) >= 0: friction resists slip")
    forward, back = sp.expand(plus - cap), sp.expand(minus + cap)
    rest = forward if sp.simplify(forward - back) == 0 else sp.Piecewise((forward, s >= 0), (back, True))
    return SlipLaw(cap, rest.subs(s, w))


def _check_odd(off: Any, s: Any, values: Mapping[Any, float] | None) -> None:
    """Raise InputError unless T(w) + T(-w) vanishes for w > 0."""
    import sympy as sp

    off = sp.simplify(off)
    if off == 0:
        return
    number = off.subs(values or {})
    if number.free_symbols - {s}:
        raise InputError("law", f"T(w) + T(-w) = {off.subs(s, sp.Symbol('w'))}", "an odd law, T(-w) = -T(w)")
    sizes = np.abs(np.broadcast_to(sp.lambdify(s, number, "numpy")(SAMPLES), SAMPLES.shape))
    k = int(sizes.argmax())
    if sizes[k] > ODD:
        given = f"T(w) + T(-w) = {sizes[k]:.6g} N at w = {SAMPLES[k]:.4g} m/s"
        raise InputError("law", given, "an odd law, T(-w) = -T(w)")
