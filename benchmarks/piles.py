"""Balls and rocks dropped into a box, and boxes on a floor, beside MuJoCo: CPU time of a step, every step checked.

Ours: exact Signorini and Coulomb laws, E (the natural map recomputed from the impulses, dimensionless) <= 1e-10
asked for in every step, no gap below -1e-10 m at its end. MuJoCo: its defaults (soft contacts). Both engines go on by
turns, some steps each, from the same start. What counts is the mean of the slowest tenth of the steps.

Run: ``python benchmarks/piles.py [--balls 50 100 200] [--ratio 1] [--boxes 100] [--rocks 40] [--seconds 2]
[--planar 50 100 200] [--many 10000]``.
MuJoCo's columns are left out where it is not installed. With a ratio masses are spread between 1 and that, evenly in
their logarithm. Boxes have sides of 4 to 20 cm, evenly in their logarithm, stand at random, and fall for 3 s. Rocks
are hulls of 8 to 40 points on balls of 3 to 6 cm, 2500 kg / m^3. Contacts are the most there were in a step,
microseconds for each are those of the slowest tenth. ``--planar`` drops as many boxes as discs, of 6 to 12 cm, between
walls in the plane, for 1 s (MuJoCo's are held in it by two slides and a hinge). ``--many`` builds so many balls, takes
a step, and says how much memory the process has needed at most.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics import planar
from gaussdyn.mechanics.collision.shapes import ConvexMesh, HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import SpatialBody, ball, brick, solid
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State

RADIUS, MASS, MU, DT, TURN = 0.05, 1.0, 0.5, 2e-3, 20
ROCK = 2500.0  # kg / m^3
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
SIDES = ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0))


@dataclass(frozen=True, slots=True)
class Pile:
    """Bodies of one kind of shape, where they begin, and how far the walls are from the middle (0: none)."""

    shape: str
    sizes: list[np.ndarray]  # (1,) radii of balls, (3,) half sides of boxes, or (k, 3) corners of rocks, m
    mass: np.ndarray  # (n,), kg
    poses: np.ndarray  # (n, 7): places, m, and quaternions
    wide: float

    def system(self) -> tuple[SpatialSystem, State]:
        """Return the pile as a system and the state it begins in."""
        walls = [HalfSpace(name=f"w{k}", normal=s, point=tuple(-self.wide * x for x in s)) for k, s in enumerate(SIDES)]
        floor, names = HalfSpace(name="floor"), [f"b{k:04d}" for k in range(len(self.mass))]
        of = {"sphere": self.ball, "box": self.brick, "mesh": self.rock}[self.shape]
        bodies = [of(name, k) for k, name in enumerate(names)]
        system = SpatialSystem(
            bodies=bodies, obstacles=[floor, *walls] if self.wide else [floor], contact=ContactLaw(mu=MU)
        )
        return system, system.state({name: tuple(x) for name, x in zip(names, self.poses, strict=True)})

    def ball(self, name: str, k: int) -> SpatialBody:
        """Return ball k."""
        return ball(name, mass=float(self.mass[k]), radius=float(self.sizes[k][0]))

    def brick(self, name: str, k: int) -> SpatialBody:
        """Return box k."""
        return brick(name, mass=float(self.mass[k]), half=self.sizes[k])

    def rock(self, name: str, k: int) -> SpatialBody:
        """Return rock k."""
        return solid(name, ConvexMesh(vertices=self.sizes[k]), density=ROCK)

    def text(self) -> str:
        """Return the pile as MuJoCo's XML."""
        text = f'<mujoco><option timestep="{DT}"/><default><geom friction="{MU} 0 0" condim="3"/></default><worldbody>'
        mesh = self.shape == "mesh"
        if mesh:
            rocks = (f'<mesh name="m{k}" vertex="{listed(x.ravel())}"/>' for k, x in enumerate(self.sizes))
            text = text.replace("<worldbody>", f"<asset>{''.join(rocks)}</asset><worldbody>")
        text += '<geom type="plane" size="10 10 1"/>'
        for x, y, _ in SIDES if self.wide else ():
            text += f'<geom type="plane" size="10 10 1" pos="{-self.wide * x} {-self.wide * y} 0" zaxis="{x} {y} 0"/>'
        for k, (size, mass, pose) in enumerate(zip(self.sizes, self.mass, self.poses, strict=True)):
            form = f'mesh="m{k}"' if mesh else f'size="{listed(size)}"'
            text += f'<body pos="{listed(pose[:3])}" quat="{listed(pose[3:])}"><freejoint/>'
            text += f'<geom type="{self.shape}" {form} mass="{mass}"/></body>'
        return text + "</worldbody></mujoco>"


