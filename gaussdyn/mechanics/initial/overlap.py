"""Bodies that overlap in an initial state: found, named, and pushed apart by the smallest motion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ...arrays import Array, scalar
from ...errors import InputError
from ..rows import Row
from ..scene import state_of
from ..state import State
from ..system import System
from .joint_state import GOLDEN

TOLERANCE = 1e-12  # m
ROUNDS = 60
GIVE = 1e-4  # kg m^2 per m^2, what overlap costs less than motion; small: bodies move as far as they can
LEAP = 0.1  # m, of any gap in a round that only lessens overlaps
FAR = 0.3  # rad, m, of any velocity in a round: what gaps say here holds near here only
NUDGE = 1e-3  # rad, m: off a place where all that is symmetric balances
SEAM = 1e-6  # m: sides that are level overlap by no more; shapes slide over them, and there are no contacts
SHIFT = 1e-6  # m, rad: over which distances are differentiated
STILL = 1e-6  # m, by which gaps move where there is no more to be had


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Two bodies, or a body and an obstacle, that overlap.

    Attributes
    ----------
    pair : tuple of str
        Their names, as in the ids of their contacts; the id itself of a constraint that is not a contact.
    depth : float
        Length of the shortest translation that parts them, m; of what is no shape, that of the deepest contact.
    contact : str
        The id of the deepest; the names of both, with a slash, where one is so deep that no features touch.
    """

    pair: tuple[str, ...]
    depth: float
    contact: str

    def __str__(self) -> str:
        return f"{' and '.join(self.pair)} overlap by {self.depth:.6g} m"


def overlaps(system: System, state: State, *, tolerance: float = TOLERANCE) -> list[Overlap]:
    """Return the pairs that overlap, the deepest first.

    Parameters
    ----------
    system : System
        In the plane, in space or of any other kind; its unilateral constraints and contacts are looked at.
    state : State
    tolerance : float
        Depths up to this do not count, m.

    Raises
    ------
    InputError
        A negative tolerance, a scene, a state of another system.
    """
    limit, state = scalar("tolerance", tolerance, low=0.0), state_of(system, state)
    deepest: dict[frozenset[str], Row] = {}
    for row in _rows(system, state.t, state.q):
        pair = frozenset(_names(row))
        if not row.bilateral and row.gap < -limit and (pair not in deepest or row.gap < deepest[pair].gap):
            deepest[pair] = row
    depths = {frozenset(pair): -gap for pair, gap in _distances(system, state.q).items()}
    found = [
        Overlap(pair=_names(row), depth=depths.get(pair, -row.gap), contact=row.id) for pair, row in deepest.items()
    ]
    return sorted(found, key=lambda overlap: (-overlap.depth, overlap.pair))


def touching(system: System, state: State) -> set[frozenset[str]]:
    """Return the pairs of shapes that touch to within 1e-6 m."""
    found = [row for row in _rows(system, state.t, state.q) if "/" in row.id and abs(row.gap) <= SEAM]
    return {frozenset(_names(row)) for row in found}


def check_apart(system: System, state: State, *, tolerance: float = TOLERANCE) -> None:
    """Raise InputError if bodies overlap; it names the pair, the depth, and how to mend it."""
    found = overlaps(system, state, tolerance=tolerance)
    if found:
        rest = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        mend = f"Move them apart by {found[0].depth:.6g} m, or pass project=True, which pushes them apart."
        raise InputError("state", f"{found[0]}{rest}", "bodies that do not overlap", mend)


def pushed_apart(system: System, state: State) -> State:
    """Return the state with bodies moved until no gap is below -1e-12 m, and bilateral constraints kept.

    Every round takes the smallest displacement d in the metric of the mass, d^T M d, with gap + J d >= 0 for the
    contacts near (= 0 for bilateral constraints), and looks again. Where there is no such d the gaps give way, at a
    price, for that round.

    Raises
    ------
    InputError
        If there is no room, or no such motion after 60 rounds; names the pair that is left. A scene, a state of another
        system.

    Notes
    -----
    Source: least distance programming by C. L. Lawson and R. J. Hanson, Solving Least Squares Problems (1974), ch. 23.
    """
    state = state_of(system, state)
    q, nudged = state.q.copy(), False
    for _ in range(ROUNDS):
        rows = _rows(system, state.t, q)
        if all(abs(row.gap) <= TOLERANCE if row.bilateral else row.gap >= -TOLERANCE for row in rows):
            return State(t=state.t, q=q, v=state.v, memory=state.memory)
        step = _smallest(system.mass(q), rows)
        if step is None:  # what the gaps say here cannot be met at once: elsewhere they may say otherwise
            step = _giving(system, q, rows)
        if step is None and nudged:
            break
        if step is None:
            step, nudged = _nudge(system.nv), True
        q = system.move(q, min(1.0, FAR / np.abs(step).max(initial=FAR)) * step, 1.0)
    left = overlaps(system, State(t=state.t, q=q, v=state.v))
    given = str(left[0]) if left else "bilateral constraints that cannot be met"
    raise InputError(
        "state",
        given,
        "bodies that can be moved apart",
        "They are shut in, or too deep: give them room, position=(0, 0, 1).",
    )


