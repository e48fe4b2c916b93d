"""Bodies in the plane."""

from ..joints.drives import Drive
from ..joints.limits_motors import Gear, JointFriction, Limit, Motor
from .bodies import Marker, PlanarBody, Point, box, disc, fixed
from .body_file import ExactBody
from .contacts import DryFriction, HalfPlane, PlanarContact, Rod, String
from .forces import Drag, Load, Shaking, Spring
from .joints import Hinge, Slider, Weld
from .mass import plate
from .shapes import Disc, Polygon, Stadium, chain, rectangle
from .system import PlanarSystem

__all__ = [
    "Disc",
    "Drag",
    "Drive",
    "DryFriction",
    "ExactBody",
    "Gear",
    "HalfPlane",
    "Hinge",
    "JointFriction",
    "Limit",
    "Load",
    "Marker",
    "Motor",
    "PlanarBody",
    "PlanarContact",
    "PlanarSystem",
    "Point",
    "Polygon",
    "Rod",
    "Shaking",
    "Slider",
    "Spring",
    "Stadium",
    "String",
    "Weld",
    "box",
    "chain",
    "disc",
    "fixed",
    "plate",
    "rectangle",
]
