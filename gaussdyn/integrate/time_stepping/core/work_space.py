"""Work space of a step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, I1, record
from ....arrays import Array, IntArray
from .problem.standstill import Standstill
from .problem.standstill import room as still_room

GIVEN, BLIND, FOLLOWS, SLOPED, FINE, TURNS, PASS, LED, STANDS, LOOSE, AT_ODDS, UNSEEN = range(12)  # of `Work.course`


@record("Standstill", A2, I1, I1, A2, A1, A1, A1, A1, A1, A1, I1, A1, I1, I1, I1)
class Work(NamedTuple):
    """Work space of a step.

    Attributes
    ----------
    still : Standstill
    inverse : Array, shape (nv, nv)
        Of M - theta dt dh/dv.
    whole : IntArray, shape (2,)
        Nodes of a matrix that has one block only.
    threes : IntArray
        Nodes of a matrix that has blocks of three: bodies in space move apart from how they turn.
    small : Array, shape (6, 3)
    mean, speed, momentum, hu, wu : Array
        Mean velocity; largest speeds at hand, and their momentum; force and w of the last pass.
    size : Array, shape (n,)
        Longest row of every constraint in the metric of the inverse mass.
    late : IntArray, shape (n,)
    when : Array, shape (n,)
    mode, now : IntArray, shape (n,)
        Modes of what acts, -1: does not; what they were at the end of the last step.
    course : IntArray, shape (12,)
        How passes go. GIVEN: the caller has solved the problem of this one. BLIND: rows are the same everywhere, and
        no end is looked at. FOLLOWS: the force is followed by Newton's method, SLOPED: with the inverse by bodies.
        FINE: the last one was solved to its goal. TURNS: how often drives came to their limits or off them. PASS: its
        number. LED: DONE, or OVERLAP, at the end that it led to. STANDS: the step of a tree ended exactly as it began,
        impulses and modes included, and so will the next one that is told the same and as long. LOOSE: what rounding
        has left of the rates of joints is still in the last solution. AT_ODDS: whether bodies have met a
        problem whose data disagree, see `near_solution.disagree`. UNSEEN: nobody asks for energies, work and what
        constraints did.
    """

    still: Standstill
    inverse: Array
    whole: IntArray
    threes: IntArray
    small: Array
    mean: Array
    speed: Array
    momentum: Array
    hu: Array
    wu: Array
    size: Array
    late: IntArray
    when: Array
    mode: IntArray
    now: IntArray
    course: IntArray


def room(n: int, m: int, nv: int) -> Work:
    """Return work space for n constraints with m rows."""
    vectors = [np.zeros(nv) for _ in range(4)]
    numbers = [np.zeros(n, dtype=np.int64) for _ in range(3)]
    square = still_room(m, nv), np.zeros((nv, nv))
    both = np.array([0, nv]), np.arange(0, nv + 1, 3), np.zeros((6, 3))
    course = np.zeros(UNSEEN + 1, dtype=np.int64)
    sizes = np.zeros(m), np.zeros(n), numbers[0], np.zeros(n)
    return Work._make([*square, *both, *vectors, *sizes, *numbers[1:], course])
