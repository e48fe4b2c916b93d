"""check_system finds planted mistakes and names them; sound systems pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaussdyn.mechanics.check import check_system
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Acceleration, Position, UserSystem, Velocity


def pendulum(**options):
    """Planar body in polar coordinates (r, angle) with gyroscopic force; length, stop, dry joint, one limit."""
    parts = {
        "mass": lambda q: np.diag([2.0, 2.0 * (2.0 + q[0]) ** 2]),
        "force": lambda t, q, v: [2.0 * (2.0 + q[0]) * v[1] ** 2, -4.0 * (2.0 + q[0]) * v[0] * v[1]],
        "power": lambda t, q, v: 0.0,
    } | options
    length = Position(lambda t, q: np.exp(0.3 * q[0]) * np.cos(q[1]) - t, name="length", kind="bilateral")
    stop = Position(lambda t, q: np.sin(q[1]) + q[0] ** 2, name="stop", mu=0.3, mu_s=0.4)
    stop = replace(stop, tangent=lambda t, q: [q[1], 1.0 + t])
    edge = Velocity(lambda t, q, v: q[0] * v[0] ** 2 - v[1] + t, name="edge")
    joint = Velocity(lambda t, q, v: v[1], kind="dry", cap=2.0, name="joint")
    limit = Acceleration([1.0, 0.0], 5.0, name="limit")
    constraints = parts.pop("constraints", [length, stop, edge, joint, limit])
    return UserSystem(2, parts.pop("mass"), parts.pop("force"), constraints, **parts)


class Planted:
    """A system with one row changed."""

    def __init__(self, system, id, **change):
        self._system, self._id, self._change = system, id, change

    def __getattr__(self, name):
        return getattr(self._system, name)

    def near(self, t, q, v, dt):
        return self

    def rows(self, t, q, v):
        def planted(row):
            if row.id != self._id:
                return row
            return replace(row, **{key: value(getattr(row, key)) for key, value in self._change.items()})

        return tuple(planted(row) for row in self._system.rows(t, q, v))


def found(report):
    return {(one.what, one.where) for one in report.findings}


def test_a_sound_system_passes():
    report = check_system(pendulum())
    assert report.ok, str(report)
    assert str(report).startswith("OK")


def add(k, value):
    def change(x):
        y = np.array(x)
        y[k] += value
        return y

    return change


@pytest.mark.parametrize(
    ("id", "change", "what", "place"),
    [
        ("length", {"J": add((0, 1), 1e-3)}, "jacobian", "[0, 1]"),
        ("stop", {"J": add((0, 0), 0.1)}, "jacobian", "[0, 0]"),
        ("stop", {"J": add((1, 0), 0.1)}, "jacobian", "[1, 0]"),
        ("edge", {"J": add((0, 0), 0.1)}, "jacobian", "[0, 0]"),
        ("joint", {"J": add((0, 1), 0.1)}, "jacobian", "[0, 1]"),
        ("length", {"drift": add(0, 1e-3)}, "drift", "[0]"),
        ("stop", {"drift": add(1, 0.1)}, "drift", "[1]"),
        ("edge", {"drift": add(0, 0.1)}, "drift", "[0]"),
        ("stop", {"rate": add(0, 0.1)}, "rate", "[0]"),
    ],
)
def test_a_planted_mistake_in_a_row_is_named(id, change, what, place):
    report = check_system(Planted(pendulum(), id, **change), samples=1)
    assert found(report) == {(what, id)}
    assert place in str(report)


def test_a_wrong_user_jacobian_is_named_alone():
    wrong = Position(lambda t, q: q[0] * q[1], jacobian=lambda t, q: [q[1], 2 * q[0]], name="product")
    assert found(check_system(pendulum(constraints=[wrong]))) == {("jacobian", "product")}


def test_a_wrong_user_drift_is_named():
    wrong = Position(lambda t, q: q[0] * q[1], drift=lambda t, q, v: v[0] * v[1], name="product")
    assert found(check_system(pendulum(constraints=[wrong]))) == {("drift", "product")}


@pytest.mark.parametrize(
    ("mass", "text"),
    [
        (lambda q: np.array([[2.0, 0.1], [0.0, 3.0]]), "not symmetric: M[0,1]"),
        (lambda q: np.diag([2.0, -3.0]), "coordinate 1"),
        (lambda q: np.diag([np.nan, 1.0]), "mass(q)"),
        (lambda q: np.eye(3), "shape"),
    ],
)
def test_a_wrong_mass_is_named(mass, text):
    report = check_system(pendulum(mass=mass, power=None, constraints=[]))
    assert ("mass", "the system") in found(report)
    assert text in str(report)


def test_nan_in_a_force_or_a_gap_is_named():
    report = check_system(pendulum(force=lambda t, q, v: [np.nan, 0.0], power=None, constraints=[]))
    assert ("force", "the system") in found(report)
    report = check_system(pendulum(constraints=[Position(lambda t, q: np.nan, name="hole")]))
    assert "phi of hole" in str(report)


def test_missing_gyroscopic_force_shows_in_the_power():
    report = check_system(pendulum(force=lambda t, q, v: [0.0, 0.0], constraints=[]))
    assert found(report) == {("power", "the system")}


def test_inconsistent_qdot_is_named():
    class Wrong(UserSystem):
        """Rows belong to qdot = v, but qdot says 2 v."""

        def qdot(self, q, v):
            return 2.0 * np.asarray(v)

        def rows(self, t, q, v):
            return UserSystem(2, np.eye(2), [0, 0], self.constraints.values()).rows(t, q, v)

    a = Position(lambda t, q: q[0], name="a")
    b = Position(lambda t, q: q[1] - q[0], name="b")
    assert ("qdot", "the system") in found(check_system(Wrong(2, np.eye(2), [0.0, 0.0], [a, b])))


def test_qdot_that_is_not_affine_is_named():
    system = UserSystem(1, [[1.0]], [0.0], qdot=lambda q, v: v**3)
    assert ("qdot", "the system") in found(check_system(system))


def test_given_states_are_used():
    wrong_far_away = Position(lambda t, q: q[0] + max(q[0] - 100.0, 0.0), jacobian=lambda t, q: [1.0], name="far")
    system = UserSystem(1, [[1.0]], [0.0], [wrong_far_away])
    assert check_system(system).ok
    report = check_system(system, states=[State(q=[200.0], v=[1.0])])
    assert found(report) == {("jacobian", "far")}
    assert report.states == 1
