"""Closed forms of impact laws: by hand, against `impact`, and against a path of impulses integrated in small steps."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.analysis.measured.planar_impacts import EllipseImpacts, by_engine
from gaussdyn.analysis.measured.point_impacts import PointImpacts, kinematic, poisson, routh
from gaussdyn.integrate.impact import Moreau, Newton, Poisson

MASS = np.array([0.5, 0.5, 2e-4])


def random_impacts(count: int, seed: int) -> EllipseImpacts:
    """Points of a body at random places that approach a floor."""
    g = np.random.default_rng(seed)
    n = np.column_stack([np.zeros(count), np.ones(count), g.uniform(-0.03, 0.03, count)])
    d = np.column_stack([np.ones(count), np.zeros(count), g.uniform(0.01, 0.04, count)])
    before = g.normal(size=(count, 3)) * (1.0, 1.0, 20.0)
    rate = np.einsum("ka,ka->k", n, before)
    before[:, 1] -= np.maximum(rate, 0.0) + 0.1
    return EllipseImpacts(before=before, after=before + 1.0, n=n, d=d, mass=MASS)


def test_a_ball_without_coupling():
    """W = I: u = (-1, 0.5), mu = 0.2, e = 0.5: p_n = 1.5, slip: p_t = -0.3."""
    one = PointImpacts(W=np.eye(2)[None], u=np.array([[-1.0, 0.5]]))
    for p in (kinematic(one, 0.2, 0.5), poisson(one, 0.2, 0.5), routh(one, 0.2, 0.5)):
        np.testing.assert_allclose(p, [[1.5, -0.3]], atol=1e-14)
    held = PointImpacts(W=np.eye(2)[None], u=np.array([[-1.0, 0.1]]))
    np.testing.assert_allclose(kinematic(held, 0.2, 0.5), [[1.5, -0.1]], atol=1e-14)
    np.testing.assert_allclose(kinematic(held, 0.2, 0.5, 0.5), [[1.5, -0.15]], atol=1e-14)


@pytest.mark.parametrize(
    ("law", "closed_form"),
    [
        (Newton(eps_n=0.6), lambda one: kinematic(one, 0.2, 0.6)),
        (Moreau(eps=0.4), lambda one: kinematic(one, 0.2, 0.4, 0.4)),
        (Poisson(eps_n=0.6), lambda one: poisson(one, 0.2, 0.6)),
    ],
)
def test_closed_forms_are_what_impact_finds(law, closed_form):
    impacts = random_impacts(40, 1)
    after = impacts.moved(closed_form(impacts.points()))
    found = by_engine(impacts, law, 0.2)
    np.testing.assert_allclose(found, after, atol=1e-9 * np.abs(after).max())


def test_routh_follows_the_growing_impulse():
    """The same law in steps of the normal impulse: slip against u_t, or stick where friction suffices."""
    impacts = random_impacts(30, 2)
    points, mu, e = impacts.points(), 0.15, 0.5
    fast = points.after(routh(points, mu, e))
    for W, u, found in zip(points.W, points.u, fast, strict=True):
        np.testing.assert_allclose(small_steps(W, u, mu, e), found, atol=4e-3)


def small_steps(W, u, mu, e, parts=4000):
    """Return the velocity after: compression until u_n = 0, then e times its impulse more."""
    u, step, pressed, total = u.copy(), -u[0] / W[0, 0] / parts, 0.0, np.inf
    hold = np.clip(-W[1, 0] / W[1, 1], -mu, mu)
    reach = 2.0 * step * (W[1, 1] * mu + abs(W[1, 0]))
    while pressed < total:
        ratio = hold if abs(u[1]) <= reach else -np.sign(u[1]) * mu
        if abs(u[1]) <= reach and abs(W[1, 0] / W[1, 1]) <= mu:
            ratio = np.clip((-u[1] / step - W[1, 0]) / W[1, 1], -mu, mu)
        u += step * W @ np.array([1.0, ratio])
        pressed += step
        if total == np.inf and u[0] >= 0.0:
            total = (1.0 + e) * pressed
    return u


def test_the_best_impulse_is_nearest():
    """No other impulse comes nearer; impacts made by an impulse are explained wholly."""
    impacts = random_impacts(20, 3)
    p = impacts.best()
    least = impacts.errors(impacts.moved(p))
    for step in np.random.default_rng(0).normal(size=(5, *p.shape)):
        assert (impacts.errors(impacts.moved(p + 0.01 * step)) >= least).all()
    made = EllipseImpacts(before=impacts.before, after=impacts.moved(p), n=impacts.n, d=impacts.d, mass=MASS)
    assert made.errors(made.moved(made.best())).max() < 1e-12
