"""One run of a study: what it meets, and what goes wrong in it, is its result."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import InputError, Position, State, UserSystem, simulate
from gaussdyn.scenes.catalogue import build
from gaussdyn.studies import Template
from gaussdyn.studies.template import COMPLETED, FAILED, Job, measure_of

GAP = "max:block.left/incline.gap"


def falling(height: float) -> tuple[UserSystem, State, float]:
    if height < 0.0:
        raise ValueError("below the floor")
    ball = UserSystem(nq=1, mass=[[2.0]], force=[-19.62], constraints=[Position(lambda t, q: q[0])])
    return ball, State(q=[height], v=[0.0]), 0.1


def at_the_end(run) -> dict[str, float]:
    return {"q": run.q[-1], "t": run.t_reached}


def test_a_scene_by_name_is_what_simulate_makes_of_it() -> None:
    job = Job(Template(build="incline", t_end=0.1), measure_of(["block.speed", "max_residual", GAP]))
    found, run = job({"mu": 0.1}), simulate(build("incline", mu=0.1), t_end=0.1)
    assert found.status == COMPLETED
    assert found.outcome in run.outcomes
    assert found.values["block.speed"] == run["block.speed"][-1]
    assert found.values["max:block.left|incline.gap"] == run["block.left/incline.gap"].max()
    assert found.values["max_residual"] == run.statistics["max_residual"]


def test_values_at_the_end_need_no_states_in_between_and_are_the_same() -> None:
    names, every = ["block.speed", "event:slip"], Template(build="incline", t_end=0.1, save=1)
    assert measure_of(names).save > 10**6
    assert measure_of([GAP]).save == 1
    one, other = (Job(made, measure_of(names))({"mu": 0.1}) for made in (Template(build="incline", t_end=0.1), every))
    assert one.values == other.values


def test_a_function_builds_what_it_likes_and_its_exceptions_are_results() -> None:
    job = Job(Template(build=falling), at_the_end)
    assert job({"height": 1.0}).values["q"] == pytest.approx(1.0 - 9.81 * 0.1**2 / 2, abs=1e-12)
    wrong = job({"height": -1.0})
    assert wrong.status == FAILED
    assert wrong.reason.startswith("build: ValueError: below the floor (falling, ")


@pytest.mark.parametrize(
    ("measure", "word"),
    [
        (lambda run: {"x": np.nan}, "Write {'x': None}"),
        (lambda run: 3.0, "a mapping of names"),
        (lambda run: {"x": [[1.0], [1.0, 2.0]]}, "of one shape"),
        (lambda run: {"x": "much"}, "of one shape"),
        (lambda run: run["nothing"], "Trajectory.names"),
    ],
)
def test_what_a_measure_may_not_return_fails_its_run_alone(measure, word: str) -> None:
    found = Job(Template(build=falling), measure)({"height": 1.0})
    assert found.status == FAILED
    assert found.reason.startswith("measure: ")
    assert word in found.reason
    assert found.t == 0.1


def test_what_is_not_known_is_nan() -> None:
    assert np.isnan(Job(Template(build=falling), lambda run: {"x": None})({"height": 1.0}).values["x"])


def test_templates_are_checked_before_any_run() -> None:
    with pytest.raises(InputError, match="incline"):
        Template(build="inclin")
    with pytest.raises(InputError, match="the name of a scene"):
        Template(build=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="slope"):
        Template(build="incline").check(("nu",))
    with pytest.raises(InputError, match="not fixed"):
        Template(build="incline", fixed={"mu": 0.1}).check(("mu",))
