"""Certificates of two contacts in space at rest: the trees of boxes and the proof about rest that a checker follows.

Polynomials, boxes and tests are those of the stand-alone `checker_spatial_several`; here is only the search.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from ... import checker_spatial_several as checker
from ...linalg.rational import integer_row, null_space, text
from ..proof.certificates import Certificate
from ..proof.exact_linear import EQUAL, feasible
from .several_contacts import SIDES, Mode, SpatialContacts

LARGEST = 4000  # boxes
DEEPEST = 80  # splits
EARLY, LATE = "a0123c", "km"  # symbols of leaves; Krawczyk's operator is asked in small boxes only
SMALL = 4  # splits


def spatial_certificate(contacts: SpatialContacts, provenance: Mapping[str, Any]) -> Certificate | None:
    """Return the proof of how many motions two contacts have; None if they are degenerate or it is too large."""
    rest = _rest(contacts)
    if rest is None:
        return None
    columns = [integer_row(column)[0] for column in (*zip(*contacts.W, strict=True), contacts.q)]
    coupling = next(iter(null_space(columns, 6)), [Fraction(0)] * 6)  # y.u = 0 whatever the reactions
    try:
        slips = {"mode": "++", "boxes": _trees(contacts, coupling), "coupling": text(coupling)}
        leaves = [{"mode": "SS", **rest}, slips]
        names = ("q", "mu", "mu_s")
        problem = {"W": [text(row) for row in contacts.W], **{name: text(getattr(contacts, name)) for name in names}}
        claim = checker.contacts(problem, leaves, [""])
    except ValueError:
        return None
    return Certificate.of("spatial_contacts", problem, claim, leaves, provenance)


def _rest(contacts: SpatialContacts) -> dict[str, list[str]] | None:
    """Return a reaction of rest, or its refutation; None near the limit of friction."""
    mode = Mode(contacts, "SS")
    for sides in SIDES:
        rows, kinds, n = mode.program(sides, outside=True)
        refuted = feasible([row for row, _ in rows], kinds, n).multipliers
        if refuted is not None:
            lam = [x * scale for x, (_, scale), kind in zip(refuted, rows, kinds, strict=True) if kind == EQUAL]
            return {"refutation": text([-x for x in lam])}
        rows, kinds, n = mode.program(sides, outside=False)
        point = feasible([row for row, _ in rows], kinds, n).point
        if point is not None:
            return {"witness": text(point)}
    return None


def _trees(contacts: SpatialContacts, coupling: list[Fraction]) -> list[str]:
    """Return the trees of the four charts; raise ValueError where they are too large."""
    left = [LARGEST]

    def tree(box: Any, depth: int) -> list[str]:
        """Return the symbols of a box and of its halves below it."""
        left[0] -= 1
        if left[0] < 0 or depth > DEEPEST:
            raise ValueError("too many boxes")
        tests = EARLY + LATE if depth >= SMALL else EARLY
        symbol = next((x for x in tests if checker.done(box, x)), "")
        if symbol:
            return [symbol]
        axis = depth % 2
        return ["xy"[axis], *(x for half in checker.halves(box, axis) for x in tree(half, depth + 1))]

    data = (contacts.W, contacts.q, contacts.mu, coupling)
    return ["".join(tree(checker.polynomials(*data, signs), 0)) for signs in product((1, -1), repeat=2)]
