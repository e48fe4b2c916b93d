"""snapshot: what it evaluates on both levels, and how it names what it cannot use."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import build
from gaussdyn.contact.snapshot import Activation, rows_of, snapshot
from gaussdyn.errors import InputError
from gaussdyn.mechanics import spatial
from gaussdyn.mechanics.collision import features
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.scene import Scene
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Position, UserSystem

BALL = UserSystem(2, np.diag([2.0, 4.0]), lambda t, q, v, control: [t, -8.0] if control is None else control)
STATE = State(q=[0.0, 1.0], v=[3.0, -1.0], t=0.5)


def test_acceleration_level():
    dynamics = snapshot(BALL, STATE)
    assert dynamics.h.tolist() == [0.5, -8.0]
    np.testing.assert_allclose(dynamics.x_free, [0.25, -2.0], rtol=1e-15)
    assert (dynamics.level, dynamics.dt, dynamics.ahead) == ("acceleration", 0.0, 0.0)


def test_velocity_level_adds_momentum():
    dynamics = snapshot(BALL, STATE, level="velocity", dt=0.1)
    np.testing.assert_allclose(dynamics.h, [6.05, -4.8], rtol=1e-15)
    assert dynamics.ahead == 0.1
    assert snapshot(BALL, STATE, level="velocity", dt=0.1, ahead=0.05).ahead == 0.05


def test_pure_impact_problem_has_no_force():
    assert snapshot(BALL, STATE, level="velocity").h.tolist() == [6.0, -4.0]


def test_control_reaches_the_force():
    assert snapshot(BALL, STATE, control=[1.0, 2.0]).h.tolist() == [1.0, 2.0]


def test_activation_prints_its_settings():
    assert repr(Activation()) == "Activation(gap=1e-09, speed=1e-09)"


@pytest.mark.parametrize("bad", [{"gap": 0.0}, {"speed": -1e-9}, {"gap": np.nan}, {"speed": "small"}])
def test_activation_is_checked(bad):
    with pytest.raises(InputError, match=f"Activation.{next(iter(bad))}"):
        Activation(**bad)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"level": "position"}, "level"),
        ({"level": "velocity", "dt": -1.0}, "dt"),
        ({"level": "velocity", "dt": np.nan}, "dt"),
        ({"dt": 0.1}, "dt"),
        ({"level": "velocity", "dt": 0.1, "ahead": -0.1}, "ahead"),
        ({"control": [np.nan, 0.0]}, "control"),
    ],
)
def test_bad_options_are_named(options, name):
    with pytest.raises(InputError, match=f"^{name}:"):
        snapshot(BALL, STATE, **options)


@pytest.mark.parametrize(
    ("system", "name"),
    [
        (UserSystem(2, lambda q: np.diag([1.0, 0.0]), [0.0, 0.0]), r"mass\(q\).*coordinate 1"),
        (UserSystem(2, lambda q: np.diag([-1.0, 1.0]), [0.0, 0.0]), r"mass\(q\).*coordinate 0"),
        (UserSystem(2, lambda q: [[1.0, 0.5], [0.0, 1.0]], [0.0, 0.0]), r"mass\(q\).*M\[0,1\]"),
        (UserSystem(2, lambda q: np.eye(3), [0.0, 0.0]), r"mass\(q\)"),
        (UserSystem(2, lambda q: np.nan * np.eye(2), [0.0, 0.0]), r"mass\(q\)"),
        (UserSystem(2, np.eye(2), lambda t, q, v: [np.nan, 0.0]), r"force\(t, q, v\)"),
        (UserSystem(2, np.eye(2), lambda t, q, v: [0.0]), r"force\(t, q, v\)"),
        (UserSystem(2, np.eye(2), [0, 0], [Position(lambda t, q: np.nan, name="floor")]), "phi of floor"),
    ],
)
def test_bad_functions_are_named(system, name):
    with pytest.raises(InputError, match=name):
        snapshot(system, STATE)


def test_state_of_another_size_is_refused():
    with pytest.raises(InputError, match=r"^q of the state"):
        snapshot(BALL, State(q=[0.0], v=[0.0, 0.0]))
    with pytest.raises(InputError, match=r"^v of the state"):
        snapshot(BALL, State(q=[0.0, 0.0], v=[0.0]))


class Rows(UserSystem):
    """A system that hands over given rows."""

    given: tuple[Row, ...] = ()

    def rows(self, t, q, v):
        return self.given


def test_rows_are_checked():
    system = Rows(2, np.eye(2), [0.0, 0.0])
    one = Row(id="a", kind="unilateral", J=[[1.0, 0.0]], rate=[0.0], drift=[0.0])
    system.given = (one, one)
    with pytest.raises(InputError, match="id 'a' twice"):
        snapshot(system, STATE)
    system.given = (Row(id="a", kind="unilateral", J=[[1.0]], rate=[0.0], drift=[0.0]),)
    with pytest.raises(InputError, match=r"^J of a"):
        snapshot(system, STATE)


def test_a_scene_stands_for_its_start():
    scene = build("belt_oscillator")
    found, same = snapshot(scene), snapshot(scene.system, scene.state)
    np.testing.assert_array_equal(found.h, same.h)
    assert [row.id for row in found.rows] == [row.id for row in same.rows]
    later = State(q=scene.state.q + 0.1, v=scene.state.v)
    assert snapshot(scene, later).q.tolist() == later.q.tolist()


def test_the_control_of_a_scene_acts_in_its_snapshot():
    moved = Scene(name="x", title="", source="", system=BALL, state=STATE, t_end=1.0, dt=0.1,
                  control=lambda t, state: np.array([t, 2.0]))  # fmt: skip
    assert snapshot(moved).h.tolist() == [0.5, 2.0]
    assert snapshot(moved, control=[1.0, 3.0]).h.tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("given", "name", "word"),
    [
        ((BALL,), "state", "only a Scene"),
        ((STATE,), "system", "a Scene"),
        ((BALL, 3), "state", "int"),
        ((None,), "system", "NoneType"),
    ],
)
def test_what_has_no_snapshot_is_named(given, name, word):
    with pytest.raises(InputError, match=word) as error:
        snapshot(*given)
    assert error.value.name == name


def test_wide_rows_are_not_made_to_be_checked(monkeypatch):
    """J of a contact among n bodies has 6 n columns: those of 1e4 of them would fill 14 GB."""
    monkeypatch.setattr(features, "WIDE", 6)  # columns from which they wait until they are asked for
    balls = [spatial.ball(name, mass=1.0, radius=0.1) for name in ("one", "other")]
    system = spatial.SpatialSystem(bodies=balls, obstacles=[spatial.HalfSpace(name="floor")])
    state = system.state({"one": (0.0, 0.0, 0.1), "other": (1.0, 0.0, 0.1)})
    rows = rows_of(system, state.t, state.q, state.v)
    made = Row.__dict__["J"]  # raises AttributeError where it is not there
    for row in rows:
        with pytest.raises(AttributeError):
            made.__get__(row)
    assert [row.J.shape for row in rows] == [(1, 12), (1, 12)]
