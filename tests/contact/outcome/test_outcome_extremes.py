"""Outcomes at the edge: numbers beyond the range of doubles, and equations that leave the motion free."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gaussdyn.contact.outcome.examine import examine
from gaussdyn.contact.outcome.outcome import Verdict, outcome
from gaussdyn.contact.outcome.problem_file import read_outcome_problem
from gaussdyn.contact.snapshot import LocalDynamics, snapshot
from gaussdyn.errors import SceneError
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.state import State
from gaussdyn.programs.enumeration.modal_problem import lcp_problem

LARGE = 10**200  # of one row; two rows together reach 10^400
CHAIN = [[1, 0, 0], [-LARGE, 1, 0], [0, 0, 0]]


def test_a_point_beyond_the_largest_double_is_said_to_be_so() -> None:
    found = outcome(lcp_problem([row[:2] for row in CHAIN[:2]], [-LARGE, 0]))
    assert found.verdict is Verdict.UNIQUE
    (solution,) = found.solutions()
    assert solution["point"] == [1e200, "inf"]
    assert solution["point_exact"] == [str(LARGE), str(LARGE**2)]
    assert found.certificate is not None
    assert found.certificate.verify()
    json.dumps(found.solutions(), allow_nan=False)


def test_faces_beyond_the_largest_double_too() -> None:
    found = outcome(lcp_problem(CHAIN, [-LARGE, 0, 0]))
    assert found.verdict is Verdict.CONTINUUM
    faces = found.solutions()[0]["faces"]
    assert all(vertex == [1e200, "inf", 0.0] for face in faces for vertex in face["vertices"])
    assert any(face["rays"] for face in faces)


@pytest.mark.parametrize("M", [[["1"]], [[1e-300]]])
def test_rows_wider_than_doubles_are_undecided_with_the_reason(M: list[list[float | str]]) -> None:
    found = outcome(lcp_problem(M, ["-" + "9" * 400]))
    assert found.verdict is Verdict.UNDECIDED
    assert "units" in found.reason
    assert found.count is None


def test_numbers_too_long_for_python_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    file.write_text(json.dumps({"kind": "lcp", "M": [["1"]], "q": ["9" * 5000]}))
    with pytest.raises(SceneError, match="5000 characters"):
        read_outcome_problem(file)


def wedged(points: list[tuple[float, float]], mu: list[float]) -> LocalDynamics:
    """A body at rest between the walls x = -1 and x = 1."""
    walls = {x: HalfPlane(name=f"wall{x:+.0f}", point=(x, 0.0), normal=(-x, 0.0)) for x in (-1.0, 1.0)}
    contacts = [
        PlanarContact(point=Marker("block", p, f"p{k}"), plane=walls[p[0]], mu=f)
        for k, (p, f) in enumerate(zip(points, mu, strict=True))
    ]
    system = PlanarSystem(bodies=[PlanarBody(name="block", mass=2.5, inertia=0.25)], contacts=contacts,
                          gravity=(0.0, -10.0))  # fmt: skip
    return snapshot(system, State(q=[0.0] * 3, v=[0.0] * 3))


def test_equations_that_leave_the_motion_free_are_no_continuum_if_inequalities_fix_it() -> None:
    """Three contacts of which one mode has free equations, and two face to face."""
    stuck = wedged([(-1.0, 0.0), (1.0, 1.0), (-1.0, -1.0)], [0.1, 0.6, 1.2])
    assert (examine(stuck, effort="full").verdict, outcome(stuck).verdict) == (Verdict.UNIQUE, Verdict.UNIQUE)
    free = wedged([(-1.0, 0.0), (1.0, 0.0)], [0.5, 0.5])
    assert (examine(free, effort="full").verdict, outcome(free).verdict) == (Verdict.CONTINUUM, Verdict.CONTINUUM)
