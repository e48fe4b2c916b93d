"""Margins along runs: closed forms at known states."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gaussdyn import InputError, Trajectory, audit, build, simulate, snapshot
from gaussdyn.analysis.forces import margins, with_margins
from gaussdyn.analysis.forces.margins_along import compliances, margins_at
from gaussdyn.cli import app
from gaussdyn.integrate.run.uniqueness_checks import accelerating


def test_a_block_on_a_slope_has_the_margins_of_the_friction_angle() -> None:
    scene = build("incline", mu=0.8, v0=0.0)
    slope, weight = scene.params["slope"], scene.params["mass"] * 9.81
    values = margins_at(snapshot(scene))
    slack = weight * (0.8 * np.cos(slope) - np.sin(slope))
    feet = [value for name, value in values.items() if name.endswith(".slipping")]
    assert max(feet) <= slack + 1e-9
    assert sum(value for name, value in values.items() if name.endswith(".opening")) >= weight * np.cos(slope) - 1e-9
    assert values["jamming"] == pytest.approx(1.0)


def test_the_rod_of_painleve_digs_in_where_its_compliance_is_negative() -> None:
    """Uniform rod at 60 degrees: 1 + 3 cos^2 - 3 mu sin cos, over 1 + 3 cos^2 (Painleve's condition)."""
    scene = build("painleve_rod")
    values = compliances(snapshot(scene))
    angle, mu = scene.params["angle"], scene.params["mu"]
    c, s = np.cos(angle), np.sin(angle)
    (value,) = values.values()
    assert value == pytest.approx((1 + 3 * c * c - 3 * mu * s * c) / (1 + 3 * c * c), abs=1e-9)
    assert value < 0.0


def test_along_a_run_the_smallest_are_named_with_their_time(tmp_path: Path) -> None:
    scene = build("four_legs")
    run = simulate(scene, t_end=0.01)
    found = margins(run, scene, points=3)
    assert len(found.t) == 3
    assert found.missing == {}
    value, _ = found.smallest()["table.leg3/floor.opening"]
    assert value == pytest.approx(107.91, abs=1e-9)
    assert "largest normal force" in found.explain()
    with found.save(tmp_path / "margins.csv").open(encoding="utf-8") as file:
        table = list(csv.reader(file))
    assert table[0][0] == "t (s)"
    assert len(table) == 4
    with pytest.raises(InputError, match="1 or more"):
        margins(run, scene, points=0)


def test_a_run_carries_its_margins_as_columns_through_its_file(tmp_path: Path) -> None:
    """A block that slides to rest: no slack while it slides, that of the friction angle at rest; its audit passes."""
    scene = build("incline", mu=0.8, v0=1.0)
    run = with_margins(simulate(scene, save=50), scene)
    run.save(tmp_path / "run.h5")
    kept = Trajectory.load(tmp_path / "run.h5")
    slack = [name for name in kept.names if name.endswith(".slipping")]
    slope, weight = scene.params["slope"], scene.params["mass"] * 9.81
    assert len(kept[slack[0]]) == len(kept)
    assert all(kept[name][0] == 0.0 for name in slack)
    assert kept.unit(slack[0]) == "N"
    assert max(kept[name][-1] for name in slack) == pytest.approx(
        max(margins_at(accelerating(scene.system, run.final, None))[name] for name in slack), abs=1e-9
    )
    assert max(kept[name][-1] for name in slack) <= weight * (0.8 * np.cos(slope) - np.sin(slope)) + 1e-9
    assert audit(kept).passed


def test_where_no_motion_is_known_it_says_so_and_goes_on() -> None:
    scene = build("painleve_rod")
    found = margins(simulate(scene, t_end=0.02), scene, points=4)
    assert "no motion obeys" in next(iter(found.missing.values()))
    assert found.columns["rod.tip/floor.painleve"][0] < 0.0


def test_the_command_writes_columns_and_a_document(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["margins", "tip_or_slide", "--points", "3", "--out", str(tmp_path / "m.csv"), "--json"]
    )
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["schema"] == "gaussdyn/margins/1"
    assert len(document["t"]) == 3
    assert (tmp_path / "m.csv").exists()
    simulate(build("tip_or_slide"), t_end=0.02, out=tmp_path / "run.h5")
    kept = CliRunner().invoke(
        app, ["margins", str(tmp_path / "run.h5"), "--points", "3", "--out", str(tmp_path / "m.h5"), "--json"]
    )
    assert kept.exit_code == 0, kept.output
    assert "jamming" in Trajectory.load(tmp_path / "m.h5").names
    assert "neither such a file" in str(CliRunner().invoke(app, ["margins", "nothing"]).exception)
