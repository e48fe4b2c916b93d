"""A planar system as tables for the kernels, joints included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....arrays import Array
from ....mechanics.contact_law import ContactLaw
from ....mechanics.planar import tables
from ....mechanics.planar.row_kernels import DRY, KIND, A, B
from ....mechanics.planar.spec import Constraint
from ....mechanics.planar.system import PlanarSystem
from .records import Planar, Touches


def serves(system: PlanarSystem) -> bool:
    """Return whether there are tables for all parts of a system."""
    return tables.serves(system) and not listed(system)


def listed(system: PlanarSystem) -> bool:
    """Return whether the contacts of its shapes have been found, for all states to come."""
    return system.detector is not None and system.listed_contacts is not None


def planar_of(
    system: PlanarSystem, contacts: Sequence[Constraint], law: Array, room: int, dampers: Sequence[tables.Entry]
) -> Planar:  # fmt: skip
    """Return the tables of a system with these contacts and rows of dampers, whose constraints have the laws (n, 6).

    room: for so many contacts of shapes more.
    """
    made = tables.tables_with(system, contacts, room + 1 if room else 0, dampers)
    n, nv = len(made.numbers), system.nv
    return Planar(
        made.numbers, made.data, made.parts, made.factors, made.forces, made.strength, made.bodies,
        np.zeros((2 * n, nv)), np.zeros((n, 7)), np.zeros(2 * nv), np.vstack([law, np.zeros((room, 6))]), made.beside,
    )  # fmt: skip


def moved(planar: Planar) -> list[tuple[int, ...]]:
    """Return the velocities on which each entry of the tables depends, those of second coordinates with the first."""
    own = []
    for numbers in planar.numbers.tolist():
        sides = (A,) if numbers[KIND] == DRY else (A, B)
        own.append({numbers[side] + j for side in sides if numbers[side] >= 0 for j in range(2 + numbers[side + 1])})
    for entry, other, _gap in planar.parts.tolist():
        own[entry] |= own[other] if other >= 0 else set()
    return [tuple(one) for one in own]


def touches_of(system: PlanarSystem, room: int) -> Touches:
    """Return the shapes of a system, with room for some contacts; those given one by one are left out."""
    detector = system.detector
    assert detector is not None
    off = detector.labels({contact.id for contact in system.contacts})
    laws = np.array([_law_columns(law) for law in detector.laws])
    found, ahead, late = (np.zeros((room, 4), dtype=np.int64) for _ in range(3))
    pull, missed = np.array([np.hypot(*system.gravity)]), np.zeros(1, dtype=np.int64)
    return Touches(detector.outlines(off), laws, found, ahead, pull, late, missed)


def _law_columns(law: ContactLaw) -> list[float]:
    """Return mu, mu_s, cap, mu_r, eps_n, eps_t and the number of rows."""
    size = 2.0 if law.mu_s > 0.0 or law.eps_t != 0.0 else 1.0
    return [law.mu, law.mu_s, 0.0, 0.0, law.eps_n, law.eps_t, size]
