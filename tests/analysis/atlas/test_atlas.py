"""Atlas of the number of motions: borders in closed form, every cell as `outcome` says, refusals."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from evidence import first

from gaussdyn.analysis.atlas.atlas import Axis, atlas, letters
from gaussdyn.errors import InputError
from gaussdyn.scenes.catalogue import build

ROD = partial(build, "painleve_rod")
LOADED = partial(build, "ivanov_rod")


def axis(name, low, high, size=60, unit="1"):
    return Axis(name=name, unit=unit, low=low, high=high, size=size)


ANGLE = axis("angle", 0.1, 1.5, 80, "rad")


def test_angle_and_friction_against_the_closed_form():
    found = atlas(ROD, ANGLE, axis("mu", 0.0, 3.0))
    angle, mu = np.meshgrid(ANGLE.values, found.y.values)
    A = 1 + 3 * np.cos(angle) ** 2 - 3 * mu * np.sin(angle) * np.cos(angle)
    np.testing.assert_allclose(found.A, A, atol=1e-9)
    np.testing.assert_allclose(found.b, -9.81, atol=1e-9)
    np.testing.assert_array_equal(found.counts, np.where(A > 0, 1, 0))
    assert {region.modes for region in found.regions()} == {"", "L"}


def test_angle_and_angular_velocity_against_the_closed_form():
    found = atlas(ROD, ANGLE, axis("omega", -5.0, 5.0, unit="rad/s"))
    angle, omega = np.meshgrid(ANGLE.values, found.y.values)
    A, b = 1 + 3 * np.cos(angle) ** 2 - 4.2 * np.sin(angle) * np.cos(angle), omega**2 * np.sin(angle) - 9.81
    expected = np.where(A > 0, 1, np.where(b > 0, 2, 0))
    np.testing.assert_array_equal(found.counts, expected)
    assert {region.modes: region.count for region in found.regions()} == {"": 0, "D": 1, "L": 1, "DL": 2}
    assert sum(region.share for region in found.regions()) == pytest.approx(1.0)


def test_points_where_all_regions_meet():
    found = atlas(ROD, ANGLE, axis("omega", -5.0, 5.0, unit="rad/s"))
    points = found.codimension_two()
    expected = sorted(
        (angle, sign * math.sqrt(9.81 / math.sin(angle)))
        for angle in (math.atan((4.2 - math.sqrt(1.64)) / 2), math.atan((4.2 + math.sqrt(1.64)) / 2))
        for sign in (-1, 1)
    )
    np.testing.assert_allclose(points, expected, atol=1e-8)
    assert found.least_critical() is None


def test_least_critical_friction_of_the_uniform_rod():
    x, y = atlas(ROD, ANGLE, axis("mu", 0.0, 3.0)).least_critical()
    assert y == pytest.approx(4 / 3, abs=1e-12)
    assert x == pytest.approx(math.atan(2.0), abs=1e-6)


def test_uniform_rod_has_no_critical_friction_below_the_picture():
    assert atlas(ROD, ANGLE, axis("mu", 0.0, 1.2)).least_critical() is None


@pytest.mark.parametrize(
    ("make", "x", "y", "params"),
    first(3, [
        (ROD, ANGLE, axis("mu", 0.0, 3.0), {"omega": 3.4}),
        (LOADED, axis("force_x", -10, 10), axis("force_y", -10, 10), {"slip": 0.0, "bilateral": 1.0}),
        (partial(build, "painleve_klein"), axis("phi", 0.2, 1.3), axis("mu", 0.1, 5.0), {"force": -1.0}),
        (ROD, ANGLE, axis("omega", -5.0, 5.0), {"slip": 0.0, "mu": 2.0}),
        (LOADED, axis("force_x", -10, 10), axis("force_y", -10, 10), {"slip": 0.0}),
        (LOADED, axis("mu", 0.1, 4.0), axis("force_y", -5, 5), {"bilateral": 1.0}),
        (partial(build, "associated_slider"), axis("force", -2, 2), axis("mu_s", 0.5, 1.0), {}),
    ]),
)  # fmt: skip
def test_cells_are_as_outcome_says(make, x, y, params):
    found = atlas(make, x, y, params)
    assert found.check(40, seed=1) == ()


def test_a_wrong_cell_is_noticed():
    found = atlas(ROD, axis("angle", 0.1, 1.5, 6), axis("mu", 0.0, 3.0, 6))
    found.modes[2, 3] ^= 1
    differ = found.check(36)
    assert len(differ) == 1
    assert differ[0][2:] == ("DL", "L")


def test_three_motions_of_the_cusp():
    """Sector of three motions from rest: P1 < 0 and P2 / P1 above r2, by the formula of the theory."""
    found = atlas(LOADED, axis("force_x", -10, 10, 50), axis("force_y", -10, 10, 50), {"slip": 0.0})
    a, h, mu = 1.2, 1.6, 2.0
    P2, P1 = np.meshgrid(found.x.values, -found.y.values)
    r2 = (mu * (1 + h * h) - a * h) / (mu * a * h - (1 + a * a))
    np.testing.assert_array_equal(found.counts == 3, (P1 < 0) & (r2 < P2 / P1))


def test_axes_are_exchanged_where_only_the_other_one_is_a_polynomial():
    upright = atlas(ROD, axis("mu", 0.0, 3.0, 30), axis("angle", 0.1, 1.5, 40))
    lying = atlas(ROD, axis("angle", 0.1, 1.5, 40), axis("mu", 0.0, 3.0, 30))
    assert upright.modes.shape == (40, 30)
    np.testing.assert_array_equal(upright.modes, lying.modes.T)
    np.testing.assert_allclose(upright.A, lying.A.T)


def test_ties_are_decided_one_by_one():
    """Cells on the border force_y = 0, where b = 0."""
    found = atlas(LOADED, axis("force_x", -1, 1, 5), axis("force_y", -1.5, 1.5, 3), {"slip": 1.0})
    assert found.y.values[1] == 0.0
    assert (found.ties, found.undecided) == (5, 0)
    assert found.check(15) == ()


def test_letters_of_a_cell():
    assert (letters(0), letters(3), letters(8), letters(256)) == ("", "DL", "S", "m")


@pytest.mark.parametrize(
    ("make", "x", "y", "words"),
    [
        (ROD, axis("angle", 0.1, 1.5, 4), axis("angle", 0.1, 1.5, 4), "twice angle"),
        (ROD, axis("angle", 0.1, 1.5, 4), axis("slip", -1.0, 1.0, 4), "at least one along which"),
        (ROD, axis("angle", 0.1, 1.5, 4), axis("mass", 0.5, 1.0, 4), "at least one along which"),
        (partial(build, "table"), axis("mu", 0.1, 0.5, 4), axis("force", 1.0, 2.0, 4), "exactly one contact"),
        (partial(build, "zeno_ball"), axis("e", 0.1, 0.5, 4), axis("h", 1.0, 2.0, 4), "exactly one contact"),
    ],
)
def test_what_has_no_atlas_is_refused(make, x, y, words):
    with pytest.raises(InputError, match=words):
        atlas(make, x, y)


@pytest.mark.parametrize(("low", "high", "size"), [(1.0, 1.0, 4), (2.0, 1.0, 4), (0.0, 1.0, 1), (0.0, math.nan, 4)])
def test_bad_axes_are_refused(low, high, size):
    with pytest.raises(InputError):
        axis("mu", low, high, size)


@pytest.mark.slow
def test_a_million_cells():
    found = atlas(ROD, axis("angle", 0.1, 1.5, 1000), axis("mu", 0.0, 3.0, 1000))
    assert found.modes.shape == (1000, 1000)
    assert found.check(400, seed=3) == ()


def test_an_axis_that_begins_where_there_is_no_scene():
    """Gravity 0 is refused, the middles of the cells are not; A is that of mu alone."""
    found = atlas(ROD, axis("mu", 0.0, 3.0), Axis(name="gravity", unit="m/s^2", low=0.0, high=20.0, size=20))
    assert found.least_critical() is None
    assert found.codimension_two() == ()
