"""Residuals with names from elsewhere have the values that their definitions give by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.analysis.audit.ncp_residuals import of_problem
from gaussdyn.programs.laws.laws import Coulomb, Dry, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem


def figures(law, u, r):
    n = law.size
    return of_problem(ComplementarityProblem(W=np.eye(n), q=np.zeros(n), laws=[law]), np.array(u), np.array(r))


@pytest.mark.parametrize(
    ("u", "r", "expected"),
    [(0.0, 2.0, (0.0, 0.0, 0.0, 0.0)), (0.1, 2.0, (0.0, 0.0, 0.2, 0.1)),
     (-0.1, 0.0, (0.0, 0.1, 0.0, 0.1)), (0.1, -3.0, (3.0, 0.0, 0.3, 3.0))],
)  # fmt: skip
def test_a_gap_that_closes_pulls_or_pushes_while_it_opens(u, r, expected):
    np.testing.assert_allclose(figures(Unilateral(), [u], [r]), expected, rtol=0, atol=1e-15)


def test_a_contact_outside_its_cone_that_closes():
    primal, dual, compl, _ = figures(Coulomb(mu=0.5), [-0.2, 0.0, 0.0], [1.0, 0.8, 0.0])
    assert primal == pytest.approx(0.24, abs=1e-15)  # the nearest point of the cone is (1.12, 0.56, 0)
    assert dual == pytest.approx(0.2, abs=1e-15)  # the nearest of the dual cone is 0
    assert compl == pytest.approx(0.2, abs=1e-15)


def test_a_contact_that_slides_by_the_law_has_none():
    slip = np.array([0.3, -0.4])
    u, r = [0.0, *slip], [2.0, *(-0.5 * 2.0 * slip / 0.5)]
    np.testing.assert_allclose(figures(Coulomb(mu=0.5), u, r), 0.0, rtol=0, atol=1e-15)


def test_dry_friction_counts_in_the_natural_map_alone():
    assert figures(Dry(1.0), [0.3], [1.0]) == (0.0, 0.0, 0.0, pytest.approx(0.3))
