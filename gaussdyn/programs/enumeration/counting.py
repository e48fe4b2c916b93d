"""How many solutions a problem of blocks has, in floating point: fast, without proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np

from ...arrays import Array, IntArray
from ..proof.exact_linear import ABOVE, EQUAL
from .modes import Block

TOLERANCE = 1e-9
SAME = 1e-7  # points closer than this, relative to the load, are one
NEAR = 1e-7  # slacks below this, relative to the load, are on the border
NUDGE = 1e-7  # relative change of friction that must not change the answer
LEAVES = 4096

Part = tuple[IntArray, Array, Array, Array]  # kinds, rows over u, rows over f, bounds
Table = tuple[Array, IntArray, IntArray, IntArray]  # see enumeration_kernels


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What was found.

    Attributes
    ----------
    points : tuple of Array
        Distinct motions u.
    modes : tuple of tuple of str
        Letters of the modes of each.
    moving : bool
        Whether some mode leaves the motion free: a continuum, unless inequalities fix it.
    complete : bool
        False if the buffer for leaves was too small.
    near : bool
        Whether rounding may have decided: a solution on the border of its mode, or another answer for a friction that
        differs by 1e-7.
    fixed : tuple of bool
        Whether one set of forces belongs to each point only.
    """

    points: tuple[Array, ...]
    modes: tuple[tuple[str, ...], ...]
    moving: bool
    complete: bool
    near: bool = False
    fixed: tuple[bool, ...] = ()

    @property
    def verdict(self) -> str:
        """UNIQUE, MULTIPLE, CONTINUUM, NONE or UNDECIDED."""
        if not self.complete:
            return "UNDECIDED"
        if self.moving:
            return "CONTINUUM"
        return ("NONE", "UNIQUE", "MULTIPLE")[min(len(self.points), 2)]


def count_solutions(W: Array, q: Array, blocks: Sequence[Block]) -> Count:
    """Find all modes of u = W f + q that have solutions.

    Parameters
    ----------
    W, q : Array, shapes (motions, forces), (motions,)
    blocks : sequence of Block
        Motions and forces belong to them in order.
    """
    if not blocks:
        return Count(points=(q,), modes=(("",),), moving=False, complete=True, fixed=(True,))
    table, load, friction = _table(W, q, blocks)
    feasible, complete = _feasible(table)
    near = complete and _hangs_on(friction, table, feasible)
    found: list[tuple[Array, list[str], list[Array | None]]] = []
    moving, scale = False, float(np.abs(q).max(initial=0.0)) or 1.0
    for modes in feasible:
        name = "".join(b.modes[m].letter for b, m in zip(blocks, modes, strict=True))
        f, free, close = _settled(table, modes, W)
        moving |= free > 1
        near |= close
        u, forces = load * (W @ f) + q, None if free else f
        same = next((one for one in found if np.abs(one[0] - u).max() <= SAME * scale), None)
        if same is None:
            found.append((u, [name], [forces]))
        else:
            same[1].append(name)
            same[2].append(forces)
    return Count(points=tuple(u for u, _, _ in found), modes=tuple(tuple(names) for _, names, _ in found),
                 moving=moving, complete=complete, near=near,
                 fixed=tuple(_one(forces) for _, _, forces in found))  # fmt: skip


def _feasible(table: Table) -> tuple[list[tuple[int, ...]], bool]:
    """Return the modes that have solutions, and whether the search came to its end."""
    from .search_kernels import explore

    _, _, start, options = table
    blocks, most = len(options), int(options.max())
    stack = np.zeros((blocks * most + most + 1, blocks), dtype=np.int64)
    stack[0] = -1
    modes, verdict = np.zeros((LEAVES, blocks), dtype=np.int64), np.zeros(LEAVES, dtype=np.int64)
    lam = np.zeros((LEAVES, int((start[:, 1:] - start[:, :-1]).max(axis=1).sum())))
    _, depth, _ = explore(table, stack, 1, TOLERANCE, (modes, verdict, lam))
    return sorted(map(tuple, modes[verdict != 0].tolist())), depth == 0


def _hangs_on(friction: tuple[list[int], list[int]], table: Table, feasible: list[tuple[int, ...]]) -> bool:
    """Return whether other modes have solutions with a little more or less friction."""
    return bool(friction[0]) and any(
        _feasible(_nudged(table, friction, s))[0] != feasible for s in (1 + NUDGE, 1 - NUDGE)
    )


def _nudged(table: Table, friction: tuple[list[int], list[int]], factor: float) -> Table:
    """Return the table with all friction multiplied by a factor."""
    rows = table[0].copy()
    rows[friction] *= factor
    return rows, *table[1:]


