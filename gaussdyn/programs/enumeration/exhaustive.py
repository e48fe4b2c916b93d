"""The last word on small problems: all modes examined exactly, which ends in a solution or in a proof of none."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..laws.laws import Coulomb
from ..problems.complementarity import ComplementarityProblem, Problem
from ..proof.certificates import Certificate
from ..spatial.contact import SpatialContact, block_contact
from ..spatial.one_contact import motions
from .certificate import prove
from .enumerate import Enumeration, enumerate_modes
from .modal_problem import ModalProblem, modal_problem

LARGEST = 14  # rows
LIMIT = 5_000  # leaves of the tree of modes


def all_modes(
    problem: Problem, blocks: ComplementarityProblem, start: Array | None = None
) -> tuple[Array | None, Certificate | None]:
    """Return (reaction of a solution, None), (None, proof that there is none) or (None, None).

    Only blocks with linear modes are examined (one row, or planar), and only small problems; and one block in space,
    of whose solutions the one nearest to `start` is returned.
    """
    contact = block_contact(blocks)
    if contact is not None:
        return _in_space(contact, np.zeros(3) if start is None else start)
    if len(blocks.q) > LARGEST or not linear_modes(blocks):
        return None, None
    modal = modal_problem(problem)
    found = enumerate_modes(modal, limit=LIMIT)
    if not found.complete:
        return None, None
    r = _reaction(found, modal, blocks)
    return (r, None) if r is not None else (None, prove(found))


def _in_space(contact: SpatialContact, start: Array) -> tuple[Array | None, Certificate | None]:
    """Return the nearest reaction of a contact in space, or the proof that it has none."""
    found = motions(contact)
    r = [np.array([float(x) for x in one.reaction]) for one in found.motions]
    if r:
        return min(r, key=lambda one: float(np.linalg.norm(one - start))), None
    return None, None if found.undecided or found.continuum else found.certificate(contact, {})


def linear_modes(blocks: ComplementarityProblem) -> bool:
    """Return whether the modes of all blocks are linear: one row, or planar friction."""
    return all(law.size == 1 or (law.size == 2 and isinstance(law, Coulomb)) for law in blocks.table.laws)


def _reaction(found: Enumeration, modal: ModalProblem, blocks: ComplementarityProblem) -> Array | None:
    """Return the reaction of the first solution, rounded to doubles."""
    for leaf in found.leaves:
        if leaf.face is not None:
            firsts = [force for _, force in modal.offsets()]
            parts = [leaf.face.forces[f : f + law.size] for f, law in zip(firsts, blocks.table.laws, strict=True)]
            return np.array([float(x) for part in parts for x in part])
    return None
