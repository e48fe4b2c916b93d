"""Data within pages, small: whole numbers by differences and bytes of one weight together, deflated, in base64.

`unpack.js` is the other half. Differences from frame to frame are small: most bytes of high weight are zero, and
deflate makes nothing of them: about one byte per number is left of the eight of a double.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array

LARGEST = 2**30 - 1  # steps: differences of two such numbers still fit 32 bits with their sign


def deflated(data: bytes) -> str:
    """Return data as a page holds them: deflated (zlib), in base64."""
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


@dataclass(slots=True)
class Pack:
    """Tables of numbers one after the other; a document refers to them by ``{"$": number}``."""

    tables: list[dict[str, Any]] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)

    def add(self, values: ArrayLike, step: float) -> dict[str, int]:
        """Take a table, shape (rows, ...), as whole multiples of `step`, and return the reference to it."""
        table = np.asarray(values, dtype=np.float64)
        flat = table.reshape(len(table), -1) if table.size else np.zeros((0, 1))
        whole = np.clip(np.rint(flat / step), -LARGEST, LARGEST).astype(np.int64)
        change = np.diff(whole, axis=0, prepend=0)
        folded = np.where(change < 0, -2 * change - 1, 2 * change).astype("<u4")  # signs into the lowest bit
        self.data.append(np.ascontiguousarray(folded).view(np.uint8).reshape(-1, 4).T.tobytes())
        self.tables.append({"rows": flat.shape[0], "width": flat.shape[1], "step": step})
        return {"$": len(self.tables) - 1}

    def text(self, document: Mapping[str, Any]) -> str:
        """Return a document and its tables as text for a page."""
        whole = {"document": document, "tables": self.tables}
        head = json.dumps(whole, separators=(",", ":"), allow_nan=False).encode()
        return deflated(len(head).to_bytes(4, "little") + head + b"".join(self.data))


def packed_film(film: Mapping[str, Any]) -> str:
    """Return a film (see `film.film`) as text for a page."""
    pack = Pack()
    shapes = [
        track | {"moving": {key: _moving(pack, key, column, film) for key, column in track["moving"].items()}}
        for track in film["shapes"]
    ]
    lines = [line for state in film["contacts"] for line in state]
    contacts = {
        "counts": pack.add([[len(state)] for state in film["contacts"]], 1.0),
        "which": pack.add(np.array([line[:2] for line in lines], dtype=np.float64).reshape(-1, 2), 1.0),
        "at": pack.add(_numbers(lines, 2), place_step(film)),
        "normal": pack.add(_numbers(lines, 3), 1e-4),
        "force": pack.add(_numbers(lines, 4), 1e-4 * film["force"] or 1.0),
    }
    kept = {"shapes": shapes, "contacts": contacts}
    if film.get("centre"):
        kept["centre"] = pack.add(film["centre"], place_step(film))
    return pack.text({**film, **kept})


def place_step(film: Mapping[str, Any]) -> float:
    """Return to what places are rounded, m."""
    return float(10.0 ** -film["decimals"])


def _numbers(lines: Sequence[Sequence[Any]], k: int) -> Array:
    return np.array([line[k] for line in lines], dtype=np.float64) if lines else np.zeros((0, 1))


def _moving(pack: Pack, key: str, column: Sequence[Any], film: Mapping[str, Any]) -> Any:
    """Return the reference to a column of numbers of one shape; others stay as they are."""
    there = [one for one in column if one is not None]
    sizes = {np.shape(one) for one in there}
    if len(sizes) != 1 or not all(np.asarray(one).dtype.kind == "f" for one in there[:1]):
        return column
    filled, last = [], there[0]
    for one in column:
        last = last if one is None else one
        filled.append(last)
    step = place_step(film) if key in ("at", "ends", "points") else 1e-4
    found: dict[str, Any] = {"values": pack.add(filled, step), "shape": list(sizes.pop())}
    if len(there) < len(column):
        found["there"] = pack.add([[float(one is not None)] for one in column], 1.0)
    return found
