"""URDF files, read without any other program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...linalg.rotations import quaternion_of
from ..collision.shapes import HalfSpace
from ..contact_law import ContactLaw
from ..names import GROUND
from ..trees.bodies import TreeBody, TreeJoint
from ..trees.parts import Actuator, Fluid, JointEquality
from ..trees.visuals import WhenSeen
from .robot import Robot, refuse
from .urdf_joints import SCALAR, Joint, Structure, largest, mimic_of, parts_of, structure_of
from .urdf_links import Colours, Link, colours_of, link_of
from .urdf_masses import Placement, placements, with_masses
from .urdf_shapes import origin_of
from .urdf_visuals import unseen, visuals_of
from .urdf_vocabulary import strangers
from .usable_names import different
from .xml_elements import Element, parsed

Base = Literal["fixed", "free"]
ROOT = "root"  # the joint of a free base
FRICTION = ContactLaw(mu=1.0)  # what MuJoCo gives such files


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Urdf:
    """A checked file.

    Attributes
    ----------
    root : Element
    links : mapping of str to Link
        By name in the file.
    colours : mapping of str to (r, g, b, a)
        Of materials.
    folder : Path
        Where the file is.
    structure : Structure
    base : str
        Whether the root is fixed to the ground, or free.
    left_out : tuple of str
    """

    root: Element
    links: Mapping[str, Link]
    colours: Colours
    folder: Path
    structure: Structure
    base: Base
    left_out: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """What the file needs and cannot be had yet."""
        return tuple(text for link in self.links.values() for text in link.missing)


def read_urdf(
    path: Path, *, mend: bool = False, base: Base = "fixed", floor: float | None = None, contact: ContactLaw = FRICTION
) -> Robot:  # fmt: skip
    """Return the robot of a URDF file; see `read_robot`.

    Raises
    ------
    InputError
        What is wrong with the file and where; what of it cannot be had yet, all of it.
    """
    file = checked(path, mend=mend, base=base)
    refuse(path.stem, file.missing)
    bodies, home = _bodies(file)
    mimics = [one for joint in file.structure.joints.values() if (one := mimic_of(joint, file.structure.joints))]
    obstacles = () if floor is None else (HalfSpace(name="floor", point=(0.0, 0.0, float(floor))),)
    return Robot(
        name=path.stem, text=path.read_text(errors="replace"), bodies=bodies, obstacles=obstacles, parts=tuple(mimics),
        actuators=_motors(file.structure, mimics), gravity=(0.0, 0.0, -9.81), fluid=Fluid(), contact=contact, pairs={},
        dt=1e-3, home=home, ignored=(*file.left_out, *_noted(file, contact)),
        colours={link.name: link.colour for link in file.links.values() if link.colour is not None},
        visuals=WhenSeen(partial(visuals_of, tuple(file.links.values()), file.colours, file.folder)),
    )  # fmt: skip


def survey(path: Path, *, mend: bool = False, base: Base = "fixed") -> dict[str, Any]:
    """Return what a file holds (counts), what is ignored, and what is missing, as plain data."""
    file = checked(path, mend=mend, base=base)
    kinds = [joint.kind for joint in file.structure.joints.values()]
    holds = {"links": len(file.links)} | {f"{kind} joints": kinds.count(kind) for kind in sorted(set(kinds))}
    holds |= {"mimic joints": sum(joint.element.one("mimic") is not None for joint in file.structure.joints.values())}
    holds |= {"shapes that may touch": sum(len(link.shapes) for link in file.links.values())}
    return {"holds": holds, "ignored": [*file.left_out, *_noted(file, FRICTION)], "missing": list(file.missing)}


def checked(path: Path, *, mend: bool, base: Base) -> Urdf:
    """Return a file once all of it has been looked at."""
    root = parsed(path)
    if root.tag != "robot":
        raise root.wrong(
            "file", f"<{root.tag}>", "<robot>, a URDF file", "MJCF files end in .xml: mv robot.urdf robot.xml"
        )
    left_out = strangers(root, mend=mend)
    colours, links = colours_of(root), dict[str, Link]()
    for element in root.all("link"):
        name = element.text("name")
        if name in links:
            raise element.wrong(
                "links",
                f"two called {name!r}",
                f"a name that line {links[name].element.line} has not",
                f'Write name="{name}2".',
            )
        links[name] = link_of(element, colours, path.resolve().parent, mend=mend)
    if not links:
        raise root.wrong("<robot>", "no <link>", "at least one", 'Write <link name="base"/>.')
    structure = structure_of(root, _named(links))
    links = with_masses(structure, _named(links), free=base == "free", mend=mend)
    mended = [text for link in links.values() for text in link.mended]
    return Urdf(
        root=root, links=links, colours=colours, folder=path.resolve().parent, structure=structure, base=base,
        left_out=(*left_out, *unseen(links.values(), path.resolve().parent), *mended),
    )  # fmt: skip


def _named(links: Mapping[str, Link]) -> dict[str, Link]:
    """Return the links with names that a system can tell apart."""
    names = different([link.name for link in links.values()])
    return {given: replace(link, name=name) for (given, link), name in zip(links.items(), names, strict=True)}


def _bodies(file: Urdf) -> tuple[tuple[TreeBody, ...], Any]:
    """Return the bodies, and the coordinates at which they stand as in the file."""
    places, still, home = placements(file.structure, file.links), set[str](), list[float]()
    bodies = []
    for name, joint in file.structure.order:
        on_ground = joint is None or joint.parent in still
        joints = _base(file) if joint is None else parts_of(joint, on_ground=on_ground)
        if on_ground and not joints:
            still.add(name)
        free = bool(joints) and joints[0].motion == "free"
        bodies.append(_body(file, name, joint, joints, free))
        for one in joints:
            home += _placed(places[name]) if free else one.start
    return tuple(bodies), np.array(home)


def _base(file: Urdf) -> tuple[TreeJoint, ...]:
    taken = {joint.name for joint in file.structure.joints.values()}
    return (TreeJoint(name=different([*sorted(taken), ROOT])[-1], motion="free"),) if file.base == "free" else ()


def _body(file: Urdf, name: str, joint: Joint | None, joints: tuple[TreeJoint, ...], free: bool) -> TreeBody:
    link = file.links[name]
    at, turn = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)) if joint is None or free else origin_of(joint.element)
    return TreeBody(
        name=link.name, parent=GROUND if joint is None or free else file.links[joint.parent].name, at=at, turn=turn,
        joints=joints, mass=link.mass, centre=link.centre, shapes=link.shapes,
        inertia=tuple(tuple(row) for row in link.inertia.tolist()),
    )  # fmt: skip


def _placed(place: Placement) -> list[float]:
    """Return the coordinates of a free body."""
    x, R = place
    return [*x.tolist(), *quaternion_of(R).tolist()]


def _motors(structure: Structure, mimics: list[JointEquality]) -> tuple[Actuator, ...]:
    """Return a motor for every joint of one coordinate that does not mimic another; the file has no actuators."""
    led = {one.one for one in mimics}
    driven = [joint for _, joint in structure.order if joint is not None and joint.kind in SCALAR]
    limits = {joint.name: largest(joint, "effort") for joint in driven if joint.name not in led}
    return tuple(
        Actuator(name=name, factors={name: 1.0}, control_low=-most, control_high=most) for name, most in limits.items()
    )


def _noted(file: Urdf, contact: ContactLaw) -> tuple[str, ...]:
    """Return what a user should know that the file says, or does not say."""
    joints = [joint for _, joint in file.structure.order if joint is not None]
    fast = [f"{joint.name} {largest(joint, 'velocity'):g}" for joint in joints if largest(joint, "velocity") < np.inf]
    said = [f"largest velocities of joints ({', '.join(fast)}): noted, nothing keeps them"] if fast else []
    said += [f"mimic of joint {x.name}, which is fixed" for x in joints if x.kind == "fixed" and x.element.one("mimic")]
    none = [f"friction: the file has none, all pairs have mu = {contact.mu:g}"]
    return (*said, *none) if any(link.shapes for link in file.links.values()) else tuple(said)
