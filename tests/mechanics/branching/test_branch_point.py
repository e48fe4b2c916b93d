"""Branches that meet at a configuration: plane curves with known singularities, the papers' mechanisms, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussdyn import InputError, Position, UserSystem
from gaussdyn.mechanics.branching.branch_point import branch_point
from gaussdyn.mechanics.branching.configuration_space import ConfigurationSpace
from gaussdyn.scenes.linkages import darboux
from gaussdyn.scenes.linkages.builders import four_bars
from gaussdyn.scenes.linkages.singular_pendulum import Ellipse, system_of

NULL = np.array([-0.5, 4.0, 0.0, 0.5, -0.5, -4.0, 0.0, 1.0, 1.0])  # of the square, by hand


def plane(*equations):
    """A point in the plane on curves: value and gradient of every one."""

    def row(j, f):
        value, slope = lambda t, q: f(*q)[0], lambda t, q: np.array(f(*q)[1:])
        return Position(value, jacobian=slope, kind="bilateral", name=f"c{j}")

    rows = [row(j, f) for j, f in enumerate(equations)]
    return UserSystem(2, np.eye(2), lambda t, q, v: np.zeros(2), constraints=rows)


def look(system, q=(0.0, 0.0), **options):
    q = np.array(q)
    return branch_point(ConfigurationSpace.of(system, q), q, **options)


CURVES = {  # kind, order, number of branches
    "y (y - x)": (lambda x, y: (y * (y - x), -y, 2 * y - x), "crossing", 0, 2),
    "y (y - x) (y + x)": (lambda x, y: (y**3 - y * x * x, -2 * x * y, 3 * y * y - x * x), "crossing", 0, 3),
    "y^2 - x^4": (lambda x, y: (y * y - x**4, -4 * x**3, 2 * y), "tangency", 1, 2),
    "y (y - x^2)": (lambda x, y: (y * y - y * x * x, -2 * x * y, 2 * y - x * x), "tangency", 1, 2),
    "y^2 - x^6": (lambda x, y: (y * y - x**6, -6 * x**5, 2 * y), "tangency", 2, 2),
    "y^2 - x^3": (lambda x, y: (y * y - x**3, -3 * x * x, 2 * y), "cusp", 0, 1),
    "x^2 + y^2": (lambda x, y: (x * x + y * y, 2 * x, 2 * y), "isolated", 0, 0),
    "y^2 + x^4": (lambda x, y: (y * y + x**4, 4 * x**3, 2 * y), "isolated", 0, 0),
    "y": (lambda x, y: (y, 0.0, 1.0), "regular", 0, 0),
    "x (y^2 - x^4)": (
        lambda x, y: (x * y * y - x**5, y * y - 5 * x**4, 2 * x * y), "several", 1, 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CURVES)
def test_plane_curves(name):
    curve, kind, order, count = CURVES[name]
    point = look(plane(curve))
    if kind == "cusp":
        assert point.kind == "cusp"
        assert [b.whole for b in point.branches] == [False, False]
        return
    assert (point.kind, point.order, len(point.branches)) == (kind, order, count)


def test_a_row_given_twice_is_redundant_not_singular():
    point = look(plane(lambda x, y: (y, 0.0, 1.0), lambda x, y: (2 * y, 0.0, 2.0)))
    assert (point.kind, point.dimension, point.reduction.rank) == ("redundant", 1, 1)


def test_points_of_branches_lie_on_the_curve_and_on_the_tangent_they_belong_to():
    point = look(plane(CURVES["y^2 - x^4"][0]))
    for branch in point.branches:
        x, y = branch.places.T
        np.testing.assert_allclose(np.abs(y), x**2, atol=1e-13)
        assert len(set(np.sign(y))) == 1
        np.testing.assert_allclose(branch.tangent, [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(sorted(b.second[1] for b in point.branches), [-2.0, 2.0], atol=1e-9)


@pytest.mark.parametrize("b", [3.0, 2.3, 2.01])
def test_slopes_of_the_pendulum(b):
    point = look(system_of(b))
    slopes = sorted(branch.tangent[1] / branch.tangent[0] for branch in point.branches)
    exact = Ellipse(2.0, 1.0, 4.0, b).branch_slope
    np.testing.assert_allclose(slopes, [-exact, exact], rtol=1e-12)
    assert point.kind == "crossing"


def test_tangency_and_isolated_point_of_the_pendulum():
    point = look(system_of(2.0))
    assert (point.kind, point.order) == ("tangency", 1)
    bends = sorted(branch.second[1] for branch in point.branches)
    np.testing.assert_allclose(bends, [-2 * math.sqrt(3 / 32), 2 * math.sqrt(3 / 32)], atol=1e-5)
    assert look(system_of(1.9)).kind == "isolated"


def criterion(l1, l2, a, b, stretched):
    """d(u) has its least value d0 at u = 0 where curvature < 1/d0; the rods allow d >= l1 - l2 and d <= l1 + l2."""
    d0 = l1 + l2 if stretched else l1 - l2
    wide = a / b**2 < 1.0 / d0
    return "crossing" if wide != stretched else "isolated"


@settings(max_examples=12, deadline=None)
@given(
    l1=st.floats(1.5, 3.0), l2=st.floats(0.5, 1.0), a=st.floats(3.0, 5.0), b=st.floats(1.2, 4.0), far=st.booleans()
)  # fmt: skip
def test_kind_of_any_pendulum(l1, l2, a, b, far):
    d0 = l1 + l2 if far else l1 - l2
    if abs(a / b**2 * d0 - 1.0) < 0.05 or d0 > 1.8 * a:
        return
    assert look(system_of(b, a=a, l1=l1, l2=l2, stretched=far)).kind == criterion(l1, l2, a, b, far)


def test_an_ellipse_that_is_a_circle_about_the_pivot_counts_twice():
    assert look(system_of(1.0, a=1.0)).kind == "double"


@pytest.mark.parametrize(("stretched", "a", "kind"), [(True, 4.0, "isolated"), (True, 2.0, "tangency")])
def test_equal_curvature_is_decided_by_the_fourth_derivative(stretched, a, kind):
    """b^2 = a d0: d^2 - d0^2 = 4 q^2 (a^2 - b^2) with a^2 - b^2 = a (a - d0)."""
    assert look(system_of(math.sqrt(3.0 * a), a=a, stretched=stretched)).kind == kind


def test_square_of_darboux():
    point = look(darboux.system_of(), darboux.place(0.0))
    N = point.reduction.N[:, 0]
    assert (point.kind, point.reduction.rank, point.reduction.freedom) == ("crossing", 8, 2)
    np.testing.assert_allclose(N / N[8], NULL, atol=1e-12)
    directions = sorted((b.tangent / b.tangent[9])[8] for b in point.branches)
    np.testing.assert_allclose(directions, [0.0, 2.0], atol=1e-12)


def test_closed_forms_of_darboux_satisfy_the_equations():
    space = ConfigurationSpace.of(darboux.system_of(), darboux.place(0.0))
    for h in np.linspace(-2.19, 2.19, 15):
        for bow in (False, True):
            assert np.abs(space.gaps(darboux.place(h, bow=bow))).max() < 1e-13
        assert np.abs(space.jacobian(darboux.place(h)) @ darboux.motion_of(h, 1.0)).max() < 1e-10


def test_determinant_of_darboux_vanishes_like_the_square():
    space = ConfigurationSpace.of(darboux.system_of(), darboux.place(0.0))

    def ratio(h):
        J = space.jacobian(darboux.place(h))
        return float(np.linalg.det(J @ J.T)) / h**2

    even = [0.5 * (ratio(h) + ratio(-h)) for h in (0.02, 0.01)]
    assert (4.0 * even[1] - even[0]) / 3.0 == pytest.approx(327680.0, rel=1e-6)


def flat(n):
    system, _ = four_bars(n)
    place = {f"v{k}": (k + 0.5, 0.0, 0.0) for k in range(n + 1)}
    place |= {f"h{k}": (k + 1.5, 0.0, 0.0) for k in range(n)}
    return look(system, system.state(place, {}).q)


@pytest.mark.parametrize("n", [1, 2])
def test_flattened_rhombi_fold_about_each_of_their_hinges(n):
    """Loop k turns as a whole about its first hinge while those before it lie still: N + 1 branches."""
    point = flat(n)
    turns = np.array([branch.tangent[2 : 3 * (n + 1) : 3] for branch in point.branches])
    found = {tuple(row) for row in (np.abs(turns) > 1e-6).astype(int).tolist()}
    assert found == {tuple(int(j >= k) for j in range(n + 1)) for k in range(n + 1)}
    assert point.reduction.freedom == n + 1


def test_a_point_off_the_constraints_is_refused_or_projected():
    system = system_of(2.3)
    q = [0.3, Ellipse(2.0, 1.0, 4.0, 2.3).angle(0.3) + 1e-3]
    with pytest.raises(InputError, match=r"rod: gap"):
        look(system, q)
    assert look(system, q, project=True).kind == "regular"


def test_a_tolerance_that_separates_nothing_names_the_singular_value():
    with pytest.raises(InputError, match=r"singular value 9 of J is"):
        look(darboux.system_of(), darboux.place(1e-7), rank_tol=1e-7)


def test_more_branches_than_allowed_are_refused():
    with pytest.raises(InputError, match=r"at least 3"):
        look(plane(CURVES["y (y - x) (y + x)"][0]), max_branches=2)


@pytest.mark.parametrize("bad", [{"radius": -1.0}, {"rank_tol": math.nan}, {"max_branches": 0}, {"max_branches": 1.5}])
def test_bad_options(bad):
    with pytest.raises(InputError):
        look(system_of(2.3), **bad)
