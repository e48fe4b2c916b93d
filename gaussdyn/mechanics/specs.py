"""From the plain data that `System.spec` returns back to the system."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..errors import InputError
from .system import System

HOME = {"PlanarSystem": "planar", "SpatialSystem": "spatial", "TreeSystem": "trees", "LagrangianSystem": "lagrangian"}


def system_of(spec: Mapping[str, Any]) -> System:
    """Return the system that a spec describes.

    Parameters
    ----------
    spec : mapping
        What ``spec()`` of a PlanarSystem, SpatialSystem, TreeSystem or LagrangianSystem returned (JSON in between does
        no harm).

    Raises
    ------
    InputError
        A kind that cannot be built again, such as a system made of Python functions.
    """
    kind = str(spec.get("kind", ""))
    if kind not in HOME:
        mend = str(spec.get("reason", "")) or "Build it again with the program that made it."
        raise InputError("kind of the spec", repr(kind), ", ".join(HOME), mend)
    home = import_module(f".{HOME[kind]}", __package__)
    system: System = getattr(home, kind).from_spec(spec)
    return system
