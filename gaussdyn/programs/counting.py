"""How many solutions a problem of blocks has, in floating point: fast, without proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..arrays import Array, IntArray
from .exact import EQUAL
from .modes import Block

TOLERANCE = 1e-9
SAME = 1e-7  # points closer than this, relative to the load, are one
LEAVES = 4096

Part = tuple[IntArray, Array, Array, Array]  # kinds, rows over u, rows over f, bounds


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
    """

    points: tuple[Array, ...]
    modes: tuple[tuple[str, ...], ...]
    moving: bool
    complete: bool

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
    from .enumeration_kernels import explore

    (rows, kinds, start, options), load = _table(W, q, blocks)
    if not blocks:
        return Count(points=(q,), modes=(("",),), moving=False, complete=True)
    most = int(options.max())
    stack = np.zeros((len(blocks) * most + most + 1, len(blocks)), dtype=np.int64)
    stack[0] = -1
    modes, verdict = np.zeros((LEAVES, len(blocks)), dtype=np.int64), np.zeros(LEAVES, dtype=np.int64)
    lam = np.zeros((LEAVES, int((start[:, 1:] - start[:, :-1]).max(axis=1).sum())))
    leaves, depth, _ = explore((rows, kinds, start, options), stack, 1, TOLERANCE, (modes, verdict, lam))
    found: list[tuple[Array, list[str]]] = []
    moving, scale = False, float(np.abs(q).max(initial=0.0)) or 1.0
    for i in np.flatnonzero(verdict[:leaves]):
        chosen = np.concatenate([np.arange(start[b, m], start[b, m + 1]) for b, m in enumerate(modes[i])])
        equal = rows[chosen[kinds[chosen] == EQUAL]]
        f, rank = _particular(equal)
        moving = moving or (rank < W.shape[1] and _moves(equal, W, rank))
        u, name = load * (W @ f) + q, "".join(b.modes[m].letter for b, m in zip(blocks, modes[i], strict=True))
        near = next((names for point, names in found if np.abs(point - u).max() <= SAME * scale), None)
        if near is None:
            found.append((u, [name]))
        else:
            near.append(name)
    return Count(points=tuple(u for u, _ in found), modes=tuple(tuple(names) for _, names in found), moving=moving,
                 complete=depth == 0)  # fmt: skip


def _particular(equal: Array) -> tuple[Array, int]:
    f, _, rank, _ = np.linalg.lstsq(equal[:, :-1], equal[:, -1], rcond=1e-10)
    return np.asarray(f), int(rank)


def _moves(equal: Array, W: Array, rank: int) -> bool:
    """Whether the motion changes along the free directions of the forces."""
    _, _, Vt = np.linalg.svd(equal[:, :-1])
    return bool(np.abs(W @ Vt[rank:].T).max(initial=0.0) > SAME * max(float(np.abs(W).max()), 1e-300))


def _table(W: Array, q: Array, blocks: Sequence[Block]) -> tuple[tuple[Array, IntArray, IntArray, IntArray], float]:
    """Return what `enumeration_kernels.explore` takes (see `enumeration.System.table`), and the scale of its f."""
    widest = max((len(block.modes) for block in blocks), default=0) + 1
    start = np.zeros((len(blocks), widest + 1), dtype=np.int64)
    flat: list[Array] = [np.zeros((0, W.shape[1] + 1))]
    kinds: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    at_u = at_f = count = 0
    for b, block in enumerate(blocks):
        own, load = W[at_u : at_u + block.motions], q[at_u : at_u + block.motions]
        for o, (kind, motion, force, bound) in enumerate(_parts(block)):
            rows = np.empty((len(kind), W.shape[1] + 1))
            rows[:, :-1] = motion @ own
            rows[:, at_f : at_f + block.forces] += force
            rows[:, -1] = bound - motion @ load
            start[b, o], count = count, count + len(kind)
            flat.append(rows)
            kinds.append(kind)
        start[b, len(block.modes) + 1 :] = count
        at_u, at_f = at_u + block.motions, at_f + block.forces
    A = np.vstack(flat)
    size = np.abs(A[:, :-1]).max(axis=1, initial=0.0)
    A /= np.where(size > 0, size, 1.0)[:, None]
    scale = float(np.abs(A[:, -1]).max(initial=0.0)) or 1.0
    A[:, -1] /= scale
    options = np.array([len(block.modes) for block in blocks], dtype=np.int64)
    return (A, np.concatenate(kinds), start, options), scale


@lru_cache(maxsize=4096)
def _parts(block: Block) -> tuple[Part, ...]:
    """Return the conditions of all modes, then the shared ones, as arrays."""
    options = [mode.conditions for mode in block.modes] + [block.shared]
    return tuple(
        (
            np.array([c.kind for c in conditions], dtype=np.int64),
            np.array([[float(x) for x in c.motion] for c in conditions]).reshape(-1, block.motions),
            np.array([[float(x) for x in c.force] for c in conditions]).reshape(-1, block.forces),
            np.array([float(c.bound) for c in conditions]),
        )
        for conditions in options
    )
