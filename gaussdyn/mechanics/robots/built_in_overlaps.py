"""Shapes of a robot that are in one another wherever its joints stand: housings around shafts, hips within a trunk.

Files draw them so, and planners of motion leave such pairs out. A rigid engine has no motion that parts them: the start
is refused, or on request these pairs, and no others, do not touch. So are pairs that lie on one another wherever joints
stand, the flanges of a hinge: no joint moves their gap, so that no force presses them together but what rounding makes
of it, and what friction that brings is anybody's guess.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from ...errors import InputError
from ..initial.consistent_state import projected
from ..initial.overlap import Overlap, least_overlaps, overlaps, pushed_apart, touching
from ..names import GROUND
from ..state import State
from .robot import Robot

ROUNDS = 8  # of pairs that are left out
FLANGES = "on one another wherever joints stand"
PLACES = 5  # at which shapes touch that do so wherever joints stand


def parted(robot: Robot) -> Robot:
    """Return the robot whose bodies do not touch where nothing parts them; `ignored` names these pairs.

    Pairs with obstacles of the world stay as they are. Nothing is changed where bodies can be moved apart.
    """
    for _ in range(ROUNDS):
        found = _stuck(robot)
        if not found:
            break
        robot = _without(robot, [(one.pair, f"in one another by {one.depth:.3g} m") for one in found])
    return _without(robot, [(sorted(pair), FLANGES) for pair in flanges(robot)])


def _without(robot: Robot, found: Sequence[tuple[Sequence[str], str]]) -> Robot:
    """Return the robot whose pairs found do not touch, each with the reason."""
    if not found:
        return robot
    pairs = {(min(names), max(names)): None for names, _ in found}
    kept = {names: law for names, law in robot.pairs.items() if (min(names), max(names)) not in pairs}
    said = tuple(f"contact of {' and '.join(names)}: {reason}" for names, reason in found)
    return replace(robot, pairs={**kept, **pairs}, ignored=(*robot.ignored, *said))


def flanges(robot: Robot) -> list[frozenset[str]]:
    """Return the pairs of shapes of the robot's own that touch where the file has its joints, and wherever they stand.

    That some do so by chance at all of a few places at random is out of the question.
    """
    try:
        system = robot.system()
    except InputError:
        return []
    rng, q = np.random.default_rng(0), robot.home
    found = touching(system, State(q=q, v=np.zeros(system.nv)))
    for _ in range(PLACES):
        if found:
            q = system.move(robot.home, rng.uniform(-1.0, 1.0, system.nv), 1.0)
            found &= touching(system, State(q=q, v=np.zeros(system.nv)))
    return sorted((pair for pair in found if _of_bodies(robot, pair)), key=sorted)


def _stuck(robot: Robot) -> list[Overlap]:
    """Return the pairs of shapes of the robot's own that are in one another where they are least so."""
    try:
        system = robot.system()
        start = projected(system, State(q=robot.home, v=np.zeros(system.nv)))
    except InputError:  # what contradicts itself is named where it is used
        return []
    if not any(_own(robot, one) for one in overlaps(system, start, tolerance=1e-10)):
        return []
    try:
        pushed_apart(system, start)
    except InputError:
        return [one for one in least_overlaps(system, start) if _own(robot, one)]
    return []


def _own(robot: Robot, one: Overlap) -> bool:
    """Return whether both sides of an overlap are bodies of the robot."""
    return _of_bodies(robot, one.pair)


def _of_bodies(robot: Robot, pair: Collection[str]) -> bool:
    """Return whether both names are those of shapes of bodies of the robot."""
    bodies = {body.name for body in robot.bodies}
    sides = [name.partition(".")[0] for name in pair]
    return len(sides) == 2 and GROUND not in sides and all(side in bodies for side in sides)
