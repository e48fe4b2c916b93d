"""The line that mends a wrong argument, written out of its name and of what is allowed.

Most messages say what is allowed in one of a few forms (a number > 0, one of some words, a vector of shape (3,), True
or False, a class). From these follows a line that would be taken, with the caller's own name: ``radius=0.05``,
``--steps 25``, ``on_failure='record'``.
"""

from __future__ import annotations

import difflib
import re

USUAL = {
    "mu": 0.5, "mu_s": 0.6, "eps_n": 0.5, "eps_t": 0.0, "radius": 0.05, "mass": 1.0, "density": 1000.0, "dt": 1e-3,
    "length": 0.1, "confidence": 0.95, "tol": 1e-10, "stiffness": 1e4, "damping": 10.0, "theta": 0.5, "save": 1,
    "t_end": 1.0,
}  # fmt: skip
WRITTEN = {
    "State": "State(q=[0.0], v=[0.0])", "ContactLaw": "ContactLaw(mu=0.5)", "Activation": "Activation(gap=1e-9)",
    "Mesh": 'read_mesh("part.stl")', "MoreauJean": "MoreauJean(dt=1e-3)", "ContactPoint": "[ContactPoint(...)]",
    "Marker": 'Marker("ball", (0.0, 0.0))', "SpatialMarker": 'SpatialMarker("ball", (0.0, 0.0, 0.0))',
    "HalfPlane": '[HalfPlane(name="floor")]', "HalfSpace": '[HalfSpace(name="floor")]',
    "SpatialBody": '[SpatialBody(name="ball", mass=1.0, inertia=(1e-3, 1e-3, 1e-3))]',
    "PlanarBody": '[PlanarBody(name="box", mass=1.0, inertia=1e-3)]', "Position": "[Position(gap)]",
    "Disc": "[Disc(radius=0.05)]", "Equality": "[Equality(size=1)]", "Hinge": 'Hinge(name="hip", a=..., b=...)',
    "Point": '[Point(name="ball", mass=1.0)]',
}  # fmt: skip
ARGUMENTS = {"pairs": '{("ball", "floor"): ContactLaw(mu=0.5)}'}
COUNTS = {"two": 2, "three": 3}
CODE = re.compile(
    r"\w\(.*\)|\w ?=(?!=) ?[\w\"'(\[{.-]|(?<![\w-])--\w|gaussdyn \w|\w\[.*\]|\[\w|[eE]\.g\. "  # code, options, commands
    r"|(?:^|: |[Ww]rite |Add )(?:pip|ls|mkdir|chmod|[\[\"'({])|: \[|: \.\.\."
)
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
BOUND = re.compile(rf"(?P<sign>>=|>|at least) (?P<low>{NUMBER})(?: and <= (?P<high>{NUMBER}))?")
BETWEEN = re.compile(rf"(?P<low>{NUMBER}) (?:to|and) (?P<high>{NUMBER})")
SHAPE = re.compile(r"shape \((?P<sizes>[\w, ]+)\)")
TARGET = re.compile(
    r"^(?:--set (?P<set>\w+)|(?P<option>--[\w-]+)(?: .*)?|(?P<name>[A-Za-z_][\w.]*)(?:\[[^\]]*\])?(?: .*)?)$"
)
WORDS = re.compile(r"^(?:'?[\w./:-]+'?)(?:(?:, | or )'?[\w./:-]+'?)*$")
# Values that are lines already: what is wrong has another name than the argument.
OTHERWISE = ("name=", "b=", "numpy.seterr")


def says_code(text: str) -> bool:
    """Return whether a text holds something to write: a call, an assignment, an option or a command."""
    return CODE.search(text) is not None


def line_for(name: str, given: str, allowed: str) -> str:
    """Return the line that would be taken for an argument, e.g. ``radius=0.05``; empty where none can be told."""
    target, value = TARGET.match(name), _value(name, given, allowed)
    if target is None or not value:
        return ""
    if target["name"] and value.startswith(OTHERWISE):
        return value
    if target["set"]:
        return f"--set {target['set']}={value}"
    if target["option"]:
        return f"{target['option']} {value.strip(chr(39))}"
    return f"{target['name']}={value}"


