"""What the commands do, their documents, and their exit status."""

from __future__ import annotations

import itertools
import json
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from gaussdyn import Trajectory, __version__
from gaussdyn.scenes import catalogue

SOLVE_KEYS = {
    "schema", "file", "kind", "contacts", "status", "residual", "modes", "unique", "method", "iterations", "time_s",
    "certificate", "saved",
}  # fmt: skip
RESIDUAL_KEYS = {"E", "rel_q", "rel_s", "viol_u", "penetration", "cone", "slip", "angle", "work"}
RUN_KEYS = {
    "schema", "scene", "params", "stepper", "t_reached", "steps", "status", "stop", "max_residual",
    "max_penetration_m", "energy_drift_rel", "checks", "events", "outcomes", "choice", "state_hash", "compile_s",
    "wall_s", "out", "report",
}  # fmt: skip
SCENE_KEYS = {"name", "title", "tests", "dim", "params", "t_end", "dt", "steppers", "exact", "source"}
CHECK_KEYS = {"name", "expected", "got", "error", "tol", "pass"}
Cli = Callable[..., object]


def test_version_and_help(cli: Cli) -> None:
    assert cli("--version").out.strip() == f"gaussdyn {__version__}"
    for words in (["-h"], ["--help"], ["run", "-h"], ["solve", "--help"]):
        answer = cli(*words)
        assert answer.code == 0
        assert "Usage" in answer.out
    assert "Example: gaussdyn run incline" in cli("run", "-h").out


def test_python_dash_m_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "gaussdyn", "--version"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, f"gaussdyn {__version__}", "")


def test_solve_lcp(cli: Cli, lcp: Path) -> None:
    answer = cli("solve", lcp, "--json")
    found = answer.document
    assert answer.code == 0
    assert set(found) >= SOLVE_KEYS
    assert set(found["residual"]) >= RESIDUAL_KEYS
    assert set(found["modes"]) >= {"open", "stick", "slip", "degenerate"}
    assert (found["schema"], found["kind"], found["contacts"]) == ("gaussdyn/solve/1", "lcp", 2)
    assert found["status"] == "SOLVED"
    assert found["residual"]["E"] <= 1e-12
    assert found["certificate"] is None


def test_solve_qp(cli: Cli, qp: Path) -> None:
    found = cli("solve", qp, "--json").document
    assert (found["kind"], found["contacts"], found["status"]) == ("qp", 1, "SOLVED")
    assert found["modes"]["active"] == 1


def test_solve_contact_and_save(cli: Cli, slip: Path, tmp_path: Path) -> None:
    out = tmp_path / "solved.hdf5"
    found = cli("solve", slip, "--json", "--save", out).document
    assert (found["kind"], found["modes"]["slip"], found["saved"]) == ("fc3d", 1, str(out))
    with h5py.File(out, "r") as file:
        assert np.allclose(file["solution/r"][()], [1.0, -0.3, 0.0], atol=1e-12)
        assert np.allclose(file["solution/u"][()], [0.0, 1.7, 0.0], atol=1e-12)
        assert np.array_equal(file["fclib_local/vectors/q"][()], [-1.0, 2.0, 0.0])


@pytest.mark.parametrize("method", ["gauss_seidel", "proximal_newton", "interior_point", "gauss_fixed_point"])
def test_solve_with_a_named_method(cli: Cli, slip: Path, method: str) -> None:
    found = cli("solve", slip, "--json", "--method", method).document
    assert (found["method"], found["status"]) == (method, "SOLVED")


@pytest.mark.parametrize("method", ["active_set", "osqp", "clarabel", "cvxpy"])
def test_solve_a_program_with_a_named_method(cli: Cli, qp: Path, method: str) -> None:
    found = cli("solve", qp, "--json", "--method", method, "--tol", "1e-8").document
    assert (found["method"], found["status"]) == (method, "SOLVED")


