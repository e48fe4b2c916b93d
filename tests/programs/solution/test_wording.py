"""Answers speak of the problem that was given: an LCP and a program know no contacts, sticking or motion."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gaussdyn import ComplementarityProblem, LinearComplementarity, QuadraticProgram, outcome, solve
from gaussdyn.cli import app
from gaussdyn.errors import SolveFailed
from gaussdyn.programs.laws.laws import Coulomb, Unilateral
from gaussdyn.programs.solution.solution import Solution
from gaussdyn.programs.solution.status import Status
from gaussdyn.programs.solution.wording import wording

FOREIGN = re.compile(r"motion|stick|slip|contact|block|reaction|penetration|cone|impact|u_N|compliance")
LCPS = {
    "solved": ([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]),
    "zeros and a tie": (np.eye(3).tolist(), [0.0, -1.0, 2.0]),
    "infeasible": ([[0.0, 0.0], [0.0, 1.0]], [-1.0, -1.0]),
    "feasible, not complementary": ([[-1.0, 1.0], [-1.0, 1.0]], [-1.0, 0.0]),
    "several": ([[1.0, 2.0], [2.0, 1.0]], [-1.0, -1.0]),
}
PROGRAMS = {
    "solved": {"H": [[1, 0], [0, 1]], "g": [-1, 0], "A": [[1, 1]], "b": [1], "C": [[0, 1], [1, 0]], "d": [0.5, -3]},
    "infeasible": {"H": [[1]], "g": [0], "C": [[1], [-1]], "d": [1, 0]},
}


@pytest.mark.parametrize("name", LCPS)
def test_an_lcp_is_answered_in_its_own_words(name: str, tmp_path: Path) -> None:
    M, q = LCPS[name]
    answer = solve(LinearComplementarity(M=M, q=q))
    assert not FOREIGN.search(answer.explain())
    assert not FOREIGN.search(outcome(LinearComplementarity(M=M, q=q)).explain())
    path = tmp_path / "lcp.json"
    path.write_text(json.dumps({"M": M, "q": q}))
    said = CliRunner().invoke(app, ["solve", str(path)]).stdout
    assert not FOREIGN.search(re.sub("method: .*", "", said))
    assert f"({'lcp'}, {len(q)} unknowns)" in said
    if name == "zeros and a tie":
        assert "1 zero z, 1 positive z, 1 with w = z = 0" in said
        assert "w unique, z unique" in said
    if name == "infeasible":
        assert "no z obeys these rows together: row 0 (w >= 0)" in said


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_answered_in_its_own_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / "qp.json"
    path.write_text(json.dumps({"kind": "qp", **PROGRAMS[name]}))
    said = CliRunner().invoke(app, ["solve", str(path)]).stdout
    assert not FOREIGN.search(re.sub("method: .*", "", said))
    assert "multipliers" in said


def test_every_status_has_words_for_every_problem() -> None:
    """What is no contact problem never speaks of one, unless the status is one of motions only."""
    rows = ComplementarityProblem(W=np.eye(1), q=[-1.0], laws=[Unilateral()])
    program = QuadraticProgram(H=np.eye(1), g=[0.0])
    for problem in (LinearComplementarity(M=[[1.0]], q=[1.0]), rows, program):
        for status in set(Status) - {Status.IMPACT_NEEDED, Status.PENETRATING}:
            words = Solution(problem=problem, status=status)
            assert not FOREIGN.search(words.explain())
            assert str(SolveFailed(words)) == words.explain()


def test_contacts_keep_their_words() -> None:
    contact = ComplementarityProblem(W=np.eye(3), q=[-1.0, 0.0, 0.0], laws=[Coulomb(0.3)])
    words = wording(contact)
    assert words.modes["stick"] == "stick"
    assert "motion" in Solution(problem=contact, status=Status.INFEASIBLE).explain()
