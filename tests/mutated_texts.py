"""Texts of robots with something changed, doubled or left out."""

from __future__ import annotations

import re

import numpy as np

NUMBERS = ("0", "-1", "1e300", "nan", "1e-300", "7", "inf")


def mutated(text: str, rng: np.random.Generator) -> str:
    """Return a text with a number, an attribute, an element or a character of it changed, doubled or left out."""
    for _ in range(rng.integers(1, 4)):
        kind = rng.integers(4)
        pattern = (r"-?\d*\.?\d+", r"\w+=\"[^\"]*\"", r"<[^>]*/>", r".")[kind]
        found = list(re.finditer(pattern, text))
        one = found[rng.integers(len(found))]
        new = (NUMBERS[rng.integers(7)], "", one.group() * rng.integers(0, 3), '<>"/ a1-.'[rng.integers(9)])[kind]
        text = text[: one.start()] + new + text[one.end() :]
    return text
