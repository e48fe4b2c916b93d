"""Every value prints in a few lines, with what a person wants to know first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from shown import shown, within

from gaussdyn import Position, UserSystem
from gaussdyn._show import Many, fitted, short

pytestmark = pytest.mark.xdist_group("repr")  # what they share is made once
SAYS = {
    "run": ["launched_cube", "COMPLETED", "t=0.1 s", "100 steps", "max_residual"],
    "stopped": ["STOPPED", "the gap of a row is not finite"],
    "steps": ["100 steps", "100 SOLVED", "dt = 0.001 s"],
    "one of several": ["first at the start (CONTINUUM, 1 of 1 examined steps)"],
    "no steps": ["StepTable(0 steps)"],
    "run of no steps": ["t=0 s", "0 steps"],
    "branches": ["Branches(kind='crossing', 2 branches along [0.92", "q=[0, 0]", "rod"],
    "branch point": ["BranchPoint(kind='crossing', 2 branches", "complete=True"],
    "reduction": ["rank=0"],
    "between": ["101 states", "normal_force", "N", "margin"],
    "table": ["101 states", "cube:c0/floor", "slip"],
    "contacts": ["'cube:c0/floor', slip, gap=", "reaction="],
    "column": ["J", "101 values"],
    "audit": ["launched_cube", "checks hold"],
    "tree": ["painleve_rod", "futures", "0 [start]"],
    "large system": ["box0", "24 in all", "floor"],
    "large state": ["t=0", "in all"],
    "large dynamics": ["nv=144", "96 rows", "gap"],
    "outcome": ["UNIQUE", "count=1"],
    "no outcome": ["NONE", "no mode has a solution"],
    "scene": ["painleve_rod", "mu: 1.8"],
    "lcp": ["(24, 24)"],
    "crosscheck": ["pendulum", "penalty"],
    "step": ["SOLVED", "dt=0.001"],
}


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    return shown()


def test_every_value_is_short(values: dict[str, Any]) -> None:
    long = {}
    for name, value in values.items():
        for place, part in [(name, value), *within(name, value)]:
            text = repr(part)
            if len(text.splitlines()) > 10 or len(text) > 1000:
                long[place] = (type(part).__name__, len(text.splitlines()), len(text))
    assert not long


def test_what_is_wanted_first_is_there(values: dict[str, Any]) -> None:
    lacking = [(name, word) for name, words in SAYS.items() for word in words if word not in repr(values[name])]
    assert not lacking
    assert len(values["steps"]) == len(values["run"].steps.t) == 100


def test_however_much_there_is() -> None:
    many = UserSystem(1, [[1.0]], [0.0], [Position(lambda t, q: q[0], name=f"stop {k}") for k in range(300)])
    assert len(repr(many)) < 300
    assert "300 in all" in repr(many)
    assert len(fitted("Name", ["x" * 500] * 50).splitlines()) <= 10
    assert len(fitted("Name", ["x" * 500] * 50)) <= 1000
    entries = Many(range(1000))
    assert entries == tuple(range(1000))
    assert repr(entries).endswith("    ... 1000 in all\n)")
    assert short(np.full(3, np.nan)) == "[nan, nan, nan]"
    assert short(np.full(30, np.nan)) == "array of shape (30,), none"
