"""The universal passage of a spring through a tangency."""

from __future__ import annotations

import math

import pytest

from gaussdyn import InputError
from gaussdyn.analysis.crosscheck.tangent_passage import TangentPassage, universal_invariant


def test_the_constant_does_not_depend_on_where_the_passage_begins():
    """0.988 from an independent integration in other variables."""
    assert universal_invariant(6.0) == pytest.approx(0.988, abs=1e-3)
    assert universal_invariant(8.0) == pytest.approx(universal_invariant(6.0), abs=5e-4)


def test_scaling_with_the_stiffness():
    passage = TangentPassage(m=0.8, Ct=1.0, Cu=9.0 / 96.0, v=1.2)
    assert passage.time(64e6) == pytest.approx(passage.time(1e6) / 2.0)
    assert passage.width(1e9) == pytest.approx(passage.width(1e6) / 10.0)
    assert passage.extension(1e8, 0.1) == pytest.approx(passage.extension(1e6, 0.1) / 10.0)
    assert passage.invariant == pytest.approx(0.988 * 1.44 * 0.8**1.5 * math.sqrt(9.0 / 192.0), rel=1e-3)


def test_bad_input():
    with pytest.raises(InputError, match="Ct"):
        TangentPassage(m=1.0, Ct=0.0, Cu=1.0, v=1.0)
