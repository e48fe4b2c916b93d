"""Support regions and force closure: closed forms and fine samplings by another program."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from gaussdyn import InputError, build, snapshot
from gaussdyn.analysis.forces import ContactPoint, bears, contact_points, force_closure, support_region
from gaussdyn.programs.conic.cone_slice import Verdict

UP = (0.0, 0.0, 1.0)


def feet(mu: float = 0.6) -> list[ContactPoint]:
    """Return the corners of two feet on level ground, as of a humanoid that stands."""
    corners = [(x, side * 0.1 + y) for side in (-1, 1) for x in (-0.1, 0.15) for y in (-0.04, 0.04)]
    return [ContactPoint(np.array([x, y, 0.0]), np.array(UP), mu) for x, y in corners]


def test_on_level_ground_it_is_the_hull_of_the_feet() -> None:
    region = support_region(feet(), directions=8)
    reach = dict(zip([tuple(np.round(d, 6)) for d in region.directions], region.reach, strict=True))
    assert reach[(1.0, 0.0)] == pytest.approx(0.15, abs=1e-9)
    assert reach[(-1.0, 0.0)] == pytest.approx(0.1, abs=1e-9)
    assert reach[(0.0, 1.0)] == pytest.approx(0.14, abs=1e-9)
    assert support_region(feet(0.0), directions=8).reach == pytest.approx(region.reach, abs=1e-9)


def uneven() -> list[ContactPoint]:
    """Return three feet on slopes of different directions and heights."""
    tilt = math.radians(40.0)
    normals = [(math.sin(tilt), 0.0, math.cos(tilt)), (-math.sin(tilt), 0.0, math.cos(tilt)), (0.0, 0.3, 1.0)]
    points = [(-0.5, 0.0, 0.3), (0.5, 0.1, 0.2), (0.0, 0.6, 0.0)]
    return [ContactPoint(np.array(p), np.array(n), 0.5) for p, n in zip(points, normals, strict=True)]


def test_on_uneven_ground_it_agrees_with_a_fine_sampling() -> None:
    """Pyramids with many edges inside and around the cones, another program: the reach lies between theirs."""
    contacts, edges = uneven(), 64
    region = support_region(contacts, directions=16)
    angle = 2.0 * np.pi * np.arange(edges) / edges
    for size, sign in ((1.0, 1.0), (1.0 / math.cos(math.pi / edges), -1.0)):
        columns = []
        for one in contacts:
            G = one.wrenches()
            columns += [G @ [1.0, 0.5 * size * math.cos(a), 0.5 * size * math.sin(a)] for a in angle]
        weight = np.array([0.0, 0.0, 9.81])
        arms = np.zeros((6, 2))
        arms[3:] = -np.array([np.cross(e, weight) for e in np.eye(3)[:2]]).T
        A = np.hstack([np.array(columns).T, arms])
        bounds = [(0, None)] * len(columns) + [(None, None)] * 2
        for d, reach in zip(region.directions, region.reach, strict=True):
            c = np.r_[np.zeros(len(columns)), -d]
            other = -linprog(c, A_eq=A, b_eq=[*weight, 0, 0, 0], bounds=bounds).fun
            assert sign * (reach - other) >= -1e-9
            assert abs(reach - other) < 5e-3
    inner, outer = region.area
    assert inner <= outer


def test_feet_too_steep_for_their_friction_bear_nothing() -> None:
    steep = [ContactPoint(np.zeros(3), np.array([1.0, 0.0, 0.1]), 0.2)]
    with pytest.raises(InputError, match="cannot bear the weight"):
        support_region(steep)


def test_who_accelerates_leans() -> None:
    """The wrench at height z with acceleration a acts where the line of a + g meets the ground: x moves by z a / g."""
    still, moving = (support_region(feet(), acceleration=(a, 0.0, 0.0), height=0.9, directions=4) for a in (0.0, 1.0))
    assert moving.reach[0] - still.reach[0] == pytest.approx(0.9 / 9.81, abs=1e-9)


def test_three_fingers_in_space_close_and_two_without_friction_do_not() -> None:
    ring = [np.array([math.cos(a), math.sin(a), 0.0]) for a in (0.0, 2.1, 4.2)]
    grasp = force_closure([ContactPoint(p, -p, 0.5) for p in ring])
    assert grasp.closed
    assert grasp.verify()
    G = np.hstack([ContactPoint(p, -p, 0.5).wrenches() for p in ring])
    assert np.abs(G @ grasp.squeeze).max() < 1e-9
    smooth = [ContactPoint(p, -p, 0.0) for p in ring]
    open_ = force_closure(smooth)
    assert not open_.closed
    assert open_.verify()
    assert (np.hstack([one.wrenches() for one in smooth]).T @ open_.escape >= -1e-9).all()


def test_two_opposite_fingers_close_but_for_the_turn_between_them() -> None:
    pinch = [ContactPoint(np.array([s, 0.0, 0.0]), np.array([-s, 0.0, 0.0]), 0.5) for s in (1.0, -1.0)]
    assert not force_closure(pinch).closed  # points give no moment about the line through them
    held = bears(pinch, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert held.verdicts[0] is Verdict.BOUNDED
    assert -held.value[0] == pytest.approx(2.0, abs=1e-9)  # normal forces of at least 1 / (2 mu) each
    turned = bears(pinch, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    assert turned.verdicts[0] is Verdict.EMPTY
    assert turned.verify()


def test_contacts_of_a_state_are_taken_as_they_are() -> None:
    dynamics = snapshot(build("four_legs"))
    legs = contact_points(dynamics, "leg")
    assert len(legs) == 4
    region = support_region(legs, directions=4)
    assert region.reach == pytest.approx(
        [0.7, 0.55, 0.9, 0.45], abs=1e-9
    )  # feet at +-0.8, +-0.5 beside the mass centre
    with pytest.raises(InputError, match="closed contact in space"):
        contact_points(dynamics, "arm")


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        support_region([])
    with pytest.raises(InputError, match="zeros"):
        ContactPoint(np.zeros(3), np.zeros(3), 0.1)
    with pytest.raises(InputError, match="mu"):
        ContactPoint(np.zeros(3), np.array(UP), -0.1)
    with pytest.raises(InputError, match="gravity"):
        support_region(feet(), gravity=0.0)
    with pytest.raises(InputError, match="wrench"):
        bears(feet(), [1.0])
