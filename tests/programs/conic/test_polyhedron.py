"""Polyhedral sets of reactions over the rationals."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gaussdyn.errors import InputError
from gaussdyn.programs.conic.polyhedron import ExactSlice


def rows(*values: list[int]) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in values]


# supports at -1, 0, 1 under 60 N
BAR = ExactSlice(rows([1, 1, 1], [-1, 0, 1]), [Fraction(60), Fraction(0)], [False] * 3)


def test_a_bar_on_three_supports() -> None:
    ends = [BAR.range(c) for c in rows([1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1])]
    assert [(one.low, one.high) for one in ends] == [(0, 30), (0, 60), (0, 30), (60, 60)]
    assert [one.unique for one in ends] == [False, False, False, True]
    assert BAR.proves(rows([0, 1, 0])[0], Fraction(60))
    assert not BAR.proves(rows([0, 1, 0])[0], Fraction(59))


def test_its_forces_are_a_segment() -> None:
    hull = BAR.image(rows([1, 0, 0], [0, 1, 0], [0, 0, 1]))
    assert hull.vertices == ((0, 60, 0), (30, 0, 30))
    assert hull.rays == ()


def test_a_wedge_has_a_ray() -> None:
    wedge = ExactSlice(rows([1, -1]), [Fraction(1)], [False, False])
    assert wedge.range(rows([1, 0])[0]).high is None
    assert wedge.range(rows([1, 0])[0]).low == 1
    hull = wedge.image(rows([1, 0], [0, 1]))
    assert hull.vertices == ((1, 0),)
    assert hull.rays == ((1, 1),)


def test_an_empty_set_and_a_wrong_function_are_refused() -> None:
    empty = ExactSlice(rows([1, 1]), [Fraction(-1)], [False, False])
    assert empty.point() is None
    with pytest.raises(InputError, match="an empty set"):
        empty.range(rows([1, 0])[0])
    with pytest.raises(InputError, match="an empty set"):
        empty.image(rows([1, 0]))
    with pytest.raises(InputError, match="3 entries"):
        BAR.range([Fraction(1)])
