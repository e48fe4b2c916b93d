"""The engines of the league, by name; each adapter imports its library when it starts."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from ...errors import InputError
from .protocol import Engine

PLACES = {
    "gaussdyn": f"{__name__}.gaussdyn_engine:GaussdynEngine",
    "MuJoCo": f"{__name__}.mujoco_engine:MujocoEngine",
    "Drake": f"{__name__}.drake_engine:DrakeEngine",
    "Bullet": f"{__name__}.bullet_engine:BulletEngine",
    "DART": f"{__name__}.dart_engine:DartEngine",
    "pymunk": f"{__name__}.pymunk_engine:PymunkEngine",
}


def engine_at(place: str) -> Engine:
    """Return the engine at ``module:Class``.

    Raises
    ------
    InputError
        There is no such module or class.
    """
    module, _, name = place.partition(":")
    try:
        found: Engine = getattr(import_module(module), name)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        mend = f"{error}: python -c 'import {module}'"
        raise InputError("engine", repr(place), "module:Class of an adapter", mend) from None
    return found


def installed(engine: Engine) -> bool:
    """Return whether the library of an engine can be imported."""
    return find_spec(engine.library) is not None
