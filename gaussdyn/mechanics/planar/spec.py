"""Parts of planar systems as plain data and back: every kind of body, shape, contact, joint and force by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from ...errors import InputError
from ...mends import one_of
from ..contact_law import ContactLaw
from ..joints.drives import Drive
from ..joints.limits_motors import Gear, JointFriction, Limit, Motor
from .bodies import Marker, PlanarBody, Point
from .contacts import DryFriction, HalfPlane, PlanarContact, Rod, String
from .disc_contact import PlanarDiscContact
from .forces import Drag, Load, Shaking, Spring
from .joints import Hinge, Slider, Weld
from .shapes import Disc, Polygon, Stadium

Constraint = PlanarContact | String | Rod | DryFriction | PlanarDiscContact
Force = Spring | Drag | Load | Shaking | Drive
Bond = Hinge | Slider | Weld | Limit | JointFriction | Motor | Gear | Rod | String
KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Point, PlanarBody, Marker, ContactLaw, HalfPlane, Disc, Stadium, Polygon,
        PlanarContact, PlanarDiscContact, String, Rod, DryFriction,
        Hinge, Slider, Weld, Limit, JointFriction, Motor, Gear,
        Spring, Drag, Load, Shaking, Drive,
    )
}  # fmt: skip


def as_data(part: Any) -> Any:
    """Return a part as plain data: a dictionary with its ``kind``, and what differs from the defaults."""
    if not is_dataclass(part):
        return list(map(as_data, part)) if isinstance(part, tuple) else part
    given = ((field, getattr(part, field.name)) for field in fields(part) if field.init)
    kept = {field.name: as_data(x) for field, x in given if field.default is MISSING or x != field.default}
    return {"kind": type(part).__name__, **kept}


def from_data(data: Any) -> Any:
    """Return the part that `as_data` wrote.

    Raises
    ------
    InputError
        An unknown kind.
    """
    if isinstance(data, Sequence) and not isinstance(data, str):
        return tuple(from_data(one) for one in data)
    if not isinstance(data, Mapping):
        return data
    values = {name: from_data(value) for name, value in data.items() if name != "kind"}
    kind = data.get("kind", "Marker" if "at" in data else "HalfPlane")
    if kind not in KINDS:
        raise InputError("kind", repr(kind), ", ".join(KINDS), one_of("kind", kind, KINDS))
    return KINDS[kind](**values)


def checked(name: str, parts: Sequence[Any], allowed: Any) -> tuple[Any, ...]:
    """Return the parts, or raise InputError if one is not of a kind that is allowed (a union of classes)."""
    for part in parts:
        if not isinstance(part, allowed):
            raise InputError(
                name,
                repr(part),
                ", ".join(kind.__name__ for kind in allowed.__args__),
                f"Write {name}=[{allowed.__args__[0].__name__}(...)].",
            )
    return tuple(parts)
