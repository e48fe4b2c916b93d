"""Actuators with states: closed forms, MuJoCo's own states, resumes to the bit; controllers that fail in mid-run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gaussdyn
from gaussdyn import EventDriven, InputError, MoreauJean, State, Tolerance, read_robot
from gaussdyn.integrate.worlds import Worlds
from gaussdyn.mechanics.specs import system_of
from gaussdyn.mechanics.trees import Actuator, TreeBody, TreeJoint, TreeSystem
from gaussdyn.mechanics.trees.activations import MEMORY

J = np.diag([0.1, 0.1, 0.1])


def cart(*actuators: Actuator) -> TreeSystem:
    """A mass of 2 kg on a slider."""
    body = TreeBody(name="cart", joints=(TreeJoint(name="rail", motion="slide", axis=(1, 0, 0)),), mass=2.0, inertia=J)
    return TreeSystem(bodies=[body], actuators=actuators)


def one(**options: object) -> Actuator:
    return Actuator(name="drive", factors={"rail": 1.0}, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("stepper", [MoreauJean(dt=0.01), EventDriven(dt=0.01)])
def test_a_filter_follows_its_closed_form(stepper: object) -> None:
    """Told 3 from rest, a filter solved exactly is at 3 (1 - exp(-t / tau)) after steps of any length."""
    system = cart(one(dynamics="filterexact", time=0.2))
    run = gaussdyn.simulate(system, system.state(), 0.3, stepper=stepper, control=np.array([3.0]))  # type: ignore[arg-type]
    assert run.status == "COMPLETED"
    assert run.final.memory[MEMORY] == pytest.approx([3.0 * (1.0 - np.exp(-0.3 / 0.2))], rel=1e-12)


def test_without_a_control_they_are_told_zero() -> None:
    system = cart(one(dynamics="filterexact", time=0.2))
    start = State(q=[0.0], v=[0.0], memory={MEMORY: np.array([2.0])})
    run = gaussdyn.simulate(system, start, 0.1, stepper=MoreauJean(dt=0.01))
    assert run.status == "COMPLETED"
    assert run.final.memory[MEMORY] == pytest.approx([2.0 * np.exp(-0.1 / 0.2)], rel=1e-12)


def test_an_integrator_adds_up_and_the_force_sees_its_state() -> None:
    """da/dt = u: the momentum is the sum of what the force was in each step; limits of control and state hold."""
    system = cart(one(dynamics="integrator", control_high=2.0, state_high=0.5))
    run = gaussdyn.simulate(system, system.state(), 0.4, stepper=MoreauJean(dt=0.01), control=np.array([9.0]))
    states = np.minimum(0.02 * np.arange(40), 0.5)
    assert run["control0"][1:] == pytest.approx(states, abs=1e-14)
    assert 2.0 * run["rail.rate"][-1] == pytest.approx(0.01 * states.sum(), rel=1e-12)
    early = cart(one(dynamics="integrator", early=True))
    ahead = gaussdyn.simulate(early, early.state(), 0.4, stepper=MoreauJean(dt=0.01), control=np.array([1.0]))
    assert ahead["control0"][1:] == pytest.approx(0.01 * np.arange(1, 41), abs=1e-14)


def test_a_joint_with_limits_may_be_driven_by_them() -> None:
    """Whose rows a run looks at after its first step."""
    rail = TreeJoint(name="rail", motion="slide", axis=(1, 0, 0), low=-1.0, high=0.1)
    body = TreeBody(name="cart", joints=(rail,), mass=2.0, inertia=J)
    system = TreeSystem(bodies=[body], actuators=[one(dynamics="filterexact", time=0.2)])
    run = gaussdyn.simulate(system, system.state(), 1.0, stepper=MoreauJean(dt=0.01), control=np.array([3.0]))
    assert run.status == "COMPLETED"
    assert run["rail"][-1] == pytest.approx(0.1, abs=1e-12)
    assert [event.kind for event in run.events] == ["touchdown"]


MODEL = """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><body><joint name="h" axis="0 1 0" damping="1"/>
<geom size=".1 .2 .3" type="box"/></body></worldbody><actuator>
<general joint="h" dyntype="integrator" actlimited="true" actrange="-.1 .02"/>
<general joint="h" dyntype="filter" dynprm=".03" ctrllimited="true" ctrlrange="-.4 .4"/><motor joint="h"/>
<general joint="h" dyntype="filterexact" dynprm=".05" gainprm="2" biastype="affine" biasprm="0 -1 -.1" actearly="true"/>
</actuator><keyframe><key name="on" act=".01 -.2 .3"/></keyframe></mujoco>"""


def test_states_are_those_of_mujoco(tmp_path: Path) -> None:
    """Bit by bit where the same numbers are told; a keyframe brings its own."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
    (tmp_path / "drives.xml").write_text(MODEL)
    robot, m = read_robot(tmp_path / "drives.xml"), mujoco.MjModel.from_xml_string(MODEL)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)

    def told(t: float, state: State) -> np.ndarray:
        return np.array([np.sin(40 * t), np.cos(9 * t), 0.3, 1.0])

    start = robot.start("on")
    assert start.memory[MEMORY] == pytest.approx([0.01, -0.2, 0.0, 0.3])
    run = gaussdyn.simulate(robot.system(), start, 0.1, stepper=MoreauJean(dt=0.002), control=told)
    for t in run.t[:-1]:
        d.ctrl[:] = told(t, start)
        mujoco.mj_step(m, d)
    assert run.final.memory[MEMORY][[0, 1, 3]] == pytest.approx(d.act, abs=1e-14)
    assert run["h.angle"][-1] == pytest.approx(d.qpos[0], abs=3e-4)  # explicit there, at midpoints here: O(dt)


