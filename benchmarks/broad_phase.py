"""Finding contacts among many bodies beside MuJoCo's collision detection, in one run, with CPU time.

    python benchmarks/broad_phase.py [--bodies 100 1000 10000] [--steps 5]

Gravel: balls, boxes and capsules between 7 and 10 cm across, slightly out of order on a grid above a floor. What is
timed are searches through all of them, their places drawn together until neighbours touch (ours: `find_features`;
MuJoCo: `mj_collision` after `mj_kinematics`); both list what is within 1 mm, ours more points of a pair. Ours: the
first search, those while all drift by 1 mm from one to the next (the mean of twenty), those at rest, and those at rest
but for ten bodies (the best of five). Pairs are those whose bounds are tested at rest. Then the bodies fall from where
they were: time to build the system, time of a step in `simulate`, and the most memory that the process had until then
(MuJoCo's is in it but for the first number of bodies).
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, simulate
from gaussdyn.mechanics.collision.bounds.search_records import ContactList
from gaussdyn.mechanics.collision.broad_phase import find_features
from gaussdyn.mechanics.spatial import Box, Capsule, HalfSpace, Sphere, solid

MARGIN, DT, PITCH, TIGHT = 1e-3, 1e-3, 0.104, 0.8


def gravel(n: int) -> tuple[list[Sphere | Box | Capsule], np.ndarray]:
    """Return n shapes and their poses, shape (n, 7)."""
    rng, k, across = np.random.default_rng(1), np.arange(n), round(n ** (1 / 3)) + 1
    r = rng.uniform(0.035, 0.05, n)
    shapes = [
        (Sphere(radius=x), Box(half=(x / 2, x / 2, x / 1.5)), Capsule(radius=x / 2, half_length=x / 2))[i % 3]
        for i, x in enumerate(r.tolist())
    ]
    grid = np.stack([k % across, k // across % across, k // across**2 + 1], axis=1) * PITCH
    places = grid + rng.uniform(-0.002, 0.002, (n, 3))
    turns = Rotation.random(n, random_state=1).as_quat()[:, [3, 0, 1, 2]]
    return shapes, np.hstack([places, turns])


def best(call: Callable[[], object]) -> float:
    """Return the shortest of five times, ms."""
    times = []
    for _ in range(5):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def mujoco_time(shapes: list[Sphere | Box | Capsule], poses: np.ndarray) -> tuple[float, int]:
    """Return time (ms) and number of contacts of MuJoCo."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.memory = 2 << 30
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1])
    for shape, pose in zip(shapes, poses, strict=True):
        body = spec.worldbody.add_body(pos=pose[:3], quat=pose[3:])
        body.add_freejoint()
        geom = body.add_geom(margin=MARGIN / 2)
        if isinstance(shape, Sphere):
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, [shape.radius, 0, 0]
        elif isinstance(shape, Box):
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, shape.half
        else:
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CAPSULE, [shape.radius, shape.half_length, 0]
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return best(lambda: mujoco.mj_collision(model, data)), int(data.ncon)


def own_search(system: SpatialSystem, poses: np.ndarray) -> tuple[list[float], int, int]:
    """Return times (ms): first, drifting, at rest, ten moving; then the number of pairs tested and of contacts."""
    shapes, x, none = system.contacts.shapes, np.ascontiguousarray(poses[:, :3]), np.zeros(len(poses))
    R = np.ascontiguousarray(Rotation.from_quat(poses[:, [4, 5, 6, 3]]).as_matrix())
    buffers, rng, drifting = shapes.buffers(), np.random.default_rng(1), []
    count = shapes.search(x, R, MARGIN, none, buffers)
    way = rng.normal(size=x.shape) * 1e-3

    def search(at: np.ndarray) -> None:
        find_features(buffers.shapes, at, R, MARGIN, none, buffers.space, ContactList(*buffers.answer))

    def first() -> None:
        buffers.space.near[0] = 0
        search(x)

    def ten_moving() -> None:
        at = x.copy()
        at[rng.choice(len(x), 10, replace=False)] += 0.02
        search(at)

    for k in range(20):
        start = time.process_time()
        search(x + k % 10 * way)
        drifting.append(time.process_time() - start)
    times = [best(first), 1e3 * float(np.mean(drifting)), best(lambda: search(x)), best(ten_moving)]
    return times, int(buffers.space.near[0]) - 1, count


def fall(n: int, steps: int) -> str:
    """Return a line of the table."""
    shapes, poses = gravel(n)
    start = time.process_time()
    bodies = [solid(f"b{k:05d}", shape, density=1000.0) for k, shape in enumerate(shapes)]
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5))
    state = system.state({body.name: pose for body, pose in zip(bodies, poses, strict=True)})
    built = time.process_time() - start
    tight = poses * ([TIGHT] * 3 + [1.0] * 4)
    own, pairs, count = own_search(system, tight)
    stepper = MoreauJean(dt=DT, tol=1e-10)
    simulate(system, state, DT, stepper=stepper)  # compiles or loads
    start = time.process_time()
    run = simulate(system, state, steps * DT, stepper=stepper, save=steps)
    step = (time.process_time() - start) / run.statistics["steps"]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    other, contacts = mujoco_time(shapes, tight)
    line = f"{n:6d} {' '.join(f'{x:8.2f}' for x in own)} {pairs:7d} {1e6 * own[2] / pairs:9.0f} {count:8d} "
    line += f"{other:11.2f} {contacts:9d} "
    return line + f"{built:9.2f} {step:7.3f} {memory:10.0f}"


def main() -> None:
    """Print one line per number of bodies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, nargs="*", default=[100, 1000, 10000])
    parser.add_argument("--steps", type=int, default=5)
    given = parser.parse_args()
    print(f"{'':6} {'first':>8} {'drift':>8} {'rest':>8} {'ten move':>8}")
    print("bodies       ms       ms       ms       ms   pairs ns a pair contacts", end="   ")
    print("MuJoCo ms  contacts   build s  step s  memory MB")
    for n in given.bodies:
        print(fall(n, given.steps), flush=True)


if __name__ == "__main__":
    main()
