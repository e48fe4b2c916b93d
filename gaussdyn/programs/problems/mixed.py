"""The mixed complementarity problem: equalities, rows, boxes, cones and contacts of one matrix. Data only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array, matrix, vector
from ...errors import InputError
from ..laws.laws import Associated, BilateralCoulomb, Coulomb, Unilateral


@dataclass(frozen=True, slots=True)
class Equality:
    """w = 0, z free: the rows of joints, or of a circuit. `size` rows."""

    size: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, int) or self.size < 1:
            raise InputError("size", repr(self.size), "an integer >= 1", "Write size=1.")


@dataclass(frozen=True, slots=True)
class Box:
    """lower <= z <= upper, w > 0 only where z = lower, w < 0 only where z = upper: a relay, a saturation.

    Parameters
    ----------
    lower, upper : sequence of float
        One each per row; -inf and inf where a side is open.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __post_init__(self) -> None:
        ends = [_ends(name, getattr(self, name)) for name in ("lower", "upper")]
        if len(ends[0]) != len(ends[1]):
            raise InputError(
                "upper",
                f"{len(ends[1])} numbers",
                f"{len(ends[0])}, as many as lower",
                f"Write upper=numpy.full({len(ends[0])}, numpy.inf).",
            )
        for low, high in zip(*ends, strict=True):
            if not low <= high or low == np.inf or high == -np.inf:
                raise InputError(
                    "lower, upper",
                    (low, high),
                    "lower <= upper; -inf only below, inf only above",
                    "Write lower, upper = numpy.minimum(lower, upper), numpy.maximum(lower, upper).",
                )
        object.__setattr__(self, "lower", ends[0])
        object.__setattr__(self, "upper", ends[1])

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.lower)


MixedBlock = Equality | Box | Unilateral | Coulomb | Associated


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixedComplementarity:
    """Find z such that (z, w) with w = M z + q obeys every block.

    Parameters
    ----------
    M : array_like, shape (n, n)
        Any matrix; it may be singular, indefinite and unsymmetric.
    q : array_like, shape (n,)
    blocks : sequence
        `Equality`, `Box`, `Unilateral` (0 <= z ⟂ w >= 0), `Associated` (z in the friction cone, w in its dual,
        perpendicular) and `Coulomb` (z is a reaction, w the motion), which cut z and w in order.

    Raises
    ------
    InputError
        NaN, wrong shapes, blocks of other kinds or of a wrong size in all.
    """

    M: Array
    q: Array
    blocks: Sequence[MixedBlock]

    __repr__ = brief

    def __post_init__(self) -> None:
        q = vector("q", self.q)
        blocks = tuple(self.blocks)
        for k, block in enumerate(blocks):
            _check_block(k, block)
        total = sum(block.size for block in blocks)
        if total != len(q):
            raise InputError(
                "blocks",
                f"{total} rows in all",
                f"{len(q)} rows, the size of q",
                "Write q=numpy.zeros(sum(block.size for block in blocks)).",
            )
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "M", matrix("M", self.M, len(q), len(q)))
        object.__setattr__(self, "blocks", blocks)

    @property
    def starts(self) -> tuple[int, ...]:
        """First row of every block, and the number of rows."""
        return tuple(accumulate((block.size for block in self.blocks), initial=0))

    def motion(self, z: Array) -> Array:
        """Return w = M z + q, summed with more digits than doubles have where the machine knows such numbers."""
        wide = np.longdouble
        return np.asarray(self.M.astype(wide) @ np.asarray(z, wide) + self.q, dtype=np.float64)

    def natural_map(self, z: Array) -> Array:
        """Return the natural map, shape (n,), which is zero exactly at the solutions.

        w of an equality, z - P(z - w) of rows, boxes and cones, with w + mu |w_T| n for w of a contact.
        """
        w, F = self.motion(z), np.empty(len(self.q))
        for start, block in zip(self.starts, self.blocks, strict=False):
            rows = slice(start, start + block.size)
            if isinstance(block, Equality):
                F[rows] = w[rows]
            elif isinstance(block, Box):
                F[rows] = z[rows] - np.clip(z[rows] - w[rows], block.lower, block.upper)
            else:
                F[rows] = block.residual(w[rows], z[rows])
        return F


def _check_block(k: int, block: Any) -> None:
    """Refuse what is no block, and friction at rest of its own, which these problems do not know."""
    known = isinstance(block, (Equality, Box, Unilateral, Coulomb)) and not isinstance(block, BilateralCoulomb)
    if not known:
        raise InputError(
            f"blocks[{k}]",
            repr(block),
            "Equality, Box, Unilateral, Associated or Coulomb",
            "Write blocks=[Equality(size=1)].",
        )
    if isinstance(block, Coulomb) and block.mu_s > block.mu:
        raise InputError(
            f"blocks[{k}]",
            repr(block),
            "friction that is as strong in slip as at rest (no mu_s > mu)",
            "Leave mu_s out: Coulomb(mu).",
        )


def _ends(name: str, value: Any) -> tuple[float, ...]:
    """Return one side of a box; infinity is allowed, NaN is not."""
    ends = vector(name, value, finite=False)
    if np.isnan(ends).any():
        raise InputError(name, "nan", "numbers, or infinity", f"Write numpy.nan_to_num({name}).")
    return tuple(float(x) for x in ends)
