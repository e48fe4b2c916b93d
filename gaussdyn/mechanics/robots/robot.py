"""A robot read from a file: its parts, its keyframes, and what of the file a rigid engine leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._html import card
from ..._show import brief, names
from ...arrays import Array, vector
from ...errors import InputError
from ..collision.shapes import Triple
from ..contact_law import ContactLaw
from ..initial.consistent_state import projected, violations
from ..initial.overlap import overlaps, pushed_apart
from ..names import nearest
from ..spatial.contacts import Obstacle, Pairs
from ..state import State
from ..trees.activations import MEMORY
from ..trees.bodies import TreeBody
from ..trees.parts import Actuator, Fluid, Part
from ..trees.sensors import Sensor, Site
from ..trees.system import Colours, TreeSystem
from ..trees.visuals import Visual

SHOWN = 4  # violations that an error lists


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Keyframe:
    """A state that a file has a name for: `control` is what actuators are told there, `states` are their own."""

    name: str
    q: Array
    v: Array
    control: Array
    states: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        for name in ("q", "v", "control", "states"):
            object.__setattr__(self, name, vector(f"{name} of keyframe {self.name}", getattr(self, name)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Robot:
    """A robot; get one by `read_robot`.

    Attributes
    ----------
    name : str
        Of the file.
    text : str
        The model as one text, without includes.
    bodies, obstacles, parts, actuators, gravity, fluid, contact, pairs
        As `TreeSystem` takes them; names are those of the file.
    dt : float
        The time step that the file proposes, s.
    home : Array, shape (nq,)
        The coordinates of the file.
    keyframes : tuple of Keyframe
    ignored : tuple of str
        What the file says and a rigid engine does not do.
    sites, sensors
        As `TreeSystem` takes them.
    colours : mapping of str to (r, g, b, a)
        Of bodies, shapes (``body.shape``) and obstacles, as `TreeSystem` takes them.
    visuals : sequence of Visual
        What the file has to be looked at; meshes are read when it is.
    """

    name: str
    text: str
    bodies: tuple[TreeBody, ...]
    obstacles: tuple[Obstacle, ...]
    parts: tuple[Part, ...]
    actuators: tuple[Actuator, ...]
    gravity: Triple
    fluid: Fluid
    contact: ContactLaw
    pairs: Pairs
    dt: float
    home: Array
    keyframes: tuple[Keyframe, ...] = ()
    ignored: tuple[str, ...] = ()
    colours: Colours = field(default_factory=dict)
    sites: tuple[Site, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    visuals: Sequence[Visual] = ()
    _made: list[TreeSystem] = field(default_factory=list, init=False, repr=False)

    __repr__ = brief

    def _repr_html_(self) -> str:
        """Return a card for notebooks: what it is made of, and what a rigid engine leaves out."""
        shown: dict[str, tuple[Any, ...]] = {
            "bodies": self.bodies,
            "actuators": self.actuators,
            "keyframes": self.keyframes,
        }
        rows = {name: f"{len(parts)}: {names([one.name for one in parts])}" for name, parts in shown.items()}
        rows |= {"mass": f"{sum(body.mass for body in self.bodies):.6g} kg", "dt": f"{self.dt:g} s"}
        rows |= {"left out": names(self.ignored)} if self.ignored else {}
        return card("Robot", self.name, rows)

    def system(self) -> TreeSystem:
        """Return the robot as a system, the same one every time; its `spec` has the text of the file, too."""
        if not self._made:
            self._made.append(
                TreeSystem(
                    bodies=self.bodies, obstacles=self.obstacles, parts=self.parts, actuators=self.actuators,
                    gravity=self.gravity, fluid=self.fluid, contact=self.contact, pairs=self.pairs, source=self.text,
                    colours=self.colours, sites=self.sites, sensors=self.sensors, visuals=self.visuals,
                )
            )  # fmt: skip
        return self._made[0]

    def start(
        self,
        keyframe: str = "",
        *,
        joints: Mapping[str, ArrayLike] | None = None,
        rates: Mapping[str, ArrayLike] | None = None,
        project: bool = False,
    ) -> State:
        """Return a state that the laws allow.

        Parameters
        ----------
        keyframe : str
            Where to begin; the coordinates of the file, at rest, without it.
        joints, rates : mapping
            Coordinates and rates by name of the joint, in the place of those, as `TreeSystem.state` takes them.
        project : bool
            Move a state that breaks limits, opens loops or has bodies in one another to the nearest one that does not.

        Raises
        ------
        InputError
            An unknown name; a state that the laws do not allow: what is wrong with it, and by how much.
        """
        system, begin = self.system(), self._beginning(keyframe)
        given = system.state(joints, rates)
        q, v = begin.q.copy(), begin.v.copy()
        for name in joints or {}:
            q[system.coordinates(name)] = given.q[system.coordinates(name)]
        for name in rates or {}:
            v[system.velocities(name)] = given.v[system.velocities(name)]
        state = State(q=q, v=v, memory=begin.memory)
        return self.allowed(state, project=project)

    def allowed(self, state: State, *, project: bool = False) -> State:
        """Return a state if limits, loops and bodies allow it; with `project` the nearest one that they do.

        Raises
        ------
        InputError
            They do not: what is wrong, and by how much.
        """
        system = self.system()
        wrong = _wrong(system, state)
        if not wrong:
            return state
        if not project:
            text = "; ".join(wrong[:SHOWN])
            mend = "Give other joints, or pass project=True (--project) to move it to the nearest one."
            raise InputError(f"start of {self.name}", text, "a state that limits, loops and bodies allow", mend)
        placed = projected(system, state)
        try:
            return replace(pushed_apart(system, placed), v=placed.v, memory=state.memory)
        except InputError as error:
            mend = (
                f"{error.mend} Shapes that joints never part: read_robot(..., mend=True) (--mend) has them not touch."
            )
            raise InputError(error.name, error.given, error.allowed, mend) from None

    def troubles(self, keyframe: str = "") -> tuple[str, ...]:
        """Return what is wrong with the start of the file or one of its keyframes: limits, loops, overlaps."""
        return _wrong(self.system(), self._beginning(keyframe))

    def _beginning(self, keyframe: str) -> State:
        known = {one.name: one for one in self.keyframes}
        if not keyframe:
            return State(q=self.home, v=np.zeros(self.system().nv))
        if keyframe not in known:
            raise InputError("keyframe", repr(keyframe), *nearest(keyframe, known))
        one = known[keyframe]
        return State(q=one.q, v=one.v, memory={MEMORY: one.states} if one.states.any() else {})


def refuse(name: str, lacking: Sequence[str]) -> None:
    """Raise InputError if a file needs what cannot be had yet: all of it, or the first dozen."""
    if lacking:
        more = f" and {len(lacking) - 12} more" if len(lacking) > 12 else ""
        mend = "Take these parts out of the file, or write the system: gaussdyn.mechanics.trees.TreeSystem(...)."
        raise InputError(f"robot {name}", "; ".join(lacking[:12]) + more, "what a TreeSystem has", mend)


def _wrong(system: TreeSystem, state: State) -> tuple[str, ...]:
    """Return the limits that a state breaks, the loops that it opens, and the bodies that are in one another."""
    deep = (one for one in overlaps(system, state, tolerance=1e-10) if "/" in one.contact)
    return tuple(map(str, [*violations(system, state), *deep]))
