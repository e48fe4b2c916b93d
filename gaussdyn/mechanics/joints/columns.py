"""What the numbers of bodies and joints are called in a run, and those that joints know: angles, rates, torques.

A joint called ``elbow`` has ``elbow.angle`` and ``elbow.rate`` (a slider ``.position``, a ball ``.turn_x`` ..), what
its motors and drives exert (``elbow.torque``, for sliders ``.force``), and its reaction: ``elbow.reaction`` (N) and
``elbow.reaction_moment`` (N m) are lengths of vectors, ``elbow.reaction_x`` .. components, ``elbow.error_x`` .. the
gaps of the equations that it keeps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arrays import Array
from .drives import Drive
from .freedoms import LeavesFree
from .limits_motors import Gear, JointFriction, Limit, Motor, Part

ALONG = frozenset({"x", "y", "z", "across"})  # equations on places, kept by forces; the others are on turns
Names = tuple[tuple[str, str], ...]  # (name, unit)
Rates = Callable[[Array, Array], tuple[Array, Array]]


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """Names of what a system of bodies records.

    Attributes
    ----------
    q, v : tuple of (str, str)
        Name and unit of every coordinate and velocity.
    rows : mapping of str to tuple of (str, str)
        By id of a row of a joint: name and unit of its gap and of its reactions.
    more : tuple of (str, str)
        Further columns, as ``joint:what``; what they are shown as has a point there.
    read : callable
        ``read(t, q, v, forces, angles)`` gives the values of `more`: forces are mean reactions by row id, angles those
        of `winding` with full turns counted.
    winding : tuple of str
        The joints whose angle is seen within half a turn only.
    angles : callable
        ``angles(q, v)`` gives the angles of `winding` and their rates, rad and rad/s, at one state or at many.
    """

    q: Names
    v: Names
    rows: Mapping[str, Names]
    more: Names = ()
    read: Callable[..., list[float]] = lambda *state: []
    winding: tuple[str, ...] = ()
    angles: Rates | None = None


@dataclass(frozen=True, slots=True, eq=False)
class JointColumns:
    """The columns of the joints of one system.

    Attributes
    ----------
    joints : dict of str to LeavesFree
    free : dict of str to tuple of str
        Names of the motions that each leaves free; none for hinges of point masses.
    parts : sequence of Limit, JointFriction, Motor and Gear
    drives : sequence of Drive
    """

    joints: Mapping[str, Any]
    free: Mapping[str, tuple[str, ...]]
    parts: Sequence[Part] = ()
    drives: Sequence[Drive] = ()
    _motors: dict[str, list[str]] = field(init=False, repr=False)
    _driven: dict[str, list[Drive]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        motors: dict[str, list[str]] = {name: [] for name in self.joints}
        driven: dict[str, list[Drive]] = {name: [] for name in self.joints}
        for part in self.parts:
            if isinstance(part, Motor):
                motors[part.joint] += part.ids
        for drive in self.drives:
            driven[drive.joint].append(drive)
        object.__setattr__(self, "_motors", motors)
        object.__setattr__(self, "_driven", driven)

    def rows(self) -> dict[str, Names]:
        """Return names and units of gap and reaction of all rows."""
        found: dict[str, Names] = {}
        for name, joint in self.joints.items():
            for part, id in zip(joint.parts, joint.ids, strict=True):
                length, force = ("m", "N") if part in ALONG else ("rad", "N m")
                found[id] = ((f"{name}.error_{part}", length), (f"{name}.reaction_{part}", force))
        for one in self.parts:
            found |= _of_part(one, _turns(self.joints[one.joint]))
        return found

    def more(self) -> Names:
        """Return names and units of what `values` gives."""
        found: list[tuple[str, str]] = []
        for name, joint in self.joints.items():
            turns = _turns(joint)
            found += [(f"{name}:{x}", "m" if x == "position" else "rad") for x in self.free[name]]
            found += [(f"{name}:{rate_name(x)}", "m/s" if x == "position" else "rad/s") for x in self.free[name]]
            if self._motors[name] or self._driven[name]:
                found.append((f"{name}:torque", "N m") if turns else (f"{name}:force", "N"))
            kinds = {part in ALONG for part in joint.parts}
            found += [(f"{name}:reaction", "N")] if True in kinds else []
            found += [(f"{name}:reaction_moment", "N m")] if False in kinds else []
        return tuple(found)

    def values(
        self, free: Callable[[Any], tuple[Sequence[Any], Sequence[Any]]], along: Callable[[Drive], Any],
        forces: Mapping[str, Array], angles: Mapping[str, Any],
    ) -> list[Any]:  # fmt: skip
        """Return the numbers that `more` names, at one state, or their arrays (n,) along a run.

        Parameters
        ----------
        free : callable
            Values and rates of the motions that a joint leaves free.
        along : callable
            What a drive exerts.
        forces : mapping of str to Array, shape (k,) or (n, k)
            Mean reactions by row id.
        angles : mapping of str to float or Array
            Those of `Readings.winding`.
        """
        found: list[Any] = []
        for name, joint in self.joints.items():
            if self.free[name]:
                values, rates = free(joint)
                found += [angles[name]] if name in angles else values
                found += rates
            motors, drives = self._motors[name], self._driven[name]
            if motors or drives:
                supplied = sum(forces[id][..., 0] for id in motors if id in forces)
                found.append(supplied + sum(map(along, drives)))
            found += _lengths(joint, forces)
        return found


def rate_name(freedom: str) -> str:
    """Return what the rate of a free motion is called: ``rate`` of an angle or a position, ``rate_x`` of ``turn_x``."""
    return "_".join(["rate", *freedom.split("_")[1:]])


def named_bodies(names: Sequence[str], parts: Mapping[str, Names]) -> Names:
    """Return ``body.part`` of all bodies, in their order; parts by name of the body."""
    return tuple((f"{name}.{part}", unit) for name in names for part, unit in parts[name])


def _turns(joint: LeavesFree) -> bool:
    return joint.coordinate != "travel"


def _lengths(joint: Any, forces: Mapping[str, Array]) -> list[Any]:
    """Return the lengths of the force and of the moment that a joint transmits, where it transmits one."""
    squares: dict[bool, Any] = {}
    for part, id in zip(joint.parts, joint.ids, strict=True):
        r = forces[id][..., 0] if id in forces else 0.0
        squares[part in ALONG] = squares.get(part in ALONG, 0.0) + r * r
    return [np.sqrt(squares[kind]) for kind in (True, False) if kind in squares]


def _of_part(part: Part, turns: bool) -> dict[str, Names]:
    """Return names and units of the rows of a limit, friction, motor or gear; gaps that say nothing keep theirs."""
    name, length, speed = part.joint, *(("rad", "rad/s") if turns else ("m", "m/s"))
    effort, unit = ("torque", "N m") if turns else ("force", "N")
    if isinstance(part, Limit):
        sides = (id.rpartition(":")[2] for id in part.ids)
        return {f"{name}:{s}": ((f"{name}.{s}_gap", length), (f"{name}.{s}_{effort}", unit)) for s in sides}
    (id,) = part.ids
    if isinstance(part, JointFriction):
        return {id: ((f"{id}.gap", length), (f"{name}.friction_{effort}", unit))}
    if isinstance(part, Gear):
        pair = id.rpartition(":")[0]
        return {id: ((f"{pair}.gear_error", speed), (f"{pair}.gear_{effort}", unit))}
    error = f"{id}.gap" if math.isfinite(part.cap) else f"{name}.motor_error"
    return {id: ((error, speed), (f"{name}.motor_{effort}", unit))}
