"""Ctrl-C is known wherever it arrives, nothing that was computed is lost, and it ends the loop around the run."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from evidence import first

from gaussdyn.errors import PRESSED, InputError, Interrupted, keeps_interrupts
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.futures.explore import explore
from gaussdyn.integrate.run import checkpoints as archive
from gaussdyn.integrate.run.interrupts import Interrupts
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Position, UserSystem

REST = State(q=[0.0], v=[0.0])
COARSE = MoreauJean(dt=0.01)


def block() -> UserSystem:
    """A block on the ground: its quadratic program is solved by a kernel whose answer is made into Python objects."""

    def weight(t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray | None) -> list[float]:
        return [-19.62]

    return UserSystem(1, [[2.0]], weight, [Position(lambda t, q: q[0], name="ground")])


@pytest.fixture(autouse=True)
def _usual_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    yield
    signal.signal(signal.SIGINT, before)


def pressed() -> None:
    signal.raise_signal(signal.SIGINT)


def as_in_a_kernel() -> None:
    """What numba makes of an interrupt that arrives while it boxes an answer."""
    try:
        pressed()
    except KeyboardInterrupt as error:
        raise SystemError("CPUDispatcher(...) returned a result with an exception set") from error


def swallowed() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        pressed()


def disguised() -> None:
    """What a library makes of it that says nothing of the reason."""
    try:
        pressed()
    except KeyboardInterrupt:
        raise ValueError("not a number") from None


def after(seconds: float, what: Callable[[], None]) -> Callable[[float, State], list[float]]:
    """Return a control that does something at a time, once."""
    done: list[float] = []

    def control(t: float, state: State) -> list[float]:
        if t > seconds and not done:
            done.append(t)
            what()
        return [0.0]

    return control


def test_every_one_of_many_interrupts_ends_the_run_as_such() -> None:
    system, chance, kept = block(), random.Random(1), []
    simulate(system, REST, 0.01)
    for _ in range(30):
        delay = chance.uniform(0.001, 0.04)
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt) as caught:  # noqa: PT012 - the signal may arrive before the run begins
            timer.start()
            simulate(system, REST, 1e4)
        if isinstance(caught.value, Interrupted):
            kept.append(caught.value.trajectory)
    assert len(kept) > 15
    assert all(run.interrupted and run.stop.reason.startswith(f"KeyboardInterrupt: {PRESSED}") for run in kept)
    assert all(len(run) == run.statistics["steps"] + 1 and np.isfinite(run["q0"]).all() for run in kept)


@pytest.mark.parametrize(("arrives", "stepper"), first(6, [
    *((arrives, COARSE) for arrives in (pressed, as_in_a_kernel, swallowed, disguised)),
    *((arrives, EventDriven(dt=0.01, step=0.01)) for arrives in (as_in_a_kernel, disguised, pressed, swallowed)),
]))  # fmt: skip
def test_however_it_arrives_the_run_is_kept_and_the_caller_hears_of_it(arrives, stepper, tmp_path) -> None:
    path, whole = tmp_path / "run.h5", simulate(block(), REST, 0.1, stepper=stepper, control=after(9.0, pressed))
    with pytest.raises(Interrupted, match=r"sys\.last_value\.trajectory.*resume=True") as caught:
        simulate(block(), REST, 0.1, stepper=stepper, control=after(0.045, arrives), out=path)
    run = caught.value.trajectory
    assert 0.0 < run.t_reached <= 0.05 + 1e-12
    assert run.stop.reason.startswith(f"KeyboardInterrupt: {PRESSED}")
    assert Trajectory.load(path).state_hash == run.state_hash
    assert Trajectory.load(path).interrupted
    again = simulate(block(), REST, 0.1, stepper=stepper, control=after(9.0, pressed), out=path, resume=True)
    assert again.state_hash == whole.state_hash
    assert list(tmp_path.iterdir()) == [path]


def test_a_loop_over_runs_ends_unless_it_asks_for_what_there_is() -> None:
    runs = [simulate(block(), REST, 0.1, control=after(0.05, as_in_a_kernel), on_interrupt="return") for _ in range(3)]
    assert [run.interrupted for run in runs] == [True] * 3
    with pytest.raises(InputError, match="raise, return"):
        simulate(block(), REST, 0.1, on_interrupt="pass")


@pytest.mark.parametrize("on_interrupt", ["raise", "return"])
def test_one_that_comes_when_the_run_is_whole_is_not_swallowed(on_interrupt) -> None:
    def late(t: float, t_end: float) -> None:
        if t >= t_end:
            pressed()

    with pytest.raises(Interrupted) as caught:
        simulate(block(), REST, 0.05, stepper=COARSE, progress=late, on_interrupt=on_interrupt)
    assert caught.value.trajectory.status == "COMPLETED"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_one_waits_for_the_file_and_a_third_does_not(tmp_path, monkeypatch) -> None:
    path, write, presses = tmp_path / "run.h5", archive.storage.write, 1

    def slowly(run: Trajectory, place: object) -> None:
        for _ in range(presses):
            pressed()
        write(run, place)

    monkeypatch.setattr(archive.storage, "write", slowly)
    options = {"stepper": COARSE, "on_interrupt": "return", "out": path}
    with pytest.raises(Interrupted):
        simulate(block(), REST, 0.1, control=after(0.05, pressed), **options)
    assert Trajectory.load(path).interrupted
    path.unlink()
    presses = 2
    with pytest.raises(KeyboardInterrupt):
        simulate(block(), REST, 0.1, control=after(0.05, pressed), **options)
    assert len(Trajectory.load(path).steps.t) >= 5  # from the chunks


def test_an_interrupt_in_other_verbs_is_one_too() -> None:
    with pytest.raises(KeyboardInterrupt, match=PRESSED):
        explore(block(), REST, 0.1, stepper=COARSE, control=after(0.05, as_in_a_kernel))
    with pytest.raises(KeyboardInterrupt, match=PRESSED):
        keeps_interrupts(as_in_a_kernel)()
    with pytest.raises(SystemError, match="another"):
        keeps_interrupts(lambda: (_ for _ in ()).throw(SystemError("another")))()
    with pytest.raises(KeyboardInterrupt), Interrupts(), Interrupts():
        swallowed()
    try:
        pressed()
    except KeyboardInterrupt:  # what goes wrong while one is dealt with is no interrupt
        with pytest.raises(InputError):
            explore(block(), REST, 0.1, depth=-1)


def at_the_start(presses: int) -> UserSystem:
    """A block whose weight, asked for before the first step, brings Ctrl-C as often."""
    left = [presses]

    def force(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        while left[0]:
            left[0] -= 1
            pressed()
        return [-19.62]

    return UserSystem(1, [[2.0]], force, [Position(lambda t, q: q[0], name="ground")])


@pytest.mark.parametrize("stepper", [COARSE, EventDriven(dt=0.01, step=0.01)])
def test_before_the_first_step_it_ends_a_run_of_no_steps(stepper, tmp_path) -> None:
    path = tmp_path / "run.h5"
    run = simulate(at_the_start(1), REST, 0.05, stepper=stepper, on_interrupt="return", out=path)
    assert run.interrupted
    assert (run.t_reached, len(run), len(run.steps.t)) == (0.0, 1, 0)
    assert run.stop.reason == f"KeyboardInterrupt: {PRESSED}"
    assert Trajectory.load(path).interrupted
    again = simulate(at_the_start(0), REST, 0.05, stepper=stepper, out=path, resume=True)
    assert again.state_hash == simulate(at_the_start(0), REST, 0.05, stepper=stepper).state_hash
    with pytest.raises(Interrupted, match="at t = 0 s of") as caught:
        simulate(at_the_start(1), REST, 0.05, stepper=stepper)
    assert len(caught.value.trajectory.steps.t) == 0


def test_a_second_one_before_the_first_step_does_not_wait() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        simulate(at_the_start(2), REST, 0.05, stepper=COARSE, on_interrupt="return")
    assert not isinstance(caught.value, Interrupted)
