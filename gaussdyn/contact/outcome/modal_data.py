"""From a state of a system to a contact problem in the plane that can be enumerated, in doubles or exactly.

Mass, force, Jacobians and drifts are doubles with rounding noise; where contacts are redundant, noise would decide
whether their equations agree. So for the exact problem they are first rounded to multiples of 2^-36 of their largest
entry, and everything after that is exact: the answer, and its certificate, are about the rounded data, and say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...linalg.factor import solve_spd
from ...linalg.rational import dot, eliminate, integer_row, rational, text
from ...mechanics.planar.body_file import ExactBody
from ...programs.enumeration.modal_problem import ModalProblem, contact_document
from ...programs.enumeration.modes import Block, bilateral_block, contact_block, dry_block, unilateral_block
from ..active_set import ActiveRow, OmegaStatus, active_set
from ..snapshot import LocalDynamics
from .planar_body import planar_body_problem, recognised

BITS = 36
ROUNDED = f"doubles of a state, rounded to multiples of 2^-{BITS} of their largest entry"

Rows = list[list[Fraction]]


class NotPlanar(InputError):
    """A constraint whose modes are not linear, e.g. a contact in space at rest."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContactRows:
    """One constraint that acts, as rows of a problem in the plane.

    Attributes
    ----------
    J : Array, shape (k, nv)
        Motion u = J x + w.
    w : Array, shape (k,)
    block : Block or None
        Modes; None for bilateral rows and for a given force.
    B : Array, shape (k, nv)
        Rows of the reaction's directions; J unless the contact slides in space.
    force : Array or None
        Given generalised force, for dry friction that slips.
    document : dict
        How a certificate states the law.
    sliding, frictional : bool
    mu : float
        Friction that acts on two rows (0 where it is in B).
    """

    J: Array
    w: Array
    block: Block | None = None
    B: Array
    force: Array | None = None
    document: dict[str, Any] = field(default_factory=dict)
    sliding: bool = False
    frictional: bool = False
    mu: float = 0.0

    @property
    def held(self) -> bool:
        """Whether they are bilateral rows, which are held whatever their reactions are."""
        return self.block is None and self.force is None


def contact_rows(dynamics: LocalDynamics) -> tuple[ContactRows, ...]:
    """Return all constraints that act.

    Raises
    ------
    InputError
        No acceleration exists at this state.
    NotPlanar
        A contact in space rests, or dry friction acts in two directions: the modes are not linear.
    """
    active = active_set(dynamics)
    if active.status is not OmegaStatus.READY:
        given = f"{active.status} at {', '.join(active.at_fault)}"
        raise InputError("dynamics", given, "a state with an acceleration", 'Write level="velocity" first.')
    return tuple(rows_of(dynamics, one) for one in active.rows)


def rows_of(dynamics: LocalDynamics, active: ActiveRow) -> ContactRows:
    """Return one constraint that acts; NotPlanar where its modes are not linear."""
    row, J, w = active.row, active.row.J, active.w
    slip = dynamics.level == "acceleration" and row.slip_speed > dynamics.activation.speed
    if row.kind == "dry":
        return _dry(dynamics, active, slip)
    if row.bilateral and not active.rough:
        count = row.size if row.kind == "bilateral" else 1
        return ContactRows(J=J[:count], B=J[:count], w=w[:count])
    one_row: dict[str, Any] = {"block": _block("unilateral", 0.0, 0.0, 0), "document": {"law": "unilateral"}}
    if not active.rough:
        return ContactRows(J=J[:1], B=J[:1], w=w[:1], **one_row)
    if row.size == 2:
        state = int(np.sign(row.rate[1])) if slip else 0
        block = _block("bilateral" if row.bilateral else "contact", row.mu, row.mu_s, state)
        document = contact_document(rational(row.mu), rational(row.mu_s), row.bilateral, state)
        law: dict[str, Any] = {
            "block": block,
            "document": document,
            "sliding": slip,
            "frictional": True,
            "mu": row.mu_s,
        }
        return ContactRows(J=J, B=J, w=w, **law)
    if not slip or row.bilateral or row.moments:
        mend = "Contacts in space are examined while they slide: gaussdyn explore SCENE."
        raise NotPlanar(row.id, "a contact in space at rest", "planar contacts", mend)
    e = row.rate[1:3] / row.slip_speed
    B = J[:1] - row.mu * (e @ J[1:3])
    return ContactRows(J=J[:1], B=B, w=w[:1], sliding=True, frictional=True, **one_row)


