"""Sharp edges of boxes and meshes that meet, and corners on edges: they touch; what leans on them stands or falls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence import first
from scipy.spatial.transform import Rotation

from gaussdyn import EventDriven, PlanarSystem, SpatialSystem, audit, simulate
from gaussdyn.contact import manifolds_near
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, ConvexMesh, HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import box
from gaussdyn.mechanics.planar.contacts import HalfPlane
from gaussdyn.mechanics.spatial.bodies import brick, solid

SIGNS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=float)
LONG, THICK, WIDE = 0.1, 0.005, 0.05  # half sizes of a plank, m
G = 9.81
UP = np.array([0.0, 0.0, 1.0])


def quaternion(turn):
    return np.roll(turn.as_quat(), 1)


def body_of(shape, name, half):
    """Return a brick as a box or as a mesh."""
    if shape == "box":
        return brick(name, mass=1.0, half=half)
    return solid(name, ConvexMesh(vertices=SIGNS * half), density=1.0 / (8.0 * np.prod(half)))


def pair_of_bricks(seed, kind):
    """Return half sizes of two bricks, their turns, and the way between their centres with which they touch.

    The topmost edge of the first, along y, touches the lowest edge or corner of the other.
    """
    rng = np.random.default_rng(seed)
    halves, (a, b) = rng.uniform(0.01, 0.1, (2, 3)), rng.uniform(0.05, np.pi / 2 - 0.05, 2)
    lower, upper = Rotation.from_euler("y", a), Rotation.from_euler("y", b)
    if kind == "crossed":
        upper = Rotation.from_euler("z", rng.choice([1e-12, 1e-9, 0.1, 0.5, 1.5])) * upper
    if kind == "corner":
        upper = Rotation.random(random_state=seed)
    below, above = lower.apply(SIGNS * halves[0]), upper.apply(SIGNS * halves[1])
    top, low = below[below[:, 2] > below[:, 2].max() - 1e-12], above[above[:, 2] < above[:, 2].min() + 1e-10]
    return halves, (lower, upper), top.mean(axis=0) - low.mean(axis=0)


@pytest.mark.parametrize("shape", ["box", "mesh"])
@pytest.mark.parametrize("kind", ["parallel", "crossed", "corner"])
def test_edges_and_corners_that_touch_are_contacts_without_a_gap(kind, shape):
    for seed in range(40):
        halves, turns, way = pair_of_bricks(seed, kind)
        system = SpatialSystem(bodies=[body_of(shape, name, half) for name, half in zip("ab", halves, strict=True)])
        places = {name: (*(k * way), *quaternion(turn)) for k, (name, turn) in enumerate(zip("ab", turns, strict=True))}
        (pair,) = manifolds_near(system, system.state(places), reach=1e-6)
        assert abs(pair.distance) <= 1e-13, seed
        assert len(pair.points) >= 1, seed
        assert min(row.gap for row in pair.points) == pytest.approx(0.0, abs=1e-10), seed  # to a corner over a border


def largest_separation(halves, turns, x):
    """Return how far two bricks are apart along the best of all separating axes, m: the other at x from the first."""
    (Ra, Rb), best = turns, -np.inf
    crosses = [np.cross(a, b) for a in Ra.T for b in Rb.T]
    for n in (*Ra.T, *Rb.T, *(m / np.linalg.norm(m) for m in crosses if np.linalg.norm(m) > 1e-9)):
        best = max(best, abs(n @ x) - np.abs(n @ Ra) @ halves[0] - np.abs(n @ Rb) @ halves[1])
    return best


def nearly_parallel(seed, angle):
    """Return two bricks that touch where edges of theirs cross at an angle, in the midst of what they share."""
    rng = np.random.default_rng(seed)
    halves, (a, b) = rng.uniform(0.02, 0.1, (2, 3)), rng.uniform(0.2, np.pi / 2 - 0.2, 2)
    lower, lean = Rotation.from_euler("y", a), rng.uniform(-0.3, 0.3)
    yaw = Rotation.from_rotvec(angle * np.array([np.sin(lean), 0.0, np.cos(lean)]))
    upper = yaw * Rotation.from_euler("y", b)
    below, above = lower.apply(SIGNS * halves[0]), upper.apply(SIGNS * halves[1])
    top, low = below[np.argsort(below[:, 2])[-2:]].mean(axis=0), above[np.argsort(above[:, 2])[:2]].mean(axis=0)
    way = top - low + [0.0, rng.uniform(-0.3, 0.3) * halves[:, 1].min(), 0.0]
    turns, least, most = (lower.as_matrix(), upper.as_matrix()), -0.02, 0.02
    for _ in range(60):
        z = 0.5 * (least + most)
        inside = largest_separation(halves, turns, way + z * UP) < 0.0
        least, most = (z, most) if inside else (least, z)
    return halves, turns, way + most * UP


def touching(shape, halves, turns, x, reach):
    """Return gap, normal and point of every contact of two bricks, by its id."""
    shapes = [Box(half=tuple(h)) if shape == "box" else ConvexMesh(vertices=SIGNS * h) for h in halves]
    poses = {"a": (np.zeros(3), turns[0]), "b": (x, turns[1])}
    found = Shapes.of({"a": (shapes[0],), "b": (shapes[1],)}).find([np.zeros(3), x], list(turns), reach)
    assert len({f.id for f in found}) == len(found)
    return {f.id: f.geometry(*poses[f.bodies[0]], *poses[f.bodies[1]]) for f in found}


@pytest.mark.parametrize("shape", ["box", "mesh"])
def test_edges_that_cross_nearly_parallel_touch_without_a_gap_at_every_angle(shape):
    """The crossing is a contact, and both ends of what the edges share; none claims an overlap."""
    for seed, angle in enumerate(np.geomspace(1e-9, 0.2, 40)):
        halves, turns, x = nearly_parallel(seed, angle)
        found = touching(shape, halves, turns, x, 1e-3)
        assert -4e-9 <= min(gap for gap, *_ in found.values()) <= 1e-15, angle  # to a corner over a border
        if 1e-5 < angle < 5e-3:
            assert len(found) == 3, angle


@pytest.mark.parametrize("shape", ["box", "mesh"])
def test_the_crossing_of_nearly_parallel_edges_stays_at_a_thousandth(shape):
    """Boxes that are turned by less than 1e-3 rad in all have no edge axes; where others cross, nothing changes."""
    for seed in range(8):
        crossings = []
        for angle in (0.999999e-3, 1.000001e-3):
            halves, turns, x = nearly_parallel(seed, angle)
            found = sorted(touching(shape, halves, turns, x, 1e-3).values(), key=lambda contact: contact[0])
            assert len(found) == 3
            assert abs(found[0][0]) < 1e-15
            assert found[1][0] > 1e-7
            crossings.append(found[0][2])
        assert np.abs(crossings[0] - crossings[1]).max() < 1e-6


@pytest.mark.parametrize("shape", ["box", "mesh"])
@pytest.mark.parametrize(("seed", "angle"), first(3, [(3, 1e-4), (8, 9e-4), (6, 9e-4), (10, 9e-4), (14, 1e-4)]))
def test_the_crossing_runs_to_an_end_of_what_edges_share_without_an_overlap(seed, angle, shape):
    """An edge falls on a nearly parallel one; what it turns about runs along both by hundreds of m/s, to an end."""
    halves, turns, x = nearly_parallel(seed, angle)
    lower, upper = (quaternion(Rotation.from_matrix(turn)) for turn in turns)
    bodies, ridge = [body_of(shape, "plank", halves[1])], Box(half=tuple(halves[0]), turn=tuple(lower), name="ridge")
    system = SpatialSystem(bodies=bodies, obstacles=[ridge], contact=ContactLaw(mu=0.6))
    state = replace(system.state({"plank": (*x, *upper)}), v=np.array([0.0, 0.0, -0.3, 0.0, 0.0, 0.0]))
    run = simulate(system, state, 2e-3, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert min(system.distances(run.q[-1], reach=1e-2).values(), default=0.0) > -1e-9
    assert audit(run, system).passed


def place_of(lean):
    """Return x and z of the centre of a plank that stands on one corner and leans so that another is at x = 0, m."""
    return LONG * np.sin(lean) + THICK * np.cos(lean), LONG * np.cos(lean) + THICK * np.sin(lean)


def frame(lean, mu, shift=0.0, shape="box"):
    """Return two planks that lean against each other, edge on edge, one of them `shift` farther along the edge."""
    (x, z), planks = place_of(lean), [body_of(shape, name, (THICK, WIDE, LONG)) for name in ("left", "right")]
    system = SpatialSystem(bodies=planks, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=mu))
    turn = quaternion(Rotation.from_euler("y", lean))
    return system, system.state({"left": (-x, 0.0, z, *turn), "right": (x, shift, z, *turn * [1, 1, -1, 1])})


def friction_needed(lean):
    """Return the coefficient of friction with which the frame stands: forces at feet and ridge from equilibrium."""
    (x, z), n = place_of(lean), np.array([np.cos(lean), -np.sin(lean)])  # normal of the left plank at the ridge
    foot = np.array([-LONG * np.sin(lean) + THICK * np.cos(lean), -z])
    top = np.array([x, LONG * np.cos(lean) - THICK * np.sin(lean)])
    mirror, ways = np.array([-1.0, 1.0]), [(np.array([0.0, 1.0]), np.array([1.0, 0.0]))] * 2
    ways.append((n, np.array([-n[1], n[0]])))
    A, weight = np.zeros((6, 6)), np.array([0.0, G, 0.0] * 2)
    for k, pair in enumerate(ways):
        for m, way in enumerate(pair):
            arms = {0: [(0, foot, 1.0)], 1: [(1, foot * mirror, 1.0)], 2: [(0, top, -1.0), (1, top * mirror, 1.0)]}[k]
            for body, arm, sign in arms:
                A[3 * body : 3 * body + 2, 2 * k + m] = sign * way
                A[3 * body + 2, 2 * k + m] = sign * (arm[0] * way[1] - arm[1] * way[0])
    force = np.linalg.solve(A, weight).reshape(3, 2)
    assert (force[:, 0] > 0.0).all()
    return np.abs(force[:, 1] / force[:, 0]).max()


@pytest.mark.parametrize(("shape", "shift"), [("box", 0.0), ("box", 0.02), ("mesh", 0.02)])
@pytest.mark.parametrize("lean", first(2, [0.2, 0.4, 0.3, 0.6]))  # above pi / 8 tops face the other plank
def test_planks_that_lean_on_each_other_stand_where_friction_holds_them(lean, shape, shift):
    needed = friction_needed(lean)
    for share, stands in ((1.02, True), (0.98, False)):
        system, state = frame(lean, share * needed, shift, shape)
        run = simulate(system, state, 0.1, stepper=EventDriven())
        assert run.status == "COMPLETED", run.stop
        assert (np.abs(run.q[-1] - state.q).max() < 1e-12) == stands
        assert audit(run, system).passed


@pytest.mark.parametrize(("lean", "mu"), first(2, [(0.4, 0.05), (0.6, 0.15), (0.4, 0.3), (0.2, 0.05), (0.6, 0.05)]))
def test_planks_fall_in_space_as_in_the_plane(lean, mu):
    system, state = frame(lean, mu)
    run = simulate(system, state, 0.2, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    (x, z), planks = place_of(lean), [box(n, mass=1.0, width=2 * THICK, height=2 * LONG) for n in ("left", "right")]
    flat = PlanarSystem(bodies=planks, obstacles=[HalfPlane(name="floor")], contact=ContactLaw(mu=mu))
    plane = simulate(flat, flat.state({"left": (-x, z, -lean), "right": (x, z, lean)}), 0.2, stepper=EventDriven())
    assert np.abs(run.q[-1][[0, 2, 7, 9]] - plane.q[-1][[0, 1, 3, 4]]).max() < 1e-12
    assert np.abs(run.q[-1] - state.q).max() > 1e-2
