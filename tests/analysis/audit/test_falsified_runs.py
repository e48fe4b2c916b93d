"""Honest runs pass, and whatever single number of one is falsified, the audit notices.

A falsified number is changed wherever it is stored, so that nothing but mechanics can tell.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from falsified import falsified, jointed, robot, small, with_lines, with_state
from random_scenes import falling, linked, mixed
from small_systems import Ball, Block, CoulombOscillator, SlidingRod, Tethered

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.analysis.audit.from_file import file_series
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.singular.on_branch import OnBranch
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.integrate.time_stepping.tolerance import Tolerance
from gaussdyn.mechanics.trees import in_joint_coordinates
from gaussdyn.scenes.catalogue import build

pytestmark = pytest.mark.xdist_group("falsified runs")  # what they share is made once

KINDS = ("impulse", "velocity", "gap", "time", "mode", "dropped contact")
FAST = 2 * len(KINDS)


def scene(name, t_end, dt, **params):
    def made():
        found = build(name, **params)
        return found.system, found.state, t_end, dt

    return made


RUNS = {
    "ball": small(Ball(0.8), [0.05], [0.0], 0.3, 0.01),
    "sliding": small(Block(0.5, 0.2), [0.0, 0.0], [0.0, 0.0], 0.15, 0.01),
    "held": small(Block(0.3, 0.5), [0.0, 0.0], [0.0, 0.0], 0.1, 0.01),
    "oscillator": small(CoulombOscillator(), [0.0, 0.35], [0.0, 0.0], 0.5, 0.02),
    "rod": small(SlidingRod(0.3), [0.0, np.sin(1.1), 1.1], [3.0, 0.5 * np.cos(1.1), 0.5], 0.1, 0.01),
    "pendulum": small(Tethered(), [1.0, 0.0], [0.0, 0.0], 0.2, 0.01),
    "four bar": scene("four_bar", 0.1, 5e-3),
    "rocking": scene("rocking_block", 0.4, 1e-2),
    "cube": scene("launched_cube", 0.1, 5e-3),
    "stack": scene("stack", 0.1, 1e-2),
    "jointed": jointed(0.1, 5e-3),
    "robot": robot(0.1, 5e-3),
    "superball": scene("superball", 0.5, 1e-2),
    "coin": scene("coin", 0.05, 5e-3),
    "ellipsoid": scene("rattleback", 0.05, 5e-3),
}


@cache
def made(name):
    system, state, t_end, dt = RUNS[name]()
    return system, simulate(system, state, t_end, stepper=MoreauJean(dt=dt))


def drawn(seed):
    """Return the run and its falsification that a seed says."""
    rng = np.random.default_rng(seed)
    kind, names = KINDS[seed % len(KINDS)], list(RUNS)
    while True:
        name = names[int(rng.integers(len(names)))]
        system, run = made(name)
        false = falsified(run, kind, rng)
        if false is not None:
            return name, kind, system, false


@pytest.mark.parametrize("name", RUNS)
def test_the_runs_themselves_pass(name):
    system, run = made(name)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


@pytest.mark.parametrize(
    "seeds", [range(FAST), pytest.param(range(FAST, 200), marks=pytest.mark.slow)], ids=["first", "all"]
)
def test_every_falsification_is_noticed(seeds):
    missed = [(seed, name, kind) for seed in seeds for name, kind, system, false in [drawn(seed)]
              if audit(false, system).passed]  # fmt: skip
    assert not missed


@pytest.mark.parametrize("by", [1e-3, 1e-6, 1e-8])
def test_forces_of_contacts_between_shapes_outside_their_cones_are_noticed_without_the_system(by):
    """They stand in the table of contacts alone; changed are a friction, and a push that pulls."""
    _, run = made("stack")
    table, missed = run.table, []
    assert audit(run).passed
    for line in np.flatnonzero(table.reaction[:, 0] > 1e-3 * table.reaction.max())[::25]:
        for c, x in ((1, (table.mu_s[line] + by) * table.reaction[line, 0]), (0, -by * table.reaction.max())):
            r = table.reaction.copy()
            r[line, c] = x
            if file_cone(with_lines(run, reaction=r)).passed:
                missed.append((line, c))
    assert not missed


@pytest.mark.parametrize(("make", "seed", "count"), [(falling, 7313, 2), (linked, 7315, 1)], ids=["falling", "rolling"])
def test_forces_over_steps_of_a_microsecond_lie_in_their_cones(make, seed, count):
    """What is left of the momentum along a slip is 1e-11 of them: the solution is no better than that."""
    system, state = make(3, seed, mu=0.3, eps_n=0.0, count=count) if make is falling else make(3, seed)
    if make is linked:
        tree = in_joint_coordinates(system)
        system, state = tree.system, tree.state(state)
    run = simulate(system, state, 0.25, stepper=MoreauJean(step=Tolerance(1e-4)))
    assert file_cone(run).passed


def file_cone(run):
    return next(one for one in file_series(run) if one.name == "cone")


def honest(seed):
    """Return a short run of random bodies that fall, rub, hang on one another."""
    mu, eps = (0.0, 0.2, 0.5, 0.9)[seed % 4], (0.0, 0.2, 0.6, 1.0)[seed // 4 % 4]
    dim = 2 + seed % 2
    make = (lambda d, s: falling(d, s, mu=mu, eps_n=eps), mixed, linked)[seed % 3]
    system, state = make(dim, seed)
    return system, simulate(system, state, 0.3, stepper=MoreauJean(dt=4e-3), save=1 + seed % 5, project=True)


@pytest.mark.parametrize(
    "seeds",
    [
        range(4),
        pytest.param(range(4, 60), marks=pytest.mark.slow),
        pytest.param(range(60, 200), marks=pytest.mark.nightly),
    ],
    ids=["first", "more", "all"],
)
def test_untouched_runs_pass(seeds):
    verdicts = {seed: audit(run, system) for seed in seeds for system, run in [honest(seed)]}
    assert not [(seed, verdict.explain()) for seed, verdict in verdicts.items() if not verdict.passed]


def test_a_start_from_which_no_motion_along_a_branch_begins_is_a_failure():
    """Its steps are integrated again, which such a velocity refuses: the audit raised that error."""
    found = build("equal_crank")
    run = simulate(found.system, found.state, 0.1, stepper=OnBranch())
    false = with_state(run, "v", 2, 0, run.v[2, 0] + 1e-3)
    assert audit(run, found.system).passed
    assert audit(false, found.system).max["kinematics"] == np.inf
