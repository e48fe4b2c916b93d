"""All futures of a state: every branch is followed where the acceleration is certified not to be unique."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...arrays import scalar
from ...contact.active_set import OmegaStatus, active_set
from ...contact.outcome.examine import examine
from ...contact.outcome.motions import Branch, branches
from ...contact.outcome.outcome import outcome
from ...contact.outcome.verdicts import Outcome, Verdict
from ...contact.snapshot import LocalDynamics
from ...errors import InputError
from ...mechanics.scene import Scene
from ...mechanics.state import State
from ...mechanics.system import System
from ...mends import one_of, write
from ..contact_modes import Mode
from ..event_driven.integrator import EventDriven
from ..impact.impact_laws import ImpactLaw, Poisson
from ..impact.reverse_chatter import chatter
from ..mode_memory import memory_of
from ..run.interrupts import interruptible
from ..run.setup import RunSetup, check_applies, check_length, check_stepper, setup_of
from ..run.uniqueness_checks import accelerating
from ..stepper import Control, Stepper
from ..time_stepping.moreau_jean import MoreauJean
from .future_tree import BRANCHES, COMPLETED, COUNT, DEPTH, SAME, STOPPED, Future, Tree

SAMPLES = 24  # states of a stretch that are kept for pictures
NUDGES = (0.0, 1e-3, 1e-2, 1.0, 2.0)  # of a step, by which a branch is begun for a stepper that does not take it
ONWARD = str.maketrans("+-pm", "LLll")  # what begins to slip slides on


@interruptible
def explore(
    scene_or_system: Scene | System,
    state: State | None = None,
    t_end: float | None = None,
    *,
    stepper: Stepper | None = None,
    control: Control | None = None,
    depth: int = 4,
    most: int = 64,
    mu_s_rule: str = "all",
    law: ImpactLaw | None = None,
    tol: float = 1e-9,
) -> Tree:
    """Follow every motion that the laws admit.

    The acceleration is examined before every step. Where it becomes MULTIPLE, or a CONTINUUM (of which one motion
    inside every mode is taken), each of its motions is followed. As long as the same choice remains afterwards (a
    contact that slides on may lift off at any time) nothing branches again, and the future says so in `open`.

    Parameters
    ----------
    scene_or_system, state, t_end, control
        As in `simulate`.
    stepper : Stepper, optional
        Default ``MoreauJean(dt=scene.dt)``.
    depth : int
        Largest number of branchings in a row.
    most : int
        Largest number of futures.
    mu_s_rule : str
        all: every solution of the laws; stick: with mu_s > mu, contacts that can stick do.
    law : ImpactLaw, optional
        By which reverse chatter is judged; default ``Poisson()``.
    tol : float
        Two states are the same if t, q and v differ by no more, absolutely and relatively.

    Returns
    -------
    Tree

    Raises
    ------
    InputError
        An argument cannot be used.
    """
    check_stepper(stepper)
    setup = setup_of(scene_or_system, state, t_end, control)
    stepper = MoreauJean(dt=setup.dt) if stepper is None else stepper
    check_length(setup, stepper)
    check_applies(setup, stepper)
    if law is not None and (isinstance(law, type) or not hasattr(law, "strike")):
        raise InputError("law", repr(law), "an impact law", "Write e.g. Poisson(eps_n=0.5).")
    search = TreeSearch(
        setup=setup, stepper=stepper, depth=_count("depth", depth, 0), most=_count("most", most, 1),
        mu_s_rule=_rule(mu_s_rule), law=Poisson() if law is None else law,
        tol=scalar("tol", tol, low=0.0),
    )  # fmt: skip
    settings = {"stepper": stepper.settings(), "depth": depth, "most": most, "mu_s_rule": mu_s_rule, "tol": tol}
    return Tree(
        name=setup.name, params=setup.params, t_end=setup.t_end, settings=settings, futures=search.run()
    )  # fmt: skip


Motion = frozenset[tuple[str, str]]  # contacts that do not detach, with their modes


@dataclass(slots=True, kw_only=True)
class OpenFuture:
    """What a stretch of motion collects on its way."""

    future: Future
    open: list[tuple[float, float]] = field(default_factory=list)
    without: list[tuple[float, float]] = field(default_factory=list)
    samples: list[State] = field(default_factory=list)
    known: frozenset[Motion] = frozenset()
    found: tuple[Branch, ...] = ()

    def close(self, state: State, ending: str, **more: Any) -> Future:
        """Return the stretch at its end."""
        kept = [self.samples[k] for k in sorted({round(x) for x in np.linspace(0, len(self.samples) - 1, SAMPLES)})]
        return replace(
            self.future, end=state, ending=ending, open=_joined(self.open), without=_joined(self.without),
            samples=tuple(kept), **more,
        )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class TreeSearch:
    """An exploration under way: breadth first, so that a bound on the number cuts off what is far away."""

    setup: RunSetup
    stepper: Stepper
    depth: int
    most: int
    mu_s_rule: str
    law: ImpactLaw
    tol: float
    done: list[Future] = field(default_factory=list)
    waiting: deque[tuple[int, Branch | None]] = field(default_factory=deque)

    def run(self) -> tuple[Future, ...]:
        """Return all futures."""
        start = self.setup.state
        self.done = [Future(id=0, parent=None, modes={}, start=start, end=start, ending=STOPPED)]
        self.waiting.append((0, None))
        while self.waiting:
            id, branch = self.waiting.popleft()
            current, found = self._follow(self.done[id], branch)
            self.done[id] = found
            if found.ending == BRANCHES:
                self._branch(found, current.found)
        return tuple(self.done)

    def _branch(self, parent: Future, found: Sequence[Branch]) -> None:
        """Enter the motions that follow a future."""
        depth = self._depth(parent)
        ids: list[int] = []
        for branch in found:
            if len(self.done) >= self.most:
                self.done[parent.id] = replace(parent, reason=f"only {len(ids)} of {len(found)} are in the tree")
                break
            id, start = len(self.done), parent.end
            ids.append(id)
            ending = DEPTH if depth >= self.depth else STOPPED
            child = Future(id=id, parent=parent.id, modes=branch.modes, start=start, end=start, ending=ending)
            self.done.append(replace(child, continuum=branch.continuum))
            if depth < self.depth:
                self.waiting.append((id, branch))
        cut = len(ids) < len(found)
        self.done[parent.id] = replace(self.done[parent.id], children=tuple(ids), ending=COUNT if cut else BRANCHES)

    def _depth(self, one: Future) -> int:
        depth = 0
        while one.parent is not None:
            one, depth = self.done[one.parent], depth + 1
        return depth

    def _follow(self, future: Future, branch: Branch | None) -> tuple[OpenFuture, Future]:
        """Advance until the future branches, ends, or meets one that is known."""
        setup, state = self.setup, future.start
        current = OpenFuture(future=future, samples=[state])
        if branch is not None:
            siblings = self._motions(state)[1]
            current.known = frozenset(map(_motion, siblings))
            state, followed = self._begin(state, branch, siblings)
            current.future = replace(future, followed=followed)
        while state.t < setup.t_end:
            dynamics, found = self._motions(state)
            motions = frozenset(map(_motion, found))
            if len(found) > 1 and len(motions - current.known) >= 2:
                return self._ends_in_branches(current, state, dynamics, found)
            current.known = motions if len(found) > 1 else frozenset()
            step = self.stepper.advance(setup.system, state, setup.t_end, control=setup.control)
            if not step.solution.solved:
                return current, current.close(state, STOPPED, reason=step.solution.explain())
            if len(found) > 1:
                current.open.append((state.t, step.state.t))
            if found == () and self._has_none(dynamics):
                current.without.append((state.t, step.state.t))
            state = step.state
            current.samples.append(state)
        same = self._known(state)
        return current, current.close(state, COMPLETED if same is None else SAME, reason=_as(same))

    def _ends_in_branches(
        self, current: OpenFuture, state: State, dynamics: LocalDynamics, found: tuple[Branch, ...]
    ) -> tuple[OpenFuture, Future]:  # fmt: skip
        """Return the stretch that ends where several motions follow, with the proof that they do."""
        same = self._known(state)
        if same is not None:
            return current, current.close(state, SAME, reason=_as(same))
        current.found = found
        proved = outcome(dynamics, mu_s_rule=self.mu_s_rule)
        return current, current.close(state, BRANCHES, outcome=proved, chatter=chatter(dynamics, self.law))

    def _motions(self, state: State) -> tuple[LocalDynamics, tuple[Branch, ...]]:
        """Return all motions of a state; none where it is not known how many there are, or where something closes."""
        dynamics = accelerating(self.setup.system, state, self.setup.control)
        if active_set(dynamics).status is not OmegaStatus.READY:
            return dynamics, ()
        said: Outcome = examine(dynamics, effort="cheap")
        if said.verdict in (Verdict.UNIQUE, Verdict.NONE) and self.mu_s_rule == "all":
            return dynamics, ()
        try:
            return dynamics, branches(dynamics, mu_s_rule=self.mu_s_rule)
        except InputError:  # contacts in space at rest
            return dynamics, ()

    def _has_none(self, dynamics: LocalDynamics) -> bool:
        if active_set(dynamics).status is not OmegaStatus.READY:
            return False
        return examine(dynamics, effort="cheap").verdict is Verdict.NONE

    def _begin(self, state: State, branch: Branch, siblings: Sequence[Branch]) -> tuple[State, bool]:
        """Return the state from which the stepper takes this branch, and whether it was seen to."""
        for share in NUDGES:
            begun, until = self._seeded(state, branch, share), self.setup.t_end
            if begun.t >= until:
                break
            if isinstance(self.stepper, EventDriven):  # over a long step the mean acceleration is another
                until = min(begun.t + self.setup.dt, until)
            step = self.stepper.advance(self.setup.system, begun, until, control=self.setup.control)
            if step.solution.solved and self._nearest(begun, step.state, siblings) == branch.label:
                return begun, True
        return self._seeded(state, branch, 0.0), False

    def _seeded(self, state: State, branch: Branch, share: float) -> State:
        """Return the state with the reactions of a branch in its memory, a share of a step later along it."""
        dt = self.setup.dt
        h = share * dt
        v = state.v + h * branch.x
        q = self.setup.system.move(state.q, state.v + 0.5 * h * branch.x, h) if h else state.q
        if isinstance(self.stepper, EventDriven):
            modes = _modes(accelerating(self.setup.system, state, self.setup.control), branch)
            memory = memory_of(modes, branch.reactions, {}, 0.0, 0.0)
            return State(t=state.t + h, q=q, v=v, memory=memory)
        memory = {key: dt * r for key, r in branch.reactions.items() if r.any()}
        others = {key: value for key, value in state.memory.items() if key not in branch.modes}
        return State(t=state.t + h, q=q, v=v, memory=others | memory)

    def _nearest(self, before: State, after: State, siblings: Sequence[Branch]) -> str:
        """Return the label of the branch whose acceleration is nearest to what a step did."""
        a = (after.v - before.v) / (after.t - before.t)
        return min(siblings, key=lambda one: float(np.abs(a - one.x).max())).label

    def _known(self, state: State) -> int | None:
        """Return the future that ended in the same state."""
        for one in self.done:
            if one.ending in (BRANCHES, COMPLETED, COUNT) and self._same(one.end, state):
                return one.id
        return None

    def _same(self, one: State, two: State) -> bool:
        pairs = ((one.q, two.q), (one.v, two.v), (np.array([one.t]), np.array([two.t])))
        return all(np.allclose(a, b, rtol=self.tol, atol=self.tol) for a, b in pairs)


def _motion(branch: Branch) -> Motion:
    """Return by what a motion is known again a little later."""
    return frozenset((key, mode.translate(ONWARD)) for key, mode in branch.modes.items() if mode not in "D0")


def _modes(dynamics: LocalDynamics, branch: Branch) -> dict[str, Mode]:
    """Return a motion as the modes that an event-driven run begins with."""
    found = {}
    for row in dynamics.rows:
        letter = branch.modes.get(row.id, "S" if row.id in branch.reactions else "D")
        slip: tuple[float, ...] = ()
        if letter.lower() != "s" and letter not in "D01" and row.frictional:
            tangential = slice(0, 2) if row.kind == "dry" else slice(1, 3)
            rest = row.slip_speed <= dynamics.activation.speed
            u = (row.J @ branch.x + row.drift if rest else row.rate)[tangential]
            slip = tuple((u / (np.linalg.norm(u) or 1.0)).tolist())
        found[row.id] = Mode(closed=letter not in "D0", slip=slip, sign=-1.0 if letter in "spml" else 1.0)
    return found


def _as(id: int | None) -> str:
    return "" if id is None else f"as at the end of {id}"


def _joined(spans: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Return stretches of time in a row as one."""
    found: list[tuple[float, float]] = []
    for a, b in spans:
        if found and found[-1][1] == a:
            found[-1] = (found[-1][0], b)
        else:
            found.append((a, b))
    return tuple(found)


def _count(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(name, repr(value), f"an integer >= {least}", write(name, least))
    return value


def _rule(value: str) -> str:
    if value not in ("all", "stick"):
        raise InputError("mu_s_rule", repr(value), "all or stick", one_of("mu_s_rule", value, ("all", "stick")))
    return value