def _settled(table: Table, modes: tuple[int, ...], W: Array) -> tuple[Array, int, bool]:
    """Return forces of a mode; 0 if unique, 1 if free, 2 if the motion is free too; whether it is on a border."""
    rows, kinds, start, _ = table
    chosen = np.concatenate([np.arange(start[b, m], start[b, m + 1]) for b, m in enumerate(modes)])
    part, equal = rows[chosen], kinds[chosen] == EQUAL
    f, rank = _particular(part[equal])
    if rank == W.shape[1]:
        return f, 0, bool((part[~equal, :-1] @ f - part[~equal, -1] < NEAR * max(1.0, np.abs(f).max())).any())
    if _moves(part[equal], W, rank):
        return f, 2, False
    return f, 1, not _has_room(part, kinds[chosen])


def _has_room(part: Array, kinds: IntArray) -> bool:
    """Whether the inequalities of a mode can all be strict."""
    from .search_kernels import room, test_mode

    count = len(part)
    start, options = np.array([[0, count, count]]), np.array([1])
    table = part, np.where(kinds == EQUAL, EQUAL, ABOVE), start, options
    return bool(test_mode(table, np.zeros(1, dtype=np.int64), room(table, count), NEAR, np.zeros(count)) == 1)


def _one(forces: Sequence[Array | None]) -> bool:
    """Whether all modes of a point have the same forces."""
    first = forces[0]
    return first is not None and all(f is not None and np.allclose(f, first, rtol=SAME, atol=SAME) for f in forces)


def _particular(equal: Array) -> tuple[Array, int]:
    f, _, rank, _ = np.linalg.lstsq(equal[:, :-1], equal[:, -1], rcond=1e-10)
    return np.asarray(f), int(rank)


def _moves(equal: Array, W: Array, rank: int) -> bool:
    """Whether the motion changes along the free directions of the forces."""
    _, _, Vt = np.linalg.svd(equal[:, :-1])
    return bool(np.abs(W @ Vt[rank:].T).max(initial=0.0) > SAME * max(float(np.abs(W).max()), 1e-300))


def _table(W: Array, q: Array, blocks: Sequence[Block]) -> tuple[Table, float, tuple[list[int], list[int]]]:
    """Return what `search_kernels.explore` takes, the scale of its f, and where friction stands in its rows."""
    widest = max(len(block.modes) for block in blocks) + 1
    start = np.zeros((len(blocks), widest + 1), dtype=np.int64)
    flat: list[Array] = []
    kinds: list[IntArray] = []
    friction: tuple[list[int], list[int]] = ([], [])
    at_u = at_f = count = 0
    for b, block in enumerate(blocks):
        own, load = W[at_u : at_u + block.motions], q[at_u : at_u + block.motions]
        (kind, motion, force, bound), ends, rough = _parts(block)
        rows = np.empty((len(kind), W.shape[1] + 1))
        rows[:, :-1] = motion @ own
        rows[:, at_f : at_f + block.forces] += force
        rows[:, -1] = bound - motion @ load
        flat.append(rows)
        kinds.append(kind)
        start[b, : len(ends)] = [count + end for end in ends]
        start[b, len(ends) :] = count + ends[-1]
        friction[0].extend(count + i for i in rough)
        friction[1].extend([at_f] * len(rough))
        count += len(kind)
        at_u, at_f = at_u + block.motions, at_f + block.forces
    A = np.vstack(flat)
    size = np.abs(A[:, :-1]).max(axis=1, initial=0.0)
    A /= np.where(size > 0, size, 1.0)[:, None]
    scale = float(np.abs(A[:, -1]).max(initial=0.0)) or 1.0
    A[:, -1] /= scale
    options = np.array([len(block.modes) for block in blocks], dtype=np.int64)
    return (A, np.concatenate(kinds), start, options), scale, friction


@lru_cache(maxsize=4096)
def _parts(block: Block) -> tuple[Part, list[int], list[int]]:
    """Return the conditions of all modes and the shared ones as arrays, where each mode begins, and friction's rows."""
    options = block.options
    conditions = [c for option in options for c in option]
    ends = [0, *accumulate(len(option) for option in options)]
    rough = [
        i for i, c in enumerate(conditions)
        if block.motions == block.forces == 2 and not any(c.motion) and all(c.force)
    ]  # fmt: skip
    part = (
        np.array([c.kind for c in conditions], dtype=np.int64),
        _floats([c.motion for c in conditions], block.motions),
        _floats([c.force for c in conditions], block.forces),
        np.array([float(c.bound) for c in conditions]),
    )
    return part, ends, rough


def _floats(rows: Sequence[Sequence[Fraction | int]], width: int) -> Array:
    return np.array([[float(x) for x in row] for row in rows]).reshape(-1, width)
