"""Corners of polygons that come upon each other: they touch, or pass on the side to which they go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence import first

from gaussdyn import EventDriven, audit, simulate
from gaussdyn.contact.pair_manifolds import manifolds_near
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import box
from gaussdyn.mechanics.planar.contacts import HalfPlane
from gaussdyn.mechanics.planar.shapes import Polygon
from gaussdyn.mechanics.planar.system import PlanarSystem

WIDE, HIGH, T = 0.1, 0.06, 0.1  # half sizes of a box, m; s
FLOOR = (HalfPlane(name="floor"),)
TILES = tuple(Polygon(points=((k - 1, -0.1), (k, -0.1), (k, 0.0), (k - 1, 0.0)), name=f"tile{k}") for k in range(2))


def corners(turn, wide, high):
    """Return the corners of a box about its centre, shape (4, 2)."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([(c * x - s * y, s * x + c * y) for x in (-wide, wide) for y in (-high, high)])


def slide(obstacles, turn, x, mu):
    """Let a tilted box slide with its lowest corner at x, m."""
    system = PlanarSystem(
        bodies=[box("b", mass=1.0, width=2 * WIDE, height=2 * HIGH)], obstacles=obstacles, contact=ContactLaw(mu=mu)
    )
    low = min(corners(turn, WIDE, HIGH).tolist(), key=lambda p: p[1])
    state = system.state({"b": (x - low[0], -low[1], turn)}, {"b": (1.0, 0.0, 0.0)})
    return system, simulate(system, state, T, stepper=EventDriven())


@pytest.mark.parametrize("seed", first(3, [0, 9, 5, *range(10, 20)]))
def test_a_tilted_box_slides_over_the_joint_of_two_tiles_as_over_one_floor(seed):
    rng = np.random.default_rng(seed)
    turn, x, mu = rng.uniform(0.05, 1.5), -rng.uniform(0.0, 0.03), (0.0, 0.3)[seed % 2]
    system, run = slide(TILES, turn, x, mu)
    _, smooth = slide(FLOOR, turn, x, mu)
    assert run.status == "COMPLETED", run.stop
    np.testing.assert_allclose(run.v[-1], smooth.v[-1], rtol=0, atol=1e-10)
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def cards(mu, lean, w=0.002, tall=0.1):
    """Return two cards that lean against each other, corner on corner."""
    at = corners(-lean, 0.5 * w, 0.5 * tall)
    x, y = at[:, 0].max(), -at[:, 1].min()
    bodies = [box(name, mass=0.002, width=w, height=tall) for name in ("left", "right")]
    system = PlanarSystem(bodies=bodies, obstacles=FLOOR, contact=ContactLaw(mu=mu))
    return system, system.state({"left": (-x, y, -lean), "right": (x, y, lean)})


@pytest.mark.parametrize("lean", [0.3, 0.4, 0.6])  # above pi / 8 tops face the other card
@pytest.mark.parametrize("shift", [0.0, -1e-12, 1e-12])
def test_cards_touch_at_their_ridge(lean, shift):
    system, state = cards(0.5, lean)
    state = replace(state, q=state.q + shift * np.eye(6)[0])
    (ridge,) = (one for one in manifolds_near(system, state, reach=1e-9) if one.pair == ("left", "right"))
    assert [abs(row.gap) <= 2e-12 for row in ridge.points] == [True]


def test_cards_stand_corner_on_corner_where_friction_holds_them():
    """On the ground their friction needs tan(lean) / 2, and at the ridge tan(lean)."""
    system, state = cards(0.5, 0.4)
    run = simulate(system, state, 1.0, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert np.abs(run.q[-1] - state.q).max() < 1e-12


@pytest.mark.parametrize("mu", [0.0, 0.1])
def test_cards_that_fall_from_corner_on_corner_do_not_pass_into_each_other(mu):
    system, state = cards(mu, 0.4)
    run = simulate(system, state, 0.2, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert run.statistics["max_penetration_m"] <= 1e-10
    checked = audit(run, system)
    assert checked.passed, checked.explain()


@pytest.mark.parametrize("turns", [(0.0, 0.0), (0.3, 0.3), (0.1, -0.2)])
def test_corners_that_fly_head_on_strike(turns):
    """Boxes in line passed into each other, 1e-7 m deep."""
    system = PlanarSystem(
        bodies=[box(name, mass=1.0, width=0.2, height=0.2) for name in "ab"], contact=ContactLaw(eps_n=1.0),
        gravity=(0.0, 0.0),
    )  # fmt: skip
    far, places = 1e-3, {}
    for name, turn, side in zip("ab", turns, (-1.0, 1.0), strict=True):
        x, y = max(corners(turn, 0.1, 0.1).tolist(), key=sum)
        places[name] = (side * (x + far), side * (y + far), turn)
    run = simulate(
        system, system.state(places, {"a": (1.0, 1.0, 0.0), "b": (-1.0, -1.0, 0.0)}), 0.01, stepper=EventDriven()
    )
    assert run.status == "COMPLETED", run.stop
    times = {event.t for event in run.events if event.kind == "impact"}
    assert sorted(times) == [pytest.approx(far, rel=0, abs=1e-12)]
    assert run.statistics["max_penetration_m"] <= 1e-10
    checked = audit(run, system)
    assert checked.passed, checked.explain()
