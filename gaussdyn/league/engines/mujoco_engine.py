"""MuJoCo: soft contacts of a convex problem; no coefficient of restitution."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array
from ..world import (
    GROUND,
    Ball,
    Block,
    Body,
    Pin,
    World,
    axis_in_body,
    hinge_rate,
    in_body,
    relative_turn,
    spin_in_body,
)  # fmt: skip
from .protocol import DEFAULTS, Simulation

STIFF, HELD, FOURTH = "stiff", "held", "rk4"
TIGHT = 'cone="elliptic" integrator="implicitfast" iterations="500" tolerance="1e-15" ls_iterations="200"'
OPTIONS = {
    DEFAULTS: "",
    STIFF: TIGHT,
    FOURTH: TIGHT.replace("implicitfast", "RK4"),
    HELD: f'{TIGHT} impratio="100" noslip_iterations="200" noslip_tolerance="1e-15"',
}
HARD = "0.9999 0.9999 0.001 0.5 2"


class MujocoEngine:
    """MuJoCo by its model language."""

    name, library = "MuJoCo", "mujoco"
    settings: ClassVar[Mapping[str, str]] = {
        DEFAULTS: "timestep only",
        STIFF: "elliptic cone, implicitfast, tolerance 1e-15, solref 2 dt; restitution by a spring and damper",
        HELD: "stiff solver with impratio 100 and 200 noslip iterations, contacts as soft as they come",
        FOURTH: "stiff, integrated by RK4",
    }

    def version(self) -> str:
        """Return the version of the library."""
        import mujoco

        return str(mujoco.__version__)

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        """Return a model and its data."""
        return _Running(world, model_text(world, setting, dt))


class _Running:
    """A model under way."""

    def __init__(self, world: World, text: str) -> None:
        import mujoco

        self.mujoco, self.model = mujoco, mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self.ids = [self.model.body(f"b{k}").id for k in range(len(world.bodies))]
        hung, _ = world.tree()
        for k, body in enumerate(world.bodies):
            first = self.model.body_dofadr[self.ids[k]]
            rates = _rates(world, body, hung.get(k))
            self.data.qvel[first : first + len(rates)] = rates
        mujoco.mj_forward(self.model, self.data)

    def step(self, n: int) -> None:
        """Take n steps in one call."""
        self.mujoco.mj_step(self.model, self.data, n)

    def states(self) -> Array:
        """Return all bodies; poses follow from the coordinates first."""
        m, mujoco = self.data, self.mujoco
        mujoco.mj_kinematics(self.model, m)
        mujoco.mj_comPos(self.model, m)
        mujoco.mj_comVel(self.model, m)
        rate, rows = np.zeros(6), []
        for k in self.ids:
            mujoco.mj_objectVelocity(self.model, m, mujoco.mjtObj.mjOBJ_BODY, k, rate, 0)
            rows.append([*m.xipos[k], *m.xquat[k], *rate[3:], *rate[:3]])
        return np.array(rows)

    def said(self) -> str:
        """Return the names of the warnings that were raised."""
        warnings = self.mujoco.mjtWarning
        raised = [k for k, one in enumerate(self.data.warning) if one.number]
        return ", ".join(warnings(k).name.removeprefix("mjWARN_").lower() for k in raised)


def _rates(world: World, body: Body, pin: Pin | None) -> list[float]:
    """Return the generalised velocities of a body at the start."""
    if pin is None:
        return [*body.velocity, *spin_in_body(body)]
    return [hinge_rate(world, pin)] if pin.axis is not None else spin_in_body(body).tolist()


def model_text(world: World, setting: str, dt: float) -> str:
    """Return the world in MuJoCo's model language; bodies hang on those that carry them, loops are closed by points."""
    hung, loops = world.tree()
    parts = [
        f'<mujoco><option timestep="{dt}" gravity="{_row(world.gravity)}" {OPTIONS[setting]}/><size memory="300M"/>',
        f"<default><geom {contact(world, setting, dt)}/></default><worldbody>",
    ]
    for wall in world.walls:
        parts.append(f'<geom type="plane" size="20 20 1" pos="{_row(wall.point)}" zaxis="{_row(wall.normal)}"/>')
    parts += [_body(world, k, hung) for k in range(len(world.bodies)) if k not in hung or hung[k].first == GROUND]
    parts.append("</worldbody><equality>")
    soft = f'solref="{2 * dt} 1" solimp="{HARD}"' if setting in (STIFF, FOURTH) else ""
    for pin in loops:
        anchor = _row(in_body(world.bodies[pin.second], pin.point))
        first = "world" if pin.first == GROUND else f"b{pin.first}"
        parts.append(f'<connect body1="b{pin.second}" body2="{first}" anchor="{anchor}" {soft}/>')
    return "".join([*parts, "</equality></mujoco>"])


def contact(world: World, setting: str, dt: float) -> str:
    """Return friction, and the softness of contacts; stiff ones restore speed by a damper that is tuned for it."""
    friction = f'condim="3" friction="{world.mu} 0 0"' if world.mu > 0.0 else 'condim="1"'
    if setting not in (STIFF, FOURTH):
        return friction
    reference = f"{2 * dt} 1"
    if world.restitution > 0.0:
        share, rate = -math.log(min(world.restitution, 0.999)), 0.1 / dt
        damping = share / math.hypot(math.pi, share)
        reference = f"{-rate * rate} {-2.0 * damping * rate}"
    return f'{friction} solref="{reference}" solimp="{HARD}"'


def _body(world: World, k: int, hung: dict[int, Pin]) -> str:
    """Return a body with its joint, and all that hangs on it."""
    body, pin = world.bodies[k], hung.get(k)
    place, turn = body.place, body.turn
    if pin is not None and pin.first != GROUND:
        carrier = world.bodies[pin.first]
        place, turn = tuple(in_body(carrier, body.place)), tuple(relative_turn(carrier, body))
    inside = "".join(_body(world, j, hung) for j, one in hung.items() if one.first == k)
    inertia = f'<inertial pos="0 0 0" mass="{body.mass!r}" diaginertia="{_row(body.inertia)}"/>'
    text = f'<body name="b{k}" pos="{_row(place)}" quat="{_row(turn)}">{_joint(body, pin)}{inertia}'
    return f"{text}{_geom(body)}{inside}</body>"


def _joint(body: Body, pin: Pin | None) -> str:
    if pin is None:
        return "<freejoint/>"
    point = _row(in_body(body, pin.point))
    if pin.axis is None:
        return f'<joint type="ball" pos="{point}"/>'
    return f'<joint type="hinge" pos="{point}" axis="{_row(axis_in_body(body, pin.axis))}"/>'


def _geom(body: Body) -> str:
    if body.shape is None:
        return ""
    if isinstance(body.shape, Ball):
        return f'<geom type="sphere" size="{body.shape.radius!r}"/>'
    if isinstance(body.shape, Block):
        return f'<geom type="box" size="{_row(body.shape.half)}"/>'
    return f'<geom type="capsule" size="{body.shape.radius!r} {body.shape.half_length!r}"/>'


def _row(values: Iterable[Any]) -> str:
    return " ".join(f"{float(x):.17g}" for x in values)
