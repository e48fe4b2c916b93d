"""Motions that run into a configuration at which constraints lose rank: seen in time, so that they end there in words.

`event_loop` begins to watch (`watching`), asks after steps, also where they end in an event, whether they have leapt
over such a point (`leapt`), lets the flow go up to the barrier, and asks there whether the motion has arrived
(`arriving`). Where none goes on though no rows depend on others, friction may be the reason (`jam_of`).

With U and K, bases of the range of J and of its kernel at the beginning of a step, the determinant of (U^T J, K^T)
passes through zero where the rank is lost, and changes its sign there if branches cross: a step that leaps over such a
point shows it as well as one that comes near. Whether there is such a point is then looked for on the curve of
configurations ahead (`mechanics.branching.section`), so that motions that pass near one go on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...contact.snapshot import rows_of
from ...linalg.redundant_rows import rank_of
from ...mechanics.branching.rank import rank_loss_at
from ...mechanics.branching.section import RankLoss, involved, rank_loss_ahead
from ...mechanics.rows import Row
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from .phase_state import HARDLY, Place, over_mass
from .smooth_phase import Phase

if TYPE_CHECKING:
    from .segment import Segment

RANK = 1e-10  # singular values of J below this, relative to the largest, belong to redundant constraints
SOON = 1.5  # next steps: where the determinant seems to vanish within them a point is looked for
SHRUNK, NEAR = 0.2, 10.0  # of the longest step; where steps are shorter it is looked for so many of them ahead
FEWER = 0.25  # of a step: where steps have shrunk by this it is looked for anew
BEFORE = 0.01  # of the length over which a mechanism changes: so far before the point a motion ends
ARRIVED = 1.5  # times that: it ends here
RENEWED = (0.7, 1.4)  # of what the determinant was: bases are renewed beyond
ZERO, LISTED = 1e-9, 12  # coordinates of a point that are zero; how many parts words list
FALLEN = 0.1  # of the determinant before: steps that leave less of it have leapt over a point, or come to one
HALFWAY = 0.5  # of the time to a point that is not certain
TURNS = 2.3  # rad per length of the way of a quaternion, up to turns by pi
FOLLOWED = 1e-3  # of a way: curves that are known for less of it say nothing
CLOSE = 1e-5  # smallest over largest singular value of constraints
MATTER = 1e-2  # of a null vector: constraints that are named
SINGULAR = 1e-7  # singular values of W over that without friction: those below are as good as zero


@dataclass(frozen=True, slots=True, eq=False)
class Determinant:
    """det (U^T J, K^T) over what it was where the bases were taken, seen last at a time t (s)."""

    U: Array
    K: Array
    sign: float
    size: float
    t: float
    value: float = 1.0

    @classmethod
    def at(cls, t: float, J: Array) -> Determinant:
        """Take the bases."""
        U, s, Vt = np.linalg.svd(J)
        rank = int((s > RANK * s[0]).sum())
        U, K = U[:, :rank].T, Vt[rank:]
        sign, size = np.linalg.slogdet(np.vstack([U @ J, K]))
        return cls(U, K, float(sign), float(size), t)

    def seen(self, t: float, J: Array) -> Determinant:
        """Return it at a later time."""
        sign, size = np.linalg.slogdet(np.vstack([self.U @ J, self.K]))
        return replace(self, t=t, value=self.sign * float(sign) * math.exp(min(float(size) - self.size, 50.0)))

    def vanishes_after(self, before: Determinant) -> float:
        """Return after which time it seems to vanish, s: inf where it does not fall, -inf where it is below zero."""
        fall = (before.value - self.value) / (self.t - before.t) if self.t > before.t else 0.0
        if self.value <= 0.0:
            return -math.inf
        return self.value / fall if fall > 0.0 else math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What was found ahead of (t, q) at steps of h (s): a loss of rank in `far` (m, rad), or none as far as that."""

    t: float
    q: Array
    h: float
    far: float
    loss: RankLoss | None = None
    left: float = math.inf  # time to it along the curve, s


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Watch:
    """How a segment is watched.

    Attributes
    ----------
    barrier : float
        When a configuration at which constraints lose rank is nearly reached, s.
    begun : (float, Array) or None
        When watching began (s) and J of the joints then; None where nothing is watched.
    determinant : Determinant or None
        None before a step has been taken: most segments end with the first one.
    """

    barrier: float = math.inf
    begun: tuple[float, Array] | None = None
    determinant: Determinant | None = None


def lost_at_start(segment: Segment, rows: Sequence[Row]) -> Solution | None:
    """Return why there is no phase where constraints lose rank where a run begins."""
    joints = [row for row in rows if row.bilateral and row.level == "position"]
    loss = rank_loss_at(segment.system, segment.t, segment.q) if joints else None
    if loss is None:
        return None
    words = f"{_words(loss, segment.t)} Begin beside it, on one of the branches."
    return Solution(problem=None, status=Status.UNDECIDED, message=words)


