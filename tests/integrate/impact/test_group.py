"""Free rotation: unit quaternions, what the scheme conserves, and its order against Jacobi's elliptic functions."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import examples, first
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk
from small_systems import Plain

from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.state import State

HALF = np.array([0.3, 0.2, 0.1])
INERTIA = (np.sum(HALF**2) - HALF**2) / 3.0  # of a box of 1 kg


def product(a, b):
    """Hamilton's product of two quaternions (w, x, y, z)."""
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.r_[w, a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])]


def turned(attitude, vector):
    """A vector of the body in space."""
    conjugate = attitude * np.array([1.0, -1.0, -1.0, -1.0])
    return product(product(attitude, np.r_[0.0, vector]), conjugate)[1:]


class Spinner(Plain):
    """A free rigid body: q = unit quaternion (body to space), v = angular velocity in body axes."""

    nq, nv = 4, 3

    def __init__(self, inertia=INERTIA, drag=0.0):
        self.J, self.drag, self.calls = np.array(inertia), drag, 0

    def mass(self, q):
        return np.diag(self.J)

    def force(self, t, q, v, control=None):
        self.calls += 1
        return -np.cross(v, self.J * v) - self.drag * v

    def qdot(self, q, v):
        return 0.5 * product(q, np.r_[0.0, v])

    def move(self, q, v, dt):
        there = product(q, np.r_[1.0, 0.5 * dt * v])
        return there / np.linalg.norm(there)

    def power(self, t, q, v, control=None):
        return -self.drag * float(v @ v)


def spinning(*omega):
    return State(q=[1.0, 0.0, 0.0, 0.0], v=omega)


def energy(v):
    return 0.5 * float(INERTIA @ v**2)


def worst(run):
    """Largest relative change of energy and of the angular momentum in space."""
    kinetic = np.array([energy(v) for v in run.v])
    L = np.array([turned(q, INERTIA * v) for q, v in zip(run.q, run.v, strict=True)])
    return np.abs(kinetic / kinetic[0] - 1.0).max(), np.abs(L - L[0]).max() / np.linalg.norm(L[0])


def elliptic(omega):
    """Angular velocity in body axes as a function of time (Landau, Lifshitz, Mechanics, 37), I1 < I2 < I3."""
    I1, I2, I3 = INERTIA
    E2, M2 = INERTIA @ omega**2, (INERTIA**2) @ omega**2
    first = M2 < E2 * I2  # then the axes 1 and 3 change their parts
    a, c = (I3, I1) if first else (I1, I3)
    rate = np.sqrt((c - I2) * (M2 - E2 * a) / (a * I2 * c))
    m = (I2 - a) * (E2 * c - M2) / ((c - I2) * (M2 - E2 * a))
    amplitudes = (
        np.sqrt((E2 * c - M2) / (a * (c - a))),
        np.sqrt((E2 * c - M2) / (I2 * (c - I2))),
        np.sqrt((M2 - E2 * a) / (c * (c - a))),
    )

    def at(t, phase, signs):
        sn, cn, dn, _ = ellipj(phase + signs[3] * rate * t, m)
        small, middle, large = amplitudes[0] * cn, amplitudes[1] * sn, amplitudes[2] * dn
        found = np.array([large, middle, small] if first else [small, middle, large])
        return found * signs[:3]

    return at, m


def exact_rates(omega):
    """The elliptic solution through omega at t = 0: its phase and signs are found by trying."""
    at, m = elliptic(omega)
    K = ellipk(m)
    best = None
    for signs in np.array(np.meshgrid(*[[1.0, -1.0]] * 4)).reshape(4, -1).T:
        for guess in np.linspace(0.0, 4.0 * K, 101):
            far = np.abs(at(0.0, guess, signs) - omega).max()
            h = 1e-6
            slope = (at(h, guess, signs) - at(-h, guess, signs)) / (2.0 * h)
            far += np.abs(slope + np.cross(omega, INERTIA * omega) / INERTIA).max()
            if best is None or far < best[0]:
                best = far, guess, signs
        if best[0] < 0.3:
            break
    _, phase, signs = best
    for _ in range(50):  # Gauss-Newton on the phase
        h = 1e-6
        slope = (at(0.0, phase + h, signs) - at(0.0, phase - h, signs)) / (2.0 * h)
        phase -= slope @ (at(0.0, phase, signs) - omega) / (slope @ slope)
    assert np.abs(at(0.0, phase, signs) - omega).max() <= 1e-12
    return lambda t: at(t, phase, signs)


def exact_attitude(omega, t_end):
    rates = exact_rates(np.array(omega))

    def f(t, q):
        return 0.5 * product(q, np.r_[0.0, rates(t)])

    q = solve_ivp(f, (0.0, t_end), [1.0, 0.0, 0.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return q / np.linalg.norm(q), rates(t_end)


@pytest.mark.drawn
@pytest.mark.parametrize("omega", first(1, [((1.0, 2.0, 3.0),), ((3.0, 1.0, 0.2),)]))
def test_attitude_is_of_order_two(omega):
    q, v = exact_attitude(omega, 2.0)
    found = []
    for dt in (2e-2, 1e-2, 5e-3)[: examples(3, fast=2)]:
        run = simulate(Spinner(), spinning(*omega), 2.0, stepper=MoreauJean(dt=dt), save=10_000)
        found.append((np.abs(run.final.q - q).max(), np.abs(run.final.v - v).max()))
    orders = np.log2(np.array(found[:-1]) / np.array(found[1:]))
    assert orders == pytest.approx(2.0, abs=0.05)


def test_energy_and_angular_momentum_over_two_seconds():
    run = simulate(Spinner(), spinning(0.01, 5.0, 0.01), 2.0, stepper=MoreauJean(dt=1e-2))
    assert max(worst(run)) <= 1e-12
    assert run.statistics["energy_drift_rel"] <= 1e-12


@pytest.mark.nightly
def test_energy_and_angular_momentum_over_fifty_seconds():
    run = simulate(Spinner(), spinning(0.01, 5.0, 0.01), 50.0, stepper=MoreauJean(dt=1e-3), save=500)
    assert run.status == "COMPLETED", run.stop
    assert max(worst(run)) <= 1e-10


@pytest.mark.parametrize("turn", [0.3, 1.0])
def test_a_fast_spin_converges_in_few_evaluations(turn):
    system, state = Spinner(), spinning(0.3 * turn / 1e-3, turn / 1e-3, 0.2 * turn / 1e-3)
    step = MoreauJean(dt=1e-3).advance(system, state, 1.0)
    assert step.solution.solved, step.solution.message
    assert system.calls <= 60
    v_mid = 0.5 * (step.state.v + state.v)
    short = INERTIA * (step.state.v - state.v) + 1e-3 * np.cross(v_mid, INERTIA * v_mid)
    assert np.abs(short).max() <= 1e-13 * np.abs(INERTIA * state.v).max()


def test_damped_spin_loses_what_the_drag_takes():
    run = simulate(Spinner(drag=0.05), spinning(20.0, 50.0, 10.0), 0.2, stepper=MoreauJean(dt=1e-3))
    assert run.statistics["energy_drift_rel"] <= 1e-12
    assert run["work_forces"][-1] < 0.0
