"""Pictures of branch points hold what the analysis found."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import InputError
from gaussdyn.analysis.singular.configurations import branches
from gaussdyn.report.branches_pictures import draw_branches, draw_reactions
from gaussdyn.scenes.linkages.singular_pendulum import Ellipse, system_of


def test_curves_and_reactions(tmp_path):
    system, curve = system_of(2.3), Ellipse(2.0, 1.0, 4.0, 2.3)
    found = branches(system, [0.0, 0.0])
    sheet = draw_branches(system, found, length=0.5, path=tmp_path / "curves.svg")
    first, second, point = sheet.axes[0].lines
    for line in (first, second):
        u, theta = np.array(line.get_data())
        np.testing.assert_allclose(np.abs(theta), [curve.angle(x) for x in u], atol=1e-7)
    assert point.get_label() == "crossing"
    reactions = draw_reactions(system, found, 0, path=tmp_path / "reactions.png")
    assert len(reactions.axes[0].lines) == 2
    assert all(path.stat().st_size > 1000 for path in tmp_path.iterdir())


def test_bad_input():
    system = system_of(2.3)
    found = branches(system, [0.0, 0.0])
    with pytest.raises(InputError, match="axes"):
        draw_branches(system, found, axes=(0, 2))
    with pytest.raises(InputError, match="where branches meet"):
        draw_branches(system_of(1.9), branches(system_of(1.9), [0.0, 0.0]))
