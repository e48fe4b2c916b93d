"""The outcome of a single contact in space: from a body's file, a problem of one block, or a state of a system."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...linalg.rational import rational, text
from ...mechanics.spatial.body_file import KIND, ExactSpatialBody
from ...programs.problems.complementarity import ComplementarityProblem
from ...programs.spatial.arcs import Arc
from ...programs.spatial.contact import SpatialContact, block_contact
from ...programs.spatial.counting import count_spatial, surely_unique
from ...programs.spatial.one_contact import SpatialMotion, SpatialMotions, motions
from ..active_set import ActiveRow, OmegaStatus, active_set
from ..snapshot import LocalDynamics
from .modal_data import ROUNDED, ContactRows, NotPlanar, local_doubles, local_exactly, rows_of
from .verdicts import Outcome, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialComponent:
    """Motions of a contact in space that hang together: one, or arcs of slip directions with rest at their ends.

    Attributes
    ----------
    motions : tuple of SpatialMotion
    arcs : tuple of Arc
    ray : tuple of Fraction or None
    """

    motions: tuple[SpatialMotion, ...] = ()
    arcs: tuple[Arc, ...] = ()
    ray: tuple[Fraction, ...] | None = None

    @property
    def modes(self) -> tuple[str, ...]:
        """Letters of its modes."""
        return tuple(sorted({one.letter for one in self.motions} | {"+" for _ in self.arcs}))

    @property
    def point(self) -> tuple[Fraction, ...] | None:
        """The only motion (a_n, a_t1, a_t2), of a slip rounded; None if there are many."""
        return None if self.arcs or self.ray is not None else self.motions[0].motion

    @property
    def forces_unique(self) -> bool:
        """Whether one reaction belongs to it only."""
        return self.point is not None and self.motions[0].forces_unique

    def document(self) -> dict[str, Any]:
        """Return it as the file formats describe solutions, with its reaction and its direction."""
        if self.point is None:
            return {"modes": list(self.modes), "point": None, "point_exact": None, "faces": self._faces(),
                    "force_unique": False}  # fmt: skip
        (one,) = self.motions
        return {
            "modes": [one.letter],
            "point": [float(x) for x in one.motion],
            "point_exact": text(one.motion) if one.exact else None,
            "faces": [],
            "force_unique": one.forces_unique,
            "reaction": [float(x) for x in one.reaction],
            "angle_deg": one.angle if one.letter == "+" and any(one.motion[1:]) else None,
            "sector": None if one.sector is None else text(one.sector),
        }

    def _faces(self) -> list[dict[str, Any]]:
        ray = [] if self.ray is None else [[float(x) for x in self.ray]]
        points = [{"mode": m.letter, "vertices": [[float(x) for x in m.motion]], "rays": ray} for m in self.motions]
        return points + [{"mode": "+", "vertices": [], "rays": [], "angles_deg": [a.start, a.end]} for a in self.arcs]


def spatial_outcome(contact: SpatialContact, level: str, *, stick: bool, certify: bool) -> Outcome:
    """Return all motions of one contact in space, with their certificate."""
    found = motions(contact)
    if found.undecided:
        return Outcome(verdict=Verdict.UNDECIDED, level=level, reason=found.undecided)
    certificate = found.certificate(contact, {"level": level}) if certify else None
    reasons = [found.degenerate]
    components = _components(found)
    sticks = contact.mu_s > contact.mu and any("S" in one.modes for one in components)
    if stick and sticks and any("+" in one.modes for one in components):
        components = tuple(SpatialComponent(motions=(m,)) for m in found.motions if m.letter != "+")
        reasons.append("stick priority leaves out the slips; the certificate lists them too")
    wide = any(one.point is None for one in components)
    verdict = ("NONE", "UNIQUE", "MULTIPLE")[min(len(components), 2)] if not wide else "CONTINUUM"
    return Outcome(
        verdict=Verdict(verdict), count=len(components), level=level, components=components, certificate=certificate,
        reason="; ".join(x for x in reasons if x),
    )  # fmt: skip


def _components(found: SpatialMotions) -> tuple[SpatialComponent, ...]:
    """Group the motions: rest hangs together with every arc on which the speed goes to zero."""
    stopping = tuple(arc for arc in found.arcs if arc.stops)
    alone = [SpatialComponent(arcs=(arc,)) for arc in found.arcs if not arc.stops]
    groups = [
        SpatialComponent(
            motions=(one,), arcs=stopping if one.letter == "S" else (), ray=found.ray if one.letter == "L" else None
        )
        for one in found.motions
    ]
    return tuple(groups + alone)


def spatial_contact(problem: Any) -> tuple[SpatialContact, str] | None:
    """Return the single contact in space that a problem is about, and its level; None if it is about something else."""
    if isinstance(problem, SpatialContact):
        return problem, "acceleration"
    if isinstance(problem, ExactSpatialBody):
        return body_contact(problem), "acceleration"
    if isinstance(problem, ComplementarityProblem):
        contact = block_contact(problem)
        return None if contact is None else (contact, "velocity")
    if isinstance(problem, LocalDynamics):
        contact = _state_contact(problem)
        return None if contact is None else (contact, problem.level)
    return None


def body_contact(body: ExactSpatialBody) -> SpatialContact:
    """Return the contact of a body in its file format."""
    W, q = body.local()
    return SpatialContact(W=W, q=q, mu=body.mu, mu_s=body.mu_s, slip=body.slip, kind=KIND, document=body.document(),
                          numbers=body.numbers)  # fmt: skip


def _state_contact(dynamics: LocalDynamics) -> SpatialContact | None:
    """Return the contact of a state in which it alone is unilateral or rough; the other constraints are held."""
    found = alone_in_space(dynamics)
    if found is None:
        return None
    active, others = found
    W, q = local_exactly(dynamics, others, [_contact_rows(active)])
    mu, mu_s = rational(active.row.mu), rational(active.row.mu_s)
    return SpatialContact(W=tuple(map(tuple, W)), q=tuple(q), mu=mu, mu_s=mu_s, numbers=ROUNDED)


def alone_in_space(dynamics: LocalDynamics) -> tuple[ActiveRow, list[ContactRows]] | None:
    """Return the only unilateral or rough constraint, if it rests in space, and the others, which are held."""
    active = active_set(dynamics)
    rough = [one for one in active.rows if resting_in_space(dynamics, one)]
    if active.status is not OmegaStatus.READY or len(rough) != 1:
        return None
    try:
        others = [rows_of(dynamics, one) for one in active.rows if one is not rough[0]]
    except NotPlanar:
        return None
    return None if any(one.block is not None for one in others) else (rough[0], others)


def _contact_rows(active: ActiveRow) -> ContactRows:
    return ContactRows(J=active.row.J, B=active.row.J, w=active.w, frictional=True)


def examine_in_space(dynamics: LocalDynamics) -> Outcome | None:
    """Return how many motions a state with one rough contact in space has, mostly in doubles; None: no such state."""
    found = alone_in_space(dynamics)
    if found is None:
        return None
    active, others = found
    W, q = local_doubles(dynamics, others, [_contact_rows(active)])
    mu, mu_s = active.row.mu, active.row.mu_s
    if surely_unique(W, mu, mu_s):
        reason = "friction is below the bound that excludes a second motion"
        return Outcome(verdict=Verdict.UNIQUE, count=1, level=dynamics.level, exact=False, reason=reason)
    count = count_spatial(W[None], q[None], mu, mu_s)
    number = int(count.total[0])
    if count.near[0] or number == 0:
        contact = _state_contact(dynamics)
        assert contact is not None
        return spatial_outcome(contact, dynamics.level, stick=False, certify=False)
    verdict, reason = Verdict.UNIQUE if number == 1 else Verdict.MULTIPLE, "counted in floating point"
    return Outcome(verdict=verdict, count=number, level=dynamics.level, exact=False, reason=reason)


def resting_in_space(dynamics: LocalDynamics, active: ActiveRow) -> bool:
    """Whether a constraint is a unilateral rough contact in space whose direction of slip is not known."""
    row = active.row
    slides = dynamics.level == "acceleration" and row.slip_speed > dynamics.activation.speed
    return bool(active.rough and row.size == 3 and not row.bilateral and row.kind != "dry" and not slides)
