"""The page of a study: every number stands where its parameters say, and the page needs nothing from outside."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("plotly")
pytest.importorskip("jinja2")

from gaussdyn import study
from gaussdyn.report.studies.study_charts import bands, heat, histogram, parallel, study_charts, thinned_runs
from gaussdyn.report.studies.study_page import write_study_page
from gaussdyn.studies import Cases
from gaussdyn.studies.study_tables import axes_of_grid
from tests.studies.users_module import pair, two_numbers

pytestmark = pytest.mark.xdist_group("study pages")  # what they share is made once

GRID = {"y": [3.0, 1.0, 2.0], "x": [10, 20]}


@pytest.fixture(scope="module")
def found():
    return study(two_numbers, GRID, pair, where=1)


def test_a_heat_map_has_every_number_at_its_place(found) -> None:
    axes = axes_of_grid(found)
    (drawn,) = heat(axes, found.values["sum"].reshape(3, 2), "sum").data
    assert (list(drawn.x), list(drawn.y)) == ([1.0, 2.0, 3.0], [10.0, 20.0])
    assert [list(row) for row in drawn.z] == [[11.0, 12.0, 13.0], [21.0, 22.0, 23.0]]


def test_bands_are_quantiles_at_the_times_that_are_given() -> None:
    x, t = np.random.default_rng(0).standard_normal((400, 3)), np.tile([0.0, 0.5, 1.0], (400, 1))
    drawn = {one.name: one for one in bands("all:x", {"all:x": x, "all:t": t}).data}
    np.testing.assert_allclose(drawn["median"].y, np.sort(x, axis=0)[199:201].mean(axis=0), rtol=1e-8)
    assert list(drawn["median"].x) == [0.0, 0.5, 1.0]
    assert ((x <= drawn["90 % of all runs"].y).mean(axis=0) == 0.95).all()


def test_histograms_count_what_is_known_and_lines_leave_out_what_is_not() -> None:
    x = np.r_[np.arange(100.0), np.nan]
    (drawn,) = histogram("x", x).data
    assert sum(drawn.y) == 100
    (lines,) = parallel({"x": x, "y": np.arange(101.0)}, ["y", "x"]).data
    assert len(lines.dimensions[0]["values"]) == 100


def test_runs_are_taken_evenly_block_by_block(found) -> None:
    assert thinned_runs(found, most=3)["sum"].tolist() == found.values["sum"][::2].tolist()


def test_the_page_says_all_of_it_and_needs_nothing_from_outside(found, tmp_path) -> None:
    page = write_study_page(tmp_path / "s.html", found, title="numbers", command="gaussdyn study").read_text()
    for word in ("numbers", "COMPLETED", "sum over y and x", "Parallel coordinates", "How often: sum", "pair"):
        assert word in page
    assert not re.search(r'<(?:script|link|img)[^>]* (?:src|href)="http', page)


def test_a_list_of_cases_has_no_heat_map() -> None:
    made = study(two_numbers, Cases([{"x": 1, "y": 2.0}, {"x": 5, "y": 4.0}]), pair, where=1)
    assert [title for title, _ in study_charts(made)] == ["Parallel coordinates", "pair over time", "How often: sum"]
