"""The rule of rest for mu_s > mu: a contact that can stick does not begin to slip."""

from __future__ import annotations

from dataclasses import replace

from .enumerate import Enumeration, components_of, letters
from .modes import Block

STICKS = {"+": "S", "-": "S", "p": "s", "m": "s"}


def stick_priority(enumeration: Enumeration) -> tuple[Enumeration, list[str]]:
    """Leave out modes in which a contact with mu_s > mu begins to slip although it alone could stick.

    Returns
    -------
    enumeration, left_out
        The enumeration without those solutions, and the letters of their modes.
    """
    problem = enumeration.problem
    solved = {leaf.modes for leaf in enumeration.leaves if leaf.face is not None}
    left_out = {modes for modes in solved if any(one in solved for one in _sticking(problem.blocks, modes))}
    leaves = tuple(leaf for leaf in enumeration.leaves if leaf.modes not in left_out)
    names = sorted(letters(problem, modes) for modes in left_out)
    return replace(enumeration, leaves=leaves, components=components_of(problem, leaves)), names


def _sticking(blocks: tuple[Block, ...], modes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the modes in which one slipping contact with mu_s > mu sticks instead, on the same side of a guide."""
    found = []
    for b, (block, option) in enumerate(zip(blocks, modes, strict=True)):
        stick = STICKS.get(block.modes[option].letter)
        if stick is not None and block.stronger_at_rest:
            for letter in {stick, "S"} & set(block.letters) | {stick, "s"} & set(block.letters):
                found.append((*modes[:b], block.letters.index(letter), *modes[b + 1 :]))
    return found
