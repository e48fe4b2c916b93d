"""Real roots, against roots that are known because the polynomial was made from them."""

from __future__ import annotations

from fractions import Fraction

from evidence import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussdyn.linalg.sturm import INFINITY, common, count, isolate, refine, sign, squarefree, tarski, times, value

NUMBER = st.fractions(-9, 9, max_denominator=7)
ROOTS = st.lists(NUMBER, min_size=1, max_size=5)
PAIRS = st.lists(st.tuples(NUMBER, st.fractions(Fraction(1, 9), 3, max_denominator=9)), max_size=2)


def made(roots: list[Fraction], pairs: list[tuple[Fraction, Fraction]], factor: int = 1) -> list[Fraction | int]:
    """Polynomial with these roots, and pairs a +- i b."""
    return times(factor, *[[-x, 1] for x in roots], *[[a * a + b * b, -2 * a, 1] for a, b in pairs])


@given(ROOTS, PAIRS, st.sampled_from([1, -3]))
@settings(max_examples=examples(30), deadline=None)
def test_every_real_root_is_isolated_once(roots: list[Fraction], pairs: list, factor: int) -> None:
    f = made(roots, pairs, factor)
    intervals = isolate(f)
    inside = [[x for x in sorted(set(roots)) if low < x < high] for low, high in intervals]
    assert inside == [[x] for x in sorted(set(roots))]
    for (low, high), (x,) in zip(intervals, inside, strict=True):
        low, high = refine(f, low, high, 40)
        assert low < x < high
        assert high - low <= Fraction(1, 2**40) * max(1, abs(x) + 1)
        assert value(f, low) * value(f, high) != 0


@given(ROOTS, PAIRS, ROOTS, PAIRS, ROOTS, st.sampled_from([1, -2]))
@settings(max_examples=examples(30), deadline=None)
def test_counts_under_sign_conditions(
    roots: list[Fraction], pairs: list, zeros: list[Fraction], more: list, other: list[Fraction], factor: int
) -> None:
    f, g, h = made(roots, pairs, factor), made(zeros, more), made(other, [], -1)
    at = [(value(g, x), value(h, x)) for x in set(roots)]
    assert count(f, []) == len(set(roots))
    assert count(f, [g]) == sum(a > 0 for a, _ in at)
    assert count(f, [g, h]) == sum(a > 0 and b > 0 for a, b in at)
    assert tarski(f, g, -INFINITY, INFINITY) == sum((a > 0) - (a < 0) for a, _ in at)
    assert count(f, [g], Fraction(-100), Fraction(100, 3)) == count(f, [g])


@given(ROOTS, ROOTS)
@settings(max_examples=examples(25), deadline=None)
def test_common_roots_and_multiplicities(roots: list[Fraction], others: list[Fraction]) -> None:
    f, g = made(roots, [(Fraction(1), Fraction(1))]), made(others, [])
    assert {x for x in [*roots, *others] if value(common(f, g), x) == 0} == set(roots) & set(others)
    single = squarefree(times(f, f))
    assert len(single) == len(set(roots)) + 3
    assert all(value(single, x) == 0 for x in roots)


def test_signs_at_infinity() -> None:
    assert [sign([1, 2], x) for x in (-INFINITY, Fraction(0), INFINITY)] == [-1, 1, 1]
    assert [sign([1, 0, -1], x) for x in (-INFINITY, INFINITY)] == [-1, -1]
    assert sign([], INFINITY) == 0
    assert isolate([3]) == isolate([]) == []
