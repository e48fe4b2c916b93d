"""Time per pair of shapes beside MuJoCo's collision detection, interleaved in one run, with CPU time.

    python benchmarks/collision.py [--pairs 400]

Pairs in random poses that touch or nearly do. What is timed is the search of one system of two shapes (ours:
`find_features`, bounds and sorting included; MuJoCo: `mj_collision` after `mj_kinematics`); calls from Python are taken
off by timing the same shapes far apart. Both find the contacts within 1 mm.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.spatial.transform import Rotation

from gaussdyn.mechanics.collision.broad_phase import find_features
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, ConvexMesh, Cylinder, Sphere

MARGIN = 1e-3  # m
REPEATS = 20


def rock(corners, seed):
    points = np.random.default_rng(seed).normal(size=(corners, 3))
    return ConvexMesh(vertices=0.05 * points / np.linalg.norm(points, axis=1)[:, None])


def shapes_of(kind):
    """Return two shapes of 0.1 m."""
    if kind == "box":
        return [Box(half=(0.05, 0.05, 0.05))] * 2
    if kind == "cylinder":
        return [Cylinder(radius=0.05, half_length=0.05)] * 2
    return [rock(int(kind.split()[1]), seed) for seed in (0, 1)]


def mujoco_model(shapes):
    """Return a MuJoCo model with two free bodies of these shapes."""
    import mujoco

    spec = mujoco.MjSpec()
    for k, shape in enumerate(shapes):
        body = spec.worldbody.add_body(name=f"b{k}")
        body.add_freejoint()
        geom = body.add_geom(margin=MARGIN / 2)
        if isinstance(shape, Box):
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, shape.half
        elif isinstance(shape, Cylinder):
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [shape.radius, shape.half_length, 0]
        elif isinstance(shape, Sphere):
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, [shape.radius, 0, 0]
        else:
            mesh = spec.add_mesh(name=f"m{k}")
            mesh.uservert = np.array(shape.vertices).ravel()
            geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, f"m{k}"
    return mujoco, spec.compile()


def poses(shapes, count):
    """Return `count` poses at which the two touch within half a millimetre."""
    found, system = [], Shapes.of({"a": (shapes[0],), "b": (shapes[1],)})
    for seed in range(count):
        rng = np.random.default_rng(seed)
        R, way = Rotation.random(2, random_state=rng).as_matrix(), rng.normal(size=3)
        way /= np.linalg.norm(way)
        low, high = 0.0, 0.3
        for _ in range(24):
            middle = 0.5 * (low + high)
            pose = {"a": (np.zeros(3), R[0]), "b": (middle * way, R[1])}
            near = system.find([np.zeros(3), middle * way], R, 0.0)
            gaps = [f.geometry(*pose[f.bodies[0]], *pose[f.bodies[1]])[0] for f in near]
            low, high = (middle, high) if gaps and min(gaps) < 0.0 else (low, middle)
        found.append((np.array([np.zeros(3), high * way]), R))
    return found


def own_time(system, places):
    """Return CPU time of `REPEATS` searches at every pose, s."""
    buffers, none = system.buffers(), np.zeros(2)
    start = time.process_time()
    for x, R in places:
        for _ in range(REPEATS):
            find_features(*system.arrays, x, R, MARGIN, none, *buffers.space)
    return time.process_time() - start


def other_time(mujoco, model, places):
    """Return the same of `mj_collision`, and the share of poses with contacts."""
    data, total, met = mujoco.MjData(model), 0.0, 0
    for x, R in places:
        for k in (0, 1):
            data.qpos[7 * k : 7 * k + 3] = x[k]
            data.qpos[7 * k + 3 : 7 * k + 7] = Rotation.from_matrix(R[k]).as_quat()[[3, 0, 1, 2]]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        start = time.process_time()
        for _ in range(REPEATS):
            mujoco.mj_collision(model, data)
        total += time.process_time() - start
        met += data.ncon > 0
    return total, met / len(places)


def main() -> None:
    """Print microseconds per search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    count = parser.parse_args().pairs
    print("pair            gaussdyn us   MuJoCo us   ratio   with contacts")
    for kind in ("box", "cylinder", "mesh 20", "mesh 200"):
        shapes = shapes_of(kind)
        system, places = Shapes.of({"a": (shapes[0],), "b": (shapes[1],)}), poses(shapes, count)
        mujoco, model = mujoco_model(shapes)
        far = [(x * 100.0, R) for x, R in places]
        rounds = []
        for _ in range(3):
            theirs, met = other_time(mujoco, model, places)
            idle = own_time(system, far), other_time(mujoco, model, far)[0]
            rounds.append([own_time(system, places) - idle[0], theirs - idle[1]])
        own, other = 1e6 * np.min(rounds, axis=0) / (count * REPEATS)
        found = np.mean([len(system.find(x, R, MARGIN)) > 0 for x, R in places])
        print(f"{kind:15s} {own:11.2f} {other:11.2f} {own / other:7.2f}   {found:.2f} and {met:.2f} of the poses")


if __name__ == "__main__":
    main()
