"""The rule by which a tolerance chooses steps, compiled: how far a pair is off, whether it is kept, how long it is.

Every step that is tried comes beside two of half its length, of which the two are kept. Where all three have the same
contacts that push in the same way the motion is smooth and the scheme of order p (2 for theta = 1/2): Richardson's
extrapolation says that the two are off by 1 / (2^p - 1) of what they differ from the one. Elsewhere an event lies
within, whose time is known to within a step only; the three may agree on a wrong one, so that what the second half adds
to a uniform change of the velocity counts, too, or all that the first half changes if the event is in it, unless a half
is shorter than the tolerance (an impact). An event is closed in by halves, as a root is by bisection: what lies before
it is stepped over, and the smooth steps go on behind it as long as they were. (One in the last quarter may be seen by
the next pair only.) In smooth motion lengths are foreseen: a pair is as long as the estimates of the last two lead to.

All that a next step must know, the pace, stands in the memory of the state, so that runs go on to the bit.

Sources: Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.4; Gustafsson (1994),
Control-theoretic techniques for stepsize selection in implicit Runge-Kutta methods; Kurtz, Castro (2025), CENIC: convex
error-controlled numerical integration for contact.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np

from ..._jit import A1, I1, kernel, record
from ...arrays import Array, IntArray
from .kept import ROWS, Kept

AHEAD, SMOOTH, EVENT, PAIRS, KIND, MIDDLE, END, RTOL, ATOL, LAST = range(10)  # entries of a pace
ERROR, IS_SMOOTH, EARLY, ENDS_AS = range(4)  # entries of a trial
SAFETY, SHRINK, GROW = 0.9, 0.1, 5.0  # of the step that the estimate allows; the most that it changes at once
NEVER = -1e300  # a time: what states remember is finite
PROBED = 32  # of so many pairs the order is observed in one
SEEN = 1e-4  # of the tolerance: a difference that is the scheme's, and not rounding
SLIP = 2  # a mode, see `stretch.WORDS`
PRIME, FACTOR = 2147483647, 48271  # of hashes


@record(*["float64"] * 5, "int64", by_value=True)
class Aim(NamedTuple):
    """What steps are held to.

    Attributes
    ----------
    rtol, atol : float
        See `Tolerance`.
    shortest, longest, t_max : float
        Of pairs, s; when the run ends.
    order : int
        Of the scheme.

    A pace is an array (10,): the length of the pair that is tried next; that of smooth motion, to be taken up behind an
    event; a time before which there is an event that is being closed in, NEVER without; the pairs taken so far; how
    contacts push at the end of the last one, see `kind_of`, -1 where that is not known; where the second step of a pair
    begins and ends, NEVER where a new pair does, and what that pair is held to, see `halfway`; the length that the
    estimate of the last pair allowed, 0 where there was none or an event has come since. A trial is an array
    (4,): the error of a pair, 1 being the tolerance (inf: not solved); whether all its steps push alike, and as before;
    whether something happens in the first half; how contacts push at its end.
    """

    rtol: float
    atol: float
    shortest: float
    longest: float
    t_max: float
    order: int


@kernel(f"float64({A1}, {A1}, Aim)", borrows=True)
def fourth(one: Array, other: Array, aim: Aim) -> float:
    """Return the sum of the fourth powers of how far entries are apart; 1 is the tolerance."""
    total = 0.0
    for i in range(len(one)):
        scale = aim.atol + aim.rtol * max(abs(one[i]), abs(other[i]))
        total += ((one[i] - other[i]) / scale) ** 4
    return total


@kernel(f"float64({A1}, {A1}, {A1}, {A1}, Aim)", borrows=True, entry=True)
def off(q: Array, v: Array, q_other: Array, v_other: Array, aim: Aim) -> float:
    """Return how far two states are apart; 1 is the tolerance.

    No less than the largest of all entries, and smooth, as that is not: lengths of pairs change smoothly with it.
    """
    return float((fourth(q, q_other, aim) + fourth(v, v_other, aim)) ** 0.25)


@kernel(f"float64(Kept, int64, int64, {I1})", borrows=True, entry=True)
def kind_of(kept: Kept, s: int, fixed: int, tags: IntArray) -> float:
    """Return a number that says which contacts push in step s, which stick or slip, and which way in the plane.

    The first `fixed` constraints are told by their tags, others by their labels; their order does not count.
    """
    total = 0
    for k in range(kept.found[s, ROWS]):
        first, end, pushes = kept.start[s, k], kept.start[s, k + 1], False
        for i in range(first, end):
            pushes = pushes or kept.p[s, i] != 0.0
        if kept.acts[s, k] == 0 or not pushes:
            continue
        found = tags[k] % PRIME if k < fixed else 0
        for c in range(4 if k >= fixed else 0):
            found = (found * FACTOR + kept.label[s, 4 * (k - fixed) + c] + 1) % PRIME
        mode = kept.mode[s, k]
        turn = (1 if kept.p[s, end - 1] > 0.0 else 2) if mode == SLIP and end - first < 3 else 0
        found = (found * FACTOR + 4 * mode + turn) % PRIME
        total = (total + found * found) % PRIME  # squares: else modes might change places unseen
    return float(total)


@lru_cache(maxsize=64)
def tags_of(ids: tuple[str, ...]) -> IntArray:
    """Return a number for each id."""
    return np.array([crc32(id.encode()) for id in ids], dtype=np.int64)


@kernel("float64(float64)", borrows=True)
def at_once(factor: float) -> float:
    """Return the factor, as far as lengths may change at once."""
    return min(max(factor, SHRINK), GROW)


@kernel(f"float64(float64, {A1}, int64)", borrows=True)
def allowed(length: float, trial: Array, order: int) -> float:
    """Return the length that the estimate allows, s."""
    factor = SHRINK
    if trial[ERROR] < math.inf:
        factor = SAFETY * max(trial[ERROR], 1e-30) ** (-1.0 / (order + 1))
    return length * at_once(factor)


@kernel(f"void({A1}, float64, {A1}, int64)", borrows=True)
def foresee(pace: Array, length: float, trial: Array, order: int) -> None:
    """Put the length of the next smooth pair: what estimates allow goes on to change as from the last pair to this one.

    To take what this pair allows would be late by a pair: rejected as motion quickens, and other steps forth than back.
    """
    now, last = allowed(length, trial, order), pace[LAST]
    pace[SMOOTH] = length * at_once(now * (now / last) / length) if last > 0.0 else now
    pace[LAST] = now


@kernel("float64(float64, float64, float64)", borrows=True, entry=True)
def end_of(t: float, length: float, t_max: float) -> float:
    """Return where a pair ends, without a sliver before the end of the run."""
    return t_max if t + length * (1.0 + 1e-6) >= t_max else t + length


@record(*[A1] * 6, by_value=True)
class Three(NamedTuple):
    """The steps of a trial.

    Attributes
    ----------
    v : Array
        Velocity at the start.
    q_full, v_full : Array
        Where the whole step ends.
    v_half, q_end, v_end : Array
        Velocity after the first half, where the second one ends.
    """

    v: Array
    q_full: Array
    v_full: Array
    v_half: Array
    q_end: Array
    v_end: Array


@kernel(f"void(Three, {A1}, Aim, float64, float64, {A1})", borrows=True, entry=True)
def judge(steps: Three, kinds: Array, aim: Aim, length: float, known: float, trial: Array) -> None:
    """Put the trial: how far off the steps are, whose contacts push so (whole, first, second), `known` before."""
    early = kinds[1] != known and known >= 0.0
    smooth = not early and kinds[0] == kinds[1] and kinds[1] == kinds[2]
    error = off(steps.q_full, steps.v_full, steps.q_end, steps.v_end, aim)
    if smooth:
        error /= 2.0**aim.order - 1.0
    else:
        change = 0.0
        for j in range(len(steps.v)):
            uniform = steps.v[j] if early else 2.0 * steps.v_half[j] - steps.v[j]
            found = steps.v_half[j] if early else steps.v_end[j]
            change = max(change, abs(uniform - found) / (aim.atol + aim.rtol * max(abs(uniform), abs(found))))
        error = max(error, min(change, 0.5 * length / aim.atol))
    trial[ERROR], trial[IS_SMOOTH], trial[EARLY], trial[ENDS_AS] = error, smooth, early, kinds[2]


@kernel(f"boolean({A1}, float64, Aim)", borrows=True, entry=True)
def kept_pair(trial: Array, asked: float, aim: Aim) -> bool:
    """Return whether a pair is kept: it obeys the tolerance, or was asked to be as short as can be."""
    return trial[ERROR] <= 1.0 or asked <= aim.shortest


@kernel(f"float64({A1}, float64, float64, {A1}, int64)", borrows=True, entry=True)
def refuse(pace: Array, t: float, length: float, trial: Array, order: int) -> float:
    """Return how long the pair is that is tried next at t, after one of this length that is off by too much."""
    if trial[IS_SMOOTH] != 0.0:
        return allowed(length, trial, order)
    half = 0.5 * length
    pace[EVENT] = t + (half if trial[EARLY] != 0.0 else length)
    return 0.5 * half if trial[EARLY] != 0.0 else half


@kernel(f"void({A1}, float64, float64, {A1}, int64)", borrows=True, entry=True)
def accept(pace: Array, length: float, asked: float, trial: Array, order: int) -> None:
    """Put the pace after a pair that is kept: smooth steps are as long as the estimate allows.

    One that is much shorter than was asked ends with the run, and says nothing of longer ones.
    """
    pace[KIND] = trial[ENDS_AS]
    if trial[IS_SMOOTH] == 0.0:
        pace[EVENT], pace[LAST] = NEVER, 0.0
    elif not (pace[EVENT] > NEVER or length < 0.5 * asked):
        foresee(pace, length, trial, order)


@kernel(f"void({A1}, float64)", borrows=True, entry=True)
def go_behind(pace: Array, t: float) -> None:
    """Put the pace from a time on to which a pair led: halfway to a known event, as before behind it."""
    if pace[EVENT] > t:
        pace[AHEAD] = 0.5 * (pace[EVENT] - t)
    else:
        pace[AHEAD], pace[EVENT] = pace[SMOOTH], NEVER
    pace[MIDDLE] = pace[END] = NEVER
    pace[PAIRS] += 1.0


@kernel(f"void({A1}, float64, float64, Aim)", borrows=True, entry=True)
def halve(pace: Array, middle: float, end: float, aim: Aim) -> None:
    """Note that the second step of a pair goes from the middle to the end."""
    pace[MIDDLE], pace[END], pace[RTOL], pace[ATOL] = middle, end, aim.rtol, aim.atol


@kernel(f"boolean({A1}, float64, Aim)", borrows=True, entry=True)
def halfway(pace: Array, t: float, aim: Aim) -> bool:
    """Return whether the second step of a pair begins at t: one held to the same, and not of another clock."""
    same = pace[MIDDLE] == t and pace[RTOL] == aim.rtol and pace[ATOL] == aim.atol
    return bool(same and t < pace[END] <= aim.t_max and pace[END] - t <= aim.longest)


@kernel(f"boolean({A1}, {A1}, float64, float64, Aim)", borrows=True, entry=True)
def observes(pace: Array, trial: Array, t: float, length: float, aim: Aim) -> bool:
    """Return whether the order is observed at a pair that is kept."""
    probed = pace[PAIRS] % PROBED == 0.0 and trial[IS_SMOOTH] != 0.0
    return probed and not (t + 2.0 * length > aim.t_max or trial[ERROR] < SEEN)


@kernel("float64(float64, float64)", borrows=True, entry=True)
def observed(coarse: float, fine: float) -> float:
    """Return the order at which errors of this size, of steps of twice the length, fall; NaN where it is not seen."""
    return math.log2(coarse / fine) - 1.0 if coarse > 0.0 else math.nan
