"""Contacts act in the step in which they close: none a step late, none too early, none that is no more."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import examples
from small_systems import Ball, Block, Failing, G, Plain

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.state import State

DT = 1e-2
COARSE = MoreauJean(dt=DT)
HEIGHTS = np.random.default_rng(11).uniform(0.05, 2.0, size=25)


@pytest.mark.drawn
@pytest.mark.parametrize("e", [0.0, 0.8])
def test_a_falling_ball_is_met_in_the_step_in_which_it_arrives(e):
    for height in HEIGHTS[: examples(25, fast=5)]:
        fall = np.sqrt(2.0 * height / G)
        run = simulate(Ball(e), State(q=[height], v=[0.0]), fall + 3.0 * DT, stepper=COARSE)
        first = np.flatnonzero(run["ball/floor.r_N"] > 0.0)[0]
        assert run.t[first - 1] <= fall <= run.t[first] + 1e-12
        if e > 0.0:
            assert run.v[first, 0] == pytest.approx(-e * run.v[first - 1, 0], rel=1e-12)
        else:
            assert np.abs(run.q[first:]).max() <= 1e-12
            assert np.abs(run.v[first:]).max() <= 1e-15


@pytest.mark.drawn
def test_a_thrown_disc_lands_without_a_hop():
    """A disc of radius 1 with friction, landing without bounce: from then on it stays down."""

    class Disc(Plain):
        nq = nv = 3

        def mass(self, q):
            return np.diag([1.0, 1.0, 0.5])

        def force(self, t, q, v, control=None):
            return np.array([0.0, -G, 0.0])

        def rows(self, t, q, v):
            J = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
            return (Row(id="disc/floor", kind="contact", gap=q[1] - 1.0, J=J, rate=J @ v, drift=np.zeros(2), mu=0.3),)

    for height in HEIGHTS[: examples(8, fast=2)]:
        run = simulate(Disc(), State(q=[0.0, 1.0 + height, 0.0], v=[6.0, 0.0, 0.0]), 1.2, stepper=COARSE)
        landed = np.flatnonzero(run["disc/floor.r_N"] > 0.0)[0]
        assert (run["disc/floor.r_N"][landed:] > 0.0).all()
        assert np.abs(run["disc/floor.gap"][landed:]).max() <= 1e-11
        assert run.events[0].kind == "touchdown"
        assert "lift_off" not in run.event_counts
        fall = np.sqrt(2.0 * height / G)
        slip = run.v[landed, 0] + run.v[landed, 2]
        assert slip == pytest.approx(
            6.0 - 3.0 * 0.3 * G * fall, abs=4.0 * 0.3 * G * DT
        )  # J_t = mu J_n, 1/m + r^2/J = 3


def test_a_contact_over_a_support_carries_nothing():
    """A second support 2 micrometres lower would close in free fall, but the first one holds: it must not push."""

    class Ledges(Plain):
        def rows(self, t, q, v):
            return tuple(
                Row(id=name, kind="unilateral", gap=q[0] + depth, J=[[1.0]], rate=v, drift=[0.0])
                for name, depth in (("high", 0.0), ("low", 2e-6))
            )

        def force(self, t, q, v, control=None):
            return np.array([-G])

    run = simulate(Ledges(), State(q=[0.0], v=[0.0]), 0.05)
    assert (run["low.r_N"] == 0.0).all()
    assert run["high.r_N"][1:] == pytest.approx(G, rel=1e-12)
    drop = simulate(Ledges(), State(q=[0.1], v=[0.0]), 0.3, stepper=COARSE)
    assert (drop["low.r_N"] == 0.0).all()
    assert drop.final.q[0] == pytest.approx(0.0, abs=1e-12)


class Shelf(Plain):
    """A point that slides on a floor which ends at x = 0: the contact is there only while the point is above it."""

    nq = nv = 2
    mu, height = 0.1, 1.0

    def __init__(self, rows=None):
        self.present = rows

    def force(self, t, q, v, control=None):
        return np.array([0.0, -G])

    def potential(self, t, q):
        return G * float(q[1])

    def near(self, t, q, v, dt):
        return Shelf(("point/shelf",) if q[0] < 0.0 else ("point/ground",))

    def rows(self, t, q, v):
        names = self.present or ("point/shelf", "point/ground")
        J = np.array([[0.0, 1.0], [1.0, 0.0]])
        depth = {"point/shelf": 0.0, "point/ground": self.height}
        return tuple(
            Row(
                id=name, kind="contact", gap=q[1] + depth[name], J=J, rate=J @ v, drift=[0.0, 0.0], mu=self.mu,
                between=("point", name[6:]), point=[q[0], -depth[name]], frame=[[0.0, 1.0], [1.0, 0.0]],
            )
            for name in names
        )  # fmt: skip


def test_sliding_off_an_edge_lets_go_at_once_and_forgets():
    stepper, state = MoreauJean(dt=DT), State(q=[-0.305, 0.0], v=[2.0, 0.0], memory={"motor": [1.0]})
    gone = None
    for _ in range(120):
        step = stepper.advance(Shelf(), state, 10.0)
        assert step.solution.solved
        if gone is None and "point/shelf" not in {row.id for row in step.rows}:
            gone = step
            assert step.reactions.get("point/ground", np.zeros(2))[0] == 0.0
            assert step.state.v[1] == pytest.approx(-G * DT, rel=1e-12)
        state = step.state
        assert set(state.memory) <= {"motor", *(row.id for row in step.rows)}
        assert min(row.gap for row in step.rows) >= -1e-11
    assert gone is not None
    brake = 0.1 * G
    assert gone.start.t == pytest.approx((2.0 - np.sqrt(4.0 - 2.0 * brake * 0.305)) / brake, abs=1.01 * DT)
    assert state.q[1] == pytest.approx(-1.0, abs=1e-11)
    assert state.memory["motor"] == pytest.approx([1.0])


def test_a_run_with_contacts_that_come_and_go_passes_the_audit():
    run = simulate(Shelf(), State(q=[-0.305, 0.0], v=[2.0, 0.0]), 1.0, stepper=COARSE)
    assert run.status == "COMPLETED", run.stop
    verdict = audit(run, Shelf())
    assert verdict.passed, verdict.explain()


def test_a_memory_of_a_far_contact_does_not_hold_a_body_in_the_air():
    state = State(q=[0.3], v=[0.0], memory={"ball/floor": [2.0 * G * DT]})
    step = COARSE.advance(Ball(), state, 1.0)
    assert step.state.v[0] == pytest.approx(-G * DT, rel=1e-12)
    assert "ball/floor" not in step.state.memory


def test_what_rebounds_is_forgotten_and_what_rests_is_remembered():
    bounce = COARSE.advance(Ball(0.5), State(q=[0.0], v=[-1.0]), 1.0)
    assert bounce.reactions["ball/floor"][0] > 0.0
    assert "ball/floor" not in bounce.state.memory
    rest = COARSE.advance(Ball(0.5), State(q=[0.0], v=[0.0]), 1.0)
    assert rest.state.memory["ball/floor"] == pytest.approx([2.0 * G * DT])


def test_of_two_bodies_each_meets_its_own_wall_in_one_step():
    class Pair(Plain):
        nq = nv = 2

        def rows(self, t, q, v):
            return tuple(
                Row(id=f"w{k}", kind="unilateral", gap=q[k], J=np.eye(2)[k : k + 1], rate=[v[k]], drift=[0.0])
                for k in (0, 1)
            )

    step = COARSE.advance(Pair(), State(q=[0.001, 0.009], v=[-1.0, -1.0]), 1.0)
    assert np.abs(step.state.v).max() <= 1e-15
    assert np.abs(step.state.q).max() <= 1e-15


@pytest.mark.drawn
def test_block_at_99_percent_of_the_friction_angle_does_not_creep():
    angle = 0.5
    state, stepper = State(q=[0.0, 0.0], v=[0.0, 0.0]), COARSE
    crept = 0.0
    for _ in range(examples(2000, fast=200)):  # 20 s, 2 s in the fast tests
        step = stepper.advance(Block(angle, np.tan(angle / 0.99)), state, 1e3)
        state = step.state
        assert abs(state.v[1]) <= 1e-16
        crept += abs(state.v[1]) * DT
    assert crept <= 1e-12


class Odd(Failing):
    """A system whose `near` or `move` goes wrong after t = 0.1 s."""

    def __init__(self, what, value):
        super().__init__("none")
        self.what, self.value, self.now = what, value, 0.0

    def force(self, t, q, v, control=None):
        return -q

    def near(self, t, q, v, dt):
        self.now = t
        return self.value if self.what == "near" and t > 0.1 else self

    def move(self, q, v, dt):
        return self.value if self.what == "move" and self.now > 0.1 else q + dt * v


@pytest.mark.parametrize(
    ("what", "value"),
    [("near", None), ("near", Block(0.1, 0.1)), ("move", [np.nan]), ("move", [0.0, 1.0]), ("move", None)],
)
def test_a_bad_near_or_move_stops_the_run_with_its_name(what, value):
    run = simulate(Odd(what, value), State(q=[1.0], v=[0.0]), 1.0, stepper=COARSE)
    assert run.status == "STOPPED"
    assert what in run.stop.reason
    assert run.stop.t == pytest.approx(0.1, abs=0.011)
    assert run.t_reached == run.stop.t
