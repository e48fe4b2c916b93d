"""Rows that depend on each other on the constraints only: six hinges, one freedom, thirty rows of rank 29."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn import simulate
from gaussdyn.integrate.singular.on_branch import OnBranch
from gaussdyn.mechanics.branching.branch_point import branch_point
from gaussdyn.mechanics.branching.configuration_space import ConfigurationSpace
from gaussdyn.scenes.linkages import bricard


@pytest.mark.slow
def test_bricard_moves_and_keeps_energy_and_joints():
    scene = bricard.build(0.0, 1.0, 1.0)
    run = simulate(scene, t_end=0.5, stepper=OnBranch(dt=0.05))
    theta = bricard.motion(0.0, 0.5 * math.sqrt(9.81))[0]
    assert run["theta"][-1] == pytest.approx(theta, abs=1e-10)
    assert np.ptp(run["energy"]) < 1e-10
    assert run.statistics["max_joint_error_m"] < 1e-12
    assert run.events == ()


@pytest.mark.slow
def test_the_cube_is_a_manifold_though_rows_are_redundant():
    scene = bricard.build(0.0, 1.0, 1.0)
    q = scene.state.q
    point = branch_point(ConfigurationSpace.of(scene.system, q), q)
    assert (point.kind, point.dimension, point.reduction.rank) == ("redundant", 1, 29)
