"""Dependent joints and contacts by name, and mobility, of mechanisms that are known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from gaussdyn import Position, State, UserSystem, build, simulate
from gaussdyn.analysis.forces.dependent_rows import dependence, dependence_along
from gaussdyn.cli import app
from gaussdyn.contact.active_set import active_set
from gaussdyn.contact.snapshot import snapshot


def test_bricard_moves_though_counting_says_that_it_does_not() -> None:
    found = dependence(build("bricard"))
    assert (found.mobility, found.kutzbach, found.degree) == (1, 0, 1)
    assert found.overconstrained
    assert found.members() == [tuple(f"hinge{k}" for k in range(6))]
    dynamics = snapshot(build("bricard"))
    assert found.verify(np.vstack([active.row.J for active in active_set(dynamics).rows]))


def test_a_door_on_three_hinges_names_them_and_not_its_latch() -> None:
    rows = {"hinge a": [1.0, 0.0, 0.0], "latch": [0.0, 1.0, 0.0], "hinge c": [2.0, 0.0, 0.0]}
    held = [
        Position(lambda t, q, n=n: float(np.dot(n, q)), jacobian=lambda t, q, n=n: n, kind="bilateral", name=name)
        for name, n in rows.items()
    ]
    found = dependence(UserSystem(3, np.eye(3), np.zeros(3), held), State(q=np.zeros(3), v=np.zeros(3)))
    assert found.sets() == [("hinge a", "hinge c")]
    assert found.needed() == ("latch",)
    assert "any one of 2 rows may go" in found.explain()


@pytest.mark.parametrize(("name", "mobility", "degree"), [
    ("four_bar", 1, 0), ("slider_crank", 1, 0), ("bar_on_supports", 0, 1), ("table", 1, 2), ("four_legs", 0, 6),
])  # fmt: skip
def test_scenes_that_are_known(name: str, mobility: int, degree: int) -> None:
    found = dependence(build(name))
    assert (found.mobility, found.degree) == (mobility, degree)
    assert found.degree == len(found.names) - found.circuits.rank


def test_along_a_run_it_stays_overconstrained() -> None:
    scene = build("bricard")
    run = simulate(scene, t_end=0.02)
    assert {one.degree for one in dependence_along(run, scene, points=5)} == {1}


def test_the_command_says_the_same() -> None:
    done = CliRunner().invoke(app, ["mobility", "bricard", "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert (document["mobility"], document["kutzbach"], document["degree"]) == (1, 0, 1)
    assert "counting says 0" in CliRunner().invoke(app, ["mobility", "bricard", "--joints"]).stdout
