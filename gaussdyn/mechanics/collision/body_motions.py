"""How all bodies of a system move at one state."""

from __future__ import annotations

from typing import NamedTuple

from ...arrays import Array, IntArray


class BodyMotions(NamedTuple):
    """How b bodies move at one state: the attributes of `features.Motion`, stacked; the ground may be the last.

    Attributes
    ----------
    x, R, v, omega, drift : Array, shape (b, 3), R (b, 3, 3)
    J, turn : Array, shape (b, 3, w)
        For those w velocities of the system that begin with number `first`.
    first : IntArray, shape (b,)
    """

    x: Array
    R: Array
    v: Array
    omega: Array
    drift: Array
    J: Array
    turn: Array
    first: IntArray
