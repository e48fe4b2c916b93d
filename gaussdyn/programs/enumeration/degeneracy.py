"""Degenerate problems: those whose solution set may change under an arbitrarily small change of the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from ..proof.exact_linear import EQUAL
from .enumerate import Enumeration, Leaf, enumerate_modes, letters
from .modal_problem import ModalProblem
from .modes import Block, Condition, Mode

LIMIT = 2_000  # leaves of the search for reactions without load


def degeneracy(enumeration: Enumeration) -> str:
    """Say in words why a complete enumeration is degenerate; "" if it is not.

    Either the solutions of a mode are a continuum, or a solution lies on the border of its mode (a contact that
    carries nothing, or exactly at its friction limit), or reactions can balance each other without any load (the
    matrix is not R0: friction exactly critical, parallel normals).
    """
    lcp = enumeration.problem.kind == "lcp"
    free = [letters(enumeration.problem, leaf.modes) for leaf in enumeration.leaves if leaf.face and leaf.face.step]
    if free:
        return f"degenerate: the equations of mode {free[0]} leave {'z' if lcp else 'the motion'} free"
    borders = [name for leaf in enumeration.leaves if leaf.face is not None for name in _borders(enumeration, leaf)]
    if borders:
        return f"degenerate: on the border of its mode: {'; '.join(borders[:4])}"
    modes = locked(enumeration.problem)
    if not modes:
        return ""
    if lcp:
        return f"degenerate: M is not R0: in mode {modes} some z other than 0 solves the LCP with q = 0"
    return f"degenerate: reactions balance each other without load in mode {modes}"


def _borders(enumeration: Enumeration, leaf: Leaf) -> Iterator[str]:
    """Yield the blocks of a solution that lie on the border of their mode."""
    problem, face = enumeration.problem, leaf.face
    assert face is not None
    at = 0
    for b, option in enumerate(leaf.modes):
        conditions = problem.conditions(b, option)
        hit = [c for i, c in enumerate(conditions, start=at) if i in face.tight and not _frictionless(c)]
        at += len(conditions)
        if hit and problem.kind == "lcp":
            yield f"z[{b}] = w[{b}] = 0 in {letters(problem, leaf.modes)}"
        elif hit:
            what = "carries nothing" if _is_load(hit[0]) else "is at its friction limit"
            yield f"block {b + 1} {what} in {letters(problem, leaf.modes)}"


def _frictionless(c: Condition) -> bool:
    """Whether the row only says r_t = 0, as it does for mu = 0."""
    return len(c.force) == 2 and not c.force[0] and not any(c.motion)


def _is_load(c: Condition) -> bool:
    return sum(1 for x in c.force if x) == 1 and not c.bound


def locked(problem: ModalProblem) -> str:
    """Return a mode with reactions that are not zero although there is no load; "" if there is none."""
    unloaded = [replace_bounds(block) for block in problem.blocks]
    offsets = problem.offsets()
    held = [f for block, (_, f) in zip(unloaded, offsets, strict=True) if _signless(block)]
    total = [Fraction(0)] * problem.forces
    for block, (_, f) in zip(unloaded, offsets, strict=True):
        if not _signless(block) and not _capped(block):
            total[f] = Fraction(1)
    sides = [(total, Fraction(1))] if any(total) else []
    sides += [([Fraction(j == f) for j in range(problem.forces)], Fraction(s)) for f in held for s in (1, -1)]
    for row, bound in sides:
        side = ((EQUAL, row, bound),)
        pure = replace(problem, q=[Fraction(0)] * len(problem.q), blocks=tuple(unloaded), side=side)
        found = enumerate_modes(pure, certify=False, limit=LIMIT)
        if found.components:
            return found.components[0].modes[0]
    return ""


def replace_bounds(block: Block) -> Block:
    """Return the block with every bound zero: a friction cap vanishes beside reactions that grow for ever."""
    modes = tuple(Mode(m.letter, tuple(replace(c, bound=Fraction(0)) for c in m.conditions)) for m in block.modes)
    return replace(block, modes=modes, shared=tuple(replace(c, bound=Fraction(0)) for c in block.shared))


def _signless(block: Block) -> bool:
    """Whether the normal force may have either sign."""
    return "s" in block.letters or "l" in block.letters


def _capped(block: Block) -> bool:
    return block.forces == 1 and "S" in block.letters
