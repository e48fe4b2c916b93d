from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from made_up_run import make_run

pytest.importorskip("plotly")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.run.values import Column, Stop
from gaussdyn.integrate.simulate import simulate
from gaussdyn.report.charts import charts
from gaussdyn.report.page import render, write_page
from gaussdyn.report.page_template import HERE
from gaussdyn.report.series import groups, spans, thinned
from gaussdyn.scenes import catalogue

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """Checks that tags are balanced outside of drawings, and collects headings and addresses that would be loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        found = dict(attributes)
        self.loads += [found[key] or "" for key in ("src", "href") if key in found and tag != "use"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(data)


def outline(text: str) -> Outline:
    parser = Outline()
    parser.feed(re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL))
    assert parser.open == []
    return parser


CHECKS = [
    {"name": "height", "unit": "m", "expected": 0.5, "got": 0.5000001, "error": 1e-7, "tol": 1e-3, "pass": True},
    {"name": "speed", "unit": "m/s", "expected": 1.0, "got": 2.0, "error": 1.0, "tol": 1e-3, "pass": False},
    {"name": "later", "unit": "s", "expected": 3.0, "got": None, "error": None, "tol": None, "pass": None},
]


def test_a_page_is_whole_and_loads_nothing_from_elsewhere(run: Trajectory) -> None:
    page = outline(render(run, checks=CHECKS, command="gaussdyn run ball"))
    assert [address for address in page.loads if not address.startswith("data:")] == []
    for heading in (
        "Exact answers",
        "Gaps (m)",
        "Reactions, mean over a step (N)",
        "Energy balance (J)",
        "Events",
    ):
        assert heading in page.headings


def test_all_pages_have_one_head_and_one_style() -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in HERE.glob("*.html")}
    assert "<head>" in pages.pop("base.html")
    assert {"atlas.html", "crosscheck.html", "equilibria.html", "orbits.html", "page.html", "tree.html"} <= set(pages)
    for name, text in pages.items():
        assert text.startswith('{% extends "base.html" %}'), name
        assert "<head>" not in text, name
        assert "<style>" not in text, name


def test_a_page_says_what_was_missed(run: Trajectory) -> None:
    text = render(run, checks=CHECKS)
    assert "1 of 3 exact answers missed: speed." in text
    assert text.count(">met<") == 1
    assert text.count(">missed<") == 1
    assert text.count(">not compared<") == 1


def test_a_stopped_run_says_why() -> None:
    run = make_run(50, stop=Stop(t=0.25, reason="UNDECIDED: <nothing> was found"))
    text = render(run)
    assert "Stopped at t = 0.25 s: UNDECIDED: &lt;nothing&gt; was found" in text


def test_text_of_a_run_is_never_markup(run: Trajectory) -> None:
    text = render(run)
    assert "<b>not markup</b>" not in text
    assert "&lt;b&gt;not markup" in text


def test_outcomes_are_drawn_only_where_something_was_examined(run: Trajectory) -> None:
    heading = "Outcome of the acceleration problem"
    assert heading in render(run)
    assert heading not in render(make_run(50, outcomes=("NOT_EXAMINED",)))


def test_a_scene_adds_title_source_and_pictures(tmp_path: Path) -> None:
    from gaussdyn import simulate

    scene = catalogue.build("incline", mu=0.2)
    run = simulate(scene, t_end=0.02)
    text = write_page(tmp_path / "page.html", run, scene=scene).read_text(encoding="utf-8")
    outline(text)
    assert scene.title in text
    assert text.count("<figure><svg") == 4
    assert run.state_hash in text


def test_thinning_keeps_the_ends_and_a_peak_of_one_step() -> None:
    x = np.zeros(100_000)
    x[54_321] = 1.0
    keep = thinned([x], 1000)
    assert len(keep) <= 1100
    assert {0, 54_321, 99_999} <= set(keep.tolist())
    assert (np.diff(keep) > 0).all()


def test_short_series_are_kept_whole() -> None:
    assert thinned([np.arange(5.0)]).tolist() == [0, 1, 2, 3, 4]
    assert thinned([]).tolist() == []


def test_every_column_has_its_chart(run: Trajectory) -> None:
    found = groups(run)
    shown = [name for group in found for name in group.names]
    assert sorted(shown) == sorted(set(run.names) - {"t", "E", "q0"})  # q0 is the height
    assert found[0].names == ("height",)
    assert all(run.unit(name) == group.unit for group in found for name in group.names)


@pytest.mark.parametrize(("scene", "once", "left"), [("sliding_rod", "rod.x", "q0"), ("stack", "box00.x", "")])
def test_coordinates_that_a_scene_names_itself_are_drawn_once(scene, once, left) -> None:
    run = simulate(catalogue.build(scene), t_end=0.002)
    shown = {name for group in groups(run) for name in group.names}
    assert once in shown
    assert left not in shown
    assert left in run.names or not left


def test_many_columns_share_the_points_and_name_what_is_left_out() -> None:
    run = make_run(4000)
    many = {f"c{k}.gap": Column(unit="m", values=np.sin(k * run.t)) for k in range(100)}
    found = dict(charts(replace(run, columns=dict(run.columns) | many)))
    (heading,) = (title for title in found if title.startswith("Gaps"))
    assert heading == "Gaps (m): the first 40 of 101"
    assert sum(map(len, found.values())) < 3e6


def test_a_long_setting_is_folded_up() -> None:
    run = make_run(10)
    text = render(replace(run, settings={"short": "x" * 400, "long": "y" * 401}))
    assert f"<dd>{'x' * 400}</dd>" in text
    assert f"<pre>{'y' * 401}</pre></details></dd>" in text


def test_spans_join_equal_neighbours() -> None:
    t = np.array([0.0, 1.0, 2.0, 3.0])
    assert spans(["A", "A", "B"], t) == [("A", 0.0, 2.0), ("B", 2.0, 3.0)]