def watching(segment: Segment) -> Segment:
    """Begin to watch, if there are joints; take over the point that a segment before has found."""
    if segment.phase is None or not _joints(segment.phase) or not may_lose_rank(segment.phase):
        return segment
    segment = replace(segment, watch=Watch(begun=(segment.t, _joint_rows(segment, segment.phase))))
    known = _searched(segment)
    return segment if known is None else _barred(segment, known)


def leapt(before: Segment, after: Segment) -> tuple[Segment, bool]:
    """Look at the rank after steps; return where to go on, and whether they have come to a loss and it goes back.

    Half of the way where the curve ahead is not known as far, or the point lies farther along it than they went.
    """
    watch, phase = after.watch, after.phase
    if watch.begun is None or phase is None:
        return after, False
    J, last = _joint_rows(after, phase), watch.determinant or Determinant.at(*watch.begun)
    now = last.seen(after.t, J)
    left = now.vanishes_after(last)
    renewed = not RENEWED[0] < now.value < RENEWED[1]
    after = replace(after, watch=replace(watch, determinant=Determinant.at(after.t, J) if renewed else now))
    pace = after.pace
    if now.value < FALLEN * last.value:
        reach = ARRIVED * _between(after, before.q)
        found = _search(before, reach)
        if found.loss is not None or FOLLOWED * reach < found.far < reach:
            again = _barred(_renewed(before), found)
            until = again.watch.barrier if again.watch.barrier < after.t else 0.5 * (before.t + after.t)
            if until - before.t > HARDLY * max(1.0, abs(after.t)):
                return replace(again, watch=replace(again.watch, barrier=until)), True
    if left < 0.0:
        return after, False
    if left <= SOON * pace.h or (pace.h < SHRUNK * pace.longest and left <= NEAR * pace.h):
        reach = 2.0 * left * float(np.linalg.norm(after.v))
        after = _barred(after, _searched(after) or _search(after, reach))
    return after, False


def _renewed(segment: Segment) -> Segment:
    """Return a segment that is watched from here."""
    assert segment.phase is not None
    now = Determinant.at(segment.t, _joint_rows(segment, segment.phase))
    return replace(segment, watch=replace(segment.watch, determinant=now))


def _search(segment: Segment, reach: float) -> Search:
    """Look for the next point at which the rank is lost."""
    system, q, v = segment.system, segment.q, segment.v
    loss, far = rank_loss_ahead(system, segment.t, q, v, reach)
    left = math.inf if loss is None else _time_to(far, *_pace(segment))
    found = Search(segment.t, q, segment.pace.h, far, loss, left)
    segment.task.known.searches.append(found)
    return found


def _searched(segment: Segment) -> Search | None:
    """Return the last search that still says what is ahead, if there is one."""
    for last in reversed(segment.task.known.searches):
        if last.loss is not None:
            return last if _until(segment, last)[0] < last.loss.length else None
        near = _between(segment, last.q) < last.far
        return last if near and segment.pace.h >= FEWER * last.h else None
    return None


def _until(segment: Segment, found: Search) -> tuple[float, float]:
    """Return distance (m, rad) and time (s) to a point; both inf where the motion does not come there."""
    assert found.loss is not None
    if not found.loss.certain:
        near = _between(segment, found.q) < 2.0 * found.far and segment.t >= found.t
        left = found.t + found.left - segment.t
        return (found.far * left / found.left, left) if near and left > 0.0 else (math.inf, math.inf)
    way = found.loss.q - segment.q
    far = float(np.linalg.norm(way))
    return far, _time_to(far, *_speed(segment, way))


def _between(segment: Segment, q: Array) -> float:
    """Return how far coordinates are away, as velocities measure it, or more: quaternions turn by half an angle."""
    turns = 1.0 if len(segment.q) == len(segment.v) else TURNS
    return turns * float(np.linalg.norm(segment.q - q))


def _pace(segment: Segment) -> tuple[float, float]:
    """Return speed and acceleration along the motion, as velocities measure them: so curves ahead are measured."""
    speed = float(np.linalg.norm(segment.v))
    if segment.phase is None or speed == 0.0:
        return 0.0, 0.0
    return speed, float(segment.phase.instant(segment.t, segment.q, segment.v).a @ segment.v) / speed


def _speed(segment: Segment, way: Array) -> tuple[float, float]:
    """Return speed and acceleration along a direction, in the coordinates."""
    size = float(np.linalg.norm(way))
    if segment.phase is None or size == 0.0:
        return 0.0, 0.0
    a = segment.phase.instant(segment.t, segment.q, segment.v).a
    speed, rate = (float(segment.system.qdot(segment.q, x) @ way) / size for x in (segment.v, a))
    return speed, rate


def _barred(segment: Segment, found: Search) -> Segment:
    """Let the motion end shortly before a point, if it comes there in time.

    With more than one degree of freedom it leaves the curve on which that was found: it is looked for anew halfway.
    """
    barrier = math.inf
    if found.loss is not None:
        far, left = _until(segment, found)
        if segment.t + left <= segment.task.goal:
            ahead = max(0.0, 1.0 - BEFORE * found.loss.length / far)
            barrier = segment.t + left * (ahead if found.loss.certain else min(ahead, HALFWAY))
    return replace(segment, watch=replace(segment.watch, barrier=barrier))