@dataclass(frozen=True, slots=True)
class Heap:
    """Boxes and discs in the plane, by turns, in a box as wide as it is deep."""

    mass: np.ndarray  # (n,), kg
    sizes: np.ndarray  # (n, 2): width and height of boxes, the first of them the diameter of discs, m
    poses: np.ndarray  # (n, 3): places, m, and angles
    wide: float

    def system(self) -> tuple[planar.PlanarSystem, State]:
        """Return the heap as a system and the state it begins in."""
        names = [f"b{k:04d}" for k in range(len(self.mass))]
        shapes = [planar.rectangle(*map(float, x)) for x in self.sizes]
        shapes[1::2] = [planar.Disc(radius=float(x[0]) / 2.0) for x in self.sizes[1::2]]
        bodies = [planar.plate(name, shape, density=1000.0) for name, shape in zip(names, shapes, strict=True)]
        walls = [planar.HalfPlane(name="floor"), planar.HalfPlane(name="left", normal=(1.0, 0.0))]
        walls.append(planar.HalfPlane(name="right", point=(self.wide, 0.0), normal=(-1.0, 0.0)))
        system = planar.PlanarSystem(bodies=bodies, obstacles=walls, contact=ContactLaw(mu=MU))
        return system, system.state({name: tuple(x) for name, x in zip(names, self.poses, strict=True)})

    def text(self) -> str:
        """Return the heap as MuJoCo's XML, in its plane of x and z."""
        text = f'<mujoco><option timestep="{DT}"/><default><geom friction="{MU} 0 0" condim="3"/></default><worldbody>'
        text += '<geom type="plane" size="10 10 1"/><geom type="plane" size="10 10 1" zaxis="1 0 0"/>'
        text += f'<geom type="plane" size="10 10 1" pos="{self.wide} 0 0" zaxis="-1 0 0"/>'
        for k, (size, mass, (x, y, angle)) in enumerate(zip(self.sizes, self.mass, self.poses, strict=True)):
            half = listed(np.array([size[0], 0.05, size[1]]) / 2.0)
            form = f'"sphere" size="{size[0] / 2.0}"' if k % 2 else f'"box" size="{half}"'
            text += f'<body pos="{x} 0 {y}" euler="0 {-np.degrees(angle)} 0"><joint type="slide" axis="1 0 0"/>'
            text += f'<joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/><geom type={form} mass="{mass}"/></body>'
        return text + "</worldbody></mujoco>"


