"""The table of contacts made in bulk is that of rows asked for state by state, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.run import step_evidence
from gaussdyn.integrate.run.contact_history import FIELDS, ContactTable, LateTable
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.core.outside.lazy_step import KeptSteps
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.placed_contacts import Legs, Listed
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.joints import Hinge
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.trees.jointed_system import JointedSystem
from gaussdyn.mechanics.trees.system import TreeSystem
from gaussdyn.scenes.catalogue import build

IN_SPACE = ("launched_cube", "stack", "wedge_in_groove", "toppling_cylinder", "rattleback", "pinched_capsule", "coin")
IN_PLANE = ("rocking_block", "two_ball_drop", "rimless_wheel", "drawer", "conveyor", "capstan", "bricard")
OTHERS = ("double_pendulum_impact", "duffing_plane", "four_bar")


def run_of(name: str, **more: int) -> Trajectory:
    scene = build(name)
    return simulate(scene, t_end=60 * scene.dt, **more)


def boxes(coordinates: str) -> tuple[SpatialSystem, State]:
    """Return two boxes on a hinge above a floor."""
    bodies = [brick(name, mass=1.0, half=(0.2, 0.1, 0.05)) for name in ("a", "b")]
    hinge = Hinge(a=SpatialMarker("a", (0.21, 0.0, 0.0)), b=SpatialMarker("b", (-0.21, 0.0, 0.0)), name="knee")
    system = SpatialSystem(
        bodies=bodies, joints=[hinge], obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5),
        coordinates=coordinates,
    )  # fmt: skip
    return system, system.state({"a": (0.0, 0.0, 0.3)}, joints={"knee": 0.4})


def jointed() -> Trajectory:
    """Return two boxes on a hinge that fall on a floor, in joint coordinates."""
    return simulate(*boxes("joints"), 0.4, stepper=MoreauJean(dt=2e-3))


def same(one: ContactTable, other: ContactTable) -> None:
    for name in FIELDS:
        x, y = getattr(one, name), getattr(other, name)
        assert x == y if isinstance(x, tuple) else np.array_equal(x, y, equal_nan=x.dtype.kind == "f"), name


def asked(run: Trajectory, monkeypatch: pytest.MonkeyPatch) -> ContactTable:
    """Return the table of a run whose steps are asked for their rows, one after the other."""
    assert isinstance(run.table, LateTable)
    with monkeypatch.context() as patch:
        patch.setattr(KeptSteps, "placed", lambda _self, _more=(): None)
        patch.setattr(KeptSteps, "listed", lambda _self, _more=(): None)
        found: ContactTable = run.table._make(slice(None))
    return found


@pytest.mark.parametrize("name", [*IN_SPACE, *IN_PLANE])
def test_the_table_of_all_steps_is_that_of_their_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(name)
    other = asked(run, monkeypatch)
    assert name == "bricard" or len(other.index) > 0
    same(run.table, other)  # type: ignore[arg-type]


@pytest.mark.parametrize("coordinates", ["joints", "bodies"])
@pytest.mark.parametrize("dt", [2e-3, 2e-2])
def test_the_table_of_jointed_bodies_is_that_of_their_rows(
    coordinates: str, dt: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large steps meet contacts that their starts do not list: these are asked for their rows."""
    system, start = boxes(coordinates)
    asks = system.tree if isinstance(system, JointedSystem) else system  # the columns of the other have its table made
    run = simulate(asks, start, 0.4, stepper=MoreauJean(dt=dt))
    other = asked(run, monkeypatch)
    assert len(other.index) > 50
    same(run.table, other)  # type: ignore[arg-type]