def _dry(dynamics: LocalDynamics, active: ActiveRow, slip: bool) -> ContactRows:
    """Friction under a given load: a given force where it slips, else a block."""
    row, J = active.row, active.row.J
    if row.size > 1:
        raise NotPlanar(row.id, "dry friction in two directions", "one direction", "Take one: J=J[:1].")
    if slip:
        return ContactRows(J=J[:0], B=J[:0], w=active.w[:0], force=-row.cap * np.sign(row.rate[0]) * J[0])
    scale = 1.0 if dynamics.level == "acceleration" else dynamics.dt
    cap, cap_s = scale * row.cap, scale * row.cap_s
    document = {"law": "dry", "c": str(rational(cap)), "c_s": str(rational(cap_s))}
    block = _block("dry", cap, cap_s, 0)
    return ContactRows(J=J, B=J, w=active.w, block=block, document=document, frictional=True)


@lru_cache(maxsize=4096)
def _block(kind: str, low: float, high: float, state: int) -> Block:
    if kind == "unilateral":
        return unilateral_block("DL")
    if kind == "dry":
        return dry_block(rational(low), rational(high))
    make = bilateral_block if kind == "bilateral" else contact_block
    return make(rational(low), rational(high), state)


def local_doubles(
    dynamics: LocalDynamics, rows: Sequence[ContactRows], acting: Sequence[ContactRows] | None = None
) -> tuple[Array, Array]:
    """Return W and q of u = W r + q for the blocks, in doubles; `acting` names them if they are not all in rows."""
    acting = [one for one in rows if one.block is not None] if acting is None else acting
    J, B = (np.vstack([np.zeros((0, dynamics.nv)), *parts]) for parts in ([a.J for a in acting], [a.B for a in acting]))
    w = np.concatenate([np.zeros(0), *[a.w for a in acting]])
    loads = np.column_stack([_load(dynamics, rows), B.T])
    x = solve_spd(dynamics.factor, loads)
    held = [one for one in rows if one.held]
    if held:
        G = np.vstack([one.J for one in held])
        gap = np.zeros((len(G), loads.shape[1]))
        gap[:, 0] = -np.concatenate([one.w for one in held])
        S = solve_spd(dynamics.factor, np.ascontiguousarray(G.T))
        x = x + S @ np.linalg.lstsq(G @ S, gap - G @ x, rcond=1e-12)[0]
    return J @ x[:, 1:], J @ x[:, 0] + w


def _load(dynamics: LocalDynamics, rows: Sequence[ContactRows]) -> Array:
    given = [one.force for one in rows if one.force is not None]
    return np.asarray(dynamics.h + sum(given, np.zeros(dynamics.nv)))


def dynamics_problem(dynamics: LocalDynamics) -> ModalProblem:
    """Return the problem at a state with exact numbers: u = W r + q for all constraints that act.

    It is stated as a planar body where it is one, and else as blocks.

    Raises
    ------
    InputError
        See `contact_rows`; or a mass so ill-conditioned that rounding makes it singular.
    """
    rows = contact_rows(dynamics)
    acting = [one for one in rows if one.block is not None]
    body = _one_body(dynamics, rows, acting)
    if body is not None:
        return planar_body_problem(body)
    W, q = local_exactly(dynamics, rows, acting)
    document = {"W": [text(row) for row in W], "q": text(q), "blocks": [one.document for one in acting]}
    blocks = tuple(one.block for one in acting if one.block is not None)
    return ModalProblem(kind="blocks", W=W, q=q, blocks=blocks, primary=list(zip(W, q, strict=True)),
                        document=document, numbers=ROUNDED)  # fmt: skip


