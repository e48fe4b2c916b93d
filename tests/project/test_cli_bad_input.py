"""Wrong input: one message on standard error, exit status 2, nothing on standard output, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from gaussdyn.cli import app
from tests.mended import says_code

Cli = Callable[..., object]
DOCUMENTS = {
    "syntax": ('{"M": [[1, 2', "not valid JSON"),
    "array": ("[1, 2]", "one JSON object"),
    "nan": ('{"M": [[NaN]], "q": [1]}', "NaN"),
    "foreign": ('{"hello": "world"}', "kind"),
    "shape": ('{"M": [[1, 2]], "q": [1, 2]}', "M"),
    "words": ('{"M": [["two"]], "q": [1]}', "M"),
    "no q": ('{"kind": "lcp", "M": [[1]]}', "q"),
    "indefinite": ('{"H": [[1, 0], [0, -1]], "g": [0, 0]}', "positive definite"),
    "empty": ("", "JSON"),
    "huge": ('{"H": [[2, 0], [0, 1]], "g": [1, 1], "C": [[1, 0]], "d": [1e308]}', "d[0]: given 1e+308"),
    "tiny": ('{"M": [[1e-320]], "q": [1]}', "1e-100 to 1e100"),
    "many digits": ('{"M": [[1%s]], "q": [1]}' % ("0" * 400), "1e-100 to 1e100"),
    "digits in words": ('{"M": [["1%s"]], "q": [1]}' % ("0" * 200), "1e-100 to 1e100"),
}
COMMANDS = [
    (["run", "zeno_bal"], "zeno_ball"),
    (["run", "incline", "--set", "mo=0.2"], "mu"),
    (["run", "incline", "--set", "mu"], "NAME=NUMBER"),
    (["run", "incline", "--set", "mu=0.2*2"], "not evaluated"),
    (["run", "incline", "--set", "mu=nan"], "finite"),
    (["run", "incline", "--set", "mu=-1"], "Write --set mu=0.5."),
    (["run", "incline", "--set", "mu=0.1", "--set", "mu=0.2"], "once"),
    (["run", "incline", "--dt", "0"], "Write --dt 0.001."),
    (["run", "incline", "--dt=-1"], "dt"),
    (["run", "incline", "--dt", "small"], "Write --dt 0.001."),
    (["run", "incline", "--t-end=-1"], "Write --t-end 1."),
    (["run", "incline", "--theta", "0.3"], "theta"),
    (["run", "incline", "--stepper", "moreau"], "Write --stepper moreau_jean."),
    (["run", "incline", "--examine", "perhaps"], "Write --examine off."),
    (["run", "incline", "--on-multiple", "guess"], "continue"),
    (["run", "incline", "--on-none", "impact"], "--stepper event_driven"),
    (["run", "incline", "--stepper", "event_driven", "--on-none", "guess"], "compliance"),
    (["run", "incline", "--save-every", "0"], "Write --save-every 1."),
    (["run", "incline", "--resume"], "--out"),
    (["run", "incline", "--chunk", "5"], "--out"),
    (["run", "incline", "--chunk", "0", "--out", "x.h5"], "chunk"),
    (["run", "arm.xml"], "gaussdyn robot arm.xml --run 2"),
    (["run", "incline", "--out", "missing/run.h5"], "mkdir"),
    (["run", "incline", "--report", "missing/run.html"], "mkdir"),
    (["run", "incline", "--out", "."], "folder"),
    (["run", "incline", "--frobnicate"], "frobnicate"),
    (["run"], "Try: gaussdyn run incline"),
    (["run", "incline", "--t-end"], "Try: gaussdyn run incline"),
    (["bench", "league", "--frobnicate"], "Try: gaussdyn bench league"),
    (["--frobnicate"], "Try: gaussdyn -h"),
    (["scenes", "incline2"], "incline"),
    (["fit", "missing.h5", "--scene", "incline", "--parameters", "mu"], "missing.h5"),
    (["fit", "missing.h5", "--scene", "inclin", "--parameters", "mu"], "incline"),
    (["fit", "missing.h5", "--scene", "incline", "--parameters", "mu,mu"], "each once"),
    (["fit", "missing.h5", "--scene", "incline", "--parameters", "mu=1"], "NAME=LOW:HIGH"),
    (["solve", "missing.hdf5"], "missing.hdf5"),
    (["solve", "."], "folder"),
    (["solve"], "FILE"),
    (["audit", "missing.h5"], "missing.h5"),
    (["audit", "no_such_scene"], "gaussdyn scenes"),
    (["audit", "nofile"], "nor such a scene. List them: gaussdyn scenes."),
    (["outcome", "nofile"], "nor such a scene. List them: gaussdyn scenes."),
    (["outcome", "painlev_rod"], "nor such a scene. Did you mean painleve_rod"),
    (["audit", "."], "folder"),
    (["frobnicate"], "frobnicate"),
]


def refused(answer: object, word: str) -> None:
    assert answer.code == 2, answer
    assert answer.out == ""
    assert word in " ".join(answer.err.replace("│", " ").split())
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("words", "word"), COMMANDS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_wrong_command_is_refused(
    cli: Cli, words: list[str], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = cli(*words)
    refused(answer, word)
    assert says_code(" ".join(answer.err.replace("│", " ").split()))
    if not {"frobnicate", "--frobnicate", "--t-end"} & {words[0], words[-1]}:
        refused(cli(*words, "--json"), word)


def test_every_command_has_an_example_that_usage_errors_show(cli: Cli) -> None:
    def look(command: object, path: list[str]) -> None:
        for name, one in getattr(command, "commands", {}).items():
            look(one, [*path, name])
        if not hasattr(command, "commands"):
            shown = " ".join(cli(*path, "--frobnicate").err.replace("│", " ").split())
            assert f"Try: gaussdyn {' '.join(path)}" in shown

    look(typer.main.get_command(app), [])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_wrong_document_is_refused(cli: Cli, name: str, tmp_path: Path) -> None:
    text, word = DOCUMENTS[name]
    path = tmp_path / "problem.json"
    path.write_text(text)
    refused(cli("solve", path, "--json"), word)


def test_a_truncated_contact_file_is_refused(cli: Cli, slip: Path) -> None:
    whole = slip.read_bytes()
    for share in (8, 100, len(whole) // 2, len(whole) - 300):
        slip.write_bytes(whole[:share])
        refused(cli("solve", slip, "--json"), "slip.hdf5")


def test_a_foreign_contact_file_is_refused(cli: Cli, tmp_path: Path) -> None:
    import h5py

    path = tmp_path / "other.hdf5"
    with h5py.File(path, "w") as file:
        file["temperature"] = [1.0, 2.0]
    refused(cli("solve", path), "fclib_local")
    refused(cli("audit", path), "not a run")


def test_negative_friction_and_nan_in_a_contact_file(cli: Cli, slip: Path) -> None:
    import h5py

    with h5py.File(slip, "a") as file:
        file["fclib_local/vectors/mu"][...] = [-0.3]
    refused(cli("solve", slip), "mu")
    with h5py.File(slip, "a") as file:
        file["fclib_local/vectors/mu"][...] = [0.3]
        file["fclib_local/vectors/q"][...] = [float("nan"), 0.0, 0.0]
    refused(cli("solve", slip), "q")


def test_a_truncated_run_is_refused(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "run.h5"
    cli("run", "incline", "--t-end", "0.01", "--out", out)
    whole = out.read_bytes()
    for share in (8, len(whole) // 2, len(whole) - 100):
        out.write_bytes(whole[:share])
        refused(cli("audit", out), "run.h5")


def test_unknown_and_unfit_methods_are_refused(cli: Cli, lcp: Path, qp: Path) -> None:
    refused(cli("solve", lcp, "--method", "simplex"), "gauss_seidel")
    refused(cli("solve", lcp, "--method", "lemk"), "Did you mean lemke")
    refused(cli("solve", lcp, "--method", "osqp"), "lemke")
    refused(cli("solve", qp, "--method", "lemke"), "active_set")


def test_a_method_that_cannot_take_the_laws_is_refused(cli: Cli, slip: Path) -> None:
    refused(cli("solve", slip, "--method", "lemke"), "laws")


@pytest.mark.parametrize("tol", ["0", "-1", "nan", "inf", "many"])
def test_a_wrong_tolerance_is_refused(cli: Cli, lcp: Path, tol: str) -> None:
    refused(cli("solve", lcp, f"--tol={tol}"), "--tol")


def test_only_contact_problems_are_saved(cli: Cli, lcp: Path, tmp_path: Path) -> None:
    refused(cli("solve", lcp, "--save", tmp_path / "x.hdf5"), "friction")
    assert not (tmp_path / "x.hdf5").exists()


def test_an_unknown_case_is_refused(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    cases = [{"name": name, "M": [[1]], "q": [-1]} for name in ("one", "two")]
    path.write_text(json.dumps({"kind": "lcp", "cases": cases}))
    refused(cli("solve", path), "one, two")
    refused(cli("solve", path, "--case", "three"), "one, two")
    assert cli("solve", path, "--case", "two").code == 0


def test_a_file_of_another_kind_is_not_overwritten(cli: Cli, tmp_path: Path) -> None:
    """It is refused before the run, and left as it is."""
    for name, word in (("thesis.h5", "something else"), ("thesis.tex", "ending in .h5")):
        other = tmp_path / name
        other.write_text("years of work")
        refused(cli("run", "incline", "--out", other), word)
        assert other.read_text() == "years of work"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written(cli: Cli, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    refused(cli("run", "incline", "--out", locked / "run.h5"), "written")


def test_a_shell_sees_the_same() -> None:
    words = [sys.executable, "-m", "gaussdyn", "run", "zeno_bal", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "zeno_ball" in done.stderr
    assert "Traceback" not in done.stderr
