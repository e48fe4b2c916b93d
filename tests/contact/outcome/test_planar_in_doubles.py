"""Outcomes in floating point agree with the exact ones, and say where rounding would decide."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from contact_cases import groove, random_body, rod, table
from evidence import examples

from gaussdyn.contact.outcome.outcome import outcome
from gaussdyn.contact.outcome.planar_in_doubles import planar_outcome
from gaussdyn.mechanics.planar.body_file import ExactBody


def cases(count: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(11)
    made = []
    for k in range(count):
        n = 1 + k % 4
        made.append(
            [random_body(rng, n), random_body(rng, n, at_rest=False), groove(rng, max(n, 2), (0, 1, -1))][k % 3]
        )
    return made


@pytest.mark.drawn
def test_quick_and_exact_outcomes_agree() -> None:
    decided = 0
    for data in cases(tried := examples(60, fast=24)):
        body = ExactBody.of(data)
        quick, exact = planar_outcome(body)[0], outcome(body)
        if quick is None:
            continue
        decided += 1
        assert not quick.exact
        assert (quick.verdict, quick.count) == (exact.verdict, exact.count)
        for one in exact.components:
            twin = next(other for other in quick.components if set(other.modes) == set(one.modes))
            assert twin.forces_unique == one.forces_unique
            assert one.point is not None
            assert twin.point is not None
            scale = max(1.0, *(abs(float(x)) for x in one.point))
            assert [float(x) for x in twin.point] == pytest.approx([float(x) for x in one.point], abs=1e-7 * scale)
    assert decided > 0.83 * tried


def test_redundant_feet_are_decided_quickly_and_their_forces_are_not_unique() -> None:
    quick, doubtful = planar_outcome(ExactBody.of(table(4, force=("1/5", "-1", "0"))))
    assert not doubtful
    assert quick is not None
    assert (quick.verdict, quick.components[0].modes) == ("UNIQUE", ("SSSS",))
    assert not quick.components[0].forces_unique


@pytest.mark.parametrize(
    "data",
    [
        rod(mu="61/48"),  # critical friction
        rod(mu=np.nextafter(61 / 48, 2)),
        rod(mu=np.nextafter(61 / 48, 1)),
        table(4, force=("1/2", "-1", "0")),  # at the friction limit
        table(2, force=("0", "0", "0")),  # no load
        {"m": 1, "J": 1, "points": [[-1, 0], [1, 0]], "normals": [[1, 0], [-1, 0]], "mu": [1, 1], "force": [0, -1, 0]},
    ],
)
def test_what_rounding_could_decide_is_left_to_exact_arithmetic(data: dict[str, Any]) -> None:
    body = ExactBody.of(data)
    assert planar_outcome(body)[0] is None
    found, exact = outcome(body, certify=False), outcome(body)
    assert (found.verdict, found.count) == (exact.verdict, exact.count)


def test_one_unit_in_the_last_place_of_the_critical_friction_is_told_apart() -> None:
    below, above = (float(np.nextafter(61 / 48, end)) for end in (0, 2))
    assert Fraction(below) < Fraction(61, 48) < Fraction(above)
    verdicts = [outcome(ExactBody.of(rod(mu=mu)), certify=False).verdict for mu in (below, above)]
    assert [str(v) for v in verdicts] == ["UNIQUE", "NONE"]
    critical = outcome(ExactBody.of(rod(mu="61/48")))
    assert str(critical.verdict) == "NONE"
    assert critical.reason.startswith("degenerate")
