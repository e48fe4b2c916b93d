"""Commands that write pictures or pages: what these need is asked before anything is computed, and pages say how to
make them again.
"""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import EnumType
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
import typer
from typer.main import get_command

from gaussdyn.cli import app
from gaussdyn.cli.again import PLACES, again
from gaussdyn.scenes import catalogue

Cli = Callable[..., Any]
QUADRUPED = Path(__file__).resolve().parents[2] / "examples/quadruped.xml"
LIBRARIES = ("matplotlib", "jinja2", "plotly")
WRITTEN = ("picture", "page", ".png", ".html")  # words in the help of an option that draws

# Every command that draws: words that it can do without more, and where its work is done.
DRAWING = {
    "run": (["incline"], "gaussdyn.integrate.simulate.simulate"),
    "atlas": (["painleve_rod"], "gaussdyn.analysis.atlas.atlas.atlas"),
    "orbits": (["stribeck_belt"], "gaussdyn.analysis.orbits.periodic_orbit.periodic_orbit"),
    "equilibria": (["duffing_plane", "--param", "A"], "gaussdyn.analysis.equilibria.equilibria.equilibria"),
    "crosscheck": (["pendulum"], "gaussdyn.analysis.crosscheck.crosscheck.crosscheck"),
    "explore": (["associated_slider"], "gaussdyn.integrate.futures.explore.explore"),
    "study": (
        ["incline", "--over", "mu=0.1,0.2", "--measure", "block.speed"],
        "gaussdyn.studies.run_study.study",
    ),
    "census": (["body.json"], "gaussdyn.analysis.atlas.census.census"),
    "forces": (["four_legs"], "gaussdyn.analysis.forces.at_state.forces"),
    "robot": ([str(QUADRUPED), "--run", "1"], "gaussdyn.mechanics.robots.mjcf.survey"),
    "bench solvers": (["."], "gaussdyn.cli.bench.bench_solvers.race"),
}
ENDINGS = {"run": (".html", ".png", ".gif"), "crosscheck": (".html", ".svg")}
VALUES = {int: "7", float: "0.3", str: "a b", Path: "some file"}


