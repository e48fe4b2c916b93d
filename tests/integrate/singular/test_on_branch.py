"""Motion through points where branches meet, against closed forms, quadratures and integrations in one coordinate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import first
from scipy.integrate import solve_ivp

from gaussdyn import InputError, State, simulate
from gaussdyn.integrate.singular.on_branch import OnBranch
from gaussdyn.integrate.stepper_names import from_settings
from gaussdyn.scenes.linkages import darboux
from gaussdyn.scenes.linkages.builders import four_bars
from gaussdyn.scenes.linkages.four_bar import flat_after, reference
from gaussdyn.scenes.linkages.singular_pendulum import Ellipse, system_of

START = {"A": 0.5, "B": -0.5}


def pendulum(b, case):
    return system_of(b), State(q=[START[case], Ellipse(2.0, 1.0, 4.0, b).angle(0.5)], v=[0.0, 0.0])


def ride(b, case, t_end, **settings):
    return simulate(*pendulum(b, case), t_end, stepper=OnBranch(**{"dt": 0.05} | settings))


def gaps(run):
    return max(float(np.abs(run[f"{row}.gap"]).max()) for row in run.rows if f"{row}.gap" in run)


def drift(run):
    return float(np.ptp(run["energy"]) / np.abs(run["energy"]).max())


def test_darboux_from_the_singular_point_itself_to_its_turn_and_back():
    """h(t) of an integration in h alone; h_max = sqrt(2 + 2 sqrt 2)."""
    start = State(q=darboux.place(0.0), v=darboux.motion_of(0.0, 1.0))
    run = simulate(darboux.system_of(), start, 3.0, stepper=OnBranch(dt=0.05))
    h = dict(zip(np.round(run.t, 9).tolist(), run["q9"], strict=True))
    for t, exact in ((0.5, 0.516136524297), (1.0, 1.106284661533), (1.5, 1.720010970794), (2.0, 2.148786297751)):
        assert h[t] == pytest.approx(exact, abs=1e-11)
    assert np.abs(run["q8"]).max() < 1e-13
    assert run["q9"].max() < math.sqrt(2.0 + 2.0 * math.sqrt(2.0))
    assert np.diff(run["q9"])[-1] < 0.0
    assert gaps(run) < 1e-12
    assert drift(run) < 1e-12


@pytest.mark.slow
def test_darboux_after_its_turn_runs_back_through_another_square():
    """At the turn be = 0; from there be < 0, and h comes down as it went up."""
    start = State(q=darboux.place(0.0), v=darboux.motion_of(0.0, 1.0))
    run = simulate(darboux.system_of(), start, 6.0, stepper=OnBranch(dt=0.05))
    passed = [event for event in run.events if event.kind == "branch_point"]
    up = darboux.time_between(0.0, 2.0, 1.0, 1.0, (1.0, 1.0, 1.0))
    assert len(passed) == 1
    j = int(np.searchsorted(run.t, passed[0].t))
    assert np.abs(run.q[j, 8]) < 1e-12
    k = int(np.argmin(np.abs(run["q9"][:j] - 2.0)))
    assert run.t[k] == pytest.approx(up, abs=0.05) or run.t[k] == pytest.approx(passed[0].t - up, abs=0.05)
    past = np.array([np.abs(run.q[i] - darboux.place(run["q9"][i], past=True)).max() for i in range(j - 5, j)])
    assert past.max() < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize(
    ("masses", "Fx"), first(1, [({"l": 1.7}, 1.0), ({"mH": 3.0, "mK": 0.5, "mB": 2.0}, 0.0)])
)  # fmt: skip
def test_darboux_with_other_masses_lengths_and_a_force_across(masses, Fx):
    params = {"l": 1.0, "mH": 1.0, "mK": 1.0, "mB": 1.0} | masses
    system, l = darboux.system_of(Fx=Fx, **params), params["l"]
    weights = tuple(params[key] for key in ("mH", "mK", "mB"))
    start = State(q=darboux.place(-0.6 * l, l), v=darboux.motion_of(-0.6 * l, 0.8, l))
    t_end = darboux.time_between(-0.6 * l, 1.1 * l, 0.8, l, weights)
    run = simulate(system, start, t_end, stepper=OnBranch(dt=t_end / 40))
    assert run["q9"][-1] == pytest.approx(1.1 * l, abs=1e-11)
    assert np.abs(run["q8"]).max() < 1e-12
    middle = darboux.time_between(-0.6 * l, 0.0, 0.8, l, weights)
    assert [event.t for event in run.events] == pytest.approx([middle], abs=1e-11)


@pytest.mark.parametrize(
    ("case", "passing", "u", "theta"),
    [
        ("A", [0.7075279697535], -0.136087393, -0.047569648),
        ("B", [0.658619315738794, 3 * 0.658619315738794], -0.028932964, 0.010103366),
    ],
)
def test_pendulum_through_its_crossing(case, passing, u, theta):
    """Tables of an integration in the one coordinate u; the second passage is three quarters of a period."""
    run = ride(2.3, case, 2.0)
    assert [event.t for event in run.events] == pytest.approx(passing, abs=2e-9)
    np.testing.assert_allclose(run.q[-1], [u, theta], atol=2e-9)
    assert gaps(run) < 1e-12
    assert drift(run) < 1e-10


@pytest.mark.parametrize(("b", "sign"), [(2.3, -1.0), (2.01, -1.0), (2.0, 1.0)])
def test_smooth_continuation_changes_sides_at_a_crossing_not_at_a_tangency(b, sign):
    run = ride(b, "B", 1.0)
    assert run.status == "COMPLETED"
    assert np.sign(run.q[-1, 1]) == sign
    u, theta = run.q[-1]
    assert abs(theta) == pytest.approx(Ellipse(2.0, 1.0, 4.0, b).angle(u), abs=1e-11)


def test_a_number_takes_that_branch_with_the_energy_there_is():
    own, other = (ride(2.3, "A", 1.0, on_branch=j) for j in (0, 1))
    np.testing.assert_allclose(own.q[-1], ride(2.3, "A", 1.0).q[-1], atol=1e-11)
    assert own.q[-1, 1] < 0.0 < other.q[-1, 1]
    assert drift(other) < 1e-10
    assert other.q[-1, 1] == pytest.approx(Ellipse(2.0, 1.0, 4.0, 2.3).angle(other.q[-1, 0]), abs=1e-12)


def test_raise_stops_there():
    run = ride(2.3, "A", 1.0, on_branch="raise")
    assert run.status == "STOPPED"
    assert run.stop.t == pytest.approx(0.7075279697535, abs=1e-10)
    assert "2 branches meet" in run.stop.reason


@pytest.mark.slow
@pytest.mark.parametrize(("k", "sign"), [(1e5, 1.0), (1e7, -1.0)])
def test_springs_decide_as_their_own_motion_does(k, sign):
    """b = 2.01 from B: theta stays positive for k = 1e5 and changes sign for 1e7."""
    run = ride(2.01, "B", 1.0, on_branch="penalty", stiffness=k, dt=0.02)
    assert run.status == "COMPLETED"
    assert np.sign(run.q[-1, 1]) == sign


@pytest.mark.slow
def test_one_four_bar_linkage_runs_round_through_both_flattened_states():
    system, state = four_bars(1, speed=1.0)
    run = simulate(system, state, 1.5, stepper=OnBranch(dt=0.05))
    angle, rate = reference(1, 1.0, 9.81, 1.5)
    assert run["q2"][-1] == pytest.approx(math.pi / 2 - angle, abs=1e-11)
    assert run["v2"][-1] == pytest.approx(-rate, abs=1e-11)
    assert run.events[0].t == pytest.approx(flat_after(1, 1.0, 9.81), abs=1e-11)
    assert gaps(run) < 1e-12
    assert drift(run) < 1e-12


def test_crank_and_rod_of_one_length_pass_upright():
    """Kinetic energy I(a) a'^2 / 2 is constant: the time to a = pi / 2 by quadrature."""
    from scipy.integrate import quad

    from gaussdyn import PlanarSystem
    from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody, fixed
    from gaussdyn.mechanics.planar.joints import Hinge, Slider

    bodies = [PlanarBody(name=name, mass=1.0, inertia=1.0 / 12.0) for name in ("crank", "rod", "piston")]
    joints = [
        Hinge(name="shaft", a=Marker("crank", (-0.5, 0.0)), b=fixed(0.0, 0.0)),
        Hinge(name="pin", a=Marker("rod", (-0.5, 0.0)), b=Marker("crank", (0.5, 0.0))),
        Hinge(name="wrist", a=Marker("piston", (0.0, 0.0)), b=Marker("rod", (0.5, 0.0))),
        Slider(name="guide", a=Marker("piston", (0.0, 0.0)), b=fixed(0.0, 0.0)),
    ]
    system = PlanarSystem(bodies=bodies, joints=joints, gravity=(0.0, 0.0))
    c, s = math.cos(0.5), math.sin(0.5)
    place = {"crank": (c / 2, s / 2, 0.5), "rod": (1.5 * c, s / 2, -0.5), "piston": (2 * c, 0.0, 0.0)}
    speed = {"crank": (-s / 2, c / 2, 1.0), "rod": (-1.5 * s, c / 2, -1.0), "piston": (-2 * s, 0.0, 0.0)}
    run = simulate(system, system.state(place, speed), 2.0, stepper=OnBranch(dt=0.05))

    def inertia(a):
        return 1 / 3 + 1 / 12 + 2.25 * math.sin(a) ** 2 + 0.25 * math.cos(a) ** 2 + 4.0 * math.sin(a) ** 2

    upright = quad(lambda a: math.sqrt(inertia(a) / inertia(0.5)), 0.5, math.pi / 2, epsabs=1e-13)[0]
    assert [event.t for event in run.events] == pytest.approx([upright], abs=1e-10)
    assert run["q6"][-1] < 0.0  # the piston has gone through
    assert gaps(run) < 1e-12
    assert drift(run) < 1e-12


