"""The outcome of two to four contacts in space at rest, by branch and prune; what it cannot decide is said."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import atan2, degrees
from typing import Any

from ...linalg.rational import rational, rationals
from ...programs.laws.laws import BilateralCoulomb, Coulomb
from ...programs.problems.complementarity import ComplementarityProblem
from ...programs.proof.certificates import Certificate
from ...programs.spatial.certificate import spatial_certificate
from ...programs.spatial.several_contacts import MOST, SeveralMotion, SpatialContacts, several_motions
from ..active_set import OmegaStatus, active_set
from ..snapshot import LocalDynamics
from .modal_data import ContactRows, NotPlanar, local_exactly, rows_of
from .one_spatial_contact import resting_in_space
from .verdicts import Outcome, Verdict

PROVED = "proved by branch and prune over the directions of slip, without a certificate file"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralComponent:
    """One motion of several contacts in space.

    Attributes
    ----------
    motion : SeveralMotion
    """

    motion: SeveralMotion

    @property
    def modes(self) -> tuple[str, ...]:
        """Its letters, one per contact."""
        return (self.motion.modes,)

    @property
    def forces_unique(self) -> bool:
        """Whether one set of reactions belongs to it only."""
        return self.motion.forces_unique

    @property
    def point(self) -> tuple[Fraction, ...]:
        """The motion (n of every contact, then t1, t2 of every contact), rounded."""
        u = self.motion.motion
        return tuple(Fraction(x) for x in (*u[::3], *(x for i, x in enumerate(u) if i % 3)))

    def document(self) -> dict[str, Any]:
        """Return it as the file formats describe solutions; the reaction is one of them, (n, t1, t2) by contact."""
        u = self.motion.motion
        slips = zip(self.motion.modes, u[1::3], u[2::3], strict=True)
        return {
            "modes": list(self.modes), "point": [float(x) for x in self.point], "point_exact": None, "faces": [],
            "force_unique": self.forces_unique, "reaction": list(self.motion.reaction), "radius": self.motion.radius,
            "angle_deg": [degrees(atan2(t2, t1)) if mode == "+" and (t1 or t2) else None for mode, t1, t2 in slips],
        }  # fmt: skip


def several_outcome(contacts: SpatialContacts, level: str, *, stick: bool, certify: bool) -> Outcome:
    """Return all motions of two to four contacts; UNDECIDED with what remains where the list is not proved complete."""
    found = several_motions(contacts)
    known = {one.modes for one in found.motions}
    kept = [one for one in found.motions if not (stick and _could_stick(contacts, one.modes, known))]
    components = tuple(SeveralComponent(motion=one) for one in kept)
    if found.left:
        remains = tuple(f"{modes}: {why}" for modes, why in found.left)
        reason = f"{len(found.motions)} found, not decided in {'; '.join(remains[:4])}"
        return Outcome(verdict=Verdict.UNDECIDED, level=level, components=components, reason=reason, remains=remains)
    verdict = Verdict(("NONE", "UNIQUE", "MULTIPLE")[min(len(kept), 2)])
    proof = _proof(contacts, level, len(found.motions)) if certify else None
    reason = PROVED if proof is None else ""
    return Outcome(
        verdict=verdict, count=len(kept), level=level, components=components, certificate=proof, reason=reason
    )


def _proof(contacts: SpatialContacts, level: str, count: int) -> Certificate | None:
    """Return a certificate of so many motions of two contacts, if there is one."""
    proof = spatial_certificate(contacts, {"level": level}) if len(contacts.mu) == 2 else None
    words = ("NONE:", "UNIQUE:", f"MULTIPLE: exactly {count} ")[min(count, 2)]
    return proof if proof is not None and proof.claim.startswith(words) else None


def _could_stick(contacts: SpatialContacts, modes: str, known: set[str]) -> bool:
    """Whether a contact with mu_s > mu slips that alone could stick as well."""
    stronger = [s > m for s, m in zip(contacts.mu_s, contacts.mu, strict=True)]
    return any(
        letter == "+" and more and modes[:k] + "S" + modes[k + 1 :] in known
        for k, (letter, more) in enumerate(zip(modes, stronger, strict=True))
    )


def several_contacts(problem: Any) -> tuple[SpatialContacts, str] | None:
    """Return the two to four contacts in space that a problem is about, and its level; None for anything else."""
    if isinstance(problem, ComplementarityProblem):
        return _blocks(problem)
    return _state(problem) if isinstance(problem, LocalDynamics) else None


def _blocks(problem: ComplementarityProblem) -> tuple[SpatialContacts, str] | None:
    laws = problem.laws
    if not 2 <= len(laws) <= MOST:
        return None
    friction = [law for law in laws if isinstance(law, Coulomb) and law.dim == 3]
    if len(friction) < len(laws) or any(isinstance(law, BilateralCoulomb) for law in laws):
        return None
    dense = problem.W.toarray() if hasattr(problem.W, "toarray") else problem.W
    W = [rationals(row) for row in dense.tolist()]
    mu, mu_s = (tuple(rational(x) for x in values) for values in zip(*((a.mu, a.mu_s) for a in friction), strict=True))
    return SpatialContacts(W=W, q=tuple(rationals(problem.q)), mu=mu, mu_s=mu_s), "velocity"


def _state(dynamics: LocalDynamics) -> tuple[SpatialContacts, str] | None:
    """Return the contacts of a state in which they alone are unilateral or rough, and all of them rest."""
    active = active_set(dynamics)
    rough = [one for one in active.rows if resting_in_space(dynamics, one)]
    if active.status is not OmegaStatus.READY or not 2 <= len(rough) <= MOST:
        return None
    try:
        others = [rows_of(dynamics, one) for one in active.rows if one not in rough]
    except NotPlanar:
        return None
    if any(one.block is not None for one in others):
        return None
    acting = [ContactRows(J=one.row.J, B=one.row.J, w=one.w, frictional=True) for one in rough]
    W, q = local_exactly(dynamics, others, acting)
    mu, mu_s = (tuple(rational(getattr(one.row, name)) for one in rough) for name in ("mu", "mu_s"))
    return SpatialContacts(W=W, q=tuple(q), mu=mu, mu_s=mu_s), dynamics.level
