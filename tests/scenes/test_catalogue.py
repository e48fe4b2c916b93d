"""The catalogue: every scene is complete, valid over its whole range, and refuses what lies outside."""

from __future__ import annotations

import json

import numpy as np
import pytest
from evidence import examples
from scene_cases import LOCATED, ON_BRANCH, by_scene, scene_of

from gaussdyn.errors import InputError
from gaussdyn.mechanics.check import check_system
from gaussdyn.mechanics.scene import Scene
from gaussdyn.mechanics.specs import system_of
from gaussdyn.mechanics.system import System
from gaussdyn.scenes.catalogue import build, names, parameters

NAMES = names()
EVERY = pytest.mark.parametrize("name", by_scene(NAMES))


def draws(name, count):
    """Return parameters at the two ends of every range, and at random within."""
    rng, known = np.random.default_rng(7), parameters(name)
    ends = [{key: p.min for key, p in known.items()}, {key: p.max for key, p in known.items()}]
    return ends + [{key: float(rng.uniform(p.min, p.max)) for key, p in known.items()} for _ in range(count)]


def test_names_are_sorted_and_the_five_first_scenes_are_there():
    assert list(NAMES) == sorted(NAMES)
    assert {"coulomb_oscillator", "incline", "slack_string", "sliding_rod", "zeno_ball"} <= set(NAMES)


@EVERY
def test_scene_is_complete(name):
    scene = scene_of(name)
    assert isinstance(scene, Scene)
    assert isinstance(scene.system, System)
    assert scene.name == name
    assert scene.title
    assert scene.source
    assert scene.tests
    assert scene.exact
    assert scene.columns
    assert scene.dim in (2, 3)
    assert scene.params == {key: p.default for key, p in parameters(name).items()}
    kept = {stepper for exact in scene.exact for stepper in exact.tol}
    assert ("event_driven" in kept, "on_branch" in kept) == (name in LOCATED, name in ON_BRANCH)
    assert 0.0 < scene.dt < scene.t_end
    assert scene.t_end / scene.dt <= 5001
    assert len({exact.name for exact in scene.exact}) == len(scene.exact)
    for key, parameter in parameters(name).items():
        assert parameter.min <= parameter.default <= parameter.max, key
        assert parameter.min < parameter.max, key
        assert parameter.unit
        assert parameter.meaning


def test_friction_at_rest_has_one_name():
    found = {(name, key) for name in NAMES for key, p in parameters(name).items() if "at rest" in p.meaning}
    friction = {(name, key) for name, key in found if "friction" in parameters(name)[key].meaning}
    assert {key for _, key in friction} == {"mu_s"}
    assert {"belt_oscillator", "stribeck_belt", "associated_slider"} <= {name for name, _ in friction}
    assert not any("of rest" in p.meaning for name in NAMES for p in parameters(name).values())


@pytest.mark.drawn
@EVERY
def test_scene_is_valid_over_its_whole_range(name):
    for params in draws(name, examples(6, fast=1)):
        scene = build(name, **params)
        assert scene.params == params
        system, state = scene.system, scene.state
        for row in system.rows(state.t, state.q, state.v):
            assert abs(row.gap) <= 1e-12 or row.gap > 1e-3, (params, row.id)
            assert row.kind == "dry" or row.gap > 1e-3 or row.rate[0] >= -1e-12, (params, row.id)
        for exact in scene.exact:
            assert np.isfinite(exact.value), (params, exact.name)
            assert 0.0 < exact.tol["moreau_jean"] < np.inf, (params, exact.name)
        for unit, column in scene.columns.values():
            assert unit
            assert np.isfinite(column(state))
        json.dumps(system.drawables(state.q), allow_nan=False)


@pytest.mark.drawn
@pytest.mark.parametrize("name", by_scene(NAMES, slow=("bricard", "masonry", "stack")))  # those of many rows
def test_system_of_a_scene_agrees_with_differences(name):
    report = check_system(scene_of(name).system, samples=examples(2, fast=1))
    assert report.ok, str(report)


@EVERY
def test_system_of_a_scene_can_be_built_again_from_its_spec(name):
    system = scene_of(name).system
    assert system_of(json.loads(json.dumps(system.spec()))).spec() == system.spec()


@EVERY
def test_values_outside_the_range_are_refused_with_the_range(name):
    for key, parameter in parameters(name).items():
        for value in (parameter.max + 1.0, parameter.min - 1.0, np.nan, np.inf, "1", True):
            with pytest.raises(InputError, match=f"^{key}: given"):
                build(name, **{key: value})


@pytest.mark.parametrize(
    ("given", "meant"), [("inclin", "incline"), ("zeno", "zeno_ball"), ("sliding-rod", "sliding_rod")]
)
def test_unknown_scene_offers_the_nearest(given, meant):
    for call in (build, parameters):
        with pytest.raises(InputError, match=f"scene: given '{given}'.*Did you mean .*{meant}"):
            call(given)


def test_unknown_parameter_offers_the_nearest():
    with pytest.raises(InputError, match=r"parameter of incline: given 'slop'.*Did you mean slope"):
        build("incline", slop=0.3)
    with pytest.raises(InputError, match="allowed: e, h"):
        build("zeno_ball", qqqq=1.0)


@pytest.mark.parametrize("name", ["andrews_squeezer", "rattleback", "woodpecker"])
def test_exact_numbers_that_take_long_are_found_when_they_are_looked_at(name):
    scene = build(name, **{key: p.max for key, p in parameters(name).items()})
    assert repr(scene.exact) == "'found when asked'"
    first = scene.exact[0]
    assert first is next(iter(scene.exact))  # and once
    assert repr(first) in repr(scene.exact)
