"""The quadratic program as data: signs, shapes, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.programs.problems.quadratic import QuadraticProgram
from gaussdyn.programs.solution.residuals import kkt_residuals
from gaussdyn.programs.solve import solve


def test_multipliers_are_reactions_without_a_flip() -> None:
    """A mass of 2 kg on a table under its weight: a = 0 and the table pushes up with m g."""
    found = solve(QuadraticProgram(H=[[2.0]], g=[2.0 * 9.81], C=[[1.0]], d=[0.0])).require()
    assert found.x[0] == 0.0
    assert found.r[0] == pytest.approx(2.0 * 9.81, rel=1e-15)
    assert found.modes == ("active",)


def test_rows_may_be_left_out() -> None:
    program = QuadraticProgram(H=np.eye(2), g=[1.0, -2.0])
    assert program.A.shape == program.C.shape == (0, 2)
    assert solve(program).require().x == pytest.approx([-1.0, 2.0], abs=1e-15)


def test_no_unknowns_at_all() -> None:
    empty = {"H": np.zeros((0, 0)), "g": []}
    assert solve(QuadraticProgram(**empty)).solved
    assert solve(QuadraticProgram(**empty, C=np.zeros((1, 0)), d=[-1.0])).solved
    assert solve(QuadraticProgram(**empty, C=np.zeros((1, 0)), d=[1.0])).status == "INFEASIBLE"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"H": np.eye(3)}, "H"),
        ({"H": [[1.0, 0.0], [0.0, -1.0]]}, "coordinate 1"),
        ({"H": [[1.0, 0.5], [0.0, 1.0]]}, "symmetric"),
        ({"H": [[1.0, np.nan], [np.nan, 1.0]]}, "finite"),
        ({"g": [1.0, np.inf]}, "finite"),
        ({"C": [[1.0, 0.0]]}, "only one of the two"),
        ({"C": [[1.0, 0.0]], "d": [1.0, 2.0]}, "shape"),
        ({"A": [[1.0, 0.0, 0.0]], "b": [1.0]}, "shape"),
        ({"A": [], "b": [1.0]}, "shape"),
    ],
)
def test_bad_input_is_named(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        QuadraticProgram(**{"H": np.eye(2), "g": [0.0, 0.0], **wrong})


def test_rounding_of_the_symmetry_is_removed() -> None:
    H = np.array([[2.0, 1.0], [1.0 + 1e-15, 2.0]])
    program = QuadraticProgram(H=H, g=[0.0, 0.0])
    assert (program.H == program.H.T).all()


def test_a_row_of_small_numbers_is_not_lost_beside_large_ones() -> None:
    program = QuadraticProgram(H=np.eye(2), g=[0.0, 0.0], C=[[1e8, 0.0], [0.0, 1e-8]], d=[1e8, 1e-8])
    right = solve(program).require()
    assert right.x == pytest.approx([1.0, 1.0], rel=1e-14)
    wrong = kkt_residuals(program, np.array([1.0, 0.5]), right.lam, right.r * [1.0, 0.5])
    assert wrong.E > 0.1


def test_what_overflows_is_never_called_solved() -> None:
    program = QuadraticProgram(H=np.eye(2), g=[1e200, 2e200], C=[[1.0, 1.0]], d=[1.0])
    found = solve(program)
    assert found.solved == bool(found.residuals.E <= 1e-12)
    if found.solved:
        assert found.x[0] + found.x[1] >= 1.0 - 1e-12
