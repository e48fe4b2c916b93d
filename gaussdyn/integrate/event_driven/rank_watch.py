"""Motions that run into a configuration at which constraints lose rank: seen in time, so that they end there in words.

With U and K, bases of the range of J and of its kernel at the beginning of a step, the determinant of (U^T J, K^T)
passes through zero where the rank is lost, and changes its sign there if branches cross: a step that leaps over such a
point shows it as well as one that comes near. Whether there is such a point is then looked for on the curve of
configurations ahead (`mechanics.branching.section`), so that motions that pass near one go on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arrays import Array
from ...contact.snapshot import rows_of
from ...mechanics.branching.rank import rank_loss_at
from ...mechanics.branching.section import RankLoss, involved, rank_loss_ahead
from ...mechanics.rows import Row
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from .jump import Jump
from .smooth_phase import Phase

RANK = 1e-10  # singular values of J below this, relative to the largest, belong to redundant constraints
SOON = 1.5  # next steps: where the determinant seems to vanish within them a point is looked for
SHRUNK, NEAR = 0.2, 10.0  # of the longest step; where steps are shorter it is looked for so many of them ahead
FEWER = 0.25  # of a step: where steps have shrunk by this it is looked for anew
BEFORE = 0.01  # of the length over which a mechanism changes: so far before the point a motion ends
ARRIVED = 1.5  # times that: it ends here
RENEWED = (0.7, 1.4)  # of what the determinant was: bases are renewed beyond
ZERO, LISTED = 1e-9, 12  # coordinates of a point that are zero; how many parts words list
CLOSE = 1e-5  # smallest over largest singular value of constraints
MATTER = 1e-2  # of a null vector: constraints that are named
KEPT = ("t", "q", "v", "pace", "phase", "now")  # of a segment that goes back
COPIED = ("account", "offsets", "largest")


@dataclass(slots=True, eq=False)
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

    def vanishes_after(self, t: float, J: Array) -> float:
        """Return after which time it seems to vanish, s: inf where it does not fall, -inf where it is below zero."""
        sign, size = np.linalg.slogdet(np.vstack([self.U @ J, self.K]))
        value = self.sign * float(sign) * math.exp(min(float(size) - self.size, 50.0))
        fall = (self.value - value) / (t - self.t) if t > self.t else 0.0
        self.t, self.value = t, value
        if value <= 0.0:
            return -math.inf
        return value / fall if fall > 0.0 else math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What was found ahead of (t, q) at steps of h (s): a loss of rank in `far` (m, rad), or none as far as that."""

    t: float
    q: Array
    h: float
    far: float
    loss: RankLoss | None = None
    left: float = math.inf  # time to it along the curve, s


