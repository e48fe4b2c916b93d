"""What a planar system looks like: shapes as plain dictionaries, for the report to draw.

Every dictionary has ``shape`` and ``name``, lengths in m and angles in rad:
``point`` (at), ``segment`` (ends), ``polygon`` (points), ``disc`` (at, radius, angle), ``halfplane`` (at, normal).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .forces import Force, Spring
from .planar_bodies import Body, Layout, Marker, PlanarBody, rotated
from .planar_contacts import Constraint, Link, Motion, PlanarContact


def drawables(
    layout: Layout, contacts: Sequence[Constraint], forces: Sequence[Force], motion: Motion
) -> list[dict[str, Any]]:
    """Return the shapes of bodies, obstacles, strings, rods and springs in one pose."""
    shapes = [_body(body, motion) for body in layout.bodies]
    planes = {(c.plane.body, c.plane.name): c for c in contacts if isinstance(c, PlanarContact)}
    shapes += [_plane(contact, motion) for contact in planes.values()]
    ties = [part for part in (*contacts, *forces) if isinstance(part, (Link, Spring))]
    shapes += [_segment(f"{tie.a.label}~{tie.b.label}", tie.a, tie.b, motion) for tie in ties]
    return shapes


def _body(body: Body, motion: Motion) -> dict[str, Any]:
    pose = motion(Marker(body.name))
    at = [float(pose.x[0]), float(pose.x[1])]
    if isinstance(body, PlanarBody) and body.radius > 0.0:
        return {"shape": "disc", "name": body.name, "at": at, "radius": body.radius, "angle": pose.angle}
    if not isinstance(body, PlanarBody) or len(body.outline) < 2:
        return {"shape": "point", "name": body.name, "at": at}
    arms = [rotated(corner, pose.angle) for corner in body.outline]
    corners = [[at[0] + x, at[1] + y] for x, y in arms]
    if len(corners) == 2:
        return {"shape": "segment", "name": body.name, "ends": corners}
    return {"shape": "polygon", "name": body.name, "points": corners}


def _plane(contact: PlanarContact, motion: Motion) -> dict[str, Any]:
    pose = motion(contact.plane.marker)
    at = [float(pose.x[0]), float(pose.x[1])]
    normal = list(rotated(contact.plane.normal, pose.angle))
    return {"shape": "halfplane", "name": contact.plane.name, "at": at, "normal": normal}


def _segment(name: str, a: Marker, b: Marker, motion: Motion) -> dict[str, Any]:
    ends = [[float(x) for x in motion(marker).x] for marker in (a, b)]
    return {"shape": "segment", "name": name, "ends": ends}
