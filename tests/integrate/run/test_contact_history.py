"""Contacts that come and go: what is kept of them, what can be asked, and events when they are gone."""

from __future__ import annotations

import numpy as np
import pytest
from run_cases import same
from small_systems import G, Plain

from gaussdyn.errors import InputError
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.state import State

pytestmark = pytest.mark.xdist_group("contact history")  # what they share is made once

STEP = MoreauJean(dt=0.01)
MASSES = {"ball": 1.0, "box": 2.0, "car": 4.0}


class Pile(Plain):
    """A ball on a box on the floor, and a car on a rail: plane, contacts found by collision detection.

    Coordinates (x, y) of ball and box, x of the car. In the ball's contact the box comes first, so that its normal
    points down.
    """

    nq = nv = 5

    def __init__(self, reach=0.05, far=0.0):
        self.reach, self.far = reach, far

    def mass(self, q):
        return np.diag([1.0, 1.0, 2.0, 2.0, 4.0])

    def force(self, t, q, v, control=None):
        return np.array([0.5, -G, 0.0, -2.0 * G, 1.0])

    def potential(self, t, q):
        return G * float(q[1] + 2.0 * q[3]) - float(0.5 * q[0] + q[4])

    def near(self, t, q, v, dt):
        found = []
        if q[1] - q[3] < self.reach:
            found.append("ball/box")
        if q[3] < self.reach:
            found.append("box/floor")
        return Close(tuple(found))

    def rows(self, t, q, v):
        return self.near(t, q, v, 0.0).rows(t, q, v)


class Close(Pile):
    """The pile with a given list of contacts."""

    def __init__(self, found):
        self.found = found

    def near(self, t, q, v, dt):
        return self

    def rows(self, t, q, v):
        rows = []
        if "ball/box" in self.found:
            J = np.array([[0.0, 1.0, 0.0, -1.0, 0.0], [1.0, 0.0, -1.0, 0.0, 0.0]])
            rows.append(self.row("ball/box", ("box", "ball"), q[1] - q[3], J, v, 0.3, q[0:2], [[0, -1], [-1, 0]]))
        if "box/floor" in self.found:
            J = np.array([[0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]])
            rows.append(self.row("box/floor", ("box", "floor"), q[3], J, v, 0.5, q[2:4], [[0, 1], [1, 0]]))
        J = np.array([[0.0, 0.0, 0.0, 0.0, 1.0]])
        rows.append(Row(id="rail", kind="bilateral", gap=q[4] - 0.0, J=J, rate=J @ v, drift=[0.0]))
        return tuple(rows)

    def row(self, name, between, gap, J, v, mu, point, frame):
        about = {"between": between, "point": point, "frame": np.array(frame, dtype=float)}
        return Row(id=name, kind="contact", gap=gap, J=J, rate=J @ v, drift=np.zeros(2), mu=mu, **about)


def start(height=0.2):
    return State(q=[1.0, height, 0.0, 0.0, 0.0], v=np.zeros(5))


@pytest.fixture(scope="module")
def run():
    return simulate(Pile(), start(), 0.5, stepper=STEP)


def test_contacts_that_come_and_go_are_no_columns(run):
    assert run.status == "COMPLETED", run.stop
    assert not any(name.startswith(("ball/box", "box/floor")) for name in run.names)
    assert {"rail.gap", "rail.r"} <= set(run.names)
    assert run["rail.r"][-1] == pytest.approx(-1.0, rel=1e-12)
    assert set(run.rows) == {"rail"}
    assert [one.id for one in run.contacts(0)] == ["box/floor"]
    assert [one.id for one in run.contacts(-1)] == ["ball/box", "box/floor"]
    assert [event.id for event in run.events if event.kind == "touchdown"] == ["ball/box"]


def test_a_contact_tells_force_point_normal_mode_and_margin(run):
    top, floor = run.contacts(-1)
    assert top.between == ("box", "ball")
    assert top.normal.tolist() == [0.0, -1.0]
    assert top.force == pytest.approx([0.5, -G], rel=1e-12)  # the ball is held by friction, and pushes the box
    assert floor.force == pytest.approx([-0.5, 3.0 * G], rel=1e-12)
    assert (top.mode, floor.mode) == ("stick", "stick")
    assert top.margin == pytest.approx(1.0 - 0.5 / (0.3 * G), rel=1e-12)
    assert floor.margin == pytest.approx(1.0 - 0.5 / (0.5 * 3.0 * G), rel=1e-12)
    assert top.point == pytest.approx(run.q[-1, :2])
    assert run.contacts(0)[0].mode == "open"
    assert np.isnan(run.contacts(0)[0].margin)


