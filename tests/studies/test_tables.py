"""Tables of studies: every number stands where its parameters say."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gaussdyn import study
from gaussdyn.errors import BackendMissing
from gaussdyn.studies import Cases
from tests.studies.users_module import pair, two_numbers

GRID = {"y": [3.0, 1.0, 2.0], "x": [10, 20]}


def test_a_grid_has_its_axes_as_dimensions() -> None:
    pytest.importorskip("xarray")
    found = study(two_numbers, GRID, pair, where=1).to_xarray()
    assert found.sizes == {"y": 3, "x": 2, "pair_0": 2}
    for y in GRID["y"]:
        for x in GRID["x"]:
            at = found.sel(x=x, y=y)
            assert (at["pair"].values.tolist(), float(at["sum"])) == ([x, y], x + y)
            assert str(at["status"].values) == "COMPLETED"


def test_other_studies_have_runs_as_dimension_and_rows() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    made = study(two_numbers, Cases([{"x": 1, "y": 2.0}, {"x": 5, "y": 4.0}]), pair, where=1)
    assert made.to_xarray()["sum"].dims == ("run",)
    table = made.to_dataframe()
    assert list(table.columns) == ["x", "y", "pair[0]", "pair[1]", "sum", "status", "outcome", "reason", "t"]
    np.testing.assert_array_equal(table["pair[1]"], [2.0, 4.0])


def test_without_a_library_the_extra_is_named(monkeypatch) -> None:
    made = study(two_numbers, Cases([{"x": 1, "y": 2.0}]), pair, where=1)
    for library, verb in (("pandas", made.to_dataframe), ("xarray", made.to_xarray)):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(BackendMissing, match=r"gaussdyn\[data\]"):
            verb()
