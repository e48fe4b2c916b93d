"""The one catalogue of scenes, for tests, benchmarks, documentation and the command line."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from types import ModuleType

from ..arrays import scalar
from ..errors import InputError
from ..mechanics.scene import Parameter, Scene
from . import (
    andrews_squeezer,
    arch,
    associated_slider,
    bar_on_supports,
    belt_oscillator,
    bipod,
    bricard,
    brick_on_slope,
    capstan,
    chaplygin_sleigh,
    conveyor,
    coulomb_oscillator,
    cradle,
    cue_ball,
    darboux,
    double_pendulum_impact,
    drawer,
    duffing_friction,
    duffing_plane,
    energy_constraint,
    equal_crank,
    falling_rod,
    four_bar,
    four_legs,
    free_body,
    incline,
    ivanov_rod,
    kapitza,
    knife_edge,
    ladder,
    launched_cube,
    leaving_sphere,
    overhang,
    painleve_klein,
    painleve_rod,
    parallelogram,
    pendulum,
    pinched_capsule,
    rail_cars,
    rattleback,
    redundant_corner,
    reentrant_corner,
    rest_scenarios,
    rimless_wheel,
    rocking_block,
    rolling_disc,
    singular_pendulum,
    slack_string,
    slider_clearance,
    slider_crank,
    sliding_rod,
    sphere_slip,
    spinning_disc,
    spinning_top,
    stack,
    stribeck_belt,
    superball,
    table,
    tip_or_slide,
    tippe_top,
    turntable,
    two_ball_drop,
    v_groove,
    wall_press,
    wedge,
    wedge_lock,
    woodpecker,
    zeno_ball,
)

_HOME: dict[str, ModuleType] = {
    "andrews_squeezer": andrews_squeezer,
    "arch": arch,
    "associated_slider": associated_slider,
    "bar_on_supports": bar_on_supports,
    "belt_oscillator": belt_oscillator,
    "bipod": bipod,
    "bricard": bricard,
    "brick_on_slope": brick_on_slope,
    "capstan": capstan,
    "chaplygin_sleigh": chaplygin_sleigh,
    "conveyor": conveyor,
    "coulomb_oscillator": coulomb_oscillator,
    "cradle": cradle,
    "cue_ball": cue_ball,
    "darboux": darboux,
    "double_pendulum_impact": double_pendulum_impact,
    "drawer": drawer,
    "duffing_friction": duffing_friction,
    "duffing_plane": duffing_plane,
    "energy_constraint": energy_constraint,
    "equal_crank": equal_crank,
    "falling_rod": falling_rod,
    "four_bar": four_bar,
    "four_legs": four_legs,
    "free_body": free_body,
    "incline": incline,
    "ivanov_rod": ivanov_rod,
    "kapitza": kapitza,
    "knife_edge": knife_edge,
    "ladder": ladder,
    "launched_cube": launched_cube,
    "leaving_sphere": leaving_sphere,
    "overhang": overhang,
    "painleve_klein": painleve_klein,
    "painleve_rod": painleve_rod,
    "parallelogram": parallelogram,
    "pendulum": pendulum,
    "pinched_capsule": pinched_capsule,
    "rail_cars": rail_cars,
    "rattleback": rattleback,
    "redundant_corner": redundant_corner,
    "reentrant_corner": reentrant_corner,
    "rest_scenarios": rest_scenarios,
    "rimless_wheel": rimless_wheel,
    "rocking_block": rocking_block,
    "rolling_disc": rolling_disc,
    "singular_pendulum": singular_pendulum,
    "slack_string": slack_string,
    "slider_clearance": slider_clearance,
    "slider_crank": slider_crank,
    "sliding_rod": sliding_rod,
    "sphere_slip": sphere_slip,
    "spinning_disc": spinning_disc,
    "spinning_top": spinning_top,
    "stack": stack,
    "stribeck_belt": stribeck_belt,
    "superball": superball,
    "table": table,
    "tip_or_slide": tip_or_slide,
    "tippe_top": tippe_top,
    "turntable": turntable,
    "two_ball_drop": two_ball_drop,
    "v_groove": v_groove,
    "wall_press": wall_press,
    "wedge": wedge,
    "wedge_lock": wedge_lock,
    "woodpecker": woodpecker,
    "zeno_ball": zeno_ball,
}


def names() -> tuple[str, ...]:
    """Return the names of all scenes, sorted."""
    return tuple(_HOME)


def parameters(name: str) -> dict[str, Parameter]:
    """Return the parameters of a scene, with defaults, units and ranges.

    Raises
    ------
    InputError
        An unknown scene; the nearest names are offered.
    """
    return dict(_scene(name).PARAMETERS)


def description(name: str) -> str:
    """Return what a scene shows and where its exact numbers come from, in words.

    Raises
    ------
    InputError
        An unknown scene; the nearest names are offered.
    """
    return inspect.cleandoc(_scene(name).__doc__ or "")


def build(name: str, **params: float) -> Scene:
    """Return a scene; parameters that are not given keep their defaults.

    Raises
    ------
    InputError
        An unknown scene or parameter (the nearest names are offered), a value outside the stated range, NaN.
    """
    module = _scene(name)
    known: dict[str, Parameter] = module.PARAMETERS
    for key in params:
        if key not in known:
            raise InputError(f"parameter of {name}", repr(key), ", ".join(known), _suggest(key, known))
    values = {key: params.get(key, parameter.default) for key, parameter in known.items()}
    checked = {key: scalar(key, value, low=known[key].min, high=known[key].max) for key, value in values.items()}
    scene: Scene = module.build(**checked)
    return scene


def _scene(name: str) -> ModuleType:
    if name not in _HOME:
        meant = _suggest(name, _HOME)
        allowed = "a scene that `gaussdyn scenes` lists" if meant else ", ".join(_HOME)
        raise InputError("scene", repr(name), allowed, meant)
    return _HOME[name]


def _suggest(given: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(given), list(known), n=3, cutoff=0.4)
    return f"Did you mean {' or '.join(near)}?" if near else ""
