"""Every scene, run, against its exact numbers: at its defaults, at other parameters, and with a wrong system."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence import examples, first
from scene_cases import LONG, by_scene, scene_of

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.scenes.catalogue import build, names, parameters

LATER = pytest.mark.slow
VARIED = [
    ("incline", {"mu": 0.2}),
    ("incline", {"slope": 0.5, "mu": 0.7, "v0": 2.0, "mass": 30.0}),
    ("incline", {"slope": 0.9, "mu": 0.3, "v0": -3.0}),
    ("incline", {"slope": 1.2, "mu": 0.0, "v0": -1.0}),
    ("zeno_ball", {"e": 0.0, "h": 2.0}),
    ("zeno_ball", {"e": 0.05, "h": 0.1}),
    ("zeno_ball", {"e": 0.5, "h": 30.0}),
    ("coulomb_oscillator", {"mu": 0.12, "x0": -1.2, "mass": 0.7, "stiffness": 1.9}),
    ("coulomb_oscillator", {"mu": 0.5}),
    ("sliding_rod", {"mu": 1.1, "theta0": 1.2, "omega0": -0.8}),
    ("sliding_rod", {"mu": 0.0, "half_length": 1.5, "v0": 6.0, "mass": 8.0}),
    ("slack_string", {"ratio": 2.3}),
    ("slack_string", {"ratio": 4.7, "length": 5.0, "mass": 3.0}),
]


def misses(scene, run):
    """Return what is out of tolerance, as text."""
    found = {exact.name: (exact.measure(run), exact) for exact in scene.exact}
    return [
        f"{name}: {got!r}, exact {exact.value!r} +- {exact.tol['moreau_jean']:.1e} at {scene.params}"
        for name, (got, exact) in found.items()
        if not abs(got - exact.value) <= exact.tol["moreau_jean"]
    ]


@pytest.mark.parametrize("name", by_scene(names(), slow=LONG))
def test_scene_meets_its_exact_numbers(name):
    scene = scene_of(name)
    run = simulate(scene)
    assert run.status == "COMPLETED", run.stop
    assert misses(scene, run) == []
    assert run.statistics["max_residual"] <= 1e-12
    assert run.statistics["unsolved_steps"] == 0


@pytest.mark.drawn
@pytest.mark.parametrize("name", by_scene(names()))
def test_scene_passes_the_audit(name):
    scene = scene_of(name)
    run = simulate(scene, t_end=min(0.1, examples(200, fast=50) * scene.dt))
    verdict = audit(run, scene.system)
    assert verdict.passed, verdict.explain()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "params"), VARIED)
def test_scene_meets_its_exact_numbers_at_other_parameters(name, params):
    scene = build(name, **params)
    run = simulate(scene)
    assert run.status == "COMPLETED", run.stop
    assert misses(scene, run) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", by_scene(names()))
@pytest.mark.parametrize("seed", first(4, [0, 1, 4, 5, 2, 3, *range(6, 12)], rest=pytest.mark.nightly))
def test_scene_meets_its_exact_numbers_anywhere_in_its_range(name, seed):
    """The first four seeds are corners of the range, the others lie within."""
    rng, known = np.random.default_rng(seed), parameters(name)
    pick = (lambda p: p.min if rng.random() < 0.5 else p.max) if seed < 4 else (lambda p: rng.uniform(p.min, p.max))
    scene = build(name, **{key: float(pick(p)) for key, p in known.items()})
    run = simulate(scene)
    assert run.status == "COMPLETED", run.stop
    assert misses(scene, run) == []


@pytest.mark.parametrize(
    ("name", "wrong", "noticed"),
    [
        ("drawer", {"mu": 0.45}, {"way at the end", "speed at the end"}),
        ("incline", {"mu": 0.3}, {"distance at the end", "speed at the end"}),
        pytest.param("zeno_ball", {"e": 0.55}, {"height of the first rebound", "time of rest"}, marks=LATER),
        pytest.param("coulomb_oscillator", {"mu": 0.0104}, {"first turning point"}, marks=LATER),
        pytest.param("sliding_rod", {"mu": 0.51}, {"angle at the end", "velocity of the tip at the end"}, marks=LATER),
        pytest.param("wall_press", {"mu": 0.45}, {"drop at the end", "velocity at the end", "friction at the end"},
                     marks=LATER),
        pytest.param("slack_string", {"length": 0.99}, {"height where it goes slack", "greatest height"}, marks=LATER),
    ],
)  # fmt: skip
def test_wrong_system_is_noticed(name, wrong, noticed):
    """A known-bad run: the exact numbers of one scene against the system of another."""
    scene = build(name, e=0.6) if name == "zeno_ball" else build(name)
    impostor = replace(scene, system=build(name, **wrong).system)
    if name == "slack_string":  # else the string would be too long at the start
        impostor = replace(impostor, state=build(name, **wrong).state)
    missed = {text.split(":")[0] for text in misses(scene, simulate(impostor, t_end=min(scene.t_end, 4.2)))}
    assert noticed <= missed


def test_held_block_does_not_creep():
    """99 % of the friction angle: no distance and no speed above rounding."""
    scene = build("incline", slope=0.3, mu=float(np.tan(0.3)) / 0.99)
    run = simulate(scene, t_end=0.5)
    assert abs(run["block.travelled"][-1]) <= 1e-15
    assert np.abs(run["block.speed"]).max() <= 1e-16


def test_mass_drops_out_of_the_incline():
    """Two masses, six orders of magnitude apart: the runs agree to rounding."""
    light, heavy = (simulate(build("incline", mu=0.2, mass=mass), t_end=0.2) for mass in (1e-3, 1e3))
    np.testing.assert_allclose(light["block.travelled"], heavy["block.travelled"], atol=1e-13)


@pytest.mark.slow
def test_a_ball_that_hardly_leaves_the_depth_of_its_impact():
    scene = build("zeno_ball", e=0.06826533819694312, h=39.27943645698405)
    assert misses(scene, simulate(scene)) == []


@pytest.mark.slow
def test_four_bars_pass_the_audit_through_their_flattened_state():
    scene = build("four_bar", loops=2.0, v0=2.0, length=0.7)
    run = simulate(scene)
    assert run["v0.angle"][-1] < 0.0 < run["v0.angle"][0]  # it has been flat
    assert misses(scene, run) == []
    verdict = audit(run, scene.system)
    assert verdict.passed, verdict.explain()
