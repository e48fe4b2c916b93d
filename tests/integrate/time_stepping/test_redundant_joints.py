"""Joints that depend on one another on their constraints only: motion at order 2, and none where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import MoreauJean, Position, State, UserSystem, simulate
from gaussdyn.analysis.audit.audit import audit
from gaussdyn.scenes.linkages import bricard


def rods(*feet, tops=((0.0, 0.0),), force=(0.0, 0.0)):
    """A point on rods to fixed feet, each as long as it is where the point is at the first of `tops`."""

    def rod(foot):
        length = np.hypot(*np.subtract(tops[0], foot))
        return lambda t, q: float(np.hypot(*(q - foot)) - length)

    held = [Position(rod(np.array(foot)), kind="bilateral", name=f"rod{k}") for k, foot in enumerate(feet)]
    return UserSystem(nq=2, mass=np.eye(2), force=lambda t, q, v: np.array(force), constraints=held)


def bars(count, last=1.0):
    """A platform on parallel cranks of length 1, the last one of another: two of them hold it."""

    def crank(x, length):
        foot = (1.0 - length) * np.array([0.6, 0.8])
        return lambda t, q: float(
            np.hypot(q[0] - foot[0] + x * (np.cos(q[2]) - 1.0), q[1] - foot[1] + x * np.sin(q[2])) - length
        )

    lengths = [1.0] * (count - 1) + [last]
    held = [
        Position(crank(0.5 * k, length), kind="bilateral", name=f"crank{k}") for k, length in enumerate(lengths)
    ]  # fmt: skip
    pull = np.array([0.0, -1.0, 0.0])
    return UserSystem(nq=3, mass=np.diag([1.0, 1.0, 0.3]), force=lambda t, q, v: pull, constraints=held)


def swing(count, dt, t_end=0.4):
    start = State(q=[0.6, 0.8, 0.0], v=[0.8, -0.6, 0.0])
    return simulate(bars(count), start, t_end, stepper=MoreauJean(dt=dt))


@pytest.mark.slow
def test_a_platform_on_four_cranks_moves_as_on_two_of_them():
    """x = sin(a), y = cos(a), a'' = sin(a): any number of equal cranks."""
    from scipy.integrate import solve_ivp

    angle = np.arctan2(0.6, 0.8)
    exact = solve_ivp(lambda t, y: [y[1], np.sin(y[0])], (0.0, 0.4), [angle, 1.0], "DOP853", rtol=1e-12, atol=1e-12)
    errors = []
    for dt in (0.02, 0.01):
        run = swing(4, dt)
        assert run.status == "COMPLETED", run.stop
        assert run.events == ()
        assert np.abs(run.q[:, 2]).max() < 1e-9
        errors.append(abs(np.arctan2(run.q[-1, 0], run.q[-1, 1]) - exact.y[0, -1]))
    assert errors[1] < 2e-5
    assert errors[0] / errors[1] > 3.0


def test_the_audit_builds_such_steps_again():
    run = swing(4, 0.02, 0.2)
    checked = audit(run, bars(4))
    assert checked.passed, checked.explain()


@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_rods_in_one_line_do_not_let_go_of_a_point_that_moves_across(dt):
    """Rank one at the start, and the speed across is allowed there; but no other configuration is."""
    run = simulate(rods((1.0, 0.0), (-1.0, 0.0)), State(q=[0.0, 0.0], v=[0.0, 1.0]), 0.1, stepper=MoreauJean(dt=dt))
    assert run.status == "STOPPED"
    assert "the joints depend on one another" in run.stop.reason
    assert run.t[-1] == 0.0


@pytest.mark.parametrize("length", [0.5, 2.0])
def test_parallel_cranks_of_another_length_hold_the_platform(length):
    """All cranks are parallel at the start, so that the rates of the three agree; half a step later they do not."""
    run = simulate(bars(3, length), State(q=[0.6, 0.8, 0.0], v=[0.8, -0.6, 0.0]), 0.1, stepper=MoreauJean(dt=0.01))
    assert run.status == "STOPPED"
    assert "the joints depend on one another" in run.stop.reason


def test_constraints_that_part_in_time_are_refused_with_a_proof():
    moved = [
        Position(lambda t, q, rate=rate: float(q[0] - rate * t * t), kind="bilateral", name=f"at{rate}")
        for rate in (1.0, 1.1)
    ]
    system = UserSystem(nq=2, mass=np.eye(2), force=lambda t, q, v: np.zeros(2), constraints=moved)
    run = simulate(system, State(q=[0.0, 0.0], v=[0.0, 0.0]), 0.1, stepper=MoreauJean(dt=0.01))
    assert run.status == "STOPPED"
    assert "contradict each other" in run.stop.reason


def test_independent_joints_are_left_alone():
    two = rods((1.0, 0.0), (0.0, 1.0), tops=((0.0, 0.0),))
    assert MoreauJean(dt=1e-3).advance(two, State(q=[0.0, 0.0], v=[0.0, 0.0]), 1.0).place is None


def test_the_midpoint_of_bricard_is_on_the_constraints_and_of_rank_29():
    scene = bricard.build(1.0, 1.0, 1.0)
    step = MoreauJean(dt=0.01).advance(scene.system, scene.state, 1.0)
    rows = [row for row in scene.system.rows(0.005, step.place, step.start.v) if row.kind == "bilateral"]
    assert max(abs(row.gap) for row in rows) < 1e-10
    J = np.vstack([row.J for row in rows])
    assert len(J) == 30
    assert np.linalg.matrix_rank(J / np.linalg.norm(J, axis=1)[:, None], tol=1e-7) == 29
