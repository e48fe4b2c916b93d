"""The one catalogue of scenes, for tests, benchmarks, documentation and the command line."""

from __future__ import annotations

import difflib
import inspect
from importlib import import_module
from types import ModuleType

from ..arrays import scalar
from ..errors import InputError
from ..mechanics.scene import Parameter, Scene
from ..mends import meant, write

ROOMS: dict[str, tuple[str, ...]] = {
    "impacts": (
        "cradle", "double_pendulum_impact", "rail_cars", "rimless_wheel", "rocking_block", "slack_string",
        "slider_clearance", "superball", "two_ball_drop", "woodpecker", "zeno_ball",
    ),
    "linkages": (
        "andrews_squeezer", "bricard", "darboux", "energy_constraint", "equal_crank", "four_bar", "kapitza",
        "parallelogram", "pendulum", "singular_pendulum", "slider_crank",
    ),
    "painleve": (
        "falling_rod", "ivanov_rod", "painleve_klein", "painleve_rod", "sliding_rod",
    ),
    "sliding": (
        "associated_slider", "belt_oscillator", "brick_on_slope", "capstan", "conveyor", "coulomb_oscillator",
        "cue_ball", "duffing_friction", "duffing_plane", "incline", "launched_cube", "pinched_capsule",
        "rest_scenarios", "sphere_slip", "spinning_disc", "stribeck_belt", "turntable", "wall_press", "wedge_in_groove",
    ),
    "spinning": (
        "chaplygin_sleigh", "coin", "free_body", "knife_edge", "leaving_sphere", "rattleback", "rolling_cylinder",
        "rolling_disc", "spinning_top", "tippe_top",
    ),
    "standing": (
        "arch", "bar_on_supports", "bipod", "drawer", "four_legs", "ladder", "masonry", "overhang", "redundant_corner",
        "reentrant_corner", "stack", "table", "tetrahedra", "tip_or_slide", "toppling_cylinder",
        "v_groove", "wedge", "wedge_lock",
    ),
}  # fmt: skip
_HOME = {name: f"{__package__}.{room}.{name}" for room, names in ROOMS.items() for name in names}


def names() -> tuple[str, ...]:
    """Return the names of all scenes, sorted."""
    return tuple(sorted(_HOME))


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
            raise InputError(f"parameter of {name}", repr(key), ", ".join(known), _parameter(key, known))
    values = {key: params.get(key, parameter.default) for key, parameter in known.items()}
    checked = {key: scalar(key, value, low=known[key].min, high=known[key].max) for key, value in values.items()}
    scene: Scene = module.build(**checked)
    return scene


def _scene(name: str) -> ModuleType:
    if not isinstance(name, str) or name not in _HOME:
        raise InputError("scene", repr(name), "a scene that `gaussdyn scenes` lists", nearest(name))
    return import_module(_HOME[name])


def nearest(name: str) -> str:
    """Return the scenes whose names are much like this one, as a question, or the command that lists all."""
    return meant(name, _HOME, alike=0.6) or "List them: gaussdyn scenes."


def _parameter(given: str, known: dict[str, Parameter]) -> str:
    """Return the line with the parameter that is much like the one given, or the first."""
    near = difflib.get_close_matches(given, list(known), n=3, cutoff=0.4)
    if not known:
        return f"Leave {given}=... out."
    name = (near or list(known))[0]
    question = f"Did you mean {' or '.join(near)}? " if near else ""
    return question + write(name, f"{known[name].default:g}")
