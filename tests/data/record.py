"""Record the contact problems in this folder: ``python tests/data/record.py [FOLDER]``.

Small planar systems, each chosen for what makes a contact problem hard: redundant supports, sliding, impacts, wedging,
several bodies, rods beside contacts. The problem of one time step of each is written as an FCLib file.
The .npz files are none of these: contact problems and a state of rocking stacks, in space, as runs came upon them.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody, Point, box, fixed
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact, Rod
from gaussdyn.mechanics.planar.forces import Load, Spring
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.scene import Scene
from gaussdyn.mechanics.state import State
from gaussdyn.scenes.catalogue import build

HERE = Path(__file__).parent
FLOOR = HalfPlane(name="floor")


@dataclass(frozen=True)
class Recording:
    """What to run, and which step's problem to keep."""

    system: PlanarSystem
    state: State
    step: int = 3
    dt: float = 1e-3


def corners(name: str, width: float, height: float) -> list[Marker]:
    a, b = width / 2, height / 2
    return [Marker(name, (x, y), f"c{k}") for k, (x, y) in enumerate([(-a, -b), (a, -b), (a, b), (-a, b)])]


def feet(name: str, width: float, height: float, count: int) -> list[Marker]:
    return [Marker(name, (x, -height / 2), f"f{k}") for k, x in enumerate(np.linspace(-width / 2, width / 2, count))]


def against(points: list[Marker], plane: HalfPlane, **options: float) -> list[PlanarContact]:
    return [PlanarContact(point=point, plane=plane, **options) for point in points]


def table() -> Recording:
    """Eight feet on the floor, pushed but held: reactions highly redundant."""
    push = Load(point=Marker("table", (0.0, 0.1)), force_xy=(3.0, 0.0))
    body = box("table", mass=2.0, width=1.0, height=0.3)
    system = PlanarSystem(bodies=[body], contacts=against(feet("table", 1.0, 0.3, 8), FLOOR, mu=0.4), forces=[push])
    return Recording(system, system.state({"table": (0.0, 0.15, 0.0)}))


def thrown_box() -> Recording:
    """A turning box whose corner strikes the floor with restitution."""
    body = box("box", mass=1.0, width=0.4, height=0.2)
    contacts = against(corners("box", 0.4, 0.2), FLOOR, mu=0.5, eps_n=0.5)
    system = PlanarSystem(bodies=[body], contacts=contacts)
    lift = 0.2 * np.sin(0.4) + 0.1 * np.cos(0.4)
    return Recording(system, system.state({"box": (0.0, lift + 2e-3, 0.4)}, {"box": (1.5, -1.0, -2.0)}), step=4)


def groove() -> Recording:
    """A box that stands with two corners in a V-groove."""
    s = np.sqrt(0.5)
    walls = [HalfPlane(name="left", normal=(s, s)), HalfPlane(name="right", normal=(-s, s))]
    points = corners("box", 0.4, 0.4)
    contacts = [c for wall, point in zip(walls, points, strict=False) for c in against([point], wall, mu=0.6)]
    system = PlanarSystem(bodies=[box("box", mass=1.0, width=0.4, height=0.4)], contacts=contacts)
    return Recording(system, system.state({"box": (0.0, 0.4, 0.0)}))


def wedge() -> Recording:
    """A wedge driven between two steep walls, four contacts: self-locking by friction."""
    walls = {side: HalfPlane(name=name, point=(side * 0.2, 0.0), normal=(-side * np.cos(0.2), np.sin(0.2)))
             for side, name in ((-1.0, "left"), (1.0, "right"))}  # fmt: skip
    contacts = []
    for side, wall in walls.items():
        x = lambda y, side=side: side * (0.2 + y * np.tan(0.2))  # noqa: E731
        points = [Marker("wedge", (x(y), y), f"{wall.name}{k}") for k, y in enumerate((0.0, 0.5))]
        contacts += against(points, wall, mu=0.5)
    load = Load(point=Marker("wedge"), force_xy=(2.0, -30.0))
    system = PlanarSystem(
        bodies=[PlanarBody(name="wedge", mass=1.5, inertia=0.1)], contacts=contacts, forces=[load]
    )  # fmt: skip
    return Recording(system, system.state({}))


def ladder() -> Recording:
    """A rod between floor and wall, sliding at both ends."""
    ends = [Marker("ladder", (-1.0, 0.0), "foot"), Marker("ladder", (1.0, 0.0), "head")]
    wall = HalfPlane(name="wall", normal=(-1.0, 0.0))
    contacts = against(ends[:1], FLOOR, mu=0.2) + against(ends[1:], wall, mu=0.3)
    body = PlanarBody(name="ladder", mass=4.0, inertia=4.0 / 3.0)
    system = PlanarSystem(bodies=[body], contacts=contacts)
    c, s = np.cos(0.9), np.sin(0.9)
    return Recording(system, system.state({"ladder": (-c, s, 0.9)}))


