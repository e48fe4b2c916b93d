"""The first minutes at the command line: what is shown without a word, what words mean, completion."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from gaussdyn.cli.app import FIRST, Panel, app
from gaussdyn.cli.explain.explain_command import known_words
from gaussdyn.cli.explain.explanations import explanations
from gaussdyn.cli.run_command import scene_names
from gaussdyn.contact.outcome.verdicts import Verdict
from gaussdyn.integrate.mode_changes import ChangeKind
from gaussdyn.integrate.run.mode_events import OPEN, SAME, STATE
from gaussdyn.integrate.run.run_check import STATUS
from gaussdyn.integrate.run.uniqueness_checks import CHOSEN
from gaussdyn.integrate.stretch import WORDS, NoteKind
from gaussdyn.programs.solution.status import Status
from gaussdyn.scenes import catalogue

Cli = Callable[..., object]
DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMANDS = {one.name or one.callback.__name__ for one in app.registered_commands if one.callback}


def test_without_a_word_three_things_to_try_are_shown(cli: Cli) -> None:
    answer = cli()
    assert answer.code == 0
    assert answer.out == FIRST
    tried = [shlex.split(line)[:3] for line in re.findall(r"^  (gaussdyn .*?)(?:   |$)", FIRST, re.MULTILINE)]
    assert len(tried) == 3
    for _, command, *more in tried:
        assert command in COMMANDS
        assert not more or more[0] in catalogue.names()


def test_help_shows_every_command_once_by_panels_and_run_first(cli: Cli) -> None:
    lines = cli("--help").out.splitlines()
    shown = [line.split()[1] for line in lines if re.match("│ [a-z]", line)]
    titles = [line.strip("╭╮─ ") for line in lines if line.startswith("╭")]
    assert sorted(shown) == sorted({*COMMANDS, "bench"})
    assert titles == ["Options", *map(str, Panel)]
    assert shown[0] == "run"


def test_every_status_and_outcome_is_explained() -> None:
    assert set(explanations()) >= {*map(str, Status), *map(str, Verdict), *STATUS}


def test_every_kind_that_an_event_can_have_is_explained() -> None:
    """Handed_over and taken_over were refused; what a stepper may note is typed, so that a new kind fails here."""
    told = {WORDS[k] for k in STATE.tolist() if k not in (OPEN, SAME)}  # with time stepping, beside the first two
    kinds = {*get_args(ChangeKind), *get_args(NoteKind), *told, CHOSEN}
    assert {"handed_over", "taken_over", "unsettled", "stick"} < kinds
    assert kinds - set(explanations()) == set()


@pytest.mark.parametrize("word", sorted(explanations()))
def test_what_to_try_is_a_command_that_exists_or_a_line_of_python(word: str) -> None:
    one = explanations()[word]
    assert one.tries
    for line in one.tries:
        words = shlex.split(line) if line.startswith("gaussdyn") else []
        assert words[1] in COMMANDS if words else compile(line, word, "exec")
    assert (DOCS / one.page).is_file()


def test_explain_says_what_to_do(cli: Cli) -> None:
    answer = cli("explain", "none")
    assert answer.code == 0
    assert "no motion obeys the laws" in answer.out
    assert "gaussdyn outcome SCENE --certificate proof.json" in answer.out
    found = cli("explain", "--json").document
    assert {one["word"] for one in found["results"]} == set(explanations())


def test_a_word_that_is_written_in_two_ways_means_two_things(cli: Cli) -> None:
    def meant(word: str) -> list[str]:
        return [one["word"] for one in cli("explain", word, "--json").document["results"]]

    assert [meant(word) for word in ("undecided", "UNDECIDED")] == [["undecided"], ["UNDECIDED"]]
    assert set(meant("Undecided")) == {"undecided", "UNDECIDED"}


def test_an_unknown_word_gets_the_nearest(cli: Cli) -> None:
    answer = cli("explain", "multple")
    assert answer.code == 2
    assert "Try: gaussdyn explain MULTIPLE" in answer.err


def test_names_complete() -> None:
    assert set(scene_names("pain")) == {name for name in catalogue.names() if name.startswith("pain")} != set()
    assert known_words("un") == ["unsettled", "undecided", "UNDECIDED", "UNIQUE"]
