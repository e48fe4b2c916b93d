"""What to write instead of a wrong argument, as errors say it: ``Write radius=0.05.``"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from math import inf

USUAL = {
    "mu": 0.5, "mu_s": 0.6, "eps_n": 0.5, "eps_t": 0.0, "radius": 0.05, "mass": 1.0, "density": 1000.0, "dt": 1e-3,
    "length": 0.1, "confidence": 0.95, "tol": 1e-10, "stiffness": 1e4, "damping": 10.0, "theta": 0.5, "t_end": 1.0,
    "half_length": 0.1, "width": 0.1, "height": 0.1, "inertia": 1e-3,
}  # fmt: skip
VECTORS = {
    "gravity": {2: "(0.0, -9.81)", 3: "(0.0, 0.0, -9.81)"},
    "axis": {2: "(0.0, 1.0)", 3: "(0.0, 0.0, 1.0)"},
    "normal": {2: "(0.0, 1.0)", 3: "(0.0, 0.0, 1.0)"},
    "half": {3: "(0.1, 0.1, 0.1)"},
    "inertia": {3: "(1e-3, 1e-3, 1e-3)"},
    "place": {2: "(0.0, 0.1)", 3: "(0.0, 0.1, 0.0)", 7: "(0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0)"},
    "quaternion": {4: "(1.0, 0.0, 0.0, 0.0)"},
}
KEYED = ("place", "velocity", "joints", "rates")  # mappings: the name says of what the value is
FUNCTION = re.compile(r"(\w+)\(.*\)")
ENTRY = re.compile(r"(?:parameter )?(?P<argument>\w+)(?: of (?P<of>[^ ()]+))?(?: .*)?")
WHERE = "Look for a division by zero: numpy.seterr(all='raise') shows where."
ENOUGH = 6  # entries that are written out


def write(name: str, value: object) -> str:
    """Return the line for an argument: ``Write radius=0.05.``"""
    return f"Write {name}={value}."


def meant(given: object, known: Iterable[str], alike: float = 0.5) -> str:
    """Return the known words that are much like the one given, as a question with its answer; "" if there are none."""
    near = difflib.get_close_matches(str(given), list(known), n=3, cutoff=alike)
    return f"Did you mean {' or '.join(near)}? Write {near[0]!r}." if near else ""


def one_of(name: str, given: object, words: Iterable[str]) -> str:
    """Return the line with the word that is nearest to what was given, or the first of them; "" if there are none."""
    known = list(words)
    near = difflib.get_close_matches(str(given), known, n=1, cutoff=0.4)
    return write(name, repr((near or known)[0])) if known else ""


def other_name(name: str) -> str:
    """Return the line that gives the second of two things that are called alike a name of its own."""
    return write("name", repr(f"{name}2"))


def in_order(name: str, low: float, high: float) -> str:
    """Return the line with a range the other way round, or another one where it has no length or is NaN."""
    return write(name, f"({high:g}, {low:g})" if high < low else "(0.0, 1.0)")


def one_number(name: str, low: float = -inf, high: float = inf, open_low: bool = False) -> str:
    """Return the line with a number within [low, high], or (low, high]: a usual one, or one near the bound."""
    return _set(name, lambda argument: _number(argument, low, high, open_low))


def numbers(name: str, *sizes: int | None) -> str:
    """Return the line with an array of these sizes; any size without."""
    return _set(name, lambda argument: _array(argument, *(3 if size is None else size for size in sizes or (2,))))


def _set(name: str, value_of: Callable[[str], str]) -> str:
    """Return the line that sets what a name stands for: an argument, an entry of a mapping, what a function returns."""
    function, entry = FUNCTION.fullmatch(name), ENTRY.fullmatch(name)
    if function is not None:
        return f"Write def {name}: return {value_of(function[1])}."
    if name.startswith("-"):
        return f"Write {name} {value_of(name.strip('-').replace('-', '_'))}."
    if entry is None:
        return f"Write [{value_of('')}]."
    argument, value = entry["argument"], value_of(entry["argument"])
    return write(argument, f"{{{entry['of']!r}: {value}}}" if argument in KEYED and entry["of"] else value)


def _number(argument: str, low: float, high: float, open_low: bool) -> str:
    usual = USUAL.get(argument, 1.0)
    fits = low <= usual <= high and not (open_low and usual == low)
    return f"{usual if fits else min(low + 1.0, 0.5 * (low + high)) if open_low else low:g}"


def _array(argument: str, *sizes: int) -> str:
    known = VECTORS.get(argument, {}).get(sizes[0])
    if len(sizes) == 2:
        return f"numpy.eye({sizes[0]})" if sizes[0] == sizes[1] else f"numpy.zeros({sizes})"
    return known or (str([0.0] * sizes[0]) if sizes[0] <= ENOUGH else f"numpy.zeros({sizes[0]})")
