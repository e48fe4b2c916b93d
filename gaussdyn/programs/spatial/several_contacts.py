"""All motions of two to four contacts in space: every contact detaches (D), sticks (S) or slips (+).

A tree cuts the contacts into their modes and the directions of slips into sectors, in which the laws lie between linear
conditions on the reactions: where a linear program finds multipliers that contradict them, nothing is there. Small
sectors hold one motion or none by Krawczyk's operator; rest is decided by exact algebra. Conditions, splits and tests
are those of the stand-alone `checker_spatial_several`; here is only the search, and what it finds is the certificate.
The list is complete if `left` is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ... import checker_slips as slips
from ... import checker_spatial_several as checker
from ...arrays import Array
from ...linalg.rational import dot, eliminate, integer_row, rational, text
from ..proof.certificates import Certificate
from .sectors import Known, Sectors, State
from .slip_curves import curve, dependent

MOST = 4  # contacts
NODES = 1500  # of the tree
SMALL = Fraction(1, 8)  # half-angle tangents: of sectors in which roots are looked for
SMALLEST = Fraction(1, 2**14)
REFINED = 6  # times: the error is squared
SIDES = (checker.SIDES, 64, 256)  # of polygons around friction cones of contacts at rest, one after the other

Vector = tuple[Fraction, ...]
Rows = Sequence[Sequence[Fraction]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpatialContacts:
    """u = W r + q of several contacts in space at rest, rows (n, t1, t2) each, with exact numbers.

    `numbers` says how they come from doubles.
    """

    W: Rows
    q: Vector
    mu: Vector
    mu_s: Vector
    numbers: str = "rational"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralMotion:
    """One motion.

    Attributes
    ----------
    modes : str
        One letter per contact.
    motion, reaction : tuple of float, length 3 n
        u and one r.
    radius : float
        Bound of the error of the half-angle tangents of slip; 0 where nothing slips.
    forces_unique : bool
    """

    modes: str
    motion: tuple[float, ...]
    reaction: tuple[float, ...]
    radius: float = 0.0
    forces_unique: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralMotions:
    """Motions, and what is left undecided: (modes, why).

    Attributes
    ----------
    motions : tuple of SeveralMotion
    left : tuple of (str, str)
    nodes : int
        Nodes of the tree.
    leaves : list of dict
        Its leaves as the certificate has them.
    curve : bool
        Whether there is a continuum of motions, of which `motions` has one, whatever else there is.
    """

    motions: tuple[SeveralMotion, ...]
    left: tuple[tuple[str, str], ...]
    nodes: int
    leaves: list[dict[str, Any]]
    curve: bool = False


def several_motions(contacts: SpatialContacts, *, nodes: int = NODES) -> SeveralMotions:
    """Return all motions of up to four contacts; `nodes` bounds the tree."""
    search = Search(Known((contacts.W, contacts.q, contacts.mu, contacts.mu_s)), nodes)
    try:
        search.visit(["*"] * len(contacts.mu), 0)
    except Curve as found:
        leaf, motion = found.args
        return SeveralMotions(motions=(motion,), left=(), nodes=search.nodes, leaves=[leaf], curve=True)
    return SeveralMotions(
        motions=tuple(search.motions), left=tuple(search.left.items()), nodes=search.nodes, leaves=search.leaves
    )


class Curve(Exception):
    """A continuum of motions was found: its leaf and one of the motions."""


@dataclass(slots=True, eq=False)
class Search:
    """The tree in the making."""

    known: Known
    most: int
    nodes: int = 0
    motions: list[SeveralMotion] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    leaves: list[dict[str, Any]] = field(default_factory=list)
    redundant: dict[tuple[int, ...], int | None] = field(default_factory=dict)

    def visit(self, states: list[State], depth: int) -> None:
        """Decide a node, or those below it."""
        modes = checker.letters(states)
        self.nodes += 1
        if self.nodes > self.most:
            self.left.setdefault(modes, f"more than {self.most} sectors")
            return
        program = Sectors(self.known, states)
        leaf: dict[str, Any] = {"mode": modes, "depth": depth}
        if proof := program.refutation():
            self.leaves.append({**leaf, **proof})
        elif "+" not in modes and "*" not in modes:
            self._rest(states, leaf, program)
        elif "*" in modes or not self._slips(states, leaf, program):
            for child in checker.split(states):
                self.visit(child, depth + 1)

    def _rest(self, states: list[State], leaf: dict[str, Any], program: Sectors) -> None:
        """Decide about sticking and detaching: by the equations, or amid the polygons around friction cones."""
        held, modes = checker.held_rows(states), leaf["mode"]
        found = checker.resting(self.known.data, states, held, [])
        if found is not slips.UNPROVED:
            self._count(leaf, self._reactions(held) if found else None, unique=True)
            return
        for sides in SIDES:
            if sides != program.sides:
                program = Sectors(self.known, states, sides)
                if proof := program.refutation():
                    self.leaves.append({**leaf, **proof, "sides": sides})
                    return
            witness = self._reactions(held, program.amid())
            if witness is not None and checker.resting(self.known.data, states, held, witness):
                self._count({**leaf, "witness": text(witness)}, witness, unique=False)
                return
        self.left[modes] = "rest near the limit of friction, or on the border of its mode"

    def _count(self, leaf: dict[str, Any], r: list[Fraction] | None, *, unique: bool) -> None:
        """Keep a leaf, and its motion if it has one, by its reactions."""
        self.leaves.append(leaf)
        if r is not None:
            W, q, *_ = self.known.data
            u = [dot(row, r) + end for row, end in zip(W, q, strict=True)]
            self.motions.append(_motion(leaf["mode"], u, r, unique=unique))

    def _reactions(self, held: list[int], near: Array | None = None) -> list[Fraction] | None:
        """Return exact reactions (near others) for which the held rows are zero; None if there are none."""
        (W, q, *_), n = self.known.data, len(held)
        known = np.zeros(len(q)) if near is None else near
        order = sorted(range(n), key=lambda k: -abs(known[held[k]]))
        rows = [integer_row([*(W[i][held[k]] for k in order), -q[i]])[0] for i in held]
        reduced, pivots = eliminate(rows, n + 1)
        if n in pivots:
            return None
        x = [Fraction(0) if k in pivots else rational(float(known[held[order[k]]])) for k in range(n)]
        for row, j in zip(reduced, pivots, strict=True):
            x[j] = (row[-1] - dot(row, x)) / row[j]
        r = [Fraction(0)] * len(q)
        for k, value in zip(order, x, strict=True):
            r[held[k]] = value
        return r

    def _slips(self, states: list[State], leaf: dict[str, Any], program: Sectors) -> bool:
        """Decide about a small sector; False if it must be split."""
        width = max(b - a for _, a, b in (x for x in states if not isinstance(x, str)))
        if width > SMALL:
            return False
        mode = slips.Slips(self.known.data, states, checker.held_rows(states))
        found, box = slips.enclosed(mode)
        if found is not slips.UNPROVED:
            self.leaves.append(leaf)
            if found:
                self.motions.append(_slip(leaf["mode"], mode, _refined(mode, box)))
            return True
        self._curve(states, mode, program)
        if width <= SMALLEST:
            self.left[leaf["mode"]] = "a slip on the border of its mode, or several that meet"
            return True
        return False

    def _curve(self, states: list[State], mode: slips.Slips, program: Sectors) -> None:
        """Raise Curve if the normal reactions of slipping contacts are free, and the motion changes with them."""
        held = tuple(mode.held)
        if held not in self.redundant:
            self.redundant[held] = dependent(self.known.data, held)
        if (dropped := self.redundant[held]) is None:
            return
        found = curve(self.known.data, states, dropped, program.amid())
        if found is not None:
            leaf, fewer, x = found
            raise Curve(leaf, _slip(leaf["mode"], fewer, x, unique=False))


def several_certificate(
    contacts: SpatialContacts, found: SeveralMotions, provenance: Mapping[str, Any]
) -> Certificate | None:
    """Return the proof of how many motions there are; None where that is not decided, or there is no friction."""
    if found.left or min(contacts.mu) <= 0:
        return None
    problem: dict[str, Any] = {name: text(getattr(contacts, name)) for name in ("q", "mu", "mu_s")}
    problem["W"] = [text(row) for row in contacts.W]
    claim = checker.CONTINUUM if found.curve else checker.claim(len(found.motions))
    return Certificate.of("spatial_contacts", problem, claim, found.leaves, {"numbers": contacts.numbers, **provenance})


def _refined(mode: slips.Slips, box: Any) -> Any:
    """Return a smaller box around the root of a box that holds one."""
    for _ in range(REFINED):
        box = [p.cut(x) for p, x in zip(mode.krawczyk(box) or box, box, strict=True)]
    return box


def _slip(modes: str, mode: slips.Slips, box: Any, *, unique: bool = True) -> SeveralMotion:
    middle = [x.middle() for x in box]
    known, moved = mode.reactions(middle), mode.motion(middle)
    r = [known[i].lo / slips.UNIT if i in known else 0.0 for i in range(len(mode.q))]
    u = [0.0 if i in mode.held else x.lo / slips.UNIT for i, x in enumerate(moved)]
    radius = max(x.hi - x.lo for x in box[mode.linear :]) / slips.UNIT
    return _motion(modes, u, r, unique=unique, radius=radius)


def _motion(modes: str, u: Sequence[Any], r: Sequence[Any], *, unique: bool, radius: float = 0.0) -> SeveralMotion:
    return SeveralMotion(
        modes=modes, motion=tuple(map(float, u)), reaction=tuple(map(float, r)), radius=radius, forces_unique=unique
    )