def least_overlaps(system: System, state: State) -> list[Overlap]:
    """Return the pairs that still overlap where bodies were pushed apart as far as that goes, the deepest first.

    Rounds are those of `pushed_apart`, but contacts give way, at a price: what is shut in by others, or by its joints,
    keeps an overlap.
    """
    q = system.move(state.q, _nudge(system.nv), 1.0)
    for _ in range(ROUNDS):
        step = _giving(system, q, _rows(system, state.t, q))
        if step is None:
            break
        q = system.move(q, step, 1.0)
    return overlaps(system, State(t=state.t, q=q, v=state.v), tolerance=STILL)


def _giving(system: System, q: Array, rows: Sequence[Row]) -> Array | None:
    """Return a step, not far, that lessens overlaps that cannot all be mended at once; None if none moves anything."""
    step = _smallest(system.mass(q), rows, GIVE)
    far = 0.0 if step is None else max((abs(float(row.J[0] @ step)) for row in rows), default=0.0)
    if step is None or far <= STILL:
        return None
    shorter: Array = min(1.0, LEAP / far, FAR / float(np.abs(step).max())) * step
    return shorter


def _nudge(nv: int) -> Array:
    """Return a small motion in which no two velocities are alike, always the same one."""
    pattern: Array = NUDGE * (2.0 * (GOLDEN * np.arange(1.0, nv + 1.0) % 1.0) - 1.0)
    return pattern


def _rows(system: System, t: float, q: Array) -> Sequence[Row]:
    """Return the rows at rest of the constraints that are near, and of shapes that overlap though no features do."""
    rest = np.zeros(system.nv)
    rows = [
        row for row in system.near(t, q, rest, 0.0).rows(t, q, rest) if row.kind != "dry" and row.level == "position"
    ]
    seen: dict[frozenset[str], float] = {}
    for row in rows:
        if row.gap < -TOLERANCE:
            pair = frozenset(_names(row))
            seen[pair] = min(seen.get(pair, 0.0), row.gap)
    return rows + [
        _row(system, q, names, gap)
        for names, gap in _distances(system, q).items()
        if gap < 2.0 * seen.get(frozenset(names), 0.0) - SEAM
    ]


def _distances(system: System, q: Array) -> Mapping[tuple[str, str], float]:
    """Return the signed distances of shapes that touch or overlap, m, by their names."""
    asked = getattr(system, "distances", None)
    return {} if asked is None else asked(q, 0.0)


def _row(system: System, q: Array, pair: tuple[str, str], gap: float) -> Row:
    """Return the signed distance of two shapes as a row: J by differences."""
    J = np.zeros((1, system.nv))
    for k, e in enumerate(np.eye(system.nv)):
        ahead, behind = (_distances(system, system.move(q, s * e, 1.0)).get(pair, 0.0) for s in (SHIFT, -SHIFT))
        J[0, k] = (ahead - behind) / (2.0 * SHIFT)
    zero = np.zeros(1)
    return Row(id="/".join(pair), kind="unilateral", J=J, gap=gap, rate=zero, drift=zero)


def _names(row: Row) -> tuple[str, ...]:
    """Return the names of the two sides from an id like ``upper:c3/lower:f5``."""
    return tuple(side.split(":")[0] for side in row.id.split("/")) if "/" in row.id else (row.id,)


def _smallest(M: Array, rows: Sequence[Row], give: float = 0.0) -> Array | None:
    """Return the d of smallest d^T M d with gap + J d >= 0 (= 0 for bilateral rows), or None if there is none.

    With `give` the gaps may miss zero by s, at the price s^2 / give each: there is always such a d then.
    """
    from scipy.optimize import nnls

    L = np.linalg.cholesky(M)
    J = np.array([row.J[0] for row in rows])
    gap = np.array([row.gap for row in rows])
    equal = np.array([row.bilateral for row in rows])
    K = solve_triangular(L, J.T, lower=True).T  # J d = K x with x = L^T d
    inverse = np.linalg.pinv(K[equal], rcond=1e-12) if equal.any() else np.zeros((len(M), 0))
    x = -inverse @ gap[equal]
    free = K[~equal] - (K[~equal] @ inverse) @ K[equal]
    need = -gap[~equal] - K[~equal] @ x
    scale = float(np.abs(need).max(initial=0.0))
    if need.max(initial=0.0) > 0.0:
        slack = math.sqrt(give) * np.eye(len(need))[: len(need) if give else 0]
        E = np.vstack([free.T, slack, need / scale])
        u, residual = nnls(E, np.append(np.zeros(len(E) - 1), 1.0), maxiter=30 * len(need) + 100)
        if residual < 1e-10:
            return None
        r = E @ u
        r[-1] -= 1.0
        if r[-1] == 0.0:  # no d meets what is asked
            return None
        x = x - scale * r[: len(M)] / r[-1]
    return np.asarray(solve_triangular(L.T, x, lower=False))
