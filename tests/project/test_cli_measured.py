"""``gaussdyn fit`` and ``gaussdyn bench measured``: documents, exit status, and what is refused before any work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from measured_files import pendulum

from gaussdyn import build, simulate

Cli = Callable[..., object]


@pytest.fixture(scope="module")
def slide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a block that slides with mu = 0.2."""
    run = simulate(build("incline", slope=0.5, mu=0.2), t_end=0.3, examine="off")
    return run.save(tmp_path_factory.mktemp("runs") / "slide.h5")


def test_fit_finds_what_made_a_run(cli: Cli, slide: Path) -> None:
    words = ("--scene", "incline", "--set", "slope=0.5", "--parameters", "mu,mass", "--columns", "block.speed")
    document = cli("fit", slide, *words, "--json").document
    assert document["schema"] == "gaussdyn/fit/1"
    assert document["values"]["mu"] == pytest.approx(0.2, abs=1e-6)
    assert document["intervals"]["mass"] is None
    assert document["intervals"]["mu"][0] <= document["values"]["mu"] <= document["intervals"]["mu"][1]
    assert any("mass is not determined" in text for text in document["words"])


def test_fit_says_it_to_people(cli: Cli, slide: Path) -> None:
    words = ("--scene", "incline", "--set", "slope=0.5", "--parameters", "mu=0.1:0.3", "--columns", "block.speed")
    answer = cli("fit", slide, *words)
    assert answer.code == 0
    assert "mu = 0.2" in answer.out
    assert "95 % in" in answer.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--parameters", "nu"), "mu"),
        (("--parameters", "mu", "--columns", "ball.x"), "one of Trajectory.names"),
        (("--parameters", "slope", "--set", "slope=0.5"), "not fixed"),
        (("--parameters", "mu", "--start", "nu=1"), "mu"),
        (("--parameters", "mu", "--start", "mu=7"), "range"),
    ],
)
def test_fit_refuses(cli: Cli, slide: Path, words: tuple[str, ...], said: str) -> None:
    answer = cli("fit", slide, "--scene", "incline", *words, "--json")
    assert answer.code == 2, answer
    assert said in answer.err


def test_bench_measured_judges_joints_and_draws(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pendulum(tmp_path / "adams_joints.h5")
    answer = cli("bench", "measured", tmp_path, "--only", "joints", "--pictures", tmp_path, "--json")
    assert answer.code == 0, answer
    bars = answer.document["joints"]["bars"]
    assert [one["reached"] for one in bars] == [True, True]
    assert {one["coordinates"] for one in answer.document["joints"]["results"]} == {"bodies", "joints"}
    assert (tmp_path / "joints.png").read_bytes().startswith(b"\x89PNG")


def test_bench_measured_ends_with_3_where_a_bar_is_missed(cli: Cli, tmp_path: Path) -> None:
    pendulum(tmp_path / "adams_joints.h5", mass=2.5)
    answer = cli("bench", "measured", tmp_path, "--only", "joints")
    assert answer.code == 3
    assert "reaction_force" in answer.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "GAUSSDYN_MEASURED"),
        (("missing",), "measured data"),
        (("--only", "planes"), "tosses, impacts, joints"),
        (("--toss", "mu=0.2"), "all of mu"),
        (("--toss", "nu=0.2"), "eps_n"),
        (("--springs", "mu=0.2"), "all of mu, damping"),
    ],
)
def test_bench_measured_refuses(
    cli: Cli, words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GAUSSDYN_MEASURED", raising=False)
    monkeypatch.chdir(tmp_path)
    answer = cli("bench", "measured", *words)
    assert answer.code == 2, answer
    assert said in answer.err
