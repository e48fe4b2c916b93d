"""Number of motions over load directions, against shares known from the cones of the modes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from spatial_contact_cases import SLENDER, contact
from typer.testing import CliRunner

from gaussdyn.analysis.atlas.census import census, loads
from gaussdyn.cli import app
from gaussdyn.errors import InputError
from gaussdyn.mechanics.spatial.body_file import ExactSpatialBody
from gaussdyn.programs.spatial.one_contact import motions
from gaussdyn.report.census_pictures import draw_census, said

BODY = {**SLENDER, "mu": "1/2", "F_star": [0, 0, -1]}


def test_a_ball_rests_in_a_cone_and_detaches_in_half_of_all_directions() -> None:
    found = census(np.eye(3), mu=0.5, cells=360)  # rest: |q_t| <= mu |q_n|
    shares = found.shares()
    assert set(shares) == {"D", "S", "+"}
    assert shares["D"] == pytest.approx(0.5, abs=3e-3)
    assert shares["S"] == pytest.approx((1 - 1 / np.sqrt(1.25)) / 2, abs=3e-3)


def test_slender_body_has_regions_with_three_motions() -> None:
    body = ExactSpatialBody.of(BODY)
    found = census(body, cells=120)
    assert set(np.unique(found.total)) == {1, 3}
    assert {name for name in found.shares() if len(name) == 3} == {
        "S++",
        "+++",
    }  # mu |b| < b33: stick excludes detachment
    steep = census(body, mu=0.55, cells=120)
    assert "DS+" in steep.shares()
    assert census(body, mu=0.3, cells=60).shares().keys() == {"D", "S", "+"}


def test_cells_agree_with_the_exact_count() -> None:
    body = ExactSpatialBody.of(BODY)
    found = census(body, mu=0.55, cells=60)
    q = loads(found.azimuth, found.inclination)
    for i, j in np.random.default_rng(0).integers(0, 30, (15, 2)):
        assert len(motions(contact(found.W, q[i, j], 0.55)).motions) == found.total[i, j]


def test_picture_and_command(tmp_path: Path) -> None:
    path, out = tmp_path / "body.json", tmp_path / "census.png"
    path.write_text(json.dumps({"kind": "spatial_body", "name": "slender", **BODY}))
    ran = CliRunner().invoke(app, ["census", str(path), "--cells", "40", "--out", str(out), "--json"])
    assert ran.exit_code == 0
    document = json.loads(ran.stdout)
    assert document["schema"] == "gaussdyn/census/1"
    assert sum(region["share"] for region in document["regions"]) == pytest.approx(1.0)
    assert out.read_bytes().startswith(b"\x89PNG")
    figure = draw_census(census(np.eye(3), mu=0.5, mu_s=0.6, cells=20))
    assert any("rests, slips" in text.get_text() for text in figure.legends[0].get_texts())
    assert (said("S++"), said("")) == ("rests, slips in 2 directions", "none")


@pytest.mark.parametrize(
    ("options", "name"), [({"mu": -1.0}, "mu"), ({"mu": 0.5, "mu_s": 0.4}, "mu_s"), ({"cells": 2, "mu": 1.0}, "cells"),
                        ({"mu": 1e308}, "mu"), ({"mu": 1.0, "mu_s": 1e200}, "mu_s")],
)  # fmt: skip
def test_bad_input(options: dict, name: str) -> None:
    with pytest.raises(InputError) as error:
        census(np.eye(3), **options)
    assert error.value.name == name


@pytest.mark.parametrize("change", [{"m": 1e-320}, {"r": [1, 0, 1e200]}])
def test_a_body_of_which_no_doubles_can_be_made_is_refused(change: dict) -> None:
    body = ExactSpatialBody.of({**SLENDER, "mu": 1, "F_star": [0, 0, -1], **change})
    with pytest.raises(InputError, match="1e-100 to 1e100"):
        census(body)
