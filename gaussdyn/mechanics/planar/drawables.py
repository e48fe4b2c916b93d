"""What a planar system looks like: shapes as plain dictionaries, for the report to draw.

Every dictionary has ``shape`` and ``name``, lengths in m and angles in rad:
``point`` (at), ``segment`` (ends), ``polygon`` (points), ``disc`` (at, radius, angle), ``halfplane`` (at, normal).
Obstacles that are no half-planes have ``still`` besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .bodies import Body, Marker, PlanarBody
from .contacts import HalfPlane, Link, PlanarContact
from .forces import Spring
from .joints import Joint
from .kinematics import Layout, Motion
from .shapes import Disc, Outline, drawn_corners
from .spec import Bond, Constraint, Force
from .vectors import Pair, rotated


def drawables(
    layout: Layout,
    contacts: Sequence[Constraint],
    forces: Sequence[Force],
    joints: Sequence[Bond],
    obstacles: Sequence[HalfPlane | Outline],
    motion: Motion,
) -> list[dict[str, Any]]:
    """Return the shapes of bodies, obstacles, strings, rods, springs and joints in one pose."""
    shapes = [shape for body in layout.bodies for shape in _body(body, motion)]
    shapes += [_plane(plane, motion) for plane in _planes(layout, contacts, obstacles)]
    fixed = [o for o in obstacles if not isinstance(o, HalfPlane)]
    shapes += [{**outline(o.name, o, (0.0, 0.0), 0.0), "still": True} for o in fixed]
    ties = [part for part in (*contacts, *forces) if isinstance(part, (Link, Spring))]
    shapes += [_segment(f"{tie.a.label}~{tie.b.label}", tie.a, tie.b, motion) for tie in ties]
    shapes += [_joint(joint, motion) for joint in joints if isinstance(joint, Joint)]
    return shapes


def _planes(
    layout: Layout, contacts: Sequence[Constraint], obstacles: Sequence[HalfPlane | Outline]
) -> Iterable[HalfPlane]:
    """Return the half-planes that no outline of their body shows already, each once."""
    planes = [contact.plane for contact in contacts if isinstance(contact, PlanarContact)]
    planes += [shape for shape in obstacles if isinstance(shape, HalfPlane)]
    faced = {body.name for body in layout.bodies if _has_shape(body)}
    return {(plane.body, plane.name): plane for plane in planes if plane.body not in faced}.values()


def _body(body: Body, motion: Motion) -> list[dict[str, Any]]:
    """Return the shapes of a body; a point where it has none."""
    pose = motion(Marker(body.name))
    at = (float(pose.x[0]), float(pose.x[1]))
    if isinstance(body, PlanarBody) and body.shapes:
        return [outline(f"{body.name}.{s.name}" if s.name else body.name, s, at, pose.angle) for s in body.shapes]
    if isinstance(body, PlanarBody) and body.radius > 0.0:
        return [outline(body.name, Disc(radius=body.radius), at, pose.angle)]
    if not isinstance(body, PlanarBody) or not _has_shape(body):
        return [{"shape": "point", "name": body.name, "at": list(at)}]
    return [_corners(body.name, body.outline, at, pose.angle)]


def _has_shape(body: Body) -> bool:
    """Return whether a body is more than a point."""
    return isinstance(body, PlanarBody) and (bool(body.shapes) or body.radius > 0.0 or len(body.outline) > 1)


def outline(name: str, shape: Outline, at: Pair, angle: float) -> dict[str, Any]:
    """Return the shape of a body at a place, turned by an angle."""
    if isinstance(shape, Disc):
        (centre,) = _placed(shape.corners, at, angle)
        return {"shape": "disc", "name": name, "at": centre, "radius": shape.radius, "angle": angle}
    return _corners(name, drawn_corners(shape), at, angle)


def _corners(name: str, corners: Sequence[Pair], at: Pair, angle: float) -> dict[str, Any]:
    """Return the segment or polygon with these corners."""
    placed = _placed(corners, at, angle)
    if len(placed) == 2:
        return {"shape": "segment", "name": name, "ends": placed}
    return {"shape": "polygon", "name": name, "points": placed}


def _placed(corners: Sequence[Pair], at: Pair, angle: float) -> list[list[float]]:
    """Return corners turned by an angle, then shifted."""
    arms = [rotated(corner, angle) for corner in corners]
    return [[at[0] + x, at[1] + y] for x, y in arms]


def _plane(plane: HalfPlane, motion: Motion) -> dict[str, Any]:
    """Return a half-plane where its body carries it."""
    pose = motion(plane.marker)
    at = [float(pose.x[0]), float(pose.x[1])]
    return {"shape": "halfplane", "name": plane.name, "at": at, "normal": list(rotated(plane.normal, pose.angle))}


def _joint(joint: Joint, motion: Motion) -> dict[str, Any]:
    """Return a joint as a point."""
    return {"shape": "point", "name": joint.name, "at": [float(x) for x in motion(joint.a).x]}


def _segment(name: str, a: Marker, b: Marker, motion: Motion) -> dict[str, Any]:
    """Return a string, rod or spring as a segment between two markers."""
    ends = [[float(x) for x in motion(marker).x] for marker in (a, b)]
    return {"shape": "segment", "name": name, "ends": ends}
