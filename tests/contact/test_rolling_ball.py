"""A ball on a plane with rolling resistance, accelerations by hand: rest, onset of rolling, rolling, sliding."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.contact.resolve import reactions, resolve
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.mechanics.check import check_system
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Position, UserSystem

M, R, G, MU, MU_R = 1.5, 0.5, 9.81, 0.3, 0.01
J, N = 0.4 * M * R * R, M * G
TANGENT = np.array([[1.0, 0, 0, 0, -R, 0], [0, 1.0, 0, R, 0, 0]])  # velocity of the lowest point
ROLLING = np.array([[0, 0, 0, 1.0, 0, 0], [0, 0, 0, 0, 1.0, 0]])
BALL = State(q=[0, 0, R, 0, 0, 0], v=np.zeros(6))


def ball(pull=0.0):
    contact = Position(
        lambda t, q: q[2] - R, mu=MU, mu_r=MU_R, tangent=lambda t, q: TANGENT, rolling=lambda t, q: ROLLING, name="c"
    )
    return UserSystem(6, np.diag([M, M, M, J, J, J]), [pull, 0, -N, 0, 0, 0], [contact])


def motion(pull, v):
    dynamics = snapshot(ball(pull), State(q=BALL.q, v=v))
    solution = resolve(dynamics)
    assert solution.solved
    return solution.x, reactions(dynamics, solution)["c"]


def test_a_weak_pull_does_not_start_it():
    a, r = motion(0.1, np.zeros(6))
    np.testing.assert_allclose(a, 0.0, atol=1e-13)
    np.testing.assert_allclose(r, [N, -0.1, 0.0, 0.0, -0.1 * R], atol=1e-12)


def test_a_stronger_pull_rolls_it_against_the_resistance():
    a, r = motion(1.0, np.zeros(6))
    spin = (1.0 * R - MU_R * N) / (J + M * R * R)
    np.testing.assert_allclose(a, [spin * R, 0, 0, 0, spin, 0], atol=1e-12)
    np.testing.assert_allclose(r[4], -MU_R * N, rtol=1e-12)


def test_rolling_is_slowed_down():
    a, _ = motion(0.0, [2.0 * R, 0, 0, 0, 2.0, 0])
    np.testing.assert_allclose(a[4], -MU_R * N / (J + M * R * R), rtol=1e-12)


@pytest.mark.parametrize("spin", [0.0, 1.0])
def test_sliding_and_rolling_at_once(spin):
    a, r = motion(0.0, [1.0, 0, 0, 0, spin, 0])
    np.testing.assert_allclose(a[0], -MU * G, rtol=1e-12)
    np.testing.assert_allclose(a[4], (MU * N * R - MU_R * N) / J, rtol=1e-12)
    np.testing.assert_allclose(r, [N, -MU * N, 0.0, 0.0, -MU_R * N], atol=1e-11)


def test_its_rows_agree_with_differences():
    assert check_system(ball()).ok