@pytest.mark.parametrize(
    "t_end", [pytest.param(3.0, marks=pytest.mark.slow), pytest.param(10.0, marks=pytest.mark.nightly)]
)
def test_three_four_bar_linkages_for_seconds(t_end):
    system, state = four_bars(3)
    run = simulate(system, state, t_end, stepper=OnBranch(dt=0.05))
    assert run.status == "COMPLETED"
    assert drift(run) < 1e-10
    assert run["q2"][-1] == pytest.approx(math.pi / 2 - reference(3, 1.0, 9.81, t_end)[0], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("loops", [7, 20])
def test_many_four_bar_linkages_pass_flat_without_a_look_at_all_their_branches(loops):
    """2^20 branches may meet; a motion that comes along one of them needs no other."""
    system, _ = four_bars(loops)
    angle, speed, bars = 0.3, 5.0, np.zeros((2 * loops + 1, 3))
    c, s, k = math.cos(angle), math.sin(angle), np.arange(loops + 1)
    bars[: loops + 1] = np.c_[k + c / 2, 0.0 * k + s / 2, 0.0 * k + angle]
    bars[loops + 1 :] = np.c_[k[:-1] + 0.5 + c, 0.0 * k[:-1] + s, 0.0 * k[:-1]]
    v = np.tile([s, -c, 0.0], (2 * loops + 1, 1)) * speed
    v[: loops + 1] = np.array([s / 2, -c / 2, -1.0]) * speed
    run = simulate(system, State(q=bars.ravel(), v=v.ravel()), 0.1, stepper=OnBranch(dt=0.01))
    rate = 9.81 * (0.5 * (loops + 1) + loops) / ((loops + 1) / 3.0 + loops)
    exact = solve_ivp(lambda t, y: [y[1], -rate * math.cos(y[0])], (0.0, 0.1), [angle, -speed], "DOP853",
                      rtol=1e-13, atol=1e-13)  # fmt: skip
    assert [event.kind for event in run.events] == ["branch_point"]
    assert run.q[-1, 2 : 3 * (loops + 1) : 3] == pytest.approx(exact.y[0, -1], abs=1e-11)
    assert gaps(run) < 1e-12
    assert drift(run) < 1e-10


class Killed(BaseException):
    """Raised by a progress callback, as a kill in mid-run would be."""


@pytest.mark.parametrize("steps", first(1, [6, 17]))
def test_a_run_that_was_killed_goes_on_to_the_bit(tmp_path, steps):
    """Before and after the passage at t = 0.7, in a process that knows nothing of the pieces made before."""
    system, start = pendulum(2.3, "A")
    options = {"stepper": OnBranch(dt=0.05), "out": tmp_path / "run.h5", "chunk": 2}
    whole = simulate(system, start, 1.0, stepper=options["stepper"])
    done = []

    def count(t, t_end):
        done.append(t)
        if len(done) == steps:
            raise Killed

    with pytest.raises(Killed):
        simulate(system, start, 1.0, progress=count, **options)
    run = simulate(system, start, 1.0, resume=True, **options)
    np.testing.assert_array_equal(run.q, whole.q)
    np.testing.assert_array_equal(run.v, whole.v)
    assert [(e.kind, e.id, e.t) for e in run.events] == [(e.kind, e.id, e.t) for e in whole.events]
    assert len(run.events) == 1


def test_a_control_and_a_force_that_depends_on_the_time():
    """A bead on a wire x^2 + y^2 = 1 under a push that changes: the pendulum equation with that push."""
    from gaussdyn import Position, UserSystem

    ring = Position(lambda t, q: q @ q - 1.0, jacobian=lambda t, q: 2.0 * q, kind="bilateral", name="wire")

    def force(t, q, v, control):
        return np.array([math.sin(3.0 * t), -9.81]) - 0.1 * v + (0.0 if control is None else control)

    system = UserSystem(2, np.eye(2), force, constraints=[ring])
    run = simulate(system, State(q=[1.0, 0.0], v=[0.0, 0.0]), 1.0, stepper=OnBranch(dt=0.05))

    def slope(t, y):
        return [y[1], -math.sin(y[0]) * math.sin(3.0 * t) - 9.81 * math.cos(y[0]) - 0.1 * y[1]]

    a = solve_ivp(slope, (0.0, 1.0), [0.0, 0.0], "DOP853", rtol=1e-13, atol=1e-13).y[0, -1]
    np.testing.assert_allclose(run.q[-1], [math.cos(a), math.sin(a)], atol=1e-9)
    held = simulate(
        system, State(q=[1.0, 0.0], v=[0.0, 0.0]), 0.5, stepper=OnBranch(dt=0.05), control=np.array([0.0, 0.0])
    )  # fmt: skip
    k = len(held.t) - 1
    np.testing.assert_allclose(held.q[-1], run.q[k], atol=1e-10)


def test_bad_input():
    system, _ = pendulum(2.3, "A")
    for bad in ({"on_branch": "left"}, {"on_branch": -1}, {"on_branch": True}, {"dt": 0.0}, {"stiffness": math.nan}):
        with pytest.raises(InputError):
            OnBranch(**bad)
    with pytest.raises(InputError, match="lies off the nearest tangent"):
        simulate(system, State(q=[0.0, 0.0], v=[1.0, 0.0]), 1.0, stepper=OnBranch())
    tangent = system_of(2.0)
    with pytest.raises(InputError, match="branches 0, 1 fit"):
        simulate(tangent, State(q=[0.0, 0.0], v=[1.0, 0.0]), 1.0, stepper=OnBranch())
    run = simulate(tangent, State(q=[0.0, 0.0], v=[1.0, 0.0]), 0.2, stepper=OnBranch(on_branch=1))
    assert run.q[-1, 1] < 0.0
    with pytest.raises(InputError, match="one degree of freedom"):
        simulate(system_of(1.9), State(q=[0.0, 0.0], v=[0.0, 0.0]), 1.0, stepper=OnBranch())


def test_settings_come_back():
    stepper = OnBranch(dt=0.02, on_branch=1, stiffness=1e5)
    assert from_settings(stepper.settings()) == stepper


def test_energy_through_a_tangency():
    """The piece of curve before it ends well before the point: nodes beside it would have half of their digits."""
    run = ride(2.0, "A", 1.0)
    assert [event.kind for event in run.events] == ["branch_point"]
    assert np.ptp(run["energy"]) < 2e-10
