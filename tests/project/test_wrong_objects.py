"""Public verbs name what they were given and what they take, whatever it is."""

from __future__ import annotations

from typing import Any

import pytest

import gaussdyn as gd

SCENE = gd.build("painleve_rod", mu=1.8)
THINGS: dict[str, Any] = {
    "system": SCENE.system,
    "state": SCENE.state,
    "none": None,
    "word": "x",
    "data": {},
    "array": [1],
}
VERBS = ("admissible_set", "assemble", "audit", "build", "check_system", "crosscheck", "explore", "outcome", "plot",
         "resolve", "simulate", "snapshot", "solve")  # fmt: skip
TAKEN = {("check_system", "system")}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_names_what_it_cannot_take(verb: str) -> None:
    for kind, thing in THINGS.items():
        if (verb, kind) not in TAKEN:
            with pytest.raises(gd.InputError):
                getattr(gd, verb)(thing)


@pytest.mark.parametrize("verb", ["plot", "audit"])
def test_of_a_scene_a_run_is_asked_for(verb: str) -> None:
    with pytest.raises(gd.InputError, match=r"run: given Scene; allowed: a Trajectory\. simulate\(scene\)"):
        getattr(gd, verb)(SCENE)


def test_a_run_is_audited_with_its_scene() -> None:
    scene = gd.build("incline")
    run = gd.simulate(scene, t_end=0.01)
    assert gd.audit(run, scene).passed
    for wrong in (run, "incline", scene.state):
        with pytest.raises(gd.InputError):
            gd.audit(run, wrong)
        with pytest.raises(gd.InputError):
            gd.plot(run, scene=wrong)
