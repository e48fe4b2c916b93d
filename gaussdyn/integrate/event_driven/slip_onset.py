"""Whether a slip that begins at the limit of friction gets faster, or does not exist beyond the event.

At the event its acceleration is zero. A little later along the old phase, where sticking breaks the law, the new phase
has tangential accelerations d if friction keeps the directions e of the event. Slips with the accelerations w_i >= 0
turn by angles s_i, to first order w_i e_i - sum_j (d a_i / d s_j) s_j = d_i. Where a w_i is negative stick and slip
meet and vanish together (a fold, A < 0 < b), and something else comes next: another slip, or detachment.

Where friction drops as a slip begins (mu < mu_s), or turns back as a rolling does, its acceleration jumps. Then the
slip begins along its own acceleration, which depends on the direction that friction takes: one equation per slip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...mechanics.rows import Row
from ...mechanics.state import State
from ..contact_modes import parts_of, undirected
from .drift_correction import stilled
from .phase_state import Instant, Place, largest, over_mass
from .smooth_phase import Phase
from .stiff_slip import Turning, turnings

TURN = 1e-6  # rad, by which directions are turned to see what follows
TRIES, FASTEST = 30, 0.3  # of Newton's method for directions; rad in one of them
ALONG = 1e-13  # rad: so near to its acceleration is a direction of slip, if rounding allows
NEAR = 1e-9  # rad: so near is enough where Newton's method comes no nearer: redundant reactions are rounded by more


def aligned(phase: Phase, place: Place, share: float) -> Phase:
    """Return a phase whose slips and rollings that begin in a plane do so along their accelerations.

    Those whose accelerations are zero, and all of them where no such directions are found, keep their directions.

    Parameters
    ----------
    share : float
        Accelerations up to this share of those without reactions count as zero.
    """
    ones = [one for one in turnings(phase) if undirected(place.rows[one.k].rate[one.part], place.v)]
    if not ones:
        return phase
    allowed = share * largest(over_mass(place.M, place.h))
    try:
        ones = [one for one, a in zip(ones, _along(phase, place, ones), strict=True) if np.hypot(*a) > allowed]
        x, found, best = np.array([np.arctan2(one.e[1], one.e[0]) for one in ones]), phase, (np.inf, phase)
        for _ in range(TRIES if ones else 0):
            a = _along(found, place, ones)
            off = np.cos(x) * a[:, 1] - np.sin(x) * a[:, 0]
            left = float((np.abs(off) / np.hypot(*a.T)).max())
            if left <= ALONG or best[0] <= min(left, NEAR):
                return found if left < best[0] else best[1]
            best = min(best, (left, found), key=lambda one: one[0])
            J = np.empty((len(ones), len(ones)))
            for k in range(len(ones)):
                other = _pointing(found, place, ones, x + TURN * (np.arange(len(ones)) == k))
                d = (_along(other, place, ones) - a) / TURN
                J[:, k] = np.cos(x) * d[:, 1] - np.sin(x) * d[:, 0]
            J -= np.diag(np.cos(x) * a[:, 0] + np.sin(x) * a[:, 1])
            x = x + np.clip(np.linalg.solve(J, -off), -FASTEST, FASTEST)
            found = _pointing(phase, place, ones, x)
    except np.linalg.LinAlgError:
        pass
    return phase


def _along(phase: Phase, place: Place, ones: Sequence[Turning]) -> Array:
    """Return the accelerations of some slips, shape (n, 2)."""
    now = phase.at(place)
    return np.array([now.rows[one.k].J[one.part] @ now.a + now.rows[one.k].drift[one.part] for one in ones])


def _pointing(phase: Phase, place: Place, ones: Sequence[Turning], x: Array) -> Phase:
    """Return the phase with some directions at given angles."""
    modes = dict(phase.modes)
    for one, angle in zip(ones, x.tolist(), strict=True):
        row, e = place.rows[one.k], (float(np.cos(angle)), float(np.sin(angle)))
        mode = modes[row.id]
        modes[row.id] = replace(mode, slip=e) if one.part == parts_of(row)[0] else replace(mode, roll=e)
    return phase.but(modes, place.rows)


def speeds_up(phase: Phase, now: Instant, later: Callable[[], State], speed: float, allowed: float) -> bool:
    """Return whether slips that begin with no acceleration exist beyond the event.

    Parameters
    ----------
    phase, now : Phase, Instant
        What may come next, and its beginning.
    later : callable
        Returns a state a little later along the old phase.
    speed, allowed : float
        Slips and accelerations up to these count as zero, m/s and m/s^2.
    """
    new = [k for k in range(len(now.rows)) if _begins(phase, now, k, speed, allowed)]
    if not new:
        return True
    state = later()
    system, rows = phase.system, phase.system.rows(state.t, state.q, state.v)
    G = np.vstack([rows[k].J[parts_of(rows[k])[0]] for k in new])
    rate = np.concatenate([rows[k].rate[parts_of(rows[k])[0]] for k in new])
    v = stilled(system.mass(state.q), state.v, G, rate)  # no directions but those of the event
    try:
        w = _accelerations(phase, rows, State(t=state.t, q=state.q, v=v), new)
    except np.linalg.LinAlgError:
        return True
    return bool((w >= 0.0).all())


def _begins(phase: Phase, now: Instant, k: int, speed: float, allowed: float) -> bool:
    row, e = now.rows[k], phase.modes[now.rows[k].id].slip
    if not e or row.kind == "dry" or not phase.modes[row.id].closed:
        return False
    where, _ = parts_of(row)
    faster = float(np.dot(row.J[where] @ now.a + row.drift[where], e))
    return float(np.dot(row.rate[where], e)) <= speed and abs(faster) <= allowed


def _accelerations(phase: Phase, rows: tuple[Row, ...], state: State, new: Sequence[int]) -> Array:
    """Return the accelerations w of the slips of some rows, m/s^2."""
    d, first = _tangential(phase, state, new), []
    columns: list[Array] = []
    ids = [rows[k].id for k in new]
    for key in ids:
        e = np.array(phase.modes[key].slip)
        first.append(len(columns))
        columns.append(
            np.concatenate([e if other == key else 0.0 * np.array(phase.modes[other].slip) for other in ids])
        )
        if len(e) == 2:
            turned = (float(e[0] - TURN * e[1]), float(e[1] + TURN * e[0]))
            other = phase.but({**phase.modes, key: replace(phase.modes[key], slip=turned)}, rows)
            columns.append((d - _tangential(other, state, new)) / TURN)
    return np.asarray(np.linalg.solve(np.array(columns).T, d)[first])


def _tangential(phase: Phase, state: State, new: Sequence[int]) -> Array:
    now = phase.instant(state.t, state.q, state.v)
    rows = [(now.rows[k], parts_of(now.rows[k])[0]) for k in new]
    return np.concatenate([row.J[where] @ now.a + row.drift[where] for row, where in rows])
