"""Every motion that the constraints allow: at each point where branches meet the run is continued along all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..._show import brief
from ...arrays import scalar
from ...errors import InputError
from ...integrate.run.interrupts import interruptible
from ...integrate.run.trajectory import Trajectory
from ...integrate.simulate import simulate
from ...integrate.singular.on_branch import PASSED, OnBranch, Track
from ...mechanics.state import State
from ...mechanics.system import System
from .configurations import Branches

MOST = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BranchRun:
    """A piece of motion between points where branches meet, and what follows it.

    Attributes
    ----------
    choices : tuple of int
        The branches taken so far.
    run : Trajectory
    branches : Branches or None
        The point at its end; None where the time is over.
    following : tuple of BranchRun
        One for every branch that goes on there.
    """

    choices: tuple[int, ...]
    run: Trajectory
    branches: Branches | None
    following: tuple[BranchRun, ...]

    __repr__ = brief

    def leaves(self) -> Iterator[BranchRun]:
        """Return the last pieces of all motions."""
        if not self.following:
            yield self
        for one in self.following:
            yield from one.leaves()


@interruptible
def explore_branches(
    system: System, state: State, t_end: float, *, stepper: OnBranch | None = None, max_runs: int = MOST
) -> BranchRun:
    """Run a motion along every branch at every point where branches meet; the energy is kept through all of them.

    Parameters
    ----------
    system : System
        Of one degree of freedom.
    state : State
    t_end : float
        s.
    stepper : OnBranch, optional
        Its step; what it says about branches does not count.
    max_runs : int
        Pieces of motion allowed in all.

    Raises
    ------
    InputError
        More pieces than allowed; a run that fails.
    """
    t_end = scalar("t_end", t_end, low=state.t)
    if isinstance(max_runs, bool) or not isinstance(max_runs, int) or max_runs < 1:
        raise InputError("max_runs", max_runs, "an integer >= 1", "Write max_runs=100.")
    base = OnBranch() if stepper is None else stepper
    asking, left = base.choosing("raise", base.known).for_run(), [max_runs]

    def pieces(start: State, choices: tuple[int, ...]) -> BranchRun:
        """Run to the next point, take one step along every branch there, and go on from its end."""
        left[0] -= 1
        if left[0] < 0:
            raise InputError(
                "max_runs",
                max_runs,
                "as many pieces as there are",
                "Take a shorter time: t_end=..., or more: max_runs=...",
            )
        run = simulate(system, start, t_end, stepper=asking)
        meets = [event for event in run.events if event.kind == PASSED]
        if run.stop is not None and not meets:
            raise InputError(
                "run",
                run.stop.reason,
                "a motion along the branch",
                f"gaussdyn explain {run.stop.reason.partition(':')[0]}",
            )
        if not meets or run.final.t >= t_end:
            return BranchRun(choices=choices, run=run, branches=None, following=())
        number = int(meets[-1].id.partition(".")[0])
        found = Branches(point=Track.of(system, run.final, known=asking.known).curve.meetings[number].point)
        following = []
        for j, branch in enumerate(found.point.branches):
            if branch.whole:
                beyond = asking.choosing(j, asking.known).advance(system, run.final, t_end).state
                following.append(pieces(beyond, (*choices, j)))
        return BranchRun(choices=choices, run=run, branches=found, following=tuple(following))

    return pieces(state, ())
