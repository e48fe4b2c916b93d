"""What values show in a notebook: a card with the status first, all text escaped."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from gaussdyn import ContactLaw, LinearComplementarity, audit, build, outcome, simulate, solve, study
from gaussdyn._html import MOST_ROWS, card, framed, line
from gaussdyn.contact.outcome.verdicts import Outcome, Verdict
from gaussdyn.mechanics.robots.robot import Robot
from gaussdyn.programs.proof.certificates import Certificate
from gaussdyn.studies import Template

BAD = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """Collects the names of all tags, and checks that they are closed in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags(text: str) -> set[str]:
    parser = Tags()
    parser.feed(text)
    assert parser.open == []
    return parser.seen


def test_a_card_is_whole_and_escapes_everything() -> None:
    text = card(BAD, BAD, {BAD: BAD, "numbers": np.arange(100.0)})
    assert "script" not in tags(text)
    assert text.count("&lt;script&gt;") == 4
    assert len(text) < 2000


def test_a_long_table_says_how_long_it_is() -> None:
    text = card("x", "", {f"row {k}": k for k in range(50)})
    assert text.count("<tr>") == MOST_ROWS + 1
    assert "50 in all" in text


def test_a_line_says_between_which_values_it_runs() -> None:
    t = np.linspace(0.0, 1.0, 1000)
    text = line(t.tolist(), (3.0 * t).tolist(), BAD)
    assert "script" not in tags(text)
    assert "0 to 3" in text
    assert line([0.0, 1.0], [np.nan, np.nan], "") == ""


def test_a_page_within_a_card_stays_apart() -> None:
    text = framed('<p title="x">&amp;</p>', 10)
    assert tags(text) == {"iframe"}
    assert "allow-same-origin" not in text


def test_a_run_shows_how_it_ended_and_its_player() -> None:
    pytest.importorskip("jinja2")
    scene = build("launched_cube")
    run = simulate(scene, t_end=0.02)
    text = run._repr_html_()
    assert "COMPLETED" in text
    assert "largest residual" in text
    assert tags(text) >= {"table", "iframe"}
    unknown = replace(run, scene=BAD, system=None)._repr_html_()
    assert tags(unknown) >= {"table", "svg"}
    assert "script" not in tags(unknown)


def test_solutions_outcomes_and_proofs_say_their_status() -> None:
    lcp = LinearComplementarity(M=np.array([[2.0, 1.0], [1.0, 2.0]]), q=np.array([-5.0, -6.0]))
    solution = solve(lcp)._repr_html_()
    assert "SOLVED" in solution
    assert "E = " in solution
    found = outcome(LinearComplementarity(M=np.array([[-1.0]]), q=np.array([-1.0])))
    assert "NONE" in found._repr_html_()
    assert found.certificate is not None
    assert found.certificate.explain().split(".")[0] in found.certificate._repr_html_()
    assert "script" not in tags(Outcome(verdict=Verdict.UNDECIDED, reason=BAD)._repr_html_())
    assert "script" not in tags(Certificate.of("lcp", {}, BAD, [])._repr_html_())


def test_an_audit_shows_every_check() -> None:
    scene = build("launched_cube")
    run = simulate(scene, t_end=0.02)
    found = audit(run, scene)
    text = found._repr_html_()
    assert f"all {len(found.series)} checks hold" in text
    worse = replace(found, series=(*found.series[:-1], replace(found.series[-1], tol=-1.0)))
    shown = worse._repr_html_()
    assert 0 < shown.index("FAILS") < shown.index("holds: ")


def test_a_study_shows_counts_and_ranges() -> None:
    found = study(Template(build="incline", t_end=0.01), {"mu": [0.1, 0.4]}, "block.speed", where=1)
    text = found._repr_html_()
    assert "2 runs: 2 COMPLETED" in text
    assert "0.1 .. 0.4" in text


def test_a_robot_shows_its_parts() -> None:
    robot = Robot(
        name=BAD, text="", bodies=(), obstacles=(), parts=(), actuators=(), gravity=(0.0, 0.0, -9.81), fluid=None,
        contact=ContactLaw(), pairs={}, dt=0.002, home=np.zeros(0), ignored=("solref",),
    )  # fmt: skip
    text = robot._repr_html_()
    assert "solref" in text
    assert "script" not in tags(text)
