"""Configurations at which constraints lose rank: what moves there, how fast, and with which reactions.

    gaussdyn branches SCENE --along

`branches` looks at one configuration, `branches_along` at all that a motion passes, `follow` draws a branch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._show import fitted
from ...arrays import Array, scalar, vector
from ...errors import InputError
from ...integrate.run.interrupts import interruptible
from ...integrate.run.trajectory import Trajectory
from ...integrate.simulate import simulate
from ...integrate.singular.on_branch import CHART, MADE, PASSED, START, OnBranch, Track
from ...mechanics.branching.branch_point import MOST, RADIUS, BranchPoint, branch_point
from ...mechanics.branching.configuration_space import RANK, ConfigurationSpace
from ...mechanics.branching.curve import Curve
from ...mechanics.scene import Scene
from ...mechanics.state import State
from ...mechanics.system import System, check_is_system
from .reaction_limits import SingularLoads, singular_loads

SLANT = 1e-9  # relative: a velocity this near to the kernel, or to a tangent, is there


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Velocity:
    """Whether a velocity is possible at a configuration.

    Attributes
    ----------
    admissible : bool
        It leads along the manifold, or along a branch.
    branch : int or None
        The branch it is tangent to (the first one, where several touch).
    rate : float
        Largest rate of a constraint, |J v|.
    inconsistency : float
        Largest |n . v^T phi'' v| over |v|^2 for unit vectors n of ker J^T: other than zero, no multipliers satisfy the
        equations of motion.
    """

    admissible: bool
    branch: int | None
    rate: float
    inconsistency: float

    def explain(self) -> str:
        """Return it in words."""
        if self.admissible:
            return "admissible" + ("" if self.branch is None else f": along branch {self.branch}")
        if self.rate > 0.0 and self.inconsistency == 0.0:
            return f"not admissible: it violates the constraints, rate {self.rate:.3g}"
        return f"not admissible: in ker J, but along no branch; no multipliers exist ({self.inconsistency:.3g} is left)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Branches:
    """The configuration space around one configuration.

    Attributes
    ----------
    point : BranchPoint
        Kind, order, branches, kernels, forms.
    """

    point: BranchPoint

    def __repr__(self) -> str:
        """Return the kind of the point, its branches, and where it is."""
        return fitted("Branches", self.point.said())

    @property
    def kind(self) -> str:
        """regular, redundant, isolated, crossing, tangency, cusp, several, double or surface."""
        return self.point.kind

    @property
    def tangents(self) -> Array:
        """Unit tangents of the branches, shape (n, nv)."""
        size = self.point.reduction.space.size
        return np.array([branch.tangent for branch in self.point.branches]).reshape(-1, size)

    @property
    def null_vectors(self) -> dict[str, Array]:
        """Combinations of the constraints that vanish to first order: by constraint, shape (c,); largest entry 1."""
        N = self.point.reduction.N.copy()
        for column in N.T:
            column /= column[np.abs(column).argmax()]
        return dict(zip(self.point.reduction.space.ids, N, strict=True))

    def velocity(self, v: Array) -> Velocity:
        """Return whether a velocity, shape (nv,), is possible here."""
        red = self.point.reduction
        v = vector("v", v, red.space.size)
        size = float(np.linalg.norm(v))
        if size == 0.0:
            return Velocity(admissible=True, branch=None, rate=0.0, inconsistency=0.0)
        J = red.space.jacobian(red.q)
        rate = float(np.abs(J @ v).max())
        if rate > SLANT * size * (1.0 + float(np.abs(J).max())):
            return Velocity(admissible=False, branch=None, rate=rate, inconsistency=0.0)
        left = float(np.abs(red.N.T @ red.space.bend(red.q, v)).max(initial=0.0)) / size**2
        if not self.point.singular:
            return Velocity(admissible=True, branch=None, rate=rate, inconsistency=left)
        off = [float(np.linalg.norm(v - (v @ t) * t)) / size for t in self.tangents]
        along = next((j for j, x in enumerate(off) if x <= 1e2 * SLANT), None)
        return Velocity(admissible=along is not None, branch=along, rate=rate, inconsistency=left)

    def explain(self) -> str:
        """Return it in words."""
        point, red = self.point, self.point.reduction
        words = [
            f"{point.kind}: J has rank {red.rank} of {len(red.space.ids)} rows, ker J has {red.freedom} dimensions"
        ]
        if point.kind in ("regular", "redundant"):
            words.append(f"a manifold of dimension {point.dimension}")
        if point.kind == "tangency":
            words.append(f"{len(point.branches)} branches touch with order {point.order}")
        if point.branches:
            words += [f"branch {j}: tangent {_listed(branch.tangent)}" for j, branch in enumerate(point.branches)]
        if point.singular and red.N.shape[1]:
            named = (f"{key} {_listed(n)}" for key, n in self.null_vectors.items() if np.abs(n).max() > 1e-9)
            words.append("dependent rows: " + ", ".join(named))
        if not point.complete:
            words.append("there may be more branches")
        return "; ".join(words)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        point, red = self.point, self.point.reduction
        return {
            "q": point.q.tolist(),
            "kind": point.kind,
            "dimension": point.dimension,
            "order": point.order,
            "complete": point.complete,
            "rank": red.rank,
            "rows": len(red.space.ids),
            "kernel": red.freedom,
            "singular_values": red.values.tolist(),
            "null_vectors": {key: n.tolist() for key, n in self.null_vectors.items()},
            "forms": point.forms.tolist(),
            "branches": [
                {"tangent": b.tangent.tolist(), "second": b.second.tolist(), "whole": b.whole} for b in point.branches
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Passage:
    """A motion through a configuration where branches meet.

    Attributes
    ----------
    t : float
        When, s.
    branch : int
        The branch it came on.
    branches : Branches
    loads : SingularLoads or None
        Reactions there: limits along the branch beside a solve at the instant. None where the force depends on time.
    """

    t: float
    branch: int
    branches: Branches
    loads: SingularLoads | None


@interruptible
def branches(
    scene_or_system: Scene | System,
    q: Array | None = None,
    *,
    t: float = 0.0,
    rank_tol: float = RANK,
    radius: float = RADIUS,
    max_branches: int = MOST,
    project: bool = False,
) -> Branches:
    """Analyse the configuration space at one configuration.

    Parameters
    ----------
    scene_or_system : Scene or System
    q : array_like, shape (nq,), optional
        Default: where the scene starts.
    t : float
        Time, for constraints that depend on it, s.
    rank_tol : float
        Singular values of J below this, relative to the largest, count as zero.
    radius : float
        Largest distance at which branches are looked for; it is halved as needed.
    max_branches : int
        More than this are refused.
    project : bool
        Move q to the nearest configuration that obeys the constraints first.

    Raises
    ------
    InputError
        A violated constraint, with its violation; a tolerance that cannot separate the singular values, with the one
        that it cannot; more than `max_branches` branches; constraints on velocities.

    Examples
    --------
    >>> from gaussdyn.scenes.linkages.singular_pendulum import system_of
    >>> [branches(system_of(b), [0.0, 0.0]).kind for b in (2.3, 2.0, 1.9)]
    ['crossing', 'tangency', 'isolated']
    """
    system, own = _system_of(scene_or_system)
    if q is None and own is None:
        raise InputError("q", None, "a configuration", "Write q=[...]: only a scene brings its own.")
    place = vector("q", own.q if q is None and own is not None else q, system.nq)  # type: ignore[arg-type]
    space = ConfigurationSpace.of(system, place, t)
    point = branch_point(
        space, place, rank_tol=rank_tol, radius=radius, max_branches=max_branches, project=project
    )  # fmt: skip
    return Branches(point=point)


@interruptible
def branches_along(scene: Scene, t_end: float | None = None, *, dt: float | None = None) -> list[Passage]:
    """Return where a motion passes points at which branches meet; it goes on along the smooth branch.

    Parameters
    ----------
    scene : Scene
        Of one degree of freedom.
    t_end, dt : float, optional
        Default: the duration of the scene, and a two-hundredth of the duration.

    Raises
    ------
    InputError
        Not one degree of freedom; the run stopped early.
    """
    lasts = (scene.t_end if t_end is None else scalar("t_end", t_end)) - scene.state.t
    run = simulate(scene, t_end=t_end, stepper=OnBranch(dt=max(lasts / 200.0, 1e-12) if dt is None else dt))
    if run.stop is not None:
        raise InputError(
            "scene",
            f"it stops at t = {run.stop.t:g} s: {run.stop.reason}",
            "a motion to its end",
            f"Look up to there: --t-end {run.stop.t:.6g}.",
        )
    return passages(scene.system, run)


def passages(system: System, run: Trajectory) -> list[Passage]:
    """Return the points where branches meet that a run of `OnBranch` on this very system has passed."""
    stepper, found = OnBranch(dt=1e9).for_run(), []
    curve = Track.of(system, run.final, known=stepper.known).curve
    for event in run.events:
        if event.kind == PASSED:
            meeting, _, branch = event.id.partition(".")
            point, j = curve.meetings[int(meeting)].point, int(branch)
            loads = _loads(system, run, stepper, point, j, event.t)
            found.append(Passage(t=event.t, branch=j, branches=Branches(point=point), loads=loads))
    return found


def _loads(
    system: System, run: Trajectory, stepper: OnBranch, point: BranchPoint, branch: int, t: float
) -> SingularLoads | None:  # fmt: skip
    """Return the reactions at a passage, at the speed of the run there."""
    k = max(int(np.searchsorted(run.t, t)) - 1, 0)
    known = {key: value for key, value in run.final.memory.items() if key in (START, MADE)}
    start = State(t=float(run.t[k]), q=run.q[k], v=run.v[k], memory=known | {CHART: np.array([-1.0])})
    state = stepper.advance(system, start, t).state if t > start.t else start
    try:
        return singular_loads(system, point, branch, speed=float(point.branches[branch].tangent @ state.v))
    except InputError:
        return None


@interruptible
def follow(
    system: System,
    q: Array,
    *,
    length: float,
    step: float = 0.05,
    tangent: Array | None = None,
    branch: int | None = None,
) -> Array:
    """Return configurations along a curve, shape (n, nq), a distance `step` apart in the coordinates.

    Parameters
    ----------
    q : array_like, shape (nq,)
        Where to begin; with `branch` at a point where branches meet.
    length : float
        How far, in the coordinates (m, rad); negative to go against the tangent.
    tangent : array_like, shape (nv,), optional
        Roughly which way to begin.
    branch : int, optional

    Raises
    ------
    InputError
        More or less than one degree of freedom; no such branch.
    """
    q = vector("q", q, system.nq)
    length, step = scalar("length", length), scalar("step", step, low=0.0, open_low=True)
    curve = Curve(space=ConfigurationSpace.of(system, q))
    v = np.zeros(system.nv)
    if branch is not None:
        known = branch_point(curve.space, q).branches
        if not 0 <= branch < len(known):
            raise InputError(
                "branch",
                branch,
                f"0 to {len(known) - 1}" if known else "none: no branches meet here",
                "Write branch=0.",
            )
        v = known[branch].tangent
    elif tangent is not None:
        v = vector("tangent", tangent, system.nv)
    index, p = curve.start(q, v, branch)
    side = 1.0 if length >= 0.0 else -1.0
    if curve.charts[index].at(p)[1] @ v < 0.0:
        side = -side
    places = [q]
    for _ in range(int(abs(length) / step)):
        chart = curve.charts[index]
        p += side * step / float(np.linalg.norm(chart.at(p)[1]))
        if not chart.low <= p <= chart.high:
            inside = min(max(p, -chart.half), chart.half)
            place, T, _ = chart.at(inside)
            index = curve.beyond(index, 1 if p > 0 else -1)
            at, _ = curve.charts[index].parameter(place)
            onward = curve.charts[index].at(at)[1]
            side = side if T @ onward > 0.0 else -side
            p = at + side * abs(p - inside)
        places.append(curve.charts[index].at(p)[0])
    return np.array(places)


def _system_of(given: Scene | System) -> tuple[System, State | None]:
    if isinstance(given, Scene):
        return given.system, given.state
    check_is_system("scene_or_system", given)
    return given, None


def _listed(x: Array) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in np.where(np.abs(x) < 1e-12, 0.0, x)) + ")"
