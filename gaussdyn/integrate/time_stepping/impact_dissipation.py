"""Impacts that gain no energy.

Newton's law u_N+ = -eps_n u_N-, contact by contact, does not know about energy: with friction, with several contacts or
with unequal eps the work of all impulses can be positive. And laws at the end of a step, where it turns the contact,
are met by an impulse at its middle only to O(dt). In such steps the laws hold at the midpoint, where the work of the
impulses is p . (u+ + u-) / 2, and if that is still positive the largest fraction of all restitution is kept for
which it is not: without restitution it is p . u+ - p . W p / 2 <= 0.

Sources: Kane, Levinson (1985), Dynamics: theory and applications, 5.8 (a gain); Moreau (1988), 9 (the laws at the
midpoint); Glocker (2001), Set-valued force laws, 12 (conditions for dissipation).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...arrays import Array
from ...contact.resolve import reactions
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...programs.solution.solution import Solution
from ..energy import energy
from ..impact.restitution_scaling import GAIN, largest_share
from .active_contacts import one_sided
from .step_problem import Guess, ThetaProblem

Outcome = tuple[Guess, Solution]
SMALL = 1e-10  # of the kinetic energy: gain of one step that is not worth a word


def dissipating(guess: Guess, solution: Solution, solve: Callable[[ThetaProblem], Outcome]) -> Outcome:
    """Return the step unless an impact in it gains energy; else the step with laws under which it does not."""
    id = impact(guess, solution)
    if not id or gain(guess, solution) <= GAIN:
        return guess, solution
    problem = guess.problem if guess.problem.unsettled else guess.problem.at_middle(id)
    found = guess, solution
    if problem is not guess.problem:
        found = solve(problem)
        if not found[1].solved:
            return guess, solution
    return found if gain(*found) <= GAIN or not problem.restores() else _kept(found, solve)


def impact(guess: Guess, solution: Solution) -> str:
    """Return the contact with the largest impulse of those that have just closed or rebound; empty without any."""
    problem = guess.problem
    if not solution.solved or not problem.bounce:
        return ""
    sided = {row.id for row in guess.dynamics.rows if one_sided(row)}
    last = problem.start.memory
    found = {
        key: float(p[0]) for key, p in reactions(guess.dynamics, solution).items()
        if key in sided and p[0] > 0.0 and (problem.rebounds(key) or not (key in last and last[key][0] > 0.0))
    }  # fmt: skip
    return max(found, key=lambda key: found[key], default="")


def gain(guess: Guess, solution: Solution) -> float:
    """Return the work of all impulses and of the projection, relative to the sum of its terms without their signs.

    Their work on the relative motion: what a support that moves by itself adds is no gain of the impact. Work that is
    small against the kinetic energy counts less.
    """
    assert solution.x is not None  # it is solved
    speed = np.abs(guess.problem.start.v) + np.abs(guess.dynamics.x_free)
    kinetic = 0.5 * float(speed @ np.abs(guess.dynamics.M) @ speed)
    rows, middle = {row.id: row for row in guess.dynamics.rows}, {row.id: row for row in guess.problem.middle.rows}
    v_mid = 0.5 * (guess.problem.start.v + solution.x)
    work, size = lifted(guess, solution.x), 0.0
    for key, p in reactions(guess.dynamics, solution).items():
        J, own = rows[key].J, _of_support(middle[key], guess.problem.middle.v)
        work += float(p @ (J @ v_mid + own))
        size += float(np.abs(p) @ (np.abs(J) @ np.abs(v_mid) + np.abs(own)))
    size = max(size, SMALL / GAIN * kinetic)
    return work / size if size > 0.0 else 0.0


def _of_support(row: Row, v: Array) -> Array:
    """Return the part of the rate of a row that is not J v, m/s: its support moves by itself."""
    return row.rate - row.J @ v if row.level != "acceleration" else np.zeros(row.size)


def lifted(guess: Guess, v_plus: Array) -> float:
    """Return the energy that the projection added, J."""
    if guess.end is guess.moved:
        return 0.0
    before, after = (
        energy(guess.problem.system, State(t=guess.problem.t_end, q=place.q, v=v_plus))
        for place in (guess.moved, guess.end)
    )  # fmt: skip
    return sum(after) - sum(before)


def _kept(found: Outcome, solve: Callable[[ThetaProblem], Outcome]) -> Outcome:
    """Return the step with the largest fraction of the restitution that gains no energy."""
    problem, tried = found[0].problem, {1.0: found}

    def gain_with(share: float) -> float:
        """Return what the impacts gain with a fraction of the restitution."""
        tried[share] = solve(problem.keeping(share))
        return gain(*tried[share]) if tried[share][1].solved else math.nan

    return tried[largest_share(gain_with, gain(*found))]
