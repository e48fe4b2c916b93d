"""Five closed links hang in one another and in a ring that is held: compounds of capsules hold as chains do."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, audit, simulate
from gaussdyn.mechanics.spatial import Capsule, Compound, solid

SIDES, RADIUS, WIRE, LINKS = 12, 0.05, 0.008, 5


def ring(name):
    """Return a ring about its z axis, of capsules from corner to corner of a polygon."""
    parts = []
    for k in range(SIDES):
        angle, way = 2.0 * np.pi * (k + 0.5) / SIDES, RADIUS * np.cos(np.pi / SIDES)
        turn = Rotation.from_euler("z", angle) * Rotation.from_euler("x", np.pi / 2)
        place = (way * np.cos(angle), way * np.sin(angle), 0.0)
        half = RADIUS * np.sin(np.pi / SIDES)
        turned = tuple(np.roll(turn.as_quat(), 1))
        parts.append(Capsule(radius=WIRE, half_length=half, at=place, turn=turned, name=f"{name}s{k:02d}"))
    return Compound(parts=parts, name=name)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_chain_that_is_let_go_sideways_swings_and_holds(seed):
    rng, step = np.random.default_rng(seed), 2.0 * (RADIUS - WIRE) - 1e-4
    names = [f"l{i}" for i in range(LINKS)]
    system = SpatialSystem(
        bodies=[solid(name, ring(name), density=7800.0) for name in names], obstacles=[ring("hook")],
        contact=ContactLaw(mu=0.3),
    )  # fmt: skip
    turns = [np.roll(Rotation.from_euler("x", (np.pi / 2, 0.0)[i % 2]).as_quat(), 1) for i in range(LINKS)]
    places = {name: ((i + 1) * step, 0.0, 0.0, *turns[i]) for i, name in enumerate(names)}
    speeds = {name: (*(0.05 * rng.normal(size=3)), *(0.3 * rng.normal(size=3))) for name in names}
    run = simulate(system, system.state(places, speeds), 1.0, stepper=MoreauJean(dt=1e-3), project=True, save=5)
    centres = np.concatenate([np.zeros((len(run.q), 1, 3)), run.q.reshape(len(run.q), LINKS, 7)[:, :, :3]], axis=1)
    apart = np.linalg.norm(np.diff(centres, axis=1), axis=2)
    assert run.status == "COMPLETED"
    assert apart.max() <= 2.0 * RADIUS  # linked: else the next one falls
    assert centres[:, -1, 2].min() < -2.0 * RADIUS
    assert audit(run, system).passed
