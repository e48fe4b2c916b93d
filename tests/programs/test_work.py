"""Answers depend neither on the pace of the clock nor on how busy the machine is; a time limit says that it struck."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from block_cases import bodies, stack

from gaussdyn.errors import SolveFailed
from gaussdyn.programs import work
from gaussdyn.programs.blocks.gauss_fixed_point import GaussFixedPoint
from gaussdyn.programs.blocks.gauss_seidel.gauss_seidel import GaussSeidel
from gaussdyn.programs.blocks.hard_cases.patient import PatientNewton
from gaussdyn.programs.blocks.interior_point.central_path import CentralPath
from gaussdyn.programs.blocks.interior_point.interior_point import InteriorPoint
from gaussdyn.programs.blocks.proximal_newton import ProximalNewton
from gaussdyn.programs.blocks.scaled import scaled
from gaussdyn.programs.laws.laws import Coulomb, Rolling
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solution.solution import Status
from gaussdyn.programs.solve import solve
from gaussdyn.programs.work import Work

DATA = Path(__file__).parents[1] / "data"


def nearly_flat():
    """Contacts whose rows depend on each other up to 1e-11: only draws solve it, and here they get little work."""
    kept = np.load(DATA / "nearly_flat_faces.npz")
    return ComplementarityProblem(W=kept["W"], q=kept["q"], laws=[Coulomb(float(kept["mu"]))] * (len(kept["q"]) // 3))


def answers(last=True):
    """Solve easy problems and hard ones anew: by sweeps, blocks, patient steps, sharpened; the last not at all."""
    tasks = [(bodies([Coulomb(0.5)] * 2, 4), 1.0), (bodies([Coulomb(1.5)] * 40, 5, freedoms=40), 1.0)]
    tasks += [(bodies([Rolling(1.5, 0.3)] * 12, 5, freedoms=20), 1.0), (bodies([Coulomb(1e6), Coulomb(0.4)], 1), 0.01)]
    tasks += [(stack(3, 10, 3.0), 1.0), (stack(6, 4, 2.0), 1.0)] + [(nearly_flat(), 0.03)] * last
    return [solve(problem, effort=effort) for problem, effort in tasks]


def same(one, other):
    assert (one.status, one.method, one.iterations) == (other.status, other.method, other.iterations)
    assert one.r.tobytes() == other.r.tobytes()


def hurried(clock):
    return lambda: 1e4 * clock()


def test_the_clock_chooses_no_answer(monkeypatch):
    """The same to the bit alone, by clocks that run away, and while other threads use the processor."""
    tried, real = [], CentralPath.improve
    monkeypatch.setattr(CentralPath, "improve", lambda *given: tried.append(given) or real(*given))
    alone = answers()
    assert tried  # the last attempt of all
    assert [one.status for one in alone[2:]] == [Status.SOLVED] * 4 + [Status.MAX_ITERATIONS]
    with monkeypatch.context() as patch:
        for name in ("monotonic", "perf_counter", "time", "process_time", "thread_time"):
            patch.setattr(time, name, hurried(getattr(time, name)))
        hasty = answers()
    ended, load = threading.Event(), np.ones((300, 300))

    def work_on():
        while not ended.is_set():
            load @ load

    others = [threading.Thread(target=work_on) for _ in range(2)]
    for one in others:
        one.start()
    try:
        busy = answers(last=False)
    finally:
        ended.set()
        for one in others:
            one.join()
    for one, other in zip(alone + alone[:-1], hasty + busy, strict=True):
        same(one, other)


@pytest.mark.parametrize("make", [lambda: stack(3, 10, 3.0), lambda: bodies([Coulomb(1.5)] * 40, 5, freedoms=40)])
def test_a_time_limit_leaves_the_answer_or_says_that_it_struck(monkeypatch, make):
    """Whenever it strikes: a clock that jumps at its k-th reading, k = 1, 2, 4, ..."""
    whole, looks, k = solve(make(), seconds=1e6), 0, 1
    same(whole, solve(make()))
    statuses = []

    def reading():
        nonlocal looks
        looks += 1
        return 1e9 if looks > k else 0.0

    monkeypatch.setattr(work, "time", SimpleNamespace(monotonic=reading))
    while not statuses or statuses[-1] is Status.TIME_LIMIT:
        looks, found = 0, solve(make(), seconds=2.5)
        statuses.append(found.status)
        if found.status is not Status.TIME_LIMIT:
            same(found, whole)
            break
        assert "seconds=2.5, stopped the call" in found.explain()
        assert found.unique == (None, None)
        assert pytest.approx(found.residuals.E) == found.audit().E
        with pytest.raises(SolveFailed):
            found.require()
        k *= 2
    assert len(statuses) > 2


def test_what_is_done_at_once_needs_no_time():
    problem = bodies([Coulomb(0.5)] * 2, 4)
    same(solve(problem, seconds=0.0), solve(problem))


GIVEN = [GaussSeidel(), ProximalNewton(), InteriorPoint(), GaussFixedPoint(), PatientNewton()]


@pytest.mark.parametrize("method", GIVEN, ids=lambda method: type(method).__name__)
def test_a_method_that_is_given_is_stopped_too(method):
    problem = bodies([Coulomb(0.5)] * 4, 4)
    stopped, free = solve(problem, method=method, seconds=0.0), solve(problem, method=method, seconds=1e6)
    assert stopped.status is Status.TIME_LIMIT
    same(free, solve(problem, method=method))
    assert free.solved


def test_more_effort_solves_more():
    found = [solve(stack(3, 10, 3.0), effort=effort) for effort in (0.0, 1e-4, 1.0)]
    assert [one.solved for one in found] == [False, False, True]
    assert [one.status for one in found[:2]] == [Status.MAX_ITERATIONS] * 2
    assert found[0].iterations <= found[1].iterations < found[2].iterations


def test_parts_of_the_work_are_counted_in_the_whole():
    whole = Work(10.0)
    with whole.within(4.0):
        whole.spend(5.0)
        assert whole.over()
    assert not whole.over()
    assert whole.left == 5.0
    with whole.within(100.0):
        assert whole.left == 5.0
    whole.spend(7.0)
    assert whole.over()
    assert whole.left == 0.0
    assert not Work().over()


def test_a_method_does_no_more_than_it_may():
    data = scaled(bodies([Coulomb(1.5)] * 30, seed=3, freedoms=30))
    limit = Work(40_000.0)
    _, sweeps = GaussSeidel(tol=0.0).improve(data, np.zeros(90), limit)
    assert sweeps == 5
    assert limit.left == 0.0
