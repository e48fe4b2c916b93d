"""What the contact problem says at the first state of a run, as numbers to compare with closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...contact.assemble import assemble
from ...contact.snapshot import LocalDynamics, snapshot
from ...mechanics.scene import Exact
from ...mechanics.system import System
from .measures import check

if TYPE_CHECKING:
    from ...contact.outcome.outcome import Outcome

Measure = Callable[[Any], float]
TIE = 1e-8  # closer than this (relative) to a change of the number of motions, rounding decides


def first(system: System, run: Any) -> LocalDynamics:
    """Return the acceleration problem at the first state of a run."""
    return snapshot(system, run.state(0))


def count_check(system: System, value: float, margin: float, rule: str = "all") -> Exact:
    """Return the check of how many accelerations obey the laws at the first state (components of a continuum).

    It is exact, but for ties: states whose `margin` to a change of the number is rounding.
    """
    name = "number of motions at the start" if rule == "all" else "number of motions with stick priority"

    def measure(run: Any) -> float:
        """Read it off the first state."""
        return float(_outcome(system, run, rule).count or 0)

    return check(name, float(value), "1", measure, moreau_jean=0.5 if margin > TIE else 9.0)


def extreme(system: System, index: int, sign: int) -> Measure:
    """Return the measure: the largest (sign > 0) or the least value of one acceleration over all motions."""

    def measure(run: Any) -> float:
        """Read it off the first state."""
        points = [v for c in _outcome(system, run, "all").components for hull in c.hulls for v in hull.vertices]
        values = [float(point[index]) for point in points]
        return max(values) if sign > 0 else min(values)

    return measure


def directions(system: System, index: int) -> Measure:
    """Return the measure: the sum of the signs in which one acceleration is unbounded."""

    def measure(run: Any) -> float:
        """Read it off the first state."""
        rays = {r[index] > 0 for c in _outcome(system, run, "all").components for hull in c.hulls for r in hull.rays}
        return float(sum(1 if up else -1 for up in rays))

    return measure


def contact_row(system: System, what: str) -> Measure:
    """Return the measure: A or b of the only row a_N = A N + b, while its contact slides."""

    def measure(run: Any) -> float:
        """Read it off the first state."""
        problem = assemble(first(system, run))
        return float(problem.W[0, 0] if what == "A" else problem.q[0])

    return measure


def free_acceleration(system: System, row: int, factor: float = 1.0) -> Measure:
    """Return the measure: `factor` times the acceleration that the first contact would have without reactions."""

    def measure(run: Any) -> float:
        """Read it off the first state."""
        dynamics = first(system, run)
        contact = dynamics.rows[0]
        return factor * float(contact.J[row] @ dynamics.x_free + contact.drift[row])

    return measure


def _outcome(system: System, run: Any, rule: str) -> Outcome:
    from ...contact.outcome.outcome import outcome

    return outcome(first(system, run), mu_s_rule=rule, certify=False)