def rocking_stack() -> Recording:
    """Three boxes, four candidate contacts at every joint, struck so that some contacts open."""
    names, contacts, place = ("a", "b", "c"), [], {}
    under = FLOOR
    for k, name in enumerate(names):
        contacts += against(feet(name, 0.4, 0.2, 4), under, mu=0.5)
        under = HalfPlane(name="top", point=(0.0, 0.1), body=name)
        place[name] = (0.01 * k, 0.1 + 0.2 * k, 0.0)
    bodies = [box(name, mass=1.0 + 9.0 * (name == "c"), width=0.4, height=0.2) for name in names]
    system = PlanarSystem(bodies=bodies, contacts=contacts)
    return Recording(system, system.state(place, {"a": (0.3, 0.0, 0.0), "b": (0.0, 0.2, 0.5)}), step=2)


def dropped_plank() -> Recording:
    """A plank that falls flat on three supports at once."""
    body = PlanarBody(name="plank", mass=6.0, inertia=2.0)
    points = [Marker("plank", (x, 0.0), f"s{k}") for k, x in enumerate((-1.0, 0.0, 1.0))]
    system = PlanarSystem(bodies=[body], contacts=against(points, FLOOR, mu=0.3))
    return Recording(system, system.state({"plank": (0.0, 1e-3, 0.0)}, {"plank": (0.5, -1.0, 0.0)}), step=2)


def belt() -> Recording:
    """A block on a running belt, held back by a spring: slips against the belt."""
    points = corners("block", 0.4, 0.2)[:2]
    contacts = against(points, HalfPlane(name="belt", belt=0.5), mu=0.3)
    spring = Spring(a=Marker("block"), b=fixed(-1.0, 0.1), stiffness=50.0, length=0.8)
    body = box("block", mass=1.0, width=0.4, height=0.2)
    system = PlanarSystem(bodies=[body], contacts=contacts, forces=[spring])
    return Recording(system, system.state({"block": (0.0, 0.1, 0.0)}))


def rolling_disc() -> Recording:
    """A disc that spins and slides on a slope, on the way to rolling."""
    slope = HalfPlane(name="slope", normal=(0.3, 1.0))
    contact = PlanarContact(point=Marker("disc"), plane=slope, mu=0.2, radius=0.25)
    system = PlanarSystem(bodies=[PlanarBody(name="disc", mass=1.0, inertia=0.5 * 0.25**2)], contacts=[contact])
    n = slope.normal
    return Recording(system, system.state({"disc": (0.25 * n[0], 0.25 * n[1], 0.0)}, {"disc": (0.0, 0.0, 8.0)}))


def linkage() -> Recording:
    """Three masses coupled by rods in a triangle, two of them sliding on the floor: bilateral rows beside contacts."""
    names, place = ("a", "b", "c"), {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (0.5, 0.75)}
    rods = [("a", "b"), ("b", "c"), ("a", "c")]
    length = {rod: float(np.hypot(*np.subtract(place[rod[0]], place[rod[1]]))) for rod in rods}
    contacts = against([Marker("a"), Marker("b")], FLOOR, mu=0.3)
    contacts += [Rod(a=Marker(a), b=Marker(b), length=length[a, b]) for a, b in rods]
    system = PlanarSystem(bodies=[Point(name=name, mass=1.0) for name in names], contacts=contacts)
    return Recording(system, system.state(place, dict.fromkeys(names, (1.0, 0.0))))


def from_scene(scene: Scene, step: int) -> Recording:
    return Recording(scene.system, scene.state, step, scene.dt)


RECORDINGS = {
    "belt": belt,
    "dropped_plank": dropped_plank,
    "groove": groove,
    "incline_held": lambda: from_scene(build("incline", mu=0.5), 5),
    "incline_slip": lambda: from_scene(build("incline", mu=0.2), 5),
    "ladder": ladder,
    "linkage": linkage,
    "rocking_stack": rocking_stack,
    "rolling_disc": rolling_disc,
    "table": table,
    "thrown_box": thrown_box,
    "wedge": wedge,
}


def record(name: str, folder: Path) -> Path:
    """Run one system and keep the problem of the wanted step as ``<folder>/<name>.hdf5``."""
    wanted = RECORDINGS[name]()
    with tempfile.TemporaryDirectory() as scratch:
        run = simulate(
            wanted.system, wanted.state, wanted.step * wanted.dt, stepper=MoreauJean(dt=wanted.dt), record=scratch
        )  # fmt: skip
        if run.stop is not None:
            raise RuntimeError(f"{name}: {run.stop}")
        last = sorted(Path(scratch).glob("*.hdf5"))[-1]
        return Path(shutil.copy(last, folder / f"{name}.hdf5"))


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    target.mkdir(parents=True, exist_ok=True)
    for title in RECORDINGS:
        record(title, target)
