"""The singular pendulum: geometry, rigid passage, and the spring in the place of the rod.

Reference numbers from two independent methods (quadrature and an ODE on the smooth branch; two formulations of the
spring model); tables for l1 = 2, l2 = 1, a = 4, unit masses, release from rest at u0 = 0.5 (A) and -0.5 (B).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import first
from scipy.integrate import solve_ivp

from gaussdyn.integrate.realizations.equations_of_motion import ForcedMotion
from gaussdyn.integrate.realizations.penalty import Penalty
from gaussdyn.integrate.realizations.slow_manifold import fast_energy, slow_start
from gaussdyn.integrate.realizations.smooth import Smooth
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.state import State
from gaussdyn.scenes.linkages.singular_pendulum import Ellipse, first_passage, system_of

G = 9.81
STARTS = {"A": 0.5, "B": -0.5}


def curve(b):
    return Ellipse(2.0, 1.0, 4.0, b)


def start(b, case):
    return State(q=np.array([STARTS[case], curve(b).angle(abs(STARTS[case]))]), v=np.zeros(2))


def run(b, case, t_end, **settings):
    return simulate(system_of(b), start(b, case), t_end, stepper=Penalty(**settings))


def test_curvature_and_kind_of_the_singular_point():
    assert [curve(b).kind for b in (3.0, 2.3, 2.01, 2.0, 1.9)] == ["crossing"] * 3 + ["tangency", "isolated"]
    assert curve(2.3).curvature == 4.0 / 2.3**2
    np.testing.assert_allclose(
        [curve(b).second for b in (3.0, 2.3, 2.01)], [5 / 9, 0.243856333, 0.009925497], atol=1e-9
    )


def test_angle_of_the_release_and_slope_of_the_branches():
    assert curve(2.3).angle(0.5) == pytest.approx(0.176582738639, abs=1e-11)
    assert curve(2.0).angle(0.5) == pytest.approx(0.0718149097894, abs=1e-11)
    slopes = [curve(b).branch_slope for b in (2.01, 2.3, 3.0)]
    np.testing.assert_allclose(slopes, [0.070446777, 0.349182139, 0.527046277], atol=1e-8)
    u = 1e-4  # and from the curve itself
    assert curve(2.3).angle(u) / u == pytest.approx(0.349182139, abs=1e-7)


def test_angle_obeys_the_law_of_cosines_and_the_ellipse():
    for b in (2.01, 2.3, 3.0):
        for u in np.linspace(-0.9, 0.9, 7):
            d, theta = curve(b).distance(u), curve(b).angle(u)
            x, y = d * math.cos(u) - (2.0 - 1.0 - 4.0), d * math.sin(u)
            assert (x / 4.0) ** 2 + (y / b) ** 2 == pytest.approx(1.0, abs=1e-13)
            assert d * d + 4.0 - 4.0 * d * math.cos(theta) == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize(("case", "t"), [("A", 0.7075279697535), ("B", 0.658619315738794)])
def test_time_of_the_first_passage(case, t):
    assert first_passage(curve(2.3), STARTS[case], 1.0, 1.0)[0] == pytest.approx(t, abs=1e-8)


@pytest.mark.parametrize(
    ("case", "u", "theta"), first(1, [("A", 0.119742621, 0.041846426), ("B", -0.070057472, 0.024469776)])
)
def test_rigid_motion_before_the_passage(case, u, theta):
    rigid = simulate(system_of(2.3), start(2.3, case), 0.6, stepper=Smooth(dt=0.1))
    np.testing.assert_allclose(rigid.q[-1], [u, theta], atol=2e-9)


@pytest.mark.parametrize(
    ("case", "k", "u", "theta"),
    first(1, [
        ("A", 1e4, -0.3037528658, -0.1082201611),
        ("A", 1e5, -0.3046444001, -0.1072080191),
        ("B", 1e5, 0.3648247088, -0.1285596140),
    ]),
)  # fmt: skip
def test_spring_through_the_passage(case, k, u, theta):
    found = run(2.3, case, 1.0, stiffness=k, dt=0.05, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.q[-1], [u, theta], atol=1e-8)
    H = found["energy"] + 0.5 * k * found["rod.gap"] ** 2
    assert np.abs(H - H[0]).max() <= 1e-10 * abs(H[0])


@pytest.mark.slow
def test_spring_in_another_formulation():
    """(T, phi): C by its eccentric angle, B by its polar angle; no distance d(u), no singular coordinate."""
    b, k = 2.3, 1e5
    T0 = curve(b).eccentric(0.5)

    def slope(t, y):
        T, phi, dT, dphi = y
        s, c = math.sin(T), math.cos(T)
        B, C = 2.0 * np.array([math.cos(phi), math.sin(phi)]), np.array([-3.0 + 4.0 * c, b * s])
        far = C - B
        length = math.hypot(*far)
        pull = k * (length - 1.0) / length * far
        ddphi = (-G * 2.0 * math.sin(phi) + pull @ np.array([-B[1], B[0]])) / 4.0
        along = np.array([-4.0 * s, b * c])
        ddT = (-4.0 * G * s - pull @ along - (16.0 - b * b) * s * c * dT * dT) / (16.0 * s * s + b * b * c * c)
        return [dT, dphi, ddT, ddphi]

    y0 = [T0, 0.5 + curve(b).angle(0.5), 0.0, 0.0]
    T, phi = solve_ivp(slope, (0.0, 1.0), y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:2, -1]
    u = math.atan2(b * math.sin(T), -3.0 + 4.0 * math.cos(T))
    found = run(b, "A", 1.0, stiffness=k, dt=0.1, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.q[-1], [u, phi - u], atol=1e-9)


@pytest.mark.parametrize(
    ("b", "case", "k", "steps"),
    first(1, [(2.3, "A", 1e4, 341), (2.3, "A", 1e5, 912), (2.3, "B", 1e5, 505), (2.3, "B", 1e6, 1343),
              (2.01, "B", 1e5, 349)]),
)  # fmt: skip
def test_accepted_steps_of_rk45(b, case, k, steps):
    """Those of SciPy's RK45 on the equations of motion with the spring: the paper counts them."""
    motion = ForcedMotion(system=system_of(b), law=Penalty(stiffness=k).realized().law, alpha=0.0, control=None)
    at = start(b, case)
    found = solve_ivp(motion.slope, (0.0, 2.0), np.concatenate((at.q, at.v)), method="RK45", rtol=1e-8, atol=1e-8)
    assert len(found.t) - 1 == pytest.approx(steps, rel=0.02)


