"""Chaplygin's sleigh: viscous friction tends to the nonholonomic motion like 1/N, but for a layer at the start.

Reference: closed form of the free sleigh, and the reduced equations, which know no multiplier.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gaussdyn.analysis.crosscheck.crosscheck import crosscheck
from gaussdyn.integrate.realizations.penalty import Penalty
from gaussdyn.integrate.realizations.smooth import Smooth
from gaussdyn.integrate.realizations.viscous import Viscous
from gaussdyn.integrate.simulate import simulate
from gaussdyn.scenes.catalogue import build

M, J, C, V0, OM, PH = 1.0, 0.5, 0.4, 1.0, 2.0, 0.3
# N: largest error of x, of v, and of lambda for t >= 0.2, on 0..2 s (two independent formulations agree to 1e-11)
FREE = {
    1e2: (3.1088e-02, 2.2203e-02, 8.0870e-03),
    1e3: (3.1231e-03, 2.2230e-03, 8.0659e-04),
    1e4: (3.1245e-04, 2.2233e-04, 8.0642e-05),
}
SLOPE = {1e2: (2.9155e-02, 1.8103e-02, 2.1854e-02), 1e3: (2.9349e-03, 1.8031e-03, 2.1498e-03)}


def closed_form(t):
    k2 = (J + M * C * C) / M
    R = np.sqrt(V0**2 + k2 * OM**2)
    t0 = -np.arctanh(V0 / R) * k2 / (C * R)
    s = C * R * (t - t0) / k2
    v, w = R * np.tanh(s), R / np.sqrt(k2) / np.cosh(s)
    return v, w, M * v * w * J / (J + M * C * C)


def reduced(t, g):
    """Positions and velocities of the centre of mass, and lambda, without multipliers."""

    def slope(_, y):
        _, _, p, v, w = y
        return [v * np.cos(p) - C * w * np.sin(p), v * np.sin(p) + C * w * np.cos(p), w,
                C * w * w - g * np.sin(p), -M * C * (v * w + g * np.cos(p)) / (J + M * C * C)]  # fmt: skip

    y = solve_ivp(slope, (0.0, 2.0), [0, 0, PH, V0, OM], t_eval=t, method="DOP853", rtol=1e-13, atol=1e-13).y
    q, (v, w) = y[:3].T, y[3:]
    rates = np.array(
        [v * np.cos(q[:, 2]) - C * w * np.sin(q[:, 2]), v * np.sin(q[:, 2]) + C * w * np.cos(q[:, 2]), w]
    ).T
    return q, rates, J * M * (v * w + g * np.cos(q[:, 2])) / (J + M * C * C)


def test_closed_form_of_the_reference():
    _, _, lam = reduced([0.0, 2.0], 0.0)
    np.testing.assert_allclose(lam, [1.515151515152, 0.372121935653], atol=1e-10)
    np.testing.assert_allclose(closed_form(2.0)[2], 0.372121935653, atol=1e-12)


def test_smooth_equations_meet_the_closed_form():
    run = simulate(build("chaplygin_sleigh"), stepper=Smooth(dt=0.02))
    np.testing.assert_allclose(run.q[-1], [-0.7063337860556217, 3.2121715527332917, 2.1452949820886102], atol=1e-9)
    t = 0.5 * (run.t[1:] + run.t[:-1])  # the mean over a step is that of its middle, to the order of 3 points
    nodes = np.array([-0.5, 0.0, 0.5])[:, None] * np.sqrt(0.6) * 2 * 0.01 + t
    mean = (np.array([5.0, 8.0, 5.0]) / 18.0) @ closed_form(nodes)[2]
    np.testing.assert_allclose(run["knife.r"][1:], mean, atol=1e-9)


def errors(run, g):
    q, v, lam = reduced(run.t, g)
    law = -run.settings["stepper"]["stiffness"] * np.array([across(q, v) for q, v in zip(run.q, run.v, strict=True)])
    late = run.t >= 0.2 - 1e-12
    return np.abs(run.q - q).max(), np.abs(run.v - v).max(), np.abs(law - lam)[late].max()


def across(q, v):
    return -np.sin(q[2]) * v[0] + np.cos(q[2]) * v[1] - C * v[2]


@pytest.mark.slow
@pytest.mark.parametrize(("g", "table"), [(0.0, FREE), (1.5, SLOPE)])
def test_errors_of_the_viscous_realization_are_those_of_the_reference(g, table):
    scene = build("chaplygin_sleigh", slope_g=g)
    for N, wanted in table.items():
        found = errors(simulate(scene, stepper=Viscous(stiffness=N, dt=0.05)), g)
        np.testing.assert_allclose(found, wanted, rtol=1e-3)  # largest at the instants 0.05 s, 0.1 s, ...


@pytest.mark.slow
def test_order_of_the_viscous_realization_is_one_in_position_velocity_and_reaction():
    found = crosscheck(build("chaplygin_sleigh"), ["viscous"], stiffness=[1e3, 1e4, 1e5])["viscous"]
    for quantity in ("position", "velocity", "reaction"):
        order = found.orders[quantity]
        assert abs(order.value - 1.0) <= 0.01, (quantity, str(order))
        assert order.low <= 1.0 + 1e-2
        assert order.high >= 1.0 - 1e-2


@pytest.mark.slow
def test_the_reaction_grows_from_nothing_in_a_layer():
    """N psi = 0 at the start, -lam (1 - exp(-N (a, M^-1 a) t)) in the layer: (1.4) restricts nothing there."""
    found = crosscheck(build("chaplygin_sleigh"), ["viscous"], stiffness=[1e3, 1e4])["viscous"]
    expected = 1.0 / (1e4 * (1.0 / M + C * C / J))
    assert found.layer.predicted == pytest.approx(expected, rel=1e-9)
    assert found.layer.width == pytest.approx(expected, rel=0.03)


def test_springs_do_not_apply_to_a_knife_edge():
    found = crosscheck(build("chaplygin_sleigh"), [Penalty()], stiffness=[1e3, 1e4], t_end=0.1)["penalty"]
    assert "constraints on the position" in found.reason
