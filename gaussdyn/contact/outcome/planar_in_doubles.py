"""The outcome of a planar body in floating point, where rounding cannot decide it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ...arrays import Array
from ...mechanics.planar.body_file import ExactBody
from ...programs.enumeration.counting import count_solutions
from ...programs.enumeration.enumerate import Component
from ...programs.enumeration.hulls import Hull
from ...programs.enumeration.modes import planar_blocks
from .verdicts import Outcome, Verdict


def planar_outcome(body: ExactBody) -> tuple[Outcome | None, bool]:
    """Return the outcome from doubles, None where exact arithmetic must tell; and whether rounding may decide.

    Rounding may decide where a solution lies on the border of its mode, or a change of friction by 1e-7 would change
    the answer. Exact arithmetic is also needed where the motion is free.
    """
    try:
        W, q = _local(body)
    except OverflowError:
        return None, True
    blocks = planar_blocks(body.mu, body.mu_s, body.bilateral, body.state)
    if not blocks or not np.isfinite(W).all() or not np.isfinite(q).all():
        return None, True
    count = count_solutions(W, q, blocks)
    if count.near or count.moving or not count.complete:
        return None, count.near
    found = zip(count.points, count.modes, count.fixed, strict=True)
    components = tuple(Component(modes, tuple(_hull(u) for _ in modes), fixed) for u, modes, fixed in found)
    reason = "counted in floating point"
    verdict = Verdict(count.verdict)
    return Outcome(verdict=verdict, count=len(components), exact=False, components=components, reason=reason), False


def _local(body: ExactBody) -> tuple[Array, Array]:
    """Return G and b of a = G r + b in doubles."""
    J = np.array(_doubles(body.jacobian())).reshape(-1, 3)
    light = J / np.array(_doubles([[body.m, body.m, body.J]]))
    drift = np.array(_doubles(body.drift)).ravel()
    return light @ J.T, light @ np.array([float(x) for x in body.force]) + drift


def _doubles(rows: Sequence[Sequence[Fraction]]) -> list[list[float]]:
    return [[float(x) for x in row] for row in rows]


def _hull(u: Array) -> Hull:
    """Return the point (a_n of each contact, then a_t)."""
    return Hull((tuple(Fraction(float(x)) for x in (*u[::2], *u[1::2])),))