def test_an_answer_is_judged_by_the_tolerance_asked_for(cli: Cli, slip: Path, tmp_path: Path) -> None:
    """A pyramid of facets is not the cone: its answer is good to 1e-1, and not to 1e-12."""
    turned = tmp_path / "turned.hdf5"
    turned.write_bytes(slip.read_bytes())
    with h5py.File(turned, "a") as file:
        file["fclib_local/vectors/q"][...] = [-1.0, 2.0 * np.cos(0.2), 2.0 * np.sin(0.2)]
    strict = cli("solve", turned, "--json", "--method", "faceted")
    assert strict.code == 3
    assert strict.document["status"] in ("MAX_ITERATIONS", "UNDECIDED")
    E = strict.document["residual"]["E"]
    assert 1e-6 < E < 0.2
    loose = cli("solve", turned, "--json", "--method", "faceted", "--tol", str(1.01 * E))
    assert (loose.code, loose.document["status"]) == (0, "SOLVED")


def test_no_admissible_motion_is_an_answer_with_a_proof(cli: Cli, tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text(json.dumps({"H": [[1.0]], "g": [0.0], "C": [[1.0], [-1.0]], "d": [1.0, 0.0]}))
    proof = tmp_path / "proof.json"
    answer = cli("solve", empty, "--json", "--certificate", proof)
    found = answer.document
    assert (answer.code, found["status"], found["certificate"]) == (0, "INFEASIBLE", str(proof))
    assert json.loads(proof.read_text())["kind"] == "farkas"


def test_a_problem_without_contacts_is_solved_at_once(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "nothing.json"
    path.write_text('{"M": [], "q": []}')
    assert cli("solve", path, "--json").document["status"] == "SOLVED"


def test_solve_for_people(cli: Cli, slip: Path) -> None:
    text = cli("solve", slip).out
    assert "SOLVED" in text
    assert "1 slip" in text


@pytest.mark.slow
def test_scenes(cli: Cli) -> None:
    found = cli("scenes", "--json").document
    assert [scene["name"] for scene in found] == list(catalogue.names())
    for scene in found:
        assert set(scene) >= SCENE_KEYS
        assert all(set(p) >= {"default", "unit", "min", "max"} for p in scene["params"].values())
        assert all(set(e) >= {"name", "value", "unit", "tol"} for e in scene["exact"])
        assert scene["dim"] in (2, 3)


def test_a_stepper_that_a_scene_is_not_meant_for_is_warned_of_once(cli: Cli) -> None:
    for stepper, warned in (("penalty", 1), ("event_driven", 0), ("moreau_jean", 0)):
        answer = cli("run", "pendulum", "--stepper", stepper, "--t-end", "0.004")
        assert answer.err.count("pendulum is meant for event_driven, moreau_jean") == warned
        assert f"with {stepper} its exact answers are not judged" in answer.err or not warned
    assert "meant for --stepper event_driven, moreau_jean" in cli("scenes", "pendulum").out


def test_one_scene_in_detail(cli: Cli) -> None:
    assert "restitution" in cli("scenes", "zeno_ball").out
    assert catalogue.description("zeno_ball").splitlines()[0] in cli("scenes", "zeno_ball").out
    (scene,) = cli("scenes", "incline", "--json").document
    assert scene["name"] == "incline"
    assert set(scene) >= SCENE_KEYS


def test_run_compares_itself_and_writes(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "run.h5"
    answer = cli("run", "incline", "--set", "mu=0.2", "--set", "slope=0.5", "--json", "--out", out)
    found = answer.document
    assert answer.code == 0
    assert set(found) >= RUN_KEYS
    assert all(set(check) >= CHECK_KEYS for check in found["checks"])
    assert [check["pass"] for check in found["checks"]] == [True] * len(found["checks"])
    assert found["params"]["mu"] == 0.2
    assert (found["status"], found["stop"]) == ("COMPLETED", None)
    assert found["steps"] == round(1.0 / found["stepper"]["dt"])
    assert found["stepper"]["name"] == "moreau_jean"
    run = Trajectory.load(out)
    assert run.state_hash == found["state_hash"]
    assert run.t_reached == found["t_reached"] == 1.0


def test_a_run_with_a_tolerance_says_how_long_its_steps_were(cli: Cli) -> None:
    found = cli("run", "rocking_block", "--tolerance", "1e-5", "--json").document
    assert found["stepper"]["step"]["rtol"] == 1e-5
    assert found["steps"] < 400
    assert abs(found["sizing"]["achieved_order"] - 2.0) < 0.2
    assert found["sizing"]["forced_steps"] == 0
    assert all(check["error"] < 1e-3 and check["pass"] is None for check in found["checks"])
    assert cli("run", "incline", "--json", "--t-end", "0.1").document["sizing"] is None


@pytest.mark.parametrize("words", [["--tolerance", "0"], ["--tolerance", "1e-6", "--order"]])
def test_tolerances_that_cannot_be_had_are_refused(cli: Cli, words: list[str]) -> None:
    answer = cli("run", "incline", *words)
    assert answer.code == 2
    assert "rtol" in answer.err or "--tolerance" in answer.err


def test_a_run_repeats_itself_bit_by_bit(cli: Cli) -> None:
    words = ["run", "sliding_rod", "--t-end", "0.05", "--json"]
    assert cli(*words).document["state_hash"] == cli(*words).document["state_hash"]


def test_other_duration_or_coarser_step_is_not_compared(cli: Cli) -> None:
    for words in (["--t-end", "0.05"], ["--dt", "0.05"]):
        answer = cli("run", "incline", *words, "--json")
        assert answer.code == 0
        assert {check["pass"] for check in answer.document["checks"]} == {None}


@pytest.mark.slow
def test_the_observed_order_is_shown(cli: Cli) -> None:
    found = {
        one["name"]: one for one in cli("run", "sliding_rod", "--dt", "8e-3", "--order", "--json").document["order"]
    }
    angle = found["angle at the end"]
    assert len(angle["dt"]) == len(angle["error"]) == 3
    assert abs(angle["order"] - 2.0) < 0.2
    assert cli("run", "incline", "--t-end", "0.01", "--json").document["order"] is None


def test_a_state_without_acceleration_is_passed_as_asked(cli: Cli) -> None:
    words = ["run", "painleve_rod", "--stepper", "event_driven", "--t-end", "0.01", "--json"]
    for way in ("stop", "impact", "compliance"):
        document = cli(*words, "--on-none", way).document
        assert document["stepper"]["on_none"] == way
        passed = document["events"].get(f"none_passed_by_{way}", 0)
        assert (document["status"], passed) == (("STOPPED", 0) if way == "stop" else ("COMPLETED", 1))


def test_a_missed_exact_answer_is_exit_status_1(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scene is given a wrong expectation: the command must notice."""
    from dataclasses import replace

    true = catalogue.build

    def wrong(name: str, **params: float) -> object:
        scene = true(name, **params)
        exact = (replace(scene.exact[0], value=scene.exact[0].value + 1.0), *scene.exact[1:])
        return replace(scene, exact=exact)

    monkeypatch.setattr(catalogue, "build", wrong)
    answer = cli("run", "capstan", "--json")
    assert answer.code == 1
    assert answer.document["checks"][0]["pass"] is False
    assert "missed" in cli("run", "capstan").out


def test_an_unexpected_stop_is_exit_status_3(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    true = catalogue.build

    def failing(name: str, **params: float) -> object:
        scene = true(name, **params)

        def height(state: object) -> float:
            if state.t > 0.01:
                raise ZeroDivisionError("a column that fails in mid-run")
            return 0.0

        return replace(scene, columns={**scene.columns, "extra": ("m", height)})

    monkeypatch.setattr(catalogue, "build", failing)
    answer = cli("run", "incline", "--json")
    found = answer.document
    assert (answer.code, found["status"]) == (3, "STOPPED")
    assert "a column that fails" in found["stop"]["reason"]
    assert {check["pass"] for check in found["checks"]} == {None}

    monkeypatch.setattr(catalogue, "build", lambda *a, **k: replace(failing(*a, **k), expected_stop="ZeroDivision"))
    assert cli("run", "incline", "--json").code == 0


def test_recorded_contact_problems_can_be_solved(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "problems"
    cli("run", "incline", "--dt", "1e-3", "--t-end", "0.01", "--record", folder, "--record-every", "4", "--json")
    files = sorted(folder.glob("*.hdf5"))
    assert [path.name for path in files] == ["incline-000004.hdf5", "incline-000008.hdf5"]
    found = cli("solve", files[0], "--json").document
    assert (found["contacts"], found["status"]) == (2, "SOLVED")
    assert found["kind"] in ("fc2d", "gfc2d")


def test_a_report_is_written(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    page = tmp_path / "run.html"
    found = cli("run", "incline", "--t-end", "0.02", "--set", "mu=0.25", "--report", page, "--json").document
    assert found["report"] == str(page)
    text = page.read_text(encoding="utf-8")
    assert "gaussdyn run incline --set=mu=0.25 --t-end 0.02" in text
    assert found["state_hash"] in text


def test_audit_of_a_file_and_of_a_scene(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "run.h5"
    cli("run", "incline", "--set", "mu=0.2", "--t-end", "0.05", "--out", out)
    answer = cli("audit", out, "--json")
    found = answer.document
    assert answer.code == 0
    assert found["pass"] is True
    assert {"schema", "file", "params", "results", "max", "first_failure"} <= set(found)
    assert cli("audit", "capstan", "--json").document["scene"] == "capstan"


def test_an_audit_rejects_a_changed_file(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "run.h5"
    cli("run", "incline", "--set", "mu=0.2", "--t-end", "0.05", "--out", out)
    with h5py.File(out, "a") as file:
        file["state/v"][20, 0] += 1e-3
    answer = cli("audit", out, "--json")
    assert answer.code == 1
    assert answer.document["pass"] is False
    assert answer.document["first_failure"]["name"]
    assert "fails" in cli("audit", out).out


def test_states_on_record_are_audited_like_runs(cli: Cli, tmp_path: Path) -> None:
    """A block at rest on an incline, written by hand: its weight is carried by two corners."""
    scene = catalogue.build("incline", mu=0.8, slope=0.3)
    q, v, dt = scene.state.q, scene.state.v, 0.01
    rows = scene.system.rows(0.0, q, v)
    J = np.vstack([row.J for row in rows])
    load = np.linalg.lstsq(J.T, -dt * scene.system.force(0.0, q, v, None), rcond=None)[0].reshape(2, 2)
    for factor, code in ((1.0, 0), (1.01, 1)):
        path = tmp_path / f"other{code}.h5"
        with h5py.File(path, "w") as file:
            file.attrs.update(schema="gaussdyn/states/1", scene="incline", params='{"mu": 0.8, "slope": 0.3}')
            file["t"], file["q"], file["v"] = [0.0, dt], [q, q], [v, v]
            file["contacts/state"], file["contacts/id"] = [1, 1], [row.id for row in rows]
            file["contacts/impulse"] = factor * load
        answer = cli("audit", path, "--json")
        assert answer.code == code
        assert answer.document["residuals"]["r_eom"] == pytest.approx((factor - 1.0) * dt * 9.81, rel=0.2, abs=1e-15)


def test_doctor(cli: Cli) -> None:
    found = cli("doctor", "--json").document
    assert found["version"] == __version__
    assert found["libraries"]["numpy"] == np.__version__
    assert set(found["extras"]) == {"report", "data", "sweep", "mjcf", "mesh", "coacd", "league", "gym"}
    assert Path(found["cache"]["directory"]).is_dir()
    assert "numba" in cli("doctor").out


def test_warmup_is_done_twice_without_compiling_again(cli: Cli) -> None:
    cli("warmup")
    found = cli("warmup", "--json").document
    assert found["modules"]
    assert cli("doctor", "--json").document["cache"]["files"] > 0


def test_plain_never_lets_nan_or_infinity_through() -> None:
    from gaussdyn.cli.app import plain
    from gaussdyn.programs.solution.status import Status

    value = {
        "a": [np.float64("nan"), np.inf, -np.inf, np.int64(3)],
        "b": (True, None),
        "c": Status.SOLVED,
        "d": np.eye(1),
    }
    assert plain(value) == {"a": [None, "inf", "-inf", 3], "b": [True, None], "c": "SOLVED", "d": [[1.0]]}


def test_a_run_is_resumed_and_says_so(cli: Cli, tmp_path: Path) -> None:
    out, whole = tmp_path / "run.h5", cli("run", "incline", "--t-end", "0.05", "--json").document
    assert cli("run", "incline", "--t-end", "0.02", "--out", out, "--json").document["resumed_from"] is None
    found = cli("run", "incline", "--t-end", "0.05", "--out", out, "--resume", "--chunk", "7", "--json").document
    assert found["resumed_from"] == pytest.approx(0.02)
    for key in ("state_hash", "steps", "events", "outcomes", "outcome_times", "max_residual", "energy_drift_rel"):
        assert found[key] == whole[key]
    again = cli("run", "incline", "--t-end", "0.05", "--out", out, "--resume")
    assert again.code == 0
    assert "completed already" in again.out
    for words, name in (
        (["--t-end", "0.05", "--set", "mu=0.1"], "params.mu"),
        (["--t-end", "0.05", "--dt", "1e-4"], "stepper.dt"),
        (["--t-end", "0.01"], "--t-end"),
    ):
        answer = cli("run", "incline", *words, "--out", out, "--resume")
        assert (answer.code, answer.out) == (2, "")
        assert name in answer.err


def test_a_run_says_on_its_second_line_that_it_chose_one_of_several_motions(cli: Cli) -> None:
    said = "takes one of several motions that the laws allow, first at the start (CONTINUUM, 10 of 10 examined steps)"
    words = ["run", "wedge", "--t-end", "0.01"]
    assert cli(*words).out.splitlines()[1] == f"it {said}"
    assert cli(*words, "--json").document["choice"] == said
    assert cli("run", "incline", "--t-end", "0.01", "--json").document["choice"] is None


def test_outcomes_come_with_their_times(cli: Cli) -> None:
    found = cli("run", "painleve_rod", "--t-end", "0.01", "--json").document
    times = found["outcome_times"]
    assert set(times) == set(found["outcomes"])
    every = sorted(interval for intervals in times.values() for interval in intervals)
    assert every[0][0] == 0.0
    assert every[-1][1] == found["t_reached"]
    assert all(one[1] == two[0] for one, two in itertools.pairwise(every))


@pytest.mark.slow
def test_an_interrupted_command_says_how_to_go_on(tmp_path: Path) -> None:
    out = tmp_path / "run.h5"
    words = [
        sys.executable,
        "-m",
        "gaussdyn",
        "run",
        "incline",
        "--examine",
        "off",
        "--t-end",
        "0.02",
        "--dt",
        "1e-5",
        "--out",
        str(out),
    ]
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs, and what they start, ignore it
    whole = subprocess.Popen([*words, "--chunk", "20"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, before)
    while not (tmp_path / "run.h5.parts" / "000001.h5").exists():
        time.sleep(0.05)
    whole.send_signal(signal.SIGINT)
    answer, errors = whole.communicate(timeout=120)
    assert whole.returncode == 3, errors
    assert "KeyboardInterrupt: Ctrl-C was pressed" in answer
    command = next(line.partition(": ")[2] for line in answer.splitlines() if line.startswith("go on with"))
    assert list(tmp_path.iterdir()) == [out]
    shown = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), "--json"], capture_output=True, text=True, timeout=120
    )  # fmt: skip
    found = json.loads(shown.stdout)
    assert 0.0 < found["resumed_from"] < found["t_reached"] == 0.02
