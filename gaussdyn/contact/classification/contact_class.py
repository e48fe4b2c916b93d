"""The class of a contact: its dimension, whether friction acts back on its normal force, whether it can open.

Source: Ivanov (2009), Bifurcations in systems with friction, section 2. Where the normal forces do not depend on
friction (an associated contact: a ball or a wheel on a surface, a thin plate), Gauss's principle makes the acceleration
unique with mu_s = mu. Everything strange about Coulomb friction happens at contacts that are not associated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ...arrays import Array
from ...linalg.factor import solve_spd
from ...linalg.rational import dot, eliminate, integer_row
from ...mechanics.rows import Row
from ..outcome.modal_data import constrained_solve, rounded, rounded_rows
from ..snapshot import LocalDynamics, check_dynamics

CONTACTS = ("unilateral", "contact", "bilateral_contact")
EXACT = 8  # contacts and joint rows up to which rational arithmetic is quick
NOISE = 1e-9  # N per N of friction: what rounding of the data can fake


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactClass:
    """The class of one contact.

    Attributes
    ----------
    id : str
    dimension : int
        Of the set of possible reactions: 1 without friction, 2 along a line of slip, 3 in any direction.
    associated : bool
        Whether its normal force does not depend on the friction of any contact that acts.
    coupling : float
        Largest change of its normal force per change of a friction force, all normal motions held, N/N.
    depends_on : tuple of str
        The contacts whose friction changes its normal force.
    detachable : bool
        Whether it can open.
    closed : bool
        Whether its gap is closed; an open contact is classed as if it closed with those that are.
    gap : float
        m.
    mu, mu_s : float
    proof : str
        exact: the dependence was computed in rational arithmetic from data rounded as for outcomes, and it is zero, or
        above 1e-9; numerical otherwise.
    """

    id: str
    dimension: int
    associated: bool
    coupling: float
    depends_on: tuple[str, ...]
    detachable: bool
    closed: bool
    gap: float
    mu: float
    mu_s: float
    proof: str


def contact_classes(dynamics: LocalDynamics) -> tuple[ContactClass, ...]:
    """Return the class of every contact of a system at a state, open ones included, in the order of the rows.

    Joints hold while a contact is classed; friction under a given load (kind dry) has no normal force and is left out.

    Parameters
    ----------
    dynamics : LocalDynamics

    Raises
    ------
    InputError
        `dynamics` is no snapshot.
    """
    check_dynamics(dynamics)
    held = [row for row in dynamics.rows if row.kind == "bilateral" and row.level != "acceleration"]
    contacts = [row for row in dynamics.rows if row.kind in CONTACTS and row.level == "position"]
    closed = [row for row in contacts if row.kind == "bilateral_contact" or dynamics.activation.touches(row)]
    known = dict(zip([row.id for row in closed], _classes(dynamics, held, closed), strict=True))
    for row in contacts:
        if row.id not in known:
            known[row.id] = replace(_classes(dynamics, held, [*closed, row])[-1], closed=False)
    return tuple(known[row.id] for row in contacts)


def dimension(row: Row) -> int:
    """Return the dimension of the set of possible reactions of a contact."""
    rough = row.kind != "unilateral" and row.mu_s > 0.0
    return min(row.size, 3) if rough else 1


def _classes(dynamics: LocalDynamics, held: Sequence[Row], contacts: Sequence[Row]) -> list[ContactClass]:
    """Return the classes of contacts that act together."""
    sizes = [dimension(row) - 1 for row in contacts]
    exact = len(contacts) + sum(row.size for row in held) <= EXACT
    gains = _exactly(dynamics, held, contacts, sizes) if exact else None
    Z, sure = (_doubles(dynamics, held, contacts, sizes), False) if gains is None else (gains, True)
    ends = np.cumsum([0, *sizes])
    parts = [
        {row.id: float(np.linalg.norm(z[a:b])) for row, (a, b) in zip(contacts, pairwise(ends), strict=True)} for z in Z
    ]
    return [_class(row, by, sure) for row, by in zip(contacts, parts, strict=True)]


def _class(row: Row, by: Mapping[str, float], sure: bool) -> ContactClass:
    """Return the class of a contact, from how much the friction of each contact, by id, moves its normal row."""
    coupling, rough = max(by.values(), default=0.0), dimension(row) > 1
    return ContactClass(
        id=row.id,
        dimension=dimension(row),
        associated=coupling <= NOISE,
        coupling=coupling,
        depends_on=tuple(id for id, x in by.items() if x > NOISE),
        detachable=row.kind != "bilateral_contact",
        closed=True,
        gap=row.gap,
        mu=row.mu if rough else 0.0,
        mu_s=row.mu_s if rough else 0.0,
        proof="exact" if sure and (coupling == 0.0 or coupling > NOISE) else "numerical",
    )


def _directions(contacts: Sequence[Row], sizes: Sequence[int]) -> tuple[list[Array], list[Array]]:
    """Return the normal rows, and the tangential rows of those with friction."""
    normal = [row.J[:1] for row in contacts]
    return normal, [row.J[1 : 1 + n] for row, n in zip(contacts, sizes, strict=True) if n]


def _doubles(dynamics: LocalDynamics, held: Sequence[Row], contacts: Sequence[Row], sizes: Sequence[int]) -> Array:
    """Return -dN/dT, shape (contacts, friction forces), in doubles; the least one where contacts are redundant."""
    normal, tangential = _directions(contacts, sizes)
    empty = np.zeros((0, dynamics.nv))
    G = np.vstack([empty, *(row.J for row in held), *normal])
    T = np.vstack([empty, *tangential])
    if not len(contacts) or not len(T):
        return np.zeros((len(contacts), len(T)))
    X = solve_spd(dynamics.factor, np.ascontiguousarray(np.vstack([G, T]).T))
    W = G @ X
    Z, *_ = np.linalg.lstsq(W[:, : len(G)], W[:, len(G) :], rcond=1e-12)
    return np.asarray(Z[len(G) - len(contacts) :])


def _exactly(
    dynamics: LocalDynamics, held: Sequence[Row], contacts: Sequence[Row], sizes: Sequence[int]
) -> Array | None:
    """Return the same from rounded data in rational arithmetic, None where contacts are redundant."""
    normal, tangential = _directions(contacts, sizes)
    N, T, G = (rounded_rows(parts) for parts in (normal, tangential, [row.J for row in held]))
    if not N or not T:
        return np.zeros((len(N), len(T)))
    zero = [Fraction(0)] * len(G)
    columns = constrained_solve(rounded(dynamics.M), G, [*N, *T], zero)
    n = len(N)
    W = [[dot(row, x) for x in columns] for row in N]
    if np.linalg.matrix_rank(np.array(W, dtype=float)[:, :n], rtol=NOISE, hermitian=True) < n:
        return None
    rows = [integer_row(row)[0] for row in W]
    reduced, pivots = eliminate(rows, n)
    if pivots != list(range(n)):
        return None
    return np.array([[float(Fraction(reduced[i][n + j], reduced[i][i])) for j in range(len(T))] for i in range(n)])
