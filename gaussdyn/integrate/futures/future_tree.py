"""The tree of all futures that an exploration found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ..._show import brief, cut
from ...contact.outcome.verdicts import Outcome
from ...mechanics.state import State
from ..impact.reverse_chatter import Chatter

BRANCHES, COMPLETED, STOPPED, SAME, DEPTH, COUNT = "BRANCHES", "COMPLETED", "STOPPED", "SAME", "DEPTH", "COUNT"
MEANING = {
    BRANCHES: "several motions follow",
    COMPLETED: "reached the end",
    STOPPED: "could not go on",
    SAME: "the state is one that is known already",
    DEPTH: "not followed: as many branchings in a row as were allowed",
    COUNT: "not followed: as many futures as were allowed",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Future:
    """A stretch of motion between two branchings.

    Attributes
    ----------
    id : int
        0 is the root.
    parent : int or None
    modes : mapping of str to str
        By which mode of every contact it differs from its sisters; empty at the root.
    start, end : State
    ending : str
        BRANCHES, COMPLETED, STOPPED, SAME, DEPTH or COUNT.
    reason : str
        Why it stopped; which one is the same.
    outcome : Outcome or None
        Where it branches, with its certificate.
    open : tuple of (float, float)
        Times, s, in which it might branch off once more, the same way as at its start: the choice remains.
    without : tuple of (float, float)
        Times, s, in which the laws admit no acceleration, and which the stepper passes on the velocity level.
    continuum : bool
        Whether it stands for a continuum of motions.
    followed : bool
        Whether the stepper was seen to follow it; where it was not, the end is that of another branch.
    chatter : tuple of Chatter
        At its end: bounces that grow out of rest.
    children : tuple of int
    samples : tuple of State
        Some states on the way, for pictures.
    """

    id: int
    parent: int | None
    modes: Mapping[str, str]
    start: State
    end: State
    ending: str
    reason: str = ""
    outcome: Outcome | None = None
    open: tuple[tuple[float, float], ...] = ()
    without: tuple[tuple[float, float], ...] = ()
    continuum: bool = False
    followed: bool = True
    chatter: tuple[Chatter, ...] = ()
    children: tuple[int, ...] = ()
    samples: tuple[State, ...] = ()

    __repr__ = brief

    @property
    def label(self) -> str:
        """The letters of its modes; start at the root."""
        return "".join(self.modes.values()) if self.parent is not None else "start"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tree:
    """All futures of a state, up to bounds.

    Attributes
    ----------
    name : str
        Of the scene.
    params : mapping of str to float
    t_end : float
    settings : mapping
        Of the exploration.
    futures : tuple of Future
        By id: parents come before their children.
    """

    name: str
    t_end: float
    futures: tuple[Future, ...]
    params: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return how many futures there are, and how the first of them end."""
        ends = [f"{n} {word}" for word, n in Counter(one.ending for one in self.futures).most_common()]
        whole = "complete" if self.complete else "not complete"
        shown = [cut(line, 100) for line in islice(self.lines(), 6)]
        more = ["    ..."] if len(self.futures) > len(shown) else []
        head = f"Tree({self.name!r}, t_end={self.t_end:g} s, {len(self.futures)} futures: {', '.join(ends)}; {whole})"
        return "\n".join([head, *(f"    {line}" for line in shown), *more])

    @property
    def leaves(self) -> tuple[Future, ...]:
        """The futures that do not branch."""
        return tuple(one for one in self.futures if one.ending != BRANCHES)

    @property
    def complete(self) -> bool:
        """Whether no bound cut anything off, and every branch was followed to its end."""
        return all(one.ending in (COMPLETED, SAME, BRANCHES) and one.followed for one in self.futures)

    @property
    def ends(self) -> tuple[Future, ...]:
        """The different ends that were reached."""
        return tuple(one for one in self.leaves if one.ending == COMPLETED)

    def path(self, future: Future) -> tuple[Future, ...]:
        """Return all stretches from the root to a future."""
        found = [future]
        while found[-1].parent is not None:
            found.append(self.futures[found[-1].parent])
        return tuple(reversed(found))

    def lines(self) -> Iterator[str]:
        """Yield the tree as text, one line per future."""
        for one in self._depth_first(0):
            depth = len(self.path(one)) - 1
            yield "  " * depth + self._line(one)

    def document(self) -> dict[str, Any]:
        """Return the tree ready for JSON."""
        return {
            "schema": "gaussdyn/explore/1",
            "scene": self.name,
            "params": dict(self.params),
            "t_end": self.t_end,
            "settings": dict(self.settings),
            "complete": self.complete,
            "futures": [_entry(one) for one in self.futures],
        }

    def _depth_first(self, id: int) -> Iterator[Future]:
        yield self.futures[id]
        for child in self.futures[id].children:
            yield from self._depth_first(child)

    def _line(self, one: Future) -> str:
        said = f"{one.id} [{one.label}] t = {one.start.t:.6g} .. {one.end.t:.6g} s: {MEANING[one.ending]}"
        if one.outcome is not None:
            said += f" ({one.outcome.verdict}, {one.outcome.count})"
        said += f" ({one.reason})" if one.reason else ""
        said += "".join(f"; the choice remains in {a:.6g} .. {b:.6g} s" for a, b in one.open)
        said += "".join(f"; no acceleration in {a:.6g} .. {b:.6g} s" for a, b in one.without)
        said += "".join(f"; reverse chatter at {c.id} (x{c.growth:.3g} a bounce)" for c in one.chatter if c.reversed)
        return said if one.followed else said + "; NOT FOLLOWED by the stepper"


def _entry(one: Future) -> dict[str, Any]:
    return {
        "id": one.id,
        "parent": one.parent,
        "modes": dict(one.modes),
        "start": {"t": one.start.t, "q": one.start.q.tolist(), "v": one.start.v.tolist()},
        "end": {"t": one.end.t, "q": one.end.q.tolist(), "v": one.end.v.tolist()},
        "ending": one.ending,
        "reason": one.reason or None,
        "outcome": None if one.outcome is None else str(one.outcome.verdict),
        "count": None if one.outcome is None else one.outcome.count,
        "open": [list(span) for span in one.open],
        "without_acceleration": [list(span) for span in one.without],
        "continuum": one.continuum,
        "followed": one.followed,
        "reverse_chatter": {c.id: c.growth for c in one.chatter if c.reversed},
        "children": list(one.children),
    }
