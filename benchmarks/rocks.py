"""A rock pile: random convex polyhedra poured into a box, beside MuJoCo with the same hulls in one run, by CPU time.

    python benchmarks/rocks.py [--rocks 200] [--seconds 1.0]

Prints the time per step of both (a step that was cut counts as one), the largest residual E of all steps and the
deepest penetration of ours, and what was not solved. MuJoCo runs with its defaults (soft contacts, vertices as float32)
and the same time step, for the same time.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.spatial.transform import Rotation

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, simulate
from gaussdyn.mechanics.spatial import Box, ConvexMesh, HalfSpace, solid

DT, MU, DENSITY, SIZE, SIDE = 2e-3, 0.5, 2600.0, 0.05, 0.35


def rock(k):
    """Return a body with 8 to 40 corners, about 0.1 m across."""
    rng = np.random.default_rng(k)
    points = rng.normal(size=(rng.integers(8, 41), 3))
    points *= SIZE * rng.uniform(0.7, 1.0, 3) / np.linalg.norm(points, axis=1)[:, None]
    return solid(f"rock{k:03d}", ConvexMesh(vertices=points), density=DENSITY)


def walls():
    """Return the floor and four walls."""
    thick, high = 0.1, 1.0
    sides = []
    for name, x, y in (("west", -1, 0), ("east", 1, 0), ("south", 0, -1), ("north", 0, 1)):
        half = (thick if x else SIDE + 2 * thick, thick if y else SIDE + 2 * thick, high)
        sides.append(Box(name=name, half=half, at=((SIDE + thick) * x, (SIDE + thick) * y, high)))
    return [HalfSpace(name="floor"), *sides]


def starts(count):
    """Return places and attitudes: layers above the floor."""
    per = int(2 * SIDE / (2.4 * SIZE))
    turns = Rotation.random(count, random_state=1).as_quat()[:, [3, 0, 1, 2]]
    found = []
    for k in range(count):
        layer, cell = divmod(k, per * per)
        i, j = divmod(cell, per)
        x, y = ((m - 0.5 * (per - 1)) * 2.4 * SIZE for m in (i, j))
        found.append([x, y, 1.3 * SIZE + 2.4 * SIZE * layer, *turns[k]])
    return np.array(found)


def mujoco_step(rocks, poses, steps):
    """Return the CPU time per step of MuJoCo."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.timestep = DT
    for wall in walls():
        if isinstance(wall, Box):
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=wall.half, pos=wall.at, friction=[MU, 0, 0])
        else:
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1], friction=[MU, 0, 0])
    for body, pose in zip(rocks, poses, strict=True):
        mesh = spec.add_mesh(name=body.name)
        mesh.uservert = body.shapes[0].hull.corners.ravel()
        one = spec.worldbody.add_body(name=body.name, pos=pose[:3], quat=pose[3:])
        one.add_freejoint()
        one.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=body.name, density=DENSITY, friction=[MU, 0, 0])
    model = spec.compile()
    data = mujoco.MjData(model)
    start = time.process_time()
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return (time.process_time() - start) / steps, data.ncon


def main() -> None:
    """Print one line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rocks", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    rocks, poses = [rock(k) for k in range(options.rocks)], starts(options.rocks)
    system = SpatialSystem(bodies=rocks, obstacles=walls(), contact=ContactLaw(mu=MU))
    state = system.state({body.name: pose for body, pose in zip(rocks, poses, strict=True)})
    simulate(system, state, DT, stepper=MoreauJean(dt=DT))  # compiles or loads
    start = time.process_time()
    run = simulate(system, state, options.seconds, stepper=MoreauJean(dt=DT), on_failure="record", save=10)
    steps = round((run.t[-1] - run.t[0]) / DT)
    own = (time.process_time() - start) / steps
    other, contacts = mujoco_step(rocks, poses, steps)
    told = run.statistics
    print(f"{options.rocks} rocks, {steps} steps in {told['steps']} pieces")
    print(f"ms a step: {1e3 * own:.2f}, MuJoCo {1e3 * other:.2f}")
    print(f"ratio {own / other:.1f}; {len(run.contacts(-1))} contacts at the end, MuJoCo {contacts}")
    print(f"largest E {told['max_residual']:.1e}, unsolved steps {told['unsolved_steps']}")
    print(f"deepest {told['max_penetration_m']:.1e} m")


if __name__ == "__main__":
    main()
