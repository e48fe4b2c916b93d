"""The woodpecker's own motion: the published state recurs, and every mode obeys the laws it stands for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gaussdyn.scenes.references.woodpecker_motion import BEND, H_M, HINGED, MASS, NORMAL, OFFSET, TANGENT, Woodpecker

START = np.array([0.0, HINGED / H_M, -0.2788]), np.array([-0.3411, 0.0, -7.4583])
TOY = Woodpecker(mu=0.3, beak=0.5, spring=0.0056)


def test_the_published_state_lies_on_the_limit_cycle():
    """Glocker's start, where the bird is at -0.2788 rad, comes back with the speeds it had, to one per cent."""
    end, hits = TOY.motion(*START, 0.14588)
    assert [name for name, _ in hits] == ["upper", "beak", "upper", "lower", "lower"]
    assert end.q[2] == pytest.approx(-0.2788, abs=1e-3)
    assert end.v == pytest.approx(START[1], rel=1e-2, abs=1e-12)


def test_an_impact_obeys_newton_and_coulomb():
    rng = np.random.default_rng(0)
    q = START[0]
    for _ in range(20):
        v = rng.normal(size=3) * [0.3, 10.0, 5.0]
        v[1] = -abs(v[1])
        after = TOY.struck(q, v)
        p = np.linalg.lstsq(np.column_stack((NORMAL[1], TANGENT[1])), MASS @ (after - v), rcond=None)[0]
        slip = float(TANGENT[1] @ after)
        assert NORMAL[1] @ after == pytest.approx(0.0, abs=1e-12)
        assert abs(p[1]) <= 0.3 * p[0] * (1.0 + 1e-9)
        assert abs(slip) < 1e-9 or p[1] == pytest.approx(-0.3 * p[0] * np.sign(slip))


def published(q, v, h, steps):
    """The scheme of the published run: theta = 1/2, contacts act whose gap half a step ahead is closed."""
    W = MASS + 0.25 * h * h * TOY.spring * BEND
    back, found = np.array([TOY.beak, 0.0, 0.0]), [(q, v)]
    for _ in range(steps):
        free = v + np.linalg.solve(W, h * TOY.force(q + 0.5 * h * v))
        acts = np.flatnonzero(NORMAL @ q + OFFSET + 0.5 * h * (NORMAL @ v) <= 0.0)
        u = next(one for one in _solutions(W, free, v, acts, back) if one is not None)
        q, v = q + 0.5 * h * (v + u), u
        found.append((q, v))
    return found


def _solutions(W, free, v, acts, back):
    """Velocities of all modes of the contacts that act; None where a mode breaks the laws."""
    for mode in itertools.product(("open", "stick", "+", "-"), repeat=len(acts)):
        rows, pushes, wanted, signs = [], [], [], []
        for k, how in zip(acts, mode, strict=True):
            slip = {"+": -TOY.mu, "-": TOY.mu}.get(how, 0.0)
            rows += [] if how == "open" else [NORMAL[k]]
            pushes += [] if how == "open" else [NORMAL[k] + slip * TANGENT[k]]
            wanted += [] if how == "open" else [-back[k] * (NORMAL[k] @ v)]
            if how == "stick":
                rows, pushes, wanted = [*rows, TANGENT[k]], [*pushes, TANGENT[k]], [*wanted, 0.0]
            signs.append(how)
        p = np.zeros(0)
        if rows:
            A = np.array(rows) @ np.linalg.solve(W, np.array(pushes).T)
            p = np.linalg.lstsq(A, np.array(wanted) - np.array(rows) @ free, rcond=None)[0]
        u = free + (np.linalg.solve(W, np.array(pushes).T) @ p if rows else 0.0)
        yield u if _obeys(acts, signs, p, u, v, back) else None


def _obeys(acts, signs, p, u, v, back):
    at = 0
    for k, how in zip(acts, signs, strict=True):
        if NORMAL[k] @ u + back[k] * (NORMAL[k] @ v) < -1e-12:
            return False
        if how == "open":
            continue
        if p[at] < -1e-15 or (how == "stick" and abs(p[at + 1]) > TOY.mu * p[at] + 1e-15):
            return False
        if how in "+-" and (TANGENT[k] @ u) * (1.0 if how == "+" else -1.0) < -1e-12:
            return False
        at += 2 if how == "stick" else 1
    return True


@pytest.mark.slow
def test_the_published_figures_are_those_of_a_step_of_20_microseconds():
    """Every digit of Siconos' example at 0.29998 s; the first impacts are the exact ones to three digits."""
    h, start = 2e-5, (np.array([0.0, -0.1036, -0.2788]), np.array([-0.3411, 0.0, -7.4583]))  # 0.9 um in the pole
    found = published(*start, h, 14999)
    q, v = found[-1]
    np.testing.assert_allclose(q, [-0.0413482, -0.103468, -0.340934], rtol=1e-5)
    np.testing.assert_allclose(v, [-0.260137, 0.0, -8.32756], rtol=1e-5, atol=1e-12)
    speeds = np.array([v for _, v in found])
    jumps = h * (1 + np.flatnonzero((np.abs(np.diff(speeds, axis=0)) > [0.02, 1.0, 0.3]).any(axis=1)))
    _, hits = TOY.motion(*START, 0.12)
    for t, exact in zip(jumps[jumps > 0.01], [t for _, t in hits], strict=False):
        assert f"{t:.3g}" == f"{exact:.3g}"
