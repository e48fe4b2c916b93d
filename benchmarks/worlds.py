"""Many worlds in one loop: what a world-step costs beside the same steps taken at once, and what threads gain.

For a block on an incline, a chain of five rods and a quadruped on its feet: CPU time of a step where every world takes
all of them in one call, of a world-step in calls of one step for all worlds, and the wall time of one thread over that
of one per core. All in turn, from the same states; medians of the rounds, and of the overhead within each round.

Run: ``python benchmarks/worlds.py [WORLDS] [STEPS]``.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from mechanisms import chain, quadruped

from gaussdyn import MoreauJean, State
from gaussdyn._warmup import cores
from gaussdyn.integrate.worlds import Worlds
from gaussdyn.scenes.catalogue import build

ROUNDS = 25


def incline() -> tuple[object, State]:
    scene = build("incline", mu=0.2)
    return scene.system, scene.state


def started(make: Callable[[], tuple[object, State]], worlds: int, threads: int) -> Worlds:
    system, state = make()
    return Worlds(system, [state] * worlds, stepper=MoreauJean(dt=1e-3), threads=threads)


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
        whole, single, both = started(make, worlds, 1), started(make, worlds, 1), started(make, worlds, cores())
        rounds = [
            (spent(whole, steps, steps)[1], *spent(single, steps, 1), spent(both, steps, 1)[0]) for _ in range(ROUNDS)
        ]
        cpu, wall, each, together = (statistics.median(one[k] for one in rounds) for k in range(4))
        overhead = statistics.median(one[2] / one[0] - 1 for one in rounds)
        print(f"{name}: {1e6 * cpu:.2f} us a step taken with all others, {1e6 * each:.2f} us one by one "
              f"({100 * overhead:+.1f} %); {both.threads} threads {wall / together:.2f} times as fast as one, "
              f"{len(both.stopped)} stopped")  # fmt: skip


if __name__ == "__main__":
    main()
