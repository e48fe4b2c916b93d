"""Contacts that leave the end of a flat piece or go on at its corner: when they do, from closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from random_scenes import mixed
from scipy.integrate import quad
from scipy.optimize import brentq

from gaussdyn import State
from gaussdyn.analysis.audit.audit import audit
from gaussdyn.contact.manifolds import Here, manifolds_at
from gaussdyn.contact.snapshot import Activation, rows_of
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.linalg.rotations import matrix_of
from gaussdyn.mechanics.collision.shapes import Box, Capsule, HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import box, disc
from gaussdyn.mechanics.planar.forces import Shaking
from gaussdyn.mechanics.planar.shapes import Polygon
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import ball, pill
from gaussdyn.mechanics.spatial.system import SpatialSystem

G = 9.81
END = 0.3  # of the table, m
TABLE = Polygon(points=((-1.0, -1.0), (END, -1.0), (END, 0.0), (-1.0, 0.0)), name="table")  # its top is edge e2


def on_table(body, x, y, v, *, mu, turn=0.0):
    system = PlanarSystem(bodies=[body], obstacles=[TABLE], contact=ContactLaw(mu=mu, eps_n=0.0))
    return system, system.state({body.name: (x, y, 0.0)}, {body.name: (*v, turn)})


def passed(system, state, t_end, **settings):
    """Return the run and its events as (kind, id, t), where run and audit are well."""
    run = simulate(system, state, t_end, stepper=EventDriven(**settings))
    assert run.status == "COMPLETED", run.stop
    checked = audit(run, system)
    assert checked.passed, checked.explain()
    return run, [(event.kind, event.id, event.t) for event in run.events]


def over(v, r, height=0.0):
    """Return angle and time at which a body that slides without friction leaves the corner it goes around."""
    end = math.acos(2.0 / 3.0 + v * v / (3.0 * G * r))
    return end, quad(lambda a: r / math.sqrt(v * v + 2.0 * G * r * (1.0 - math.cos(a))), 0.0, end, epsabs=1e-14)[0]


@pytest.mark.parametrize(("mu", "v", "x"), [(0.3, 2.0, 0.0), (0.5, 3.0, -0.2), (0.1, 1.5, 0.1)])
def test_a_disc_that_slides_off_a_table_leaves_its_edge_at_the_end(mu, v, x):
    r = 0.1
    system, state = on_table(disc("puck", mass=2.0, radius=r), x, r, (v, 0.0), mu=mu)
    t = (v - math.sqrt(v * v - 2.0 * mu * G * (END - x))) / (mu * G)
    speed = v - mu * G * t
    assert t < v / (3.0 * mu * G), "still slips"
    assert speed * speed > G * r, "too fast to follow the corner"
    run, events = passed(system, state, t + 0.1)
    ((kind, key, when),) = events
    assert (kind, key) == ("lift_off", "puck/table:e2")
    assert when == pytest.approx(t, rel=0, abs=1e-12)
    assert run.q[-1][:2] == pytest.approx([END + 0.1 * speed, r - 0.005 * G], rel=0, abs=1e-11)
    assert when in run.t


@pytest.mark.parametrize(("v", "x"), [(0.4, 0.1), (0.9, -0.5), (0.05, 0.2999)])
def test_a_disc_goes_from_the_edge_to_the_corner_and_leaves_that(v, x):
    r = 0.1
    system, state = on_table(disc("puck", mass=2.0, radius=r), x, r, (v, 0.0), mu=0.0)
    angle, longer = over(v, r)
    first = (END - x) / v
    run, events = passed(system, state, first + longer + 0.01)
    assert [event[:2] for event in events] == [
        ("handed_over", "puck/table:e2"), ("taken_over", "puck/table:c2"), ("lift_off", "puck/table:c2")
    ]  # fmt: skip
    assert events[0][2] == events[1][2] == pytest.approx(first, rel=0, abs=1e-12)
    assert events[2][2] == pytest.approx(first + longer, rel=0, abs=1e-10)
    at = run.q[int(np.argmin(np.abs(run.t - events[2][2])))]
    assert at[:2] == pytest.approx([END + r * math.sin(angle), r * math.cos(angle)], rel=0, abs=1e-10)


def test_a_disc_rolls_over_the_corner():
    r, v = 0.1, 0.3  # rolls: 3/2 v^2 = const on the table, about the corner 3/4 (r w)^2 + g r cos = const
    system, state = on_table(disc("wheel", mass=2.0, radius=r), 0.2, r, (v, 0.0), mu=5.0, turn=-v / r)
    first, angle = (END - 0.2) / v, 0.3
    longer = quad(lambda a: r / math.sqrt(v * v + 4.0 / 3.0 * G * r * (1.0 - math.cos(a))), 0.0, angle)[0]
    run, events = passed(system, state, first + longer)
    assert [event[:2] for event in events] == [("handed_over", "wheel/table:e2"), ("taken_over", "table:c2/wheel")]
    assert events[0][2] == pytest.approx(first, rel=0, abs=1e-12)
    assert run.q[-1][:2] == pytest.approx([END + r * math.sin(angle), r * math.cos(angle)], rel=0, abs=1e-10)
    assert run.q[-1][2] == pytest.approx(-0.1 / r - angle, rel=0, abs=1e-10)


@pytest.mark.parametrize("x", [-0.1, -0.05])
def test_a_disc_that_has_come_to_roll_rolls_over_the_joint_of_two_level_tables(x):
    """The corner that is met there curves away: it does not push, though it touches and nothing slides."""
    tables = [
        Polygon(points=((a, -1.0), (b, -1.0), (b, 0.0), (a, 0.0)), name=n) for a, b, n in ((-1, 0, "l"), (0, 1, "r"))
    ]
    system = PlanarSystem(
        bodies=[disc("puck", mass=2.0, radius=0.1)], obstacles=tables, contact=ContactLaw(mu=0.3, eps_n=0.0)
    )
    state = system.state({"puck": (x, 0.1, 0.0)}, {"puck": (1.0, 0.0, 0.0)})
    run, _ = passed(system, state, 0.3)
    slides = 1.0 / (3.0 * 0.3 * G)  # s, until it rolls at two thirds of its speed
    assert run.final.q[0] == pytest.approx(x + slides * 5.0 / 6.0 + (0.3 - slides) * 2.0 / 3.0, abs=1e-11)
    assert run.final.q[1] == pytest.approx(0.1, abs=1e-12)
    assert not {"impact", "slip"} & {event.kind for event in run.events}


def test_a_disc_climbs_from_a_corner_to_the_edge_and_back():
    r, a0 = 0.1, 0.2  # starts beside the corner, comes up without friction, is pulled back by a slope of the table
    v = math.sqrt(2.0 * G * r * (1.0 - math.cos(a0)) + 0.04)  # 0.2 m/s on the table
    system = PlanarSystem(bodies=[disc("puck", mass=2.0, radius=r)], obstacles=[TABLE])
    place = (END + r * math.sin(a0), r * math.cos(a0), 0.0)
    state = system.state({"puck": place}, {"puck": (-v * math.cos(a0), v * math.sin(a0), 0.0)})
    up = quad(lambda a: r / math.sqrt(v * v - 2.0 * G * r * (math.cos(a) - math.cos(a0))), 0.0, a0, epsabs=1e-14)[0]
    run, events = passed(system, state, up + 0.1)
    assert [event[:2] for event in events] == [("handed_over", "puck/table:c2"), ("taken_over", "puck/table:e2")]
    assert events[0][2] == pytest.approx(up, rel=0, abs=1e-11)
    assert run.q[-1][:2] == pytest.approx([END - 0.02, r], rel=0, abs=1e-11)


@pytest.mark.parametrize("mu", [0.0, 0.2])
def test_a_box_pushed_over_the_edge_stands_on_the_corner_of_the_table_then_tips(mu):
    w, h, v, x = 0.2, 0.1, 1.0, 0.05
    system, state = on_table(box("crate", mass=3.0, width=w, height=h), x, 0.5 * h, (v, 0.0), mu=mu)

    def when(way):
        return way / v if mu == 0.0 else (v - math.sqrt(v * v - 2.0 * mu * G * way)) / (mu * G)

    # friction mu N at the table turns the box: the load lies mu h/2 ahead of the middle
    first, tips = when(END - x - 0.5 * w), when(END - x - mu * 0.5 * h)
    _, events = passed(system, state, tips + 0.02)
    kinds = [event[:2] for event in events]
    assert kinds[:2] == [("handed_over", "crate:c1/table:e2"), ("taken_over", "table:c2/crate:e0")]
    assert kinds[2] == ("lift_off", "crate:c0/table:e2")
    assert events[0][2] == events[1][2] == pytest.approx(first, rel=0, abs=1e-12)
    assert events[2][2] == pytest.approx(tips, rel=0, abs=1e-10)


def test_a_box_on_two_corners_begins_to_slip_when_both_have_no_friction_left():
    mu, most, f = 0.5, 8.0, 0.5
    system = PlanarSystem(
        bodies=[box("crate", mass=3.0, width=0.6, height=0.1)], obstacles=[TABLE], contact=ContactLaw(mu=mu),
        forces=[Shaking(amplitude=most, frequency=f)],
    )  # fmt: skip
    _, events = passed(system, system.state({"crate": (-0.4, 0.05, 0.0)}), 0.3)
    assert [event[0] for event in events] == ["slip", "slip"]
    assert [event[2] for event in events] == pytest.approx(
        [math.asin(mu * G / most) / (2.0 * math.pi * f)] * 2, abs=1e-10
    )


def test_a_run_that_goes_on_from_a_saved_hand_over_is_the_same():
    system, state = on_table(disc("puck", mass=2.0, radius=0.1), 0.1, 0.1, (0.4, 0.0), mu=0.2)
    whole = simulate(system, state, 0.8, stepper=EventDriven())
    k = next(k for k, t in enumerate(whole.t) if any(e.t == t and e.kind == "taken_over" for e in whole.events))
    rest = simulate(system, whole.state(k), 0.8, stepper=EventDriven())
    np.testing.assert_allclose(rest.q[-1], whole.q[-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("off", [-1e-13, -2e-16, 0.0, 2e-16, 1e-11, 1e-9])
@pytest.mark.parametrize(("mu", "turn"), [(0.0, 0.0), (5.0, -4.0)])
def test_a_hand_over_is_told_the_same_where_a_step_ends_there(mu, turn, off):
    """Events were missing, or what took over was not found where the next step is too short to leave the end."""
    system, state = on_table(disc("puck", mass=2.0, radius=0.1), 0.1, 0.1, (0.4, 0.0), mu=mu, turn=turn)
    whole, events = passed(system, state, 0.6)
    cut, at = passed(system, state, 0.6, dt=events[0][2] + off)
    assert [event[:2] for event in at] == [event[:2] for event in events]
    assert [event[2] for event in at] == pytest.approx([event[2] for event in events], rel=0, abs=1e-12)
    np.testing.assert_allclose(cut.final.q, whole.final.q, rtol=0, atol=1e-11)


def test_a_run_that_is_resumed_at_a_hand_over_is_the_same(tmp_path):
    system = PlanarSystem(
        bodies=[box("a", mass=3.0, width=0.2, height=0.1)], obstacles=[TABLE], contact=ContactLaw(mu=0.2, eps_n=0.0)
    )
    state, path = system.state({"a": (0.05, 0.05, 0.0)}, {"a": (1.0, 0.0, 0.0)}), tmp_path / "run.h5"
    whole, events = passed(system, state, 0.3)
    simulate(system, state, events[0][2], stepper=EventDriven(), out=path)
    run = simulate(system, state, 0.3, stepper=EventDriven(), out=path, resume=True)
    assert audit(run, system).passed
    assert [(event.kind, event.id) for event in run.events[-2:]] == [event[:2] for event in events]
    np.testing.assert_allclose(run.final.q, whole.final.q, rtol=0, atol=1e-11)


@pytest.mark.parametrize("across", [0.0, 0.3])
def test_a_ball_goes_over_the_edge_of_a_box_in_space(across):
    r, v = 0.1, 0.5
    table = Box(half=(1.0, 1.0, 0.5), at=(END - 1.0, 0.0, -0.5), name="table")
    system = SpatialSystem(bodies=[ball("puck", mass=2.0, radius=r)], obstacles=[table])
    state = system.state({"puck": (0.1, 0.0, r)}, {"puck": (v, across, 0.0)})
    first, (angle, longer) = (END - 0.1) / v, over(v, r)
    run, events = passed(system, state, first + longer + 0.01)
    assert [event[0] for event in events] == ["handed_over", "taken_over", "lift_off"]
    assert ":f" in events[0][1]
    assert ":e" in events[1][1]
    assert events[0][2] == events[1][2] == pytest.approx(first, rel=0, abs=1e-12)
    assert events[2][2] == pytest.approx(first + longer, rel=0, abs=1e-10)
    at = run.q[int(np.argmin(np.abs(run.t - events[2][2])))]
    expected = [END + r * math.sin(angle), across * (first + longer), r * math.cos(angle)]
    assert at[:3] == pytest.approx(expected, rel=0, abs=1e-10)


@pytest.mark.parametrize("lean", [0.2, 0.7, 1.2])
def test_the_axis_over_the_rim_goes_with_the_tip_that_leaves_the_face(lean):
    r, half = 0.1, 0.4
    table = Box(half=(1.0, 1.0, 0.5), at=(END - 1.0, 0.0, -0.5), name="table")
    whole = SpatialSystem(bodies=[pill("stick", mass=2.0, radius=r, half_length=half)], obstacles=[table])
    turn, tip = 0.5 * (lean - 0.5 * math.pi), END + 1e-13
    place = (tip - half * math.cos(lean), 0.1, r + half * math.sin(lean), math.cos(turn), 0.0, math.sin(turn), 0.0)
    state = whole.state({"stick": place}, {"stick": (1.0, 0.0, 0.0)})
    here = whole.near(state.t, state.q, state.v, 0.01)
    rows = rows_of(here, state.t, state.q, state.v)
    assert {"stick:axis/table:r07", "stick:end0/table:f5"} <= {row.id for row in rows}, "both, within rounding"
    found = manifolds_at(whole, Here(state.t, state.q, state.v), 0.01, Activation(), {row.id for row in rows})
    assert [row.id for row in found.rows] == ["stick:end0/table:e07"]


def test_the_tip_of_a_capsule_goes_over_a_bar_and_its_side_goes_on():
    r, half, rho, m, a0, speed = 0.05, 0.5, 0.05, 2.0, 0.8, 6.0
    far, length, high = r + rho, 2.0 * half, 0.54  # the tip goes around the bar, the other end slides on the floor
    body = pill("ladder", mass=m, radius=r, half_length=half)
    about = body.inertia[1][1]
    across = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
    bar = Capsule(radius=rho, half_length=0.4, at=(0.0, 0.0, high), turn=across, name="bar")
    system = SpatialSystem(bodies=[body], obstacles=[HalfSpace(name="floor"), bar])

    def lean(a):
        return math.asin((high + far * math.sin(a) - r) / length)

    def rates(a):  # of the angle of the ladder and of its middle, per rad of a
        c = lean(a)
        turn = far * math.cos(a) / (length * math.cos(c))
        return turn, far * math.sin(a) + half * math.sin(c) * turn, half * math.cos(c) * turn

    def kinetic(a):  # over the square of a'
        turn, x, z = rates(a)
        return 0.5 * m * (x * x + z * z) + 0.5 * about * turn * turn

    def rate(a):
        fallen = half * (math.sin(lean(a0)) - math.sin(lean(a)))
        return math.sqrt((kinetic(a0) * speed * speed + m * G * fallen) / kinetic(a))

    over_it = brentq(lambda a: a + lean(a) - 0.5 * math.pi, a0, 1.5, xtol=1e-15)
    when = quad(lambda a: 1.0 / rate(a), a0, over_it, epsabs=1e-14)[0]
    c, (turn, x, z) = lean(a0), rates(a0)
    tilt = 0.5 * (0.5 * math.pi - c)
    place = (-far * math.cos(a0) - half * math.cos(c), 0.0, r + half * math.sin(c))
    state = system.state(
        {"ladder": (*place, math.cos(tilt), 0.0, math.sin(tilt), 0.0)},
        {"ladder": (x * speed, 0.0, z * speed, 0.0, -turn * speed, 0.0)},
    )  # fmt: skip
    _, events = passed(system, state, when + 0.005)
    assert [event[0] for event in events] == ["handed_over", "taken_over"]
    assert "ladder:end1" in events[0][1]
    assert "ladder:axis" in events[1][1]
    assert [event[2] for event in events] == pytest.approx([when, when], rel=0, abs=1e-11)


@pytest.mark.parametrize("push", [0.0, 3e-7])
def test_a_force_that_jumps_where_an_edge_ends_is_no_lift_off_of_its_own(push):
    """A capsule on the floor rolls off the end of an edge; the phase before would pull with kilonewtons beyond."""
    system, _ = mixed(3, 9812)
    q = (
        -0.09359765899454, -0.1501409710272, 0.05145612327443,
        -0.5410848475026, -0.5663066821889, 0.4234344597551, -0.4552221301774,
        -0.1249125659161, -0.03985442366754, 0.3055832808267,
        0.002910365376602, -0.3504544940488, 0.6086203986163, 0.7118668328855,
    )  # fmt: skip
    v = (
        0.387957194434 + push, -2.31620209347, 0.0, -20.31180065769, -4.741550036468, -72.52366425933,
        -0.428270895825, 0.04920318418447, 1.295273430712, 11.97870499816, 11.19395255475, -12.78187544228,
    )  # fmt: skip
    run = simulate(system, State(t=0.2612, q=q, v=v), 0.2614, stepper=EventDriven(), project=True)
    assert [(event.kind, event.id) for event in run.events[-2:]] == [
        ("lift_off", "b0:axis/b1:e00"), ("lift_off", "b0:end1/floor")
    ]  # fmt: skip
    k = run.t.tolist().index(run.events[-1].t)
    turn, half = matrix_of(run.q[k, 10:14]), system.bodies[1].shapes[0].half
    start, along = turn.T @ (run.q[k, :3] - run.q[k, 7:10]), turn.T @ matrix_of(run.q[k, 3:7])[:, 2]
    across = start[1:] + np.array([half[1], half[2]])
    nearest = start - (across @ along[1:]) / (along[1:] @ along[1:]) * along
    assert abs(nearest[0]) == pytest.approx(half[0], abs=1e-11)
    checked = audit(run, system)
    assert checked.passed, checked.explain()
