"""Shapes of a robot that are in one another wherever its joints stand: housings around shafts, hips within a trunk.

Files draw them so, and planners of motion leave such pairs out. A rigid engine has no motion that parts them: the start
is refused, or on request these pairs, and no others, do not touch.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import InputError
from ..initial.consistent_state import projected
from ..initial.overlap import Overlap, least_overlaps, overlaps, pushed_apart
from ..names import GROUND
from ..state import State
from .robot import Robot

ROUNDS = 8  # of pairs that are left out


def parted(robot: Robot) -> Robot:
    """Return the robot whose bodies do not touch where nothing parts them; `ignored` names these pairs.

    Pairs with obstacles of the world stay as they are. Nothing is changed where bodies can be moved apart.
    """
    for _ in range(ROUNDS):
        found = _stuck(robot)
        if not found:
            break
        pairs = {(min(one.pair), max(one.pair)): None for one in found}
        kept = {names: law for names, law in robot.pairs.items() if (min(names), max(names)) not in pairs}
        said = tuple(
            f"contact of {a} and {b}: in one another by {one.depth:.3g} m" for one in found for a, b in [one.pair]
        )
        robot = replace(robot, pairs={**kept, **pairs}, ignored=(*robot.ignored, *said))
    return robot


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
    bodies = {body.name for body in robot.bodies}
    sides = [name.partition(".")[0] for name in one.pair]
    return len(sides) == 2 and GROUND not in sides and all(side in bodies for side in sides)
