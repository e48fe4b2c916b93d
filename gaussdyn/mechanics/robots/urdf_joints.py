"""Joints of a URDF file, and how they make a tree of its links."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...linalg.rotations import matrix_of, pointing
from ..collision.shapes import Triple
from ..names import nearest
from ..trees.bodies import TreeJoint
from ..trees.parts import JointEquality
from .urdf_links import Link
from .usable_names import different, usable
from .xml_elements import Element

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
SCALAR = ("revolute", "continuous", "prismatic")


@dataclass(slots=True, kw_only=True, eq=False)
class Joint:
    """A joint between two links, by the names that they have in the file.

    Attributes
    ----------
    element : Element
    name : str
        As a system has it.
    kind, parent, child : str
    """

    element: Element
    name: str
    kind: str
    parent: str
    child: str

    @property
    def axis(self) -> Triple:
        """A unit vector in the frame of the child."""
        axis = self.element.one("axis")
        if axis is None or self.kind not in (*SCALAR, "planar"):
            return 1.0, 0.0, 0.0
        x, y, z = axis.numbers("xyz", 3, (1.0, 0.0, 0.0))
        length = math.hypot(x, y, z)
        if not 1e-9 < length < 1e9:
            raise axis.wrong(
                f"axis of joint {self.name}",
                f"{x:g} {y:g} {z:g}",
                "a direction, a vector of length one",
                'Write xyz="0 0 1".',
            )
        return x / length, y / length, z / length


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Structure:
    """Links in an order in which parents come first, each with the joint that holds it.

    Attributes
    ----------
    order : tuple of (str, Joint or None)
        Names of links; the root has no joint.
    joints : mapping of str to Joint
        By name in the file.
    """

    order: tuple[tuple[str, Joint | None], ...]
    joints: Mapping[str, Joint] = field(default_factory=dict)


def structure_of(root: Element, links: Mapping[str, Link]) -> Structure:
    """Return the tree of a file.

    Raises
    ------
    InputError
        Unknown links, names used twice, a link that two joints hold, loops, several roots: file and line.
    """
    joints = _joints(root, links)
    below: dict[str, list[Joint]] = {name: [] for name in links}
    above: dict[str, Joint] = {}
    for joint in joints.values():
        if joint.child in above:
            other = above[joint.child].element
            mend = f'A tree has one joint for every link but the root: take <joint name="{joint.name}"> out.'
            raise joint.element.wrong(
                f"child of joint {joint.name}", joint.child, f"a link that line {other.line} does not hold yet", mend
            )  # fmt: skip
        above[joint.child] = joint
        below[joint.parent].append(joint)
    roots = [name for name in links if name not in above]
    if len(roots) != 1:
        text = f"{', '.join(roots[:4])}" if roots else "none: joints go round in a circle"
        at = links[roots[1]].element if roots else root
        raise at.wrong(
            "links that no joint holds", text, "one, the root", 'Join the others to it: <joint type="fixed">.'
        )
    return Structure(order=_outwards(roots[0], below, links, root), joints=joints)


def _joints(root: Element, links: Mapping[str, Link]) -> dict[str, Joint]:
    elements = list(root.all("joint"))
    names = different([usable(one.text("name"), "") for one in elements])
    found: dict[str, Joint] = {}
    for element, name in zip(elements, names, strict=True):
        given, kind = element.text("name"), element.text("type")
        if given in found:
            line = found[given].element.line
            raise element.wrong(
                "joints", f"two called {given!r}", f"a name that line {line} has not", f'Write name="{given}2".'
            )
        if kind not in KINDS:
            raise element.wrong(f"type of joint {given}", repr(kind), ", ".join(KINDS), nearest(kind, KINDS)[1])
        ends = [_link(element.needed(tag), links, f"{tag} of joint {given}") for tag in ("parent", "child")]
        found[given] = Joint(element=element, name=name, kind=kind, parent=ends[0], child=ends[1])
    return found


def _link(element: Element, links: Mapping[str, Link], what: str) -> str:
    name = element.text("link")
    if name not in links:
        raise element.wrong(what, repr(name), *nearest(name, links))
    return name


def _outwards(
    first: str, below: Mapping[str, list[Joint]], links: Mapping[str, Link], root: Element
) -> tuple[tuple[str, Joint | None], ...]:  # fmt: skip
    """Return the links of a tree, each followed by all that hangs on it."""
    order: list[tuple[str, Joint | None]] = []
    waiting: list[tuple[str, Joint | None]] = [(first, None)]
    while waiting:
        name, joint = waiting.pop()
        order.append((name, joint))
        waiting += [(one.child, one) for one in reversed(below[name])]
    if lost := set(links) - {name for name, _ in order}:
        at = links[sorted(lost)[0]].element
        raise at.wrong(
            "joints", f"a circle through {', '.join(sorted(lost)[:4])}", "a tree", "Take one <joint> of them out."
        )
    return tuple(order)


def parts_of(joint: Joint, *, on_ground: bool) -> tuple[TreeJoint, ...]:
    """Return what moves the child of a joint; `on_ground` says that its parent stands still.

    A planar joint is two sliders and a hinge; what floats on a body that moves, three sliders and a ball.
    """
    name, axis = joint.name, joint.axis
    if joint.kind == "fixed":
        return ()
    if joint.kind == "planar":
        x, y = _across(axis)
        return (
            TreeJoint(name=f"{name}_x", motion="slide", axis=x, **_losses(joint)),
            TreeJoint(name=f"{name}_y", motion="slide", axis=y, **_losses(joint)),
            TreeJoint(name=f"{name}_turn", axis=axis, **_losses(joint)),
        )
    if joint.kind == "floating":
        if on_ground:
            return (TreeJoint(name=name, motion="free", **_losses(joint)),)
        ways: list[tuple[str, Triple]] = [("x", (1.0, 0.0, 0.0)), ("y", (0.0, 1.0, 0.0)), ("z", (0.0, 0.0, 1.0))]
        slides = [TreeJoint(name=f"{name}_{x}", motion="slide", axis=way, **_losses(joint)) for x, way in ways]
        return (*slides, TreeJoint(name=name, motion="ball", **_losses(joint)))
    low, high = _limits(joint)
    effort = largest(joint, "effort")
    return (
        TreeJoint(
            name=name, motion="slide" if joint.kind == "prismatic" else "hinge", axis=axis, low=low, high=high,
            effort_low=-effort, effort_high=effort, **_losses(joint),
        ),
    )  # fmt: skip


def largest(joint: Joint, what: str) -> float:
    """Return the largest effort or velocity of a joint; none where the file has none, or 0, as MuJoCo reads it."""
    limit = joint.element.one("limit")
    return (limit.number(what, 0.0, low=0.0) if limit is not None else 0.0) or math.inf


def mimic_of(joint: Joint, joints: Mapping[str, Joint]) -> JointEquality | None:
    """Return what a mimic joint obeys: its coordinate is multiplier times that of another one, and an offset.

    Of a fixed joint it says nothing; one that mimics a fixed joint stands at its offset.
    """
    mimic = joint.element.one("mimic")
    if mimic is None or joint.kind == "fixed":
        return None
    other = mimic.text("joint")
    known = {name: one for name, one in joints.items() if one.kind in (*SCALAR, "fixed")}
    if other not in known:
        raise mimic.wrong(f"mimic of joint {joint.name}", repr(other), *nearest(other, known))
    if joint.kind not in SCALAR or known[other] is joint:
        given = f"a {joint.kind} joint" if joint.kind not in SCALAR else "itself"
        raise mimic.wrong(
            f"mimic of joint {joint.name}", given, f"another joint, both {', '.join(SCALAR)}", "Take <mimic> out."
        )
    offset, name = mimic.number("offset", 0.0), f"{joint.name}_mimic"
    if known[other].kind == "fixed":
        return JointEquality(name=name, one=joint.name, coefficients=(offset,))
    numbers = offset, mimic.number("multiplier", 1.0)
    return JointEquality(name=name, one=joint.name, other=known[other].name, coefficients=numbers)


def _limits(joint: Joint) -> tuple[float, float]:
    if joint.kind == "continuous":
        return -math.inf, math.inf
    limit = joint.element.one("limit")
    if limit is None:
        mend = 'Add <limit lower="-1" upper="1" effort="10" velocity="1"/>, or make it continuous.'
        raise joint.element.wrong(f"joint {joint.name}", "no <limit>", f"a {joint.kind} joint has limits", mend)
    low, high = limit.number("lower", 0.0), limit.number("upper", 0.0)
    if low > high:
        mend = f'Exchange them: lower="{high:g}" upper="{low:g}".'
        raise limit.wrong(f"limits of joint {joint.name}", f"lower {low:g}, upper {high:g}", "lower <= upper", mend)
    return low, high


def _losses(joint: Joint) -> dict[str, Any]:
    dynamics = joint.element.one("dynamics")
    if dynamics is None:
        return {}
    return {name: dynamics.number(name, 0.0, low=0.0) for name in ("damping", "friction")}


def _across(axis: Triple) -> tuple[Triple, Triple]:
    """Return the directions to which x and y go where z turns to a unit axis the shortest way."""
    R = matrix_of(pointing(axis))
    a, b = R[:, 0].tolist(), R[:, 1].tolist()
    return (a[0], a[1], a[2]), (b[0], b[1], b[2])
