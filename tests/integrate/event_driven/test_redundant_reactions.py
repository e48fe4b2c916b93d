"""Redundant reactions inside their cones: small cases that can be solved by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from tree_cases import five_bar_legs

from gaussdyn import audit
from gaussdyn.contact.snapshot import rows_of
from gaussdyn.integrate.contact_modes import Mode, parts_of
from gaussdyn.integrate.event_driven import redundant_reactions
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.event_driven.redundant_reactions import Cones, inside
from gaussdyn.integrate.event_driven.smooth_phase import Phase
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import ball, brick, pill
from gaussdyn.mechanics.spatial.forces import Load
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State


def on_a_floor(bodies, place, speed, loads, mu=0.5):
    forces = [Load(point=SpatialMarker(name), force_xyz=f) for name, f in loads.items()]
    system = SpatialSystem(
        bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=mu), forces=forces
    )  # fmt: skip
    return system, system.state(place, speed)


def test_dry_friction_carries_no_more_than_its_cap_beside_a_row_that_can_carry_the_rest():
    cones = Cones()
    cones.add(np.array([1.0, 0.0]))
    cones.add_disc(np.zeros(2), slice(1, 2), 1.0)
    r = inside(np.ones((1, 2)), np.array([3.0, 3.0]), lambda: cones)
    np.testing.assert_allclose(r, [6.0, 0.0], rtol=0, atol=1e-12)  # r_1 + r_2 = 6, least(r_1, 1 - |r_2|) largest
    assert cones.slack(r) == pytest.approx(1.0)


def test_what_no_share_can_help_moves_nothing():
    """Two feet that push against each other, and a third row beyond its cap."""
    cones = Cones()
    for k, cap in enumerate((5.0, 5.0, 1.0)):
        cones.add_disc(np.zeros(3), slice(k, k + 1), cap)
    r = inside(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([6.0, 0.0, 3.0]), lambda: cones)
    np.testing.assert_allclose(r, [3.0, 3.0, 3.0], rtol=0, atol=1e-12)


def test_bodies_that_share_nothing_are_shared_apart():
    """Two pairs of rows that carry 2 and 12 together: the caps of the second pair do not carry that."""
    cones = Cones()
    for k in range(4):
        cones.add_disc(np.zeros(4), slice(k, k + 1), 5.0)
    B = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    r = inside(B, np.array([7.0, -5.0, 12.0, 0.0]), lambda: cones)
    np.testing.assert_allclose(r, [1.0, 1.0, 6.0, 6.0], rtol=0, atol=1e-12)


def test_a_cap_in_two_directions_is_a_disc():
    cones = Cones()
    cones.add_disc(np.zeros(3), slice(0, 2), 2.0)
    cones.add(np.array([0.0, 0.0, 1.0]))
    load = np.array([np.cos(0.3), np.sin(0.3)])  # between the first tangent planes
    G = np.vstack((np.eye(2), load))  # the third row acts along the load
    r0 = np.array([*(5.0 * load), 0.0])
    r = inside(G.T, r0, lambda: cones)
    np.testing.assert_allclose(G.T @ r, G.T @ r0, rtol=0, atol=1e-12)
    assert cones.slack(r) == pytest.approx(2.0, abs=1e-9)  # all of it on the third row, or nearly


@pytest.mark.parametrize("left", [1e-2, 1e-6, 1e-9])
def test_the_friction_of_a_face_that_is_pulled_is_at_its_limit_in_all_corners_at_once(left):
    """By hand: where each corner lacks as much of its limit, mu N_i - T_i = (mu sum N - F) / 4."""
    mu, weight, high, angle = 0.5, 20.0, 0.2, 0.3  # the pull is higher than the face, between two tangent planes
    corners = [np.array([x, y, -high]) for x in (-0.1, 0.1) for y in (-0.15, 0.15)]
    G = np.array([np.r_[f, np.cross(corner, f)] for corner in corners for f in np.eye(3)[[2, 0, 1]]])
    pull = mu * weight * (1.0 - left)
    load = np.array([pull * np.cos(angle), pull * np.sin(angle), weight, 0.0, 0.0, 0.0])
    cones = Cones()
    for k, normal in enumerate(np.eye(12)[::3]):
        cones.add(normal)
        cones.add_disc(mu * normal, slice(3 * k + 1, 3 * k + 3))
    r0 = np.linalg.lstsq(G.T, load, rcond=1e-10)[0]
    assert cones.slack(r0) < -1.0
    r = inside(G.T, r0, lambda: cones)
    np.testing.assert_allclose(G.T @ r, load, rtol=0, atol=1e-12)
    assert cones.slack(r) == pytest.approx(0.25 * mu * weight * left, abs=1e-12)
    assert r[::3].min() > 0.0


def test_rolling_resistance_of_a_bar_acts_about_its_axis_only():
    """Two points of a floor keep it from tipping; they slide in different directions, so that nothing is shared."""
    law = ContactLaw(mu=0.3, mu_r=0.02)
    system = SpatialSystem(
        bodies=[pill("bar", mass=2.0, radius=0.05, half_length=0.3)], obstacles=[HalfSpace(name="floor")], contact=law
    )
    lies, a = np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0]), 0.4  # along x, then turned by a about z
    turn = np.array(
        [np.cos(a / 2) * lies[0], -np.sin(a / 2) * lies[2], np.cos(a / 2) * lies[2], np.sin(a / 2) * lies[0]]
    )
    state = system.state({"bar": (0.0, 0.0, 0.05, *turn)}, {"bar": (0.2, 0.7, 0.0, 0.0, 0.0, 3.0)})
    near = system.near(state.t, state.q, state.v, 0.0)
    rows = rows_of(near, state.t, state.q, state.v)
    modes = {row.id: Mode(closed=True, slip=tuple(row.rate[1:3] / np.linalg.norm(row.rate[1:3]))) for row in rows}
    phase = Phase(system=near, control=None, modes=modes, rows=rows)
    now = phase.instant(state.t, state.q, state.v)
    assert len(rows) == 2
    assert phase.redundant
    G = np.vstack([row.J[[0, 3, 4]] for row in now.rows])
    drift = np.concatenate([row.drift[[0, 3, 4]] for row in now.rows])
    np.testing.assert_allclose(G @ now.a + drift, 0.0, rtol=0, atol=1e-11)
    normals = np.vstack([row.J[0] for row in now.rows])
    for row, r in zip(now.rows, now.r, strict=True):
        free = row.J[3:5] - row.J[3:5] @ np.linalg.pinv(normals) @ normals
        tips = np.linalg.svd(free)[0][:, 1]  # what normal reactions hold
        assert np.linalg.norm(r[3:5]) > 1e-3
        assert abs(r[3:5] @ tips) < 1e-13


def test_shares_leave_the_friction_of_a_slip_that_has_turned_as_it_was():
    """A ball that is pulled sideways as it slides, beside a brick whose corners share its friction."""
    bodies = [ball("ball", mass=2.0, radius=0.1), brick("brick", mass=3.0, half=(0.1, 0.1, 0.2))]
    place, speed = {"ball": (0.0, 0.0, 0.1), "brick": (2.0, 0.0, 0.2)}, {"ball": (1.5, 0.0, 0.0, 0.0, 0.0, 0.0)}
    load, T = np.array((0.0, 12.0, 0.0)), 0.05
    system, state = on_a_floor(bodies, place, speed, {"ball": tuple(load), "brick": (12.0, 0.0, 0.0)}, mu=0.45)
    run = simulate(system, state, T, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    at = system.index("ball", "x")
    friction = 2.0 * (run.v[-1] - run.v[0])[at : at + 2] - T * load[:2]
    assert T * run.between("ball", "floor").force[-1][:2] == pytest.approx(friction, abs=1e-12)
    assert run.between("brick", "floor").force[-1] == pytest.approx((-12.0, 0.0, 3.0 * 9.81), abs=1e-9)


def test_corners_of_a_face_that_slide_in_different_directions_share_nothing():
    """The normals of four corners depend on one another, their forces do not: all of them come from the motion."""
    bodies, place = [brick("b", mass=2.0, half=(0.1, 0.1, 0.2))], {"b": (0.0, 0.0, 0.2)}
    system, state = on_a_floor(bodies, place, {"b": (0.5, 0.0, 0.0, 0.0, 0.0, 1.0)}, {"b": (0.0, 3.0, 0.0)})
    rows = rows_of(system.near(state.t, state.q, state.v, 0.0), state.t, state.q, state.v)
    slips = {row.id: row.rate[parts_of(row)[0]] for row in rows}
    modes = {key: Mode(closed=True, slip=tuple(u / np.linalg.norm(u))) for key, u in slips.items()}
    phase = Phase(system=system.near(state.t, state.q, state.v, 0.0), control=None, modes=modes, rows=rows)
    now = phase.sharing(phase.instant(state.t, state.q, state.v))
    assert len(rows) == 4
    assert phase.redundant
    assert phase.conditions(now).min() < 0.0, "one of them would pull"
    push = sum(row.J.T @ r for row, r in zip(now.rows, now.r, strict=True))
    np.testing.assert_allclose(now.M @ now.a, now.h + push, rtol=0, atol=1e-12)


def house(lean, mu, long=0.045, thick=0.0015, wide=0.03):
    """Return a house of cards of two storeys: two frames of leaning cards, a card on their ridges, a frame on that."""
    x, z = long * np.sin(lean) + thick * np.cos(lean), long * np.cos(lean) + thick * np.sin(lean)
    half, turn, places = (thick, wide, long), np.array([np.cos(lean / 2), 0.0, np.sin(lean / 2), 0.0]), {}
    for k, (across, up) in enumerate([(-2.0 * x, 0.0), (2.0 * x, 0.0), (0.0, 2.0 * (z + thick))]):
        places[f"l{k}"] = (across - x, 0.0, up + z, *turn)
        places[f"r{k}"] = (across + x, 0.0, up + z, *(turn * [1, 1, -1, 1]))
    cards = [brick(name, mass=0.002, half=half) for name in places]
    cards.append(brick("flat", mass=0.002, half=(2.0 * x, wide, thick)))
    system = SpatialSystem(bodies=cards, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=mu))
    return system, system.state({**places, "flat": (0.0, 0.0, 2.0 * z + thick)})


def test_a_house_of_cards_stands_and_shares_are_asked_for_a_few_times(monkeypatch):
    """Reactions well inside their cones were elsewhere at every look: each stretch was halved to the end."""
    asked = []
    monkeypatch.setattr(redundant_reactions, "linprog", lambda *a, **k: asked.append(None) or linprog(*a, **k))
    system, state = house(0.3, 0.5)
    run = simulate(system, state, 0.05, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert np.abs(run.q[-1] - state.q).max() < 1e-12
    assert 0 < len(asked) < 200
    assert audit(run, system).passed


def test_loops_in_a_plane_have_reactions_across_it_of_nothing():
    """These rows of their pins are of rounding: a trunk on legs of five bars stopped at .01 s as a dynamic jam."""
    system = five_bar_legs()
    q = np.zeros(system.nq)
    q[2], q[3] = 0.45, 1.0
    start = State(t=0.0, q=q, v=0.3 * np.eye(system.nv)[4])
    run = simulate(system, start, 0.03, stepper=EventDriven())
    halves = [simulate(system, start, 0.03, stepper=MoreauJean(dt=dt), save=1000) for dt in (1e-3, 5e-4)]
    assert run.status == "COMPLETED"
    assert audit(run, system).passed
    assert np.abs(run["pin0:y.r"]).max() < 1e-12 * np.abs(run["pin0:z.r"]).max()
    extrapolated = (4.0 * halves[1].final.v - halves[0].final.v) / 3.0
    np.testing.assert_allclose(run.final.v, extrapolated, rtol=0, atol=1e-6)
