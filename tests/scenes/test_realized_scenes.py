"""Closed forms behind the scenes of the realizations, checked against independent integrations and limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gaussdyn.analysis.crosscheck.crosscheck import crosscheck
from gaussdyn.contact.admissible_set import admissible_set
from gaussdyn.contact.gauss_program import gauss_program
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.scenes.catalogue import build
from gaussdyn.scenes.impacts.rail_cars import LOADS, MASSES, RIGID, accelerations
from gaussdyn.scenes.linkages.slider_crank import reference
from gaussdyn.scenes.references.turning_motion import Turning
from gaussdyn.scenes.standing.bar_on_supports import tipping


@pytest.mark.parametrize("motion", [Turning(v0=0.7, omega=1.3, phi0=-2.0, pull=2.0),
                                    Turning(v0=-1.0, omega=0.5, phi0=1.0, pull=0.0)])  # fmt: skip
def test_turning_motion_obeys_its_equations(motion):
    def slope(t, y):
        phi = motion.phi0 + motion.omega * t
        return [y[3] * np.cos(phi), y[3] * np.sin(phi), y[3], motion.pull * np.cos(phi)]

    y = solve_ivp(slope, (0.0, 3.0), [0, 0, 0, motion.v0], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    np.testing.assert_allclose([*motion.place(3.0), motion.way(3.0), motion.speed(3.0)], y, atol=1e-10)


def test_a_knife_edge_on_a_slope_does_not_slide_down_on_the_average():
    motion = Turning(v0=0.0, omega=2.0, phi0=0.0, pull=1.5)
    x, y = motion.place(10.0 * np.pi)
    assert x == pytest.approx(0.0, abs=1e-12)
    assert y == pytest.approx(1.5 / (2.0 * 4.0) * 20.0 * np.pi)


def test_accelerations_of_the_cars_are_those_of_the_gauss_program():
    """Against every choice of closed couplings: the one that satisfies all inequalities."""
    rng = np.random.default_rng(2)
    for loads in [LOADS, *rng.uniform(-20, 20, (20, 5))]:
        m, found = np.array(MASSES), []
        for closed in range(16):
            rows = [k for k in range(4) if k == RIGID or closed >> k & 1]
            A = np.array([np.eye(5)[k] - np.eye(5)[k + 1] for k in rows])
            K = np.block([[np.diag(m), -A.T], [A, np.zeros((len(rows), len(rows)))]])
            x = np.linalg.solve(K, np.r_[loads, np.zeros(len(rows))])
            a, r = x[:5], x[5:]
            push = all(r[i] >= -1e-12 for i, k in enumerate(rows) if k != RIGID)
            if push and np.all(np.diff(a) <= 1e-12):
                found.append(a)
        assert found
        for a in found:
            np.testing.assert_allclose(accelerations(list(loads)), a, atol=1e-10)


def test_slider_crank_with_a_long_rod_is_a_scotch_yoke():
    """For l >> r the piston follows r cos(phi): without gravity's rod the energy of wheel, rod and piston decides."""
    r, m, M, w = 0.2, 1e-9, 2.0, 15.0
    angle, rate = reference(r, 1e5, m, M, w)

    def slope(t, y):
        return [w * np.sqrt(1.0 / (1.0 + np.sin(y[0]) ** 2))]

    wanted = solve_ivp(slope, (0.0, 1.0), [0.0], rtol=1e-11, atol=1e-11).y[0, -1]
    assert angle == pytest.approx(wanted, abs=2e-4)
    assert rate == pytest.approx(slope(0, [wanted])[0], rel=1e-4)


def test_a_bar_tips_beyond_its_last_support_only():
    assert tipping(0.999, 6.0, 2.0) == (0.0, 0.0, pytest.approx(6.0 * 9.81))
    angle, rate, force = tipping(1.3, 6.0, 2.0)
    energy = 0.5 * (2.0 + 6.0 * (0.3 * np.cos(angle)) ** 2) * rate**2 - 6.0 * 9.81 * 0.3 * np.sin(angle)
    assert energy == pytest.approx(0.0, abs=1e-10)
    assert 0.0 < force < 6.0 * 9.81
    assert tipping(-1.3, 6.0, 2.0)[0] == pytest.approx(-angle)


def test_both_motions_of_the_reentrant_corner_deviate_equally():
    values = []
    for wall in (-1.0, 1.0):
        scene = build("reentrant_corner", wall=wall)
        dynamics = snapshot(scene.system, scene.state)
        program = gauss_program(dynamics, admissible_set(dynamics))
        a = np.array([0.0, 1.0]) if wall < 0 else np.array([1.0, 0.0])
        assert admissible_set(dynamics).contains(a, 1e-12)
        values.append(program.objective(a))
    assert values[0] == values[1]


@pytest.mark.parametrize(
    ("name", "realization", "softest"),
    [("knife_edge", "viscous", 1e3), ("rolling_disc", "viscous", 1e3), ("slider_crank", "penalty", 1e5)],
)
@pytest.mark.slow
def test_realizations_tend_to_the_rigid_scene_like_one_over_n(name, realization, softest):
    ladder = [softest, 10.0 * softest, 100.0 * softest]
    found = crosscheck(build(name), [realization], stiffness=ladder, start="slow", t_end=0.2)
    order = found[realization].orders["position"]
    assert order.value == pytest.approx(1.0, abs=0.02), str(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "params", "t_end"),
    [
        ("incline", {"mu": 0.2}, 0.2),
        ("incline", {}, 0.1),
        ("coulomb_oscillator", {}, 2.0),
        ("sliding_rod", {}, 0.3),
        ("brick_on_slope", {}, 0.2),
    ],
)
def test_springs_with_friction_tend_to_the_rigid_run(name, params, t_end):
    """From the slow manifold, sliding and sticking: positions differ like 1/N."""
    found = crosscheck(build(name, **params), ["penalty"], stiffness=[1e4, 3e4, 1e5], start="slow", t_end=t_end)
    one = found["penalty"]
    assert one.orders["position"].value == pytest.approx(1.0, abs=0.02), str(found)
    if name not in ("incline", "brick_on_slope") or params:  # the rigid reaction of what creeps is that of slip
        assert all(level.fast_end <= 1e-6 for level in one.levels), str(found)
