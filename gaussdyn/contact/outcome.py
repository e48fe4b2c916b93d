"""How many motions a state has: none, one, several, a continuum; each answer with its proof.

The outcome is about the primary unknown only (acceleration; velocity; z of an LCP). A unique acceleration under
reactions that are not unique is UNIQUE. UNDECIDED says what would be needed; nothing is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..errors import InputError
from ..linalg.rational import text
from ..mechanics.planar_body_file import ExactBody
from ..programs.certificates import Certificate
from ..programs.complementarity import ComplementarityProblem, LinearComplementarity
from ..programs.degeneracy import degeneracy
from ..programs.enumeration import LIMIT, Component, Enumeration, enumerate_modes
from ..programs.modal import ModalProblem, modal_problem
from ..programs.modes import planar_blocks
from ..programs.proofs import prove
from ..programs.stick_priority import stick_priority
from .snapshot import LocalDynamics


class Verdict(StrEnum):
    """How many solutions there are."""

    UNIQUE = "UNIQUE"
    MULTIPLE = "MULTIPLE"
    CONTINUUM = "CONTINUUM"
    NONE = "NONE"
    UNDECIDED = "UNDECIDED"
    NOT_EXAMINED = "NOT_EXAMINED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a problem, with its solutions and its proof.

    Attributes
    ----------
    verdict : Verdict
    count : int or None
        Number of solutions; of connected components, if any of them is not a point; None if not known.
    level : str
        acceleration, velocity or lcp.
    exact : bool
        Whether every step was proved in exact arithmetic.
    components : tuple of Component
        Solutions, grouped by the primary unknown.
    certificate : Certificate or None
    reason : str
        What is special: degenerate data, stick priority, why undecided.
    """

    verdict: Verdict
    count: int | None = None
    level: str = "acceleration"
    exact: bool = True
    components: tuple[Component, ...] = ()
    certificate: Certificate | None = None
    reason: str = ""

    def explain(self) -> str:
        """Return the outcome in words, and what to do about it."""
        said = f"{self.verdict}: {_ADVICE[self.verdict]}"
        return said + (f" ({self.reason})" if self.reason else "")

    def solutions(self) -> list[dict[str, Any]]:
        """Return the solutions as the file formats describe them."""
        return [_solution(component) for component in self.components]


_ADVICE = {
    Verdict.UNIQUE: "exactly one motion obeys the laws.",
    Verdict.MULTIPLE: "several motions obey the laws; a run must choose (on_multiple), or the model needs compliance.",
    Verdict.CONTINUUM: "a continuum of motions obeys the laws; a run must choose, or the model needs compliance.",
    Verdict.NONE: "no motion obeys the laws; at this state the rigid model needs an impact or compliance.",
    Verdict.UNDECIDED: "neither a complete list nor a proof that there is none.",
    Verdict.NOT_EXAMINED: "this state was not examined.",
}


def outcome(
    problem: LocalDynamics | ComplementarityProblem | LinearComplementarity | ModalProblem | ExactBody,
    *,
    mu_s_rule: str = "all",
    certify: bool = True,
    limit: int = LIMIT,
) -> Outcome:
    """Find all motions of a state, or all solutions of a problem.

    Parameters
    ----------
    problem : LocalDynamics, problem of blocks, LCP, ModalProblem or ExactBody
        Doubles are taken at their exact values; the data of a `LocalDynamics` are first rounded, see `contact.modal`.
    mu_s_rule : str
        all: every solution of the laws. stick: with mu_s > mu, a mode in which such a contact begins to slip is left
        out if changing that contact alone to stick gives a solution too.
    certify : bool
        Prove every step in exact arithmetic and return a certificate.
    limit : int
        Largest number of leaves of the tree of modes; beyond it the answer is UNDECIDED.

    Raises
    ------
    InputError
        An unknown rule, or a problem whose modes are not linear (contacts in space at rest).
    """
    if mu_s_rule not in ("all", "stick"):
        raise InputError("mu_s_rule", repr(mu_s_rule), "all or stick")
    modal, level = _modal(problem)
    found = enumerate_modes(modal, certify=certify, limit=limit)
    if not found.complete:
        return Outcome(verdict=Verdict.UNDECIDED, level=level, exact=certify, reason=found.reason)
    reasons = [degeneracy(found)] if certify else []
    certificate = prove(found, {"level": level}) if certify else None
    if mu_s_rule == "stick":
        found, left_out = stick_priority(found)
        if left_out:
            reasons.append(f"stick priority leaves out {', '.join(left_out)}; the certificate lists them too")
    return _outcome(found, level, certificate, "; ".join(x for x in reasons if x))


def planar_body_problem(body: ExactBody) -> ModalProblem:
    """Return the problem of a planar body; its primary unknown is (a_n of each contact, then a_t)."""
    G, b = body.local()
    order = [*range(0, len(b), 2), *range(1, len(b), 2)]
    return ModalProblem(
        kind="planar_body", W=G, q=b, blocks=planar_blocks(body.mu, body.mu_s, body.bilateral, body.state),
        primary=[(G[i], b[i]) for i in order], document=body.document(), numbers=body.numbers,
    )  # fmt: skip


def _modal(problem: Any) -> tuple[ModalProblem, str]:
    """Return the problem with exact numbers, and its level."""
    if isinstance(problem, LocalDynamics):
        from .modal import dynamics_problem

        return dynamics_problem(problem), problem.level
    if isinstance(problem, ExactBody):
        return planar_body_problem(problem), "acceleration"
    modal = modal_problem(problem)
    return modal, "lcp" if modal.kind == "lcp" else "acceleration"


def _outcome(found: Enumeration, level: str, certificate: Certificate | None, reason: str) -> Outcome:
    return Outcome(
        verdict=Verdict(found.verdict), count=found.count, level=level, exact=found.certified,
        components=found.components, certificate=certificate, reason=reason,
    )  # fmt: skip


def _solution(component: Component) -> dict[str, Any]:
    point = component.point
    faces = [] if point is not None else [
        {"mode": mode, "vertices": [list(map(float, v)) for v in hull.vertices],
         "rays": [list(map(float, r)) for r in hull.rays]}
        for mode, hull in zip(component.modes, component.hulls, strict=True)
    ]  # fmt: skip
    return {
        "modes": list(component.modes),
        "point": None if point is None else [float(x) for x in point],
        "point_exact": None if point is None else text(point),
        "faces": faces,
        "force_unique": component.forces_unique,
    }
