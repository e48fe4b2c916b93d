"""Three scenes in MuJoCo and Drake, as they come: the figures of other engines in README and docs/coming_from.md.

Run ``pip install mujoco drake``, then ``python benchmarks/other_engines.py``; what is not installed is left out.
`benchmarks/engines.py` prints what gaussdyn makes of the same scenes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

DT, G = 1e-3, 9.81


class Scene(NamedTuple):
    """Bodies on the plane z = 0: half edges of boxes, or the radius of balls, m; masses, kg; heights, m."""

    size: tuple[float, ...]
    masses: tuple[float, ...]
    heights: tuple[float, ...]
    mu: float
    slope: float = 0.0
    speed: float = 0.0

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Gravity in axes along the plane, m/s^2."""
        return G * math.sin(self.slope), 0.0, -G * math.cos(self.slope)


BALL = Scene(size=(0.1,), masses=(1.0,), heights=(0.1,), mu=0.3, speed=2.0)
BRICK = Scene(size=(0.1, 0.1, 0.05), masses=(1.0,), heights=(0.05,), mu=0.5, slope=math.atan(0.99 * 0.5))
STACK = Scene(
    size=(0.1, 0.1, 0.1), masses=(1.0,) * 19 + (1000.0,), heights=tuple(0.1 + 0.2 * k for k in range(20)), mu=0.5
)
Engine = Callable[[Scene, int], Iterator[np.ndarray]]
"""Yields places and velocities (bodies, 6) after every step."""


def mujoco_runs(stiff: bool) -> Engine:
    """Return MuJoCo with its default contacts, or the stiffest that the step allows."""

    def run(scene: Scene, steps: int) -> Iterator[np.ndarray]:
        import mujoco

        tight = 'cone="elliptic" integrator="implicitfast" iterations="500" tolerance="1e-15" ls_iterations="200"'
        hard = f'solref="{2 * DT} 1" solimp="0.9999 0.9999 0.001 0.5 2"'
        text = f'<mujoco><option timestep="{DT}" gravity="{" ".join(map(str, scene.gravity))}" {tight * stiff}/>'
        text += f'<default><geom friction="{scene.mu} 0 0" condim="3" {hard * stiff}/></default><worldbody>'
        text += '<geom type="plane" size="10 10 1"/>'
        kind, size = ("sphere" if len(scene.size) == 1 else "box"), " ".join(map(str, scene.size))
        for m, z in zip(scene.masses, scene.heights, strict=True):
            text += f'<body pos="0 0 {z}"><freejoint/><geom type="{kind}" size="{size}" mass="{m}"/></body>'
        model = mujoco.MjModel.from_xml_string(text + "</worldbody></mujoco>")
        data = mujoco.MjData(model)
        data.qvel[0] = scene.speed
        for _ in range(steps):
            mujoco.mj_step(model, data)
            yield np.c_[data.qpos.reshape(-1, 7)[:, :3], data.qvel.reshape(-1, 6)[:, :3]]

    return run


def drake_runs(sap: bool) -> Engine:
    """Return Drake with its default contact solver, or SAP; faces of boxes are hydroelastic, points would not do."""

    def run(scene: Scene, steps: int) -> Iterator[np.ndarray]:
        import pydrake.all as drake

        builder, boxes = drake.DiagramBuilder(), len(scene.size) == 3
        config = drake.MultibodyPlantConfig(time_step=DT)
        if sap:
            config.discrete_contact_approximation = "sap"
        plant, _ = drake.AddMultibodyPlant(config, builder)
        plant.mutable_gravity_field().set_gravity_vector(np.array(scene.gravity))

        def properties(ground: bool) -> Any:
            found = drake.ProximityProperties()
            drake.AddContactMaterial(friction=drake.CoulombFriction(scene.mu, scene.mu), properties=found)
            if boxes and ground:
                drake.AddRigidHydroelasticProperties(1.0, found)
            elif boxes:
                drake.AddCompliantHydroelasticProperties(0.1, 1e7, found)
            return found

        still = drake.RigidTransform()
        plant.RegisterCollisionGeometry(plant.world_body(), still, drake.HalfSpace(), "ground", properties(True))
        bodies = []
        for k, m in enumerate(scene.masses):
            make = drake.SpatialInertia.SolidBoxWithMass if boxes else drake.SpatialInertia.SolidSphereWithMass
            edges = [2.0 * x for x in scene.size] if boxes else list(scene.size)
            bodies.append(plant.AddRigidBody(f"b{k}", make(m, *edges)))
            shape = drake.Box(*edges) if boxes else drake.Sphere(*edges)
            plant.RegisterCollisionGeometry(bodies[-1], still, shape, f"g{k}", properties(False))
        plant.Finalize()
        simulator = drake.Simulator(builder.Build())
        context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        for body, z in zip(bodies, scene.heights, strict=True):
            plant.SetFreeBodyPose(context, body, drake.RigidTransform([0.0, 0.0, z]))
            start = drake.SpatialVelocity(np.zeros(3), np.array([scene.speed, 0.0, 0.0]))
            plant.SetFreeBodySpatialVelocity(context, body, start)
        simulator.Initialize()
        for k in range(1, steps + 1):
            simulator.AdvanceTo(k * DT)
            poses = [plant.EvalBodyPoseInWorld(context, body).translation() for body in bodies]
            rates = [plant.EvalBodySpatialVelocityInWorld(context, body).translational() for body in bodies]
            yield np.c_[poses, rates]

    return run


ENGINES = {
    "MuJoCo default": ("mujoco", mujoco_runs(False)), "MuJoCo stiff": ("mujoco", mujoco_runs(True)),
    "Drake default": ("pydrake", drake_runs(False)), "Drake SAP": ("pydrake", drake_runs(True)),
}  # fmt: skip


def thrown_ball(engine: Engine) -> tuple[float, float]:
    """Return the error of the speed after 0.1 s (m/s), and how high the ball hops (m)."""
    states = list(engine(BALL, round(0.1 / DT)))
    right = BALL.speed - BALL.mu * G * len(states) * DT
    return float(abs(states[-1][0, 3] - right)), max(0.0, float(max(one[0, 2] for one in states) - BALL.heights[0]))


def creep(engine: Engine) -> float:
    """Return how far the brick moves down the plane in 10 s, m."""
    *_, last = engine(BRICK, round(10.0 / DT))
    return float(np.hypot(last[0, 0], last[0, 1]))


def moved(engine: Engine) -> float:
    """Return how far a cube of the stack moves in 2 s, m; infinite where numbers overflow."""
    start = np.c_[np.zeros((20, 2)), STACK.heights]
    worst = max(float(np.abs(one[:, :3] - start).max()) for one in engine(STACK, round(2.0 / DT)))
    return worst if math.isfinite(worst) else math.inf


if __name__ == "__main__":
    print("                 error of speed    hop     creep in 10 s   stack moves by (m)")
    for name, (library, engine) in ENGINES.items():
        if find_spec(library) is None:
            print(f"{name:16s} {library} is not installed")
            continue
        error, hop = thrown_ball(engine)
        print(f"{name:16s} {error:10.1e} m/s {hop:8.1e} m {creep(engine):8.1e} m {moved(engine):12.1e}", flush=True)
