"""Outcomes and friction margin on the page of a run."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

from gaussdyn import checker
from gaussdyn.analysis.margins import friction_margins
from gaussdyn.integrate.simulate import simulate
from gaussdyn.report.outcomes import stretches
from gaussdyn.report.page import render
from gaussdyn.scenes.catalogue import build


@pytest.fixture(scope="module")
def rod():
    scene = build("painleve_rod")
    return scene, simulate(scene, examine="full")


@pytest.fixture(scope="module")
def page(rod):
    scene, run = rod
    return render(run, scene=scene)


def test_stretches_cover_the_run(rod):
    scene, run = rod
    found, more = stretches(run, scene)
    assert more == 0
    assert [one.label for one in found] == ["NONE", "UNIQUE"]
    assert [one.steps for one in found] == [1, 149]
    assert found[0].start == 0.0
    assert found[0].stop == found[1].start == run.steps.t[0]
    assert found[1].stop == run.steps.t[-1]
    assert {one.label: [(one.start, one.stop)] for one in found} == run.outcome_intervals


def test_proof_on_the_page_is_checked_by_the_checker(page, tmp_path):
    link = re.search(r'download="([^"]+)" href="data:application/json;base64,([^"]+)"', page)
    path = tmp_path / link.group(1)
    path.write_bytes(base64.b64decode(link.group(2)))
    assert "NONE" in json.dumps(json.loads(path.read_text())["claim"])
    assert checker.verdict(path.read_bytes).startswith("VALID")


def test_page_shows_times_words_and_command(page):
    for part in ("Outcomes of the acceleration problem", "no motion obeys the laws", "gaussdyn outcome painleve_rod"):
        assert part in page
    assert "Friction margin" in page
    assert "Distance to opening: largest normal force that the laws allow" in page


def test_later_stretches_are_proved_from_the_saved_state():
    scene = build("bipod")
    few = {"t_end": 20 * scene.dt, "examine": "cheap"}
    (one,), _ = stretches(simulate(scene, **few), scene)
    assert one.label == "MULTIPLE"
    assert one.found.startswith("MULTIPLE")
    other, _ = stretches(simulate(scene, save=1000, **few), None)
    assert other[0].certificate == other[0].command == ""


def test_no_table_where_nothing_was_examined():
    scene = build("painleve_rod")
    run = simulate(scene, t_end=0.01, examine="off")
    assert stretches(run, scene) == ([], 0)
    assert "Outcomes of the acceleration problem" not in render(run)


def test_margin_of_the_sliding_rod_along_its_run():
    scene = build("sliding_rod")
    run = simulate(scene)
    t, margins = friction_margins(run, scene, points=50)
    assert len(t) > 40
    theta = np.interp(t, run.t, run["rod.theta"])
    critical = (1 + 3 * np.cos(theta) ** 2) / (3 * np.sin(theta) * np.cos(theta))
    np.testing.assert_allclose(margins, critical / scene.params["mu"], rtol=1e-6)
