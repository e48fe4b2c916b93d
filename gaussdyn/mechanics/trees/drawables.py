"""What trees look like: the shapes of bodies and obstacles in one pose, or what they are seen by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..collision.compound import flattened
from ..names import GROUND
from ..spatial.drawables import drawn_obstacle, drawn_shape
from .bodies import TreeBody
from .forest_state import ForestState, Frame
from .visuals import Visual

if TYPE_CHECKING:
    from .system import TreeSystem


def drawables(system: TreeSystem, state: ForestState, visuals: Sequence[Visual] = ()) -> list[dict[str, Any]]:
    """Return the shapes of a system as `spatial.drawables` has them; `visuals` stand for the shapes of their bodies.

    Raises
    ------
    InputError
        A visual of a body that is not there.
    """
    places, clad = system.places.bodies, {one.body for one in visuals}
    drawn = [one.drawn(state.frame(system.places.body("body of a visual", one.body))) for one in visuals]
    for k, body in enumerate(system.bodies):
        drawn += [] if body.name in clad else _body(body, state.frame(k))
    obstacles = flattened(system.obstacles)
    drawn += [drawn_obstacle(one, state.frame(places[getattr(one, "body", GROUND)])) for one in obstacles]
    for one in drawn if system.colours else ():
        colour = system.colours.get(one["name"]) or system.colours.get(one["name"].partition(".")[0])
        one |= {"colour": one.get("colour") or list(colour)} if colour else {}
    return drawn


def _body(body: TreeBody, frame: Frame) -> list[dict[str, Any]]:
    if not body.shapes:
        return [{"shape": "point", "name": body.name, "at": frame.x.tolist()}]
    return [drawn_shape(f"{body.name}.{one.name}" if one.name else body.name, one, frame) for one in body.shapes]
