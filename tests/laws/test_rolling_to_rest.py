"""Rolling and spin that resistance stops in space: what is recorded obeys the laws up to the very end."""

from __future__ import annotations

import numpy as np
from evidence import examples
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.joints.limits_motors import Motor
from gaussdyn.mechanics.spatial.bodies import SpatialBody
from gaussdyn.mechanics.spatial.forces import Load
from gaussdyn.mechanics.spatial.joints import Hinge
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem

RADIUS = 0.1


def rolling(seed):
    """A ball of unequal inertia that rolls or spins on a floor, which may turn, under a load."""
    rng = np.random.default_rng(seed)
    resists = "mu_t" if rng.random() < 0.25 else "mu_r"
    law = ContactLaw(mu=0.9, **{resists: rng.uniform(0.01, 0.03)})
    body = SpatialBody(name="b", mass=1.0, inertia=rng.uniform(0.004, 0.006, 3), shapes=(Sphere(radius=RADIUS),))
    load = Load(point=SpatialMarker("b", (0.02, 0.0, 0.01)), force_xyz=tuple(rng.normal(size=3) * 0.2))
    w = rng.normal(size=3) * 2.0
    turn = rng.normal(size=4)
    place = {"b": (*rng.uniform(-0.1, 0.1, 2), RADIUS, *(turn / np.linalg.norm(turn)))}
    speed = {"b": (RADIUS * w[1], -RADIUS * w[0], 0.0, *w)}
    bodies, floor, joints = [body], HalfSpace(name="floor"), []
    if rng.random() < 0.5:
        rate = rng.normal() * 2.0
        bodies.append(SpatialBody(name="table", mass=50.0, inertia=(5.0, 5.0, 10.0)))
        place["table"], speed["table"] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), (0.0,) * 5 + (rate,)
        axle = Hinge(name="axle", a=SpatialMarker("table"), b=SpatialMarker("ground", name="peg"))
        floor, joints = HalfSpace(name="floor", body="table"), [axle, Motor(joint="axle", rate=rate)]
    system = SpatialSystem(bodies=bodies, obstacles=[floor], joints=joints, contact=law, forces=[load])
    return system, system.state(place, speed)


def holds(system, run):
    """A run completes, and what it recorded obeys every law."""
    assert run.status == "COMPLETED", run.stop
    checked = audit(run, system)
    assert checked.passed, checked.explain()


@settings(max_examples=examples(8, fast=1), deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate))
@given(seed=st.integers(0, 10**6), before=st.floats(-10.5, -8.0))
def test_laws_hold_however_shortly_before_a_rolling_stops_a_step_begins(seed, before):
    """Within that step all of the rolling is slower than what counts as closed, and slows down."""
    system, state = rolling(seed)
    run = simulate(system, state, 2.0, stepper=EventDriven())
    holds(system, run)
    stops = [event.t for event in run.events if event.kind == "stop_roll"]
    assume(stops)
    first = simulate(system, state, stops[0] - 10.0**before, stepper=EventDriven())
    holds(system, first)
    holds(system, simulate(system, first.final, stops[0] + 0.01, stepper=EventDriven()))
