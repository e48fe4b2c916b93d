"""Reactions at the square of Darboux's mechanism and at the tangency of the pendulum, against exact limits.

Reference numbers in the paper's notation: lam per h' = 1 on the line branch, l = 1, all masses 1.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from gaussdyn import InputError
from gaussdyn.analysis.singular.configurations import branches
from gaussdyn.analysis.singular.reaction_limits import reactions_along, singular_loads
from gaussdyn.scenes.linkages import darboux
from gaussdyn.scenes.linkages.singular_pendulum import system_of

FINITE = [-11 / 20, 12 / 5, 2, 11 / 20, -11 / 20, -12 / 5, -2, 1 / 10, 1 / 10]
SHORTEST = [-36 / 139, 10 / 139, 2, 36 / 139, -36 / 139, -10 / 139, -2, -67 / 139, -67 / 139]
BLOW_UP = [1 / 16, -1 / 2, 0, -1 / 16, 1 / 16, 1 / 2, 0, -1 / 8, -1 / 8]
PULL = [1, -1, -1, 1, 1, -1, -1, 1, 0, 0]
AT_H = {  # (F_x, h): lam, from an integration of the ten-coordinate equations
    (0.0, 0.1): [-0.46704457, 2.3925376, 2.0123384, 0.54613422, -0.62518005, -2.3925376, -1.9326693, 0.1100926,
                 0.090076212],
    (1.0, -0.01): [-6.8082752, 51.907424, 2.0007202, 6.800898, -6.7922708, -52.907424, -2.0087199, 12.724632,
                   12.47662],
    (1.0, 0.1): [0.16075238, -3.1825868, 1.9623384, -0.08825633, 0.0032419064, 2.1825868, -1.8826693, -1.0205013,
                 -1.2917677],
}  # fmt: skip


def at_square(Fx):
    """The point, the line branch, and ds/dh there: h grows with s."""
    system = darboux.system_of(Fx=Fx)
    point = branches(system, darboux.place(0.0)).point
    j = next(j for j, b in enumerate(point.branches) if abs(b.tangent[8]) < 1e-9)
    return system, point, j, 1.0 / point.branches[j].tangent[9]


def test_without_load_multipliers_tend_to_a_limit_that_is_not_the_shortest():
    system, point, j, scale = at_square(0.0)
    found = singular_loads(system, point, j, speed=scale)
    assert found.growth == 0
    np.testing.assert_allclose(found.lam_limit, FINITE, atol=1e-9)
    np.testing.assert_allclose(found.lam, SHORTEST, atol=1e-9)
    n = np.array([-0.5, 4.0, 0.0, 0.5, -0.5, -4.0, 0.0, 1.0, 1.0])
    np.testing.assert_allclose(found.lam_limit - found.lam, 809 / 1390 * n, atol=1e-9)
    for reaction in (found.reaction, found.reaction_limit):
        np.testing.assert_allclose(reaction, PULL, atol=1e-9)
    assert found.solvable
    assert found.jump < 1e-9
    assert "continuous" in found.explain()


def test_a_force_across_the_line_makes_multipliers_grow_like_one_over_h():
    system, point, j, scale = at_square(1.0)
    found = singular_loads(system, point, j, speed=scale)
    assert found.growth == 1
    assert found.lam_limit is None
    np.testing.assert_allclose(found.coefficient / scale, BLOW_UP, atol=1e-9)
    assert "s^-1" in found.explain()


def test_at_the_instant_a_solver_sends_H_off_its_line_and_the_third_derivative_forbids_it():
    system, point, j, scale = at_square(1.0)
    found = singular_loads(system, point, j, speed=scale)
    assert found.solvable
    assert abs(found.a[8]) > 0.1
    np.testing.assert_allclose(found.a_limit[8:], [0.0, 0.0], atol=1e-9)
    assert np.abs(found.third).max() > 0.1
    assert np.abs(found.third_limit).max() < 1e-8
    assert found.jump > 0.1
    assert found.chosen()[0] is found.a_limit
    assert found.chosen("instant")[0] is found.a
    assert "violates the third derivative" in found.explain()


@pytest.mark.parametrize(("Fx", "h"), AT_H)
def test_multipliers_along_the_line(Fx, h):
    """h' is not constant: the speed along the tangent at h is that of a(h) h'^2 = a(0)."""
    system, point, j, _ = at_square(Fx)
    rate = math.sqrt(darboux.inertia(0.0) / darboux.inertia(h))
    s = point.branches[j].tangent @ (darboux.place(h) - darboux.place(0.0))
    speed = rate * float(point.branches[j].tangent @ darboux.motion_of(h, 1.0))
    lam = reactions_along(system, point, j, np.array([s]), speed=speed)[0]
    np.testing.assert_allclose(lam, AT_H[Fx, h], rtol=1e-5)


def test_the_rod_of_a_tangency_carries_a_force_without_bound():
    """N u^2 -> m_th v^2 (it pushes) with m_th = mB mC d0^2 l1^2 / (mB l1^2 + mC d0^2), v = du/dt; d0 = 1."""
    for mB, mC in ((1.0, 1.0), (2.0, 0.5)):
        system = system_of(2.0, mB=mB, mC=mC)
        point = branches(system, [0.0, 0.0]).point
        found = singular_loads(system, point, 0, speed=1.3)
        assert found.growth == 2
        inertia = mB * mC * 4.0 / (4.0 * mB + mC)
        assert found.coefficient[0] == pytest.approx(inertia * 1.3**2, rel=1e-6)


def test_the_rod_of_a_crossing_carries_a_finite_force():
    found = singular_loads(system_of(2.3), branches(system_of(2.3), [0.0, 0.0]).point, 0, speed=-1.2)
    assert found.growth == 0
    assert np.isfinite(found.lam_limit).all()


def solved_at(system, point, k, s):
    """The multiplier at a distance s along a branch, by the equations of motion at a point that brentq puts there."""
    space, own = point.reduction.space, point.branches[k]
    across = np.array([-own.tangent[1], own.tangent[0]])
    bent, room = 0.5 * s * s * float(across @ own.second), 0.3 * s * s
    w = brentq(lambda w: space.gaps(s * own.tangent + w * across)[0], bent - room, bent + room, xtol=1e-17)
    q = s * own.tangent + w * across
    J = space.jacobian(q)
    v = np.array([-J[0, 1], J[0, 0]]) / (J[0, 0] * own.tangent[1] - J[0, 1] * own.tangent[0])
    M, h = system.mass(q), system.force(0.0, q, v)
    left = -space.bend(q, v) - J @ np.linalg.solve(M, h)
    return float(np.linalg.solve(J @ np.linalg.solve(M, J.T), left)[0])


@pytest.mark.parametrize("b", [2.005, 2.01, 2.02, 2.1])
def test_the_rod_of_a_crossing_near_a_tangency_carries_a_finite_force_too(b):
    """It grows with 1 / (b - 2), and along the branch within a short way; yet it has a limit."""
    system = system_of(b)
    point = branches(system, [0.0, 0.0]).point
    for k in range(2):
        found = singular_loads(system, point, k, speed=1.0)
        assert found.growth == 0
        near, nearer = (solved_at(system, point, k, s) for s in (8e-3, 4e-3))
        assert found.lam_limit[0] == pytest.approx((4.0 * nearer - near) / 3.0, abs=1e-2)
        assert "finite" in found.explain()


def test_however_small_a_force_across_the_line_is_multipliers_grow():
    system, point, j, scale = at_square(1e-6)
    found = singular_loads(system, point, j, speed=scale)
    assert found.growth == 1
    np.testing.assert_allclose(found.coefficient / scale, 1e-6 * np.array(BLOW_UP), atol=1e-10)


def test_bad_input():
    system, point, _, _ = at_square(1.0)
    with pytest.raises(InputError, match="0 to 1"):
        singular_loads(system, point, 2)
    with pytest.raises(InputError, match="not zero"):
        reactions_along(system, point, 0, [0.0])
    with pytest.raises(InputError, match="limit, instant"):
        singular_loads(system, point, 0).chosen("both")


@pytest.mark.parametrize("speed", [0.3, 5.0])
def test_a_third_derivative_that_rounding_alone_makes_is_zero(speed):
    """Where branches touch both accelerations obey it, though they differ; where they cross only the limit does."""
    point = branches(system_of(2.0), [0.0, 0.0]).point
    found = singular_loads(system_of(2.0), point, 0, speed=speed)
    assert found.jump > 0.01
    assert max(np.abs(found.third).max(), np.abs(found.third_limit).max()) <= found.third_error < 1e-5 * speed**3
    assert "violates" not in found.explain()
    assert "the third derivative allows both" in found.explain()
    system, point, j, scale = at_square(1.0)
    crossing = singular_loads(system, point, j, speed=speed * scale)
    assert np.abs(crossing.third_limit).max() <= crossing.third_error < 1e-3 * np.abs(crossing.third).max()
