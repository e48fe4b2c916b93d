"""Which elements and attributes a URDF file may have; the rest is an error, or left out on request.

Source: the specification at wiki.ros.org/urdf/XML.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..names import nearest
from .xml_elements import Element

Words = dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
GEOMETRIES = ("box", "cylinder", "sphere", "capsule", "mesh")
WORDS: Words = {  # element: its attributes, its children
    "robot": (("name", "version"), ("link", "joint", "material")),
    "link": (("name", "type"), ("inertial", "visual", "collision")),
    "inertial": ((), ("origin", "mass", "inertia")),
    "origin": (("xyz", "rpy"), ()),
    "mass": (("value",), ()),
    "inertia": (("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), ()),
    "visual": (("name",), ("origin", "geometry", "material")),
    "collision": (("name",), ("origin", "geometry")),
    "geometry": ((), GEOMETRIES),
    "box": (("size",), ()),
    "sphere": (("radius",), ()),
    "cylinder": (("radius", "length"), ()),
    "capsule": (("radius", "length"), ()),
    "mesh": (("filename", "scale"), ()),
    "material": (("name",), ("color", "texture")),
    "color": (("rgba",), ()),
    "texture": (("filename",), ()),
    "joint": (("name", "type"), ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")),
    "parent": (("link",), ()),
    "child": (("link",), ()),
    "axis": (("xyz",), ()),
    "limit": (("lower", "upper", "effort", "velocity"), ()),
    "dynamics": (("damping", "friction"), ()),
    "mimic": (("joint", "multiplier", "offset"), ()),
}
# What other programs put into such files; it says nothing about rigid bodies.
FOREIGN = (
    "gazebo", "transmission", "mujoco", "sensor", "ros2_control", "safety_controller", "calibration", "verbose",
    "contact", "self_collision_checking", "hardware_parameter", "controller", "collision_checking", "self_filter",
    "kinematic", "sensors",
)  # fmt: skip
BESIDE = ("dont_collapse", "command_effort", "D", "K", "mu_coulomb", "mu_viscous")  # attributes of theirs


def strangers(root: Element, *, mend: bool) -> tuple[str, ...]:
    """Return what of a file is left out: elements of other programs, and with `mend` all that is not known.

    Raises
    ------
    InputError
        An unknown element or attribute: its file, its line, what may have been meant.
    """
    return tuple(dict.fromkeys(_below(root, mend)))


def _attributes(element: Element, mend: bool) -> Iterator[str]:
    """Yield what is left out of the attributes of an element; raise InputError if one is not known."""
    attributes, _ = WORDS[element.tag]
    for name in element.attributes:
        if name in attributes or name.partition(":")[0] == "xmlns" or ":" in name:
            continue
        if name in BESIDE:
            yield f"attributes {name} of <{element.tag}>: for other programs"
            continue
        if not mend:
            allowed, close = nearest(name, attributes)
            raise element.wrong(f"<{element.tag}>", f"attribute {name}", allowed, _mend(close))
        yield f"attributes {name} of <{element.tag}>: not known (mended)"


def _below(element: Element, mend: bool) -> Iterator[str]:
    yield from _attributes(element, mend)
    _, children = WORDS[element.tag]
    for child in element.children:
        if child.tag in children:
            yield from _below(child, mend)
        elif element.tag == "collision" and child.tag == "material":
            yield "materials of what collides: those of visuals are taken"
        elif child.tag in FOREIGN or (":" in child.tag and not child.tag.startswith("xacro:")):
            yield f"elements <{child.tag}>: for other programs"
        elif child.tag.startswith("xacro:"):
            raise child.wrong(
                f"<{child.tag}>",
                "a macro",
                "a plain URDF file",
                "Run xacro on it first: xacro robot.urdf.xacro > robot.urdf",
            )
        elif mend:
            yield f"elements <{child.tag}> in <{element.tag}>: not known (mended)"
        else:
            allowed, close = nearest(child.tag, children)
            raise child.wrong(f"<{element.tag}>", f"element <{child.tag}>", allowed, _mend(close))


def _mend(close: str) -> str:
    return f"{close} mend=True (--mend) leaves it out.".strip()
