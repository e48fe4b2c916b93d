"""What the numbers of trees are called in a run.

A hinge called ``knee`` has ``knee.angle`` and ``knee.rate``, a slider ``.position`` and ``.rate``, a free joint
``root.x`` .. ``root.qw`` .. and ``root.vx`` .. ``root.wx``; limits, friction and closures have gaps and forces.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..joints.columns import Names, Readings
from ..rows import Row
from .bodies import TreeJoint
from .tables import Places

PLACES = tuple((x, "m") for x in "xyz")
TURNS = tuple((f"q{x}", "1") for x in "wxyz")
RATES = {
    "hinge": (("rate", "rad/s"),),
    "slide": (("rate", "m/s"),),
    "ball": tuple((f"w{x}", "rad/s") for x in "xyz"),
    "free": (*((f"v{x}", "m/s") for x in "xyz"), *((f"w{x}", "rad/s") for x in "xyz")),
}
COORDINATES = {
    "hinge": (("angle", "rad"),), "slide": (("position", "m"),), "ball": TURNS, "free": (*PLACES, *TURNS),
}  # fmt: skip


def readings_of(places: Places, blanks: Sequence[Row], paths: Collection[str]) -> Readings:
    """Return the names of the columns of a system; `paths` are its tendons through space."""
    joints = [joint for joint, *_ in places.joints.values()]
    rows = {row.id: names for row in blanks if (names := _names(places, paths, row))}
    return Readings(_named(joints, COORDINATES), _named(joints, RATES), rows)


def _named(joints: Sequence[TreeJoint], parts: dict[str, Names]) -> Names:
    return tuple((f"{joint.name}.{part}", unit) for joint in joints for part, unit in parts[joint.motion])


def _names(places: Places, paths: Collection[str], row: Row) -> Names:
    """Return name and unit of gap and reaction of a limit or of friction; others keep the general ones."""
    name, _, side = row.id.partition(":")
    if (name not in places.joints and name not in paths) or not side:
        return ()
    turns = name in places.joints and places.joints[name][0].motion != "slide"
    length, effort, unit = ("rad", "torque", "N m") if turns else ("m", "force", "N")
    return (f"{name}.{side}_gap", length), (f"{name}.{side}_{effort}", unit)
