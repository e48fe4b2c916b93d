"""Robots as environments of Gymnasium: its own checks, episodes under random actions, the same run as `simulate`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import gaussdyn
from gaussdyn import InputError, State, read_robot
from gaussdyn.errors import BackendMissing
from gaussdyn.gym import make

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium (the extra gym) is not installed")
URDF = """<robot name="cart"><link name="rail"/><link name="cart"><inertial><mass value="2"/>
<inertia ixx=".1" iyy=".1" izz=".1"/></inertial></link><link name="pole"><inertial><origin xyz="0 0 .3"/>
<mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
<limit lower="-1" upper="1" effort="5" velocity="1"/></joint>
<joint name="swing" type="continuous"><parent link="cart"/><child link="pole"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.fixture
def cart(tmp_path: Path) -> gaussdyn.mechanics.robots.robot.Robot:
    (tmp_path / "cart.urdf").write_text(URDF)
    return read_robot(tmp_path / "cart.urdf")


def test_gymnasium_finds_nothing_wrong(cart: gaussdyn.mechanics.robots.robot.Robot) -> None:
    from gymnasium.utils.env_checker import check_env

    env = make(cart, frames=2, horizon=20)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(infinity|normalized|`spec`|spec is None|render).*")
        check_env(env, skip_render_check=True)
    assert env.observation_space.shape == (4,)


def test_an_episode_is_the_run_that_simulate_makes(cart: gaussdyn.mechanics.robots.robot.Robot) -> None:
    env, told = make(cart, frames=4, dt=2e-3, horizon=3), np.array([0.6, -0.2])
    first, _ = env.reset(seed=3)
    start = env.state
    again, _ = env.reset(seed=3)
    assert np.array_equal(first, again)
    for k in range(3):
        seen, reward, terminated, truncated, info = env.step(told)
        assert (terminated, truncated, info["status"]) == (False, k == 2, "SOLVED")
    run = gaussdyn.simulate(cart.system(), start, start.t + 0.024, stepper=env.stepper, control=told)
    assert np.array_equal(seen, np.concatenate([run.final.q, run.final.v]))
    moved = (run.q[-1, 0] - run.q[8, 0]) / 0.008
    assert reward == pytest.approx(moved - 1e-3 * told @ told, abs=1e-10)


def test_states_of_actuators_are_those_of_the_run_that_simulate_makes(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
    (tmp_path / "sled.xml").write_text(
        """<mujoco><worldbody><body><joint name="rail" type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body>
        </worldbody><actuator><general joint="rail" dyntype="filterexact" dynprm=".2"/></actuator></mujoco>"""
    )
    robot, told = read_robot(tmp_path / "sled.xml"), np.array([0.7])
    env = make(robot, frames=5, dt=0.01)
    env.reset(seed=2)
    start = env.state
    for _ in range(2):
        seen, *_ = env.step(told)
    run = gaussdyn.simulate(robot.system(), start, start.t + 0.1, stepper=env.stepper, control=told)
    assert np.array_equal(seen[:2], [run.final.q[0], run.final.v[0]])
    assert seen[2] == pytest.approx(0.7 * (1.0 - np.exp(-0.1 / 0.2)), rel=1e-12)


@pytest.mark.parametrize("fast", [1e100, 1e300])
def test_a_motion_beyond_all_numbers_ends_an_episode(cart: gaussdyn.mechanics.robots.robot.Robot, fast: float) -> None:
    """Whatever it was that overflowed: the action was sound, and what was observed are numbers."""
    env = make(cart, frames=3)
    env.reset(seed=1)
    state = env.state
    env.reset(options={"state": State(q=state.q, v=np.full(len(state.v), fast))})
    for _ in range(3):
        observation, _, terminated, _, info = env.step(env.action_space.sample())
        assert np.isfinite(observation).all()
        assert terminated == (info["status"] != "SOLVED") == ("reason" in info)
        if terminated:
            break
    assert "t = " in info["reason"]


def test_rewards_and_ends_are_chosen(cart: gaussdyn.mechanics.robots.robot.Robot) -> None:
    env = make(cart, reward=lambda before, after, action: 7.0, healthy=lambda state: state.t < 0.004, noise=0.0)
    env.reset(seed=0)
    _, reward, terminated, truncated, _ = env.step(np.zeros(2))
    assert (reward, terminated, truncated) == (7.0, True, False)
    env.reset(options={"state": cart.start(joints={"slide": 0.3})})
    assert env.state.q[0] == 0.3
    for action in (np.array([np.nan, 0.0]), np.zeros(3)):
        with pytest.raises(InputError, match="action"):
            env.step(action)
    with pytest.raises(InputError, match="frames"):
        make(cart, frames=0)


@pytest.mark.parametrize(
    "steps", [40, pytest.param(3000, marks=pytest.mark.slow), pytest.param(100_000, marks=pytest.mark.nightly)]
)
def test_random_actions_of_the_ant_are_all_solved(steps: int) -> None:
    pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
    env = make("Ant", frames=1, horizon=200)
    env.action_space.seed(5)
    env.reset(seed=5)
    found = set()
    for _ in range(steps):
        _, _, terminated, truncated, info = env.step(env.action_space.sample())
        found.add(info["status"])
        if terminated or truncated:
            env.reset()
    assert found == {"SOLVED"}


def test_unknown_models_and_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="Did you mean Ant"):
        make("Antt")
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(BackendMissing, match=r"gaussdyn\[gym\]"):
        make("Ant")
