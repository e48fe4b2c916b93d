"""How many motions a state has: none, one, several, a continuum; each answer with its proof.

The outcome is about the primary unknown only (acceleration; velocity; z of an LCP). A unique acceleration under
reactions that are not unique is UNIQUE. UNDECIDED says what would be needed; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...errors import InputError, keeps_interrupts
from ...mechanics.planar.body_file import ExactBody
from ...mechanics.scene import Scene
from ...mechanics.spatial.body_file import ExactSpatialBody
from ...mechanics.state import State
from ...mechanics.system import System
from ...mends import one_of
from ...programs.enumeration.certificate import prove
from ...programs.enumeration.degeneracy import degeneracy
from ...programs.enumeration.enumerate import LIMIT, Enumeration, enumerate_modes
from ...programs.enumeration.modal_problem import ModalProblem, modal_problem
from ...programs.enumeration.stick_priority import stick_priority
from ...programs.laws.laws import BilateralSliding, Coulomb, Dry, Sliding
from ...programs.problems.complementarity import ComplementarityProblem, LinearComplementarity
from ...programs.proof.certificates import Certificate
from ...programs.proof.no_admissible_motion import refutation
from ...programs.proof.slater import slater_certificate
from ...programs.spatial.contact import SpatialContact
from ..assemble import assemble
from ..rank_note import rank_note
from ..snapshot import LocalDynamics, snapshot
from .examine import examine
from .modal_data import NotPlanar, dynamics_problem
from .one_spatial_contact import spatial_contact, spatial_outcome
from .planar_body import planar_body_problem
from .planar_in_doubles import planar_outcome
from .several_spatial_contacts import several_contacts, several_outcome
from .verdicts import Outcome, Verdict

__all__ = ["Outcome", "Verdict", "examine", "outcome", "planar_body_problem"]

Problem = (
    LocalDynamics | ComplementarityProblem | LinearComplementarity | ModalProblem | ExactBody
    | ExactSpatialBody | SpatialContact
)  # fmt: skip
Askable = Problem | Scene | System | Mapping[str, Any]


@keeps_interrupts
def outcome(
    problem: Askable,
    state: State | None = None,
    *,
    mu_s_rule: str = "all",
    certify: bool = True,
    limit: int = LIMIT,
) -> Outcome:
    """Find all motions of a state, or all solutions of a problem.

    Parameters
    ----------
    problem : LocalDynamics, problem of blocks, LCP, ModalProblem, ExactBody, ExactSpatialBody or SpatialContact
        Doubles are taken at their exact values; the data of a `LocalDynamics` are first rounded, see `contact.modal`.
        A `Scene` stands for the acceleration problem at its start, a dictionary for the body or LCP that a JSON file
        with its keys holds, a `System` with a state for the acceleration problem there.
    state : State, optional
        Of a system; of a scene, instead of its start.
    mu_s_rule : str
        all: every solution of the laws. stick: with mu_s > mu, a mode in which such a contact begins to slip is left
        out if changing that contact alone to stick gives a solution too.
    certify : bool
        Prove every step in exact arithmetic and return a certificate. Without it a planar body is solved in doubles
        where rounding cannot decide the answer, and exactly where it could.
    limit : int
        Largest number of leaves of the tree of modes; beyond it the answer is UNDECIDED.

    Raises
    ------
    InputError
        An unknown rule, another kind of problem, or a state with something that has none.
    """
    if mu_s_rule not in ("all", "stick"):
        raise InputError("mu_s_rule", repr(mu_s_rule), "all or stick", one_of("mu_s_rule", mu_s_rule, ("all", "stick")))
    stated = _stated(problem, state)
    found = _found(stated, mu_s_rule, certify, limit)
    note = rank_note(stated) if isinstance(stated, LocalDynamics) and found.count else ""
    return replace(found, reason="; ".join(x for x in (found.reason, note) if x)) if note else found


def _found(problem: Problem, mu_s_rule: str, certify: bool, limit: int) -> Outcome:
    """Return the outcome of the problem as it stands."""
    stick = mu_s_rule == "stick"
    known, doubtful = (None, False) if certify else _in_doubles(problem, stick)
    if known is not None:
        return known
    alone = spatial_contact(problem)
    if alone is not None:
        return spatial_outcome(*alone, stick=stick, certify=certify)
    try:
        modal, level = _modal(problem)
    except NotPlanar:
        return _in_space(problem, stick, certify)
    found = enumerate_modes(modal, certify=certify or doubtful, limit=limit)
    if not found.complete:
        return Outcome(verdict=Verdict.UNDECIDED, level=level, exact=certify, reason=found.reason)
    reasons = [degeneracy(found)] if certify else []
    certificate = prove(found, {"level": level}) if certify else None
    if stick:
        found, left_out = stick_priority(found)
        if left_out:
            reasons.append(f"stick priority leaves out {', '.join(left_out)}; the certificate lists them too")
    return _outcome(found, level, certificate, "; ".join(x for x in reasons if x))


def _in_doubles(problem: Problem, stick: bool) -> tuple[Outcome | None, bool]:
    """Return the outcome of a planar body as doubles tell it, or None, and whether rounding may decide it."""
    if not isinstance(problem, ExactBody) or (stick and problem.mu_s != problem.mu):
        return None, False
    return planar_outcome(problem)


def _stated(problem: Any, state: State | None) -> Any:
    """Return the problem that a scene, a system at a state or a dictionary stands for; refuse what states none."""
    if isinstance(problem, Scene):
        return snapshot(problem, state)
    if isinstance(state, State) and isinstance(problem, System):
        return snapshot(problem.near(state.t, state.q, state.v, 0.0), state)
    if state is not None:
        allowed = "a State, where the problem is a System or a Scene"
        raise InputError(
            "state",
            f"{type(state).__name__} with {type(problem).__name__}",
            allowed,
            "Leave state out: outcome(problem).",
        )
    if isinstance(problem, Mapping):
        from .problem_file import problem_of

        return problem_of(problem)
    if not isinstance(problem, Problem):
        states = "a Scene, a System and a State, snapshot(system, state)"
        allowed = f"{states}, an LCP or problem of blocks, an ExactBody or ExactSpatialBody"
        mend = "ExactBody.of(data) reads the data of a planar body; read_outcome_problem(path) reads a file."
        raise InputError("problem", type(problem).__name__, allowed, mend)
    return problem


def _modal(problem: Any) -> tuple[ModalProblem, str]:
    """Return the problem with exact numbers, and its level."""
    if isinstance(problem, LocalDynamics):
        return dynamics_problem(problem), problem.level
    if isinstance(problem, ExactBody):
        return planar_body_problem(problem), "acceleration"
    if isinstance(problem, ComplementarityProblem) and any(_spatial(law) for law in problem.laws):
        raise NotPlanar("problem", "contacts in space", "blocks of one or two rows", "Write solve(problem).")
    modal = modal_problem(problem)
    return modal, "lcp" if modal.kind == "lcp" else _level(problem)


def _level(problem: Any) -> str:
    """Return the level of a problem of blocks: known directions of slip belong to accelerations."""
    slides = isinstance(problem, ComplementarityProblem) and any(
        isinstance(law, (Sliding, BilateralSliding)) for law in problem.laws
    )
    return "velocity" if isinstance(problem, ComplementarityProblem) and not slides else "acceleration"


def _spatial(law: Any) -> bool:
    return law.size > 2 or (isinstance(law, Dry) and law.size > 1) or (law.size == 2 and not isinstance(law, Coulomb))


def _in_space(problem: Any, stick: bool, certify: bool) -> Outcome:
    """Several contacts in space: all motions of two to four, else none, or at least one."""
    level = problem.level if isinstance(problem, LocalDynamics) else "velocity"
    blocks = assemble(problem) if isinstance(problem, LocalDynamics) else problem
    proof = refutation(blocks)
    if proof is not None:
        return Outcome(verdict=Verdict.NONE, count=0, level=level, certificate=proof)
    few = several_contacts(problem)
    found = None if few is None else several_outcome(*few, stick=stick, certify=certify)
    if found is not None and found.verdict is not Verdict.UNDECIDED:
        return found
    proof = slater_certificate(blocks)
    if proof is not None:
        exists = Outcome(verdict=Verdict.UNDECIDED, level=level, certificate=proof, reason="exists")
        return exists if found is None else replace(exists, components=found.components, remains=found.remains)
    if found is not None:
        return found
    reason = "contacts in space at rest: neither a strictly feasible motion nor a contradiction was found"
    return Outcome(verdict=Verdict.UNDECIDED, level=level, reason=reason)


def _outcome(found: Enumeration, level: str, certificate: Certificate | None, reason: str) -> Outcome:
    return Outcome(
        verdict=Verdict(found.verdict), count=found.count, level=level, exact=found.certified,
        components=found.components, certificate=certificate, reason=reason,
    )  # fmt: skip
