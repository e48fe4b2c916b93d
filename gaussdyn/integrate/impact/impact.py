"""An impact: velocities that jump at one instant, by an impact law, and what that does to the energy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..._show import brief
from ...arrays import Array, vector
from ...contact.snapshot import Activation
from ...errors import InputError
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from .impact_laws import ImpactLaw, Moreau
from .problem import Known, Phase, Struck, approaching, kinetic, one_sided
from .restitution_scaling import GAIN


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Impact:
    """What an impact law made of a state.

    Attributes
    ----------
    law : ImpactLaw
    state : State
        Before the impact.
    v : Array, shape (nv,)
        Velocity after it; before it where no velocity was found.
    impulses : mapping of str to Array
        Impulse of every row that took part, N s (N, T1, T2), by id, all phases together.
    works : mapping of str to float
        What each of them added to the kinetic energy, J; of a row whose support moves by itself the work on the
        relative motion.
    energy : float
        Change of the kinetic energy, J: the sum of the works, and what supports that move by themselves add.
    phases : tuple of Phase
    closed : frozenset of str
        Ids of the one-sided rows that took part.
    finished : bool
        Whether none of these approaches any more.
    rows : tuple of Row
        Of the system, after it.
    """

    law: ImpactLaw
    state: State
    v: Array
    impulses: Mapping[str, Array]
    works: Mapping[str, float]
    energy: float
    phases: tuple[Phase, ...]
    closed: frozenset[str]
    finished: bool
    rows: tuple[Row, ...]

    __repr__ = brief

    @property
    def solution(self) -> Solution:
        """The velocity problem that failed, or the last one."""
        failed = [phase.solution for phase in self.phases if not phase.solution.solved]
        return failed[0] if failed else self.phases[-1].solution

    @property
    def status(self) -> Status:
        """SOLVED if every velocity problem is, and nothing approaches any more."""
        status = self.solution.status
        return Status.MAX_ITERATIONS if status is Status.SOLVED and not self.finished else status

    @property
    def solved(self) -> bool:
        """Whether the status is SOLVED."""
        return self.status is Status.SOLVED

    @property
    def residual(self) -> float:
        """Largest residual E of the velocity problems; NaN where one has none."""
        found = [phase.solution.residuals for phase in self.phases]
        return max(float("nan") if one is None else one.E for one in found)

    @property
    def kept(self) -> float:
        """Fraction of all restitution that was kept (the least of the phases), 1 unless it would have gained energy."""
        return min(phase.kept for phase in self.phases)

    @property
    def approach(self) -> tuple[float, float]:
        """Largest speed (m/s) at which closed rows approach in the last quarter of the phases, and how fast it falls.

        That is a factor from one phase to the next, seen since the second quarter; 1 where there are fewer than 8.
        """
        rows = [row for row in self.rows if one_sided(row) and row.id in self.closed]
        J, rate = np.array([row.J[0] for row in rows]), np.array([row.rate[0] for row in rows])
        speeds = np.array([-(rate + J @ (phase.v - self.v)).min(initial=0.0) for phase in self.phases])
        n = len(speeds)
        last = float(speeds[n - 1 - n // 4 :].max())
        first = float(speeds[n // 4 : n // 2].max(initial=last))
        return last, (last / first) ** (2.0 / n) if n >= 8 and first > 0.0 else 1.0

    @property
    def gains(self) -> bool:
        """Whether the impact gains energy beyond rounding, other than from supports that move by themselves."""
        before = kinetic(self.phases[0].dynamics.M, self.state.v)
        works = self.works.values()
        return sum(works) > GAIN * (before + sum(map(abs, works)))

    def explain(self) -> str:
        """Return the impact in one sentence."""
        kept = "" if self.kept == 1.0 else f" with {self.kept:.6g} of the restitution"
        what = "a gain: this law is not passive here" if self.gains else f"no gain{kept}"
        return f"{self.law.name}: {self.status}, energy {self.energy:+.9g} J ({what})"


def impact(
    system: System,
    state: State,
    *,
    law: ImpactLaw | None = None,
    closed: Collection[str] | None = None,
    activation: Activation | None = None,
    start: Mapping[str, Array] | None = None,
    known: Known | None = None,
) -> Impact:
    """Let an impact happen at a state.

    Parameters
    ----------
    system : System
    state : State
        Its velocity is the one before the impact. Where nothing approaches, nothing changes (but joints that a
        velocity violates are made to hold).
    law : ImpactLaw, optional
        Newton, Moreau, Poisson or OneByOne; default ``Moreau()`` with the restitution of each row, as time stepping
        has it.
    closed : collection of str, optional
        Ids of the contacts that take part; default: all whose gap is closed.
    activation : Activation, optional
    start : mapping of str to Array, optional
        Impulses to begin with, by id, N s: where the law leaves several, some near these are found first.
    known : pair of tuple of Row and Array, optional
        The rows and the force at this very state, where the system has just been asked for them.

    Raises
    ------
    InputError
        `law` is none, `closed` names what cannot close, or the system returns NaN or wrong shapes.
    """
    law = Moreau() if law is None else law
    if isinstance(law, type) or not hasattr(law, "strike"):
        raise InputError("law", repr(law), "an impact law", "Write e.g. Newton(eps_n=0.5) or Poisson().")
    struck = Struck.at(system, state, closed, activation, known)
    struck = struck if start is None else replace(struck, start=start)
    v = vector("v of the state", state.v, system.nv)
    phases = law.strike(struck, v)
    impulses: dict[str, Array] = {}
    works: dict[str, float] = {}
    for phase in phases:
        for key, p in phase.impulses.items():
            impulses[key] = impulses[key] + p if key in impulses else np.array(p)
            works[key] = works.get(key, 0.0) + phase.works.get(key, 0.0)
    after, M = phases[-1].v, phases[0].dynamics.M
    end = struck.rows(after)
    return Impact(
        law=law,
        state=state,
        v=after,
        impulses=impulses,
        works=works,
        energy=kinetic(M, after) - kinetic(M, v),
        phases=phases,
        closed=struck.closed,
        finished=not approaching(end, struck.closed, struck.activation),
        rows=end,
    )
