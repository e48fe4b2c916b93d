"""Kozlov's generalised principle of Gauss on random data: the identity, the minimum, both conceivable sets."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import examples
from scipy.integrate import solve_ivp

from gaussdyn.contact.gauss_identity import (
    conceivable_from_constraint,
    conceivable_from_force,
    constraint_force,
    gauss_identity,
)
from gaussdyn.contact.resolve import resolve
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.errors import InputError
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Acceleration, UserSystem


def draw(rng):
    n = int(rng.integers(2, 7))
    L = rng.normal(size=(n, n))
    return L @ L.T + 0.3 * np.eye(n), rng.normal(size=n) * 10.0 ** rng.uniform(-2, 3), rng.normal(size=n)


@pytest.mark.drawn
def test_identity_and_minimum_among_motions_conceivable_beside_a_force():
    for seed in range(examples(40, fast=12)):
        check_identity_and_minimum_among_motions_conceivable_beside_a_force(seed)


def check_identity_and_minimum_among_motions_conceivable_beside_a_force(seed):
    rng = np.random.default_rng(seed)
    M, Phi, Q = draw(rng)
    Q = Q * np.linalg.norm(Phi)
    f, r = np.linalg.solve(M, Phi), np.linalg.solve(M, Phi + Q)
    omega = conceivable_from_force(M, Phi, Q)
    for _ in range(5):
        w = rng.normal(size=len(Q)) * np.linalg.norm(r)
        m = r + w - (w @ Q) / (Q @ Q) * Q  # within the plane
        assert omega.violation(m) <= 1e-10 * abs(Q @ r) + 1e-9 * np.linalg.norm(Q) * np.linalg.norm(m)
        found = gauss_identity(M, f, r, m)
        assert found.error <= 1e-12
        assert found.Z_mf >= found.Z_rf
        other = gauss_identity(M, f, r, m + 0.3 * Q / np.linalg.norm(Q) * np.linalg.norm(r - f))
        assert not other.holds  # not conceivable: noticed


@pytest.mark.drawn
def test_a_constraint_and_its_force_leave_the_same_motions_open():
    for seed in range(examples(40, fast=12)):
        check_a_constraint_and_its_force_leave_the_same_motions_open(seed)


def check_a_constraint_and_its_force_leave_the_same_motions_open(seed):
    rng = np.random.default_rng(100 + seed)
    M, Phi, g_v = draw(rng)
    rest = float(rng.normal())
    lam, Q = constraint_force(M, Phi, g_v, rest)
    actual = np.linalg.solve(M, Phi + Q)
    one, other = conceivable_from_constraint(g_v, rest), conceivable_from_force(M, Phi, Q)
    assert abs(g_v @ actual + rest) <= 1e-12 * (abs(rest) + np.abs(g_v) @ np.abs(actual))
    np.testing.assert_allclose(other.A / lam, one.A, rtol=1e-12)
    np.testing.assert_allclose(other.b / lam, one.b, rtol=1e-9, atol=1e-10 * np.abs(g_v) @ np.abs(actual))


def test_without_a_force_everything_is_conceivable_and_the_minimum_is_the_released_motion():
    omega = conceivable_from_force(np.eye(2), np.array([1.0, 2.0]), np.zeros(2))
    assert omega.contains(np.array([1e6, -1e6]))
    with pytest.raises(InputError, match="singular"):
        conceivable_from_constraint(np.zeros(2), 0.0)
    with pytest.raises(InputError, match="actual"):
        gauss_identity(np.eye(2), np.zeros(2), np.array([np.nan, 0.0]), np.zeros(2))


def test_energy_as_a_constraint_goes_wrong_and_the_condition_on_forces_mends_it():
    """V = (x^2 + 4 y^2) / 2 from (1, 0) at (0, 1): true x = cos t, y = sin(2t) / 2; the wrong law keeps x = 1."""

    def slope_of_V(q):
        return np.array([q[0], 4.0 * q[1]])

    def wrong(t, y):
        g = slope_of_V(y[:2])
        _, Q = constraint_force(np.eye(2), np.zeros(2), y[2:], float(g @ y[2:]))
        return np.r_[y[2:], Q]

    def mended(t, y):
        g = slope_of_V(y[:2])
        system = UserSystem(2, np.eye(2), np.zeros(2), [Acceleration(-g, g @ g, kind="bilateral")])
        return np.r_[y[2:], resolve(snapshot(system, State(q=y[:2], v=y[2:]))).require().x]

    t, options = [0.1, 0.4, 0.7], {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
    for law, x in ((wrong, np.ones(3)), (mended, np.cos(t))):
        y = solve_ivp(law, (0.0, 0.7), [1.0, 0.0, 0.0, 1.0], t_eval=t, **options).y
        np.testing.assert_allclose(y[0], x, atol=1e-9)
        np.testing.assert_allclose(y[1], np.sin(2.0 * np.array(t)) / 2.0, atol=1e-9)
