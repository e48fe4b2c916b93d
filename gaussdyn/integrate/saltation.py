"""How a small difference of two motions changes at an event: the saltation matrix.

With the surface phi(t, y) = 0, the fields f- before and f+ after it, and a jump y+ = R(t, y-),

    Y+ = S Y-,    S = R_y + (f+ - R_y f- - R_t) phi_y / (phi_t + phi_y f-).

Crossing and release have R = id, a stop too (the field of stick follows), an impact R = restitution.
Sources: Aizerman, Gantmakher (1958); Ivanov (2009), (4.3), with the sign fixed.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import InputError


def saltation(
    before: Array,
    after: Array,
    phi_t: float,
    phi_y: Array,
    jump: Array | None = None,
    jump_t: Array | None = None,
) -> Array:
    """Return S, shape (n, n).

    Parameters
    ----------
    before, after : Array, shape (n,)
        f- and f+ at the event, f+ at the state after the jump.
    phi_t, phi_y : float, Array (n,)
        Derivatives of the surface before the event.
    jump : Array, shape (n, n), optional
        R_y; the identity by default.
    jump_t : Array, shape (n,), optional
        R_t; zero by default.

    Raises
    ------
    InputError
        The motion touches the surface without crossing it: S is not defined there.
    """
    R = np.eye(len(before)) if jump is None else jump
    speed = float(phi_t + phi_y @ before)
    size = float(np.abs(phi_t) + np.abs(phi_y) @ np.abs(before))
    if abs(speed) <= 1e-13 * max(size, 1e-300):
        raise InputError(
            "event", f"phi' = {speed:.3g}", "a surface that is crossed", "Move off grazing: State(q=..., v=1.01 * v)."
        )
    S: Array = R + np.outer(after - R @ before - (0.0 if jump_t is None else jump_t), phi_y) / speed
    return S
