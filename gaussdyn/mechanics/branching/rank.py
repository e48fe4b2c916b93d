"""Whether bilateral constraints lose rank at a configuration, or depend on each other everywhere.

Rows that depend on each other lose nothing where the reduced equations (`reduction`) vanish around the configuration:
then it lies on a manifold, on which their rank is the same. Where they do not vanish the rank nearby is higher.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..system import System
from .configuration_space import RANK
from .lyapunov_schmidt import Reduction
from .section import RankLoss, Section, involved, position_rows

RADII = (0.01, 0.001)  # rad or m: how far around it is looked, at the first that serves
MORE = 1  # places beyond as many as there are equations
ROUNDING = 8.0  # times what rounding makes of the equations: they vanish


def rank_loss_at(system: System, t: float, q: Array) -> RankLoss | None:
    """Return how constraints lose rank at q; None where they do not, or where that cannot be told.

    Parameters
    ----------
    system : System
        Of bilateral position constraints; others are left out.
    t : float
        Time at which constraints that depend on it are taken, s.
    q : Array, shape (nq,)
        A configuration on the constraints.
    """
    rows = position_rows(system, t, q)
    if not rows:
        return None
    s = np.linalg.svd(np.array([row.J[0] for row in rows]), compute_uv=False)
    if len(rows) <= system.nv and s[-1] > RANK * s[0]:
        return None
    ids = tuple(row.id for row in rows)
    space = Section(system=system, t=t, ids=ids, origin=q, across=np.zeros((0, system.nv)))
    try:
        reduction = Reduction.at(space, q, RANK)
    except InputError:
        return None
    if not reduction.freedom or not reduction.N.shape[1]:
        return None
    for radius in RADII:
        try:
            combinations = _lost(reduction, radius)
        except InputError:
            continue
        if not combinations.shape[1]:
            return None
        names = involved(ids, reduction.N @ combinations)
        usual = reduction.rank + combinations.shape[1]
        return RankLoss(q=q, length=radius, rank=reduction.rank, usual=usual, certain=True, ids=names)
    return None


def _lost(reduction: Reduction, radius: float) -> Array:
    """Return orthonormal combinations of the reduced equations, shape (c, e), that do not vanish around."""
    k, c = reduction.freedom, reduction.N.shape[1]
    places = np.random.default_rng(3).normal(size=(c + MORE, k))
    places *= radius / np.linalg.norm(places, axis=1)[:, None]
    _, s, Vt = np.linalg.svd(np.array([reduction.value(x) for x in places]))
    return np.ascontiguousarray(Vt[: len(s)][s > ROUNDING * reduction.noise()].T)
