"""Scenes of polyhedra, coins and grooves: limits by two independent methods, closed forms, shapes that converge."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, simulate
from gaussdyn.analysis.forces.statics import limit_load
from gaussdyn.linalg.rotations import matrix_of
from gaussdyn.mechanics.collision.shapes import Box, ConvexMesh, Cylinder, HalfSpace
from gaussdyn.mechanics.spatial import HeightField, SpatialBody, solid
from gaussdyn.scenes.catalogue import build
from gaussdyn.scenes.references.arch_statics import of_flat_stones
from gaussdyn.scenes.spinning import rattleback
from gaussdyn.scenes.spinning.coin import roller_of
from gaussdyn.scenes.standing.masonry import arch

G = 9.81


def _push(n, thickness, mu):
    """Return the largest horizontal share of its weight that an arch of polyhedra bears, by the engine."""
    system, state = arch(n, thickness, mu, 0.0)
    load = np.zeros(system.nv)
    load[0::6] = [G * body.mass for body in system.bodies]
    return limit_load(system.near(0.0, state.q, state.v, 0.0), state, load).high


@pytest.mark.parametrize(("n", "thickness", "mu"), [(5, 0.2, 0.7), (7, 0.25, 0.6), (9, 0.16, 1.0)])
def test_an_arch_of_polyhedra_falls_at_the_tilt_of_limit_analysis(n, thickness, mu):
    assert _push(n, thickness, mu) == pytest.approx(of_flat_stones(n, thickness, mu).largest_push, rel=1e-9)


@pytest.mark.parametrize("kind", ["plane", "box", "field"])
@pytest.mark.parametrize(("radius", "half"), [(0.07, 0.2), (0.15, 0.11)])
def test_a_cylinder_topples_within_a_millionth_of_its_slope_on_any_ground(kind, radius, half):
    """Just beyond the limit its spin grows as that of a pendulum upside down: w = a sinh(k t) / k."""
    column = solid("c", Cylinder(radius=radius, half_length=half), density=1000.0)
    ground = {
        "plane": HalfSpace(name="g"),
        "box": Box(name="g", half=(1.0, 1.0, 0.1), at=(0.0, 0.0, -0.1)),
        "field": HeightField(name="g", heights=np.zeros((5, 5)), spacing=(0.4, 0.4), at=(-0.81, -0.79, 0.0)),
    }[kind]
    arm = math.hypot(radius, half)
    rate2 = G * arm / (radius**2 / 4.0 + half**2 / 3.0 + arm**2)
    for off in (-1e-6, 1e-6):
        slope = math.atan(radius / half) * (1.0 + off)
        pull = (G * math.sin(slope), 0.0, -G * math.cos(slope))
        system = SpatialSystem(bodies=[column], obstacles=[ground], contact=ContactLaw(mu=6.0), gravity=pull)
        run = simulate(system, system.state({"c": (0.0, 0.0, half)}), 0.05, stepper=MoreauJean(dt=1e-3))
        k = math.sqrt(rate2)
        spin = rate2 * (slope - math.atan(radius / half)) / k * math.sinh(0.05 * k)
        assert run.v[-1][4] == pytest.approx(max(0.0, spin), rel=1e-3, abs=1e-14)


@pytest.mark.parametrize(("n", "mu"), [(7, 0.7), (10, 1.0)])
def test_an_arch_of_polyhedra_has_the_limit_thickness_of_limit_analysis(n, mu):
    low, high = 0.02, 0.2
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if of_flat_stones(n, middle, mu).stands else (middle, high)
    assert _push(n, high * (1.0 + 1e-6), mu) >= 0.0
    assert not _push(n, low * (1.0 - 1e-6), mu) >= 0.0


def test_a_wedge_sticks_below_the_slope_of_its_friction_and_slides_above():
    mu, half = 0.2, 0.7
    slope = math.atan(mu / math.sin(half))
    for share, moves in ((0.999, False), (1.001, True)):
        scene = build("wedge_in_groove", half_angle=half, mu=mu, slope=share * slope)
        run = simulate(scene, t_end=0.05, stepper=MoreauJean(dt=scene.dt))
        assert bool(run["wedge.y"][-1] > 1e-8) == moves


@pytest.mark.parametrize("tilt", [0.1, 0.5, 1.2])
def test_a_thin_coin_goes_round_steadily_at_the_pace_of_the_literature(tilt):
    roller, r = roller_of(0.04, 1e-9), 0.04
    pace = 2.0 * math.sqrt(G / (r * math.sin(tilt)))
    start = np.array([math.sin(tilt), 0.0, math.cos(tilt), pace * math.sin(tilt), 0.0, 0.0])
    end = roller.roll(start, 10.0 / pace).y
    assert end[2] == pytest.approx(math.cos(tilt), abs=1e-7)
    assert (end[:3] * end[3:]).sum(axis=0) == pytest.approx(pace * math.sin(tilt) ** 2, rel=1e-7)


def test_rolling_keeps_the_energy_in_the_equations_of_the_reference():
    for roller, start in (
        (rattleback.roller_of(0.2), [0.02, 0.0, math.sqrt(1 - 4e-4), -0.1, 0.05, -5.0]),
        (roller_of(0.04, 0.1), [0.6, 0.0, 0.8, 20.0, 3.0, 1.0]),
    ):
        y = roller.roll(np.array(start), 0.3).y.T

        def energy(one, roller=roller):
            v = np.cross(roller.lever(one[:3]), one[3:])
            return 0.5 * (v @ v + one[3:] @ roller.inertia @ one[3:]) - G * one[:3] @ roller.lever(one[:3])

        assert energy(y[-1]) == pytest.approx(energy(y[0]), rel=1e-9)
        assert np.linalg.norm(y[-1, :3]) == pytest.approx(1.0, abs=1e-10)


def _hull_of_rattleback(count):
    """Return corners on the ellipsoid where it rolls, by a spiral of normals within 0.3 rad, and one on top."""
    k, h2 = np.arange(count) + 0.5, np.square(rattleback.HALF)
    angle, turn = 0.3 * np.sqrt(k / count), math.pi * (1.0 + math.sqrt(5.0)) * k
    n = np.column_stack([np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), -np.cos(angle)])
    corners = n * h2 / np.sqrt((n * n) @ h2)[:, None]
    return np.vstack([corners, [(0.0, 0.0, rattleback.HALF[2])]])


def _spin(run):
    return np.array([matrix_of(q[3:7])[2] @ v[3:6] for q, v in zip(run.q, run.v, strict=True)])


@pytest.mark.slow
def test_hulls_of_a_rattleback_come_to_roll_as_the_ellipsoid():
    """They roll over edges, and lose some of their energy at each: all the less the more there are."""
    scene, t_end, stepper = build("rattleback"), 0.1, MoreauJean(dt=2e-4)
    smooth = simulate(scene, t_end=t_end, stepper=stepper)
    body, off = scene.system.bodies[0], []
    for count in (50, 400):
        shape = ConvexMesh(vertices=_hull_of_rattleback(count))
        hull = SpatialBody(name="celt", mass=body.mass, inertia=body.inertia, shapes=(shape,))
        system = SpatialSystem(bodies=[hull], obstacles=[HalfSpace(name="table")], contact=ContactLaw(mu=1.0))
        run = simulate(system, scene.state, t_end, stepper=stepper)
        assert run.status == "COMPLETED"
        off.append(np.abs(_spin(run) - _spin(smooth)).max())
    assert off[1] < 0.3 * off[0]
    assert off[1] < 0.2  # of 5 rad/s
