"""Begin, length and end of the steps that kernels take in one call."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from .....arrays import Array

if TYPE_CHECKING:
    from ...moreau_jean import MoreauJean

PAGE = 1024  # spans that are made at once


def spans_of(stepper: MoreauJean, t: float, n: int, t_max: float) -> Array:
    """Return start, length and end of up to n steps, none beyond `t_max`."""
    spans: list[tuple[float, float, float]] = []
    dt = stepper.dt
    horizon, k = min(t_max, t + (n + 2) * dt), round(t / dt)
    if t == k * dt and horizon < t_max:
        page, first = divmod(k, PAGE)
        return _page(page, dt)[first : first + n].copy() if first + n <= PAGE else _whole(k, n, dt)
    while len(spans) < n and t < horizon:
        dt, end = stepper.span(t, horizon)
        spans.append((t, dt, end))
        t = end
    return np.array(spans).reshape(-1, 3)


def _whole(k: int, n: int, dt: float) -> Array:
    """Return n spans on the grid from k dt on."""
    ends = np.arange(k, k + n + 1) * dt
    return np.column_stack([ends[:-1], np.full(n, dt), ends[1:]])


@lru_cache(maxsize=16)
def _page(page: int, dt: float) -> Array:
    """Return the spans of a page of the grid: many calls in a row take a part of it."""
    return _whole(page * PAGE, PAGE, dt)
