"""Limits at which statics fails: thinnest arches, and what a rope around a post can hold, from both sides."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn.integrate.simulate import simulate
from gaussdyn.scenes.catalogue import build
from gaussdyn.scenes.compare import compare
from gaussdyn.scenes.standing.arch import stands

# Least thickness over the mean radius by number of stones, without slip; and of 101 stones by friction
THINNEST = {7: 0.0962450, 11: 0.1049103, 15: 0.1062658, 21: 0.1067899, 51: 0.1073736}
ROUGH = {0.32: 0.1855, 0.35: 0.1518, 0.395: 0.10765, 0.4: 0.1074507}
MILANKOVITCH = 0.1075


def thinnest(n, mu):
    low, high = 0.05, 0.3
    while high - low > 1e-7:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if stands(n, middle, mu) else (middle, high)
    return high


def test_linear_programs_find_the_thinnest_arches():
    np.testing.assert_allclose([thinnest(n, 0.7) for n in THINNEST], list(THINNEST.values()), atol=3e-7)
    np.testing.assert_allclose([thinnest(n, 0.4) for n in THINNEST], list(THINNEST.values()), atol=3e-7)


@pytest.mark.slow
def test_friction_below_0_4_needs_thicker_arches():
    np.testing.assert_allclose([thinnest(101, mu) for mu in ROUGH], list(ROUGH.values()), atol=3e-5)
    assert thinnest(301, 0.7) == pytest.approx(0.1074709, abs=3e-6)
    assert thinnest(301, 0.7) == pytest.approx(MILANKOVITCH, abs=5e-5)


@pytest.mark.parametrize("n", [7, 11, 15])
@pytest.mark.parametrize("share", [1.001, 0.999])
def test_arch_stands_or_falls_at_its_threshold(n, share):
    check_arch(n, THINNEST[n] * share, 0.7, share > 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("thickness", "mu", "up"),
    [(0.108, 0.7, True), (0.106, 0.7, False), (0.1859, 0.32, True), (0.1840, 0.32, False),
     (0.1521, 0.35, True), (0.1510, 0.35, False)],
)  # fmt: skip
def test_arch_of_51_stones(thickness, mu, up):
    check_arch(51, thickness, mu, up)


def check_arch(n, thickness, mu, up):
    scene = build("arch", stones=n, thickness=thickness, mu=mu)
    run = simulate(scene)
    fall = np.abs(run.v[-1]).max()
    assert fall < 1e-9 if up else fall > 1e-5
    assert all(one["pass"] for one in compare(scene, run))


@pytest.mark.parametrize("corners", [12, 24, 48])
def test_rope_holds_up_to_the_ratio_of_its_corners(corners):
    """3 turns with mu = 0.3, where Euler's ratio is exp(mu phi) = 285.678421101; one part in 1e5 on both sides."""
    phi, mu = 6.0 * math.pi, 0.3
    half = 0.5 * phi / corners
    one = (math.cos(half) + mu * math.sin(half)) / (math.cos(half) - mu * math.sin(half))
    most = one**corners
    for share in (1.0 - 1e-5, 1.0 + 1e-5):
        scene = build("capstan", corners=corners, wrap=phi, mu=mu, share=1.0 + math.log(share) / math.log(most))
        run = simulate(scene, t_end=2.0 * scene.dt)
        speed = abs(run["last.along"][-1])
        assert speed < 1e-12 if share < 1.0 else speed > 1e-9, (share, speed)


def test_corners_without_end_make_eulers_formula():
    phi, mu = 6.0 * math.pi, 0.3
    assert math.exp(mu * phi) == pytest.approx(285.678421101, rel=1e-11)
    n = np.array([200.0, 400.0, 800.0])
    half = 0.5 * phi / n
    most = ((np.cos(half) + mu * np.sin(half)) / (np.cos(half) - mu * np.sin(half))) ** n
    error = np.abs(most / math.exp(mu * phi) - 1.0)
    assert np.polyfit(np.log(n), np.log(error), 1)[0] == pytest.approx(-2.0, abs=0.02)
