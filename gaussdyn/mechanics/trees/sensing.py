"""What the sensors of trees read along a run.

Accelerations, and with them the forces between a body and its parent, are the changes of velocities and momenta over
the step that ended in a state: they fit to its reactions exactly, whatever the length of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...linalg.rotations import cross, matrix_of, quaternion_of
from ...mends import other_name
from ..collision.body_motions import BodyMotions
from ..names import nearest
from .forces import actuator_force, actuator_forces, length_and_rate
from .forest_state import ForestState, held
from .sensors import KINDS, Sensor, Site
from .site_volumes import meets

if TYPE_CHECKING:
    from .system import TreeSystem

Column = tuple[str, Array]  # unit and one value per saved state


@dataclass(frozen=True, eq=False)
class Here:
    """A system at one saved state, and the state before the step that ended there.

    Attributes
    ----------
    system : TreeSystem
    t, dt : float
        Time and length of the step (0 in the first state), s.
    q, v, before_q, before_v : Array
    control : Array or None
    touching : callable
        Returns the contacts of the state.
    """

    system: TreeSystem
    t: float
    dt: float
    q: Array
    v: Array
    before_q: Array
    before_v: Array
    control: Array | None
    touching: Callable[[], Sequence[Any]]

    @cached_property
    def state(self) -> ForestState:
        """The forest at the state."""
        return ForestState.at(self.system.forest, self.q, self.v, self.control)

    @cached_property
    def now(self) -> BodyMotions:
        """How all bodies move."""
        return self.state.bodies()

    @cached_property
    def before(self) -> BodyMotions:
        """How all bodies moved before the step."""
        return ForestState.at(self.system.forest, self.before_q, self.before_v).bodies()

    @cached_property
    def contacts(self) -> Sequence[Any]:
        """The contacts."""
        return self.touching()

    @cached_property
    def pushing(self) -> Mapping[str, Sequence[tuple[Array, Array, float]]]:
        """Point, normal into the body and normal force of the contacts that push a body, by its name."""
        found: dict[str, list[tuple[Array, Array, float]]] = {}
        for touch in self.contacts:
            load = float(touch.reaction[0])
            if load != 0.0 and touch.point is not None and touch.normal is not None:
                for name, inwards in zip(touch.between, (touch.normal, -touch.normal), strict=True):
                    found.setdefault(name, []).append((touch.point, inwards, load))
        return found

    @cached_property
    def sites(self) -> Mapping[str, Site]:
        """The sites, by name."""
        return {one.name: one for one in self.system.sites}

    def rate(self, now: Array, before: Array) -> Array:
        """Return by how much something changed per second of the step; zero in the first state."""
        return (now - before) / self.dt if self.dt > 0.0 else np.zeros_like(now)

    def body(self, name: str) -> int:
        """Return the number of a body."""
        return self.system.places.bodies[name]

    def beyond(self, name: str) -> list[int]:
        """Return the numbers of a body and of all that hangs on it."""
        found = [name]
        for one in self.system.bodies:
            if one.parent in found:
                found.append(one.name)
        return [self.body(one) for one in found]


def point_motion(bodies: BodyMotions, b: int, at: Sequence[float]) -> tuple[Array, Array]:
    """Return place and velocity of a point of a body in space."""
    arm = bodies.R[b] @ np.asarray(at, dtype=np.float64)
    return bodies.x[b] + arm, bodies.v[b] + cross(bodies.omega[b], arm)


def momenta(system: TreeSystem, bodies: BodyMotions, chosen: Sequence[int], about: Array) -> Array:
    """Return momentum, and angular momentum about a point in space, of some bodies, shape (6,)."""
    total = np.zeros(6)
    for b in chosen:
        one = system.bodies[b]
        x, u = point_motion(bodies, b, one.centre)
        R = bodies.R[b]
        total[:3] += one.mass * u
        total[3:] += one.mass * cross(x - about, u) + R @ (np.array(one.inertia) @ (R.T @ bodies.omega[b]))
    return total


def joint_wrench(here: Here, sensor: Sensor) -> Array:
    """Return force and moment, about the frame of a sensor, on the parent of a body: what moves it less what pushes it.

    Weight and contacts push; MuJoCo has the same sign.
    """
    chosen, system = here.beyond(sensor.of), here.system
    about, _ = point_motion(here.now, here.body(sensor.of), sensor.at)
    wrench = here.rate(momenta(system, here.now, chosen, about), momenta(system, here.before, chosen, about))
    g, names = np.array(system.gravity), {system.bodies[b].name for b in chosen}
    for b in chosen:
        one = system.bodies[b]
        weight = one.mass * (1.0 - one.lift) * g
        wrench -= _about(about, point_motion(here.now, b, one.centre)[0], weight)
    for touch in here.contacts:
        inside = [name in names for name in touch.between]
        if inside[0] != inside[1] and touch.force is not None and touch.point is not None:
            wrench -= _about(about, touch.point, touch.force if inside[0] else -touch.force)
    return wrench


def _about(about: Array, at: Array, force: Array) -> Array:
    return np.concatenate([force, cross(at - about, force)])


def _axes(here: Here, sensor: Sensor) -> Array:
    """Return the axes of the frame of a sensor in space, shape (3, 3)."""
    found: Array = here.now.R[here.body(sensor.of)] @ matrix_of(sensor.turn)
    return found


def _gyro(here: Here, sensor: Sensor) -> Array:
    found: Array = _axes(here, sensor).T @ here.now.omega[here.body(sensor.of)]
    return found


def _velocimeter(here: Here, sensor: Sensor) -> Array:
    found: Array = _axes(here, sensor).T @ point_motion(here.now, here.body(sensor.of), sensor.at)[1]
    return found


def _accelerometer(here: Here, sensor: Sensor) -> Array:
    """Return what a body that hangs on springs in the sensor would show: acceleration less gravity, in its axes."""
    b = here.body(sensor.of)
    now, before = (point_motion(bodies, b, sensor.at)[1] for bodies in (here.now, here.before))
    found: Array = _axes(here, sensor).T @ (here.rate(now, before) - np.array(here.system.gravity))
    return found


def _force(here: Here, sensor: Sensor) -> Array:
    found: Array = _axes(here, sensor).T @ joint_wrench(here, sensor)[:3]
    return found


def _torque(here: Here, sensor: Sensor) -> Array:
    found: Array = _axes(here, sensor).T @ joint_wrench(here, sensor)[3:]
    return found


def _subtree(here: Here, sensor: Sensor, which: int) -> Array:
    chosen = here.beyond(sensor.of)
    masses = np.array([here.system.bodies[b].mass for b in chosen])
    points = np.array([point_motion(here.now, b, here.system.bodies[b].centre)[which] for b in chosen])
    found: Array = masses @ points / max(masses.sum(), 1e-300)
    return found


def _touch(here: Here, sensor: Sensor) -> Array:
    """Return the sum of the normal forces on the body of a site whose normals go through its volume."""
    site = here.sites[sensor.of]
    found, total = here.pushing.get(site.body, ()), 0.0
    if found:
        b = here.body(site.body)
        x, R = point_motion(here.now, b, site.at)[0], here.now.R[b] @ matrix_of(site.turn)
        total = sum(load for point, inwards, load in found if meets(site, R.T @ (point - x), R.T @ inwards))
    return np.array([total])


def _line(here: Here, line: int, which: int) -> Array:
    trees, drives = held(here.state.forest.trees), held(here.state.forest.drives)
    return np.array([length_and_rate(trees, drives, here.state.q, here.state.v, line)[which]])


def _of_actuator(here: Here, sensor: Sensor, which: int) -> Array:
    system = here.system
    k = [one.name for one in system.actuators].index(sensor.of)
    if which < 2:
        return _line(here, len(system.forest.drives.tendons) + k, which)
    trees, drives = held(here.state.forest.trees), held(here.state.forest.drives)
    return np.array([actuator_force(trees, drives, here.state.q, here.state.v, k)])


def _joint_effort(here: Here, sensor: Sensor) -> Array:
    sums, spare = np.zeros((2, len(here.v)))
    trees, drives = held(here.state.forest.trees), held(here.state.forest.drives)
    actuator_forces(trees, drives, here.state.q, here.state.v, here.state.v, sums, spare)
    return sums[here.system.velocities(sensor.of)]


READ: Mapping[str, Callable[[Here, Sensor], Any]] = {
    "jointpos": lambda here, one: here.q[here.system.coordinates(one.of)],
    "jointvel": lambda here, one: here.v[here.system.velocities(one.of)],
    "jointactuatorfrc": _joint_effort,
    "ballquat": lambda here, one: here.q[here.system.coordinates(one.of)],
    "ballangvel": lambda here, one: here.v[here.system.velocities(one.of)],
    "tendonpos": lambda here, one: _line(here, here.system.places.lines[one.of], 0),
    "tendonvel": lambda here, one: _line(here, here.system.places.lines[one.of], 1),
    "actuatorpos": lambda here, one: _of_actuator(here, one, 0),
    "actuatorvel": lambda here, one: _of_actuator(here, one, 1),
    "actuatorfrc": lambda here, one: _of_actuator(here, one, 2),
    "gyro": _gyro,
    "accelerometer": _accelerometer,
    "velocimeter": _velocimeter,
    "framepos": lambda here, one: point_motion(here.now, here.body(one.of), one.at)[0],
    "framequat": lambda here, one: quaternion_of(_axes(here, one)),
    "framexaxis": lambda here, one: _axes(here, one)[:, 0],
    "frameyaxis": lambda here, one: _axes(here, one)[:, 1],
    "framezaxis": lambda here, one: _axes(here, one)[:, 2],
    "framelinvel": lambda here, one: point_motion(here.now, here.body(one.of), one.at)[1],
    "frameangvel": lambda here, one: here.now.omega[here.body(one.of)],
    "subtreecom": lambda here, one: _subtree(here, one, 0),
    "subtreelinvel": lambda here, one: _subtree(here, one, 1),
    "touch": _touch,
    "force": _force,
    "torque": _torque,
    "clock": lambda here, one: np.array([here.t]),
}


def check_sensors(system: TreeSystem) -> None:
    """Raise InputError if sites or sensors are of what is not there, or have names that were given before."""
    joints = {name: one for name, (one, *_) in system.places.joints.items()}
    known = {
        "joint": [name for name, one in joints.items() if one.velocities == 1],
        "ball": [name for name, one in joints.items() if one.motion == "ball"],
        "tendon": [name for name in system.places.lines if name not in joints],
        "actuator": [one.name for one in system.actuators],
        "body": list(system.places.bodies), "site": [one.name for one in system.sites], "": [""],
    }  # fmt: skip
    for site in system.sites:
        if site.body not in known["body"]:
            raise InputError(f"body of site {site.name}", repr(site.body), *nearest(site.body, known["body"]))
    for sensor in system.sensors:
        what = KINDS[sensor.reads][0]
        if sensor.of not in known[what]:
            raise InputError(f"{what} of sensor {sensor.name}", repr(sensor.of), *nearest(sensor.of, known[what]))
    for what, parts in (("sites", system.sites), ("sensors", system.sensors)):
        given = [one.name for one in parts]
        if twice := {name for name in given if given.count(name) > 1}:
            raise InputError(what, f"two called {', '.join(sorted(twice))}", "different names", other_name(min(twice)))


def read_sensors(system: TreeSystem, run: Any) -> dict[str, Column]:
    """Return the columns of all sensors of a system, along a stretch of a run of it.

    Parameters
    ----------
    run : Trajectory
        With its states, the states before, its contacts and its control.
    """
    if not system.sensors:
        return {}
    told = [f"control{k}" for k in range(len(system.actuators))]
    controls = np.column_stack([run[name] for name in told]) if told and told[0] in run else None
    lines = []
    for k in range(len(run)):
        here = Here(
            system, float(run.t[k]), float(run.t[k] - run.before_t[k]), run.q[k], run.v[k], run.before_q[k],
            run.before_v[k], None if controls is None else controls[k], partial(_touching, run, k),
        )  # fmt: skip
        lines.append(np.concatenate([_read(here, sensor) for sensor in system.sensors]))
    heads = [(name, _unit(system, one)) for one in system.sensors for name in one.names]
    values = np.array(lines).reshape(len(run), len(heads))
    return {name: (unit, np.ascontiguousarray(values[:, i])) for i, (name, unit) in enumerate(heads)}


def _touching(run: Any, k: int) -> Sequence[Any]:
    """Return the contacts of a saved state; those of all are made for it, as they are asked for next."""
    found: Sequence[Any] = run.table.made().at(k)
    return found


def _read(here: Here, sensor: Sensor) -> Array:
    values = np.asarray(READ[sensor.reads](here, sensor), dtype=np.float64)
    return np.clip(values, -sensor.cutoff, sensor.cutoff) if sensor.cutoff > 0.0 else values


def _unit(system: TreeSystem, sensor: Sensor) -> str:
    """Return the unit of what a sensor reads."""
    what, _, unit = KINDS[sensor.reads]
    if what != "joint":
        return unit
    turns = system.places.joints[sensor.of][0].motion == "hinge"
    return ("N m" if turns else "N") if unit == "N" else ("rad" if turns else "m") + unit
