"""All solutions of a problem of blocks: every mode is either solved or refuted.

The modes form a tree. A compiled search cuts it with linear relaxations (floating point, fast); every cut is then
proved with exact arithmetic, and where the rounded proof fails an exact simplex decides. So the answer is complete
and exact for the data as given; without `certify` only the solutions are exact, and the cuts are trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ..._show import brief
from ...arrays import Array, IntArray
from ...linalg.rational import Row, integer_row
from ..proof.exact_linear import feasible, prove_empty
from .counting import TOLERANCE
from .hulls import Hull, components
from .modal_problem import ModalProblem
from .modes import Condition
from .polyhedra import Face, face

UNDECIDED = -1
LIMIT = 20_000
LARGEST = 160  # forces


class SearchTooLarge(Exception):
    """A search without a partial answer reached its limit, or that of doubles."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A mode, or a subtree of modes, with its solutions or the proof that it has none.

    Attributes
    ----------
    modes : tuple of int
        Mode of every block, -1 where it is left open.
    refutation : list of int or None
        One multiplier per row of the leaf's system (see `System`), if there is no solution and it was proved.
    face : Face or None
        The solutions.
    """

    modes: tuple[int, ...]
    refutation: Row | None = None
    face: Face | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """Solutions that hang together in the primary unknown.

    Attributes
    ----------
    modes : tuple of str
        Letters of its modes.
    hulls : tuple of Hull
        One per mode.
    forces_unique : bool
        Whether one set of forces belongs to it only.
    """

    modes: tuple[str, ...]
    hulls: tuple[Hull, ...]
    forces_unique: bool

    @property
    def point(self) -> tuple[Fraction, ...] | None:
        """The only value of the primary unknown, or None if there are many."""
        return self.hulls[0].vertices[0] if all(hull.is_point for hull in self.hulls) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumeration:
    """The complete solution set, or the reason why it is not known.

    Attributes
    ----------
    complete : bool
        Whether every mode was examined.
    certified : bool
        Whether every cut is proved in exact arithmetic.
    leaves : tuple of Leaf
    components : tuple of Component
        Empty unless complete.
    systems : int
        Linear systems decided.
    reason : str
        What stopped the search, if it is not complete.
    """

    problem: ModalProblem
    complete: bool
    certified: bool
    leaves: tuple[Leaf, ...] = ()
    components: tuple[Component, ...] = ()
    systems: int = 0
    reason: str = ""

    __repr__ = brief

    @property
    def verdict(self) -> str:
        """UNIQUE, MULTIPLE, CONTINUUM, NONE or UNDECIDED, about the primary unknown."""
        if not self.complete:
            return "UNDECIDED"
        if any(component.point is None for component in self.components):
            return "CONTINUUM"
        return ("NONE", "UNIQUE")[len(self.components)] if len(self.components) < 2 else "MULTIPLE"

    @property
    def count(self) -> int | None:
        """Number of components (of points, if all are points); None if not known."""
        return len(self.components) if self.complete else None


def enumerate_modes(problem: ModalProblem, *, certify: bool = True, limit: int = LIMIT) -> Enumeration:
    """Find all solutions.

    Parameters
    ----------
    problem : ModalProblem
    certify : bool
        Prove every cut in exact arithmetic.
    limit : int
        Largest number of leaves and of linear systems per leaf; beyond it the answer is UNDECIDED.
    """
    if problem.forces > LARGEST:
        return Enumeration(problem=problem, complete=False, certified=certify, reason=_too_large(problem, limit))
    system = System(problem)
    try:
        found, search = [], _Search(system, limit)
    except SearchTooLarge as error:
        return Enumeration(problem=problem, complete=False, certified=certify, reason=str(error))
    if not problem.blocks or search.root_is_empty():
        whole = system.settle((UNDECIDED,) * len(problem.blocks))
        found, search.depth = ([] if whole is None else [whole]), (0 if whole is not None else 1)
    if search.depth:
        for modes, alive, lam in search.leaves():
            leaf = system.leaf(modes, alive, lam, certify)
            if leaf is None:
                search.reopen(modes)
            else:
                found.append(leaf)
    bare = Enumeration(problem=problem, complete=False, certified=certify, systems=search.systems)
    if search.exhausted:
        return replace(bare, reason=_too_large(problem, limit))
    return replace(bare, complete=True, leaves=tuple(found), components=components_of(problem, found))


def _too_large(problem: ModalProblem, limit: int) -> str:
    blocks, size = (
        len(problem.blocks),
        f"{float(min(problem.size, 10**300)):.3g}" if problem.size > 10**9 else problem.size,
    )
    if problem.forces > LARGEST:
        return f"{blocks} blocks with {size} modes: problems with more than {LARGEST} unknown forces are not enumerated"
    return f"{blocks} blocks with {size} modes: more than {limit} leaves are needed; raise the limit or remove contacts"


def find_solution(problem: ModalProblem, limit: int = LIMIT) -> tuple[str, Face] | None:
    """Return the letters of a mode with its solutions, the first that is met; None if there is none, as is proved.

    Raises
    ------
    SearchTooLarge
        If the limit is reached first.
    """
    system = System(problem)
    search = _Search(system, limit)
    for modes, alive, lam in search.leaves():
        leaf = system.leaf(modes, alive, lam, True)
        if leaf is None:
            search.reopen(modes)
        elif leaf.face is not None:
            return letters(problem, leaf.modes), leaf.face
    if search.exhausted:
        raise SearchTooLarge(f"{problem.size} modes: more than {limit} leaves are needed")
    return None


def letters(problem: ModalProblem, modes: tuple[int, ...]) -> str:
    """Return the mode letters of all blocks, * where open."""
    return "".join(
        "*" if m == UNDECIDED else block.modes[m].letter for m, block in zip(modes, problem.blocks, strict=True)
    )


def components_of(problem: ModalProblem, leaves: Sequence[Leaf]) -> tuple[Component, ...]:
    """Group the solutions of the leaves by the primary unknown."""
    solved = sorted((leaf for leaf in leaves if leaf.face is not None), key=lambda leaf: leaf.modes)
    faces = [leaf.face for leaf in solved if leaf.face is not None]
    made = []
    for group in components([f.hull for f in faces]):
        names = tuple(letters(problem, solved[i].modes) for i in group)
        unique = all(faces[i].forces_unique for i in group) and len({tuple(faces[i].forces) for i in group}) == 1
        made.append(Component(names, tuple(faces[i].hull for i in group), unique))
    return tuple(made)


class System:
    """The linear systems of all modes over the forces f alone (u = W f + q put in), exact and in floating point.

    Rows stand block by block, within a block in the order of its conditions; side conditions come last.
    """

    def __init__(self, problem: ModalProblem) -> None:
        self.problem, self.n = problem, problem.forces
        self.rows: list[list[list[Row]]] = []  # [block][mode, last: shared] -> integer rows [A | b]
        self.kinds: list[list[list[int]]] = []
        self.scales: list[list[list[Fraction]]] = []  # integers = scale * row
        for block, at in zip(problem.blocks, problem.offsets(), strict=True):
            made = [[integer_row(self._row(c, *at)) for c in conditions] for conditions in block.options]
            self.rows.append([[row for row, _ in one] for one in made])
            self.kinds.append([[c.kind for c in conditions] for conditions in block.options])
            self.scales.append([[scale for _, scale in one] for one in made])
        side = [integer_row([*row, bound])[0] for _, row, bound in problem.side]
        self.side = side, [kind for kind, _, _ in problem.side]

    def _row(self, c: Condition, at_u: int, at_f: int) -> list[Fraction]:
        """Return the condition as a row [A | b] over f."""
        row, end = [Fraction(0)] * self.n, c.bound
        for i, a in enumerate(c.motion):
            if a:
                source = self.problem.W[at_u + i]
                row = [x + y if a == 1 else x + a * y for x, y in zip(row, source, strict=True)] if any(row) else [
                    a * y for y in source]  # fmt: skip
                end -= a * self.problem.q[at_u + i]
        for i, a in enumerate(c.force):
            row[at_f + i] += a
        return [*row, end]

    def gather(self, modes: tuple[int, ...]) -> tuple[list[Row], list[int]]:
        """Return the integer rows and kinds of a (partial) mode; -1 picks the shared rows, which stand last."""
        rows = [row for b, m in enumerate(modes) for row in self.rows[b][m]] + self.side[0]
        return rows, [kind for b, m in enumerate(modes) for kind in self.kinds[b][m]] + self.side[1]

    def settle(self, modes: tuple[int, ...]) -> Leaf | None:
        """Return the leaf if the (partial) mode alone decides: refuted, or nothing left open."""
        rows, kinds = self.gather(modes)
        if UNDECIDED in modes:
            proof = feasible(rows, kinds, self.n).multipliers
            return None if proof is None else Leaf(modes, proof)
        found = face(rows, kinds, self.n, self.problem.primary)
        return Leaf(modes, face=found) if isinstance(found, Face) else Leaf(modes, found)

    def leaf(self, modes: tuple[int, ...], alive: bool, lam: Array, certify: bool) -> Leaf | None:
        """Turn what the search believes into a proved leaf; None if an open subtree was cut wrongly."""
        if not alive:
            if not certify:
                return Leaf(modes)
            rows, kinds = self.gather(modes)
            proof = prove_empty(rows, kinds, lam[: len(rows)])
            if proof is not None:
                return Leaf(modes, proof)
        return self.settle(modes)

    def table(self) -> tuple[Array, IntArray, IntArray, IntArray]:
        """Return the table of the search: rows divided by their largest |A|, b by a common scale."""
        blocks = [*zip(self.rows, self.kinds, strict=True), ([self.side[0]], [self.side[1]])]
        widest = max(len(rows) for rows, _ in blocks)
        start = np.zeros((len(blocks), widest + 1), dtype=np.int64)
        flat: list[Row] = []
        kinds: list[int] = []
        for b, (options, option_kinds) in enumerate(blocks):
            for o in range(widest):
                start[b, o] = len(flat)
                if o < len(options):
                    flat += options[o]
                    kinds += option_kinds[o]
            start[b, widest] = len(flat)
        A = np.array([_unit(row) for row in flat]).reshape(len(flat), self.n + 1)
        top = np.abs(A[:, self.n]).max(initial=0.0)
        A[:, self.n] /= top or 1.0
        counts = [len(block.modes) for block in self.problem.blocks] + [1]
        return A, np.array(kinds, dtype=np.int64), start, np.array(counts, dtype=np.int64)


def _unit(row: Row) -> list[float]:
    """Return the row divided by its largest |A| as doubles, whatever the size of its integers."""
    top = max(map(abs, row[:-1]), default=0) or 1
    try:
        return [x / top for x in row]
    except OverflowError:
        raise SearchTooLarge("numbers further apart than doubles can hold; choose other units") from None


class _Search:
    """The compiled search with its stack of open nodes."""

    def __init__(self, system: System, limit: int) -> None:
        self.system, self.limit = system, limit
        self.systems, self.exhausted = 0, False
        self.table = system.table()
        blocks, most = len(self.table[3]), int(self.table[3].max())
        self.stack = np.zeros((blocks * most + 4096, blocks), dtype=np.int64)
        self.stack[0, :-1], self.depth = UNDECIDED, 1
        longest = sum(max(map(len, kinds)) for kinds in system.kinds) + len(system.side[0])
        size = min(512, limit) + most
        self.buffers = (np.zeros((size, blocks), dtype=np.int64), np.zeros(size, dtype=np.int64),
                        np.zeros((size, longest)))  # fmt: skip

    def root_is_empty(self) -> bool:
        """Whether the rows that hold in all modes contradict each other, in floating point."""
        from .search_kernels import room, test_mode

        lam = np.zeros(self.buffers[2].shape[1])
        return bool(test_mode(self.table, self.stack[0], room(self.table, len(lam)), TOLERANCE, lam) == 0)

    def leaves(self) -> Iterator[tuple[tuple[int, ...], bool, Array]]:
        """Yield (modes, believed feasible, multipliers) until the tree or the limit is exhausted."""
        from .search_kernels import explore

        seen = 0
        while self.depth > 0:
            count, self.depth, systems = explore(self.table, self.stack, self.depth, TOLERANCE, self.buffers)
            self.systems += systems
            seen += count
            modes, verdict, lam = self.buffers
            for i in range(count):
                yield tuple(modes[i, :-1].tolist()), bool(verdict[i]), lam[i]
            if seen >= self.limit or self.systems > 100 * self.limit:
                self.exhausted = self.depth > 0
                return

    def reopen(self, modes: tuple[int, ...]) -> None:
        """Put a node back whose cut could not be proved."""
        self.stack[self.depth, :-1] = modes
        self.stack[self.depth, -1] = 0
        self.depth += 1
