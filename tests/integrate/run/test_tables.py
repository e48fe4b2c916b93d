"""What a run offers as tables, forces and pictures by name."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

from gaussdyn import InputError, Trajectory, audit, build, plot, simulate
from gaussdyn.errors import SceneError


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


def test_some_columns_are_written_as_a_picture_and_as_nothing_else(run: Trajectory, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert [axis.get_ylabel() for axis in plot(run, "energy", path=tmp_path / "a.png").axes] == ["J"]
    run.plot("energy", path=tmp_path / "b.png")
    assert (tmp_path / "a.png").stat().st_size == (tmp_path / "b.png").stat().st_size > 0
    with pytest.raises(InputError, match=r"\.png"):
        run.plot("energy", path=tmp_path / "c.html")


def test_a_run_audits_itself_as_the_verb_does(run: Trajectory) -> None:
    scene = build("launched_cube")
    assert repr(run.audit()) == repr(audit(run))
    assert repr(run.audit(scene)) == repr(audit(run, scene))


def test_what_a_run_does_not_have_says_where_it_is(run: Trajectory) -> None:
    for name, told in (
        ("cube", r"run\['cube'\]"),
        ("q0", r"run\['q0'\]"),
        ("event", "events"),
        ("show", r"run\.view\(path\)"),
    ):
        with pytest.raises(AttributeError, match=told):
            getattr(run, name)
    assert not hasattr(run, "_no_such_protocol_")
    assert copy.copy(run).state_hash == pickle.loads(pickle.dumps(run)).state_hash == run.state_hash
    with pytest.raises(AttributeError, match="columns"):
        _ = object.__new__(Trajectory).columns


def test_several_columns_or_rows_at_once_are_refused_in_words(run: Trajectory) -> None:
    for asked in (["t", "energy"], slice(1, 3), 0, None):
        with pytest.raises(InputError, match="One column at a time"):
            run[asked]  # type: ignore[index]


@pytest.mark.parametrize("index", [10**6, -(10**6), 0.5, "end", True])
def test_saved_states_that_there_are_not_are_refused(run: Trajectory, index: object) -> None:
    for ask in (run.state, run.contacts):
        with pytest.raises(InputError, match="the number of a saved state"):
            ask(index)  # type: ignore[operator]


def test_saved_states_count_from_the_end_too(run: Trajectory) -> None:
    assert run.state(-2).digest() == run.state(len(run) - 2).digest()
    assert run.state(-1) is run.final is run.state(len(run) - 1)


def test_a_folder_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="folder"):
        Trajectory.load(tmp_path)
