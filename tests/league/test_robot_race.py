"""Robots beside MuJoCo."""

from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="needs the extra mjcf")

from gaussdyn.league.robot_race import race

QUADRUPED = Path(__file__).parents[2] / "examples/quadruped.xml"


@pytest.mark.slow
def test_laws_hold_in_each_step_and_contacts_that_are_held_do_not_creep() -> None:
    found = race(QUADRUPED, 100, random=False)
    for own in (found.corrected, found.once):
        assert own.E <= 1e-10
        assert own.gap >= -1e-10
        assert own.contacts.creep < 1e-9 < found.pyramidal.creep
        assert own.contacts.put_in <= 1e-9
        assert 0.0 <= own.us_by_hand <= own.us
