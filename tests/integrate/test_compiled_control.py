"""Controllers as machine code: the same bits as in Python, in steps one by one and many at once."""

from __future__ import annotations

import os

import numpy as np
import pytest

from gaussdyn import ContactLaw, InputError, MoreauJean, SpatialSystem, simulate
from gaussdyn.integrate.compiled_control import CompiledControl
from gaussdyn.mechanics.spatial import HalfSpace, Sphere
from gaussdyn.mechanics.trees import Actuator, TreeBody, TreeJoint, TreeSystem

J = np.diag([0.02, 0.02, 0.01])
GAINS = (30.0, 0.5, 0.4, -0.6)


def leg() -> TreeSystem:
    """A thigh and a shank on a body that falls on a floor, two motors."""
    body = TreeBody(name="body", joints=(TreeJoint(name="root", motion="free"),), mass=2.0, inertia=J)
    hip = TreeJoint(name="hip", axis=(0, 1, 0), damping=0.1, low=-1.0, high=1.0)
    knee = TreeJoint(name="knee", axis=(0, 1, 0), damping=0.1)
    thigh = TreeBody(name="thigh", parent="body", joints=(hip,), mass=0.5, inertia=J, centre=(0, 0, -0.1))
    shank = TreeBody(name="shank", parent="thigh", at=(0, 0, -0.2), joints=(knee,), mass=0.3, inertia=J,
                     shapes=(Sphere(radius=0.05, at=(0, 0, -0.2)),))  # fmt: skip
    motors = [Actuator(name=f"{name}_motor", factors={name: 1.0}) for name in ("hip", "knee")]
    return TreeSystem(
        bodies=[body, thigh, shank], obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.8), actuators=motors
    )


def hold(t: float, q: np.ndarray, v: np.ndarray, p: np.ndarray, u: np.ndarray) -> None:
    """Proportional and derivative, on a goal that moves."""
    for k in range(2):
        u[k] = p[0] * (p[2 + k] * (1.0 - t) - q[7 + k]) - p[1] * v[6 + k]


def in_python(t: float, state: object) -> np.ndarray:
    u = np.zeros(2)
    hold(t, state.q, state.v, np.array(GAINS), u)  # type: ignore[attr-defined]
    return u


@pytest.mark.parametrize("save", [1, 40])
def test_the_same_bits_as_in_python(save: int) -> None:
    system = leg()
    start = system.state({"root": (0, 0, 0.5)})
    runs = [
        simulate(system, start, 0.4, stepper=MoreauJean(dt=2e-3), control=law, save=save)
        for law in (in_python, CompiledControl(hold, 2, GAINS))
    ]
    assert runs[0].event_counts == runs[1].event_counts
    assert runs[0].event_counts["touchdown"] >= 1
    for name in runs[0].names:
        assert np.array_equal(runs[0][name], runs[1][name]), name
    assert runs[0].state_hash == runs[1].state_hash


def test_many_steps_are_one_call() -> None:
    """The kernels take steps by themselves, and what was told in the last one is known."""
    system, stepper, law = leg(), MoreauJean(dt=1e-3), CompiledControl(hold, 2, GAINS)
    start = stepper.advance(system, system.state({"root": (0, 0, 0.8)}), 1.0, control=law).state
    many = stepper.advance_many(system, start, 50, 1.0, control=law)
    assert sum(map(len, many)) == 50
    state = start
    for _ in range(50):
        before, state = state, stepper.advance(system, state, 1.0, control=law).state
    assert np.array_equal(many[-1].end.q, state.q)
    assert np.array_equal(many[-1].control[-1], law(before.t, before))


def test_a_law_that_gives_nan_in_mid_run_ends_it_there() -> None:
    def fails(t: float, q: np.ndarray, v: np.ndarray, p: np.ndarray, u: np.ndarray) -> None:
        u[0] = 0.1 if t < 0.0195 else np.sqrt(-1.0)

    def raises(t: float, q: np.ndarray, v: np.ndarray, p: np.ndarray, u: np.ndarray) -> None:
        if t > 0.0195:
            raise ValueError("no more")

    system = leg()
    start = system.state({"root": (0, 0, 0.8)})
    for law, said in ((fails, "control"), (raises, "no more")):
        run = simulate(system, start, 0.1, stepper=MoreauJean(dt=1e-3), control=CompiledControl(law, 2), save=100)
        assert run.status == "STOPPED"
        assert run.stop is not None
        assert said in run.stop.reason
        assert run.t[-1] == pytest.approx(0.02)


def test_systems_that_are_no_trees_are_driven_step_by_step() -> None:
    """The law is a generalised force there."""
    from gaussdyn.mechanics.spatial import SpatialBody

    def lift(t: float, q: np.ndarray, v: np.ndarray, p: np.ndarray, u: np.ndarray) -> None:
        u[2] = p[0]

    system = SpatialSystem(bodies=[SpatialBody(name="ball", mass=2.0, inertia=(0.1, 0.1, 0.1))])
    run = simulate(
        system, system.state(), 0.1, stepper=MoreauJean(dt=1e-2), control=CompiledControl(lift, 6, (2 * 9.81,)), save=5
    )
    assert np.abs(run.final.v).max() < 1e-14


def test_bad_laws_are_refused() -> None:
    def opens(t: float, q: np.ndarray, v: np.ndarray, p: np.ndarray, u: np.ndarray) -> None:
        u[0] = os.getpid()

    with pytest.raises(InputError, match=r"opens.*numba compiles"):
        CompiledControl(opens, 2)
    with pytest.raises(InputError, match="law"):
        CompiledControl(3.0, 2)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="size"):
        CompiledControl(hold, 0)
    with pytest.raises(InputError, match="numbers"):
        CompiledControl(hold, 2, (float("nan"),))
    system = leg()
    with pytest.raises(InputError, match="control"):
        simulate(
            system,
            system.state({"root": (0, 0, 0.8)}),
            0.01,
            stepper=MoreauJean(dt=1e-3),
            control=CompiledControl(hold, 3, GAINS),
        )
