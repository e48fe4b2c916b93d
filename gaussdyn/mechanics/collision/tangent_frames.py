"""Tangents of contacts in space: the chart that they come from, and rows in the other one.

T1 and T2 are functions of the normal (`feature_kinematics.contact_frame`), which cannot be without a jump: there are
two charts, and tangents turn at once where n_z passes TURNOVER. A motion that is smooth in between keeps the chart that
it began with, and a time step that of its middle.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..rows import Row

QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])  # a turn by 90 degrees
STEP = 0.3  # rad: no normal turns as far within half a time step


def chart_of(n: Array) -> int:
    """Return the chart of a normal: 1 about n = z, -1 about n = -z."""
    from .feature_kinematics import TURNOVER

    return 1 if n[2] > TURNOVER else -1


def into_chart(n: Array, chart: int) -> Array:
    """Return the matrix that takes components along T1, T2 of the other chart into this one, shape (2, 2).

    With x, y = r (cos p, sin p) the normal's meridian is at the angle p in chart 1, at pi - p in chart -1: one is
    turned against the other by pi - 2 p.
    """
    x, y = float(n[0]), float(n[1])
    r2 = x * x + y * y
    c, s = (y * y - x * x) / r2, chart * -2.0 * x * y / r2
    return np.array([[c, -s], [s, c]])


def in_chart(row: Row, dn: Array, chart: int) -> Row:
    """Return a row with its tangents in a chart.

    Parameters
    ----------
    row : Row
        With the tangents of the chart that its normal has by itself.
    dn : Array, shape (3,)
        Rate of the normal, 1/s.
    chart : int
        1, -1 or 0: as they are.
    """
    assert row.frame is not None
    n = row.frame[0]
    if chart in (0, chart_of(n)):
        return row
    Q = into_chart(n, chart)
    dQ = chart * 2.0 * (n[0] * dn[1] - n[1] * dn[0]) / (n[0] * n[0] + n[1] * n[1]) * (QUARTER @ Q)
    frame, J, rate, drift = row.frame.copy(), row.J.copy(), row.rate.copy(), row.drift.copy()
    frame[1:] = Q @ frame[1:]
    for part in (slice(1, 3), slice(3, 5)):
        if part.stop <= row.size:
            J[part], rate[part] = Q @ row.J[part], Q @ row.rate[part]
            drift[part] = Q @ row.drift[part] + dQ @ row.rate[part]
    return row.but(frame=frame, J=J, rate=rate, drift=drift)


def may_turn_over(row: Row) -> bool:
    """Return whether a contact in space may have been in the other chart half a time step ago."""
    from .feature_kinematics import TURNOVER

    return row.frame is not None and len(row.frame) == 3 and abs(float(row.frame[0, 2]) - TURNOVER) < STEP


def along_chart_of(other: Row, row: Row) -> Row:
    """Return a contact's row with its tangents in the chart of its normal elsewhere, but for drifts.

    Impulses are along the tangents at the middle of a step, and laws compare them with rates at its end.
    """
    from .feature_kinematics import POLE

    if other.frame is None or row.frame is None or len(row.frame) != 3:
        return row
    chart = chart_of(other.frame[0])
    return row if abs(chart + row.frame[0, 2]) < POLE else in_chart(row, np.zeros(3), chart)


def turned_components(x: Array, Q: Array) -> Array:
    """Return what a contact carries along N, T1, T2 (and R1, R2, S) with its tangential parts turned."""
    found = x.copy()
    for part in (slice(1, 3), slice(3, 5)):
        if part.stop <= len(x):
            found[part] = Q @ x[part]
    return found
