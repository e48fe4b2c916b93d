"""One set of reactions out of many, chosen by a rule that has a name; each is checked against the set of all.

shortest: the least Euclidean norm, what the solver returns. interior: as far as can be from opening and slipping, at
every contact at once. elastic: least sum of r^2 / k, what very stiff springs of stiffness k tend to. smoothest: over
a series of states, the least sum of jumps from each to the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from ...arrays import Array, IntArray, scalar
from ...errors import InputError, InvariantBroken
from ...programs.conic.cone_slice import RAY, Cone, ConeSlice, Verdict
from ...programs.conic.support import support
from .allowed import Alternative
from .moves import moves_at
from .quantity import combination
from .reaction_set import ReactionSet

INSIDE = 1e-8  # to which an answer has to be in the set, relative to the forces
SHORT = 1e-6  # what length costs against distance from the limits: it decides among equals
LARGEST = 1500  # reactions and equations of a series


def shortest(found: ReactionSet) -> Array:
    """Return the reactions of the least Euclidean norm, shape (R,).

    Raises
    ------
    InputError
        The set is empty.
    """
    return _least(found, np.ones(len(found.names)))


def elastic(found: ReactionSet, stiffness: Mapping[str, float] | None = None) -> Array:
    """Return the reactions with the least elastic energy, the sum of r^2 / k, shape (R,).

    Parameters
    ----------
    found : ReactionSet
    stiffness : mapping, optional
        Stiffness by what `ReactionSet.range` takes as a name, > 0; only ratios count. 1 where none is given; what
        is given later overrides.

    Raises
    ------
    InputError
        The set is empty; a stiffness that is not positive, or of nothing that acts.
    """
    k = np.ones(len(found.names))
    for name, value in (stiffness or {}).items():
        k[combination(found.allowed, name)[1] != 0.0] = scalar(f"stiffness of {name}", value, low=0.0, open_low=True)
    return _least(found, 1.0 / np.sqrt(k))


def interior(found: ReactionSet) -> Array:
    """Return reactions as far from their limits as can be, shape (R,): the shortest of them.

    The least of r_N - |r_T| / mu over all contacts that bear or stick is as large as it can be.

    Raises
    ------
    InputError
        The set is empty, or nothing bounds that distance (a wedge).
    """
    inward = _inward(found)
    answers = [_deepest(one, inward, inward @ found.allowed.J) for one in found.allowed.alternatives]
    known = [answer for answer in answers if answer is not None]
    return _checked(found, max(known, key=lambda answer: answer[1])[0] if known else None)


def smoothest(series: Sequence[ReactionSet]) -> list[Array]:
    """Return reactions of a series of states with the least sum of |r(i + 1) - r(i)|, one vector (R,) for each.

    Parameters
    ----------
    series : sequence of ReactionSet
        With the same reactions, in the same order: a stretch without changes of contacts.

    Raises
    ------
    InputError
        Fewer than two states, different reactions, sets with several sides, an empty set, too many of them.
    """
    parts = _one_series(series)
    start = np.cumsum([0, *(part.slice.n for part in parts)])
    whole = _with_jumps(parts, start)
    cost = np.zeros((1, whole.n))
    cost[0, start[-1] :: len(series[0].names) + 1] = -1.0
    best = support(whole, cost)
    if best.verdicts[0] is not Verdict.BOUNDED:
        raise _empty()
    s = best.points[0]
    found = [part.offset + part.spread @ s[a:b] for part, a, b in zip(parts, start, start[1:], strict=False)]
    return [_checked(one, r) for one, r in zip(series, found, strict=True)]


def _one_series(series: Sequence[ReactionSet]) -> list[Alternative]:
    """Return the reactions of each state, if they are of one series; see `smoothest`."""
    if len(series) < 2 or any(one.names != series[0].names for one in series):
        raise InputError(
            "series",
            f"{len(series)} states",
            "two or more with the same reactions",
            "Write series=[admissible_set(a), admissible_set(b)].",
        )
    if any(len(one.allowed.alternatives) > 1 for one in series):
        raise InputError(
            "series", "contacts held on both sides", "sets with one side", "Look at one set: shortest(found)."
        )
    parts, R = [one.allowed.alternatives[0] for one in series], len(series[0].names)
    if sum(len(part.slice.f) for part in parts) + R * len(parts) > LARGEST:
        raise InputError("series", f"{len(parts)} states of {R} reactions", "fewer", "Take every tenth: series[::10].")
    return parts


def _with_jumps(parts: list[Alternative], start: IntArray) -> ConeSlice:
    """Stack sets of reactions, the entries of each from its `start` on, then a norm and a vector for every jump."""
    rows, R = sum(len(part.slice.f) for part in parts), len(parts[0].offset)
    A = np.zeros((rows + (len(parts) - 1) * R, start[-1] + (len(parts) - 1) * (R + 1)))
    f, line = np.zeros(len(A)), 0
    for k, part in enumerate(parts):
        m = len(part.slice.f)
        A[line : line + m, start[k] : start[k + 1]], f[line : line + m] = part.slice.A, part.slice.f
        line += m
    for k, (one, after) in enumerate(itertools.pairwise(parts)):  # jump = after - one
        jump = start[-1] + k * (R + 1)
        A[line : line + R, start[k + 1] : start[k + 2]] = after.spread
        A[line : line + R, start[k] : start[k + 1]] = -one.spread
        A[line : line + R, jump + 1 : jump + 1 + R] = -np.eye(R)
        f[line : line + R] = one.offset - after.offset
        line += R
    cones = [cone for part in parts for cone in part.slice.cones] + [Cone("cone", R + 1)] * (len(parts) - 1)
    return ConeSlice(A=A, f=f, cones=tuple(cones))


def _least(found: ReactionSet, weights: Array) -> Array:
    answers = [_nearest_origin(one, weights) for one in found.allowed.alternatives]
    known = [answer for answer in answers if answer is not None]
    if not known:
        raise _empty()
    r, moves, _ = min(known, key=lambda answer: answer[2])
    near = r - moves @ np.linalg.lstsq(weights[:, None] * moves, weights * r, rcond=None)[0] if moves.size else r
    return _checked(found, near if found.contains(near, INSIDE) else r)


def _nearest_origin(one: Alternative, weights: Array) -> tuple[Array, Array, float] | None:
    """Return the r of least weighted norm, how it may move within its face, and that norm; None of an empty set."""
    R, n, m = len(one.offset), one.slice.n, len(one.slice.f)
    A = np.zeros((m + R, n + R + 1))
    A[:m, :n] = one.slice.A
    A[m:, :n], A[m:, n + 1 :] = weights[:, None] * one.spread, -np.eye(R)
    f = np.concatenate([one.slice.f, -weights * one.offset])
    cost = np.zeros((1, n + R + 1))
    cost[0, n] = -1.0
    best = support(ConeSlice(A=A, f=f, cones=(*one.slice.cones, Cone("cone", R + 1))), cost)
    if best.verdicts[0] is not Verdict.BOUNDED:
        return None
    s = best.points[0, :n]
    return one.offset + one.spread @ s, moves_at(one, s), -float(best.value[0])


def _inward(found: ReactionSet) -> Array:
    """Return 1 for the normal force of every contact that bears or sticks, shape (R,)."""
    inward = np.zeros(len(found.names))
    for id, places in found.allowed.rows.items():
        if found.allowed.modes[id] in ("bears", "sticks") and found.names[places.start].endswith(".N"):
            inward[places.start] = 1.0
    if not inward.any():
        raise InputError("found", "no contact that bears or sticks", "one at least", "Write shortest(found).")
    return inward


def _deepest(one: Alternative, inward: Array, column: Array) -> tuple[Array, float] | None:
    """Return the r whose distance t from the limits, less a little of its norm, is largest, and that value.

    r = offset + spread s + t inward with s in the cones; None if the set is empty.
    """
    R, n, m = len(one.offset), one.slice.n, len(one.slice.f)
    A = np.zeros((m + R, n + R + 2))
    A[:m, :n], A[: len(column), n] = one.slice.A, column
    A[m:, :n], A[m:, n], A[m:, n + 2 :] = one.spread, inward, -np.eye(R)
    cost = np.zeros((1, n + R + 2))
    cost[0, n], cost[0, n + 1] = 1.0, -SHORT
    cones = (*one.slice.cones, RAY, Cone("cone", R + 1))
    best = support(ConeSlice(A=A, f=np.concatenate([one.slice.f, -one.offset]), cones=cones), cost)
    if best.verdicts[0] is Verdict.UNBOUNDED:
        raise InputError(
            "found", "a wedge", "a set in which distances from the limits are bounded", "Write shortest(found)."
        )
    if best.verdicts[0] is not Verdict.BOUNDED:
        return None
    s = best.points[0]
    return one.offset + one.spread @ s[:n] + s[n] * inward, float(best.value[0])


def _checked(found: ReactionSet, r: Array | None) -> Array:
    if r is None:
        raise _empty()
    if not found.contains(r, INSIDE):
        raise InvariantBroken("a selection of reactions is outside the set of all")
    return r


def _empty() -> InputError:
    return InputError("found", "an empty set", "a set with reactions", "print(found.explain())")
