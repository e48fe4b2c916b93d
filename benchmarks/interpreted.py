"""Steps that go through Python: shapes in the plane, and joints that depend on one another.

Processor time per step of `MoreauJean` on one thread, ms: median and largest of a few rounds, after a first one that
loads the kernels. Every step is solved, or the status says so.

Run: ``python benchmarks/interpreted.py [--steps 60]``.
"""

from __future__ import annotations

import argparse
import statistics
import time

from gaussdyn import MoreauJean, State, build, simulate
from gaussdyn.mechanics.system import System

ROUNDS = 5
SCENES = ("overhang", "two_ball_drop", "wedge_lock", "bricard")


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
    print(f"{'':<26}{'bodies':>7}{'velocities':>12}{'rows':>6}{'ms per step':>13}{'largest':>9}  status")
    for name in SCENES:
        scene = build(name)
        system, state, dt = scene.system, scene.state, scene.dt
        near = system.near(state.t, state.q, state.v, dt)
        found, status = measured(system, state, dt, steps)
        bodies, size = len(getattr(system, "bodies", ())), len(near.rows(state.t, state.q, state.v))
        text = f"{name:<26}{bodies or '-':>7}{system.nv:>12}{size:>6}"
        print(f"{text}{statistics.median(found):>13.2f}{max(found):>9.2f}  {status}", flush=True)


if __name__ == "__main__":
    main()
