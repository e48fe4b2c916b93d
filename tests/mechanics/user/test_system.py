"""UserSystem: values, rates, Jacobians and drift terms of plain functions against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import State, simulate
from gaussdyn.errors import InputError
from gaussdyn.mechanics.system import System
from gaussdyn.mechanics.user.constraints import ignores_first
from gaussdyn.mechanics.user.system import Acceleration, Position, UserSystem, Velocity


def point(*constraints, **options):
    return UserSystem(2, np.eye(2), [0.0, -9.81], constraints, **options)


def gap(t, q):
    return q[0]


def slip(t, q, v):
    return v[0]


def row(system, q, v, t=0.0, k=0):
    return system.rows(t, np.array(q, float), np.array(v, float))[k]


def test_is_a_system():
    assert isinstance(point(), System)


def test_circle_has_radial_jacobian_and_centripetal_drift():
    q, v = np.array([0.6, 0.8]), np.array([1.5, -0.7])
    one = row(point(Position(lambda t, q: np.hypot(*q) - 1.0)), q, v)
    along = q @ v
    assert one.gap == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(one.J, [q], atol=1e-12)
    assert one.rate[0] == pytest.approx(along, abs=1e-12)
    assert one.drift[0] == pytest.approx(v @ v - along**2, abs=1e-10)


def test_time_dependence_enters_rate_and_drift():
    wall = Position(lambda t, q: q[0] - np.sin(3.0 * t) * (1.0 + q[1]))
    one = row(point(wall), [0.2, 0.4], [1.0, 2.0], t=0.5)
    s, c = np.sin(1.5), np.cos(1.5)
    np.testing.assert_allclose(one.J, [[1.0, -s]], atol=1e-12)
    assert one.rate[0] == pytest.approx(1.0 - 3 * c * 1.4 - 2 * s, abs=1e-11)
    assert one.drift[0] == pytest.approx(9 * s * 1.4 - 2 * 3 * c * 2.0, abs=1e-10)


def test_given_derivatives_are_used():
    given = Position(lambda t, q: q[0] ** 2, jacobian=lambda t, q: [7.0, 0.0], drift=lambda t, q, v: 11.0, name="given")
    one = row(point(given), [1.0, 0.0], [2.0, 0.0])
    assert one.id == "given"
    np.testing.assert_array_equal(one.J, [[7.0, 0.0]])
    assert one.rate[0] == 14.0
    assert one.drift[0] == 11.0


def test_polar_coordinates_as_qdot_with_cartesian_velocity():
    # q = (r, angle), v Cartesian: on the gap r - 1 the rows must be those of the circle
    def qdot(q, v):
        e = np.array([np.cos(q[1]), np.sin(q[1])])
        return np.array([e @ v, (e[0] * v[1] - e[1] * v[0]) / q[0]])

    angle, v = 0.9, np.array([0.3, 1.1])
    e = np.array([np.cos(angle), np.sin(angle)])
    system = UserSystem(2, np.eye(2), [0.0, 0.0], [Position(lambda t, q: q[0] - 1.0)], qdot=qdot)
    one = row(system, [1.2, angle], v)
    np.testing.assert_allclose(one.J, [e], atol=1e-12)
    assert one.rate[0] == pytest.approx(e @ v, abs=1e-12)
    assert one.drift[0] == pytest.approx((v @ v - (e @ v) ** 2) / 1.2, abs=1e-9)


def test_friction_of_a_point_in_the_plane_takes_its_tangent_from_phi():
    n = np.array([-np.sin(0.3), np.cos(0.3)])
    one = row(point(Position(lambda t, q: n @ q, mu=0.4, mu_s=0.5)), [0.0, 0.0], [2.0, 1.0])
    np.testing.assert_allclose(one.J, [n, [n[1], -n[0]]], atol=1e-12)
    np.testing.assert_allclose(one.rate, one.J @ [2.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(one.drift, 0.0, atol=1e-10)
    assert (one.kind, one.mu, one.mu_s) == ("contact", 0.4, 0.5)


def test_friction_on_a_circle_has_the_drift_of_its_turning_tangent():
    q, v = np.array([0.6, 0.8]), np.array([1.5, -0.7])
    one = row(point(Position(lambda t, q: np.hypot(*q) - 1.0, mu=0.4)), q, v)
    slip = 0.8 * v[0] - 0.6 * v[1]  # T = (y, -x) / |q|, d(T v)/dt = -(T v) (q . v) / |q|^2
    assert one.rate[1] == pytest.approx(slip, abs=1e-12)
    assert one.drift[1] == pytest.approx(-slip * (q @ v), abs=1e-9)


def test_given_tangent_and_moving_surface():
    belt = Position(lambda t, q: q[1], mu=0.2, tangent=lambda t, q: [1.0, 0.0], surface=lambda t, q: 3.0 * t)
    one = row(point(belt), [0.0, 0.0], [1.0, 0.0], t=0.25)
    assert one.rate[1] == pytest.approx(0.25)
    assert one.drift[1] == pytest.approx(-3.0, abs=1e-12)


def test_two_tangents_in_space():
    floor = Position(lambda t, q: q[2], mu=0.2, tangent=lambda t, q: [[1.0, 0, 0], [0, 1.0, 0]])
    system = UserSystem(3, np.eye(3), [0, 0, -9.81], [floor])
    assert row(system, [0, 0, 0], [1, 2, 0]).J.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


def test_velocity_constraint_knife_edge():
    edge = Velocity(lambda t, q, v: -np.sin(q[2]) * v[0] + np.cos(q[2]) * v[1] - 0.4 * v[2], kind="bilateral")
    system = UserSystem(3, np.diag([1.0, 1.0, 0.5]), np.zeros(3), [edge])
    p, v = 0.3, np.array([0.7, 0.2, 1.3])
    one = row(system, [0.0, 0.0, p], v)
    np.testing.assert_allclose(one.J, [[-np.sin(p), np.cos(p), -0.4]], atol=1e-12)
    assert one.drift[0] == pytest.approx(-v[2] * (np.cos(p) * v[0] + np.sin(p) * v[1]), abs=1e-11)
    assert one.gap == one.rate[0]


def test_acceleration_constraints_split_into_named_inequalities():
    limit = Acceleration(lambda t, q, v: [[1.0, 0.0], [0.0, 1.0]], [2.0, 3.0], name="limit")
    rows = point(limit).rows(0.0, np.zeros(2), np.zeros(2))
    assert [one.id for one in rows] == ["limit[0]", "limit[1]"]
    assert [one.drift[0] for one in rows] == [-2.0, -3.0]
    both = point(Acceleration(np.eye(2), [2.0, 3.0], kind="bilateral")).rows(0.0, np.zeros(2), np.zeros(2))
    assert len(both) == 1
    assert both[0].size == 2


def test_dry_friction_on_a_slip():
    joint = Velocity(lambda t, q, v: v[0] - 0.5, kind="dry", cap=3.0, cap_s=4.0)
    one = row(point(joint), [0, 0], [0.5, 0])
    assert (one.kind, one.cap, one.cap_s, one.rate[0]) == ("dry", 3.0, 4.0, 0.0)


def test_a_control_that_no_force_takes_is_not_passed_over():
    for force in ([0.0], lambda t, q, v: [0.0]):
        with pytest.raises(InputError, match=r"control: given shape \(1,\).*force\(t, q, v, control\)"):
            simulate(UserSystem(1, [[1.0]], force), State(q=[0.0], v=[0.0]), 0.1, control=[5.0])


def test_force_with_and_without_control():
    with_control = UserSystem(1, [[1.0]], lambda t, q, v, control: [0.0 if control is None else control[0]])
    assert with_control.force(0.0, np.zeros(1), np.zeros(1), np.array([5.0]))[0] == 5.0
    assert UserSystem(1, [[1.0]], lambda t, q, v: [t]).force(2.0, np.zeros(1), np.zeros(1))[0] == 2.0


def test_power_comes_from_the_energy_balance():
    # a bead on a rotating arm, M = r^2 in the angle's place: gyroscopic force conserves the energy
    m = 2.0

    def force(t, q, v):
        return [m * q[0] * v[1] ** 2, -2 * m * q[0] * v[0] * v[1]]

    free = UserSystem(2, lambda q: np.diag([m, m * q[0] ** 2]), force)
    assert free.power(0.0, np.array([1.3, 0.2]), np.array([0.4, -0.9])) == pytest.approx(0.0, abs=1e-10)
    fall = point(potential=lambda t, q: 9.81 * q[1])
    assert fall.power(0.0, np.zeros(2), np.array([1.0, 2.0])) == pytest.approx(0.0, abs=1e-10)
    drag = UserSystem(1, [[2.0]], lambda t, q, v: -3.0 * v)
    assert drag.power(0.0, np.zeros(1), np.array([2.0])) == pytest.approx(-12.0, abs=1e-12)


def test_spec_says_that_it_cannot_be_rebuilt():
    spec = point(Position(lambda t, q: q[1], name="floor"), name="mine").spec()
    assert spec["rebuildable"] is False
    assert spec["name"] == "mine"
    assert spec["constraints"] == ["floor"]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: UserSystem(0, [[1.0]], [0.0]), "nq"),
        (lambda: UserSystem(2, [[1.0]], [0.0, 0.0]), "mass"),
        (lambda: UserSystem(2, np.eye(2), [0.0]), "force"),
        (lambda: UserSystem(2, np.eye(2), [0.0, np.nan]), "force"),
        (lambda: UserSystem(4, np.eye(3), np.zeros(3), nv=3), "qdot"),
        (lambda: point("floor"), r"constraints\[0\]"),
        (lambda: point(Position(gap, name="a"), Position(gap, name="a")), r"name of constraints\[1\]"),
        (lambda: Position(3.0), "phi"),
        (lambda: Position(gap, kind="rigid"), "kind"),
        (lambda: Position(gap, mu=-0.1), "mu"),
        (lambda: Position(gap, mu=0.5, mu_s=0.4), "mu_s"),
        (lambda: Position(gap, mu_s=0.4), "mu_s"),
        (lambda: Position(gap, eps_n=1.5), "eps_n"),
        (lambda: Velocity(slip, cap=1.0), "cap"),
    ],
)
def test_bad_input_is_named(make, name):
    with pytest.raises(InputError, match=f"^{name}"):
        make()


@pytest.mark.parametrize(
    ("constraint", "name"),
    [
        (Position(lambda t, q: np.nan, name="floor"), "phi of floor"),
        (Position(lambda t, q: q, name="floor"), "phi of floor"),
        (Position(lambda t, q: q[0], jacobian=lambda t, q: [1.0], name="floor"), "jacobian of floor"),
        (Position(lambda t, q: q[0], drift=lambda t, q, v: np.inf, name="floor"), "drift of floor"),
        (Position(lambda t, q: q[0], mu=0.1, tangent=lambda t, q: np.eye(3)[:, :2], name="floor"), "tangent of floor"),
        (Velocity(lambda t, q, v: np.nan, name="edge"), "psi of edge"),
        (Acceleration(np.eye(3), [0.0] * 3, name="limit"), "C of limit"),
        (Acceleration(np.eye(2), [0.0], name="limit"), "d of limit"),
    ],
)
def test_bad_values_of_functions_are_named(constraint, name):
    with pytest.raises(InputError, match=name):
        row(point(constraint), [0.1, 0.2], [0.3, 0.4])


def test_friction_without_tangent_needs_a_point_in_the_plane():
    with pytest.raises(InputError, match="tangent of floor"):
        row(
            UserSystem(3, np.eye(3), np.zeros(3), [Position(lambda t, q: q[2], mu=0.1, name="floor")]), [0] * 3, [0] * 3
        )


def test_square_root_gap_near_its_border():
    one = row(point(Position(lambda t, q: np.sqrt(q[0]))), [0.01, 0.0], [1.0, 0.0])
    assert one.J[0, 0] == pytest.approx(5.0, rel=1e-10)
    assert one.drift[0] == pytest.approx(-250.0, rel=1e-9)


def test_rates_are_rows_without_drifts():
    """And no function is called for these: a user's own drift least of all."""

    def never(t, q, v):
        raise AssertionError

    def made(drift):
        line = Position(lambda t, q: q[1] - np.sin(q[0]) + t, mu=0.3, name="line", drift=drift)
        held = Velocity(lambda t, q, v: v[0] - q[1] * v[1] + t, name="held")
        return UserSystem(2, np.eye(2), [0.0, 0.0], [line, held])

    rng = np.random.default_rng(3)
    for _ in range(10):
        t, q, v = float(rng.normal()), rng.normal(size=2), rng.normal(size=2)
        rows, rates = made(None).rows(t, q, v), made(never).rates(t, q, v)
        for full, one in zip(rows, rates, strict=True):
            assert (one.gap, one.J.tolist(), one.rate.tolist()) == (full.gap, full.J.tolist(), full.rate.tolist())
            assert not one.drift.any()
            assert full.drift.any()


