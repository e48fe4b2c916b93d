"""Ranges of all reactions of one body in space on many contacts at rest: CPU time, and what the proofs leave open.

python benchmarks/forces.py
"""

from __future__ import annotations

import time

import numpy as np

from gaussdyn import Position, State, UserSystem, forces, snapshot
from gaussdyn.analysis.forces import ReactionSet

REPEATED = 5


def body(contacts: int, seed: int = 0) -> UserSystem:
    """Return a body of 1 kg on a rough floor, on points at random places, pushed and turned a little."""
    held = []
    for k, p in enumerate(np.random.default_rng(seed).uniform(-1.0, 1.0, (contacts, 2))):
        x, y, z = *p, -0.5
        n, t = np.array([0, 0, 1, y, -x, 0.0]), np.array([[1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x]])
        held.append(
            Position(lambda t_, q, n=n: float(n @ q), jacobian=lambda t_, q, n=n: n, mu=0.5, name=f"p{k}",
                     tangent=lambda t_, q, t=t: t)
        )  # fmt: skip
    return UserSystem(6, np.eye(6), [0.5, 0.2, -9.81, 0.1, 0.1, 0.1], held)


def ranged(system: UserSystem) -> ReactionSet:
    """Return the set with all its ranges."""
    found = forces(snapshot(system, State(q=np.zeros(6), v=np.zeros(6))))
    found.ranges()
    return found


def main() -> None:
    """Print a line for every number of contacts."""
    ranged(body(3))
    print("contacts   set and ranges   ranges alone   largest gap of a proof")
    for contacts in (4, 10, 30, 100):
        system, times, alone = body(contacts), [], []
        for _ in range(REPEATED):
            start = time.process_time()
            found = ranged(system)
            middle = time.process_time()
            found._ranges(found.names, np.eye(len(found.names)))
            times.append(middle - start)
            alone.append(time.process_time() - middle)
        gap = max(one.gap for one in found.ranges())
        print(f"{contacts:8d} {1e3 * min(times):13.1f} ms {1e3 * min(alone):11.1f} ms {gap:14.1e}")


if __name__ == "__main__":
    main()
