"""States between two saved ones: interpolated linearly, unit quaternions along the shorter way."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...arrays import Array


def quaternions_of(q: Array, nv: int, names: Mapping[str, str]) -> list[slice]:
    """Return where unit quaternions are: by the names of columns, else (position, quaternion) per body.

    Sizes and lengths have to agree.

    Parameters
    ----------
    q : Array, shape (n, nq)
    nv : int
    names : mapping of str to str
        Readable names of the coordinates ``q0`` ..
    """
    named = [k for k in range(q.shape[1]) if names.get(f"q{k}", "").endswith(".qw")]
    bodies, rest = divmod(q.shape[1], 7)
    places = [slice(k, k + 4) for k in named or range(3, 7 * bodies, 7)]
    if q.shape[1] - nv != len(places) or (rest and not named):
        return []
    unit = (np.abs(np.linalg.norm(q[:, at], axis=1) - 1.0).max() <= 1e-6 for at in places)
    return places if all(unit) else []


def between_states(before: Array, after: Array, s: float, quaternions: list[slice]) -> Array:
    """Return (1 - s) before + s after; unit quaternions, whose sign means nothing, stay of length one."""
    after = after.copy()
    for at in quaternions:
        after[at] *= 1.0 if before[at] @ after[at] >= 0.0 else -1.0
    q: Array = (1.0 - s) * before + s * after
    for at in quaternions:
        q[at] /= np.linalg.norm(q[at])
    return q
