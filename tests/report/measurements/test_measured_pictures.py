"""Pictures of runs beside measurements: what is drawn is what was found."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.analysis.measured.adams_joints import ColumnDifference
from gaussdyn.analysis.measured.cube_tosses import TossErrors
from gaussdyn.analysis.measured.planar_impacts import LawErrors
from gaussdyn.errors import InputError

pytest.importorskip("matplotlib")
from gaussdyn.report.measurements.measured_pictures import draw_impacts, draw_joints, draw_tosses


def test_tosses(tmp_path):
    x = np.array([0.3, 0.1, 0.2])
    errors = TossErrors(position=x, rotation=10.0 * x, position_end=x, rotation_end=x, deepest=0.0 * x, failed=0)
    sheet = draw_tosses(errors, (0.001, 0.04), (0.1, 7.7), tmp_path / "tosses.png")
    drawn = [axis.lines[0].get_xdata() for axis in sheet.axes]
    np.testing.assert_allclose(drawn[0], [10.0, 20.0, 30.0])
    np.testing.assert_allclose(drawn[1], [1.0, 2.0, 3.0])
    assert (tmp_path / "tosses.png").stat().st_size > 1000


def test_impacts(tmp_path):
    laws = [
        LawErrors(name="best", parameters={}, errors=np.array([0.02, 0.01])),
        LawErrors(name="Newton", parameters={"mu": 0.2}, errors=np.array([0.2, 0.1])),
    ]
    sheet = draw_impacts(laws, tmp_path / "impacts.svg")
    assert [line.get_linestyle() for line in sheet.axes[0].lines] == ["--", "-"]
    assert (tmp_path / "impacts.svg").read_text(encoding="utf-8").count("<path") > 2


def test_joints_leave_out_what_is_zero(tmp_path):
    one = ColumnDifference(case="a", column="position", largest=1.0, difference=2.0, bar=4.0, independent=0.0)
    nothing = ColumnDifference(case="b", column="velocity", largest=0.0, difference=0.0, bar=0.0, independent=0.0)
    sheet = draw_joints([one, nothing], tmp_path / "joints.png")
    points = np.concatenate([dots.get_offsets() for dots in sheet.axes[0].collections])
    np.testing.assert_allclose(points, [[0.5, 0.0]])
    with pytest.raises(InputError, match="png"):
        draw_joints([one], tmp_path / "joints.bmp")