def forbid(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """Have a verb fail; its module is asked for by name, for a room may offer the verb under the module's name."""
    module, _, name = verb.rpartition(".")
    monkeypatch.setattr(import_module(module), name, lambda *a, **k: pytest.fail("computed before it was refused"))


@dataclass(frozen=True)
class Option:
    """An option or argument of a command, as its function declares it."""

    name: str
    flag: str
    help: str
    type: Any
    many: bool
    argument: bool


def commands(group: typer.Typer, path: tuple[str, ...] = ()) -> Iterator[tuple[str, list[Option]]]:
    """Yield every command with what it takes."""
    for one in group.registered_commands:
        hints = get_type_hints(one.callback, include_extras=True)
        found = [option(name, hints[name]) for name in inspect.signature(one.callback).parameters]
        yield " ".join((*path, one.name or one.callback.__name__)), [x for x in found if x is not None]
    for sub in group.registered_groups:
        yield from commands(sub.typer_instance, (*path, sub.typer_instance.info.name))


def option(name: str, hint: Any) -> Option | None:
    if get_origin(hint) is not Annotated:
        return None  # the context
    kind, info = get_args(hint)
    kind = next((one for one in get_args(kind) if one is not type(None)), kind) if isinstance(kind, UnionType) else kind
    many, argument = get_origin(kind) is list, type(info).__name__ == "ArgumentInfo"
    kind = get_args(kind)[0] if many else kind
    words = info.param_decls or ([info.default] if isinstance(info.default, str) else [])
    flag = next((word for word in words if word.startswith("--")), f"--{name.rstrip('_').replace('_', '-')}")
    return Option(name, flag, info.help or "", kind, many, argument)


COMMANDS = dict(commands(app))


def outputs(name: str) -> list[str]:
    """Return the options of a command that name a picture or page to write."""
    drawn = [one for one in COMMANDS[name] if one.type is Path and not one.argument and one.help.startswith("Write")]
    return [one.flag for one in drawn if any(word in one.help for word in WRITTEN)]


def test_every_command_that_draws_is_known() -> None:
    assert {name for name in COMMANDS if outputs(name)} == set(DRAWING)


def asked() -> Iterator[Any]:
    for name in DRAWING:
        for option in outputs(name):
            drawn = "page" if option == "--report" else "picture"
            for ending in ENDINGS.get(name, (".html",) if drawn == "page" else (".pdf",)):
                yield pytest.param(name, option, ending, id=f"{name} {option} x{ending}")


@pytest.mark.parametrize(("name", "option", "ending"), list(asked()))
def test_a_missing_library_is_named_before_any_work(
    cli: Cli, name: str, option: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, verb = DRAWING[name]
    monkeypatch.chdir(tmp_path)
    forbid(monkeypatch, verb)
    for library in LIBRARIES:
        monkeypatch.setitem(sys.modules, library, None)
    answer = cli(*name.split(), *words, option, f"x{ending}")
    assert (answer.code, answer.out) == (2, "")
    assert "gaussdyn[report]" in answer.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", DRAWING)
def test_other_endings_and_places_are_refused_before_any_work(
    cli: Cli, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, verb = DRAWING[name]
    monkeypatch.chdir(tmp_path)
    forbid(monkeypatch, verb)
    for option in outputs(name):
        good = ".html" if option == "--report" else ".png"
        for place, said in (("x.docx", "ending in"), (f"missing/x{good}", "mkdir")):
            answer = cli(*name.split(), *words, option, place)
            assert (answer.code, answer.out) == (2, "")
            assert said in answer.err


SIMULATE, ORBIT = "gaussdyn.integrate.simulate.simulate", "gaussdyn.analysis.orbits.periodic_orbit.periodic_orbit"
REFUSED = [
    ("orbits stribeck_belt --param nu", ORBIT, "--param"),
    ("orbits stribeck_belt --set u=0.92 --param u --range 0.2 0.3", ORBIT, "around 0.92"),
    ("equilibria duffing_plane --param A --at nan", "gaussdyn.analysis.equilibria.equilibria.equilibria", "finite"),
    ("outcome incline --at 0.5 --mu-s-rule guess", SIMULATE, "stick"),
    (
        "bench orders slack_string no_such",
        "gaussdyn.analysis.crosscheck.convergence_orders.convergence_orders",
        "gaussdyn scenes",
    ),
]


@pytest.mark.parametrize(("words", "verb", "said"), REFUSED)
def test_values_are_refused_before_any_work(
    cli: Cli, words: str, verb: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    forbid(monkeypatch, verb)
    answer = cli(*words.split())
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def filled(name: str) -> list[str]:
    """Return words that give every argument and option of a command a value."""
    words = []
    for one in COMMANDS[name]:
        if one.name in PLACES:
            continue
        value = list(one.type)[-1].value if isinstance(one.type, EnumType) else VALUES.get(one.type, "")
        if one.argument:
            words.append(value)
        elif one.type is bool:
            words.append(one.flag)
        elif get_origin(one.type) is tuple:
            words += [one.flag, "0.25", "1e-17"]
        else:
            words += [one.flag, value] * (2 if one.many else 1)
    return words


@pytest.mark.parametrize("name", sorted(set(DRAWING) - {"run"}))
def test_the_command_of_a_page_is_the_command_that_made_it(name: str) -> None:
    """It parses to what was given, however many options were; and defaults are not repeated."""
    command, start = get_command(app), len(name.split())
    for part in name.split():
        command = command.commands[part]
    for words in (filled(name), DRAWING[name][0]):
        first = command.make_context(f"gaussdyn {name}", list(words))
        said = shlex.split(again(first))
        assert said[: start + 1] == ["gaussdyn", *name.split()]
        assert command.make_context(f"gaussdyn {name}", said[start + 1 :]).params == first.params
    assert len(said) <= 1 + start + len(words)


def test_the_command_of_a_run_is_the_command_that_made_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    written = []
    monkeypatch.setattr("gaussdyn.report.write.write_report", lambda *a, **k: written.append((a[1], k["command"])))
    words = ["run", "incline", "--set", "mu=0.3", "--dt", "0.002", "--t-end", "0.02", "--save-every", "2"]
    cli(*words, "--examine", "off", "--theta", "0.6", "--report", tmp_path / "run.html")
    said = shlex.split(written[0][1])
    assert said[0] == "gaussdyn"
    cli(*said[1:], "--report", tmp_path / "run.html")
    (first, command), (second, same) = written
    assert command == same
    assert (first.settings, first.state_hash, len(first)) == (second.settings, second.state_hash, len(second))


def test_the_page_of_orbits_says_the_range(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The range is printed also where it is the scene's own, which may change."""
    import gaussdyn.cli.orbits_command as orbits

    said = []
    monkeypatch.setattr(orbits, "first", lambda *a: (None, None, None))
    monkeypatch.setattr(orbits, "follow", lambda *a: None)
    monkeypatch.setattr(orbits, "write", lambda *a: said.append(a[-1]))
    monkeypatch.setattr(orbits, "document_of", lambda *a: {})
    page = tmp_path / "x.html"
    for words in ([], ["--range", "0.5", "0.9"]):
        cli("orbits", "stribeck_belt", "--set", "u=0.7", "--param", "u", *words, "--json", "--report", page)
    low, high = (getattr(catalogue.parameters("stribeck_belt")["u"], end) for end in ("min", "max"))
    assert said[0] == f"gaussdyn orbits stribeck_belt --param=u --range {low} {high} --set=u=0.7"
    assert said[1] == "gaussdyn orbits stribeck_belt --param=u --range 0.5 0.9 --set=u=0.7"
