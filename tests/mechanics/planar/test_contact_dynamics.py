"""Shapes that push each other: weights, rolling and impacts from closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn.contact.resolve import reactions, resolve
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import PlanarBody, box, disc
from gaussdyn.mechanics.planar.contacts import HalfPlane
from gaussdyn.mechanics.planar.shapes import Disc, Polygon, Stadium
from gaussdyn.mechanics.planar.system import PlanarSystem

G = 9.81
FLOOR = HalfPlane(name="floor")


def _forces(system, state):
    """Return the acceleration and the reactions by id."""
    dynamics = snapshot(system, state)
    solution = resolve(dynamics).require()
    return solution.x, reactions(dynamics, solution)


def _run(system, state, steps, dt):
    stepper = MoreauJean(dt=dt)
    for _ in range(steps):
        step = stepper.advance(system, state, state.t + dt)
        assert step.solution.solved
        state = step.state
    return state, step


@pytest.mark.parametrize("heavy", [1.0, 1000.0])
@pytest.mark.parametrize("offset", [0.0, 0.2])
def test_stack_of_two_carries_its_weight(heavy, offset):
    """The centre of the upper box is half a width from the left end of the shared face, which is 1 - offset long."""
    bodies = [box("lower", mass=2.0, width=1.0, height=0.5), box("upper", mass=heavy, width=1.0, height=0.5)]
    system = PlanarSystem(bodies=bodies, obstacles=[FLOOR], contact=ContactLaw(mu=0.5))
    state = system.state({"lower": (0.0, 0.25, 0.0), "upper": (offset, 0.75, 0.0)})
    a, r = _forces(system, state)
    np.testing.assert_allclose(a, 0.0, atol=1e-13 * (2.0 + heavy) * G)  # E <= 1e-12 is asked for
    floor = [r[f"lower:c{k}/floor"][0] for k in (0, 1)]
    shift = offset * heavy / (2.0 + heavy)
    share = np.array([0.5 - shift, 0.5 + shift])
    np.testing.assert_allclose(floor, share * (2.0 + heavy) * G, rtol=1e-11)
    between = {id: value[0] for id, value in r.items() if "floor" not in id}
    assert len(between) == 2
    assert sum(between.values()) == pytest.approx(heavy * G, rel=1e-11)
    if offset:
        right = 0.5 / (1.0 - offset) * heavy * G
        assert between["lower:c2/upper:e0"] == pytest.approx(right, rel=1e-10)


@pytest.mark.parametrize("angle", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("peg", ["disc", "corner"])
def test_disc_rolls_off_a_disc(angle, peg):
    """From rest at the top, without slip: N = m g (7 cos p - 4) / 3, T = m g sin p / 3, until cos p = 4/7."""
    m, R, r = 2.0, (1.5 if peg == "disc" else 0.0), 0.5
    shape = Disc(radius=R, name="peg") if R else Polygon(points=[(0, 0), (-1e-3, -5), (1e-3, -5)], name="peg")
    system = PlanarSystem(bodies=[disc("ball", mass=m, radius=r)], obstacles=[shape], contact=ContactLaw(mu=50.0))
    rate = math.sqrt(4.0 * G * (1.0 - math.cos(angle)) / (3.0 * (R + r)))
    n = np.array([math.sin(angle), math.cos(angle)])
    t = np.array([n[1], -n[0]])
    v = (R + r) * rate
    state = system.state({"ball": (*((R + r) * n), 0.0)}, {"ball": (*(v * t), -v / r)})
    a, reaction = _forces(system, state)
    (id,) = reaction
    assert id == ("ball/peg" if R else "ball/peg:c0")
    N, T = m * G * (7.0 * math.cos(angle) - 4.0) / 3.0, -m * G * math.sin(angle) / 3.0
    np.testing.assert_allclose(reaction[id], [N, T], rtol=1e-9)
    assert a[2] == pytest.approx(-2.0 * G * math.sin(angle) / (3.0 * r), rel=1e-9)


def test_disc_leaves_a_smooth_disc_where_the_push_ends():
    """From rest at p0 without friction: it leaves at cos p = 2/3 cos p0."""
    R, r, start = 0.8, 0.2, 0.4
    system = PlanarSystem(bodies=[disc("ball", mass=1.0, radius=r)], obstacles=[Disc(radius=R, name="peg")])
    state = system.state({"ball": (math.sin(start), math.cos(start), 0.0)})
    stepper, left = MoreauJean(dt=4e-3), None
    while state.t < 1.0:
        state = stepper.advance(system, state, 1.0).state
        x, y, _ = state.q
        if not state.memory.get("ball/peg", np.zeros(1)).any() and left is None and state.t > 0.1:
            left = y / math.hypot(x, y)
    assert left == pytest.approx(2.0 / 3.0 * math.cos(start), abs=2e-2)


def test_cradle_of_discs_with_the_simultaneous_law():
    """Newton's law at all contacts at once, e = 1: (1, 0, 0) becomes (-1/3, 2/3, 2/3)."""
    bodies = [disc(name, mass=0.7, radius=0.5) for name in "abc"]
    system = PlanarSystem(bodies=bodies, contact=ContactLaw(eps_n=1.0), gravity=(0.0, 0.0))
    state = system.state({"b": (1.0, 0.0, 0.0), "c": (2.0, 0.0, 0.0)}, {"a": (3.0, 0.0, 0.0)})
    state, step = _run(system, state, 1, 1e-3)
    np.testing.assert_allclose(state.v[[0, 3, 6]], [-1.0, 2.0, 2.0], rtol=1e-12)
    assert sorted(step.reactions) == ["a/b", "b/c"]