@dataclass(slots=True, kw_only=True, eq=False)
class RankWatch(Jump):
    """A motion that ends shortly before constraints lose rank.

    Attributes
    ----------
    ends : str
        Why the run shall end after this segment, if it shall.
    barrier : float
        When a configuration at which constraints lose rank is nearly reached, s.
    watched : (float, Array) or None
        When watching began (s) and J of the joints then; None where nothing is watched.
    determinant : Determinant or None
        None before a step has been taken: most segments end with the first one.
    """

    ends: str = ""
    barrier: float = math.inf
    watched: tuple[float, Array] | None = field(default=None, init=False)
    determinant: Determinant | None = field(default=None, init=False)

    def _begins_without_rank(self, rows: Sequence[Row]) -> bool:
        """Whether constraints lose rank where a run begins, so that there is no phase."""
        joints = [row for row in rows if row.bilateral and row.level == "position"]
        loss = rank_loss_at(self.system, self.t, self.q) if joints else None
        if loss is None:
            return False
        words = f"{_words(loss, self.t)} Begin beside it, on one of the branches."
        self.failure = Solution(problem=None, status=Status.UNDECIDED, message=words)
        return True

    def _watch_rank(self) -> None:
        """Begin to guard, if there are joints; take over the point that a segment before has found."""
        if self.phase is None or not _joints(self.phase):
            return
        self.watched = self.t, self._joint_rows(self.phase)
        if (known := self._searched()) is not None:
            self._bar(known)

    def _mark(self) -> dict[str, Any] | None:
        """Return where the segment is, to go back to."""
        if self.watched is None:
            return None
        return {key: getattr(self, key) for key in KEPT} | {key: getattr(self, key).copy() for key in COPIED}

    def _leapt(self, mark: dict[str, Any] | None) -> bool:
        """Look at the rank after a step; whether it had passed through a loss, and the segment has gone back."""
        if self.watched is None or mark is None or self.phase is None:
            return False
        J, determinant = self._joint_rows(self.phase), self.determinant or Determinant.at(*self.watched)
        after = determinant.vanishes_after(self.t, J)
        renewed = not RENEWED[0] < determinant.value < RENEWED[1]
        self.determinant = Determinant.at(self.t, J) if renewed else determinant
        if after < 0.0:
            return self._goes_back(mark, ARRIVED * float(np.linalg.norm(self.q - mark["q"])))
        if after <= SOON * self.pace.h or (self.pace.h < SHRUNK * self.pace.longest and after <= NEAR * self.pace.h):
            reach = 2.0 * after * float(np.linalg.norm(self.system.qdot(self.q, self.v)))
            known = self._searched() or self._search(reach)
            self._bar(known)
        return False

    def _goes_back(self, mark: dict[str, Any], reach: float) -> bool:
        """Go back to where a step began in which the rank seems to have been lost, if it was."""
        ahead = {key: getattr(self, key) for key in mark}
        for key, value in mark.items():
            setattr(self, key, value)
        found = self._search(reach)
        if found.loss is None:
            for key, value in ahead.items():
                setattr(self, key, value)
            return False
        assert self.phase is not None
        self.determinant = Determinant.at(self.t, self._joint_rows(self.phase))
        self._bar(found)
        return True

    def _search(self, reach: float) -> Search:
        """Look for the next point at which the rank is lost."""
        loss, far = rank_loss_ahead(self.system, self.t, self.q, self.v, reach)
        speed, rate = self._pace(self.system.qdot(self.q, self.v))
        left = math.inf if loss is None else _time_to(far, speed, rate)
        found = Search(self.t, self.q, self.pace.h, far, loss, left)
        self.task.known.searches.append(found)
        return found

    def _searched(self) -> Search | None:
        """Return the last search that still says what is ahead, if there is one."""
        for last in reversed(self.task.known.searches):
            if last.loss is not None:
                return last if self._until(last)[0] < last.loss.length else None
            near = float(np.linalg.norm(self.q - last.q)) < last.far
            return last if near and self.pace.h >= FEWER * last.h else None
        return None

    def _until(self, found: Search) -> tuple[float, float]:
        """Return distance (m, rad) and time (s) to a point; both inf where the motion does not come there."""
        assert found.loss is not None
        if not found.loss.certain:
            near = float(np.linalg.norm(self.q - found.q)) < 2.0 * found.far and self.t >= found.t
            left = found.t + found.left - self.t
            return (found.far * left / found.left, left) if near and left > 0.0 else (math.inf, math.inf)
        way = found.loss.q - self.q
        left = _time_to(float(np.linalg.norm(way)), *self._pace(way))
        return float(np.linalg.norm(way)), left

    def _pace(self, way: Array) -> tuple[float, float]:
        """Return speed and acceleration along a direction, in the coordinates."""
        size = float(np.linalg.norm(way))
        if self.phase is None or size == 0.0:
            return 0.0, 0.0
        a = self.phase.instant(self.t, self.q, self.v).a
        speed, rate = (float(self.system.qdot(self.q, x) @ way) / size for x in (self.v, a))
        return speed, rate

    def _bar(self, found: Search) -> None:
        """Let the motion end shortly before a point, if it comes there in time."""
        self.barrier = math.inf
        if found.loss is None:
            return
        far, left = self._until(found)
        if self.t + left <= self.task.goal:
            self.barrier = self.t + left * max(0.0, 1.0 - BEFORE * found.loss.length / far)

    def _arrives(self) -> bool:
        """Whether the segment ends here because constraints lose rank shortly; else it may have another barrier."""
        if self.t < self.barrier:
            return False
        known = self._searched()
        self.barrier = math.inf
        if known is not None and known.loss is not None and not known.loss.certain:
            known = self._search(ARRIVED * known.far)
        if known is None or known.loss is None:
            return False
        far, left = self._until(known)
        if far > ARRIVED * BEFORE * known.loss.length:
            self._bar(known)
            return False
        self.ends = _words(known.loss, self.t, left)
        return True

    def nearly_dependent(self) -> str:
        """Return in words that constraints come close to losing rank, if they do where the segment is."""
        if self.watched is None or self.phase is None:
            return ""
        J = self._joint_rows(self.phase)
        U, s, _ = np.linalg.svd(J)
        rank = int((s > RANK * s[0]).sum())
        if s[rank - 1] > CLOSE * s[0]:
            return ""
        rows = [row.id for row in self.phase.rows if row.bilateral and row.level == "position"]
        named = _listed(involved(tuple(rows), U[:, rank - 1 : rank], MATTER))
        return f"constraints come close to losing rank, {s[rank - 1] / s[0]:.1g} of it is left: {named}"

    def _joint_rows(self, phase: Phase) -> Array:
        """Return J of the joints where the segment is, shape (m, nv)."""
        now = self.now
        here = now is not None and now.q is self.q and now.t == self.t
        rows = now.rows if now is not None and here else rows_of(phase.system, self.t, self.q, self.v)
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


def _joints(phase: Phase) -> bool:
    return any(row.bilateral and row.level == "position" for row in phase.rows)
