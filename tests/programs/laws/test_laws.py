"""The laws as values: parameters, projections, natural maps, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from block_cases import LAWS

from gaussdyn.errors import InputError
from gaussdyn.programs.laws.law_table import LawTable
from gaussdyn.programs.laws.laws import (
    Associated,
    BilateralCoulomb,
    BilateralSliding,
    Coulomb,
    Dry,
    Rolling,
    Sliding,
    Torsional,
    Unilateral,
)
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solution.residuals import block_residuals


@pytest.mark.parametrize("law", [law for law in LAWS.values() if not isinstance(law, BilateralCoulomb)], ids=repr)
def test_projection_is_the_nearest_admissible_point(law):
    g = np.random.default_rng(1)
    for _ in range(40):
        x = g.normal(size=law.size)
        y = law.project(x)
        np.testing.assert_allclose(law.project(y), y, atol=1e-15)
        others = np.array([law.project(3 * g.normal(size=law.size)) for _ in range(30)])
        # a projection on a convex set: no admissible point lies beyond the supporting plane
        assert ((others - y) @ (x - y)).max() < 1e-12


def test_rolling_projection_of_a_point_worked_by_hand():
    # |t| = 3 > mu n, |m| = 0: the edge (1, mu, 0) with mu = 1 takes (1, 3) to (2, 2)
    y = Rolling(1.0, 1.0).project(np.array([1.0, 3.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(y, [2.0, 2.0, 0.0, 0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("load", [1.0, 1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize(("mu", "mu_r"), [(0.5, 0.1), (0.0, 0.3), (0.7, 0.0), (1.5, 2.0)])
def test_rolling_projection_near_the_tip(load, mu, mu_r):
    """r on both discs minus u^ opposite to both parts is projected on r, to rounding of u^ and not of its square."""
    g = np.random.default_rng(3)
    for a, b in g.uniform(0.1, 3.0, (20, 2)) * [[1.0, 1.0]] * 10 + [[0.0, 1.0], [1.0, 0.0]] * 10:
        e, f = (x / np.linalg.norm(x) for x in g.normal(size=(2, 2)))
        r = load * np.r_[1.0, mu * e, mu_r * f]
        shifted = np.r_[mu * a + mu_r * b, -a * e, -b * f]
        np.testing.assert_allclose(Rolling(mu, mu_r).project(r - shifted), r, atol=4e-15)
        problem = ComplementarityProblem(W=np.eye(5), q=np.r_[0.0, shifted[1:]] - r, laws=[Rolling(mu, mu_r)])
        assert block_residuals(problem, r).rel_q <= 4e-15


@pytest.mark.parametrize(
    ("law", "u", "r"),
    [
        (Unilateral(), [0.0], [2.0]),
        (Unilateral(), [3.0], [0.0]),
        (Coulomb(0.5), [0.0, 0.0, 0.0], [2.0, 0.6, 0.8]),
        (Coulomb(0.5), [0.0, 3.0, 4.0], [2.0, -0.6, -0.8]),
        (Coulomb(0.5), [1.0, 3.0, 4.0], [0.0, 0.0, 0.0]),
        (Coulomb(0.5, dim=2), [0.0, -3.0], [2.0, 1.0]),
        (Coulomb(0.5, 0.8), [0.0, 0.0, 0.0], [1.0, 0.0, 0.8]),
        (BilateralCoulomb(0.5, dim=2), [0.0, 2.0], [-4.0, -2.0]),
        (BilateralCoulomb(0.5), [0.0, 0.0, 2.0], [-4.0, 0.0, -2.0]),
        (BilateralCoulomb(0.5, 0.7), [0.0, 0.0, 0.0], [-4.0, 2.8, 0.0]),
        (Sliding(0.5), [0.0], [2.0]),
        (BilateralSliding(0.5), [0.0], [-2.0]),
        (Dry(0.5), [2.0], [-0.5]),
        (Dry(0.5, 0.7), [0.0], [0.7]),
        (Dry(0.5, dim=2), [3.0, 4.0], [-0.3, -0.4]),
        (Rolling(0.5, 0.1), [0.0, 1.0, 0.0, 0.0, 2.0], [2.0, -1.0, 0.0, 0.0, -0.2]),
        (Rolling(0.5, 0.1), [0.0, 0.0, 0.0, 0.0, 2.0], [2.0, 0.3, 0.4, 0.0, -0.2]),
        (Torsional(0.5, 0.1), [0.0, 0.0, 0.0, -3.0], [2.0, 0.3, 0.4, 0.2]),
        (Torsional(0.5, 0.1), [0.0, 1.0, 0.0, 2.0], [2.0, -1.0, 0.0, -0.2]),
        (Torsional(0.5, 0.1, 0.2), [0.0, 1.0, 0.0, 0.0, -2.0, 0.0], [2.0, -1.0, 0.0, 0.0, 0.4, 0.1]),
        (Associated(0.5), [0.5, 1.0, 0.0], [2.0, -1.0, 0.0]),
    ],
    ids=lambda x: repr(x) if not isinstance(x, list) else "",
)
@pytest.mark.parametrize("rho", [0.1, 1.0, 7.0])
def test_the_map_vanishes_where_the_law_holds_and_only_there(law, u, r, rho):
    u, r = np.array(u), np.array(r)
    assert np.abs(law.residual(u, r, rho)).max() < 1e-14
    if not isinstance(law, BilateralSliding):
        assert np.abs(law.residual(u, -r - 1.3, rho)).max() > 1e-3
    assert np.abs(law.residual(u - 5.0, r, rho)).max() > 1e-3


def test_friction_at_rest_is_no_excuse_for_slip():
    """|r_T| between mu and mu_s is admissible at rest only."""
    law, r = Coulomb(0.3, 0.5, dim=2), np.array([1.0, -0.4])
    assert np.abs(law.residual(np.zeros(2), r)).max() < 1e-15
    assert np.abs(law.residual(np.array([0.0, 0.1]), r)).max() > 1e-3


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Coulomb(-0.1), "mu"),
        (lambda: Coulomb(float("nan")), "mu"),
        (lambda: Coulomb(0.5, 0.4), "mu_s"),
        (lambda: Coulomb(0.5, dim=4), "dim"),
        (lambda: Coulomb("0.5"), "mu"),
        (lambda: Dry(-1.0), "c"),
        (lambda: Dry(1.0, 0.5), "c_s"),
        (lambda: Dry(1.0, dim=3), "dim"),
        (lambda: Rolling(0.5, -0.1), "mu_r"),
        (lambda: Torsional(0.5, -0.1), "mu_t"),
        (lambda: Torsional(0.5, 0.1, mu_r=-0.1), "mu_r"),
        (lambda: Sliding(0.5, (1.0, 1.0)), "direction"),
        (lambda: LawTable.of([Unilateral(), 0.3]), "laws[1]"),
        (lambda: LawTable.of([[0.3]]), "laws[0]"),
    ],
)
def test_refusals_name_the_parameter(make, name):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.name == name


def test_the_table_lists_rows_and_parameters():
    table = LawTable.of([Coulomb(0.3, 0.4), Unilateral(), Dry(2.0, 3.0, dim=2), Rolling(0.5, 0.1)])
    assert table.start.tolist() == [0, 3, 4, 6, 11]
    assert table.P.tolist() == [[0.3, 0.4, 0, 0], [0, 0, 0, 0], [0, 3.0, 2.0, 0], [0.5, 0.5, 0, 0.1]]
    assert table.friction.tolist() == [0, 0.3, 0.3, 0, 0, 0, 0, 0.5, 0.5, 0.1, 0.1]
    assert table.ambiguous
    assert not LawTable.of([Coulomb(0.3), Associated(0.2), Dry(1.0)]).ambiguous


def test_tables_of_equal_laws_are_shared_but_kinds_are_not_confused():
    assert LawTable.of([Coulomb(0.3)]) is LawTable.of([Coulomb(0.3)])
    assert LawTable.of([Associated(0.3)]).code[0] != LawTable.of([Coulomb(0.3)]).code[0]
