"""Mixed problems in JSON documents: M, q, and blocks of equalities, rows, boxes, cones and contacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...errors import InputError
from ..laws.laws import Associated, Coulomb, Unilateral
from ..problems.mixed import Box, Equality, MixedBlock, MixedComplementarity

KINDS = ("mixed", "mlcp", "gmp", "relay", "soclcp")
INFINITE = {"inf": np.inf, "-inf": -np.inf}

Numbers = Callable[[Any, str], Any]


def is_mixed(case: Mapping[str, Any]) -> bool:
    """Whether a case of a document is a mixed problem: it says so, or has M and blocks."""
    return case.get("kind") in KINDS or ("kind" not in case and "M" in case and "blocks" in case)


def mixed_problem(case: Mapping[str, Any], numbers: Numbers) -> MixedComplementarity:
    """Return the problem of a case; `numbers` reads nested lists of numbers under a name.

    Raises
    ------
    InputError
        An entry that is missing, or does not fit.
    """
    blocks = case["blocks"]
    if not isinstance(blocks, list):
        raise InputError(
            "blocks",
            type(blocks).__name__,
            "a list of objects with type and size",
            'Write "blocks": [{"type": "equality", "size": 1}].',
        )
    read = [block for k, entry in enumerate(blocks) for block in _blocks(entry, f"blocks[{k}]", numbers)]
    return MixedComplementarity(M=numbers(case["M"], "M"), q=numbers(case["q"], "q"), blocks=read)


def _blocks(entry: Any, name: str, numbers: Numbers) -> list[MixedBlock]:
    """Return the blocks of one entry: rows 0 <= z ⟂ w >= 0 are blocks of their own."""
    if not isinstance(entry, Mapping) or entry.get("type") not in READERS:
        given = repr(entry.get("type")) if isinstance(entry, Mapping) else repr(entry)
        raise InputError(f"{name}.type", given, ", ".join(READERS), f'Write "type": "{next(iter(READERS))}".')
    size = entry.get("size")
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InputError(f"{name}.size", repr(size), "a number of rows, an integer >= 1", 'Write "size": 1.')
    return READERS[entry["type"]](entry, size, name, numbers)


def _rows(_entry: Mapping[str, Any], size: int, _name: str, _numbers: Numbers) -> list[MixedBlock]:
    return [Unilateral()] * size


def _equality(_entry: Mapping[str, Any], size: int, _name: str, _numbers: Numbers) -> list[MixedBlock]:
    return [Equality(size)]


def _box(entry: Mapping[str, Any], size: int, name: str, numbers: Numbers) -> list[MixedBlock]:
    ends = [_side(entry, key, size, name, numbers) for key in ("lower", "upper")]
    return [Box(*ends)]


def _cone(entry: Mapping[str, Any], size: int, name: str, numbers: Numbers) -> list[MixedBlock]:
    return [Unilateral() if size == 1 else Associated(_mu(entry, name, numbers), dim=_dim(size, name))]


def _coulomb(entry: Mapping[str, Any], size: int, name: str, numbers: Numbers) -> list[MixedBlock]:
    return [Unilateral() if size == 1 else Coulomb(_mu(entry, name, numbers), dim=_dim(size, name))]


READERS: dict[str, Callable[[Mapping[str, Any], int, str, Numbers], list[MixedBlock]]] = {
    "equality": _equality, "complementarity": _rows, "box": _box, "cone": _cone, "coulomb": _coulomb,
}  # fmt: skip


def _side(entry: Mapping[str, Any], key: str, size: int, name: str, numbers: Numbers) -> tuple[float, ...]:
    """Return one side of a box; null, "inf" and "-inf" stand for a side that is open."""
    given, open_ = entry.get(key), -np.inf if key == "lower" else np.inf
    if not isinstance(given, list) or len(given) != size:
        raise InputError(
            f"{name}.{key}", repr(given)[:60], f"a list of {size} numbers", f'Write "{key}": {[0.0] * min(size, 6)}.'
        )
    return tuple(
        open_ if x is None else INFINITE[x] if x in ("inf", "-inf") else numbers(x, f"{name}.{key}") for x in given
    )


def _mu(entry: Mapping[str, Any], name: str, numbers: Numbers) -> Any:
    if "mu" not in entry:
        raise InputError(f"{name}.mu", "nothing", "a number >= 0: |z_T| <= mu z_N", 'Write "mu": 0.3.')
    return numbers(entry["mu"], f"{name}.mu")


def _dim(size: int, name: str) -> int:
    if size > 3:
        raise InputError(f"{name}.size", size, "1, 2 or 3 rows: (N, T1, T2)", 'Write "size": 3.')
    return size