def test_the_force_between_two_bodies_over_time(run):
    found, back = run.between("ball", "box"), run.between("box", "ball")
    falling = run.t <= np.sqrt(2 * 0.2 / G)
    assert not found.force[falling].any()
    assert found.force[-1] == pytest.approx([-0.5, G], rel=1e-12)
    assert np.array_equal(back.force, -found.force)
    assert np.array_equal(back.normal_force, found.normal_force)
    momentum = 1.0 * run.v[-1, :2] - np.array([0.5, -G]) * 0.5  # what the box gave in all
    assert (0.01 * found.force).sum(axis=0) == pytest.approx(momentum, abs=1e-12)
    assert [len(points) for points in found.points] == [int(push) for push in found.normal_force > 0.0]
    assert np.isnan(found.margin[falling]).all()
    assert found.margin[-1] == pytest.approx(1.0 - 0.5 / (0.3 * G))
    for one, other in (("ball", "boks"), ("ball", "moon"), ("ball", "ball")):
        with pytest.raises(InputError, match=r"body|one, other"):
            run.between(one, other)
    assert not run.between("ball", "floor").force.any()
    for k in (len(run), -len(run) - 1, 1.0, True):
        with pytest.raises(InputError, match="k"):
            run.contacts(k)


def test_a_step_tells_the_force_between_two_bodies():
    state = start(height=0.0)
    step = STEP.advance(Pile(), state, 1.0)
    assert step.contact_force("ball", "box") == pytest.approx([-0.5, G], rel=1e-12)
    assert step.contact_force("box", "ball") == pytest.approx([0.5, -G], rel=1e-12)
    assert not step.contact_force("ball", "floor").any()


def test_a_contact_that_is_gone_has_lifted_off():
    assert simulate(Pile(reach=1e-6), start(height=0.0), 0.05, stepper=STEP).events == ()

    class Thrown(Pile):
        def force(self, t, q, v, control=None):
            return super().force(t, q, v) + np.array([0.0, 40.0 if t > 0.1 else 0.0, 0.0, 0.0, 0.0])

        def near(self, t, q, v, dt):
            inner = super().near(t, q, v, dt)
            inner.force = self.force
            return inner

    run = simulate(Thrown(), start(height=0.0), 0.3, stepper=STEP)
    assert [(event.kind, event.id) for event in run.events] == [("lift_off", "ball/box")]
    assert [one.id for one in run.contacts(-1)] == ["box/floor"]


def test_a_file_and_a_resume_keep_the_table(run, tmp_path):
    path = tmp_path / "run.h5"
    same(run, simulate(Pile(), start(), 0.5, stepper=STEP, out=path, chunk=3))
    same(run, Trajectory.load(path))
    simulate(Pile(), start(), 0.21, stepper=STEP, out=path, chunk=3)
    same(run, simulate(Pile(), start(), 0.5, stepper=STEP, out=path, resume=True))


def test_a_constraint_that_is_no_contact_must_stay():
    class Losing(Pile):
        def near(self, t, q, v, dt):
            return Railless(()) if t > 0.05 else super().near(t, q, v, dt)

    class Railless(Close):
        def rows(self, t, q, v):
            return super().rows(t, q, v)[:-1]

    run = simulate(Losing(), start(), 0.1, stepper=STEP)
    assert run.status == "STOPPED"
    assert "rail" in run.stop.reason
    assert len({len(column.values) for column in run.columns.values()}) == 1


def test_rows_of_a_system_that_never_changes_are_columns_and_contacts():
    class Floor(Plain):
        def force(self, t, q, v, control=None):
            return np.array([-G])

        def rows(self, t, q, v):
            about = {"between": ("ball", "floor"), "point": [0.0, q[0]], "frame": [[0.0, 1.0], [1.0, 0.0]]}
            ball = Row(id="ball/floor", kind="unilateral", gap=q[0], J=[[1.0]], rate=v, drift=[0.0], **about)
            return (ball, Row(id="stop", kind="unilateral", gap=5.0 - q[0], J=[[-1.0]], rate=-v, drift=[0.0]))

    run = simulate(Floor(), State(q=[0.0], v=[0.0]), 0.05, stepper=STEP)
    assert run["ball/floor.r_N"][-1] == pytest.approx(G)
    assert run.between("ball", "floor").force[-1] == pytest.approx([0.0, G])
    assert [one.id for one in run.contacts(-1)] == ["ball/floor"]
    with pytest.raises(InputError, match="bodies with contacts: ball, floor"):
        run.between("ball", "stop")


def test_contacts_in_space_and_rolling_moments():
    class Ball(Plain):
        nq = nv = 3

        def force(self, t, q, v, control=None):
            return np.array([0.3, 0.4, -G])

        def near(self, t, q, v, dt):
            return self.__class__()

        def rows(self, t, q, v):
            turned = np.array([[0.0, 0.0, 1.0], [0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]])
            J = np.vstack([turned, np.zeros((2, 3))])
            about = {"between": ("ball", "floor"), "point": q, "frame": turned}
            about |= {"kind": "contact", "mu": 0.2, "drift": np.zeros(5)}
            return (Row(id="ball/floor", gap=q[2], J=J, rate=J @ v, **about),)

    run = simulate(Ball(), State(q=np.zeros(3), v=np.zeros(3)), 0.02, stepper=STEP)
    assert run.status == "COMPLETED", run.stop
    (one,) = run.contacts(-1)
    assert one.reaction == pytest.approx([G, -0.5, 0.0, 0.0, 0.0], abs=1e-12)
    assert one.force == pytest.approx([-0.3, -0.4, G], abs=1e-12)
    assert run.between("floor", "ball").force[-1] == pytest.approx([0.3, 0.4, -G], abs=1e-12)