def test_discs_that_meet_off_centre_exchange_the_normal_part():
    """Equal smooth discs, e = 1: the parts of the velocities along the line of centres change places."""
    bodies = [disc(name, mass=1.0, radius=0.5) for name in "ab"]
    system = PlanarSystem(bodies=bodies, contact=ContactLaw(eps_n=1.0), gravity=(0.0, 0.0))
    n = np.array([0.6, 0.8])
    state = system.state({"b": (*(n * 1.001), 0.0)}, {"a": (2.0, 0.0, 0.0)})
    state, _ = _run(system, state, 5, 2e-3)
    np.testing.assert_allclose(state.v[3:5], 2.0 * 0.6 * n, atol=5e-3)
    np.testing.assert_allclose(state.v[:2] + state.v[3:5], [2.0, 0.0], atol=1e-12)


def test_wall_stands():
    bodies = [box(f"b{i}{k}", mass=1.0, width=1.0, height=0.5) for i in range(3) for k in range(2)]
    system = PlanarSystem(bodies=bodies, obstacles=[FLOOR], contact=ContactLaw(mu=0.6))
    place = {f"b{i}{k}": (1.001 * k + 0.5 * (i % 2), 0.25 + 0.5 * i, 0.0) for i in range(3) for k in range(2)}
    start = system.state(place)
    state, step = _run(system, start, 5, 5e-3)
    np.testing.assert_allclose(state.v, 0.0, atol=1e-11)
    weight = sum(r[0] for id, r in step.reactions.items() if "floor" in id)
    assert weight == pytest.approx(6 * G * 5e-3, rel=1e-11)


def test_stadium_lies_on_pegs_and_on_its_round_ends():
    """Pegs at -0.5 and 0.25 carry 1/3 and 2/3 of the weight; on a floor both ends carry half of it."""
    bar = PlanarBody(name="bar", mass=3.0, inertia=1.0, shapes=(Stadium(a=(-1, 0), b=(1, 0), radius=0.2),))
    pegs = [Disc(radius=0.1, at=(x, 0.0), name=name) for x, name in ((-0.5, "left"), (0.25, "right"))]
    law = ContactLaw(mu=0.5)
    system = PlanarSystem(bodies=[bar], obstacles=pegs, contact=law)
    _, r = _forces(system, system.state({"bar": (0.0, 0.3, 0.0)}))
    np.testing.assert_allclose([r[f"{name}/bar:e0"][0] for name in ("left", "right")], [G, 2.0 * G], rtol=1e-12)
    system = PlanarSystem(bodies=[bar], obstacles=[FLOOR], contact=law)
    _, r = _forces(system, system.state({"bar": (0.0, 0.2, 0.0)}))
    np.testing.assert_allclose([r[f"bar:c{k}/floor"][0] for k in (0, 1)], 1.5 * G, rtol=1e-12)


def test_box_slides_to_rest_on_a_polygon():
    """On a fixed polygon with friction mu: it stops after v / (mu g), having slid v^2 / (2 mu g)."""
    ground = Polygon(points=[(-5, -1), (5, -1), (5, 0), (-5, 0)], name="table")
    system = PlanarSystem(
        bodies=[box("crate", mass=2.0, width=0.4, height=0.2)], obstacles=[ground], contact=ContactLaw(mu=0.5)
    )
    state = system.state({"crate": (0.0, 0.1, 0.0)}, {"crate": (1.0, 0.0, 0.0)})
    state, _ = _run(system, state, 30, 1e-2)
    np.testing.assert_allclose(state.v, 0.0, atol=1e-12)
    assert state.q[0] == pytest.approx(1.0 / G, abs=1e-2)
    assert state.q[1] == pytest.approx(0.1, abs=1e-12)


@pytest.mark.parametrize("sink", [0.0, 1e-9])
def test_box_slides_across_the_seam_of_two_blocks(sink):
    """No edge to stumble over: without friction the speed stays, whatever the depth of rounding and contact."""
    blocks = [
        Polygon(points=[(x, -1), (x + 2, -1), (x + 2, 0), (x, 0)], name=n) for x, n in ((-2, "left"), (0, "right"))
    ]
    system = PlanarSystem(bodies=[box("crate", mass=2.0, width=0.4, height=0.2)], obstacles=blocks)
    state = system.state({"crate": (-0.25, 0.1 - sink, 0.0)}, {"crate": (1.0, 0.0, 0.0)})
    state, step = _run(system, state, 50, 1.03e-2)
    np.testing.assert_allclose(state.v, [1.0, 0.0, 0.0], atol=1e-12)
    assert sorted(step.reactions) == ["crate:c0/right:e2", "crate:c1/right:e2"]


def test_order_of_bodies_changes_no_motion():
    """A box dropped askew on another one: the same to rounding, in whichever order they are given."""
    bodies = [box(name, mass=1.0, width=0.6, height=0.3) for name in "ab"]
    place = {"a": (0.0, 0.15, 0.0), "b": (0.1, 0.47, 0.05)}
    found = []
    for given in (bodies, bodies[::-1]):
        system = PlanarSystem(bodies=given, obstacles=[FLOOR], contact=ContactLaw(mu=0.4))
        state, _ = _run(system, system.state(place), 60, 4e-3)
        found.append([state.q[system.index(name, x)] for name in "ab" for x in ("x", "y", "angle")])
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)
    assert abs(found[0][5]) < 0.02  # they have come to lie flat