def _value(name: str, given: str, allowed: str) -> str:
    """Return a value that is allowed, as it is written."""
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    for form in (_truth, _other_name, _symmetric, _marker, _array, _direction, _range, _written, _number, _word):
        found = form(name, given, allowed)
        if found:
            return found
    return ""


def _truth(name: str, given: str, allowed: str) -> str:
    return "True" if allowed.startswith(("True or False", "True, False")) else ""


def _other_name(name: str, given: str, allowed: str) -> str:
    """Return a name that nothing else has."""
    found = re.search(r"'([^']+)'|called (\w+)|twice (\w+)|(\w+) twice", given)
    return f"name={next(filter(None, found.groups())) + '2'!r}" if found and allowed.startswith("different") else ""


def _symmetric(name: str, given: str, allowed: str) -> str:
    word = name.partition(" ")[0].partition("(")[0]
    return f"0.5 * ({word} + {word}.T)" if allowed == "a symmetric matrix" else ""


def _marker(name: str, given: str, allowed: str) -> str:
    return 'b=Marker("ground", ...)' if allowed == "markers on two different bodies" else ""


def _array(name: str, given: str, allowed: str) -> str:
    found = SHAPE.search(allowed) or re.search(r"a list of (?P<sizes>\d+) numbers", allowed)
    if found is None:
        return str((0.1,) * COUNTS[allowed.split()[0]]) if allowed.startswith(("two numbers", "three numbers")) else ""
    sizes = [size.strip() for size in found["sizes"].split(",") if size.strip()]
    known = [int(size) if size.isdigit() else 3 for size in sizes]
    if len(known) == 1:
        return str([0.0] * known[0]) if known[0] <= 6 else f"numpy.zeros({known[0]})"
    return f"numpy.eye({known[0]})" if known[0] == known[1] else f"numpy.zeros({tuple(known)})"


def _direction(name: str, given: str, allowed: str) -> str:
    if "direction: three" in allowed:
        return "(0.0, 0.0, 1.0)"
    return "(0.0, 1.0)" if "direction: two" in allowed or "vector that is not zero" in allowed else ""


def _range(name: str, given: str, allowed: str) -> str:
    """Return a range, that of the caller the other way round where it is known."""
    if "low < high" not in allowed:
        return ""
    numbers = sorted(float(x) for x in re.findall(NUMBER, given))
    return f"({numbers[0]:g}, {numbers[1]:g})" if len(set(numbers)) == 2 else "(0.0, 1.0)"


def _written(name: str, given: str, allowed: str) -> str:
    found = re.match(r"^(?:an? |at least one |a list of at least one )?([A-Z]\w+)(?:[, ]|$)", allowed)
    value = WRITTEN.get(found[1], "") if found else ""
    return f"[{value}]" if value and "at least one" in allowed and not value.startswith("[") else value


def _number(name: str, given: str, allowed: str) -> str:
    """Return a usual number for this name where it is allowed, else one at the bound."""
    usual = USUAL.get(name.strip("-").replace("-", "_"))
    if allowed.startswith("finite numbers"):
        return "numpy.seterr(all='raise') to see where"
    if allowed.startswith("a finite number"):
        return f"{1.0 if usual is None else usual:g}"
    if allowed == "a number in (0, 1)":
        return f"{0.5 if usual is None else usual:g}"
    found = BOUND.search(allowed) or BETWEEN.search(allowed)
    more = re.search(rf"({NUMBER}) (?:and|or) more", allowed)
    if found is None:
        return more[1] if more else ""
    low, high = float(found["low"]), float(found["high"] or "inf")
    strict = "sign" in found.groupdict() and found["sign"] == ">"
    if usual is not None and low <= usual <= high:
        return f"{usual:g}"
    return f"{low if not strict else min(low + 1.0, 0.5 * (low + high)):g}"


def _word(name: str, given: str, allowed: str) -> str:
    """Return the word among those allowed that is nearest to what was given, or the first."""
    if not WORDS.match(allowed) or allowed in ("none", "nothing"):
        return ""
    words = [word.strip("'") for word in re.split(r", | or ", allowed)]
    near = difflib.get_close_matches(given.strip("'\""), words, n=1, cutoff=0.4)
    word = (near or words)[0]
    return word if re.fullmatch(NUMBER, word) else repr(word)
