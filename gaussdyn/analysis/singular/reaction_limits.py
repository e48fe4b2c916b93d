"""Reactions at a configuration where constraints lose rank: their limits along a branch, and what a solver says there.

Along a branch the motion is smooth, and M a = h + J^T lam gives the generalised reaction J^T lam. At the point itself
the equations of the second derivatives do not determine it: any acceleration a with J a = -drift serves, and the one
of Gauss's principle is in general not the limit along the branch. The limit obeys the third derivative as well,

    n^T (3 phi''(v, a) + phi'''(v, v, v)) = 0        for every n in ker J^T,

from which the jerk drops out. Where the reaction that this takes is not in the range of J^T, multipliers grow without
bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..._show import brief
from ...arrays import Array, scalar
from ...errors import InputError
from ...integrate.run.interrupts import interruptible
from ...integrate.singular.curve_motion import ChartMotion
from ...linalg.factor import cholesky, solve_spd
from ...mechanics.branching.branch_point import BranchPoint
from ...mechanics.branching.chart import Chart, chart_around, interpolation
from ...mechanics.branching.configuration_space import RANK
from ...mechanics.system import System
from ...mends import one_of

REACH = 0.5
SPANS = (1.0, 0.5, 0.25)  # of the time over which third derivatives are taken
STEP = 0.1  # m or rad: the longest way in them
JUMP = 1e-8  # relative: differences below this are rounding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SingularLoads:
    """Reactions at a singular point, for a motion along one branch.

    Attributes
    ----------
    branch : int
    speed : float
        ds/dt along the unit tangent of the branch, m/s or rad/s.
    ids : tuple of str
        The constraints.
    solvable : bool
        Whether the equations of motion at the instant have a solution: v is along a branch.
    a, lam, reaction : Array, shapes (nv,), (m,), (nv,)
        What a solver finds at the instant: the acceleration of Gauss's principle, the shortest multipliers, J^T lam.
    a_limit, reaction_limit : Array, shape (nv,)
        Limits along the branch.
    lam_limit : Array or None, shape (m,)
        Limit of the multipliers; None where they grow without bound.
    growth : int
        lam ~ coefficient / s^growth: 0 where they stay finite, then coefficient is the limit.
    coefficient : Array, shape (m,)
        N m^growth, s the signed distance along the unit tangent.
    null_space : Array, shape (m, c)
        Multipliers that make no force here.
    third, third_limit : Array, shape (c,)
        n^T (3 phi''(v, a) + phi'''(v, v, v)) with both accelerations: zero for a motion that goes on.
    third_error : float
        Size up to which they are zero: what rounding and the differences by which they are found leave.
    """

    branch: int
    speed: float
    ids: tuple[str, ...]
    solvable: bool
    a: Array
    lam: Array
    reaction: Array
    a_limit: Array
    reaction_limit: Array
    lam_limit: Array | None
    growth: int
    coefficient: Array
    null_space: Array
    third: Array
    third_limit: Array
    third_error: float = 0.0

    __repr__ = brief

    @property
    def jump(self) -> float:
        """Largest component of the difference of the two generalised reactions, N."""
        return float(np.abs(self.reaction - self.reaction_limit).max())

    def chosen(self, rule: Literal["limit", "instant"] = "limit") -> tuple[Array, Array]:
        """Return acceleration and generalised reaction: the limits along the branch, or those of the instant alone."""
        if rule not in ("limit", "instant"):
            raise InputError("rule", repr(rule), "limit, instant", one_of("rule", rule, ("limit", "instant")))
        return (self.a_limit, self.reaction_limit) if rule == "limit" else (self.a, self.reaction)

    def explain(self) -> str:
        """Return it in words."""
        size = max(float(np.abs(self.reaction_limit).max()), float(np.abs(self.reaction).max()), 1e-300)
        words = [f"branch {self.branch}: "]
        if self.growth:
            k = int(np.abs(self.coefficient).argmax())
            words.append(
                f"multipliers grow like s^-{self.growth}, the most {self.ids[k]}: "
                f"{self.coefficient[k]:.6g} s^-{self.growth}; "
            )
        else:
            words.append(f"multipliers stay finite and are not unique ({self.null_space.shape[1]} free); ")
        left = float(np.abs(self.third).max())
        if self.jump <= JUMP * size:
            words.append("the generalised reaction is continuous")
        elif left > self.third_error:
            words.append(
                f"a solve at the instant differs by {self.jump:.3g} N from the limit and violates the third derivative "
                f"({left:.3g})"
            )
        else:
            words.append(
                f"a solve at the instant differs by {self.jump:.3g} N from the limit; the third derivative allows "
                "both, as where branches touch: higher ones decide"
            )
        return "".join(words)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        own: dict[str, Any] = {
            key: getattr(self, key) for key in ("branch", "speed", "solvable", "growth", "jump", "third_error")
        }
        for key in ("a", "lam", "reaction", "a_limit", "reaction_limit", "coefficient", "third", "third_limit"):
            own[key] = getattr(self, key).tolist()
        return own | {"lam_limit": None if self.lam_limit is None else self.lam_limit.tolist(), "ids": list(self.ids)}


@interruptible
def singular_loads(system: System, point: BranchPoint, branch: int, *, speed: float = 1.0) -> SingularLoads:
    """Compare what a solver finds at a singular point with the limits along a branch.

    Parameters
    ----------
    system : System
        Autonomous; its force may depend on velocities up to their squares.
    point : BranchPoint
        From `branches(...).point`.
    branch : int
    speed : float
        Along the unit tangent, m/s or rad/s.

    Raises
    ------
    InputError
        No such branch, or half of a cusp; a force that depends on the time.
    """
    speed = scalar("speed", speed)
    motion = _motion(system, point, branch)
    q, T, kappa = motion.chart.at(0.0)
    rate = float(motion.accelerations(np.zeros(1), np.zeros(1), np.array([speed]))[0])
    v, a_limit = speed * T, T * rate + kappa * speed**2
    M, h = np.asarray(system.mass(q)), np.asarray(system.force(point.reduction.space.t, q, v))
    a, lam, solvable = _instant(point, q, v, (M, h))
    J, N = point.reduction.space.jacobian(q), point.reduction.N
    coefficient = _at_centre(motion, speed)
    (third, off), (third_limit, off_limit) = _third(point, q, v, a), _third(point, q, v, a_limit)
    return SingularLoads(
        branch=branch,
        speed=speed,
        ids=point.reduction.space.ids,
        solvable=solvable,
        a=a,
        lam=lam,
        reaction=J.T @ lam,
        a_limit=a_limit,
        reaction_limit=M @ a_limit - h,
        lam_limit=None if motion.growth else coefficient,
        growth=motion.growth,
        coefficient=coefficient,
        null_space=N,
        third=third,
        third_limit=third_limit,
        third_error=max(off, off_limit),
    )  # fmt: skip


def reactions_along(
    system: System, point: BranchPoint, branch: int, s: Array, *, speed: float = 1.0
) -> Array:  # fmt: skip
    """Return the multipliers along a branch, shape (n, m), N: at signed distances s along its tangent, at a speed.

    Raises
    ------
    InputError
        A distance beyond the piece of curve around the point, or zero where multipliers grow without bound.
    """
    motion = _motion(system, point, branch)
    s = np.atleast_1d(np.asarray(s, dtype=np.float64))
    x = s / motion.chart.half
    if np.abs(x).max(initial=0.0) > 1.0 or (motion.growth and not s.all()):
        raise InputError(
            "s",
            s,
            f"distances up to {motion.chart.half:.3g}" + (", not zero" if motion.growth else ""),
            f"Write s={0.5 * motion.chart.half:.3g}.",
        )
    assert motion.lam is not None
    u = np.full(len(s), scalar("speed", speed))
    powers = np.stack([np.ones_like(u), u, u * u], axis=1)
    values = np.einsum("sn,nkr,sk->sr", interpolation(x), motion.lam, powers)
    return np.asarray(values / (x**motion.growth)[:, None])


def _motion(system: System, point: BranchPoint, branch: int) -> ChartMotion:
    """Return the motion along a branch, in the chart around its branch point."""
    known = point.branches
    if isinstance(branch, bool) or not 0 <= branch < len(known) or not known[branch].whole:
        raise InputError(
            "branch",
            branch,
            f"a whole branch, 0 to {len(known) - 1}" if known else "no branch is here",
            "Look what is there: gaussdyn branches SCENE.",
        )
    own = known[branch]
    chart: Chart = chart_around(point.reduction.space, point.q, own.tangent, REACH, (own.s, own.places))
    motion = ChartMotion.on(system, replace(chart, centre=f"0.{branch}"), None)
    if motion.lam is None:
        mend = "Limits at a point are those of an autonomous system: write def force(t, q, v) without t."
        raise InputError("force(t, q, v)", "one that depends on the time", "up to squares of velocities", mend)
    return motion


def _at_centre(motion: ChartMotion, speed: float) -> Array:
    """Return the limit of lam s^growth."""
    assert motion.lam is not None
    powers = np.array([1.0, speed, speed**2])
    values = np.einsum("sn,nkr,k->sr", interpolation(np.zeros(1)), motion.lam, powers)[0]
    return np.asarray(values * motion.chart.half**motion.growth)


def _instant(point: BranchPoint, q: Array, v: Array, forces: tuple[Array, Array]) -> tuple[Array, Array, bool]:
    """Return a, the shortest lam, and whether they exist: J M^-1 J^T lam = -drift - J M^-1 h by least squares."""
    M, h = forces
    space = point.reduction.space
    L, J = cholesky("mass(q)", M), space.jacobian(q)
    G = J @ solve_spd(L, np.ascontiguousarray(J.T))
    wanted = -space.bend(q, v) - J @ solve_spd(L, h)
    lam = np.asarray(np.linalg.lstsq(G, wanted, rcond=RANK)[0], dtype=np.float64)
    left = float(np.abs(G @ lam - wanted).max())
    return solve_spd(L, h + J.T @ lam), lam, left <= 1e-8 * (1.0 + float(np.abs(wanted).max()))


def _third(point: BranchPoint, q: Array, v: Array, a: Array) -> tuple[Array, float]:
    """Return n^T d3 phi / dt3 along q(t) with velocity v and acceleration a, and its error; the jerk drops out.

    From the odd part of n^T phi over short times, whose cubic coefficient is extrapolated. The error is what rounding
    of the coordinates makes of it, or how far the two shorter times alone lead elsewhere.
    """
    red = point.reduction
    size = STEP / (float(np.linalg.norm(v)) + 1e-300)
    if float(np.linalg.norm(a)) > 0.0:
        size = min(size, float(np.sqrt(STEP / np.linalg.norm(a))))

    def odd(t: float) -> Array:
        """Return the odd part of n^T phi over t^3."""
        there, back = (red.space.gaps(red.space.at(q, s * v + 0.5 * s * s * a)) for s in (t, -t))
        return np.asarray(red.N.T @ (there - back)) / (2.0 * t**3)

    t = size * np.array(SPANS)
    values = np.array([odd(one) for one in t])
    x = (t[:, None] / size) ** np.array([0, 2, 4])
    found, shorter = np.linalg.solve(x, values)[0], np.linalg.solve(x[1:, :2], values[1:])[0]
    rounded = red.space.rounding(q) / float(t[-1]) ** 3
    return np.asarray(6.0 * found), 6.0 * max(float(np.abs(found - shorter).max(initial=0.0)), rounded)