@pytest.mark.parametrize("k", [1e10, 1e12])
def test_very_stiff_springs_are_passed_over_from_the_slow_manifold(k):
    """Up to 5600 periods within a step; the distance to the rigid motion is 23.5 / k, or the tolerance of 6 steps."""
    system, stepper = system_of(2.3), Penalty(stiffness=k, dt=0.02)
    rigid = simulate(system, start(2.3, "A"), 0.12, stepper=Smooth(dt=0.02))
    soft = simulate(system, slow_start(system, start(2.3, "A"), stepper), 0.12, stepper=stepper)
    assert soft.stop is None
    np.testing.assert_allclose(soft.q, rigid.q, atol=24.0 / k + 2e-9)
    np.testing.assert_allclose(soft.v, rigid.v, atol=230.0 / k + 2e-8)
    assert fast_energy(system, soft.final, stepper) < 1e-14


def longest(b, case, k, t_end):
    found = run(b, case, t_end, stiffness=k, dt=0.25 / math.sqrt(k))
    return float(np.abs(found["rod.gap"]).max())


@pytest.mark.slow
def test_extension_before_the_passage_falls_like_one_over_k():
    k = [1e4, 1e5, 1e6]
    found = [longest(2.3, "A", x, 0.7) for x in k]
    np.testing.assert_allclose(found, [4.235e-04, 4.260e-05, 4.263e-06], rtol=2e-2)
    assert -np.polyfit(np.log(k), np.log(found), 1)[0] == pytest.approx(1.0, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "sign"), [(1e5, 0.97), (1e7, -1.0)])
def test_near_tangency_is_passed_on_one_side_or_the_other_as_the_stiffness_decides(k, sign):
    found = run(2.01, "B", 1.9, stiffness=k, dt=0.01)
    u, theta = found.q.T
    passed = np.flatnonzero(u >= 0.0)[0]
    far = (np.arange(len(u)) > passed) & (np.abs(u) > 0.1)
    assert np.sign(theta[far]).mean() == pytest.approx(sign, abs=0.05)


def after_the_passage(b, k):
    """Largest extension after the first passage from B, energy in vibration at 1 s, and theta there; a slow start."""
    stepper, system = Penalty(stiffness=k, dt=5e-4), system_of(b)
    found = simulate(system, slow_start(system, start(b, "B"), stepper), 1.0, stepper=stepper)
    late = found.q[:, 0] > 0.0
    return np.abs(found["rod.gap"][late]).max(), fast_energy(system, found.final, stepper), found.q[-1, 1]


@pytest.mark.slow
def test_residual_vibration_of_a_crossing_falls_with_fractional_orders():
    """y'' + k v^2 t^2 y = f t: passage in (k v^2)^-1/4, E / omega constant after it: E ~ k^-3/4, |delta| ~ k^-7/8."""
    (d1, E1, theta1), (d2, E2, theta2) = (after_the_passage(2.3, k) for k in (1e6, 1e7))
    assert math.log10(E1 / E2) == pytest.approx(0.75, abs=0.01)
    assert math.log10(d1 / d2) == pytest.approx(0.875, abs=0.02)
    assert theta1 < 0.0
    assert theta2 < 0.0


@pytest.mark.slow
def test_residual_vibration_of_a_tangency_hardly_falls():
    """No finite force keeps to the tangent branch: hundreds of times the energy of a crossing stays in vibration."""
    (d1, E1, theta1), (d2, E2, theta2) = (after_the_passage(2.0, k) for k in (1e6, 1e7))
    assert math.log10(d1 / d2) < 0.7
    assert math.log10(E1 / E2) < 0.4
    assert 300.0 * after_the_passage(2.3, 1e7)[1] < E2
    assert theta1 > 0.0
    assert theta2 > 0.0
