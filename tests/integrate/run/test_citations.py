"""What a run says is to be cited: the methods that it used, and no others, as BibTeX that can be read."""

from __future__ import annotations

import re

import pytest

from gaussdyn import EventDriven, build, simulate
from gaussdyn.integrate.run.citations import (
    ALWAYS,
    ENTRIES,
    FRICTION,
    PARADOX,
    ROBOT_FILE,
    STEPPERS,
    SYSTEMS,
    bibtex,
    keys_of,
)
from gaussdyn.integrate.stepper_names import STEPPERS as NAMED


def keys(text: str) -> list[str]:
    return re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE)


def test_a_run_with_friction_cites_its_stepper_and_the_law() -> None:
    scene = build("incline")
    found = keys(simulate(scene, t_end=0.01).citations())
    assert found == [*ALWAYS, "moreau1999", "jean1999", *FRICTION]


def test_a_run_by_events_cites_its_integrator() -> None:
    scene = build("pendulum")
    found = keys(simulate(scene, t_end=0.01, stepper=EventDriven()).citations())
    assert "hairer1993" in found
    assert "jean1999" not in found
    assert not set(FRICTION) & set(found)


def test_a_run_through_a_state_without_motion_cites_who_explained_it() -> None:
    scene = build("painleve_rod")
    run = simulate(scene, t_end=2 * scene.dt, examine="cheap")
    assert "NONE" in run.outcomes
    assert set(PARADOX) <= set(keys(run.citations()))


def test_a_robot_from_a_file_cites_the_reader() -> None:
    spec = {"kind": "TreeSystem", "source": '<mujoco model="x"/>'}
    found = keys_of({"stepper": {"name": "moreau_jean"}, "system": spec}, friction=False)
    assert set(ROBOT_FILE) | set(SYSTEMS["TreeSystem"]) <= set(found)


def test_every_key_has_an_entry_and_every_stepper_exists() -> None:
    used = {
        *ALWAYS,
        *FRICTION,
        *PARADOX,
        *ROBOT_FILE,
        *(k for some in (STEPPERS, SYSTEMS) for row in some.values() for k in row),
    }
    assert used == set(ENTRIES)
    assert set(STEPPERS) <= set(NAMED)


@pytest.mark.parametrize("key", sorted(ENTRIES))
def test_entries_are_balanced_and_complete(key: str) -> None:
    text = bibtex((key,))
    assert text.count("{") == text.count("}")
    assert {"author", "title"} <= set(re.findall(r"^  (\w+) = \{", text, re.MULTILINE))
    depth = 0
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0
