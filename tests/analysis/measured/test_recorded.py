"""Tosses and joints from files made here: starts, errors, what is refused; and the real data if they are there."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from measured_files import pendulum

from gaussdyn.analysis.measured.adams_joints import joint_cases
from gaussdyn.analysis.measured.corner_bounces import corner_bounces
from gaussdyn.analysis.measured.cube_tosses import GRAVITY, INERTIA, CubeTosses, angles, errors, middle, shifted
from gaussdyn.analysis.measured.mass_centre import mass_centre
from gaussdyn.analysis.measured.planar_impacts import EllipseImpacts, judged_laws
from gaussdyn.analysis.measured.recorded_file import measured_folder
from gaussdyn.analysis.measured.toss_limits import flight_errors, own_friction
from gaussdyn.analysis.measured.toss_prediction import TossParameters, TossSprings, judged, predictor, springs_predictor
from gaussdyn.errors import InputError, SceneError
from gaussdyn.linalg.rotations import exponential, product

HERE = os.environ.get("GAUSSDYN_MEASURED", "")
real = pytest.mark.skipif(not HERE, reason="no measured data: set GAUSSDYN_MEASURED to their folder")
DT, HALF = 1.0 / 148.0, 0.05


def thrown(w=(3.0, -2.0, 1.0), count=40):
    """A free flight: x, q, v, w of a cube, exact."""
    t = np.arange(count) * DT
    states = np.empty((count, 13))
    states[:, :3] = np.array([0.1, 0.2, 2.0]) + t[:, None] * (1.0, -0.5, 0.3)
    states[:, 2] -= 0.5 * GRAVITY * t * t
    states[:, 3:7] = [product(exponential((0.3, 0.1, -0.2)), exponential(np.array(w) * x)) for x in t]
    states[:, 7:10] = (1.0, -0.5, 0.3)
    states[:, 9] -= GRAVITY * (t - 0.5 * DT)  # differences to the sample before belong half a sample earlier
    states[:, 10:] = w
    return states


def tosses(**states):
    return CubeTosses(tosses=states, dt=DT, half=HALF, mass=0.3)


def test_the_start_of_an_exact_flight_is_exact():
    data = tosses(a=thrown())
    start, truth = data.start("a"), thrown()[0]
    truth[9] = 0.3
    np.testing.assert_allclose(start, truth, atol=1e-9)
    ways, turns = flight_errors(data, ["a"])
    assert ways < 1e-9
    assert turns < 1e-4


def test_noise_of_single_samples_is_averaged_out():
    states = thrown()
    states[:, :3] += 1e-3 * np.random.default_rng(0).normal(size=(40, 3))
    start = tosses(a=states).start("a")
    assert np.abs(start[:3] - thrown()[0, :3]).max() < 1.5e-3
    assert np.abs(start[7:10] - (1.0, -0.5, 0.3)).max() < 0.05


def test_errors_are_shares_of_the_width_and_degrees():
    seen = thrown()
    moved = seen.copy()
    moved[1:, 0] += HALF  # half a width
    turn = exponential((0.0, 0.0, np.radians(10.0)))
    moved[1:, 3:7] = [product(turn, q) for q in seen[1:, 3:7]]
    found = errors(tosses(a=seen), ["a"], lambda start, t: moved, floor=0.0)
    assert found.position[0] == pytest.approx(0.5)
    assert found.rotation[0] == pytest.approx(10.0)
    assert errors(tosses(a=seen), ["a"], lambda start, t: moved[:5], floor=0.0).failed == 1
    np.testing.assert_allclose(angles(seen[:2, 3:7], -seen[:2, 3:7]), 0.0, atol=1e-5)


def test_our_own_tosses_are_predicted_and_their_friction_is_found():
    """A toss made with mu = 0.2 on a floor at -1 mm: no error with these numbers, and 0.2 is the best of all tried."""
    truth = TossParameters(mu=0.2, eps_n=0.1, floor=-0.001, inertia=0.0006, offset=0.004)
    start = thrown()[0]
    start[2], start[9] = 0.15, -0.5
    made = predictor(tosses(a=thrown()), truth)(start, np.arange(70) * DT)
    short = tosses(a=made)
    flight = short.flight("a")
    assert flight >= 4
    assert judged(short, ["a"], truth).position[0] < 0.02
    assert own_friction(short, ["a"], truth).mu[0] == pytest.approx(0.2, abs=0.006)


def test_another_point_of_a_cube_moves_with_it():
    """Places and velocities of a point 4 mm up the z axis of a turning cube: differences of places are velocities."""
    seen = thrown(count=3)
    seen[:, 9] -= 0.5 * GRAVITY * DT  # now those of the samples themselves
    moved = shifted(seen, 0.004)
    np.testing.assert_allclose(np.linalg.norm(moved[:, :3] - seen[:, :3], axis=1), 0.004, rtol=1e-12)
    np.testing.assert_allclose((moved[2, :3] - moved[0, :3]) / (2.0 * DT), moved[1, 7:10], atol=2e-5)
    np.testing.assert_allclose(shifted(moved, -0.004), seen, atol=1e-15)


def test_the_mass_centre_is_found_in_flights():
    """Centres of a cube whose mass centre, 5 mm up its z axis, flies freely; it ends with its +z face down."""
    flights = {str(k): shifted(thrown(w=(3.0 - k, 2.0 * k, 1.0)), -0.005) for k in range(3)}
    found = mass_centre(tosses(**flights), list(flights))
    np.testing.assert_allclose(found.place, (0.0, 0.0, 0.005), atol=1e-9)
    np.testing.assert_allclose(found.gravity, (0.0, 0.0, -GRAVITY), atol=1e-7)
    assert found.left < 1e-12 < 1e-5 < found.left_without
    assert sum(found.below.values()) == 3
    data = tosses(a=flights["0"])
    truth = flights["0"][0]
    truth[9] += 0.5 * -GRAVITY * DT  # recorded velocities are those half a sample before
    np.testing.assert_allclose(data.start("a", 0.005), truth, atol=1e-9)


def test_the_middle_is_the_mean_of_the_middle_third():
    assert middle(np.array([9.0, 1.0, 3.0, 4.0, 5.0, 100.0])) == pytest.approx(4.5)
    assert middle(np.array([7.0])) == 7.0


def test_springs_sink_by_the_weight():
    """A cube at rest on four springs of 1e4 N/m: it comes to lie m g / (4 k) deeper, and stays where it is."""
    start = np.r_[0.0, 0.0, HALF + 0.01, 1.0, np.zeros(9)]
    springs = TossSprings(mu=0.15, damping=1.0, floor=0.01, stiffness=1e4)
    end = springs_predictor(tosses(a=thrown()), springs)(start, np.arange(40) * DT)[-1]
    assert start[2] - end[2] == pytest.approx(0.3 * GRAVITY / 4e4, rel=1e-2)
    np.testing.assert_allclose(end[[0, 1, 4, 5, 6]], 0.0, atol=1e-6)


def test_a_bounce_of_a_corner_is_measured_back():
    """A cube made to bounce on a corner: restitution, friction and one contact point are found in its samples."""
    truth = TossParameters(mu=0.15, eps_n=0.4, floor=0.0, inertia=INERTIA, offset=0.003)
    start = thrown()[0]
    start[2], start[9], start[3:7] = 0.22, -1.0, exponential((0.5, 0.4, 0.0))
    start[10:] = (1.0, 2.0, 0.0)
    made = predictor(tosses(a=thrown()), truth)(start, np.arange(40) * DT)
    assert corner_bounces(tosses(a=made), ["a"], 0.0).outside[0] > 0.01  # not one point of a cube that is even
    found = corner_bounces(tosses(a=made), ["a"], 0.0, offset=0.003)
    assert found.outside.tolist() == pytest.approx([0.0], abs=0.02)
    assert found.restitution.tolist() == pytest.approx([0.4], abs=0.03)
    assert found.friction.tolist() == pytest.approx([0.15], abs=0.01)


def test_a_hanging_mass_pulls_at_the_ground(tmp_path):
    pendulum(tmp_path / "adams_joints.h5")
    (case,) = joint_cases(tmp_path)
    assert {one.column for one in case.differences} == {"position", "velocity", "reaction_force"}
    assert all(one.holds and one.difference < 1e-9 for one in case.differences)


def test_a_wrong_recording_does_not_hold(tmp_path):
    pendulum(tmp_path / "adams_joints.h5", mass=2.01)
    (case,) = joint_cases(tmp_path)
    assert [one.column for one in case.differences if not one.holds] == ["reaction_force"]


def test_what_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("GAUSSDYN_MEASURED", raising=False)
    with pytest.raises(InputError, match="GAUSSDYN_MEASURED"):
        measured_folder()
    with pytest.raises(InputError, match="measured data"):
        measured_folder(tmp_path)
    (tmp_path / "cube_tosses.h5").write_bytes(b"no data")
    assert measured_folder(tmp_path) == tmp_path
    with pytest.raises(SceneError, match="cube_tosses"):
        CubeTosses.load(tmp_path)
    with pytest.raises(InputError, match=r"planar_impacts\.h5"):
        EllipseImpacts.load(tmp_path)
    pendulum(tmp_path / "adams_joints.h5", kind="magnetic")
    with pytest.raises(SceneError, match="magnetic"):
        joint_cases(tmp_path)


@real
@pytest.mark.slow
def test_recorded_tosses_reach_their_bars():
    """The numbers that `gaussdyn bench measured` finds on 60 tosses, on the 150 others."""
    data = CubeTosses.load(Path(HERE))
    numbers = TossParameters(mu=0.18, eps_n=0.2, floor=-0.001, inertia=0.0012, offset=0.0055)
    found = judged(data, data.names("test"), numbers).summary()
    assert found["position_percent"] <= 10.0
    assert found["rotation_deg"] <= 7.7
    centre = mass_centre(data, data.names("all"))
    assert centre.place == pytest.approx([0.0, 0.0, 0.0058], abs=0.0005)


@real
@pytest.mark.slow
def test_recorded_impacts_reach_their_bars():
    medians = {law.name: float(np.median(law.errors)) for law in judged_laws(EllipseImpacts.load(Path(HERE)))}
    assert medians["best impulse of one point"] == pytest.approx(0.014, abs=1e-3)
    assert medians["Newton"] <= 0.059
    assert medians["Poisson"] <= 0.077


@real
@pytest.mark.slow
@pytest.mark.parametrize("name", ["Revolute_Case02", "Cylindrical_Case03", "RevSpherical_Case02", "RotSpring_Case02"])
def test_adams_columns_hold(name):
    (case,) = joint_cases(Path(HERE), (name,))
    assert [one.column for one in case.differences if not one.holds] == []
