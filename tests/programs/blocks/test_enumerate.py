"""Enumeration as a method behind `solve`."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.programs.blocks.enumerate_ import Enumerate
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, LinearComplementarity
from gaussdyn.programs.solution.status import Status
from gaussdyn.programs.solve import solve


def test_a_solution_of_an_lcp_with_three() -> None:
    found = solve(LinearComplementarity(M=[[1.0, 2.0], [2.0, 1.0]], q=[-1.0, -1.0]), method=Enumerate())
    assert found.solved
    answers = [(1 / 3, 1 / 3), (1.0, 0.0), (0.0, 1.0)]
    assert any(np.allclose(found.x, z, atol=1e-15) for z in answers)


def test_no_solution_is_proved() -> None:
    empty = solve(LinearComplementarity(M=[[-1.0]], q=[-1.0]), method=Enumerate())
    assert empty.status is Status.INFEASIBLE
    assert empty.certificate is not None
    assert empty.certificate.verify()


def test_a_feasible_lcp_without_a_solution() -> None:  # w2 >= 0 asks z1 >= 1, and then w1 = z1 > 0
    none = solve(LinearComplementarity(M=[[1.0, 0.0], [1.0, 0.0]], q=[0.0, -1.0]), method=Enumerate())
    assert none.status is Status.NO_SOLUTION
    assert none.certificate is not None
    assert none.certificate.verify()


def test_planar_friction() -> None:
    problem = ComplementarityProblem(W=np.eye(2), q=[-1.0, 2.0], laws=[Coulomb(0.5, dim=2)])
    found = solve(problem, method=Enumerate())
    assert found.solved
    np.testing.assert_allclose(found.r, [1.0, -0.5], atol=1e-15)


@pytest.mark.parametrize("problem", [
    ComplementarityProblem(W=np.eye(3), q=[-1.0, 0.0, 0.0], laws=[Coulomb(0.5)]),
    LinearComplementarity(M=np.eye(40), q=-np.ones(40)),
])  # fmt: skip
def test_what_it_is_not_for(problem: ComplementarityProblem | LinearComplementarity) -> None:
    with pytest.raises(InputError, match="Write method="):
        Enumerate().solve(problem)
