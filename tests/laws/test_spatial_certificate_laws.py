"""Certificates of one contact in space: all verify, and no mutation makes the checker accept another claim."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from evidence import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gaussdyn import checker_spatial
from gaussdyn.contact.outcome.outcome import Outcome, outcome
from gaussdyn.mechanics.spatial.body_file import ExactSpatialBody
from gaussdyn.programs.proof.certificates import digest
from gaussdyn.programs.spatial.contact import SpatialContact

SMALL = st.integers(-2, 2)
VECTOR = st.lists(SMALL, min_size=3, max_size=3)
FRICTION = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)])


@st.composite
def contacts(draw: st.DrawFn) -> SpatialContact:
    """Small numbers: singular, indefinite and degenerate ones are frequent."""
    W = tuple(tuple(Fraction(x) for x in draw(VECTOR)) for _ in range(3))
    mu = draw(FRICTION)
    slip = draw(st.sampled_from([None, None, None, (1, 1), (3, 4), (0, -1)]))
    return SpatialContact(
        W=W, q=tuple(map(Fraction, draw(VECTOR))), mu=mu, mu_s=mu + draw(st.sampled_from([0, 0, 1])),
        slip=None if slip is None else (Fraction(slip[0]), Fraction(slip[1])),
    )  # fmt: skip


@st.composite
def bodies(draw: st.DrawFn) -> ExactSpatialBody:
    a, b, c = (draw(st.integers(1, 9)) for _ in range(3))
    J = [[a, 0, 0], [0, b, 1], [0, 1, c + 1]]
    body = {"J": J, "r": draw(VECTOR), "mu": draw(FRICTION), "F_star": draw(VECTOR), "m": draw(st.integers(1, 20))}
    return ExactSpatialBody.of(body)


PROBLEMS = st.one_of(contacts(), bodies())
ONE, NONE = Fraction(1), Fraction(0)
NO_LOAD = SpatialContact(  # the normal motion depends on no reaction against (-1, 0), where nothing slips
    W=((ONE, -ONE, NONE), (NONE,) * 3, (NONE,) * 3), q=(NONE, NONE, ONE), mu=ONE, mu_s=ONE, slip=None
)


@given(PROBLEMS)
@example(NO_LOAD)
@settings(max_examples=examples(25), deadline=None)
def test_every_certificate_verifies(problem: Any) -> None:
    _verifies(problem)


@pytest.mark.slow
@given(PROBLEMS)
@settings(max_examples=examples(300, fast=50), deadline=None)
def test_every_certificate_verifies_many_times(problem: Any) -> None:
    _verifies(problem)


def _verifies(problem: Any) -> None:
    found = outcome(problem)
    if found.verdict == "UNDECIDED":
        assert found.reason.startswith("degenerate")
        return
    assert found.certificate is not None
    assert checker_spatial.verdict(found.certificate.to_json) == f"VALID: {found.certificate.claim}"
    assert found.certificate.claim.startswith(str(found.verdict))
    _obeys_the_laws(problem, found)


def _obeys_the_laws(problem: Any, found: Outcome) -> None:
    """Every listed motion satisfies the laws, exactly where it is exact."""
    if not isinstance(problem, SpatialContact):
        return
    for one in (m for c in found.components for m in getattr(c, "motions", ())):
        u, (N, *friction) = problem.motion(one.reaction), one.reaction
        slack = 0 if one.exact else Fraction(1, 10**12)
        assert all(abs(a - b) <= slack for a, b in zip(u, one.motion, strict=True))
        assert N >= 0
        assert u[0] >= -slack
        assert sum(x * x for x in friction) <= (problem.mu_s * N) ** 2 + slack
        if one.letter == "+":
            assert sum(x * y for x, y in zip(friction, u[1:], strict=True)) <= slack


def change(draw: st.DrawFn, doc: dict[str, Any]) -> None:
    """Make one change to the claim or to a leaf."""
    leaf = draw(st.sampled_from(doc["leaves"]))
    key = draw(st.sampled_from(sorted(leaf)))
    kind = draw(st.sampled_from(["value", "value", "drop", "double", "delete", "mode", "claim"]))
    if kind == "value" and isinstance(leaf[key], list):
        i = draw(st.integers(0, len(leaf[key]) - 1))
        leaf[key][i] = draw(st.sampled_from(["0", "1", "-1", "1/3", "inf", "-inf", "7", leaf[key][0]]))
    elif kind == "value" and isinstance(leaf[key], int):
        leaf[key] += draw(st.sampled_from([-1, 1, 2]))
    elif kind == "drop":
        doc["leaves"].remove(leaf)
    elif kind == "double":
        doc["leaves"].append(dict(leaf))
    elif kind == "delete":
        del leaf[key]
    elif kind == "mode":
        leaf["mode"] = draw(st.sampled_from(["D", "S", "+", "L", "*"]))
    else:
        noun = draw(st.sampled_from(["motion", "acceleration"]))
        doc["claim"] = draw(st.sampled_from([
            "NONE: no mode has a solution", f"UNIQUE: exactly one {noun} solves the problem",
            f"MULTIPLE: exactly 2 values of {noun} solve the problem",
            f"MULTIPLE: exactly 3 values of {noun} solve the problem",
            f"CONTINUUM: the solutions fill a continuum of {noun}",
        ]))  # fmt: skip


@given(st.data(), PROBLEMS)
@settings(max_examples=examples(40), deadline=None)
def test_no_mutation_proves_another_claim(data: st.DataObject, problem: Any) -> None:
    _mutate(data, problem)


@pytest.mark.slow
@given(st.data(), PROBLEMS)
@settings(max_examples=examples(500, fast=50), deadline=None)
def test_no_mutation_proves_another_claim_many_times(data: st.DataObject, problem: Any) -> None:
    _mutate(data, problem)


def _mutate(data: st.DataObject, problem: Any) -> None:
    made = outcome(problem).certificate
    if made is None:
        return
    doc = json.loads(made.to_json())
    for _ in range(data.draw(st.integers(1, 2))):
        if doc["leaves"]:
            change(data.draw, doc)
    said = checker_spatial.verdict(lambda: json.dumps({**doc, "sha256": digest(doc)}))
    assert said.startswith("INVALID") or said == f"VALID: {made.claim}"
