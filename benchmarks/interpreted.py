"""Steps that go through Python: shapes in the plane, joints in space, up to a walking machine of 13 bodies.

Processor time per step of `MoreauJean` on one thread, ms: median and largest of a few rounds, after a first one that
loads the kernels. Every step is solved, or the status says so.

Run: ``python benchmarks/interpreted.py [--steps 60]``.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from gaussdyn import MoreauJean, SpatialSystem, State, build, simulate
from gaussdyn.linalg.rotations import pointing
from gaussdyn.mechanics.collision.shapes import HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.spatial.bodies import SpatialBody, brick
from gaussdyn.mechanics.spatial.joints import Hinge
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.system import System

DT, ROUNDS, LINK, FOOT = 1e-3, 5, 0.2, 0.02
SCENES = ("overhang", "wall_press", "pinched_capsule", "bricard")


def quadruped(drop: float = 0.0) -> tuple[SpatialSystem, State]:
    """Return a trunk on four legs of three links each, held upright by drives, its feet `drop` above the floor."""
    trunk = brick("trunk", mass=8.0, half=(0.25, 0.12, 0.05))
    bodies, joints, drives = [SpatialBody(name="trunk", mass=8.0, inertia=trunk.inertia)], [], []
    height = 2.0 * LINK + FOOT + drop
    places = {"trunk": (0.0, 0.0, height)}
    along, across = pointing((1.0, 0.0, 0.0)), pointing((0.0, 1.0, 0.0))
    for leg, (x, y) in enumerate(((0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15))):
        hip, thigh, shank = (f"{part}{leg}" for part in ("hip", "thigh", "shank"))
        foot = Sphere(radius=FOOT, at=(0.0, 0.0, -0.5 * LINK), name="foot")
        bodies += [
            SpatialBody(name=hip, mass=0.5, inertia=(5e-4,) * 3),
            SpatialBody(name=thigh, mass=0.8, inertia=(3e-3, 3e-3, 3e-4)),
            SpatialBody(name=shank, mass=0.3, inertia=(1e-3, 1e-3, 1e-4), shapes=(foot,)),
        ]
        pairs = (
            ("trunk", (x, y, 0.0), hip, (0.0, 0.0, 0.0), along),
            (hip, (0.0, 0.0, 0.0), thigh, (0.0, 0.0, 0.5 * LINK), across),
            (thigh, (0.0, 0.0, -0.5 * LINK), shank, (0.0, 0.0, 0.5 * LINK), across),
        )
        for upper, a, lower, b, axis in pairs:
            name = f"joint_{lower}"
            joints.append(Hinge(name=name, a=SpatialMarker(lower, b, axis), b=SpatialMarker(upper, a, axis)))
            drives.append(Drive(joint=name, stiffness=200.0, damping=4.0))
        places |= {
            hip: (x, y, height),
            thigh: (x, y, height - 0.5 * LINK),
            shank: (x, y, height - 1.5 * LINK),
        }
    system = SpatialSystem(
        bodies=bodies, joints=joints, forces=drives, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.7)
    )
    return system, system.state(places)


def measured(system: System, state: State, dt: float, steps: int) -> tuple[list[float], str]:
    """Return ms per step of every round, and how the last one ended."""
    method, found, status = MoreauJean(dt=dt), [], ""
    for k in range(ROUNDS + 1):
        start = time.process_time()
        run = simulate(system, state, state.t + steps * dt, stepper=method)
        spent = 1e3 * (time.process_time() - start) / max(len(run.steps.t), 1)
        status = run.status if run.stop is None else run.stop.reason
        found += [spent] if k else []
    return found, status


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=60)
    steps = parser.parse_args().steps
    rows: list[tuple[str, Callable[[], tuple[System, State, float]]]] = [
        (name, lambda name=name: (*_scene(name),))
        for name in SCENES  # type: ignore[misc]
    ]
    rows += [
        ("quadruped, standing", lambda: (*quadruped(), DT)),
        ("quadruped, dropped 5 cm", lambda: (*quadruped(0.05), DT)),
    ]
    print(f"{'':<26}{'bodies':>7}{'velocities':>12}{'rows':>6}{'ms per step':>13}{'largest':>9}  status")
    for name, make in rows:
        system, state, dt = make()
        near = system.near(state.t, state.q, state.v, dt)
        found, status = measured(system, state, dt, steps)
        bodies, size = len(getattr(system, "bodies", ())), len(near.rows(state.t, state.q, state.v))
        text = f"{name:<26}{bodies or '-':>7}{system.nv:>12}{size:>6}"
        print(f"{text}{statistics.median(found):>13.2f}{max(found):>9.2f}  {status}", flush=True)


def _scene(name: str) -> tuple[System, State, float]:
    scene = build(name)
    return scene.system, scene.state, scene.dt


if __name__ == "__main__":
    main()
