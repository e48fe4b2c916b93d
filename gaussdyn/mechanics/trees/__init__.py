"""Trees of bodies in joint coordinates; their shapes are those of `gaussdyn.mechanics.spatial`."""

from .bodies import TreeBody, TreeJoint
from .joint_coordinates import JointCoordinates, in_joint_coordinates
from .parts import Actuator, Connect, Fluid, JointEquality, Leg, Round, SpatialTendon, Tendon
from .sensors import Sensor, Site
from .system import TreeSystem
from .visuals import Skin, Visual

__all__ = [
    "Actuator",
    "Connect",
    "Fluid",
    "JointCoordinates",
    "JointEquality",
    "Leg",
    "Round",
    "Sensor",
    "Site",
    "Skin",
    "SpatialTendon",
    "Tendon",
    "TreeBody",
    "TreeJoint",
    "TreeSystem",
    "Visual",
    "in_joint_coordinates",
]
