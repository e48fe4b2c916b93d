"""Bodies in space."""

from ..collision.compound import Compound, decomposed
from ..collision.mesh_files import read_mesh
from ..collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Sphere
from ..collision.terrain.surfaces import HeightField, Mesh
from ..joints.drives import Drive
from ..joints.limits_motors import Gear, JointFriction, Limit, Motor
from .bodies import SpatialBody, ball, brick, pill, solid
from .body_file import ExactSpatialBody
from .forces import Drag, Load, Shaking, Spring
from .joints import BallJoint, Hinge, Slider, Universal, Weld
from .kinematics import SpatialMarker, mark
from .links import Rod, String
from .system import SpatialSystem

__all__ = [
    "BallJoint",
    "Box",
    "Capsule",
    "Compound",
    "ConvexMesh",
    "Cylinder",
    "Drag",
    "Drive",
    "Ellipsoid",
    "ExactSpatialBody",
    "Gear",
    "HalfSpace",
    "HeightField",
    "Hinge",
    "JointFriction",
    "Limit",
    "Load",
    "Mesh",
    "Motor",
    "Rod",
    "Shaking",
    "Slider",
    "SpatialBody",
    "SpatialMarker",
    "SpatialSystem",
    "Sphere",
    "Spring",
    "String",
    "Universal",
    "Weld",
    "ball",
    "brick",
    "decomposed",
    "mark",
    "pill",
    "read_mesh",
    "solid",
]
