"""All motions through points where branches meet: each keeps the energy and obeys its own closed form."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import InputError, State
from gaussdyn.analysis.singular.explore_branches import explore_branches
from gaussdyn.integrate.singular.on_branch import OnBranch
from gaussdyn.scenes.linkages import darboux
from gaussdyn.scenes.linkages.singular_pendulum import Ellipse, system_of

STEPPER = OnBranch(dt=0.05)


def test_both_motions_of_the_pendulum():
    curve = Ellipse(2.0, 1.0, 4.0, 2.3)
    system, start = system_of(2.3), State(q=[0.5, curve.angle(0.5)], v=[0.0, 0.0])
    tree = explore_branches(system, start, 1.0, stepper=STEPPER)
    assert tree.branches.kind == "crossing"
    ends = [leaf.run.final for leaf in tree.leaves()]
    assert sorted(np.sign(end.q[1]) for end in ends) == [-1.0, 1.0]
    for leaf in tree.leaves():
        assert leaf.run["energy"][-1] == pytest.approx(tree.run["energy"][0], rel=1e-11)
        u, theta = leaf.run.final.q
        assert abs(theta) == pytest.approx(curve.angle(u), abs=1e-11)


def test_darboux_leaves_its_line_along_the_mirror_image():
    system = darboux.system_of()
    start = State(q=darboux.place(-0.3), v=darboux.motion_of(-0.3, 1.0))
    tree = explore_branches(system, start, 0.8, stepper=STEPPER)
    first, second = tree.leaves()
    line, bow = sorted((first, second), key=lambda leaf: abs(leaf.run.final.q[8]))
    assert abs(line.run.final.q[8]) < 1e-12
    q = bow.run.final.q
    np.testing.assert_allclose(q, darboux.place(q[1] + q[7] - q[9], bow=True), atol=1e-11)


def test_too_many_pieces():
    curve = Ellipse(2.0, 1.0, 4.0, 2.3)
    with pytest.raises(InputError, match="max_runs"):
        explore_branches(
            system_of(2.3), State(q=[0.5, curve.angle(0.5)], v=[0.0, 0.0]), 1.0, stepper=STEPPER, max_runs=2
        )  # fmt: skip
