"""Views in a browser: there within a second, 200 bodies in less than a frame's time, ten seconds of a robot in 3 MB."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jinja2")

from browsing import BROWSER, busy, timed

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, read_robot, simulate
from gaussdyn.mechanics.spatial import HalfSpace, Sphere, solid

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A view of 200 balls that fall on a floor, and one of a quadruped's ten seconds, its legs driven."""
    pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
    place = tmp_path_factory.mktemp("views")
    balls = [solid(f"ball{k}", Sphere(radius=0.05), density=1000.0) for k in range(200)]
    rain = SpatialSystem(bodies=balls, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.4))
    heights = {f"ball{k}": (0.2 * (k % 15), 0.2 * (k // 15), 0.06 + 0.01 * (k % 7)) for k in range(200)}
    simulate(rain, rain.state(heights), 0.3, stepper=MoreauJean(dt=5e-3)).view(place / "balls.html")
    robot = read_robot(ROOT / "examples" / "quadruped.xml")
    swing = np.linspace(-1.0, 1.0, len(robot.actuators))
    walk = simulate(
        robot.system(), robot.start("stand" if robot.keyframes else "", project=True), 10.0,
        stepper=MoreauJean(dt=5e-3), control=lambda t, state: 3.0 * swing * np.sin(6.0 * t), save=2,
    )  # fmt: skip
    assert walk.status == "COMPLETED"
    walk.view(place / "robot.html")
    return place


def test_ten_seconds_of_a_robot_are_small(views: Path) -> None:
    assert (views / "robot.html").stat().st_size < 3_000_000


@pytest.mark.nightly  # it takes times
@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_views_are_there_within_a_second_and_a_frame_is_drawn_in_time(views: Path, tmp_path: Path) -> None:
    """The fastest of five loads, and the median frame: what else the machine does is not the page's."""
    if busy():
        pytest.skip("the machine is busy with other work")
    found = timed(views, ["balls.html", "robot.html"], tmp_path / "profile")
    assert {name: min(times) for name, times in found["ready"].items() if min(times) > 1000.0} == {}
    assert {name: costs[30] for name, costs in found["frames"].items() if costs[30] > 1000.0 / 60.0} == {}
    assert set(found["frames"]) == {"balls.html", "robot.html"}
