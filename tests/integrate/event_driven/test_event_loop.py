"""Segments are values: what flow and jump make of one leaves it as it was, and says the same each time."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from evidence import examples

from gaussdyn.integrate.event_driven.event_loop import begin, onward
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.event_driven.phase_integrator import Stuck
from gaussdyn.integrate.event_driven.rank_watch import Watch, nearly_dependent
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import box
from gaussdyn.mechanics.planar.shapes import Polygon
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import pill
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State
from gaussdyn.scenes.catalogue import build


def tossed():
    """Return a box that falls on the corner of a table and turns over it."""
    table = Polygon(points=((-1.0, -1.0), (0.3, -1.0), (0.3, 0.0), (-1.0, 0.0)), name="table")
    system = PlanarSystem(
        bodies=[box("crate", mass=2.0, width=0.4, height=0.2)], obstacles=[table], contact=ContactLaw(mu=0.4, eps_n=0.5)
    )  # fmt: skip
    return system, system.state({"crate": (0.25, 0.2, 0.3)}, {"crate": (0.5, -1.0, 1.0)})


def of_scene(name):
    scene = build(name)
    return scene.system, scene.state


def told(segment):
    """Return all numbers of a segment."""
    account = segment.account
    arrays = [segment.q, segment.v, *account.impulses.values(), *(trail.q for trail in account.trails)]
    return (
        segment.t, segment.pace, dict(segment.largest), dict(segment.offsets), dict(segment.passing), account.work,
        [(change.kind, change.id, change.t) for change in account.changes], [one.tobytes() for one in arrays],
    )  # fmt: skip


@pytest.mark.parametrize("given", [tossed, lambda: of_scene("zeno_ball"), lambda: of_scene("coulomb_oscillator")])
def test_what_a_segment_becomes_leaves_it_as_it_was(given):
    system, state = given()
    stepper = EventDriven()
    for _ in range(6):
        if state.t >= 3.0:
            break
        first = begin(stepper.segment(system, state, 3.0), 3.0)
        before = told(first)
        once, again = ([*onward(first, 3.0)] for _ in range(2))
        assert told(first) == before
        assert [told(one) for one in once] == [told(one) for one in again]
        assert all(one.t <= other.t for one, other in itertools.pairwise(once))
        assert once[-1].t > first.t
        state = once[-1].end_state(0.0)


def test_joints_are_watched_before_the_first_step():
    system, state = of_scene("four_bar")
    first = next(onward(begin(EventDriven().segment(system, state, 1.0), 1.0), 1.0))
    assert first.t == state.t
    assert first.watch.begun is not None
    assert nearly_dependent(replace(first, watch=Watch())) == nearly_dependent(first) == ""


def test_where_the_integrator_is_stuck_the_last_segment_is_how_far_it_came():
    def stuck(t, state):
        if state.q[1] < 0.3:
            raise Stuck("no further")
        return 1.0

    system, state = of_scene("zeno_ball")
    stepper, came = EventDriven(events={"stuck": stuck}, step=0.01), []
    with pytest.raises(Stuck, match="no further"):
        came.extend(onward(begin(stepper.segment(system, state, 3.0), 3.0), 3.0))
    assert 0.3 <= came[-1].q[1] < 0.3 + 0.011 * abs(came[-1].v[1])
    assert came[-1].account.trails[-1].t[-1] + came[-1].account.trails[-1].h[-1] == came[-1].t


def sliding_on_both_ends(u, t):
    """Return a capsule on a floor, one end of which slides while the other one, with a slip u (m/s), is stopped."""
    body = pill("pill", mass=14.56, radius=0.07, half_length=0.0827)
    system = SpatialSystem(
        bodies=[body], obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=1.5), gravity=(2.285, -0.393, -9.81)
    )
    lying = np.array([0.0, 0.0, 0.07, np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0])
    G = np.vstack([row.J for row in system.rows(t, lying, np.zeros(6))])
    slips = np.array([0.0, -4e-6, 0.027, 0.0, -4e-6, -u])
    return system, State(t=t, q=lying, v=np.linalg.lstsq(G, slips, rcond=None)[0])


@pytest.mark.drawn
def test_a_contact_that_ceases_to_push_while_a_slip_stops_opens_once():
    """Its force falls from a tenth of what it was to nothing between two times next to each other."""
    for seed in range(examples(60, fast=5)):
        slip = 10.0 ** np.random.default_rng(seed).uniform(-9.0, -6.5)
        system, state = sliding_on_both_ends(slip, t=10.0)
        run = simulate(system, state, state.t + 1e-6, stepper=EventDriven())
        assert run.status == "COMPLETED", (seed, run.stop)
        told = [(event.t, event.kind, event.id) for event in run.events]
        assert len(told) == len(set(told)) <= 20
        assert [kind for _, kind, _ in told].count("lift_off") >= 1
