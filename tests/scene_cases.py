"""The scenes for tests that go over all of them: built when first looked at, once in a process, never at collection.

What is asked of a scene carries its name as its group, so that one process answers it all (`pytest --dist loadgroup`).
"""

from __future__ import annotations

from functools import cache

import pytest

from gaussdyn.scenes.catalogue import build

# Scenes that say what other integrators keep to; test_catalogue holds these lists against the scenes
LOCATED = (
    "belt_oscillator", "coulomb_oscillator", "cue_ball", "double_pendulum_impact", "falling_rod", "free_body",
    "incline", "kapitza", "ladder", "launched_cube", "leaving_sphere", "pendulum", "rimless_wheel", "rocking_block",
    "slack_string", "slider_clearance", "slider_crank", "sliding_rod", "sphere_slip", "superball", "tip_or_slide",
    "toppling_cylinder", "turntable", "two_ball_drop", "woodpecker", "zeno_ball",
)  # fmt: skip
ON_BRANCH = ("bricard", "darboux", "equal_crank", "four_bar", "parallelogram", "singular_pendulum")

# Scenes whose whole run takes seconds: the fast tests look at its first steps only
LONG = (
    "andrews_squeezer", "bar_on_supports", "belt_oscillator", "bricard", "brick_on_slope", "chaplygin_sleigh",
    "coulomb_oscillator", "darboux", "double_pendulum_impact", "energy_constraint", "falling_rod", "four_bar",
    "free_body", "kapitza", "knife_edge", "ladder", "leaving_sphere", "parallelogram", "pendulum", "pinched_capsule",
    "rattleback", "rimless_wheel", "rocking_block", "rolling_disc", "singular_pendulum", "slack_string",
    "slider_crank", "sliding_rod", "spinning_disc", "tip_or_slide", "turntable", "two_ball_drop", "wall_press",
    "zeno_ball",
)  # fmt: skip


@cache
def scene_of(name):
    """Return a scene at its defaults; tests change nothing of it."""
    return build(name)


def by_scene(names, slow=()):
    """Return the names as parameters, each in the group of its scene; those in `slow` for the longer tests."""
    return [pytest.param(name, marks=[pytest.mark.xdist_group(name), *[pytest.mark.slow] * (name in slow)])
            for name in names]  # fmt: skip
