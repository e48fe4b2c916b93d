"""How far the friction of a state is from losing the uniqueness of its acceleration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigvals

from ...arrays import Array
from ...errors import InputError
from ..outcome.examine import friction_bound
from ..outcome.modal_data import ContactRows, NotPlanar, contact_rows, local_doubles
from ..snapshot import LocalDynamics

CONTACTS = 4
REDUNDANT = 1e-10


def sliding_margin(dynamics: LocalDynamics) -> float | None:
    """Return the factor by which all friction coefficients may grow while the acceleration stays unique for every load.

    Up to 4 planar contacts that all slide: the exact factor (for one contact mu_crit / mu), below 1 where uniqueness
    is lost already. Else a factor that surely is allowed, from a sufficient bound. inf: friction never matters.
    None: nothing is known (no friction, redundant contacts, contacts in space, no acceleration).

    Parameters
    ----------
    dynamics : LocalDynamics
    """
    try:
        acting = contact_rows(dynamics)
    except (NotPlanar, InputError):
        return None
    rows = [one for one in acting if one.block is not None]
    if not any(one.frictional for one in rows):
        return None
    W, _ = local_doubles(dynamics, acting)
    if len(rows) <= CONTACTS and all(len(one.J) == 2 and one.sliding for one in rows):
        return _sliding(W, rows)
    bound = friction_bound(W, rows)
    return 1.0 / bound if 0.0 < bound < 1.0 else None


def _sliding(W: Array, rows: list[ContactRows]) -> float | None:
    """Return the least f at which a principal minor of W_N - f W_T diag(mu s) vanishes; W_N must be regular."""
    normal = W[0::2, 0::2]
    if np.linalg.matrix_rank(normal, tol=REDUNDANT * float(np.abs(normal).max())) < len(normal):
        return None
    signs = [_friction(one) for one in rows]
    held = [k for k, one in enumerate(rows) if one.block is not None and "D" not in one.block.letters]
    best = np.inf
    for chosen, sides in _cases(len(rows), held):
        friction = W[0::2, 1::2] * (np.array(signs) * sides)
        values = eigvals(friction[np.ix_(chosen, chosen)], normal[np.ix_(chosen, chosen)])  # 1 / f
        real = values.real[(np.abs(values.imag) <= 1e-9 * np.abs(values).max(initial=1.0)) & (values.real > 1e-12)]
        best = min(best, float(1.0 / real.max()) if len(real) else np.inf)
    return best


def _friction(one: ContactRows) -> float:
    """Return mu times the sign of the slip."""
    return float(one.mu * int(one.document["state"]))


def _cases(count: int, held: list[int]) -> Iterator[tuple[list[int], Array]]:
    """Yield the sets of closed contacts, and the signs of the normal forces of those held from both sides."""
    free = [k for k in range(count) if k not in held]
    for size in range(len(free) + 1):
        for some in itertools.combinations(free, size):
            chosen = sorted([*some, *held])
            for signs in itertools.product((1.0, -1.0), repeat=len(held)):
                sides = np.ones(count)
                sides[held] = signs
                if chosen:
                    yield chosen, sides
