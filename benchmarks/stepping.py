"""Stacks of boxes, step by step, beside MuJoCo: CPU time per step on one thread, interleaved, every step checked.

Ours: exact Signorini and Coulomb laws, E (the natural map recomputed from the impulses, dimensionless) of every step.
While nothing moves, bit by bit, the contacts found stand and are not looked for again; the column "search" is the
time with the search forced in every step. MuJoCo: its default (soft contacts) and a stiff setting, collision included.

Run: ``python benchmarks/stepping.py [--steps 400]``; MuJoCo's columns are left out where it is not installed.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.forces import Shaking
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State

HALF, G, DT, OMEGA, SETTLE, ROUNDS = 0.1, 9.81, 1e-3, 20.0, 3000, 5
ROWS = (
    ("1 at rest", 1, 0.0, 1.0), ("1 swaying", 1, 0.4, 1.0), ("20 at rest", 20, 0.0, 1.0),
    ("20 swaying", 20, 0.4 / 20, 1.0), ("20, top 1000", 20, 0.0, 1000.0), ("50 at rest", 50, 0.0, 1.0),
    ("50 swaying", 50, 0.4 / 50, 1.0), ("50 shaken", 50, 1.5 / 50, 1.0),
)  # fmt: skip


def stack(n: int, shake: float, top: float) -> tuple[SpatialSystem, State]:
    """Return n boxes on a floor, and their state at rest."""
    bodies = [brick(f"b{i:03d}", mass=top if i == n - 1 else 1.0, half=(HALF, HALF, HALF)) for i in range(n)]
    forces = (Shaking(amplitude=shake * G, frequency=OMEGA / (2.0 * math.pi)),) if shake else ()
    floor = HalfSpace(name="floor")
    system = SpatialSystem(bodies=bodies, obstacles=[floor], forces=forces, contact=ContactLaw(mu=0.5))
    return system, system.state({body.name: (0.0, 0.0, HALF + 2.0 * HALF * i) for i, body in enumerate(bodies)})


class Peer:
    """The same stack in MuJoCo."""

    def __init__(self, mujoco: Any, n: int, shake: float, top: float, stiff: bool) -> None:
        self.mujoco, self.shake = mujoco, shake
        tight = 'cone="elliptic" impratio="1" integrator="implicitfast" iterations="500" '
        tight += 'tolerance="1e-15" ls_iterations="200"'
        hard = f'solref="{2 * DT} 1" solimp="0.9999 0.9999 0.001 0.5 2"' if stiff else ""
        text = f'<mujoco><option timestep="{DT}" {tight if stiff else ""}/><default>'
        text += f'<geom friction="0.5 0 0" condim="3" {hard}/></default><worldbody><geom type="plane" size="10 10 1"/>'
        for i in range(n):
            m = top if i == n - 1 else 1.0
            J = m * HALF * HALF * 2.0 / 3.0
            text += f'<body pos="0 0 {HALF + 2 * HALF * i}"><freejoint/><inertial pos="0 0 0" mass="{m}" '
            text += f'diaginertia="{J} {J} {J}"/><geom type="box" size="{HALF} {HALF} {HALF}"/></body>'
        self.model = mujoco.MjModel.from_xml_string(text + "</worldbody></mujoco>")
        self.data, self.height = mujoco.MjData(self.model), HALF + 2.0 * HALF * (n - 1)
        mujoco.mj_step(self.model, self.data, SETTLE)

    def run(self, steps: int) -> None:
        """Take steps; gravity turns as the floor would shake."""
        if not self.shake:
            self.mujoco.mj_step(self.model, self.data, steps)
            return
        for _ in range(steps):
            self.model.opt.gravity[0] = -self.shake * G * math.sin(OMEGA * self.data.time)
            self.mujoco.mj_step(self.model, self.data)

    @property
    def fallen(self) -> bool:
        """Whether the top box is no longer within 1 mm per box of where it stood."""
        return abs(float(self.data.qpos[-5]) - self.height) > 0.05


def timed(work: Callable[[], Any], steps: int) -> float:
    """Return CPU time per step, us."""
    start = time.process_time()
    work()
    return 1e6 * (time.process_time() - start) / steps


def step_by_step(compiled: CompiledBodies, method: MoreauJean, state: State, steps: int) -> State:
    """Take steps one call at a time."""
    for _ in range(steps):
        dt, t_end = method.span(state.t, state.t + 10.0)
        state = compiled.advance(method, state, dt, t_end).state
    return state


def row(name: str, n: int, shake: float, top: float, steps: int, mujoco: Any) -> str:
    """Return one line of the table."""
    system, state = stack(n, shake, top)
    method = MoreauJean(dt=DT, tol=1e-10 if name.endswith("shaken") else 1e-12)
    ours, one, searched = (CompiledBodies(system, trusts=trusts) for trusts in (True, True, False))
    peers = [Peer(mujoco, n, shake, top, stiff) for stiff in (False, True)] if mujoco else []
    start = ours.advance_many(method, state, 20).state
    states, times, runs = [start, start, start], [[] for _ in range(5)], []  # type: ignore[var-annotated]
    for _ in range(ROUNDS):
        before = time.process_time()
        runs.append(ours.advance_many(method, states[0], steps))
        times[0].append(1e6 * (time.process_time() - before) / steps)
        states[0] = runs[-1].state
        times[1].append(timed(lambda: states.__setitem__(1, step_by_step(one, method, states[1], steps)), steps))
        times[2].append(
            timed(lambda: states.__setitem__(2, searched.advance_many(method, states[2], steps).state), steps)
        )
        for k, peer in enumerate(peers):
            times[3 + k].append(timed(lambda peer=peer: peer.run(steps), steps))  # type: ignore[misc]
        if runs[-1].taken < steps:
            break
    E, gap = max(float(np.max(run.E)) for run in runs), min(float(run.gap.min()) for run in runs)
    above = sum(int((run.E > 1e-10).sum()) for run in runs)
    paths = Counter(path for run in runs for path in run.path)
    figures = [statistics.median(values) if values else math.nan for values in times]
    said = [f"{us:7.1f}{'*' if peer.fallen else ' '}" for us, peer in zip(figures[3:], peers, strict=False)]
    text = f"{name:13s}{figures[0]:8.1f}{figures[1]:8.1f}{figures[2]:8.1f}   {' '.join(said) or '      -       - '}"
    return f"{text}  {E:8.1e} {above:5d} {gap:9.1e}  {dict(paths)}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    try:
        import mujoco
    except ImportError:
        mujoco = None
    print("us per step   ours  1 call  search   MuJoCo default, stiff (* fell)  max E  >1e-10  low gap  how solved")
    for name, n, shake, top in ROWS:
        if given.only in name:
            print(row(name, n, shake, top, given.steps, mujoco), flush=True)


if __name__ == "__main__":
    main()
