"""Trees of bodies for the kernels: tables with work space of their own, and which velocities belong together."""

from __future__ import annotations

import numpy as np

from ....arrays import Array, IntArray
from ....mechanics.trees.forest import (
    ALONG,
    EQUAL,
    FACE,
    LAST,
    LEAN,
    MEET,
    OF,
    PACE,
    PLANE,
    ROOT,
    RUB,
    SWING,
    Drives,
    Forest,
    V,
    moving_of,
    own_drives,
)
from ....mechanics.trees.jointed_system import JointedSystem
from ....mechanics.trees.system import TreeSystem


def forest_of(system: TreeSystem | JointedSystem) -> tuple[Forest, Forest, IntArray, IntArray, list[tuple[int, ...]]]:
    """Return the tables twice, where blocks of M begin, the block of every body, and where the branches of rows end.

    The last are, for every row, the last velocities of the branches that it reaches over.
    Blocks are those of trees; trees whose velocities lie among each other share one. Bodies that stand still have -1.
    """
    forest = system.tree.forest if isinstance(system, JointedSystem) else system.forest
    trees, drives = forest.trees, forest.drives
    nodes = _blocks(trees.bodies[trees.dofs[:, OF], ROOT])
    at = np.searchsorted(nodes, np.arange(system.nv), side="right") - 1
    last = trees.bodies[:, LAST]
    node = np.where(last >= 0, at[last] if len(at) else -1, -1)
    own = forest._replace(moving=moving_of(trees), drives=_own(drives, isinstance(system, JointedSystem)))
    ahead = own._replace(moving=moving_of(trees), drives=own_drives(own.drives))
    return own, ahead, nodes, node[:-1], [_ends_of(forest, row) for row in range(len(system.blanks))]


def _own(drives: Drives, pushed: bool) -> Drives:
    """Return the tables of drives with what changes from step to step of their own.

    pushed: whether what is told is a generalised force, and nothing for actuators.
    """
    push, beside = np.zeros(len(drives.push)), np.zeros(len(drives.control))
    control = push if pushed else np.zeros(len(drives.control))
    return own_drives(drives)._replace(control=control, push=push, beside=beside, side=drives.side.copy())


def put_steady_rows(forest: Forest, J: Array) -> None:
    """Put the rows that are always the same: limits of lines, and dry friction."""
    start, dof, factor = forest.drives.start, forest.drives.dof, forest.drives.factor
    for k, (what, line, other, _, _) in enumerate(forest.couplings.kinds.tolist()):
        if what == RUB and line < 0:
            J[k, other] = 1.0
        elif what <= RUB:
            sign = forest.couplings.numbers[k, 0] if what == ALONG else 1.0
            for i in range(start[line], start[line + 1]):
                J[k, dof[i]] += sign * factor[i]


def _blocks(root: IntArray) -> IntArray:
    """Return where blocks of velocities begin, and their number; `root` says to which tree each belongs."""
    ends = [int(np.flatnonzero(root == one)[-1]) for one in root]
    starts = [0]
    for k in range(1, len(root)):
        if max(ends[:k]) < k:
            starts.append(k)
    return np.array([*starts, len(root)])


def _ends_of(forest: Forest, row: int) -> tuple[int, ...]:
    """Return the last velocities of the branches that a row of joints reaches over; the first if nothing moves."""
    return _reached(forest, row) or (0,)


def _reached(forest: Forest, row: int) -> tuple[int, ...]:
    what, one, other, _, _ = forest.couplings.kinds[row].tolist()
    if what in (MEET, FACE, LEAN, PLANE):
        return tuple(d for d in forest.trees.bodies[[one, other], LAST].tolist() if d >= 0)
    if what == SWING:
        return (int(forest.trees.joints[one, V]) + 2,)
    if what == RUB and one < 0:
        return (other,)
    if what == PACE:
        return (one, other) if other >= 0 else (one,)
    start, dof = forest.drives.start, forest.drives.dof
    lines = [one, other] if what == EQUAL else [one]
    return tuple(int(d) for line in lines if line >= 0 for d in dof[start[line] : start[line + 1]])
