"""The league: whatever an engine does is a row, and what is exact is judged so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import league_engines
import pytest

from gaussdyn.errors import InputError
from gaussdyn.league import championship
from gaussdyn.league.championship import Game, league, played
from gaussdyn.league.engines import PLACES, engine_at
from gaussdyn.league.matches import matches
from gaussdyn.league.one_game import game
from gaussdyn.report.measurements.league_page import render_league

SECONDS = 5.0


@pytest.fixture
def found_by_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes of their own find the engines of tests."""
    monkeypatch.setenv("PYTHONPATH", str(Path(league_engines.__file__).parent), prepend=os.pathsep)


def row_of(engine: Any, match: str) -> dict[str, Any]:
    return game(engine, "defaults", matches()[match], SECONDS)


def test_errors_of_free_flight_are_those_of_the_closed_form() -> None:
    figures = {one["name"]: one["value"] for one in row_of(league_engines.Flight(), "thrown_ball")["figures"]}
    assert figures["speed after 0.1 s"] == pytest.approx(0.3 * 9.81 * 0.1, rel=1e-12)  # what friction would take
    assert figures["speed at the end"] == pytest.approx(2.0 * 2.0 / 7.0, rel=1e-12)
    assert figures["hop"] == 0.0


def test_what_an_engine_says_and_how_long_it_took_is_kept() -> None:
    row = row_of(league_engines.Flight(), "held_brick")
    assert (row["status"], row["said"], row["steps"]) == ("played", "flying", 10_000)
    assert row["simulated_s"] == pytest.approx(10.0)
    assert 0.0 < row["cpu_s"] < SECONDS


@pytest.mark.parametrize(
    ("engine", "match", "status", "said"),
    [
        (league_engines.Flight(), "heavy_top", "lacks", "no pins"),
        (league_engines.Failing(), "stack", "failed", "RuntimeError: diverged"),
        (league_engines.Absent(), "stack", "not installed", "no_such_engine"),
        (league_engines.Overflowing(), "thrown_ball", "cut short", "overflow"),
    ],
)
def test_what_goes_wrong_is_a_row(engine: Any, match: str, status: str, said: str) -> None:
    row = row_of(engine, match)
    assert row["status"] == status
    assert said in row["said"]


def test_time_that_is_up_is_a_row() -> None:
    row = game(league_engines.Flight(), "defaults", matches()["held_brick"], 0.0)
    assert row["status"] == "cut short"
    assert row["simulated_s"] < 10.0


def test_a_step_that_does_not_end_is_given_up() -> None:
    row = game(league_engines.Endless(), "defaults", matches()["stack"], 0.05)
    assert (row["status"], row["figures"], row["simulated_s"]) == ("cut short", [], 0.0)
    assert "first state" in row["said"]


@pytest.mark.usefixtures("found_by_processes")
def test_a_crash_is_a_row_and_not_the_end() -> None:
    also = ["league_engines:Crashing", "league_engines:Flight"]
    document = league(engines=["pymunk"], also=also, only=["cradle"], seconds=SECONDS, jobs=1)
    rows = {row["engine"]: row for row in document["rows"]}
    assert rows["crashing"]["status"] == "crashed"
    assert "SIGSEGV" in rows["crashing"]["said"]
    assert rows["flight"]["status"] == "played"


@pytest.mark.usefixtures("found_by_processes")
def test_one_that_hangs_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(championship, "BUILDING", 0.1)
    row = played(
        Game(place="league_engines:Hanging", engine="hanging", setting="defaults", match="stack", seconds=0.01)
    )
    assert (row["status"], row["engine"]) == ("hung", "hanging")


def test_our_own_engine_is_right() -> None:
    figures = {one["name"]: one["value"] for one in row_of(engine_at(PLACES["gaussdyn"]), "thrown_ball")["figures"]}
    assert max(figures.values()) < 1e-12


def test_our_own_engine_says_that_there_is_no_motion_or_more_than_one() -> None:
    own = engine_at(PLACES["gaussdyn"])
    assert "NONE" in row_of(own, "rod_without_motion")["said"]
    assert "MULTIPLE" in row_of(own, "rod_with_two_motions")["said"]


def test_mujoco_and_we_agree_where_both_are_right() -> None:
    pytest.importorskip("mujoco", reason="the peer is not installed")
    peer = engine_at(PLACES["MuJoCo"])
    figures = {one["name"]: one for one in game(peer, "rk4", matches()["heavy_top"], SECONDS)["figures"]}
    assert figures["axis at the end"]["value"] < 1e-5
    held = game(peer, "held", matches()["held_brick"], SECONDS)["figures"][0]
    default = game(peer, "defaults", matches()["held_brick"], SECONDS)["figures"][0]
    assert held["value"] < 1e-3 < default["value"]


@pytest.mark.parametrize(
    "asked",
    [{"engines": ["Havok"]}, {"only": ["billiards"]}, {"seconds": 0.0}, {"jobs": 0}, {"also": ["nowhere:Engine"]}],
)
def test_bad_input_is_refused_before_any_game(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        league(**{"engines": ["pymunk"], **asked})


def test_the_page_says_where_we_are_behind() -> None:
    rows = [
        {"engine": name, "setting": "defaults", "match": "stack", "status": "played", "said": "", "steps": 1000,
         "cpu_s": cpu, "figures": [{"name": "a cube moves by", "unit": "m", "value": value, "error": True}]}
        for name, cpu, value in (("gaussdyn", 1.0, 1e-3), ("rival", 0.1, 1e-6))
    ]  # fmt: skip
    about = [{"name": name, "library": name, "version": "1", "settings": {"defaults": ""}} for name in "ab"]
    about.append({"name": "c", "library": "cc", "version": None, "settings": {"defaults": ""}})
    match = {"name": "stack", "title": "Cubes", "exact": "all stay", "dt": 1e-3}
    machine = {"processor": "one", "cores": 2, "python": "3"}
    page = render_league({"rows": rows, "engines": about, "matches": [match], "seconds": 1.0, "machine": machine})
    lost = page.split("Where gaussdyn is behind")[1].split("</section>")[0]
    assert "a cube moves by" in lost
    assert "time of a step" in lost
    assert "rival (defaults)" in lost
    assert "not installed: no module cc" in page


def test_a_run_that_stops_is_cut_short_and_says_why() -> None:
    row = game(engine_at(PLACES["gaussdyn"]), "events", matches()["rod_without_motion"], SECONDS)
    assert row["status"] == "cut short"
    assert "stopped at t = 0 s" in row["said"]
    assert "NONE" in row["said"]
