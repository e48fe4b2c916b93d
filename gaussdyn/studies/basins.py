"""Basins of attraction: which runs of a study end in the same place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._show import brief
from ..arrays import Array, IntArray, scalar
from ..errors import InputError
from .study_results import Study
from .study_tables import axes_of_grid
from .template import COMPLETED

NOWHERE = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Basins:
    """Runs by where they end.

    Attributes
    ----------
    names : tuple of str
        The k numbers that say where a run ends.
    label : IntArray, shape (n,), or that of the grid of the study
        Of every run: its row of `ends`; -1: it did not complete, or has no number.
    ends : Array, shape (b, k)
        Where the first run of every basin ends, in the order of the runs.
    share : Array, shape (b,)
        Of all runs.
    """

    names: tuple[str, ...]
    label: IntArray
    ends: Array
    share: Array

    __repr__ = brief


def basins(found: Study, names: str | Sequence[str], tolerance: float) -> Basins:
    """Sort the runs of a study by where they end.

    Parameters
    ----------
    found : Study
        Over starts, say, with runs long enough to come to rest.
    names : str or sequence of str
        Single numbers that were measured, e.g. coordinates at the end.
    tolerance : float
        Ends whose numbers all differ by no more than this from those of the first run of a basin belong to it, in their
        unit; > 0.

    Raises
    ------
    InputError
        No such numbers, a tolerance that is none.
    """
    chosen = (names,) if isinstance(names, str) else tuple(names)
    scalar("tolerance", tolerance, low=0.0, open_low=True)
    for name in chosen:
        if name not in found.values or found.values[name].ndim != 1:
            raise InputError(
                "names",
                repr(name),
                f"single numbers among {', '.join(found.values)}",
                f'Write names=["{next(iter(found.values), "")}"].',
            )
    x = np.stack([found.values[name] for name in chosen], axis=1)
    label, ends = np.full(len(found), NOWHERE), list[Array]()
    left = (found.status == COMPLETED) & np.isfinite(x).all(axis=1)
    while left.any():
        end = x[int(np.argmax(left))]
        here = left & (np.abs(x - end) <= tolerance).all(axis=1)
        label[here] = len(ends)
        ends.append(end)
        left &= ~here
    share = np.bincount(label[label >= 0], minlength=len(ends)) / len(found)
    shape = tuple(map(len, axes_of_grid(found).values())) or (len(found),)
    return Basins(names=chosen, label=label.reshape(shape), ends=np.array(ends).reshape(-1, len(chosen)), share=share)
