"""Fits: parameters that made a run are found again, noise gives intervals that hold, and what is not seen is said."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import MoreauJean, PlanarSystem, State, UserSystem, build, simulate
from gaussdyn.errors import InputError, SceneError
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.mechanics.planar import Marker, Spring, disc, fixed
from gaussdyn.studies.fitting.fit_runs import fit
from gaussdyn.studies.fitting.measurements import Measurements, measurements_of
from gaussdyn.studies.fitting.result import flat_words, spread_of
from gaussdyn.studies.template import Template

pytestmark = pytest.mark.xdist_group("fits")  # what they share is made once

SLIDE = Template(build="incline", fixed={"slope": 0.5, "v0": 0.0}, t_end=0.5)


@pytest.fixture(scope="module")
def slide() -> Trajectory:
    """A block that slides down with mu = 0.27."""
    return simulate(build("incline", slope=0.5, v0=0.0, mu=0.27), t_end=0.5, examine="off")


def test_the_friction_of_a_slide_is_found_again(slide):
    made = fit(slide, SLIDE, ["mu"], columns=["block.speed"])
    assert made.values["mu"] == pytest.approx(0.27, abs=1e-6)
    low, high = made.intervals["mu"]
    assert low <= 0.27 + 1e-9
    assert high >= 0.27 - 1e-9
    assert made.determined
    assert made.converged
    assert not made.words


def test_a_mass_that_does_nothing_is_said_to_be_open(slide):
    made = fit(slide, SLIDE, {"mu": (0.1, 0.5), "mass": (0.5, 2.0)}, columns=["block.speed"])
    assert made.values["mu"] == pytest.approx(0.27, abs=1e-6)
    assert made.intervals["mass"] is None
    assert made.intervals["mu"] is not None
    assert "mass is not determined" in made.words[0]


def falling(g: float, height: float, sag: float) -> tuple[UserSystem, State, float]:
    """A point that falls: of height and sag only the difference is seen."""
    system = UserSystem(nq=1, mass=[[1.0]], force=lambda t, q, v: np.array([-g]))
    return system, State(t=0.0, q=np.array([height - sag]), v=np.zeros(1)), 0.3


COARSE = Template(build=falling, stepper=MoreauJean(dt=0.03))  # exact at its steps for a constant force


def test_parameters_that_act_together_cannot_be_told_apart():
    run = simulate(*falling(9.0, 2.0, 0.5))
    ranges = {"g": (5.0, 15.0), "height": (0.0, 4.0), "sag": (0.0, 4.0)}
    made = fit({"t": run.t[::30], "q0": run["q0"][::30]}, COARSE, ranges)
    assert made.values["g"] == pytest.approx(9.0, abs=1e-6)
    assert made.values["height"] - made.values["sag"] == pytest.approx(1.5, abs=1e-8)
    assert made.intervals["height"] is None
    assert made.intervals["sag"] is None
    assert made.intervals["g"] is not None
    assert "height and sag cannot be told apart" in made.words[0] or "sag and height" in made.words[0]


def test_intervals_hold_as_often_as_they_say():
    """Lines through noise: 95 % of the intervals hold the truth (of 400, at least 365 but for 1 in 600 seeds)."""
    x = np.linspace(-1.0, 1.0, 12)
    J, inside = np.column_stack([np.ones(12), x]), 0
    for seed in range(400):
        noise = 0.1 * np.random.default_rng(seed).normal(size=12)
        off = np.linalg.lstsq(J, noise, rcond=None)[0]
        spread = spread_of(J, 0.5 * float(np.sum((noise - J @ off) ** 2)), known_noise=False)
        inside += abs(off[1]) <= spread.student * np.sqrt(spread.covariance[1, 1])
    assert 365 <= inside < 395


def test_several_experiments_with_parameters_of_their_own():
    data = []
    for height in (1.0, 2.0):
        run = simulate(*falling(8.0, height, 0.0))
        data.append(Measurements(t=run.t[::30], columns={"q0": run["q0"][::30]}, fixed={"height": height, "sag": 0.0}))
    assert fit(data, COARSE, {"g": (5.0, 15.0)}).values["g"] == pytest.approx(8.0, abs=1e-6)


@pytest.mark.slow
def test_a_search_finds_what_least_squares_misses():
    """A swing cos(w t) over many turns: from w = 3 least squares stays in a valley beside w = 11."""
    t = np.linspace(0.0, 4.0, 81)
    data = {"t": t, "mass.x": np.cos(11.0 * t)}
    template = Template(build=swinging, stepper=MoreauJean(dt=0.01))
    stuck = fit(data, template, {"w": (2.0, 20.0)}, start={"w": 3.0})
    found = fit(data, template, {"w": (2.0, 20.0)}, start={"w": 3.0}, search=32)
    assert abs(stuck.values["w"] - 11.0) > 1.0
    assert found.values["w"] == pytest.approx(11.0, abs=0.05)


def swinging(w: float) -> tuple[PlanarSystem, State, float]:
    """A mass on a spring of frequency w."""
    spring = Spring(a=Marker("mass"), b=fixed(0.0, 0.0), stiffness=w * w)
    system = PlanarSystem(bodies=[disc("mass", mass=1.0, radius=0.1)], forces=[spring])
    return system, system.state({"mass": (1.0, 0.0, 0.0)}), 4.0


def test_spread_of_a_line():
    """y = a + b x by hand: variances s^2 (X'X)^-1."""
    x = np.arange(10.0)
    J = np.column_stack([np.ones(10), x])
    spread = spread_of(J, 0.5 * 8.0 * 0.01, known_noise=False)  # s^2 = 0.01
    np.testing.assert_allclose(spread.covariance, 0.01 * np.linalg.inv(J.T @ J), rtol=1e-12)
    assert spread.student == pytest.approx(2.306, abs=1e-3)
    assert not len(spread.flat)


def test_words_name_the_direction():
    assert "a and b cannot" in flat_words(("a", "b", "c"), np.array([0.8, -0.6, 0.01]))


def test_tables_and_runs_are_read(tmp_path, slide):
    path = tmp_path / "slide.csv"
    lines = [
        "t,block.speed",
        *(f"{t!r},{v!r}" for t, v in zip(slide.t.tolist(), slide["block.speed"].tolist(), strict=True)),
    ]
    path.write_text("\n".join(lines))
    read = measurements_of(path)
    np.testing.assert_array_equal(read.columns["block.speed"], slide["block.speed"])
    names = set(measurements_of(slide).columns)
    assert "block.speed" in names
    assert not any("gap" in name or name == "energy" for name in names)


def test_what_is_refused(tmp_path, slide):
    path = tmp_path / "wrong.csv"
    path.write_text("time,y\n1,2\n")
    with pytest.raises(SceneError, match="one of them t"):
        measurements_of(path)
    path.write_text("t,y\n1,2\n2\n")
    with pytest.raises(SceneError, match="2 numbers"):
        measurements_of(path)
    cases = [
        ({"data": slide, "build": SLIDE, "parameters": ["nu"]}, "mu"),
        ({"data": slide, "build": SLIDE, "parameters": ["slope"]}, "fixed"),
        ({"data": slide, "build": SLIDE, "parameters": ["mu"], "columns": ["block.sped"]}, "block.speed"),
        ({"data": {"t": slide.t, "ball.y": slide.t}, "build": SLIDE, "parameters": ["mu"]}, "ball.y"),
        ({"data": [], "build": SLIDE, "parameters": ["mu"]}, "at least one"),
        ({"data": 3, "build": SLIDE, "parameters": ["mu"]}, "Measurements"),
        ({"data": slide, "build": falling, "parameters": ["g"]}, "low, high"),
        ({"data": slide, "build": SLIDE, "parameters": {"mu": (1.0, 0.0)}}, "low < high"),
        ({"data": slide, "build": SLIDE, "parameters": ["mu"], "start": {"nu": 1.0}}, "mu"),
        ({"data": {"y": slide.t}, "build": SLIDE, "parameters": ["mu"]}, "column t"),
    ]
    for arguments, words in cases:
        with pytest.raises(InputError, match=words):
            fit(**arguments)