def _one_body(dynamics: LocalDynamics, rows: Sequence[ContactRows], acting: Sequence[ContactRows]) -> ExactBody | None:
    """Return the single body in the plane that the state is about, or None."""
    held = any(one.held for one in rows)
    if held or dynamics.level != "acceleration" or any(len(one.J) != 2 for one in acting):
        return None
    load = rounded(_load(dynamics, rows))
    J = rounded_rows(one.J for one in acting)
    return recognised(rounded(dynamics.M), J, load, _drifts(acting), [one.document for one in acting], ROUNDED)


def local_exactly(
    dynamics: LocalDynamics, rows: Sequence[ContactRows], acting: Sequence[ContactRows]
) -> tuple[Rows, list[Fraction]]:
    """Return W and q of u = W r + q from the rounded data."""
    held = [one for one in rows if one.held]
    J, B, G = (
        rounded_rows(one.J for one in acting),
        rounded_rows(one.B for one in acting),
        rounded_rows(one.J for one in held),
    )
    g = [-x for x in _drifts(held)]
    free, *columns = constrained_solve(rounded(dynamics.M), G, [rounded(_load(dynamics, rows)), *B], g)
    q = [dot(row, free) + x for row, x in zip(J, _drifts(acting), strict=True)]
    return [[dot(row, x) for x in columns] for row in J], q


def rounded_rows(parts: Iterable[Array]) -> Rows:
    """Return the rows of all parts, each part rounded on its own scale."""
    return [row for part in parts for row in rounded(part)]


def rounded(x: Array) -> list[Any]:
    """Return the entries as Fractions, rounded to a multiple of a power of two near 2^-36 of the largest."""
    top = float(np.abs(x).max(initial=0.0))
    unit = Fraction(2) ** (int(np.floor(np.log2(top))) - BITS) if top else Fraction(1)
    exact = [round(Fraction(float(value)) / unit) * unit for value in x.ravel()]
    width = x.shape[-1]
    return [exact[i : i + width] for i in range(0, len(exact), width)] if x.ndim == 2 else exact


def _drifts(rows: Sequence[ContactRows]) -> list[Fraction]:
    return [x for one in rows for x in _drift(one.w)]


def _drift(w: Array) -> list[Fraction]:
    """Return the drift rounded; what is below 1e-12 is rounding noise of a state at rest."""
    return [Fraction(0) if abs(x) < 1e-12 else x for x in rounded(w)]


def constrained_solve(M: Rows, G: Rows, loads: Sequence[Sequence[Fraction]], g: list[Fraction]) -> Rows:
    """Return x with M x = load + G^T lam, G x = g for the first load, G x = 0 for the others; redundant G dropped."""
    n, kept = len(M), _independent(G)
    size = n + len(kept)
    rows = [[*M[i], *(-G[k][i] for k in kept), *(load[i] for load in loads)] for i in range(n)]
    rows += [[*G[k], *[Fraction(0)] * len(kept), g[k], *[Fraction(0)] * (len(loads) - 1)] for k in kept]
    reduced, pivots = eliminate([integer_row(row)[0] for row in rows], size)
    if pivots != list(range(size)):
        raise InputError(
            "mass",
            "a singular matrix after rounding",
            "a mass of moderate condition",
            "Give every body a mass of the same order: mass=1.0.",
        )
    return [[Fraction(reduced[i][size + k], reduced[i][i]) for i in range(n)] for k in range(len(loads))]


def _independent(G: Rows) -> list[int]:
    """Return the bilateral rows that are independent in floating point, so that noise does not contradict itself."""
    kept: list[int] = []
    basis: list[Array] = []
    for k, row in enumerate(G):
        x = np.array([float(a) for a in row])
        size = np.linalg.norm(x)
        for b in [*basis, *basis]:
            x = x - (b @ x) * b
        if np.linalg.norm(x) > 1e-9 * size > 0:
            kept.append(k)
            basis.append(x / np.linalg.norm(x))
    return kept
