"""Parts of a system in space as plain data: dictionaries with ``kind`` and what differs from the defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from ..collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Sphere
from ..collision.terrain.surfaces import HeightField, Mesh
from ..contact_law import ContactLaw
from ..joints.drives import Drive
from ..joints.limits_motors import Gear, JointFriction, Limit, Motor
from .bodies import SpatialBody
from .forces import Drag, Load, Shaking, Spring
from .joints import BallJoint, Hinge, Slider, Universal, Weld
from .kinematics import SpatialMarker
from .links import Rod, String

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        SpatialBody, SpatialMarker, Sphere, Capsule, Box, Cylinder, ConvexMesh, Ellipsoid, HalfSpace, ContactLaw,
        Mesh, HeightField,
        BallJoint, Hinge, Universal, Slider, Weld, Rod, String, Limit, JointFriction, Motor, Gear,
        Spring, Drag, Load, Drive, Shaking,
    )
}  # fmt: skip


def encoded(value: Any) -> Any:
    """Return plain data: numbers, texts, None, lists and dictionaries."""
    if is_dataclass(value) and not isinstance(value, type):
        given = ((f, getattr(value, f.name)) for f in fields(value) if f.init)
        kept = {f.name: encoded(x) for f, x in given if f.default is MISSING or x != f.default}
        return {"kind": type(value).__name__, **kept}
    return [encoded(x) for x in value] if isinstance(value, (list, tuple)) else value


def decoded(value: Any, kinds: Mapping[str, Any] = KINDS) -> Any:
    """Return the parts that `encoded` wrote."""
    if isinstance(value, Mapping):
        values = {name: decoded(x, kinds) for name, x in value.items() if name != "kind"}
        return kinds[value["kind"]](**values)
    return (
        tuple(decoded(x, kinds) for x in value) if isinstance(value, Sequence) and not isinstance(value, str) else value
    )
