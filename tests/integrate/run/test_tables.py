"""What a run offers as tables, forces and pictures by name."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import InputError, Trajectory, build, simulate


@pytest.fixture(scope="module")
def run() -> Trajectory:
    scene = build("launched_cube")
    return simulate(scene, t_end=0.05)


def test_forces_on_a_body_are_those_of_all_others_together(run: Trajectory) -> None:
    """The cube touches the floor alone: all forces on it are those of the floor, and the floor has the opposite."""
    total = run.forces("cube")
    np.testing.assert_array_equal(total.force, run.between("cube", "floor").force)
    np.testing.assert_array_equal(run.forces("floor").force, -total.force)
    assert total.normal_force[-1] == pytest.approx(run.between("cube", "floor").normal_force[-1])


def test_forces_of_a_body_without_contacts_are_refused_with_the_nearest_name(run: Trajectory) -> None:
    with pytest.raises(InputError, match="Nearest: cube"):
        run.forces("cubes")


def test_a_dataset_has_all_columns_with_their_units(run: Trajectory) -> None:
    pytest.importorskip("xarray")
    found = run.to_xarray()
    assert set(found.data_vars) | {"t"} == set(run.names)
    np.testing.assert_array_equal(found["cube.x"].values, run["cube.x"])
    np.testing.assert_array_equal(found.t.values, run.t)
    assert found["cube.vx"].attrs["units"] == run.unit("cube.vx")
    assert found.attrs["status"] == "COMPLETED"


def test_columns_are_drawn_by_name_one_picture_per_unit(run: Trajectory) -> None:
    pytest.importorskip("matplotlib")
    figure = run.plot("cube.x", "cube.z", "energy")
    labels = [[line.get_label() for line in axis.lines] for axis in figure.axes]
    assert labels == [["cube.x", "cube.z"], ["energy"]]
    assert [axis.get_ylabel() for axis in figure.axes] == [run.unit("cube.x"), "J"]
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), run["cube.x"])


def test_an_unknown_column_is_not_drawn(run: Trajectory) -> None:
    with pytest.raises(InputError, match=r"cube\.x"):
        run.plot("cubex")
