"""Time per pair of shapes beside MuJoCo's collision detection, interleaved in one run, with CPU time.

    python benchmarks/collision.py [--pairs 200]

A scene of pairs in random poses that touch or nearly do, each far from all others. What is timed is a search through
all of it (ours: `find_features`, bounds, list of near pairs and sorting included; MuJoCo: `mj_collision` after
`mj_kinematics`), the best of some rounds, less the same with the two shapes of each pair drawn apart. Both find the
contacts within 1 mm. So every pair is another one than the pair before, as in a simulation: one pair asked for again
and again is known to the processor, and takes half the time.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

from gaussdyn.mechanics.collision.bounds.search_records import ContactList
from gaussdyn.mechanics.collision.broad_phase import find_features
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, ConvexMesh, Cylinder

MARGIN = 1e-3  # m
ROUNDS = 20
PITCH, APART = 0.8, 0.25  # m: between pairs, and how far those that do not touch are drawn apart


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


def mujoco_model(shapes, count):
    """Return a MuJoCo model with `count` times two free bodies of these shapes."""
    import mujoco

    spec = mujoco.MjSpec()
    for k in range(2 * count):
        shape, body = shapes[k % 2], spec.worldbody.add_body()
        body.add_freejoint()
        geom = body.add_geom(margin=MARGIN / 2)
        if isinstance(shape, Box):
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, shape.half
        elif isinstance(shape, Cylinder):
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [shape.radius, shape.half_length, 0]
        else:
            geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, f"m{k % 2}"
            if k < 2:
                mesh = spec.add_mesh(name=f"m{k}")
                mesh.uservert = np.array(shape.vertices).ravel()
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


def scene(places, apart):
    """Return places (2 n, 3) and turns (2 n, 3, 3) of all pairs side by side, the two of a pair drawn apart."""
    k = np.arange(len(places))
    corner = PITCH * np.stack([k % 10, k // 10 % 10, k // 100], axis=1)
    way = np.array([x[1] for x, _ in places])
    way *= 1.0 + apart / np.linalg.norm(way, axis=1)[:, None]
    return np.stack([corner, corner + way], axis=1).reshape(-1, 3), np.concatenate([R for _, R in places])


def own_search(shapes, places):
    """Return what searches through a scene, and what then tells the share of pairs with contacts."""
    system = Shapes.of({f"b{k:04d}": (shapes[k % 2],) for k in range(2 * len(places))})
    buffers, still = system.buffers(), np.zeros(2 * len(places))

    def at(x, R):
        out = ContactList(*buffers.answer)
        return partial(find_features, buffers.shapes, x, R, MARGIN, still, buffers.space, out)

    def share(count):
        return len(set((buffers.answer.label[:count, 0] // 2).tolist())) / len(places)

    return at, share


def other_search(shapes, places):
    """Return the same of MuJoCo."""
    mujoco, model = mujoco_model(shapes, len(places))

    def at(x, R):
        data = mujoco.MjData(model)
        data.qpos[:] = np.hstack([x, Rotation.from_matrix(R).as_quat()[:, [3, 0, 1, 2]]]).ravel()
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        at.data = data
        return partial(mujoco.mj_collision, model, data)

    def share(_):
        return len(set((at.data.contact.geom[:, 0] // 2).tolist())) / len(places)

    return at, share


def main() -> None:
    """Print microseconds per pair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    count = parser.parse_args().pairs
    print("pair            gaussdyn us   MuJoCo us   ratio   with contacts")
    for kind in ("box", "cylinder", "mesh 20", "mesh 200"):
        shapes = shapes_of(kind)
        places = poses(shapes, count)
        times, shares = np.full((2, 2), np.inf), [0.0, 0.0]
        both = own_search(shapes, places), other_search(shapes, places)
        for row, apart in enumerate((APART, 0.0)):
            searches = [at(*scene(places, apart)) for at, _ in both]
            for _ in range(ROUNDS):
                for k, search in enumerate(searches):
                    start = time.process_time()
                    found = search()
                    times[row, k] = min(times[row, k], time.process_time() - start)
                    shares[k] = both[k][1](found)
        own, other = 1e6 * (times[1] - times[0]) / count
        touch = "{:.2f} and {:.2f} of the pairs".format(*shares)
        print(f"{kind:15s} {own:11.2f} {other:11.2f} {own / other:7.2f}   {touch}")


if __name__ == "__main__":
    main()
