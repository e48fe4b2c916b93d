"""Steps entered together leave the same bits as steps entered one by one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaussdyn.integrate.energy import EnergyBook
from gaussdyn.integrate.run.statistics import RunningStatistics
from gaussdyn.integrate.stepper import Work


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 300))
def test_a_book_has_the_same_sums(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((6, n)) * 10.0 ** rng.integers(-9, 9, size=(6, n))
    start = {"kinetic": 0.3, "potential": -0.7, "initial": (0.1, 0.2), "reactions": 0.1, "drift": 1e-3}
    one, many = EnergyBook(**start), EnergyBook(**start)
    for kinetic, potential, reactions, forces, projection, speed in x.T.tolist():
        one.enter(kinetic, potential, Work(reactions=reactions, forces=forces, projection=projection), speed)
    many.enter_many(x[0], x[1], (x[2], x[3], x[4]), x[5])
    assert asdict(one) == asdict(many)


@pytest.mark.parametrize("lowest", [-1e-9, 1e-9])
def test_statistics_have_the_same_extremes(lowest: float) -> None:
    rng = np.random.default_rng(3)
    E, cone, gap = 10.0 ** rng.uniform(-16, -10, 50), rng.random(50), rng.random(50)
    gap[7], E[11] = lowest, np.nan
    book = EnergyBook(kinetic=0.0, potential=0.0, initial=(0.0, 0.0))
    one, many = (RunningStatistics(book=book, count=4, worst=defaultdict(float), contacts={}, rows={}) for _ in "ab")
    for a, b, c in zip(E.tolist(), cone.tolist(), gap.tolist(), strict=True):
        one.note_step(a, b, solved=True)
        one.note_gap(c)
    many.note_steps(E, cone, gap)
    assert one.document() == many.document()
