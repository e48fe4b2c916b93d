"""How much of its evidence a test gathers in which tier: some with every change, the rest in the longer tiers."""

from __future__ import annotations

import os

import pytest

FULL = os.environ.get("HYPOTHESIS_PROFILE", "same") != "same"


def examples(count, fast=20):
    """How many examples of a law are drawn: `count` in `make test-all`, at most `fast` in the other tiers.

    `make test-all` draws all examples of Hypothesis, and of tests marked `drawn`, whose examples are seeds.
    """
    return count if FULL else min(count, fast)


def first(fast, cases, rest=pytest.mark.slow):
    """The cases as parameters (tuples: of several), all but the first `fast` of them marked for a longer tier."""
    values = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*value, marks=() if k < fast else rest) for k, value in enumerate(values)]
