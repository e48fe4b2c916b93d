"""The admissible set: the activation table line by line, provenance, both levels."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.contact.admissible_set import OmegaStatus, admissible_set
from gaussdyn.contact.gauss_program import gauss_program
from gaussdyn.contact.snapshot import Activation, snapshot
from gaussdyn.errors import InputError
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Acceleration, Position, UserSystem, Velocity

FREE, ACTIVE = "free", "active"


def omega_of(constraint, q, v, **options):
    system = UserSystem(1, [[2.0]], [-8.0], constraint if isinstance(constraint, list) else [constraint])
    return admissible_set(snapshot(system, State(q=[q], v=[v]), **options))


def verdict(constraint, q, v):
    omega = omega_of(constraint, q, v)
    if omega.status is not OmegaStatus.READY:
        assert omega.at_fault
        return str(omega.status)
    return ACTIVE if omega.rows else FREE


@pytest.mark.parametrize(
    ("gap", "rate", "expected"),
    [
        (1e-3, -5.0, FREE),
        (2e-9, 0.0, FREE),
        (0.0, 1.0, FREE),
        (0.0, 2e-9, FREE),
        (0.0, 0.0, ACTIVE),
        (0.9e-9, 0.9e-9, ACTIVE),
        (-0.9e-9, -0.9e-9, ACTIVE),
        (0.0, -2e-9, "IMPACT_NEEDED"),
        (0.0, -1.0, "IMPACT_NEEDED"),
        (-2e-9, 0.0, "PENETRATING"),
        (-1.0, 1.0, "PENETRATING"),
    ],
)
def test_unilateral_position(gap, rate, expected):
    assert verdict(Position(lambda t, q: q[0]), gap, rate) == expected


@pytest.mark.parametrize(
    ("gap", "rate", "expected"),
    [
        (0.0, 0.0, ACTIVE),
        (1e-3, 0.0, "PENETRATING"),
        (-1e-3, 0.0, "PENETRATING"),
        (0.0, 1e-3, "IMPACT_NEEDED"),
        (0.0, -1e-3, "IMPACT_NEEDED"),
    ],
)
def test_bilateral_position(gap, rate, expected):
    assert verdict(Position(lambda t, q: q[0], kind="bilateral"), gap, rate) == expected


@pytest.mark.parametrize(("psi", "expected"), [(1.0, FREE), (0.0, ACTIVE), (1e-10, ACTIVE), (-1.0, "IMPACT_NEEDED")])
def test_unilateral_velocity(psi, expected):
    assert verdict(Velocity(lambda t, q, v: v[0]), 0.0, psi) == expected


@pytest.mark.parametrize(("psi", "expected"), [(1.0, "IMPACT_NEEDED"), (0.0, ACTIVE), (-1.0, "IMPACT_NEEDED")])
def test_bilateral_velocity(psi, expected):
    assert verdict(Velocity(lambda t, q, v: v[0], kind="bilateral"), 0.0, psi) == expected


def test_acceleration_constraints_as_given():
    omega = omega_of([Acceleration([3.0], 6.0), Acceleration([5.0], 1.0, kind="bilateral")], 0.0, 1.0)
    assert (omega.C.tolist(), omega.d.tolist()) == ([[3.0]], [6.0])
    assert (omega.A.tolist(), omega.b.tolist()) == ([[5.0]], [1.0])


def test_frictional_contact_gives_its_normal_row():
    system = UserSystem(2, np.eye(2), [0, -1.0], [Position(lambda t, q: q[1], mu=0.3, name="floor")])
    omega = admissible_set(snapshot(system, State(q=[0, 0], v=[1.0, 0])))
    assert omega.C.tolist() == [[0.0, 1.0]]
    both = UserSystem(2, np.eye(2), [0, -1.0], [Position(lambda t, q: q[1], mu=0.3, kind="bilateral")])
    assert admissible_set(snapshot(both, State(q=[0, 0], v=[1.0, 0]))).A.tolist() == [[0.0, 1.0]]


def test_dry_friction_is_no_constraint():
    assert not omega_of(Velocity(lambda t, q, v: v[0], kind="dry", cap=1.0), 0.0, 1.0).rows


def test_rows_remember_their_constraint():
    rod = Position(lambda t, q: q[0], kind="bilateral", name="rod")
    both = Acceleration([[1.0], [2.0]], [0.0, 0.0], kind="bilateral", name="both")
    omega = omega_of([Velocity(lambda t, q, v: v[0], name="limit"), rod, both], 0.0, 0.0)
    assert [(row.id, row.component, row.kind, row.level) for row in omega.rows] == [
        ("rod", 0, "bilateral", "position"),
        ("both", 0, "bilateral", "acceleration"),
        ("both", 1, "bilateral", "acceleration"),
        ("limit", 0, "unilateral", "velocity"),
    ]


def test_all_rows_at_fault_are_named_and_penetration_comes_first():
    floor, wall = Position(lambda t, q: q[0], name="floor"), Position(lambda t, q: q[0] - 1.0, name="wall")
    omega = omega_of([floor, wall, Position(lambda t, q: q[0] - 2.0, name="far wall")], 0.0, -1.0)
    assert omega.status == "PENETRATING"
    assert omega.at_fault == ("wall", "far wall")
    assert omega_of([floor, Position(lambda t, q: 2 * q[0], name="b")], 0.0, -1.0).at_fault == ("floor", "b")


def test_activation_is_a_setting():
    system = UserSystem(1, [[1.0]], [-1.0], [Position(lambda t, q: q[0])])
    state = State(q=[1e-5], v=[-1e-5])
    assert not admissible_set(snapshot(system, state)).rows
    assert admissible_set(snapshot(system, state, activation=Activation(gap=1e-4, speed=1e-4))).rows


def test_violation_and_contains():
    omega = omega_of([Acceleration([3.0], 6.0), Acceleration([1.0], 3.0, kind="bilateral")], 0.0, 1.0)
    assert omega.violation(np.array([3.0])) == 0.0
    assert omega.violation(np.array([1.0])) == 3.0
    assert omega.violation(np.array([3.5])) == 0.5
    assert omega.contains(np.array([3.0 + 1e-10]))
    assert not omega.contains(np.array([3.1]))
    with pytest.raises(InputError, match=r"^x:"):
        omega.violation(np.zeros(2))


def test_nothing_is_admissible_where_an_impact_is_needed():
    omega = omega_of(Position(lambda t, q: q[0]), 0.0, -1.0)
    assert omega.violation(np.array([100.0])) == np.inf
    assert not omega.contains(np.array([100.0]))
    system = UserSystem(1, [[1.0]], [-1.0], [Position(lambda t, q: q[0], name="floor")])
    dynamics = snapshot(system, State(q=[0.0], v=[-1.0]))
    with pytest.raises(InputError, match="IMPACT_NEEDED at floor"):
        gauss_program(dynamics, admissible_set(dynamics))


def test_gauss_program_is_the_data_itself():
    system = UserSystem(2, [[2.0, 1.0], [1.0, 3.0]], [4.0, -5.0], [Position(lambda t, q: q[1])])
    dynamics = snapshot(system, State(q=[0, 0], v=[1, 0]))
    program = gauss_program(dynamics, admissible_set(dynamics))
    np.testing.assert_array_equal(program.H, dynamics.M)
    np.testing.assert_array_equal(program.g, [-4.0, 5.0])
    np.testing.assert_array_equal(program.C, [[0.0, 1.0]])


class TestVelocityLevel:
    """The unknown is v+: C v+ >= d."""

    def test_closed_gap(self):
        omega = omega_of(Position(lambda t, q: 2 * q[0]), 0.0, -3.0, level="velocity", dt=0.1)
        assert (omega.C.tolist(), omega.d.tolist()) == ([[2.0]], [0.0])

    def test_newton_restitution(self):
        omega = omega_of(Position(lambda t, q: 2 * q[0], eps_n=0.5), 0.0, -3.0, level="velocity")
        assert omega.d.tolist() == [3.0]

    def test_no_restitution_of_a_separating_contact(self):
        omega = omega_of(Position(lambda t, q: q[0], eps_n=0.5), 0.0, 3.0, level="velocity")
        assert omega.d.tolist() == [0.0]

    def test_moving_obstacle(self):
        omega = omega_of(Position(lambda t, q: q[0] - 5.0 * t), 0.0, 0.0, level="velocity", dt=0.1)
        np.testing.assert_allclose(omega.d, [5.0], atol=1e-12)

    def test_penetration_is_no_status_and_gives_no_push_out(self):
        omega = omega_of(Position(lambda t, q: q[0]), -0.3, -1.0, level="velocity", dt=0.1)
        assert omega.status == "READY"
        assert omega.d.tolist() == [0.0]

    def test_open_gap_may_close_within_the_step_but_no_more(self):
        omega = omega_of(Position(lambda t, q: q[0]), 0.1, -2.0, level="velocity", dt=0.1)
        np.testing.assert_allclose(omega.d, [-1.0])
        half = omega_of(Position(lambda t, q: q[0]), 0.1, -2.0, level="velocity", dt=0.1, ahead=0.05)
        np.testing.assert_allclose(half.d, [-2.0])

    @pytest.mark.parametrize(("gap", "taken"), [(0.55, True), (0.57, False)])
    def test_open_gap_is_watched_while_it_can_close_at_twice_the_ending_speed(self, gap, taken):
        # ending rate = v + dt * force / mass = -2 - 0.2 * 4 = -2.8; 2 * ahead * 2.8 = 0.56 with ahead = 0.1
        omega = omega_of(Position(lambda t, q: q[0]), gap, -2.0, level="velocity", dt=0.2, ahead=0.1)
        assert bool(omega.rows) == taken

    def test_open_gap_with_restitution_waits_until_it_is_closed(self):
        assert not omega_of(Position(lambda t, q: q[0], eps_n=0.5), 0.1, -20.0, level="velocity", dt=0.1).rows

    def test_velocity_constraints_are_always_taken(self):
        omega = omega_of(Velocity(lambda t, q, v: 4.0 - 2 * v[0]), 0.0, 1.0, level="velocity", dt=0.1)
        np.testing.assert_allclose(omega.C, [[-2.0]])
        np.testing.assert_allclose(omega.d, [-4.0], atol=1e-12)

    def test_acceleration_constraints_become_impulses(self):
        omega = omega_of(Acceleration([3.0], 6.0), 0.0, 1.0, level="velocity", dt=0.1)
        np.testing.assert_allclose(omega.d, [3.6])  # C (v+ - v) >= dt d

    def test_bilateral_position_holds_its_rate(self):
        moving = Position(lambda t, q: q[0] - 7.0 * t, kind="bilateral")
        np.testing.assert_allclose(omega_of(moving, 0.0, 1.0, level="velocity", dt=0.1).b, [7.0], atol=1e-12)
