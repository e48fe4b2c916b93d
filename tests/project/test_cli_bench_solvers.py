"""``gaussdyn bench solvers``: both sides judged by residuals recomputed from the reaction, whatever they claim."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gaussdyn.analysis.benchmarks.solver_race import OWN, WARM, Row, judged, own_runs, recorded
from gaussdyn.cli.bench.bench_solvers import classes, entry
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem

DATA = Path(__file__).resolve().parents[1] / "data"
Cli = Callable[..., object]


def falling(count: int) -> ComplementarityProblem:
    """Contacts apart from one another that meet the ground at 1 m/s without slip: r = (1, 0, 0) each."""
    q = np.tile([-1.0, 0.0, 0.0], count)
    return ComplementarityProblem(W=np.eye(3 * count), q=q, laws=[Coulomb(0.5)] * count)


def test_a_claim_is_checked_against_the_problem() -> None:
    problem = falling(2)
    right = np.tile([1.0, 0.0, 0.0], 2)
    assert judged(problem, right, 1.0, True).good == (True, True)
    off = right + 1e-9 * np.eye(6)[0]
    assert judged(problem, off, 1.0, True).near == (True, False)
    assert judged(problem, 0.0 * right, 1.0, True).near == (False, False)
    assert judged(problem, np.full(6, np.nan), 1.0, True).near == (False, False)


def test_false_successes_and_ratios_are_counted() -> None:
    problem, row = falling(2), Row("two", 40, 3)
    right = np.tile([1.0, 0.0, 0.0], 2)
    row.runs[OWN, 1e-8] = judged(problem, right, 1.0, True)
    row.runs["NSN_AC", 1e-8] = judged(problem, 0.0 * right, 0.1, True)
    row.runs["VI_EG", 1e-8] = judged(problem, right, 4.0, True)
    one = entry(row)
    assert one["best"]["1e-08"] == "VI_EG"
    assert one["solvers"]["NSN_AC"]["false"] == 1
    assert classes([row])[0]["ratio"]["1e-08"] == pytest.approx(0.25)


def test_cold_and_warm_runs_are_judged() -> None:
    row = Row("own", 3, 3)
    own_runs(row, falling(3), 1.0)
    assert row.runs[OWN, 1e-12].good == (True, True)
    assert row.runs[WARM, 1e-8].near[0]


def test_problems_of_a_folder_are_read_and_raced(cli: Cli, tmp_path: Path) -> None:
    assert recorded(DATA, 1, 10**6, "no such name") == []
    answer = cli(
        "bench", "solvers", str(DATA), "--alone", "--least", "1", "--json", "--picture", str(tmp_path / "p.png")
    )
    found = answer.document
    assert (answer.code, found["schema"]) == (0, "gaussdyn/bench-solvers/1")
    assert found["results"]
    for one in found["results"]:
        assert one["solvers"][OWN]["false"] == 0
    assert (tmp_path / "p.png").stat().st_size > 1000
    assert cli("bench", "solvers", str(tmp_path / "nowhere")).code == 2


def test_walls_are_solved_at_growing_sizes(cli: Cli) -> None:
    answer = cli("bench", "walls", "100", "200", "--json")
    found = answer.document
    assert (answer.code, found["schema"]) == (0, "gaussdyn/bench-walls/1")
    assert [one["status"] for one in found["results"]] == ["SOLVED", "SOLVED"]
    for one in found["results"]:
        assert one["E"] <= 1e-6
        assert one["bilateral_rows"] > 0
    assert cli("bench", "walls", "5").code == 2


def test_orders_are_printed_for_a_scene(cli: Cli) -> None:
    answer = cli("bench", "orders", "pendulum", "--steps", "8", "--levels", "3", "--json")
    found = answer.document
    assert found["schema"] == "gaussdyn/bench-orders/1"
    assert [one["name"] for one in found["results"][0]["sittings"]] == ["by events", "smooth stepping"]
    assert cli("bench", "orders", "pendulum", "--levels", "1").code == 2