def test_a_run_with_states_goes_on_bit_for_bit(tmp_path: Path) -> None:
    system = cart(one(dynamics="filter", time=0.1), Actuator(name="plain", factors={"rail": 1.0}))
    again = system_of(json.loads(json.dumps(system.spec(), allow_nan=False)))
    assert again.spec() == system.spec()

    def told(t: float, state: State) -> np.ndarray:
        return np.array([np.sin(30 * t) - state.q[0], 0.1])

    state, method, file = system.state(), MoreauJean(dt=2e-3), tmp_path / "run.h5"
    whole = gaussdyn.simulate(again, state, 0.04, stepper=method, control=told)
    gaussdyn.simulate(system, state, 0.02, stepper=method, control=told, out=file, chunk=3)
    rest = gaussdyn.simulate(system, state, 0.04, stepper=method, control=told, out=file, resume=True)
    assert rest.state_hash == whole.state_hash
    assert whole.final.memory[MEMORY][0] != 0.0


@pytest.mark.parametrize(("wrong", "words"), [
    (np.array([np.nan, 0.0]), "nan"), (np.array([1.0]), "control"), (None, "control"),
])  # fmt: skip
@pytest.mark.parametrize("dynamics", ["none", "filter"])
def test_a_controller_that_fails_in_mid_run_ends_it_and_loses_nothing(
    wrong: object, words: str, dynamics: str
) -> None:  # fmt: skip
    system = cart(one(dynamics=dynamics), Actuator(name="plain", factors={"rail": 1.0}))
    run = gaussdyn.simulate(
        system, system.state(), 0.1, stepper=MoreauJean(dt=0.01),
        control=lambda t, state: wrong if t > 0.045 else np.array([1.0, 0.0]),
    )  # fmt: skip
    assert run.status == "STOPPED"
    assert words in run.stop.reason
    assert len(run) == 6
    assert run.t_reached == pytest.approx(0.05)


def test_what_cannot_be_is_named() -> None:
    with pytest.raises(InputError, match="dynamics of drive"):
        one(dynamics="muscle")
    system = cart(one(dynamics="filter"))
    with pytest.raises(InputError, match="control"):
        gaussdyn.simulate(system, system.state(), 0.1, control=np.zeros(3))
    for stepper in (EventDriven(), MoreauJean(dt=1e-3, step=Tolerance(1e-4))):
        with pytest.raises(InputError, match="a fixed step"):
            gaussdyn.simulate(system, system.state(), 0.1, stepper=stepper)
    with pytest.raises(InputError, match="actuators with states"):
        Worlds(system, [system.state()])
