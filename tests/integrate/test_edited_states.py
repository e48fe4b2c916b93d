"""States that are edited in place: steppers take them as they are now, whatever they know of them."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import EventDriven, MoreauJean, State, simulate
from gaussdyn.scenes.catalogue import build


def fresh(state: State) -> State:
    """Return a state of copies, which nothing is known of."""
    return State(t=state.t, q=state.q.copy(), v=state.v.copy(), memory=dict(state.memory))


STEPPERS = {"fixed": lambda: MoreauJean(dt=1e-3), "run": lambda: EventDriven().for_run(), "events": EventDriven}
CASES = [(name, "fixed") for name in ("stack", "incline", "belt_oscillator", "four_bar")]
CASES += [(name, how) for name in ("belt_oscillator", "zeno_ball") for how in ("run", "events")]


@pytest.mark.parametrize(("name", "how"), CASES)
def test_an_edit_in_place_counts_in_the_next_step(name, how):
    scene, make = build(name), STEPPERS[how]
    stepper = make()
    state = scene.state
    for _ in range(3):
        state = stepper.advance(scene.system, state, scene.t_end).state
    unedited = fresh(state)
    if name == "four_bar":
        state.v[:] *= 0.5
    else:
        state.v[:] = 0.5 * state.v + 0.3
    edited = stepper.advance(scene.system, state, scene.t_end).state
    anew = make().advance(scene.system, fresh(state), scene.t_end).state
    assert edited.digest() == anew.digest()
    assert edited.digest() != make().advance(scene.system, unedited, scene.t_end).state.digest()


@pytest.mark.parametrize("name", ["stack", "incline", "belt_oscillator"])
def test_a_run_goes_on_from_the_edited_end_of_another_one(name):
    scene = build(name)
    end = simulate(scene.system, scene.state, 0.05, stepper=MoreauJean(dt=1e-3)).final
    end.v[:] = np.arange(1.0, 1.0 + len(end.v))
    runs = [simulate(scene.system, one, 0.07, stepper=MoreauJean(dt=1e-3)) for one in (end, fresh(end))]
    assert np.array_equal(runs[0].v, runs[1].v)
