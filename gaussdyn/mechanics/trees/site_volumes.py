"""Whether a ray meets the volume of a site."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from .sensors import Site


def meets(site: Site, start: Array, way: Array) -> bool:
    """Return whether a ray meets the volume of a site, all in its axes."""
    a, b, _c = site.half
    if site.form == "box":
        return _meets_box(start.tolist(), way.tolist(), site.half)
    if site.form == "capsule":
        ends = np.array([[0.0, 0.0, -b], [0.0, 0.0, b]])
        return _ray_to_segment(start, way, ends) <= a
    size = np.array([a, a, a]) if site.form == "sphere" else np.array(site.half)
    x, d = start / size, way / size
    x = x + max(0.0, -float(x @ d) / float(d @ d)) * d  # where it comes nearest
    return bool(x @ x <= 1.0)


def _meets_box(start: Sequence[float], way: Sequence[float], half: Sequence[float]) -> bool:
    """Return whether a ray meets a box: between all pairs of faces at the same time."""
    near, far = 0.0, math.inf
    for x, d, h in zip(start, way, half, strict=True):
        if d != 0.0:
            ends = (-h - x) / d, (h - x) / d
            near, far = max(near, min(ends)), min(far, max(ends))
        elif abs(x) > h:
            return False
    return near <= far


def _ray_to_segment(start: Array, way: Array, ends: Array) -> float:
    """Return the distance of a ray, of unit direction, and a segment: the least of a convex function of one number."""

    def apart(s: float) -> float:
        r = ends[0] + s * (ends[1] - ends[0]) - start
        return float(np.linalg.norm(r - max(0.0, float(r @ way)) * way))

    low, high = 0.0, 1.0
    for _ in range(60):
        a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, b) if apart(a) < apart(b) else (a, high)
    return apart(0.5 * (low + high))
