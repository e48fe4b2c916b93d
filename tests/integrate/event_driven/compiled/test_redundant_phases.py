"""Phases whose rows depend on one another, constraints on accelerations and rows of your own, in kernels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import examples, first
from plain_phases import without_kernels

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar import bodies as planar
from gaussdyn.mechanics.planar.joints import Hinge as PlanarHinge
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import SpatialBody, brick
from gaussdyn.mechanics.spatial.forces import Load
from gaussdyn.mechanics.spatial.joints import Hinge
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Acceleration, Position, UserSystem

CRANK, COUPLER, ROCKER, BASE = 0.4, 1.1, 0.8, 1.0  # m


def corners(angle):
    """Where the crank and the rocker of a four-bar end, m."""
    a = CRANK * np.array([math.cos(angle), math.sin(angle)])
    way = np.array([BASE, 0.0]) - a
    d = float(np.linalg.norm(way))
    along = (COUPLER**2 - ROCKER**2 + d * d) / (2.0 * d)
    return a, a + (along * way + math.sqrt(COUPLER**2 - along**2) * np.array([-way[1], way[0]])) / d


def four_bars(seed):
    """The same four-bar in space, where its hinges are redundant, and in the plane, with their states."""
    rng = np.random.default_rng(seed)
    a, b = corners(rng.uniform(0.5, 2.5))
    ends = {"crank": (np.zeros(2), a), "coupler": (a, b), "rocker": (np.array([BASE, 0.0]), b)}
    half = {name: 0.5 * float(np.linalg.norm(y - x)) for name, (x, y) in ends.items()}
    links = (("ground", "crank"), ("crank", "coupler"), ("coupler", "rocker"), ("ground", "rocker"))
    ways = {
        ("crank", 0): -1,
        ("crank", 1): 1,
        ("coupler", 1): -1,
        ("coupler", 2): 1,
        ("rocker", 2): 1,
        ("rocker", 3): -1,
    }
    m = dict(zip(ends, rng.uniform(0.5, 2.0, 3).tolist(), strict=True))
    fixed = {0: (0.0, 0.0), 3: (BASE, 0.0)}
    hinges, flat = [], []
    for k, pair in enumerate(links):
        space, plane = [], []
        for name in pair:
            x = ways.get((name, k), 0) * half.get(name, 0.0)
            ground = name == "ground"
            space.append(SpatialMarker(name, (*fixed[k], 0.0) if ground else (x, 0.0, 0.0)))
            plane.append(planar.fixed(*fixed[k], f"peg{k}") if ground else planar.Marker(name, (x, 0.0)))
        hinges.append(Hinge(name=f"h{k}", a=space[0], b=space[1]))
        flat.append(PlanarHinge(name=f"h{k}", a=plane[0], b=plane[1]))
    in_space = SpatialSystem(
        bodies=[SpatialBody(name=n, mass=m[n], inertia=(0.02, 0.03, 0.04)) for n in ends], joints=hinges,
        gravity=(0.0, -9.81, 0.0),
    )  # fmt: skip
    in_plane = PlanarSystem(
        bodies=[planar.PlanarBody(name=n, mass=m[n], inertia=0.04) for n in ends], joints=flat, gravity=(0.0, -9.81)
    )  # fmt: skip
    place, turned = {}, {}
    for name, (x, y) in ends.items():
        centre, angle = 0.5 * (x + y), math.atan2(*(y - x)[::-1])
        place[name] = (*centre, angle)
        turned[name] = (*centre, 0.0, math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))
    return in_space, in_space.state(turned), in_plane, in_plane.state(place)


@pytest.mark.parametrize("seed", range(examples(3, fast=1)))
def test_a_four_bar_in_space_moves_as_in_the_plane(seed):
    """Hinges close the loop in the plane already, so that three rows of 20 depend on others."""
    space, at, plane, beside = four_bars(seed)
    run, flat = (simulate(*given, 0.4, stepper=EventDriven()) for given in ((space, at), (plane, beside)))
    assert run.status == flat.status == "COMPLETED", run.stop
    np.testing.assert_allclose(run.q[-1].reshape(3, 7)[:, :2], flat.q[-1].reshape(3, 3)[:, :2], rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.v[-1].reshape(3, 6)[:, 5], flat.v[-1].reshape(3, 3)[:, 2], rtol=0, atol=1e-9)


def pulled_brick(seed):
    """A brick on its four corners that slides and comes to rest, pulled along its way, and where; another one rests."""
    rng = np.random.default_rng(seed)
    mu, m, f, speed, angle, half = rng.uniform([0.3, 0.5, 0.1, 0.3, 0.0, 0.1], [0.6, 3.0, 0.4, 0.7, 6.0, 1.0])
    bodies = [brick("a", mass=m, half=(0.3, 0.2, 0.1)), brick("b", mass=1.0, half=(0.1, 0.1, 0.1))]
    way = np.array([math.cos(angle), math.sin(angle), 0.0])
    system = SpatialSystem(
        bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=mu),
        forces=[Load(point=SpatialMarker("a"), force_xyz=tuple((f * way).tolist()))],
    )  # fmt: skip
    place = {"a": (0.0, 0.0, 0.1, math.cos(half), 0.0, 0.0, math.sin(half)), "b": (3.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0)}
    state = system.state(place, {"a": (*(speed * way), 0.0, 0.0, 0.0)})
    return system, state, 0.4, 0.5 * speed**2 / (mu * 9.81 - f / m) * way


def inputs(seed):
    """Coordinates with constraints on accelerations, one of them a contact, that may hold or not, N and m."""
    rng = np.random.default_rng(seed)
    held = Acceleration(lambda t, q, v: [1.0, 0.5 * q[1], 0.0], lambda t, q, v: 0.2 * math.sin(3.0 * t) - v[0] * v[1])
    stop = Position(lambda t, q: q[2] + 0.5, eps_n=0.4)
    force = lambda t, q, v, u: [-q[0], 0.3 * math.cos(t) - q[1], -9.81]  # noqa: E731
    system = UserSystem(3, np.diag([1.0, 2.0, 0.5]), force, [held, stop])
    return system, State(q=rng.normal(size=3) * 0.3, v=rng.normal(size=3)), 0.8


class Own(UserSystem):
    """Rows whose friction depends on the state."""

    def rows(self, t, q, v):
        return tuple(row.but(mu=0.3 + 0.1 * math.sin(q[0]), mu_s=0.5) for row in super().rows(t, q, v))


def own_rows(seed):
    """A point that bounces on a slope, slides and sticks."""
    slope = Position(lambda t, q: 0.1 * q[0] + q[1], mu=0.3, eps_n=0.4)
    system = Own(2, np.eye(2), [0.0, -9.81], [slope])
    return system, State(q=[0.0, 0.05], v=[0.3 + 0.1 * seed, 0.0]), 0.6


@pytest.mark.parametrize("seed", first(1, range(examples(4, fast=2))))
@pytest.mark.parametrize("made", [lambda seed: (*four_bars(seed)[:2], 0.2), pulled_brick, inputs, own_rows],
                         ids=["four-bar", "brick", "accelerations", "own rows"])  # fmt: skip
def test_runs_with_kernels_are_those_without_them(made, seed, monkeypatch):
    system, state, t_end, *end = made(seed)
    fast = simulate(system, state, t_end, stepper=EventDriven())
    checked = audit(fast, system)
    without_kernels(monkeypatch)
    slow = simulate(system, state, t_end, stepper=EventDriven())
    assert fast.status == slow.status == "COMPLETED", fast.stop
    assert checked.passed, checked.explain()
    assert [(e.kind, e.id) for e in fast.events] == [(e.kind, e.id) for e in slow.events]
    np.testing.assert_allclose([e.t for e in fast.events], [e.t for e in slow.events], rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast.q[-1], slow.q[-1], rtol=0, atol=1e-10)
    for x in end:
        np.testing.assert_allclose(fast.q[-1][:3], x + state.q[:3], rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast.v[-1], slow.v[-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(fast["work_reactions"][-1], slow["work_reactions"][-1], rtol=0, atol=1e-9)


def test_steps_of_a_given_length_are_so_long():
    """A pendulum of redundant hinges; the error falls as h^8."""
    space, at, _, _ = four_bars(1)
    best, errors = simulate(space, at, 0.3, stepper=EventDriven()), []
    for n in (1, 2):
        run = simulate(space, at, 0.3, stepper=EventDriven(step=0.3 / n))
        steps = [arc.h for one in run.evidence.values() for arc in one.arcs]
        np.testing.assert_allclose(steps, 0.3 / n, rtol=1e-9)
        errors.append(float(np.abs(run.q[-1] - best.q[-1]).max()))
    assert errors[1] < errors[0] / 2**7
