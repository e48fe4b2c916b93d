"""Five first-time tasks, each in few lines from its page alone; what they compute is compared with other ways to it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "tutorials"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MOST_LINES = {"pendulum": 15, "stack": 12, "robot": 15, "painleve": 5, "study": 12}
G = 9.81

Names = dict[str, Any]
Run = Callable[[str], Names]


def code_of(name: str) -> str:
    """Return the code of a page, which is one block: what is copied from it runs."""
    (found,) = BLOCK.findall((PAGES / f"{name}.md").read_text(encoding="utf-8"))
    return str(found)


def test_every_tutorial_is_short() -> None:
    lines = {path.stem: sum(bool(line.strip()) for line in code_of(path.stem).splitlines()) for path in PAGES.iterdir()}
    assert set(lines) == set(MOST_LINES)
    assert {name: n for name, n in lines.items() if n > MOST_LINES[name]} == {}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the code of a page in a folder of its own."""
    shutil.copy(ROOT / "examples" / "quadruped.xml", tmp_path)
    monkeypatch.chdir(tmp_path)

    def execute(name: str) -> Names:
        names: Names = {"__name__": "page"}
        exec(compile(code_of(name), f"{name}.md", "exec"), names)
        return names

    return execute


@pytest.mark.slow
def test_the_pendulum_rests_where_its_energy_says(run: Run) -> None:
    """Swing by swing: m g (l/2)(cos b - cos a) = c (a + b) from one turning point a (from below) to the next one b."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    from scipy.optimize import brentq

    names, moment, cap = run("pendulum"), 1.0 * G * 0.5, 0.4

    def left(b: float, a: float) -> float:
        return float(moment * (np.cos(b) - np.cos(a)) - cap * (a + b))

    a, side = np.pi / 2, 1
    while moment * np.sin(a) > cap:
        b = brentq(left, -a * 0.999, a, args=(a,))
        a, side = abs(b), -side if b >= 0 else side
    rests = names["run"]["pivot.angle"][-1] + np.pi / 2
    assert rests == pytest.approx(side * a, abs=2e-4)
    assert names["run"]["pivot.friction_torque"][-1] == pytest.approx(moment * np.sin(rests), rel=1e-9)
    assert Path("pendulum.png").stat().st_size > 10_000


@pytest.mark.slow
def test_the_stack_stands_on_its_weight(run: Run) -> None:
    pytest.importorskip("jinja2")
    names = run("stack")
    np.testing.assert_allclose(names["run"].between("brick0", "floor").force[-1], [0, 0, 8 * 2 * G], atol=1e-9)
    np.testing.assert_allclose(names["run"].q[-1], names["start"].q, atol=1e-9)


@pytest.mark.slow
def test_the_robot_stands_on_its_feet(run: Run) -> None:
    pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
    pytest.importorskip("jinja2")
    names = run("robot")
    legs = [f"{end}_{side}_shank" for end in ("front", "rear") for side in ("left", "right")]
    held = sum(names["run"].between(leg, "floor").force[-1] for leg in legs)
    weight = G * sum(body.mass for body in names["system"].bodies)
    np.testing.assert_allclose(held, [0, 0, weight], atol=0.02 * weight)


@pytest.mark.slow
def test_a_stranger_can_check_the_certificate(run: Run) -> None:
    names = run("painleve")
    assert names["found"].verdict == "MULTIPLE"
    words = [sys.executable, "-I", str(ROOT / "gaussdyn" / "checker.py"), "proof.json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "VALID"), done.stdout


@pytest.mark.slow
def test_the_heat_map_has_the_speeds_of_the_closed_form(run: Run) -> None:
    pytest.importorskip("plotly")
    from gaussdyn import build

    code = code_of("study").replace("np.linspace(0.1, 0.8, 15)", "[0.1, 0.3]").replace("__main__", "page")
    exec(compile(code, "study.md", "exec"), names := {"__name__": "page"})
    found, t_end = names["found"], build("incline").t_end
    mu, slope = (np.asarray(found.parameters[key]) for key in ("mu", "slope"))
    speed = np.maximum(0.0, G * (np.sin(slope) - mu * np.cos(slope))) * t_end
    assert found.counts["COMPLETED"] == 26
    np.testing.assert_allclose(found.values["block.speed"], speed, atol=1e-9)
    assert "block.speed over mu and slope" in Path("incline.html").read_text(encoding="utf-8")
