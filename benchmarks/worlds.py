"""Many worlds in one loop: what a world-step costs beside the same step of one run, and what threads gain.

python benchmarks/worlds.py [WORLDS] [STEPS] prints, for a block on an incline, a double pendulum's chain and a quadruped
on its feet: CPU time of a step in a loop of its own (one call of the kernels for all steps), of a world-step in calls of
one step for all worlds, their difference, and the wall time of one thread over that of one per core. All in turn.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from mechanisms import chain, quadruped

from gaussdyn import MoreauJean, State
from gaussdyn.integrate.worlds import Worlds
from gaussdyn.scenes.catalogue import build

ROUNDS = 5


def incline() -> tuple[object, State]:
    scene = build("incline", mu=0.2)
    return scene.system, scene.state


def started(make: Callable[[], tuple[object, State]], worlds: int, threads: int) -> Worlds:
    system, state = make()
    rng = np.random.default_rng(0)
    states = [State(q=state.q, v=state.v + 1e-3 * rng.standard_normal(len(state.v))) for _ in range(worlds)]
    return Worlds(system, states, stepper=MoreauJean(dt=1e-3), threads=threads)


def spent(worlds: Worlds, steps: int, at_once: int) -> tuple[float, float]:
    """Return wall and CPU time of a world-step, s."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(steps // at_once):
        worlds.step(n=at_once)
    count = steps * len(worlds)
    return (time.perf_counter() - wall) / count, (time.process_time() - cpu) / count


def main() -> None:
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    print(f"{worlds} worlds x {steps} steps, medians of {ROUNDS} rounds")
    for name, make in (("incline", incline), ("chain of 5", lambda: chain(5)), ("quadruped", quadruped)):
        whole, single, both = started(make, worlds, 1), started(make, worlds, 1), started(make, worlds, None)
        rounds = [
            (*spent(whole, steps, steps), *spent(single, steps, 1), *spent(both, steps, 1)) for _ in range(ROUNDS)
        ]
        cpu, each = np.median([one[1] for one in rounds]), np.median([one[3] / one[1] for one in rounds])
        gain = np.median([one[2] / one[4] for one in rounds])
        print(f"{name}: {1e6 * cpu:.2f} us a step in a loop of its own; a step per call {100 * (each - 1):+.1f} %; "
              f"{both.threads} threads {gain:.2f} times as fast as one")  # fmt: skip


if __name__ == "__main__":
    main()
