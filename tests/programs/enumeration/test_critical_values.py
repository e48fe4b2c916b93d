"""Exact critical values: polynomials, their roots, and the friction at which outcomes change."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from contact_cases import problem, random_body, rod

from gaussdyn.contact.classification.friction_margin import critical_friction, friction_margin
from gaussdyn.errors import InputError
from gaussdyn.linalg.sturm import value
from gaussdyn.mechanics.planar.body_file import ExactBody
from gaussdyn.programs.enumeration.critical_values import (
    BITS,
    Root,
    critical_values,
    determinant,
    interpolate,
    roots_between,
)
from gaussdyn.programs.enumeration.enumerate import enumerate_modes
from gaussdyn.programs.enumeration.modal_problem import lcp_problem

Q = Fraction


def polynomial(*roots: Fraction | int) -> list[Fraction]:
    p = [Q(1)]
    for root in roots:
        p = [a - root * b for a, b in zip([Q(0), *p], [*p, Q(0)], strict=True)]
    return p


def test_polynomials() -> None:
    p = polynomial(1, Q(1, 2), -3)
    nodes = [Q(x) for x in range(6)]
    assert interpolate(nodes, [value(p, x) for x in nodes]) == p
    assert determinant([[Q(0), Q(2)], [Q(3), Q(4)]]) == -6
    assert determinant([[Q(1), Q(2)], [Q(2), Q(4)]]) == 0


def test_roots_rational_and_not() -> None:
    exact = [Root(x, x) for x in (Q(61, 48), Q(3))]
    assert roots_between(polynomial(Q(61, 48), 3), Q(0), Q(10)) == exact
    assert roots_between(polynomial(Q(61, 48), 3), Q(61, 48), Q(4)) == exact[1:]
    two = [Q(-2), Q(0), Q(1)]  # sqrt 2
    for high in (Q(10), Q(17, 12), Q(768398401, 543339720)):
        (root,) = roots_between(two, Q(0), high)
        assert root.low**2 < 2 < root.high**2
        assert root.high - root.low <= Q(1, 2**BITS)
    assert roots_between(two, Q(0), Q(665857, 470832) - Q(1, 10**11)) == []
    (large,) = roots_between([Q(-2 * 10**40), Q(0), Q(1)], Q(0), Q(10**30))
    assert large.high - large.low <= Q(1, 2**BITS)
    assert roots_between([Q(1), Q(0), Q(1)], Q(-10), Q(10)) == []


def test_an_irrational_critical_value() -> None:
    # z solves (x^2 - 2) z = 1: one solution above sqrt 2, none below; the matrix is made linear by a second row
    def make(x: Fraction):  # type: ignore[no-untyped-def]
        return lcp_problem([[0, x], [x, -1]], [-2, 0])

    found = critical_values(make, Q(1, 2), Q(3), 2)
    for one in found:
        eps = Q(1, 10**9)
        before, after = enumerate_modes(make(one.value - eps)), enumerate_modes(make(one.value + eps))
        assert (before.verdict, before.count) == one.before
        assert (after.verdict, after.count) == one.after


@pytest.mark.parametrize(("state", "bilateral", "after"), [
    (-1, False, ("NONE", 0)), (-1, True, ("NONE", 0)), (1, True, ("MULTIPLE", 2)),
])  # fmt: skip
def test_rod(state: int, bilateral: bool, after: tuple[str, int]) -> None:
    (critical,) = critical_friction(ExactBody.of(rod(state=state, bilateral=bilateral)), contact=0)
    assert (critical.value, critical.exact) == (Q(61, 48), True)
    assert (critical.before, critical.after) == (("UNIQUE", 1), after)


def test_rod_that_digs_out_has_none() -> None:
    assert critical_friction(ExactBody.of(rod(state=1)), contact=0) == ()


def test_margin() -> None:
    assert friction_margin(ExactBody.of(rod(mu="1/2"))) == Q(61, 24)
    assert friction_margin(ExactBody.of(rod(mu=2))) is None
    assert friction_margin(ExactBody.of(rod(mu="1/2")), most=Q(2)) is None


def test_outcome_changes_at_every_critical_value_and_nowhere_between() -> None:
    rng = np.random.default_rng(12)
    changes = 0
    for k in range(6):
        body = random_body(rng, 2, at_rest=False)
        body["state"] = [1, -1] if k % 2 else [1, 1]
        found = critical_friction(ExactBody.of(body), most=Q(4))
        marks = [Q(0), *(one.value for one in found), Q(4)]
        changes += len(found)
        for a, b, one in zip(marks[:-1], marks[1:], [*found, None], strict=True):
            for t in (Q(1, 97), Q(1, 2), Q(96, 97)):
                x = a + (b - a) * t
                scaled = {**body, "mu": [str(Q(mu) * x) for mu in body["mu"]]}
                count = enumerate_modes(problem(scaled))
                expected = one.before if one else (found[-1].after if found else (count.verdict, count.count))
                assert (count.verdict, count.count) == expected
    assert changes > 2


def test_too_many_modes() -> None:
    with pytest.raises(InputError, match="modes"):
        critical_friction(ExactBody.of(random_body(np.random.default_rng(0), 6)))
