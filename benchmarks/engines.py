"""Scenes with exact answers that engines are asked about most: the figures of README and docs/coming_from.md."""

from __future__ import annotations

import numpy as np

from gaussdyn import MoreauJean, Trajectory, build, outcome, simulate, snapshot


def slip() -> tuple[float, float]:
    """Ball thrown tangentially at 2 m/s, mu = 0.3: error of its speed after 0.1 s (m/s), height it hops to (m)."""
    scene = build("sphere_slip", mu=0.3, v0=2.0, radius=0.1, mass=1.0)
    run = simulate(scene, t_end=0.1, stepper=MoreauJean(dt=1e-3))
    return float(abs(run.v[-1, 0] - (2.0 - 0.3 * 9.81 * 0.1))), float(run.q[:, 2].max() - 0.1)


def creep() -> float:
    """Brick at 99 % of the friction angle for 10 s: how far it moves, m."""
    scene = build("brick_on_slope", ratio=0.99, mu=0.5)
    run = simulate(scene, t_end=10.0, stepper=MoreauJean(dt=1e-3), save=100)
    return float(np.linalg.norm(run.q[-1, :3] - run.q[0, :3]))


def stack() -> tuple[float, float, Trajectory]:
    """20 cubes, the topmost 1000 times as heavy, 2 s: how far a cube moves (m), largest residual E."""
    scene = build("stack", boxes=20, top=1000.0)
    run = simulate(scene, t_end=2.0, stepper=MoreauJean(dt=1e-3), save=200)
    moved = np.abs(run.q - run.q[0]).reshape(len(run), -1, 7)[:, :, :3].max()
    return float(moved), float(run.statistics["max_residual"] or 0.0), run


def painleve() -> str:
    """Rod that digs in, mu = 1.8 at 60 degrees: how many motions there are."""
    rod = build("painleve_rod", mu=1.8)
    return outcome(snapshot(rod.system, rod.state)).explain()


if __name__ == "__main__":
    error, hop = slip()
    print(f"thrown ball: error of the speed after 0.1 s {error:.1e} m/s, hop {hop:.1e} m")
    print(f"brick at 99 % of the friction angle, 10 s: creep {creep():.1e} m")
    moved, residual, run = stack()
    print(f"20 cubes, 1000:1, {run.t_reached:g} s ({run.status}): moved {moved:.1e} m, residual E {residual:.1e}")
    print(f"Painleve rod: {painleve()}")
