"""From an enumeration to its certificate: leaves in the row order that docs/certificates.md fixes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from ...linalg.rational import Row, combinations, eliminate, integer_row, text
from ..proof.certificates import Certificate
from ..proof.exact_linear import ABOVE, AT_LEAST, EQUAL, feasible
from .enumerate import UNDECIDED, Enumeration, Leaf, System, letters
from .modal_problem import ModalProblem
from .modes import Block, Condition
from .polyhedra import Face

SPELT_OUT = 256  # up to so many modes every mode gets its own leaf, so that no * is needed

NOUNS = {"lcp": "z", "planar_body": "acceleration", "blocks": "motion"}


def prove(enumeration: Enumeration, provenance: Mapping[str, Any] | None = None) -> Certificate | None:
    """Return the certificate of a complete, certified enumeration; None otherwise."""
    if not (enumeration.complete and enumeration.certified and enumeration.problem.document):
        return None
    problem = enumeration.problem
    writer = _Writer(problem)
    leaves = [written for leaf in enumeration.leaves for written in writer.leaves(leaf)]
    leaves.sort(key=lambda leaf: str(leaf["mode"]))
    facts = {"numbers": problem.numbers, **(provenance or {})}
    return Certificate.of(problem.kind, problem.document, claim(enumeration), leaves, facts)


def claim(enumeration: Enumeration) -> str:
    """Return what the checker finds, in the same words."""
    noun, verdict = NOUNS[enumeration.problem.kind], enumeration.verdict
    said = {
        "NONE": "no mode has a solution",
        "UNIQUE": f"exactly one {noun} solves the problem",
        "MULTIPLE": f"exactly {enumeration.count} values of {noun} solve the problem",
        "CONTINUUM": f"the solutions fill a continuum of {noun}",
    }
    return f"{verdict}: {said[verdict]}"


class _Writer:
    """Writes the leaves of one problem."""

    def __init__(self, problem: ModalProblem) -> None:
        self.problem, self.system = problem, System(problem)
        self.spell = problem.size <= SPELT_OUT

    def leaves(self, leaf: Leaf) -> Iterator[dict[str, Any]]:
        """Yield the leaf, or one leaf per mode below it."""
        name = letters(self.problem, leaf.modes)
        if leaf.face is not None:
            yield {"mode": name, **self._solution(leaf)}
            return
        parts = self._split(leaf.modes, leaf.refutation or [])
        if not self.spell:
            yield {"mode": name, "refutation": self._ordered(leaf.modes, parts)}
            return
        open_to = [
            range(len(b.modes)) if m == UNDECIDED else (m,)
            for m, b in zip(leaf.modes, self.problem.blocks, strict=True)
        ]
        for modes in product(*open_to):
            moved = [
                translate(block, k, part) if m == UNDECIDED else part
                for block, m, k, part in zip(self.problem.blocks, leaf.modes, modes, parts, strict=True)
            ]
            yield {"mode": letters(self.problem, modes), "refutation": self._ordered(modes, moved)}

    def _split(self, modes: tuple[int, ...], lam: Sequence[Fraction | int]) -> list[tuple[Fraction, ...]]:
        """Return the multipliers of the block conditions, block by block, for the rows before scaling."""
        parts, at = [], 0
        for b, m in enumerate(modes):
            scales = self.system.scales[b][m]
            parts.append(tuple(x * s for x, s in zip(lam[at : at + len(scales)], scales, strict=True)))
            at += len(scales)
        return parts

    def _ordered(
        self, modes: tuple[int, ...], parts: Sequence[Sequence[Fraction]], beside: tuple[int, int] | None = None
    ) -> list[str]:
        """Return multipliers as (Newton's rows, equalities, inequalities, strict rows).

        With `beside` = (i, sign) a last strict row says that primary unknown i lies on that side of its value.
        """
        newtons = [Fraction(0)] * len(self.problem.q)
        by_kind: dict[int, list[Fraction]] = {EQUAL: [], AT_LEAST: [], ABOVE: []}
        for b, (m, part) in enumerate(zip(modes, parts, strict=True)):
            at_u, _ = self.problem.offsets()[b]
            for c, x in zip(self._conditions(b, m), part, strict=True):
                by_kind[c.kind].append(-x if c.kind == EQUAL else x)
                for i, a in enumerate(c.motion):
                    newtons[at_u + i] += a * x
        if beside is not None:
            by_kind[ABOVE].append(Fraction(1))
            if self.problem.kind != "lcp":  # the unknown is a motion, else a force
                newtons[beside[0]] += beside[1]
        row = newtons + by_kind[EQUAL] + by_kind[AT_LEAST] + by_kind[ABOVE]
        return text(integer_row(row)[0])

    def _conditions(self, block: int, mode: int) -> tuple[Condition, ...]:
        return self.problem.conditions(block, None if mode == UNDECIDED else mode)

    def _solution(self, leaf: Leaf) -> dict[str, Any]:
        """Return witness, rank, and what proves that the primary unknown is a point in the mode or that it is not."""
        face = leaf.face
        assert face is not None
        rows, kinds = self.system.gather(leaf.modes)
        equal = [row for row, kind in zip(rows, kinds, strict=True) if kind == EQUAL]
        rank = len(self.problem.q) + len(eliminate(equal, self.system.n)[1])
        written: dict[str, Any] = {"witness": self._variables(face.forces), "rank": rank}
        if face.step is None:
            written["single"] = self._single(leaf.modes, face, rows, kinds)
        else:
            end = self._variables([a + b for a, b in zip(face.forces, face.step, strict=True)])
            written["ray"] = text(Fraction(b) - Fraction(a) for a, b in zip(written["witness"], end, strict=True))
        return written

    def _single(self, modes: tuple[int, ...], face: Face, rows: Sequence[Row], kinds: Sequence[int]) -> list[list[str]]:
        """Return for every primary unknown, above and below its value, the multipliers that refute it there.

        The unknown is a combination of the equalities, and of the inequalities that hold with equality in the whole
        mode; enough of what implies the latter makes their multipliers positive.
        """
        implied = face.implied or [0] * len(rows)
        fixed = [i for i, kind in enumerate(kinds) if kind == EQUAL or (kind == AT_LEAST and implied[i])]
        unknowns = [row for row, _ in self.problem.primary] if self.problem.kind == "lcp" else self.problem.W
        found = combinations([rows[i][:-1] for i in fixed], unknowns)
        written = []
        for unknown, factors in enumerate(found):
            for sign in (1, -1):
                lam = [Fraction(0)] * len(rows)
                for i, x in zip(fixed, factors, strict=True):
                    lam[i] = -sign * x
                lam = _raised(lam, implied, kinds)
                written.append(self._ordered(modes, self._split(modes, lam), (unknown, sign)))
        return written

    def _variables(self, forces: Sequence[Fraction]) -> list[str]:
        """Return all variables in the order of the certificate: z, w of an LCP; else u, f."""
        u = self.problem.motion(forces)
        return text([*forces, *u] if self.problem.kind == "lcp" else [*u, *forces])


def translate(block: Block, mode: int, part: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Turn multipliers of the shared conditions into multipliers of the conditions of one mode."""
    weights = _weights(block, mode)
    count = len(block.modes[mode].conditions)
    return tuple(sum((x * row[i] for x, row in zip(part, weights, strict=True)), Fraction(0)) for i in range(count))


@lru_cache(maxsize=4096)
def _weights(block: Block, mode: int) -> tuple[tuple[Fraction, ...], ...]:
    """Return every shared condition as a combination of the conditions of a mode (>= 0 on its inequalities)."""
    conditions = block.modes[mode].conditions
    count = len(conditions)
    found = []
    for shared in block.shared:
        columns = [c.motion + c.force for c in conditions]
        rows = [[*(c[i] for c in columns), target] for i, target in enumerate(shared.motion + shared.force)]
        whole = [integer_row(row)[0] for row in rows] + [integer_row([*(c.bound for c in conditions), shared.bound])[0]]
        free = shared.kind == EQUAL
        kinds = [EQUAL] * len(rows) + [EQUAL if free else AT_LEAST]
        for i, c in enumerate(conditions):
            if c.kind != EQUAL:
                whole.append([int(i == j) for j in range(count)] + [0])
                kinds.append(EQUAL if free else AT_LEAST)
        point = feasible(whole, kinds, count).point
        assert point is not None, "a shared condition must follow from every mode"
        found.append(tuple(point))
    return tuple(found)


def _raised(lam: list[Fraction], implied: Sequence[Fraction | int], kinds: Sequence[int]) -> list[Fraction]:
    """Return multipliers with so much of those that imply equality added that none of an inequality is negative."""
    pairs = [(x, y) for x, y, kind in zip(lam, implied, kinds, strict=True) if kind == AT_LEAST and y]
    enough = max((-x / y for x, y in pairs), default=Fraction(0))
    return [x + max(enough, Fraction(0)) * y for x, y in zip(lam, implied, strict=True)]
