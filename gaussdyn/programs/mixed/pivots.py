"""Which rows and columns are eliminated with the equalities, where those alone are singular.

Where the matrix of the equalities lacks k of its rank, k rows 0 <= z ⟂ w >= 0 are exchanged (w for z, a principal
pivot: Cottle, Pang, Stone, The Linear Complementarity Problem, 2.3), which leaves the law as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import EPS, Array, IntArray

RANK = 1e3 * EPS  # pivots of the balanced matrix below this are rounding


@dataclass(frozen=True, slots=True, eq=False)
class Pivots:
    """The rows and the columns that are eliminated, in as many pairs.

    Attributes
    ----------
    rows, columns : IntArray
        Equalities that are no combination of the others, and the exchanged rows; as many columns.
    exchanged : IntArray
        Rows that are in both.
    """

    rows: IntArray
    columns: IntArray
    exchanged: IntArray


def pivots(M: Array, equal: IntArray, may: IntArray, rest: IntArray) -> Pivots | None:
    """Choose what is eliminated.

    Parameters
    ----------
    M : Array, shape (n, n)
    equal, may, rest : IntArray
        Equalities; rows u ⟂ r that may be exchanged; all rows that are no equalities.

    Returns
    -------
    Pivots or None
        None if no choice makes the pivot block regular: more equations than unknowns, or fewer.
    """
    A = _balanced(M)
    rows, columns = list(equal), list(equal)
    done: tuple[list[int], list[int]] = ([], [])
    while rows:
        part = np.abs(A[np.ix_(rows, columns)])
        i, j = (int(x) for x in np.unravel_index(np.argmax(part), part.shape))
        if part[i, j] <= RANK:
            break
        _eliminate(A, rows[i], columns[j])
        done[0].append(rows.pop(i))
        done[1].append(columns.pop(j))
    exchanged = _exchanges(A, rows, columns, list(may), rest)
    if exchanged is None:
        return None
    return Pivots(
        *(np.array(x, dtype=np.int64) for x in (done[0] + exchanged[0], done[1] + exchanged[1], exchanged[2]))
    )


def _exchanges(
    A: Array, rows: list[int], columns: list[int], may: list[int], rest: IntArray
) -> tuple[list[int], list[int], list[int]] | None:
    """Pair every row and column that is left with a row of the problem that is exchanged."""
    taken: tuple[list[int], list[int], list[int]] = ([], [], [])
    rows = [i for i in rows if np.abs(A[i, rest]).max(initial=0.0) > RANK]  # the others follow from those before
    columns = [j for j in columns if np.abs(A[rest, j]).max(initial=0.0) > RANK]
    if len(rows) != len(columns):
        return None
    while rows:
        reach = np.abs(A[np.ix_(rows, may)]).max(axis=0, initial=0.0) * np.abs(A[np.ix_(may, columns)]).max(
            axis=1, initial=0.0
        )
        if not len(reach) or reach.max() <= RANK:
            return None
        s = may.pop(int(np.argmax(reach)))
        i = rows.pop(int(np.argmax(np.abs(A[rows, s]))))
        j = columns.pop(int(np.argmax(np.abs(A[s, columns]))))
        _eliminate(A, i, s)
        _eliminate(A, s, j)
        taken[0].extend((i, s))
        taken[1].extend((s, j))
        taken[2].append(s)
    return taken


def _eliminate(A: Array, i: int, j: int) -> None:
    """Take row i and column j out of the matrix, in place."""
    A -= np.outer(A[:, j], A[i] / A[i, j])
    A[i], A[:, j] = 0.0, 0.0


def _balanced(M: Array) -> Array:
    """Return the matrix with rows and columns divided by their largest entries, twice."""
    A = M.copy()
    for _ in range(2):
        for axis in (1, 0):
            top = np.abs(A).max(axis=axis, keepdims=True, initial=0.0)
            A /= np.where(top > 0.0, top, 1.0)
    return A
