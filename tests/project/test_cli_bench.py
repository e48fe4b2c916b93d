"""``gaussdyn bench``: what it measures, and that a missed answer shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from gaussdyn.scenes import catalogue

Cli = Callable[..., object]


def test_the_scenes_that_were_asked_for_are_measured(cli: Cli) -> None:
    answer = cli("bench", "scenes", "capstan", "cradle", "--json")
    found = answer.document
    assert (answer.code, found["schema"]) == (0, "gaussdyn/bench-scenes/1")
    assert [one["scene"] for one in found["results"]] == ["capstan", "cradle"]
    for one in found["results"]:
        scene = catalogue.build(one["scene"])
        assert one["pass"] is True
        assert one["compared"] == len(one["checks"]) == len(scene.exact)
        assert one["worst"]["error"] == max(
            one["checks"], key=lambda check: check["error"] / check["tol"]
        )["error"]  # fmt: skip
        assert one["steps"] >= scene.t_end / scene.dt * (1 - 1e-9) > 0
        assert one["wall_s"] > 0.0


def test_a_missed_answer_is_exit_status_1(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    true = catalogue.build

    def wrong(name: str, **params: float) -> object:
        scene = true(name, **params)
        return replace(scene, exact=(replace(scene.exact[0], value=scene.exact[0].value + 1.0), *scene.exact[1:]))

    monkeypatch.setattr(catalogue, "build", wrong)
    answer = cli("bench", "scenes", "capstan")
    assert answer.code == 1
    assert "missed" in answer.out
    assert "0 of 1 scenes" in answer.out


def test_an_unknown_scene_or_stepper_is_bad_input(cli: Cli) -> None:
    for words in (("bench", "scenes", "inclin"), ("bench", "scenes", "incline", "--stepper", "magic")):
        answer = cli(*words)
        assert (answer.code, answer.out) == (2, "")
    assert cli("bench").code in (0, 2)
