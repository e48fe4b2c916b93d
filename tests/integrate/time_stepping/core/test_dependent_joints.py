"""Joints that depend on one another by the compiled step: motion and smallest multipliers of the reference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference_step import apart, reference_of

from gaussdyn import ContactLaw, MoreauJean, PlanarSystem, State, build
from gaussdyn.integrate.time_stepping.core.outside.lazy_step import CompiledStep
from gaussdyn.mechanics.joints.limits_motors import Motor
from gaussdyn.mechanics.planar import HalfPlane, Hinge, Marker, PlanarBody
from gaussdyn.mechanics.planar.shapes import Disc
from gaussdyn.mechanics.system import System

STEPS = 20


def cranks(count: int, motor: bool, ball: bool) -> tuple[PlanarSystem, State]:
    """Return a platform on parallel cranks, two of which would hold it, with a ball that falls onto it."""
    angle, names = 1.0, [f"crank{k}" for k in range(count)]
    arm = (math.cos(angle), math.sin(angle))
    bodies = [PlanarBody(name=name, mass=0.2, inertia=0.02) for name in names]
    bodies.append(PlanarBody(name="table", mass=1.0, inertia=0.3))
    joints: list[Hinge | Motor] = []
    for k, name in enumerate(names):
        joints.append(Hinge(name=f"foot{k}", a=Marker(name, (-0.5, 0.0)), b=Marker("ground", (0.5 * k, 0.0))))
        joints.append(Hinge(name=f"top{k}", a=Marker("table", (0.5 * k - 0.4, 0.0)), b=Marker(name, (0.5, 0.0))))
    if motor:
        joints.append(Motor(joint="foot0", rate=-1.0))
    places = {name: (0.5 * k + 0.5 * arm[0], 0.5 * arm[1], angle) for k, name in enumerate(names)}
    rates = dict.fromkeys(names, (0.5 * arm[1], -0.5 * arm[0], -1.0))
    places["table"], rates["table"] = (arm[0] + 0.4, arm[1], 0.0), (arm[1], -arm[0], 0.0)
    obstacles: list[HalfPlane] = []
    if ball:
        bodies.append(PlanarBody(name="ball", mass=0.5, inertia=1e-3, shapes=(Disc(radius=0.1),)))
        places["ball"], rates["ball"] = (arm[0] + 0.5, arm[1] + 0.11, 0.0), (0.0, -2.0, 0.0)
        obstacles.append(HalfPlane(name="top", body="table"))
    system = PlanarSystem(bodies=bodies, joints=joints, obstacles=obstacles, contact=ContactLaw(mu=0.5, eps_n=0.2))
    return system, system.state(places, rates)


def excess(system: System, step: CompiledStep) -> float:
    """Return the part of the joints' impulses that pushes nothing, relative: the smallest multipliers have none."""
    assert step.place is not None
    t = step.start.t + 0.5 * step.dt
    rows = [
        row for row in system.rows(t, step.place, step.start.v) if row.kind == "bilateral" and row.level == "position"
    ]
    U, s, _ = np.linalg.svd(np.vstack([row.J for row in rows]))
    idle = U[:, int((s > 1e-8 * s[0]).sum()) :]
    assert idle.shape[1] > 0
    p = np.concatenate([step.reactions[row.id] for row in rows])
    return float(np.abs(idle.T @ p).max() / np.abs(p).max())


@pytest.mark.parametrize(("motor", "ball"), [(False, False), (True, False), (False, True)])
def test_a_platform_on_four_cranks(motor: bool, ball: bool) -> None:
    """Two dependences on the constraints only, beside a motor that binds rates, and a ball that meets the platform."""
    system, state = cranks(4, motor, ball)
    for _ in range(STEPS):
        step = MoreauJean(dt=5e-3).advance(system, state, 10.0)
        assert isinstance(step, CompiledStep)
        assert apart(step, reference_of(system, step)) <= 1e-10
        assert excess(system, step) <= 1e-9
        state = step.state


def test_the_closed_chain_of_bricard() -> None:
    """Thirty rows of rank 29."""
    scene = build("bricard")
    state = scene.state
    for _ in range(STEPS):
        step = MoreauJean(dt=scene.dt).advance(scene.system, state, 10.0)
        assert isinstance(step, CompiledStep)
        assert max(abs(row.gap) for row in step.rows) <= 1e-10
        assert excess(scene.system, step) <= 1e-9
        state = step.state


def test_two_hinges_at_one_place_share_their_load() -> None:
    """Dependent wherever the pendulum is: each carries half of what one alone would."""
    rod = PlanarBody(name="rod", mass=1.0, inertia=0.1)
    a, b = Marker("rod", (-0.5, 0.0)), Marker("ground")
    steps = []
    for names in (("one",), ("one", "two")):
        system = PlanarSystem(bodies=[rod], joints=[Hinge(name=name, a=a, b=b) for name in names])
        steps.append(MoreauJean(dt=1e-2).advance(system, system.state({"rod": (0.5, 0.0, 0.0)}), 1.0))
        assert isinstance(steps[-1], CompiledStep)
    alone, both = steps
    np.testing.assert_allclose(both.state.v, alone.state.v, rtol=0, atol=1e-14)
    for part in "xy":
        half = 0.5 * alone.reactions[f"one:{part}"]
        np.testing.assert_allclose(both.reactions[f"one:{part}"], half, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(both.reactions[f"two:{part}"], half, rtol=1e-9, atol=1e-13)
