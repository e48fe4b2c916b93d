"""What happens where the laws admit no acceleration: an impact without collision, or what a stiff contact says.

A contact that slides into the region without acceleration (Painleve's paradox) is stopped by an impulse although
nothing collides: the velocity problem at the same state has a solution with an impulse besides the one without.
A contact with a stiff spring does the same within a time that goes to zero with its stiffness, and tells as arbiter
with which speed it is left. Sources: Lecornu (1905); Genot, Brogliato (1999), New results on Painleve paradoxes;
Hogan, Kristiansen (2017), On the regularization of impact without collision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, scalar
from ...contact.assemble import assemble, start_of_blocks
from ...contact.outcome.motions import Branch, branches
from ...contact.outcome.outcome import outcome
from ...contact.outcome.verdicts import Outcome, Verdict
from ...contact.reactions import reactions
from ...contact.resolve import resolve
from ...contact.snapshot import Activation, LocalDynamics, snapshot
from ...errors import InputError
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ...mends import one_of
from ...programs.solution.residuals import block_residuals
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from ..impact.impact_laws import Poisson
from ..impact.problem import Phase, Struck, kinetic, one_sided
from ..realizations.penalty import Penalty
from .stiff_limit import spring_limit

STEPS_OF_PERIOD = 0.2  # step by which a spring is watched, over sqrt(m / k)
LONGEST = 5000  # such steps
ROUNDED = 1e-9  # residual of an answer from rounded data


@dataclass(frozen=True, slots=True, kw_only=True)
class Compliance:
    """A contact with a spring: what it does in the limit of infinite stiffness decides where rigid bodies do not.

    Parameters
    ----------
    stiffness : float, optional
        Of the normal springs, N/m; > 0. Default: the limit of infinite stiffness itself (`spring_limit`), with joints
        that are rigid and friction that gives way nowhere.
    tangential : float
        Of the friction springs, over that; large, so that they hold what sticks. Their share remains however stiff
        both are: 100 throws a rod off 2 % faster than friction that does not give way.
    damping : float
        Share of the critical damping.
    """

    stiffness: float | None = None
    tangential: float = 100.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        for name in ("stiffness", "tangential"):
            if getattr(self, name) is not None or name == "tangential":
                object.__setattr__(self, name, scalar(name, getattr(self, name), low=0.0, open_low=True))
        object.__setattr__(self, "damping", scalar("damping", self.damping, low=0.0, high=10.0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Passage:
    """How a state without acceleration is left.

    Attributes
    ----------
    kind : str
        impact or compliance.
    outcome : Outcome
        NONE, with its certificate.
    state : State
        Before.
    v : Array, shape (nv,)
        After; as before where nothing was found.
    impulses : mapping of str to Array
        N s, by row id.
    energy : float
        Change of the kinetic energy, J.
    duration : float
        Of the contact with springs, s; 0 for an impact, and in the limit.
    error : float
        Of v, where it is a limit: over the largest speed before.
    solved : bool
    reason : str
        Why it was not.
    """

    kind: str
    outcome: Outcome
    state: State
    v: Array
    impulses: Mapping[str, Array]
    energy: float
    duration: float = 0.0
    error: float = 0.0
    solved: bool = True
    reason: str = ""


def passage(
    system: System, state: State, *, by: str | Compliance = "impact", law: Poisson | None = None,
    activation: Activation | None = None,
) -> Passage:  # fmt: skip
    """Leave a state at which no acceleration exists.

    Parameters
    ----------
    system : System
    state : State
    by : str or Compliance
        impact (without collision), compliance (springs in the limit of infinite stiffness), or a `Compliance`.
    law : Poisson, optional
        How much of the impulse is given back; default: the restitution of each row.
    activation : Activation, optional

    Raises
    ------
    InputError
        The state has an acceleration, or that is not known; an unknown way.
    """
    spring = Compliance() if by == "compliance" else by
    if spring != "impact" and not isinstance(spring, Compliance):
        raise InputError(
            "by",
            repr(by),
            "'impact', 'compliance' or a Compliance(stiffness=...)",
            one_of("by", by, ("impact", "compliance")),
        )
    dynamics = snapshot(system.near(state.t, state.q, state.v, 0.0), state, activation=activation)
    found = outcome(dynamics)
    if found.verdict is not Verdict.NONE:
        raise InputError(
            "state",
            found.explain(),
            "a state at which no acceleration exists (NONE)",
            "Look which it is: gaussdyn outcome SCENE.",
        )
    if isinstance(spring, Compliance) and spring.stiffness is None:
        return _in_the_limit(state, found, spring, dynamics)
    if isinstance(spring, Compliance):
        return _sprung(system, state, found, spring, dynamics)
    return _struck(system, state, found, Poisson() if law is None else law, activation)


def _struck(system: System, state: State, found: Outcome, law: Poisson, activation: Activation | None) -> Passage:
    """Return the impact without collision: of the velocities that the laws admit at once, the one with an impulse."""
    struck = Struck.at(system, state, None, activation)
    dynamics = struck.dynamics(state.v, 0.0, 0.0)
    least = 1e-9 * float(np.abs(dynamics.M @ state.v).max(initial=0.0))
    pushed = [one for one in branches(dynamics) if max(map(_largest, one.reactions.values()), default=0.0) > least]
    if len(pushed) != 1:
        reason = f"{len(pushed)} velocities with an impulse obey the laws at this state, not one"
        return Passage(
            kind="impact", outcome=found, state=state, v=state.v, impulses={}, energy=0.0, solved=False, reason=reason
        )  # fmt: skip
    phases = law.expand(struck, _phase(dynamics, pushed[0]))
    impulses: dict[str, Array] = {}
    for phase in phases:
        for key, p in phase.impulses.items():
            impulses[key] = impulses[key] + p if key in impulses else p
    v = phases[-1].v
    return Passage(
        kind="impact", outcome=found, state=state, v=v, impulses=impulses,
        energy=kinetic(dynamics.M, v) - kinetic(dynamics.M, state.v),
        solved=phases[-1].solution.solved, reason="" if phases[-1].solution.solved else phases[-1].solution.explain(),
    )  # fmt: skip


def _phase(dynamics: LocalDynamics, branch: Branch) -> Phase:
    """Return a motion of the velocity problem as the compression of an impact: solved again, from its reactions."""
    solution = resolve(dynamics, start=branch.reactions)
    found = reactions(dynamics, solution)
    if not solution.solved or solution.x is None or not np.allclose(solution.x, branch.x, rtol=1e-6, atol=1e-6):
        problem, r = assemble(dynamics), start_of_blocks(dynamics, branch.reactions)
        residuals, found = block_residuals(problem, r), dict(branch.reactions)
        status = Status.SOLVED if residuals.small(ROUNDED) else Status.UNDECIDED
        solution = Solution(problem=problem, status=status, x=branch.x, r=r, residuals=residuals, method="enumerate")
    return Phase(
        name="compression", before=dynamics.v, v=np.asarray(solution.x), impulses=found, works={}, dynamics=dynamics,
        solution=solution,
    )  # fmt: skip


def _largest(p: Array) -> float:
    return float(np.abs(p).max(initial=0.0))


def _in_the_limit(state: State, found: Outcome, spring: Compliance, dynamics: LocalDynamics) -> Passage:
    """Return how infinitely stiff springs leave the state."""
    said = spring_limit(dynamics, spring.damping)
    energy = kinetic(dynamics.M, said.v) - kinetic(dynamics.M, state.v)
    return Passage(
        kind="compliance", outcome=found, state=state, v=said.v, impulses=said.impulses, energy=energy,
        error=said.error, solved=not said.reason, reason=said.reason,
    )  # fmt: skip


def _sprung(system: System, state: State, found: Outcome, spring: Compliance, dynamics: LocalDynamics) -> Passage:
    """Follow springs of finite stiffness until they let go."""
    assert spring.stiffness is not None
    pace = STEPS_OF_PERIOD / np.sqrt(spring.stiffness / _lightest(dynamics))
    stepper = Penalty(
        stiffness=spring.stiffness, tangential=spring.tangential, damping=spring.damping, dt=float(pace),
        rtol=1e-9, atol=1e-12,
    )  # fmt: skip
    now, impulses, pushed = State(t=state.t, q=state.q, v=state.v), dict[str, Array](), False
    for _ in range(LONGEST):
        step = stepper.advance(system, now, now.t + 10.0 * pace)
        if not step.solution.solved:
            break
        now = step.state
        for key, p in step.reactions.items():
            impulses[key] = impulses[key] + p if key in impulses else np.array(p)
        gaps = [row.gap for row in step.rows if one_sided(row) and row.id in impulses]
        pushed = pushed or min(gaps, default=0.0) < 0.0
        if pushed and min(gaps) > 0.0:
            energy = kinetic(dynamics.M, now.v) - kinetic(dynamics.M, state.v)
            return Passage(
                kind="compliance", outcome=found, state=state, v=now.v, impulses=impulses, energy=energy,
                duration=now.t - state.t,
            )  # fmt: skip
    reason = f"the springs have not let go after {now.t - state.t:.3g} s"
    return Passage(
        kind="compliance", outcome=found, state=state, v=state.v, impulses={}, energy=0.0,
        duration=now.t - state.t, solved=False, reason=reason,
    )  # fmt: skip


def _lightest(dynamics: LocalDynamics) -> float:
    """Return the smallest mass that a contact feels, kg."""
    found = [1.0 / float(row.J[0] @ np.linalg.solve(dynamics.M, row.J[0])) for row in dynamics.rows if one_sided(row)]
    return min(found, default=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saddle:
    """Sliding with a spring in the contact where the rigid acceleration is not unique: an equilibrium that is a saddle.

    Attributes
    ----------
    depth : float
        Of the equilibrium, m.
    rate : float
        With which what is near it grows, 1/s.
    """

    depth: float
    rate: float

    @property
    def speed(self) -> float:
        """Approach speed (m/s) at zero depth that separates lift-off (slower) from impact without collision."""
        return self.rate * self.depth

    def compresses(self, depth: float, speed: float) -> bool:
        """Whether a contact of this depth (m) and approach speed (m/s) ends in an impact without collision."""
        return speed + self.rate * (depth - self.depth) > 0.0


def separatrix(dynamics: LocalDynamics, id: str, stiffness: float) -> Saddle:
    """Return what decides between lift-off and impact without collision at a sliding contact with a stiff spring.

    With depth z, reaction k z and a_N = A r + b: z'' = |A| k z - b for A < 0 < b, whose stable direction through
    z = b / (|A| k) is z' = -sqrt(|A| k) (z - b / (|A| k)). For k to infinity what does not approach lifts off.

    Raises
    ------
    InputError
        The contact does not slide, or is not where the rigid model has two motions (A < 0 < b).
    """
    row = _sliding(dynamics, id)
    k = scalar("stiffness", stiffness, low=0.0, open_low=True)
    e = row.rate[1:3] / row.slip_speed
    direction = row.J[0] - row.mu * (e @ row.J[1:3])
    A = float(row.J[0] @ np.linalg.solve(dynamics.M, direction))
    b = float(row.J[0] @ dynamics.x_free + row.drift[0])
    if not A < 0.0 < b:
        raise InputError(
            "dynamics",
            f"A = {A:.3g}, b = {b:.3g}",
            "A < 0 < b, where the contact may slide or lift off",
            "Look which it is: gaussdyn outcome SCENE.",
        )
    return Saddle(depth=b / (-A * k), rate=float(np.sqrt(-A * k)))


def _sliding(dynamics: LocalDynamics, id: str) -> Row:
    rows = {row.id: row for row in dynamics.rows if row.kind == "contact" and row.size > 1}
    if id not in rows:
        raise InputError(
            "id",
            repr(id),
            ", ".join(rows) or "a contact with friction; there is none",
            one_of("id", id, rows) or "Leave out PainlevePassage(...).",
        )
    if rows[id].slip_speed <= dynamics.activation.speed:
        raise InputError(
            "id",
            repr(id),
            "a contact that slides",
            "Give the contact a velocity along its tangent: State(q=..., v=...).",
        )
    return rows[id]