def arriving(segment: Segment) -> tuple[Segment, bool]:
    """Return whether a segment ends here because constraints lose rank shortly; else it may have another barrier."""
    if segment.t < segment.watch.barrier:
        return segment, False
    known = _searched(segment)
    segment = replace(segment, watch=replace(segment.watch, barrier=math.inf))
    if known is not None and known.loss is not None and not known.loss.certain:
        known = _search(segment, ARRIVED * known.far)
    if known is None or known.loss is None:
        return segment, False
    far, left = _until(segment, known)
    if far > ARRIVED * BEFORE * known.loss.length:
        return _barred(segment, known), False
    return replace(segment, ends=_words(known.loss, segment.t, left)), True


def nearly_dependent(segment: Segment) -> str:
    """Return in words that constraints come close to losing rank, if they do where a segment is."""
    if segment.watch.begun is None or segment.phase is None:
        return ""
    J = _joint_rows(segment, segment.phase)
    U, s, _ = np.linalg.svd(J)
    rank = int((s > RANK * s[0]).sum())
    if s[rank - 1] > CLOSE * s[0]:
        return ""
    rows = [row.id for row in segment.phase.rows if row.bilateral and row.level == "position"]
    named = _listed(involved(tuple(rows), U[:, rank - 1 : rank], MATTER))
    return f"constraints come close to losing rank, {s[rank - 1] / s[0]:.1g} of it is left: {named}"


def _joint_rows(segment: Segment, phase: Phase) -> Array:
    """Return J of the joints where a segment is, shape (m, nv)."""
    now, t, q = segment.now, segment.t, segment.q
    if phase.compiled:
        return phase.compiled[0].joint_rows(t, q, segment.v)
    here = now is not None and now.q is q and now.t == t
    rows = now.rows if now is not None and here else rows_of(phase.system, t, q, segment.v)
    return np.array([row.J[0] for row in rows if row.bilateral and row.level == "position"])


def _time_to(far: float, speed: float, rate: float) -> float:
    """Return the time to a distance at a speed and an acceleration; inf where the motion turns before."""
    room = speed**2 + 2.0 * rate * far
    return 2.0 * far / (speed + math.sqrt(room)) if speed > 0.0 and room >= 0.0 else math.inf


def _words(loss: RankLoss, t: float, left: float = 0.0) -> str:
    """Return why a run ends at t (s), a time before a loss of rank."""
    where = [f"{x:.6g}" for x in np.where(np.abs(loss.q) < ZERO, 0.0, loss.q)]
    ends = f"; the run ends {left:.2g} s before" if left > 0.0 else ""
    return (
        f"constraints lose rank at t = {t + left:.9g} s, where branches may meet: {_listed(loss.ids)} depend on each "
        f"other at q = ({_listed(where)}), rank {loss.rank} instead of {loss.usual}. Accelerations do not determine "
        f"the motion there{ends}. With one degree of freedom and open contacts OnBranch goes through: "
        f"stepper=OnBranch(on_branch='smooth'), --stepper on_branch."
    )


def _listed(parts: Sequence[str]) -> str:
    more = len(parts) - LISTED
    return ", ".join(parts[:LISTED]) + (f", .. ({more} more)" if more > 0 else "")


def may_lose_rank(phase: Phase) -> bool:
    """Return whether constraints that are watched may lose rank: joints of bodies that close no loop never do."""
    watched = dict.fromkeys(row.id.partition(":")[0] for row in phase.rows if row.bilateral and row.level == "position")
    parts, leads = getattr(phase.system, "joints", ()), dict[str, str]()
    joints = {part.name: part for part in parts if hasattr(part, "name")}  # not what drives or limits them
    for name in watched:
        if name not in joints:
            return True
        ends = [joints[name].a.body, joints[name].b.body]
        for k in range(2):
            while ends[k] in leads:
                ends[k] = leads[ends[k]]
        if ends[0] == ends[1]:
            return True
        leads[ends[0]] = ends[1]
    return False


def _joints(phase: Phase) -> bool:
    return any(row.bilateral and row.level == "position" for row in phase.rows)


def jam_of(phase: Phase, place: Place) -> str:
    """Return in words which reactions have no matrix that gives them at a place; nothing where all have one.

    W = G M^-1 B, where B is G^T less friction along the ways of slip, is singular for some places and ways. A motion
    may be drawn to such a point in a finite time: its reactions grow without bound, or have a limit that they come to
    ever faster. Beyond it the modes do not go on, and which others do is open. Source: Genot, Brogliato (1999), New
    results on Painleve paradoxes, 4.
    """
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
    if rank == 0 or not np.isfinite(X).all():
        return None
    left, right = range_of(G, rank), range_of(B, rank)
    own, plain = (left.T @ G @ x for x in X)
    _, s, V = np.linalg.svd(np.linalg.solve(plain @ left, own @ right))
    return np.asarray(right @ V[-1]) if s[-1] <= SINGULAR else None


def range_of(G: Array, rank: int) -> Array:
    """Return an orthonormal basis, in columns, of what is orthogonal to all combinations of rows that are zero."""
    return np.linalg.svd(G, full_matrices=False)[0][:, :rank]
