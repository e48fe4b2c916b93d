"""The outcome of two to four contacts in space at rest; what the tree of modes cannot decide is said."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import atan2, degrees
from typing import Any

import numpy as np

from ...linalg.rational import rational
from ...programs.laws.laws import BilateralCoulomb, Coulomb
from ...programs.problems.complementarity import ComplementarityProblem
from ...programs.spatial.several_contacts import (
    MOST,
    SeveralMotion,
    SpatialContacts,
    several_certificate,
    several_motions,
)
from ..active_set import OmegaStatus, active_set
from ..snapshot import LocalDynamics
from .consistent_rows import consistent
from .modal_data import ROUNDED, ContactRows, NotPlanar, local_exactly, rows_of
from .one_spatial_contact import resting_in_space
from .verdicts import Outcome, Verdict

CURVE = "normal reactions of slipping contacts are free and the motion follows them; other motions are not looked for"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralComponent:
    """One motion of several contacts in space, or one of a continuum.

    Attributes
    ----------
    motion : SeveralMotion
    curve : bool
        Whether it is one of a continuum.
    """

    motion: SeveralMotion
    curve: bool = False

    @property
    def modes(self) -> tuple[str, ...]:
        """Its letters, one per contact."""
        return (self.motion.modes,)

    @property
    def forces_unique(self) -> bool:
        """Whether one set of reactions belongs to it only."""
        return self.motion.forces_unique

    @property
    def point(self) -> tuple[Fraction, ...] | None:
        """The motion (n of every contact, then t1, t2 of every contact), rounded; None for a continuum."""
        if self.curve:
            return None
        u = self.motion.motion
        return tuple(Fraction(x) for x in (*u[::3], *(x for i, x in enumerate(u) if i % 3)))

    def document(self) -> dict[str, Any]:
        """Return it as the file formats describe solutions; the reaction is one of them, (n, t1, t2) by contact."""
        u = self.motion.motion
        slips = zip(self.motion.modes, u[1::3], u[2::3], strict=True)
        point = self.point and [float(x) for x in self.point]
        return {
            "modes": list(self.modes), "point": point, "point_exact": None, "faces": [],
            "force_unique": self.forces_unique, "reaction": list(self.motion.reaction), "radius": self.motion.radius,
            "angle_deg": [degrees(atan2(t2, t1)) if mode == "+" and (t1 or t2) else None for mode, t1, t2 in slips],
        }  # fmt: skip


def several_outcome(contacts: SpatialContacts, level: str, *, stick: bool, certify: bool) -> Outcome:
    """Return all motions of two to four contacts; UNDECIDED with what remains where the list is not proved complete."""
    found = several_motions(contacts)
    proof = several_certificate(contacts, found, {"level": level}) if certify else None
    if found.curve:
        some = (SeveralComponent(motion=found.motions[0], curve=True),)
        return Outcome(verdict=Verdict.CONTINUUM, level=level, components=some, certificate=proof, reason=CURVE)
    known = {one.modes for one in found.motions}
    kept = [one for one in found.motions if not (stick and _could_stick(contacts, one.modes, known))]
    components = tuple(SeveralComponent(motion=one) for one in kept)
    if found.left:
        remains = tuple(f"{modes}: {why}" for modes, why in found.left)
        reason = f"{len(found.motions)} found, not decided in {'; '.join(remains[:4])}"
        return Outcome(verdict=Verdict.UNDECIDED, level=level, components=components, reason=reason, remains=remains)
    verdict = Verdict(("NONE", "UNIQUE", "MULTIPLE")[min(len(kept), 2)])
    return Outcome(verdict=verdict, count=len(kept), level=level, components=components, certificate=proof)


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
    W, q, numbers = consistent(
        np.asarray(dense, dtype=float), np.asarray(problem.q, dtype=float), range(0, 3 * len(laws), 3)
    )
    mu, mu_s = (tuple(rational(x) for x in values) for values in zip(*((a.mu, a.mu_s) for a in friction), strict=True))
    return SpatialContacts(W=W, q=tuple(q), mu=mu, mu_s=mu_s, numbers=numbers), "velocity"


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
    return SpatialContacts(W=W, q=tuple(q), mu=mu, mu_s=mu_s, numbers=ROUNDED), dynamics.level
