"""Whether a slip that begins at the limit of friction gets faster, or does not exist beyond the event.

At the event its acceleration is zero. A little later along the old phase, where sticking breaks the law, the new phase
has tangential accelerations d if friction keeps the directions e of the event. Slips with the accelerations w_i >= 0
turn by angles s_i, to first order w_i e_i - sum_j (d a_i / d s_j) s_j = d_i. Where a w_i is negative stick and slip
meet and vanish together (a fold, A < 0 < b), and something else comes next: another slip, or detachment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..mechanics.state import State
from .holding import stilled
from .instants import Instant
from .modes import parts_of
from .phases import Phase

TURN = 1e-6  # rad, by which directions are turned to see what follows


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
        w = _accelerations(phase, State(t=state.t, q=state.q, v=v), new)
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


def _accelerations(phase: Phase, state: State, new: Sequence[int]) -> Array:
    """Return the accelerations w of the slips of some rows, m/s^2."""
    d, first = _tangential(phase, state, new), []
    columns: list[Array] = []
    ids = [phase.rows[k].id for k in new]
    for key in ids:
        e = np.array(phase.modes[key].slip)
        first.append(len(columns))
        columns.append(
            np.concatenate([e if other == key else 0.0 * np.array(phase.modes[other].slip) for other in ids])
        )
        if len(e) == 2:
            turned = (float(e[0] - TURN * e[1]), float(e[1] + TURN * e[0]))
            other = phase.but({**phase.modes, key: replace(phase.modes[key], slip=turned)})
            columns.append((d - _tangential(other, state, new)) / TURN)
    return np.asarray(np.linalg.solve(np.array(columns).T, d)[first])


def _tangential(phase: Phase, state: State, new: Sequence[int]) -> Array:
    now = phase.instant(state.t, state.q, state.v)
    rows = [(now.rows[k], parts_of(now.rows[k])[0]) for k in new]
    return np.concatenate([row.J[where] @ now.a + row.drift[where] for row, where in rows])