def heap(n: int) -> Heap:
    """Return n boxes and discs in rows above a floor, slightly out of order."""
    rng, k, across = np.random.default_rng(1), np.arange(n), max(5, round(np.sqrt(n)))
    sizes, angles = rng.uniform(0.06, 0.12, (n, 2)), np.where(k % 2, 0.0, rng.uniform(-0.5, 0.5, n))
    mass = 1000.0 * np.where(k % 2, np.pi * sizes[:, 0] ** 2 / 4.0, sizes.prod(axis=1))
    x, y = 0.16 * (k % across + 0.5) + rng.uniform(-0.01, 0.01, n), 0.1 + 0.16 * (k // across)
    return Heap(mass, sizes, np.stack([x, y, angles], axis=1), 0.16 * across)


def listed(numbers: np.ndarray) -> str:
    """Return numbers as MuJoCo reads them."""
    return " ".join(map(str, numbers.tolist()))


def balls(n: int, ratio: float) -> Pile:
    """Return n balls in rows above a floor between four walls, slightly out of order."""
    wide, across = (0.3, 5) if n <= 200 else (0.6, 10)
    rng, k = np.random.default_rng(1), np.arange(n)
    grid = np.stack(
        [k % across - 0.5 * (across - 1), k // across % across - 0.5 * (across - 1), k // across**2], axis=1
    )
    places = grid * (0.11, 0.11, 0.115) + (0.0, 0.0, 0.06) + rng.uniform(-0.004, 0.004, (n, 3))
    mass = MASS * ratio ** rng.uniform(0.0, 1.0, n)
    return Pile("sphere", list(np.full((n, 1), RADIUS)), mass, np.hstack([places, np.tile(UPRIGHT, (n, 1))]), wide)


def boxes(n: int) -> Pile:
    """Return n boxes of random sizes and turns in rows above a floor, 1000 kg / m^3."""
    rng, k = np.random.default_rng(1), np.arange(n)
    sides = 0.04 * 5.0 ** rng.uniform(0.0, 1.0, (n, 1)) * rng.uniform(0.6, 1.0, (n, 3))
    turns = rng.normal(size=(n, 4))
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    grid = np.stack([k % 5 - 2, k // 5 % 5 - 2, k // 25], axis=1) * 0.3 + (0.0, 0.0, 0.25)
    places = grid + rng.uniform(-0.02, 0.02, (n, 3))
    return Pile("box", list(sides / 2.0), 1000.0 * sides.prod(axis=1), np.hstack([places, turns]), 0.0)


def rocks(n: int) -> Pile:
    """Return n convex polyhedra of 8 to 40 corners, their centres of mass where the bodies are, between four walls."""
    rng, k, corners, mass = np.random.default_rng(1), np.arange(n), [], np.zeros(n)
    for i in range(n):
        points = rng.normal(size=(rng.integers(8, 41), 3))
        points *= rng.uniform(0.03, 0.06) / np.linalg.norm(points, axis=1)[:, None]
        corners.append(points - ConvexMesh(vertices=points).centre)
        mass[i] = solid("rock", ConvexMesh(vertices=corners[i]), density=ROCK).mass
    places = np.stack([k % 4 - 1.5, k // 4 % 4 - 1.5, k // 16], axis=1) * (0.14, 0.14, 0.13) + (0.0, 0.0, 0.08)
    return Pile("mesh", corners, mass, np.hstack([places, np.tile(UPRIGHT, (n, 1))]), 0.3)


class Ours:
    """The pile, by compiled steps."""

    def __init__(self, pile: Pile) -> None:
        system, self.state = pile.system()
        self.kernels, self.stepper = CompiledBodies.of(system), MoreauJean(dt=DT, tol=1e-10)
        assert self.kernels is not None
        self.kernels.advance(self.stepper, self.state, DT, DT)  # loads the machine code
        self.times: list[float] = []
        self.contacts: list[int] = []
        self.worst, self.deepest, self.ways = 0.0, 0.0, Counter[str]()

    def go(self, steps: int) -> None:
        """Take steps, each timed by itself."""
        for _ in range(steps):
            self.times.append(0.0)
            while self.state.t < (len(self.times) - 0.5) * DT:  # a step that is cut has several pieces
                begin = time.process_time()
                many = self.kernels.advance_many(self.stepper, self.state, 1)
                self.times[-1] += time.process_time() - begin
                if many.failed is not None:
                    raise SystemExit(f"stopped at t = {self.state.t:.4g} s: {many.failed.solution.message}")
                self.state = many.state
                self.worst, self.deepest = max(self.worst, float(many.E[0])), min(self.deepest, float(many.gap[0]))
                kind = "by hand" if many.path[0] == "dense" else "crowded" if many.last.crowded else "passes"
                self.ways["pieces more" if many.last.cut else kind] += 1
            self.contacts.append(int(self.kernels.space.problem.contacts.first[-1]))

    def for_each_contact(self) -> float:
        """Return the time of the slowest tenth for each contact, microseconds."""
        slow = np.argsort(self.times)[-max(1, len(self.times) // 10) :]
        return 1e6 * float(np.sum(np.array(self.times)[slow]) / max(1, np.sum(np.array(self.contacts)[slow])))


class OursInPlane(Ours):
    """The heap, by compiled steps of bodies in the plane."""

    def __init__(self, pile: Heap) -> None:
        self.of, self.state = pile.system()
        self.stepper = MoreauJean(dt=DT, tol=1e-10)
        found = CompiledSystem.of(self.of, self.state)
        assert isinstance(found, CompiledSystem)
        self.system = found
        found.advance_many(self.stepper, self.state, 1, record=False)
        self.times, self.contacts = [], []
        self.worst, self.deepest, self.ways = 0.0, 0.0, Counter[str]()

    def go(self, steps: int) -> None:
        """Take steps, each timed by itself."""
        for _ in range(steps):
            begin = time.process_time()
            many = self.system.advance_many(self.stepper, self.state, 1, record=False)
            step = None if len(many.E) else self.stepper.advance(self.of, self.state, self.state.t + DT)
            self.times.append(time.process_time() - begin)
            if step is None:
                self.state, E, gap = many.state, float(many.E[0]), float(many.gap[0])
            elif not step.solution.solved or step.solution.residuals is None:
                raise SystemExit(f"stopped at t = {self.state.t:.4g} s: {step.solution.message}")
            else:
                self.state, E = step.state, step.solution.residuals.E
                gap = min((float(row.gap) for row in step.rows), default=0.0)
            self.worst, self.deepest = max(self.worst, E), min(self.deepest, gap)
            self.ways["kernels" if len(many.E) else "with Python"] += 1
            self.contacts.append(int(self.system.problem.counts[0]))


class Peer:
    """The pile in MuJoCo."""

    def __init__(self, mujoco: Any, pile: Pile | Heap) -> None:
        self.mujoco, self.model = mujoco, mujoco.MjModel.from_xml_string(pile.text())
        self.data, self.times = mujoco.MjData(self.model), list[float]()

    def go(self, steps: int) -> None:
        """Take steps, each timed by itself."""
        for _ in range(steps):
            begin = time.process_time()
            self.mujoco.mj_step(self.model, self.data)
            self.times.append(time.process_time() - begin)


def slowest_tenth(times: list[float]) -> float:
    """Return the mean of the slowest tenth, ms."""
    return 1e3 * float(np.sort(times)[-max(1, len(times) // 10) :].mean())


def columns(times: list[float]) -> str:
    """Return the mean of the slowest tenth, the mean, and the median, ms."""
    return f"{slowest_tenth(times):9.2f} {1e3 * np.mean(times):8.2f} {1e3 * np.median(times):8.2f}"


def measure(pile: Pile | Heap, seconds: float, mujoco: Any) -> str:
    """Run both engines by turns, and return a line of the table."""
    ours = Ours(pile) if isinstance(pile, Pile) else OursInPlane(pile)
    peer = Peer(mujoco, pile) if mujoco else None
    for _ in range(round(seconds / DT / TURN)):
        ours.go(TURN)
        if peer:
            peer.go(TURN)
    beside = columns(peer.times) if peer else f"{'-':>9} {'-':>8} {'-':>8}"
    ways = ", ".join(f"{count} {way}" for way, count in ours.ways.most_common())
    mine = f"{columns(ours.times)} {1e3 * max(ours.times):8.1f}"
    each = f"{max(ours.contacts):8d} {ours.for_each_contact():8.1f}"
    return f"{len(pile.mass):6d} {mine} {beside} {each}   {ours.worst:.0e} {ours.deepest:8.0e}   {ways}"


def needed(n: int) -> str:
    """Build n balls, take a step, and return what that needed."""
    begin = time.process_time()
    ours = Ours(balls(n, 1.0))
    ours.go(1)
    taken, most = time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return f"{n} balls built and a step taken: {taken:.1f} s, {most:.2f} GB at most, E {ours.worst:.0e}"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--balls", type=int, nargs="*", default=[50, 100])
    parser.add_argument("--ratio", type=float, default=1.0)
    parser.add_argument("--boxes", type=int, nargs="*", default=[])
    parser.add_argument("--rocks", type=int, nargs="*", default=[])
    parser.add_argument("--planar", type=int, nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--many", type=int, default=0)
    given = parser.parse_args()
    try:
        import mujoco
    except ImportError:
        mujoco = None
    print(f"{'':6} {'ours, ms a step':>36} {'MuJoCo':>27} {'contacts':>8} {'us each':>8}   {'ours':>5}")
    print(
        f"{'bodies':>6} {'slow 10%':>9} {'mean':>8} {'median':>8} {'most':>8} {'slow 10%':>9} {'mean':>8} {'median':>8}"
        f" {'':17}   E     deepest"
        "   ways"
    )
    for n in given.balls:
        print(measure(balls(n, given.ratio), given.seconds, mujoco), flush=True)
    for n in given.boxes:
        print(measure(boxes(n), 3.0, mujoco), flush=True)
    for n in given.rocks:
        print(measure(rocks(n), given.seconds, mujoco), flush=True)
    for n in given.planar:
        print(measure(heap(n), 1.0, mujoco), flush=True)
    if given.many:
        print(needed(given.many))


if __name__ == "__main__":
    main()