def test_steps_that_met_other_contacts_than_are_listed_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the last steps, in which both boxes lie on the floor, had found their contacts where they were tried."""
    system, start = boxes("joints")
    assert isinstance(system, JointedSystem)
    run = simulate(system.tree, start, 0.4, stepper=MoreauJean(dt=2e-3))
    whole, lines_at = asked(run, monkeypatch), TreeSystem.lines_at

    def fewer(self: TreeSystem, legs: Legs) -> Listed:
        found = lines_at(self, legs)
        n = np.diff(found.ends)
        keep = np.repeat(np.arange(len(n)) % 2 == 0, n)
        return Listed(found.rows, np.cumsum([0, *(n * (np.arange(len(n)) % 2 == 0))]), *(x[keep] for x in found[2:]))

    last = run.table._make(slice(191, 201))  # type: ignore[union-attr]
    monkeypatch.setattr(TreeSystem, "lines_at", fewer)
    again = run.table._make(slice(191, 201))  # type: ignore[union-attr]
    assert len(again.index) == len(last.index) == len(whole.take(slice(191, 201)).index) > 40
    for name in ("offsets", "gap", "reaction", "point", "frame", "mode"):
        assert np.array_equal(getattr(again, name), getattr(last, name)), name
    assert [again.ids[k] for k in again.index] == [last.ids[k] for k in last.index]


def test_the_table_of_a_tree_has_the_contacts_that_kernels_leave_out() -> None:
    """Kernels of trees leave out contacts that surely stay open; audits want a line of each that a step may look at."""
    run = jointed()
    assert run.table is not None
    assert len(run.table.index) > 100
    assert run.system is not None
    assert audit(run, run.system).passed


@pytest.mark.parametrize("name", OTHERS)
def test_the_table_of_systems_without_contacts_of_bodies_is_empty(name: str) -> None:
    run = run_of(name)
    table = run.table
    assert table is not None
    assert len(table.offsets) == len(run) + 1
    rows = [row for k in range(len(run)) for row in run.contacts(k)]
    assert len(rows) == len(table.index)


@pytest.mark.parametrize("name", ["launched_cube", "two_ball_drop"])
def test_the_contacts_of_one_state_are_those_of_the_table_which_is_not_made_for_them(name: str) -> None:
    run, other = run_of(name, save=3), run_of(name, save=3)
    alone = [run.contacts(k) for k in range(len(run))]
    assert run.table._make is not None  # type: ignore[union-attr]
    assert len(other.table.index) == sum(map(len, alone))  # type: ignore[union-attr]
    for k, contacts in enumerate(alone):
        for one, two in zip(contacts, other.contacts(k), strict=True):
            assert repr(one) == repr(two)
            assert np.array_equal(one.reaction, two.reaction)


def test_a_copy_with_other_values_is_a_table() -> None:
    run = run_of("launched_cube")
    table = run.table
    assert isinstance(table, LateTable)
    raised = replace(table, gap=table.gap + 1.0)
    assert raised.made() is raised
    assert [one.gap for one in raised.at(3)] == [one.gap + 1.0 for one in table.at(3)]


@pytest.mark.parametrize("name", ["launched_cube", "rocking_block", "four_bar", "bricard", "double_pendulum_impact"])
def test_the_evidence_of_all_steps_is_that_of_each(name: str) -> None:
    run = run_of(name)
    found, expected = step_evidence.as_arrays(run.evidence), step_evidence.as_arrays(dict(run.evidence))
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert np.array_equal(found[key], values), key
    assert len(found["acts_step"]) > 0


def test_a_contact_that_is_found_nowhere_is_at_no_place() -> None:
    scene = build("launched_cube")
    system, high = scene.system, scene.state.q + np.eye(7)[2] * 5.0
    assert isinstance(system, SpatialSystem)
    found = system.near(0.0, scene.state.q * np.array([1, 1, 0, 1, 1, 1, 1]), scene.state.v, 0.01).contacts.found
    assert found is not None
    assert len(found.label) > 0
    legs = Legs(*(np.stack([x, x]) for x in (high, 0.0 * scene.state.v)), np.full(2, 1e-3), np.stack([high, high]))
    placed = system.placed((), found.label, legs)
    assert [row.id for row in placed.rows] == [system.contacts.shapes.id(label) for label in found.label]
    assert np.isnan(placed.point).all()
    assert np.isnan(placed.frame).all()
