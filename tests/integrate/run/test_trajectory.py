"""The trajectory as a table and as a file."""

from __future__ import annotations

import dataclasses

import h5py
import numpy as np
import pytest
from run_cases import same
from small_systems import Ball, Block, Contradiction, Plain, Sleigh

from gaussdyn.errors import BackendMissing, InputError, SceneError
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.stepper_names import from_settings, named
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.state import State


@pytest.fixture(scope="module")
def run():
    return simulate(Block(0.0, 0.5), State(q=[0.1, 0.0], v=[0.0, 1.0]), 0.3, stepper=MoreauJean(dt=0.01))


def test_columns_have_names_and_units(run):
    assert {"t", "q0", "v1", "energy", "block/incline.gap", "block/incline.r_N", "block/incline.r_T"} <= set(run.names)
    assert run.unit("energy") == "J"
    assert run.unit("block/incline.r_N") == "N"
    assert "q0" in run
    assert all(len(run[name]) == len(run) for name in run.names)
    with pytest.raises(InputError, match=r"Nearest.*energy"):
        run["enrgy"]


def test_velocity_rows_have_gaps_in_metres_per_second():
    sleigh = simulate(Sleigh(), State(q=[0.0, 0.0, 0.0], v=[1.0, 0.4, 1.0]), 0.02, stepper=MoreauJean(dt=0.01))
    assert sleigh.unit("knife.gap") == "m/s"
    assert "knife.r" in sleigh


def test_states_are_interpolated_between_the_saved_ones(run):
    assert np.array_equal(run.at(run.t[3]).q, run.q[3])
    middle = run.at(0.5 * (run.t[3] + run.t[4]))
    assert middle.q == pytest.approx(0.5 * (run.q[3] + run.q[4]))
    assert run.at(run.t[-1]).digest() == run.state_hash
    for t in (-0.1, 0.31, np.nan):
        with pytest.raises(InputError, match="t:"):
            run.at(t)


def test_repr_says_how_far_it_went(run):
    assert "COMPLETED" in repr(run)
    assert "t=0.3 s" in repr(run)


def test_a_file_gives_back_the_run(run, tmp_path):
    path = run.save(tmp_path / "run.h5")
    same(run, Trajectory.load(path))
    assert list(tmp_path.iterdir()) == [path]
    with h5py.File(path) as file:
        assert file["columns/energy"].attrs["unit"] == "J"
        assert file["state/v"].shape == (len(run), 2)
        assert set(file["steps"]) >= {"status", "E", "outcome"}
        assert {"settings", "versions", "seed", "state_hash", "schema"} <= set(file.attrs)


@pytest.mark.parametrize("system", [Plain(), Contradiction()])
def test_runs_without_rows_events_or_end_are_saved_too(system, tmp_path):
    run = simulate(system, State(q=[0.0], v=[0.0]), 0.1, stepper=MoreauJean(dt=0.02))
    same(run, Trajectory.load(run.save(tmp_path / "run.h5")))


def test_an_older_run_is_replaced_but_nothing_else(run, tmp_path):
    path = run.save(tmp_path / "run.h5")
    short = simulate(Ball(), State(q=[1.0], v=[0.0]), 0.1, stepper=MoreauJean(dt=0.01))
    short.save(path)
    assert Trajectory.load(path).scene == "Ball"
    foreign = tmp_path / "thesis.h5"
    foreign.write_text("three years of work")
    with pytest.raises(InputError, match="older run"):
        run.save(foreign)
    assert foreign.read_text() == "three years of work"


def test_paths_that_cannot_be_written_are_refused(run, tmp_path):
    for path in (tmp_path / "no" / "such" / "folder" / "run.h5", tmp_path):
        with pytest.raises(InputError, match="path"):
            run.save(path)


def test_damaged_and_foreign_files_are_named(run, tmp_path):
    path = run.save(tmp_path / "run.h5")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SceneError, match=r"run\.h5"):
        Trajectory.load(path)
    path.write_bytes(whole)
    with h5py.File(path, "a") as file:
        del file["state/v"]
    with pytest.raises(SceneError, match=r"run\.h5"):
        Trajectory.load(path)
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["x"] = 1.0
    with pytest.raises(SceneError, match="not a run"):
        Trajectory.load(other)
    with pytest.raises(SceneError, match="no such file"):
        Trajectory.load(tmp_path / "nothing.h5")


def test_a_dataframe_needs_pandas(run):
    try:
        import pandas  # noqa: F401
    except ImportError:
        with pytest.raises(BackendMissing, match="pandas"):
            run.to_dataframe()
    else:
        assert list(run.to_dataframe().columns) == list(run.names)


def test_steppers_are_found_by_name_and_by_their_settings():
    stepper = MoreauJean(dt=0.02, theta=0.75)
    assert from_settings(stepper.settings()) == stepper
    assert named("moreau_jean", dt=0.5) == MoreauJean(dt=0.5)
    with pytest.raises(InputError, match="stepper"):
        named("euler")
    with pytest.raises(InputError, match="speed"):
        named("moreau_jean", speed=3.0)


class Spinning(Plain):
    """A free body in space: q = (position, unit quaternion), turning about z at 2 rad/s."""

    nq, nv = 7, 6

    def qdot(self, q, v):
        return np.zeros(7)

    def move(self, q, v, dt):
        half = 0.5 * dt * v[5]  # exact for a fixed axis
        s, c = np.sin(half), np.cos(half)
        w, z = q[3] * c - q[6] * s, q[3] * s + q[6] * c
        return np.r_[q[:3] + dt * v[:3], w, 0.0, 0.0, z]


def test_unit_quaternions_stay_of_length_one_between_saved_states():
    start = State(q=[0, 0, 0, 1, 0, 0, 0], v=[1, 0, 0, 0, 0, 2])
    run = simulate(Spinning(), start, 4.0, stepper=MoreauJean(dt=0.1), save=5)
    for t in (0.25, 1.25, 3.25):  # halfway between two states the shorter arc is halved exactly
        q = run.at(t).q
        assert q[0] == pytest.approx(t)
        assert np.linalg.norm(q[3:]) == pytest.approx(1.0, abs=1e-15)
        assert abs(q[3:] @ [np.cos(t), 0, 0, np.sin(t)]) == pytest.approx(1.0, abs=1e-14)
    q = run.q.copy()
    q[1::2, 3:] *= -1.0  # the same attitudes
    turned = dataclasses.replace(run, q=q)
    assert abs(turned.at(1.3).q[3:] @ run.at(1.3).q[3:]) == pytest.approx(1.0, abs=1e-14)


def test_outcomes_have_times():
    run = simulate(Plain(), State(q=[0.0], v=[0.0]), 0.05, stepper=MoreauJean(dt=0.01))
    words = np.array(["UNIQUE", "UNIQUE", "NONE", "UNIQUE", "NONE"])
    steps = dataclasses.replace(run.steps, outcome=words)
    found = dataclasses.replace(run, steps=steps).outcome_intervals
    assert list(found) == ["UNIQUE", "NONE"]
    assert np.array(found["UNIQUE"]) == pytest.approx(np.array([[0.0, 0.02], [0.03, 0.04]]))
    assert np.array(found["NONE"]) == pytest.approx(np.array([[0.02, 0.03], [0.04, 0.05]]))
    assert simulate(Plain(), State(q=[0.0], v=[0.0]), 0.0).outcome_intervals == {}
