"""How hulls of a rattleback come to roll as its ellipsoid: when the spin reverses, and what is lost, by their facets.

A polyhedron rolls over edges, and loses at each impact the square of the angle between two facets, of which there are
as many as the angle is small: in all the loss is of first order in the angle.

    python benchmarks/rattleback_hulls.py --corners 100 400 1600 --dt 5e-5
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace

import numpy as np

from gaussdyn import MoreauJean, SpatialSystem, build, simulate
from gaussdyn.arrays import Array
from gaussdyn.linalg.rotations import matrix_of
from gaussdyn.mechanics.spatial import Compound, ConvexMesh
from gaussdyn.scenes.spinning.rattleback import HALF

LEAN = (0.07, 0.15)  # sines: farther than the body leans along its axes, which the corners cover
MOST = 400  # corners of a part


def corners_where_it_rolls(count: int) -> Array:
    """Return corners on the ellipsoid, by a spiral of its normals, sorted by where they are, shape (count, 3)."""
    k, h2 = np.arange(count) + 0.5, np.square(HALF)
    size, turn = np.sqrt(k / count), math.pi * (1.0 + math.sqrt(5.0)) * k
    side = np.column_stack([LEAN[0] * size * np.cos(turn), LEAN[1] * size * np.sin(turn)])
    normals = np.column_stack([side, -np.sqrt(1.0 - (side * side).sum(axis=1))])
    corners = normals * h2 / np.sqrt((normals * normals) @ h2)[:, None]
    return np.asarray(corners[np.argsort(corners[:, 1])])


def hull(count: int) -> Compound:
    """Return a body whose lower side has so many corners: parts of at most `MOST`, all up to the top."""
    top = [(0.0, 0.0, HALF[2])]
    strips = np.array_split(corners_where_it_rolls(count), -(-count // MOST))
    return Compound(parts=[ConvexMesh(vertices=np.vstack([one, top]), name=f"p{k}") for k, one in enumerate(strips)])


def roll(count: int, dt: float, t_end: float) -> tuple[float, float, Array, float]:
    """Return when the spin reverses, s, what part of the energy of motion is lost, the spins and the CPU time, s."""
    scene = build("rattleback")
    system, body = scene.system, scene.system.bodies[0]
    assert isinstance(system, SpatialSystem)
    if count:
        body = replace(body, shapes=(hull(count),))
        system = SpatialSystem(
            bodies=[body], obstacles=system.obstacles, contact=system.contact, gravity=system.gravity
        )
    q = scene.state.q.copy()
    if count:
        q[2] = -(corners_where_it_rolls(count) @ matrix_of(q[3:])[2]).min()
    begun = time.process_time()
    run = simulate(system, system.state({"celt": q}, {"celt": scene.state.v}), t_end, stepper=MoreauJean(dt=dt))
    took = time.process_time() - begun
    spins = np.array([matrix_of(q[3:7])[2] @ v[3:6] for q, v in zip(run.q, run.v, strict=True)])
    back = np.flatnonzero(spins > 0.0)
    v, energy = scene.state.v, run["energy"]
    moving = 0.5 * body.mass * v[:3] @ v[:3] + 0.5 * v[3:] @ np.array(body.inertia) @ v[3:]
    return float(run.t[back[0]]) if len(back) else math.nan, float(energy[0] - energy[-1]) / moving, spins, took


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corners", type=int, nargs="+", default=[100, 400, 1600])
    parser.add_argument("--dt", type=float, default=5e-5, help="s")
    parser.add_argument("--t-end", type=float, default=0.5, help="s")
    args = parser.parse_args()
    back, _, smooth, _ = roll(0, args.dt, args.t_end)
    print(f"ellipsoid: spin reverses at {back:.4f} s, ends at {smooth[-1]:.3f} rad/s")
    print("corners | facet, rad | reverses at, s | later by, s | spin off by, rad/s | lost | CPU, s")
    for count in args.corners:
        late, lost, spins, took = roll(count, args.dt, args.t_end)
        facet, off = math.sqrt(math.pi * LEAN[0] * LEAN[1] / count), np.abs(spins - smooth).max()
        print(
            f"{count} | {facet:.4f} | {late:.4f} | {late - back:.4f} | {off:.3f} | {lost:.3f} | {took:.1f}", flush=True
        )


if __name__ == "__main__":
    main()
