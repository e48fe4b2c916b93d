"""A cross-check as the file formats describe it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .orders import Order
    from .results import Compared, CrossCheck, Level


def document(check: CrossCheck) -> dict[str, Any]:
    """Return the JSON document: null where a number is not known."""
    return {
        "schema": "gaussdyn/crosscheck/1",
        "scene": check.scene,
        "params": dict(check.params),
        "t_end": check.t_end,
        "start": check.start,
        "reference": {"name": check.reference, "error": dict(check.floor)},
        "results": [_result(one) for one in check.results],
    }


def _result(one: Compared) -> dict[str, Any]:
    layer = one.layer
    numbers = ("row", "stiffness", "width", "predicted")
    return {
        "name": one.name,
        "applies": not one.reason,
        "reason": one.reason or None,
        "words": one.words or None,
        "orders": {key: _order(order) for key, order in one.orders.items()},
        "layer": None if layer is None else {key: getattr(layer, key) for key in numbers},
        "levels": [_level(level) for level in one.levels],
    }  # fmt: skip


def _order(order: Order) -> dict[str, Any]:
    return {"value": order.value, "low": order.low, "high": order.high, "used": list(order.used)}


def _level(level: Level) -> dict[str, Any]:
    return {
        "stiffness": _known(level.stiffness),
        **{key: {"difference": gap.value, "t": gap.t, "name": gap.name} for key, gap in level.gaps.items()},
        "fast_energy": {"start": _known(level.fast_start), "end": _known(level.fast_end)},
        "stop": level.stop or None,
        "t_reached": level.t_reached,
        "wall_s": level.wall_s,
    }


def _known(x: float) -> float | None:
    return None if math.isnan(x) else x
