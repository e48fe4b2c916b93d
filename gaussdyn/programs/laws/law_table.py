"""The laws of a problem as arrays, for kernels and for whole-array audits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..._show import brief
from ...arrays import Array, IntArray
from ...errors import InputError
from .laws import CAP, LAWS, MU, MU_R, MU_S, STEEP, Coulomb, Dry, Law, Rolling, Sliding, Torsional, Unilateral

ONE_SIDED = np.array([law in (Unilateral, Coulomb, Sliding, Rolling, Torsional) for law in LAWS])


@dataclass(frozen=True, slots=True, eq=False)
class LawTable:
    """The laws of a problem as arrays, for kernels and for whole-array audits.

    Attributes
    ----------
    code : IntArray, shape (n,)
        Index into `LAWS`.
    start : IntArray, shape (n + 1,)
        First row of every block, and the total.
    P : Array, shape (n, 4)
        Parameters mu, mu_s, cap (of Torsional mu_t), mu_r.
    cone : bool array, shape (n,)
        Whether the law asks for a positive semidefinite block W_kk.
    friction : Array, shape (rows,)
        mu on the sliding rows of blocks whose friction follows the normal reaction, mu_r on rolling rows, mu_t on the
        spin, else 0.
    ambiguous : bool
        Whether some friction is stronger at rest than in slip: then a law is not monotone, whatever W.
    one_sided : bool
        Whether every law lets its block open wherever u_N >= 0, whatever the slip.
    widest : int
        Rows of the largest block.
    plain : bool
        Whether all laws are Unilateral or Sliding.
    dry : bool
        Whether some law is Dry, whose parameters have units.
    steep : bool
        Whether some friction that acts through mu |u_T| is so large that the rounding of u_T counts.
    arrays : (IntArray, IntArray, Array)
        code, start and P, as kernels take them.
    size : int
        Rows in all.
    """

    laws: tuple[Law, ...]
    code: IntArray
    start: IntArray
    P: Array
    cone: NDArray[np.bool_]
    friction: Array
    ambiguous: bool
    one_sided: bool
    widest: int
    plain: bool
    dry: bool
    steep: bool
    arrays: tuple[IntArray, IntArray, Array]
    size: int

    __repr__ = brief

    @staticmethod
    def of(laws: Sequence[Law]) -> LawTable:
        """Tabulate a sequence of laws; a short one that came before is not tabulated again.

        Raises
        ------
        InputError
            If an entry is not a law.
        """
        known = _last_tables.get(id(laws))
        if known is not None and known.laws is laws:  # the very same tuple: the next step of a run, say
            return known
        key = tuple(laws)
        few: dict[int, object] = {id(law): law for law in key}
        for law in few.values():
            if not isinstance(law, Law):
                given = f"laws[{next(k for k, other in enumerate(key) if other is law)}]"
                raise InputError(given, repr(law), "a law such as Unilateral() or Coulomb(0.3)", "Write Coulomb(0.3).")
        table = _remembered_table(key) if len(key) <= 64 else LawTable.tabulate(key)
        if len(_last_tables) >= KEPT:
            _last_tables.clear()
        _last_tables[id(table.laws)] = table  # the table keeps the tuple alive, so that its id stays its own
        return table

    @staticmethod
    def tabulate(laws: tuple[Law, ...]) -> LawTable:
        """Tabulate laws; each that occurs several times is asked once."""
        few = {id(law): law for law in laws}
        places = {key: k for k, key in enumerate(few)}
        which = np.array([places[id(law)] for law in laws], dtype=np.int64)
        size = np.array([law.size for law in few.values()], dtype=np.int64)[which]
        P = np.array([law.parameters() for law in few.values()], dtype=np.float64).reshape(-1, 4)[which]
        code = np.array([law.code for law in few.values()], dtype=np.int64)[which]
        cone = np.array([law.cone for law in few.values()], dtype=np.bool_)[which]
        start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        sliding = [law.friction_rows() for law in few.values()]
        friction = np.concatenate([np.zeros(0), *(sliding[k] for k in which)])
        ambiguous = bool((P[:, MU_S] > np.maximum(P[:, MU], P[:, CAP])).any())
        one_sided = bool(ONE_SIDED[code].all())
        widest, kinds = int(size.max(initial=0)), {law.code for law in few.values()}
        plain, dry = kinds <= {Unilateral.code, Sliding.code}, Dry.code in kinds
        steep = bool((P[np.isin(code, (Coulomb.code, Rolling.code, Torsional.code))][:, [MU, CAP, MU_R]] > STEEP).any())
        arrays, rows = (code, start, P), int(start[-1])
        return LawTable(
            laws, code, start, P, cone, friction, ambiguous, one_sided, widest, plain, dry, steep, arrays, rows
        )

    def groups(self) -> list[tuple[type[Law], IntArray, IntArray]]:
        """Return (law, blocks (k,), rows (k, dim)) for every law and block size present."""
        return _groups(self)

    def project(self, r: Array) -> Array:
        """Return the reaction with every block projected on its admissible set."""
        y = r.copy()
        for law, blocks, rows in self.groups():
            y[rows] = law.project_many(r[rows], self.P[blocks])
        return y


@lru_cache(maxsize=16)
def _groups(table: LawTable) -> list[tuple[type[Law], IntArray, IntArray]]:
    size = np.diff(table.start)
    found = []
    for code, dim in sorted({(int(c), int(s)) for c, s in zip(table.code, size, strict=True)}):
        blocks = np.flatnonzero((table.code == code) & (size == dim))
        found.append((LAWS[code], blocks, table.start[blocks][:, None] + np.arange(dim)))
    return found


KEPT = 64  # tables of tuples seen lately, by identity
_last_tables: dict[int, LawTable] = {}


@lru_cache(maxsize=512)
def _remembered_table(laws: tuple[Law, ...]) -> LawTable:
    return LawTable.tabulate(laws)
