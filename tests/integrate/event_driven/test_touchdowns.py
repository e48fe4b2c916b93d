"""No touchdown is missed between two events: free flights of fast bodies, with shapes laid over one another by hand."""

from __future__ import annotations

import numpy as np
import pytest
from random_scenes import falling

from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import box, disc
from gaussdyn.mechanics.planar.contacts import HalfPlane
from gaussdyn.mechanics.planar.shapes import Polygon
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import ball, brick
from gaussdyn.mechanics.spatial.system import SpatialSystem

G, GRID, FLIGHTS = 9.81, 150, 6


def corners(body, pose):
    """Corners in space of a body's core, and the skin around it."""
    shape = body.shapes[0]
    if not isinstance(shape, Polygon):
        return pose[None, :2], shape.radius
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array(shape.points) @ np.array([[c, s], [-s, c]]) + pose[:2], 0.0


def between_segments(points, ends):
    """Least distance of points from the sides of a polygon (or from a point)."""
    a, along = ends, np.roll(ends, -1, axis=0) - ends
    d, length = points[:, None] - a, np.maximum((along**2).sum(axis=1), 1e-300)
    share = np.clip((d * along).sum(axis=2) / length, 0.0, 1.0)
    return float(np.linalg.norm(d - share[..., None] * along, axis=2).min())


def depth(points, ends):
    """Largest separation along the normals of a polygon: negative where shapes overlap."""
    along = np.roll(ends, -1, axis=0) - ends
    normals = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.hypot(*along.T)[:, None]
    return float(((points[:, None] - ends) * normals).sum(axis=2).min(axis=0).max())


def distance(one, other):
    """Distance of two shapes, negative where they overlap."""
    (a, ra), (b, rb) = one, other
    apart = max([depth(x, y) for x, y in ((a, b), (b, a)) if len(y) > 1], default=1.0)
    if apart > 0.0:
        apart = min(between_segments(a, b), between_segments(b, a))
    return apart - ra - rb


def least(system, q):
    """The least distance among bodies and from the floor."""
    shapes = [corners(body, q[3 * k : 3 * k + 3]) for k, body in enumerate(system.bodies)]
    found = [float(at[:, 1].min()) - skin for at, skin in shapes]
    return min([*found, *(distance(a, b) for k, a in enumerate(shapes) for b in shapes[:k])])


def check_flights(seed, count=2):
    """Between events bodies fly on parabolas: they do not overlap there, and touch where the flight ends."""
    system, state = falling(2, seed, mu=0.9, eps_n=1.0, eps_t=0.5, count=count)
    stepper, flights = EventDriven(), 0
    fall = -0.5 * G * np.tile([0.0, 1.0, 0.0], count)
    for _ in range(FLIGHTS):
        step = stepper.advance(system, state, 2.0)
        assert step.solution.solved
        t = step.state.t - state.t
        end = state.q + t * state.v + t * t * fall
        if step.state.t >= 2.0:
            break
        if step.changes and np.allclose(step.changes[0].before.q, end, rtol=0.0, atol=1e-10):
            flights += 1
            nearest = [least(system, state.q + s * state.v + s * s * fall) for s in np.linspace(0.0, t, GRID)]
            assert min(nearest) >= -1e-9, (seed, state.t)
            assert abs(nearest[-1]) <= 1e-9, (seed, state.t)
        state = step.state
    return flights


@pytest.mark.parametrize("seed", [4, 27, 44, 45])  # corners that dip into the floor, bodies that pass through another
def test_fast_bodies_touch_where_they_meet(seed):
    assert check_flights(seed) > 1


@pytest.mark.slow
def test_no_touchdown_of_many_is_missed():
    assert sum(check_flights(seed) for seed in range(40)) > 130


def system_of(dim):
    """Return a ball, or a disc, on a floor."""
    contact = ContactLaw(eps_n=0.5)
    if dim == 2:
        return PlanarSystem(
            bodies=[disc("b", mass=1.0, radius=0.1)], obstacles=[HalfPlane(name="floor")], contact=contact
        )
    return SpatialSystem(bodies=[ball("b", mass=1.0, radius=0.1)], obstacles=[HalfSpace(name="floor")], contact=contact)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("step", [None, 1e-7])
