"""Phase pictures: runs over the configuration curve."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import Position, State, UserSystem, simulate
from gaussdyn.errors import InputError
from gaussdyn.integrate.realizations.smooth import Smooth
from gaussdyn.report.phase import draw_phase

pytest.importorskip("matplotlib")
RING = UserSystem(2, np.eye(2), [0.0, 0.0], [Position(lambda t, q: np.hypot(*q) - 1.0, kind="bilateral", name="ring",
                  jacobian=lambda t, q: (np.asarray(q) / max(np.hypot(*q), 1e-9))[None, :])])  # fmt: skip


def test_the_curve_and_the_run_are_drawn_on_top_of_each_other(tmp_path, monkeypatch):
    monkeypatch.setattr("gaussdyn.report.phase.POINTS", 41)
    run = simulate(RING, State(q=[1.0, 0.0], v=[0.0, 2.0]), 1.0, stepper=Smooth(dt=0.1))
    sheet = draw_phase(RING, "ring", {"once": run}, names=("x", "y"), path=tmp_path / "ring.svg")
    axis = sheet.axes[0]
    curve = np.vstack([path.vertices for path in axis.collections[0].get_paths()])
    np.testing.assert_allclose(np.hypot(*curve.T), 1.0, atol=5e-3)
    np.testing.assert_allclose(np.hypot(*axis.lines[0].get_xydata().T), 1.0, atol=1e-9)
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("x", "y")
    assert (tmp_path / "ring.svg").stat().st_size > 1000


def test_bad_input():
    run = simulate(RING, State(q=[1.0, 0.0], v=[0.0, 2.0]), 0.1, stepper=Smooth(dt=0.1))
    with pytest.raises(InputError, match="row: given 'rod'; allowed: ring"):
        draw_phase(RING, "rod", {"once": run})
    with pytest.raises(InputError, match="two coordinates"):
        draw_phase(UserSystem(1, [[1.0]], [0.0]), "ring", {"once": run})
