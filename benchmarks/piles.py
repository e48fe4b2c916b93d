"""Balls dropped into a box, step by step, beside MuJoCo: CPU time of a step on one thread, every step checked.

Ours: exact Signorini and Coulomb laws, E (the natural map recomputed from the impulses, dimensionless) <= 1e-10
asked for in every step, no gap below -1e-10 m at its end. MuJoCo: its defaults (soft contacts). Both engines go on by
turns, some steps each, from the same start. What counts is the mean of the slowest tenth of the steps.

Run: ``python benchmarks/piles.py [--balls 50 100 200] [--seconds 2]``; MuJoCo's columns are left out where it is not
installed.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from typing import Any

import numpy as np

from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import ball
from gaussdyn.mechanics.spatial.system import SpatialSystem

RADIUS, MASS, MU, DT, TURN = 0.05, 1.0, 0.5, 2e-3, 20
SIDES = ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0))


def starts(n: int, across: int) -> np.ndarray:
    """Return where n balls begin, `across` in a row, slightly out of order."""
    rng, k = np.random.default_rng(1), np.arange(n)
    grid = np.stack(
        [k % across - 0.5 * (across - 1), k // across % across - 0.5 * (across - 1), k // across**2], axis=1
    )
    return grid * (0.11, 0.11, 0.115) + (0.0, 0.0, 0.06) + rng.uniform(-0.004, 0.004, (n, 3))


class Ours:
    """The pile, by compiled steps."""

    def __init__(self, n: int, wide: float, across: int) -> None:
        walls = [HalfSpace(name=f"w{k}", normal=s, point=tuple(-wide * x for x in s)) for k, s in enumerate(SIDES)]
        bodies = [ball(f"b{k:04d}", mass=MASS, radius=RADIUS) for k in range(n)]
        contact = ContactLaw(mu=MU)
        system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor"), *walls], contact=contact)
        places = starts(n, across)
        self.state = system.state({body.name: tuple(x) for body, x in zip(bodies, places, strict=True)})
        self.kernels, self.stepper = CompiledBodies.of(system), MoreauJean(dt=DT, tol=1e-10)
        assert self.kernels is not None
        self.kernels.advance(self.stepper, self.state, DT, DT)  # loads the machine code
        self.times: list[float] = []
        self.worst, self.deepest, self.ways = 0.0, 0.0, Counter[str]()

    def go(self, steps: int) -> None:
        """Take steps, each timed by itself."""
        for _ in range(steps):
            begin = time.process_time()
            many = self.kernels.advance_many(self.stepper, self.state, 1)
            self.times.append(time.process_time() - begin)
            if many.failed is not None:
                raise SystemExit(f"stopped at t = {self.state.t:.4g} s: {many.failed.solution.message}")
            self.state = many.state
            self.worst, self.deepest = max(self.worst, float(many.E[0])), min(self.deepest, float(many.gap[0]))
            kind = "by hand" if many.path[0] == "dense" else "crowded" if many.last.crowded else "passes"
            self.ways[kind] += 1


class Peer:
    """The pile in MuJoCo."""

    def __init__(self, mujoco: Any, n: int, wide: float, across: int) -> None:
        text = f'<mujoco><option timestep="{DT}"/><default><geom friction="{MU} 0 0" condim="3"/></default><worldbody>'
        text += '<geom type="plane" size="10 10 1"/>'
        for x, y, _ in SIDES:
            text += f'<geom type="plane" size="10 10 1" pos="{-wide * x} {-wide * y} 0" zaxis="{x} {y} 0"/>'
        for x, y, z in starts(n, across):
            text += f'<body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size="{RADIUS}" mass="{MASS}"/></body>'
        self.mujoco, self.model = mujoco, mujoco.MjModel.from_xml_string(text + "</worldbody></mujoco>")
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


def measure(n: int, seconds: float, mujoco: Any) -> str:
    """Run both engines by turns, and return a line of the table."""
    wide, across = (0.3, 5) if n <= 200 else (0.6, 10)
    ours = Ours(n, wide, across)
    peer = Peer(mujoco, n, wide, across) if mujoco else None
    for _ in range(round(seconds / DT / TURN)):
        ours.go(TURN)
        if peer:
            peer.go(TURN)
    beside = f"{slowest_tenth(peer.times):9.2f} {1e3 * np.median(peer.times):8.2f}" if peer else f"{'-':>9} {'-':>8}"
    ways = ", ".join(f"{count} {way}" for way, count in ours.ways.most_common())
    mine = f"{slowest_tenth(ours.times):9.2f} {1e3 * np.median(ours.times):8.2f} {1e3 * max(ours.times):8.1f}"
    return f"{n:6d} {mine} {beside}   {ours.worst:.0e} {ours.deepest:8.0e}   {ways}"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--balls", type=int, nargs="+", default=[50, 100])
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    try:
        import mujoco
    except ImportError:
        mujoco = None
    print(f"{'':6} {'ours, ms a step':>27} {'MuJoCo':>18}")
    print(
        f"{'balls':>6} {'slow 10%':>9} {'median':>8} {'most':>8} {'slow 10%':>9} {'median':>8}   E     deepest   ways"
    )
    for n in given.balls:
        print(measure(n, given.seconds, mujoco), flush=True)


if __name__ == "__main__":
    main()