def test_only_a_function_that_does_not_look_at_the_time_counts_as_such():
    outer, told = 1.0, sum  # `told` may look at the variables of who calls it, as `numexpr.evaluate` does

    def through_all(t, q):
        return q[0] - locals()["t"]

    def in_a_closure(t, q):
        return q[0] + (lambda: t)()

    looking = (
        lambda t, q: q[0] - t, lambda t, q: [t, q[0]][1], through_all, in_a_closure, lambda *given: given[1][0],
        lambda t=0.0, q=None: (lambda s: s)(t) + q[0], lambda t, q: eval("q[0] - t"), max, lambda t, q: told("q - 3*t"),
    )  # fmt: skip
    for function in (lambda t, q: q[0], lambda _, q: outer * q[0], lambda t, q: sum(x for x in q)):
        assert ignores_first(function)
    for function in looking:
        assert not ignores_first(function)
    moving = Position(lambda t, q: q[0] - 3.0 * t, jacobian=lambda t, q: [1.0, 0.0])
    assert row(point(moving), [0.2, 0.0], [0.5, 0.0]).rate[0] == pytest.approx(-2.5, abs=1e-13)


class Own(UserSystem):
    """Half the mass, twice the potential, and a quarter of the velocity is how q changes."""

    def mass(self, q):
        return 0.5 * super().mass(q)

    def potential(self, t, q):
        return 2.0 * super().potential(t, q)

    def qdot(self, q, v):
        return 0.25 * super().qdot(q, v)


@pytest.mark.parametrize("steady", [True, False])
def test_the_power_is_that_of_the_functions_a_subclass_has(steady):
    q, v = np.array([0.7]), np.array([1.3])
    system = Own(1, [[3.0]] if steady else lambda q: [[3.0 + q[0] ** 2]], [2.0], potential=lambda t, q: 5.0 * q[0] ** 2)
    kinetic = 0.0 if steady else 0.5 * 0.5 * 2.0 * q[0] * v[0] ** 2 * (0.25 * v[0])
    assert system.power(0.0, q, v) == pytest.approx(2.0 * v[0] + kinetic + 2.0 * 10.0 * q[0] * 0.25 * v[0], rel=1e-10)
