"""How values print: what a person wants to know first, in a few lines, however much there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields
from enum import Enum
from typing import Any, TypeVar

import numpy as np

LINES, WIDTH, MOST = 9, 110, 960  # of a repr: lines, characters of a line, characters in all
FEW = 7  # numbers that are shown as they are
SOME = 4  # entries of a collection that are named
WORD = 60  # characters of a text within a repr

PACKAGE = __name__.partition(".")[0]
T = TypeVar("T")


def brief(self: Any) -> str:
    """Return the repr of a dataclass: its fields, each in short."""
    public = [one.name for one in fields(self) if one.repr and not one.name.startswith("_")]
    return fitted(type(self).__name__, [f"{name}={short(getattr(self, name))}" for name in public])


class Many(tuple[T, ...]):
    """A tuple that prints its first entries, one in a line, and how many there are."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the first entries."""
        shown = [f"    {cut(repr(one), WIDTH - 5)}," for one in self[:FEW]]
        more = [f"    ... {len(self)} in all"] if len(self) > len(shown) else []
        return "\n".join(["(", *shown, *more, ")"]) if len(self) > 1 else tuple.__repr__(self)


def fitted(name: str, parts: Sequence[str]) -> str:
    """Return ``name(part, part, ...)`` in few enough lines; what does not fit is left out, with dots."""
    lines, line = [], f"{name}("
    for k, part in enumerate(parts):
        piece = cut(part, WIDTH - 4) + ("" if k == len(parts) - 1 else ", ")
        if len(line) + len(piece) > WIDTH:
            lines.append(line.rstrip())
            line = "    "
        line += piece
    lines.append(line + ")")
    kept = list(lines)
    while len(kept) > LINES or len("\n".join(kept)) > MOST:
        kept.pop()
    return "\n".join(kept) if len(kept) == len(lines) else "\n".join([*kept, "    ...)"])


def short(value: Any) -> str:
    """Return a value in less than a line."""
    if value is None or isinstance(value, bool | int | np.integer):
        return str(value)
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, str):
        return cut(repr(value), WORD)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, Mapping):
        return _listed([f"{key}: {_named(item)}" for key, item in list(value.items())[:SOME]], len(value), "{}")
    if isinstance(value, tuple | list | Set):
        return _listed([_named(item) for item in list(value)[:SOME]], len(value), "()")
    return _named(value)


def span(values: Any) -> str:
    """Return the smallest and the largest of some numbers, as "a .. b"; NaN does not count."""
    x = np.asarray(values, dtype=np.float64)
    x = x[~np.isnan(x)]
    if not x.size:
        return "none"
    low, high = float(x.min()), float(x.max())
    return f"{low:.6g}" if low == high else f"{low:.6g} .. {high:.6g}"


def names(words: Sequence[str], most: int = SOME) -> str:
    """Return the first words of many, and how many there are."""
    more = f", ... ({len(words)} in all)" if len(words) > most else ""
    return ", ".join(cut(str(word), WORD) for word in words[:most]) + more


def cut(text: str, most: int) -> str:
    """Return a text in one line of at most so many characters."""
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= most else text[: most - 3] + "..."


def _array(x: Any) -> str:
    shape = f"array of shape {x.shape}"
    if x.dtype.kind not in "biuf":
        return shape if x.size > SOME else _listed([repr(str(v)) for v in x.flat], x.size, "[]")
    if x.ndim <= 1 and x.size <= FEW:
        return "[" + ", ".join(f"{float(v) + 0.0:.6g}" for v in x.flat) + "]"
    if not x.size:
        return shape
    if x.size <= 2 * FEW:
        return "[" + ", ".join(_array(row) for row in x) + "]" if x.ndim == 2 else shape
    return shape if x.dtype.kind == "b" else f"{shape}, {span(x)}"


def _listed(shown: list[str], count: int, brackets: str) -> str:
    more = f", ... {count} in all" if count > len(shown) else ""
    return f"{brackets[0]}{cut(', '.join(shown), WIDTH - 30)}{more}{brackets[1]}"


def _named(value: Any) -> str:
    """Return a value as it is named within another one."""
    if isinstance(value, tuple | list | Mapping | Set) and len(value) > FEW:
        return f"{type(value).__name__} of {len(value)}"
    if isinstance(value, str | float | np.ndarray | Enum | tuple | list | Mapping | Set) or value is None:
        return short(value)
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    kind, text = type(value).__name__, cut(repr(value), MOST)
    if len(text) <= WORD + 20 or not type(value).__module__.startswith(PACKAGE):
        return cut(text, WORD + 20)
    word = getattr(value, "id", None) or getattr(value, "name", None)
    return f"{kind}({cut(word, WORD)!r})" if isinstance(word, str) else f"{kind}(...)"
