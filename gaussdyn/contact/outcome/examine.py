"""How many accelerations a state has, quickly: what a run asks on the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...mends import one_of
from ...programs.enumeration.counting import Count, count_solutions
from ...programs.enumeration.enumerate import enumerate_modes
from ..snapshot import LocalDynamics
from .modal_data import ContactRows, NotPlanar, contact_rows, dynamics_problem, local_doubles
from .one_spatial_contact import examine_in_space
from .verdicts import Outcome, Verdict

CONTACTS = 8  # enumerated up to here
RESTING = 4  # with effort "cheap", if any of them rests


def examine(dynamics: LocalDynamics, *, effort: str = "cheap") -> Outcome:
    """Return how many accelerations a state has, in floating point and without proof (`outcome` gives both).

    Parameters
    ----------
    dynamics : LocalDynamics
    effort : str
        cheap: where a sufficient bound does not say UNIQUE, states in which every frictional contact slides are
        enumerated up to 8 contacts, states with planar contacts at rest up to 4. full: 8 in both cases. One contact in
        space at rest is decided, several are NOT_EXAMINED.

    Raises
    ------
    InputError
        An unknown effort.
    """
    if effort not in ("cheap", "full"):
        raise InputError("effort", repr(effort), "cheap or full", one_of("effort", effort, ("cheap", "full")))
    try:
        rows = contact_rows(dynamics)
    except NotPlanar as error:
        alone = examine_in_space(dynamics)
        return _not_examined(str(error)) if alone is None else alone
    except InputError as error:  # the state has no acceleration: it needs an impact first
        return _not_examined(str(error.given))
    if not any(one.frictional for one in rows):
        return _found("UNIQUE", 1, "no friction: the Gauss program is strictly convex")
    return _examine(dynamics, rows, effort)


def _examine(dynamics: LocalDynamics, rows: Sequence[ContactRows], effort: str) -> Outcome:
    """Try the bound, and enumerate where it says nothing, if there are few contacts."""
    contacts = [one for one in rows if one.frictional]
    sliding = all(one.sliding for one in contacts)
    W, q = local_doubles(dynamics, rows)
    if friction_bound(W, rows) < 1.0:
        return _found("UNIQUE", 1, "friction is below the bound that excludes a second solution")
    if len(contacts) <= (CONTACTS if sliding or effort == "full" else RESTING):
        return _counted(dynamics, count_solutions(W, q, [one.block for one in rows if one.block is not None]))
    how = "at rest: effort is cheap" if effort == "cheap" and not sliding else "with friction"
    return _not_examined(f"{len(contacts)} contacts {how}")


def _counted(dynamics: LocalDynamics, count: Count) -> Outcome:
    """Return what was counted, and whether rounding may have decided."""
    if count.moving:  # the equations leave the motion free; the inequalities may still fix it
        found = enumerate_modes(dynamics_problem(dynamics), certify=False)
        return _found(found.verdict, found.count, "counted in floating point, the faces exactly")
    number = len(count.points) if count.complete else None
    near = "; degenerate within rounding: ask outcome() for the exact answer" if count.near else ""
    return _found(count.verdict, number, f"counted in floating point{near}")


def friction_bound(W: Array, rows: Sequence[ContactRows]) -> float:
    """Return a number that is below 1 only if the acceleration and the reactions are unique; inf if it says nothing.

    Two solutions obey dr.W dr <= sum mu |dr_N| |du_T|, so |mu W_T| < lambda_min of the symmetric part of W excludes
    a second one (Pang and Trinkle 1996; Blumentals, Brogliato, Bertails-Descoubes 2016). Its inverse is a friction
    margin: all mu may grow by that factor.
    """
    weight, sides = np.zeros(len(W)), []
    at = 0
    for one in rows:
        if one.block is None:
            continue
        if one.block.motions == 2:
            if one.block.stronger_at_rest or "D" not in one.block.letters:
                return float("inf")
            weight[at + 1] = one.mu
        elif "S" in one.block.letters and one.block.stronger_at_rest:
            return float("inf")
        sides.append(at)
        at += one.block.motions
    least = float(np.linalg.eigvalsh(0.5 * (W + W.T))[0]) if len(W) else 1.0
    if least <= 1e-10 * float(np.abs(W).max(initial=0.0)):
        return float("inf")
    return float(np.linalg.norm(weight[:, None] * W)) / least


def _found(verdict: str, count: int | None, reason: str) -> Outcome:
    return Outcome(verdict=Verdict(verdict), count=count, exact=False, reason=reason)


def _not_examined(reason: str) -> Outcome:
    return Outcome(verdict=Verdict.NOT_EXAMINED, exact=False, reason=reason)
