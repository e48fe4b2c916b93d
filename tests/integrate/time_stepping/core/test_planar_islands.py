"""Many bodies in the plane that only touch: islands move as they do alone, and every step obeys the laws."""

from __future__ import annotations

import numpy as np

from gaussdyn.analysis.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.core.problem.contact_problem import APART, BLOCKS, CROWD
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar import Disc, HalfPlane, PlanarSystem, plate, rectangle
from gaussdyn.mechanics.state import State

FLOOR = HalfPlane(name="floor")


def piles(count: int) -> tuple[PlanarSystem, State]:
    """Return piles of a box, a disc beside it and a box over both, that fall and tumble; all alike, metres apart."""
    bodies, poses = [], {}
    for k in range(count):
        parts = {"a": rectangle(0.1, 0.1), "b": Disc(radius=0.05), "c": rectangle(0.24, 0.06)}
        bodies += [plate(f"{name}{k:02d}", shape, density=1000.0) for name, shape in parts.items()]
        poses[f"a{k:02d}"] = (4.0 * k, 0.052, 0.02)
        poses[f"b{k:02d}"] = (4.0 * k + 0.12, 0.051, 0.0)
        poses[f"c{k:02d}"] = (4.0 * k + 0.07, 0.14, 0.03)
    system = PlanarSystem(bodies=bodies, obstacles=[FLOOR], contact=ContactLaw(mu=0.4))
    return system, system.state(poses, velocity={f"c{k:02d}": (1.5, -1.0, 2.0) for k in range(count)})


def test_islands_move_as_they_do_alone() -> None:
    """Nothing of an island depends on what there is beside it; one pile alone is solved all at once."""
    stepper, runs = MoreauJean(dt=2e-3), []
    for count in (1, 8):
        system, state = piles(count)
        runs.append(simulate(system, state, 0.05, stepper=stepper))
        problem = stepper.kernels(system, state).problem
        assert problem.counts[APART] == (count > 1)
        assert runs[-1].steps.E.max() <= 1e-11
    assert problem.counts[BLOCKS] >= CROWD
    verdict = audit(runs[-1], system)
    assert verdict.passed, verdict
    one, many = (np.array(run.q).reshape(len(run.t), -1, 3, 3) for run in runs)
    assert np.abs(many - np.arange(8)[:, None, None] * (4.0, 0.0, 0.0) - one).max() <= 1e-9
