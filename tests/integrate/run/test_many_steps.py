"""Steps entered together leave the same bits as steps entered one by one."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest
from evidence import first
from hypothesis import given
from hypothesis import strategies as st

from gaussdyn.arrays import Array
from gaussdyn.integrate.energy import Books, EnergyBook
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.run.statistics import RunningStatistics
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.state import State
from gaussdyn.scenes.catalogue import build
from tests.run_cases import same


def running_balance(x: Array) -> dict[str, float]:
    """Return the sums and maxima of a book, step by step: energies, works and speeds are the lines of x."""
    work, drift, scale, fastest = [0.1, 0.0, 0.0], 1e-3, 0.0, 0.0
    for kinetic, potential, *done, speed in x.T.tolist():
        work = [a + b for a, b in zip(work, done, strict=True)]
        drift = max(drift, abs(kinetic + potential - (0.1 + 0.2) - (work[0] + work[1] + work[2])))
        scale, fastest = max(scale, kinetic + abs(potential - 0.2)), max(fastest, speed)
    sums = dict(zip(("reactions", "forces", "projection"), work, strict=True))
    return {"drift": drift, "scale": scale, "fastest": fastest, **sums}


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 300))
def test_a_book_has_the_same_sums(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((6, n)) * 10.0 ** rng.integers(-9, 9, size=(6, n))
    book = EnergyBook(kinetic=0.3, potential=-0.7, initial=(0.1, 0.2), reactions=0.1, drift=1e-3)
    *work, error = book.enter(Books(*x[:5]), x[5])
    found, expected = asdict(book), running_balance(x)
    assert {key: found[key] for key in expected} == expected
    assert [found["reactions"], found["forces"], found["projection"]] == [one[-1] for one in work]
    assert abs(error[-1]) <= found["drift"]


def test_residuals_that_are_no_numbers_do_not_count() -> None:
    run = simulate(build("incline"), t_end=0.01)
    totals = RunningStatistics.again(run.running, run.rows)
    assert totals.statistics() == run.statistics


@pytest.mark.parametrize("name", ["zeno_ball", "pinched_capsule", "brick_on_slope", "pendulum", "woodpecker"])
def test_a_run_whose_steps_are_seen_one_by_one_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = build(name)
    end, stepper = 80 * scene.dt, MoreauJean(dt=scene.dt)
    many = simulate(scene, t_end=end, stepper=stepper, save=3)
    with monkeypatch.context() as patch:
        patch.setattr(MoreauJean, "advance_many", lambda *_args, **_more: ())
        same(many, simulate(scene, t_end=end, stepper=stepper, save=3))


@pytest.mark.parametrize(
    "name", first(3, ["launched_cube", "zeno_ball", "belt_oscillator", "rimless_wheel", "woodpecker"])
)
def test_events_that_are_recorded_together_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = build(name)
    for save in (1, 2):
        many = simulate(scene, stepper=EventDriven(), save=save)
        with monkeypatch.context() as patch:
            patch.setattr(EventDriven, "advance_many", lambda *_args, **_more: ())
            each = simulate(scene, stepper=EventDriven(), save=save)
        same(many, each)
        for a, b in zip(many.impacts, each.impacts, strict=True):
            assert (a.step, a.t, a.kind) == (b.step, b.t, b.kind)
            assert np.array_equal(a.after, b.after)


def test_what_fails_in_mid_run_leaves_the_events_before_it() -> None:
    """The oscillator turns at pi, 2 pi, ...; after 7 s a function of the user has no value."""

    def silent(t: float, state: State) -> float:
        """Return a number up to a time."""
        return 1.0 if t < 7.0 else math.nan

    run = simulate(build("coulomb_oscillator"), stepper=EventDriven(events={"silent": silent}))
    assert run.status == "STOPPED"
    assert "silent" in run.stop.reason
    assert [event.kind for event in run.events] == ["reversal", "reversal"]
    assert run.events[-1].t == pytest.approx(2.0 * math.pi, abs=1e-9)
    assert 2.0 * math.pi < run.t_reached < 7.0, "what is before the step of the integrator that asks in vain is kept"