@pytest.mark.parametrize("speed", [1e-6, 6e-6, 3e-5])
def test_a_flight_lower_than_what_counts_as_closed_ends_when_its_gap_does(speed, step, dim):
    """A ball that has rebounded rises by v^2 / 2 g, down to 5e-14 m, and is back after 2 v / g."""
    system, up = system_of(dim), dim - 1
    pose, velocity = (0.0,) * up + (0.1,), [0.0] * (3 * dim - 3)
    velocity[up] = speed
    state = system.state({"b": pose if dim == 3 else (*pose, 0.0)}, {"b": tuple(velocity)})
    end = EventDriven(step=step).advance(system, state, 2.9 * speed / G)
    assert [(change.kind, change.id) for change in end.changes] == [("impact", "b/floor")]
    rounding = 1e-16 / speed  # of the gap, as time
    assert end.state.t == pytest.approx(2.0 * speed / G, rel=0.0, abs=1e-12 + rounding)


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_heavy_bodies_that_fall_side_by_side_part_though_it_takes_little(mu):
    """A touch with a speed across opens by u^2 / d: 5e-9 of the weights would hold it."""
    r, u = 0.1, 1e-4
    bodies = [disc(name, mass=1000.0, radius=r) for name in "ab"]
    system = PlanarSystem(bodies=bodies, contact=ContactLaw(mu=mu))
    state = system.state({"a": (0.0, 0.0, 0.0), "b": (0.0, 2.0 * r, 0.0)}, {"b": (u, 0.0, 0.0)})
    run = simulate(system, state, 1.0, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    apart = run.q[-1][3:5] - run.q[-1][:2]
    assert np.hypot(*apart) == pytest.approx(np.hypot(2.0 * r, u), rel=0, abs=1e-14)


@pytest.mark.parametrize("dim", [2, 3])
def test_what_has_just_rebounded_flies_on_while_the_slip_below_it_stops(dim):
    """A ball 1.5e-11 m above a box, at 1e-5 m/s, as the box stops on the floor: it is near, but on its way up."""
    mu, e, u, later = 0.5, 0.5, 4e-5, 1e-6
    stops = 2.0 * u / G + later
    slides = mu * (G * stops + (1.0 + e) * u)
    laws = {("box", "floor"): ContactLaw(mu=mu), ("ball", "box"): ContactLaw(eps_n=e), ("ball", "floor"): None}
    if dim == 2:
        bodies = [box("box", mass=1.0, width=0.2, height=0.2), disc("ball", mass=1.0, radius=0.1)]
        system = PlanarSystem(bodies=bodies, obstacles=[HalfPlane(name="floor")], pairs=laws)
        poses = {"box": (0.0, 0.1, 0.0), "ball": (0.0, 0.3, 0.0)}
        speeds = {"box": (slides, 0.0, 0.0), "ball": (0.0, u, 0.0)}
    else:
        bodies = [brick("box", mass=1.0, half=(0.1, 0.1, 0.1)), ball("ball", mass=1.0, radius=0.1)]
        system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], pairs=laws)
        poses = {"box": (0.0, 0.0, 0.1), "ball": (0.0, 0.0, 0.3)}
        speeds = {"box": (slides, 0.0, 0.0, 0.0, 0.0, 0.0), "ball": (0.0, 0.0, u, 0.0, 0.0, 0.0)}
    run = simulate(system, system.state(poses, speeds), stops + later, stepper=EventDriven(step=1e-7))
    assert run.status == "COMPLETED", run.stop
    assert {event.kind for event in run.events} == {"impact", "stick"}
    up = run.v[-1][4] if dim == 2 else run.v[-1][8]
    assert up == pytest.approx(e * u - 2.0 * G * later, rel=0, abs=1e-14 * G / u)  # rounding of the gap, as time
