"""Dynamic jams: motions to states at which the matrix of the reactions is singular, though no rows depend on others.

    W = G M^-1 B,   B = G^T less friction along the ways of slip,

is singular for some places and ways of slip. A motion may be drawn to such a point in a finite time: its reactions grow
without bound, or have a limit that they come to ever faster. Beyond it the modes do not go on, and which others do is
open. Source: Genot, Brogliato (1999), New results on Painleve paradoxes, 4.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from .phase_state import Place, over_mass, rank_of
from .smooth_phase import Phase, range_of

SINGULAR = 1e-7  # singular values of W over that without friction: those below are as good as zero
MATTER = 1e-2  # of a null vector: rows that are named


def jam_of(phase: Phase, place: Place) -> str:
    """Return in words which reactions have no matrix that gives them at a place; nothing where all have one."""
    if not any(part.slips and not part.dry for part in phase.parts):
        return ""
    G, B, _, _ = phase.columns(place.rows, place.v)
    X = np.array([over_mass(place.M, B.T), over_mass(place.M, G.T)])
    for group in phase.slipping(G @ X[0]):
        null = _null_vector(G[group], B[group], X[:, :, group])
        if null is None:
            continue
        size = dict.fromkeys((part.k for part in phase.parts), 0.0)
        for part in phase.parts:
            own = null[np.isin(group, np.arange(part.at.start, part.at.stop))]
            size[part.k] = float(np.abs(own).max(initial=0.0))
        first = max(size, key=lambda k: size[k])
        beside = [place.rows[k].id for k, x in size.items() if k != first and x > MATTER * size[first]]
        words = f"the reaction of {place.rows[first].id} is determined no longer"
        words += f", with {'that' if len(beside) == 1 else 'those'} of {', '.join(beside)}" if beside else ""
        return f"{words}: the matrix that gives it is singular there (a dynamic jam)"
    return ""


def _null_vector(G: Array, B: Array, X: Array) -> Array | None:
    """Return the reactions that push nothing along G but by rows that others make up for; None: there are none.

    What friction makes of W is asked, not what masses do: X has M^-1 B and M^-1 G^T.
    """
    rank = rank_of(G)
    left, right = range_of(G, rank), range_of(B, rank)
    own, plain = (left.T @ G @ x for x in X)
    _, s, V = np.linalg.svd(np.linalg.solve(plain @ left, own @ right))
    return np.asarray(right @ V[-1]) if s[-1] <= SINGULAR else None
