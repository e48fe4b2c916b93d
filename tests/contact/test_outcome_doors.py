"""What can be asked for its outcome: problems, scenes, the data of a file; and the angle of a slip is one thing."""

from __future__ import annotations

from math import atan2, degrees
from typing import Any

import numpy as np
import pytest
from spatial_contact_cases import SLENDER

from gaussdyn import State, build, outcome, snapshot
from gaussdyn.errors import InputError
from gaussdyn.integrate.run.uniqueness_checks import accelerating
from gaussdyn.mechanics.planar.body_file import ExactBody
from gaussdyn.mechanics.spatial.body_file import ExactSpatialBody
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, LinearComplementarity

ROD = {"m": 1, "J": 1, "points": [["-6/5", "-8/5"]], "mu": [2], "state": [-1], "force": [0, -1, 0]}
SPATIAL = {**SLENDER, "mu": "1/2", "F_star": ["-3/2", "33/20", -1]}


@pytest.mark.parametrize("name", ["painleve_rod", "incline", "wedge_lock", "belt_oscillator", "table", "kapitza"])
def test_a_scene_stands_for_its_start(name: str) -> None:
    scene = build(name)
    at_start = outcome(accelerating(scene.system, scene.state, scene.control), certify=False)
    found = outcome(scene, certify=False)
    assert (found.verdict, found.count, found.level) == (at_start.verdict, at_start.count, at_start.level)
    for one, other in zip(found.solutions(), at_start.solutions(), strict=True):
        assert one["modes"] == other["modes"]
        assert one["point"] == (other["point"] if other["point"] is None else pytest.approx(other["point"]))


def test_a_system_with_a_state_and_a_scene_with_another_stand_for_what_they_are_there() -> None:
    scene = build("painleve_rod", mu=1.8)
    later = State(q=scene.state.q, v=-scene.state.v)
    there = outcome(snapshot(scene.system, later))
    assert there.solutions() != outcome(scene).solutions()
    for found in (outcome(scene.system, later), outcome(scene, later), outcome(snapshot(scene, later))):
        assert found.solutions() == there.solutions()
    for problem, state in ((ROD, later), (scene, 3), (scene.system, "start"), (later, scene.system)):
        with pytest.raises(InputError) as error:
            outcome(problem, state)
        assert error.value.name == "state"


def test_a_dictionary_stands_for_the_file_that_holds_it() -> None:
    M, q = [[1.0, 2.0], [2.0, 1.0]], [-1.0, -1.0]
    pairs = [
        (ROD, ExactBody.of(ROD)),
        ({"kind": "planar_body", **ROD}, ExactBody.of(ROD)),
        (SPATIAL, ExactSpatialBody.of(SPATIAL)),
        ({"M": M, "q": q}, LinearComplementarity(M=M, q=q)),
        ({"M": np.array(M), "q": np.array(q)}, LinearComplementarity(M=M, q=q)),
    ]
    for data, problem in pairs:
        assert outcome(data).solutions() == outcome(problem).solutions()
        assert outcome(data).certificate.document["leaves"] == outcome(problem).certificate.document["leaves"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mass": 1}, ("kind", "mass", "ExactBody", "snapshot")),
        ({"kind": "qp", "H": [[1]], "g": [0]}, ("kind", "qp", "ExactBody")),
        ({}, ("kind", "snapshot")),
        ({"M": 3, "q": [1]}, ("M", "rows")),
        ({"M": [[1]]}, ("q",)),
        ({"points": [[0, 0]]}, ("m", "planar body")),
        (build("incline").system, ("PlanarSystem", "snapshot", "ExactBody")),
        ("body.json", ("str", "read_outcome_problem")),
        (None, ("NoneType", "snapshot")),
    ],
    ids=str,
)
def test_what_states_no_problem_is_told_what_does(given: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as error:
        outcome(given)
    for word in words:
        assert word in str(error.value)


def test_the_angle_is_that_of_a_beginning_slip_and_of_nothing_else() -> None:
    """Degrees from t1 towards t2; null for what rests, detaches or slides on; by contact where there are several."""
    one = [
        {**SPATIAL},
        {**SPATIAL, "mu": "1/10"},
        {**SPATIAL, "F_star": ["1/2", "1/3", 1]},
        {**SLENDER, "mu": "11/20", "F_star": [1, 2, 1], "slip": [1, 0]},
    ]
    seen = set()
    for solution in (solution for data in one for solution in outcome(data).solutions()):
        (letter,), (_, t1, t2) = solution["modes"], solution["point"]
        seen.add(letter)
        assert solution["angle_deg"] == (pytest.approx(degrees(atan2(t2, t1))) if letter == "+" else None)
    assert seen == {"S", "+", "D", "L"}
    two = ComplementarityProblem(W=np.eye(6), q=[-1.0, 0.4, 0.3, 1.0, 0.2, 0.5], laws=[Coulomb(0.3)] * 2)
    (found,) = outcome(two, certify=False).solutions()
    assert found["modes"] == ["+D"]
    assert found["angle_deg"] == [pytest.approx(degrees(atan2(0.3, 0.4))), None]
