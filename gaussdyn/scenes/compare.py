"""A run against the exact answers of its scene."""

from __future__ import annotations

import math
from typing import Any

from ..integrate.run.trajectory import Trajectory
from ..mechanics.scene import Exact, Scene

GENERAL = "moreau_jean"


def compare(scene: Scene, run: Trajectory) -> list[dict[str, Any]]:
    """Return one entry per exact answer: name, unit, expected, got, error, tol, pass.

    The tolerances hold at the scene's own step and duration, for a stepper of order 2 and every step saved. With a
    finer step they are asked for too; otherwise ``pass`` is None (not compared); after an unexpected stop so are got
    and error.
    """
    settings = run.settings["stepper"]
    name, dt = settings["name"], settings.get("dt")
    same = run.settings["t_end"] == scene.t_end and run.settings["save"] == 1 and settings.get("theta", 0.5) == 0.5
    same = same and (dt is None or dt <= scene.dt * (1.0 + 1e-12)) and settings.get("step") is None
    if run.stop is not None and not expected(scene, run):
        return [_entry(exact, None, None) for exact in scene.exact]
    return [_entry(exact, exact.measure(run), exact.tol.get(name) if same else None) for exact in scene.exact]


def steppers(scene: Scene) -> tuple[str, ...]:
    """Return the names of the steppers that a scene is meant for: those with a tolerance, and the general one."""
    return tuple(sorted({name for exact in scene.exact for name in exact.tol} | {GENERAL}))


def expected(scene: Scene, run: Trajectory) -> bool:
    """Whether a run that stopped did so for the reason that the scene announces."""
    return run.stop is not None and scene.expected_stop is not None and scene.expected_stop in run.stop.reason


def _entry(exact: Exact, got: float | None, tol: float | None) -> dict[str, Any]:
    error = None if got is None else abs(got - exact.value)
    met = None if tol is None or error is None else bool(math.isfinite(error) and error <= tol)
    figures = {"expected": exact.value, "got": got, "error": error, "tol": tol}
    return {"name": exact.name, "unit": exact.unit, **figures, "pass": met}
