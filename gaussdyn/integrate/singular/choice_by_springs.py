"""Which branch springs in the place of the constraints would take: the motion of the realization decides."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...mechanics.branching.curve import Curve
from ...mechanics.state import State
from ...mechanics.system import System
from ..realizations.penalty import Penalty
from ..realizations.slow_manifold import slow_start
from ..simulate import simulate
from .curve_motion import ChartMotion, Leaves

BEFORE = 0.5  # of the half width of the chart: where the springs begin, on the rigid branch
PARTS = 400  # of the time that the rigid motion takes to get from there to the point
WINDOW = 0.25  # of the half width: the mean over the last part of the way says which branch it is


def branch_of_springs(
    system: System, curve: Curve, index: int, passing: tuple[float, float], stiffness: float
) -> int:  # fmt: skip
    """Return the number of the branch that springs lead to from a singular point on.

    They start on the rigid branch ahead of the point, on their slow manifold, and run as long again beyond it.

    Parameters
    ----------
    index : int
        Of the singular chart on which the rigid motion comes.
    passing : (t, u)
        When it is at the middle of that chart, s, and its p' there.
    stiffness : float
        N/m.

    Raises
    ------
    InputError
        The motion does not come from far enough, or the springs leave all branches.
    """
    t, u = passing
    start, lasts = _before(system, curve, index, t, u)
    stepper = Penalty(stiffness=stiffness, dt=lasts / PARTS)
    run = simulate(system, slow_start(system, start, stepper), t + lasts, stepper=stepper)
    meeting = curve.meeting_at(index)
    if run.stop is not None or meeting is None:
        raise InputError("stiffness", stiffness, "springs that the integrator can follow", str(run.stop))
    late = run.t > t + (1.0 - WINDOW) * lasts
    known = curve.meetings[meeting[0]].point.branches
    whole = [j for j, branch in enumerate(known) if branch.whole]
    charts = {j: curve.charts[curve.branch_chart(meeting[0], j)] for j in whole}
    return min(whole, key=lambda j: float(np.mean([charts[j].parameter(q)[1] for q in run.q[late][::8]])))


def _before(system: System, curve: Curve, index: int, t: float, u: float) -> tuple[State, float]:
    """Return the rigid state ahead of the point, and how long it takes from there; by going back in time."""
    motion = ChartMotion.on(system, curve.charts[index], None)
    p, speed, now = 0.0, u, t
    dt = -0.05 * motion.chart.half / (abs(u) + 1e-12)
    while abs(p) < BEFORE * motion.chart.half:
        try:
            flow = motion.step(now, p, speed, dt)
        except Leaves:
            flow = None
        if flow is None:
            dt *= 0.5
            continue
        if flow.u * speed <= 0.0 or t - now > 1e3 * motion.chart.half / (abs(u) + 1e-12):
            raise InputError(
                "on_branch",
                "penalty",
                "a motion that comes from afar",
                'It has just set out from here: write on_branch="smooth".',
            )
        p, speed, now = flow.p, flow.u, now + dt
    q, T, _ = motion.chart.at(p)
    return State(t=now, q=q, v=speed * T), t - now
