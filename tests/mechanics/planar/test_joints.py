"""Joints, limits, drives and gears in the plane: derivatives, closed forms, and minimal coordinates."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gaussdyn.contact.resolve import resolve
from gaussdyn.contact.snapshot import Activation, snapshot
from gaussdyn.errors import InputError
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.check import check_system
from gaussdyn.mechanics.joints.limits_motors import Gear, JointFriction, Limit, Motor
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody, Point, fixed
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.forces import Load, Shaking
from gaussdyn.mechanics.planar.joints import Hinge, Slider, Weld
from gaussdyn.mechanics.planar.spec import Drive
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.scenes.linkages.builders import four_bars

G = 9.81
A = PlanarBody(name="a", mass=2.0, inertia=0.3)
B = PlanarBody(name="b", mass=1.0, inertia=0.2)
C = PlanarBody(name="c", mass=1.5, inertia=0.4)
TIP, HUB = Marker("a", (0.5, -0.1), "tip"), Marker("b", (0.2, 0.3), "hub")
HINGE = Hinge(name="knee", a=TIP, b=HUB)
SLIDER = Slider(name="rail", a=TIP, b=HUB, direction=(1.0, 2.0), angle=0.3)
JOINTS = {
    "hinge": (HINGE,),
    "hinge on the ground": (Hinge(name="knee", a=TIP, b=fixed(0.3, 0.4)),),
    "hinge, turned": (Hinge(name="knee", a=fixed(0.3, 0.4), b=TIP),),
    "slider": (SLIDER,),
    "slider on the ground": (Slider(name="rail", a=TIP, b=fixed(0.3, 0.4), direction=(0.0, 1.0)),),
    "guide that moves": (Slider(name="rail", a=fixed(0.3, 0.4), b=TIP, direction=(0.0, 1.0)),),
    "weld": (Weld(name="seam", a=TIP, b=HUB, angle=-0.4),),
    "limits": (HINGE, Limit(joint="knee", low=-1.0, high=20.0, eps_n=0.5)),
    "limits of a slider": (SLIDER, Limit(joint="rail", low=-1.0)),
    "motor": (HINGE, Motor(joint="knee", rate=2.0)),
    "motor of a slider": (SLIDER, Motor(joint="rail", rate=2.0)),
    "weak motor": (SLIDER, Motor(joint="rail", rate=2.0, cap=5.0)),
    "friction": (HINGE, JointFriction(joint="knee", cap=1.0, cap_s=2.0)),
    "gear": (
        HINGE,
        Hinge(name="hip", a=Marker("c"), b=Marker("b", (-0.2, 0.3))),
        Gear(joint="knee", other="hip", ratio=-2.5),
    ),
    "rack and pinion": (
        SLIDER,
        Hinge(name="hip", a=Marker("c"), b=Marker("b", (-0.2, 0.3))),
        Gear(joint="rail", other="hip", ratio=0.3),
    ),
}


@pytest.mark.parametrize("name", JOINTS)
def test_jacobians_and_drifts_are_exact(name):
    system = PlanarSystem(bodies=[A, B, C], joints=JOINTS[name])
    report = check_system(system, samples=5)
    assert report.ok, str(report)


BETWEEN_BODIES = [name for name, parts in JOINTS.items() if "ground" not in (parts[0].a.body, parts[0].b.body)]


@pytest.mark.parametrize("name", BETWEEN_BODIES)
def test_reactions_are_opposite_forces_on_the_two_bodies(name):
    """A joint between bodies keeps momentum and moment of momentum."""
    system = PlanarSystem(bodies=[A, B, C], joints=JOINTS[name])
    q = np.random.default_rng(1).normal(size=9)
    # Where the joints are assembled: knee and hub, or guide, in one place; hip on b.
    q[0:2] = q[3:5] + _turned((0.2, 0.3), q[5]) - _turned((0.5, -0.1), q[2])
    q[6:8] = q[3:5] + _turned((-0.2, 0.3), q[5])
    for row in system.rows(0.0, q, np.zeros(9)):
        for wrench in row.J:
            f = wrench.reshape(3, 3)
            np.testing.assert_allclose(f[:, :2].sum(axis=0), 0.0, atol=1e-12)
            moment = sum(q[3 * k] * f[k, 1] - q[3 * k + 1] * f[k, 0] + f[k, 2] for k in range(3))
            assert moment == pytest.approx(0.0, abs=1e-12)


def _turned(arm, angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]])


def test_ids_and_gaps():
    system = PlanarSystem(bodies=[A, B], joints=[SLIDER, Limit(joint="rail", low=-1.0, high=2.0)])
    q = np.zeros(6)
    rows = {row.id: row for row in system.rows(0.0, q, q)}
    assert list(rows) == ["rail:across", "rail:high", "rail:low", "rail:turn"]
    d, e = np.array([0.3, -0.4]), np.array([1.0, 2.0]) / math.sqrt(5.0)
    assert rows["rail:across"].gap == pytest.approx(e[0] * d[1] - e[1] * d[0])
    assert rows["rail:turn"].gap == pytest.approx(-0.3)
    assert rows["rail:low"].gap == pytest.approx(e @ d + 1.0)
    assert rows["rail:high"].gap == pytest.approx(2.0 - e @ d)


def test_angles_do_not_wind():
    """A hinge turned three times around is at 6 pi, and its limit knows."""
    system = PlanarSystem(
        bodies=[A], joints=[Hinge(name="pin", a=Marker("a"), b=fixed(0, 0)), Limit(joint="pin", high=19)]
    )
    q = np.array([0.0, 0.0, 6.0 * math.pi])
    gaps = {row.id: row.gap for row in system.rows(0.0, q, 0 * q)}
    assert gaps["pin:high"] == pytest.approx(19.0 - 6.0 * math.pi)


FORCES = {
    "spring": Drive(joint="knee", stiffness=30.0, target=0.4),
    "servo": Drive(joint="knee", stiffness=30.0, damping=2.0, target=0.4, rate=0.5, effort=1.0),
    "spring of a slider": Drive(joint="rail", stiffness=30.0, damping=2.0, target=0.4),
    "shaking": Shaking(direction=(1.0, 2.0), amplitude=3.0, frequency=0.7, phase=0.4),
}


@pytest.mark.parametrize("name", FORCES)
def test_forces_agree_with_their_energies(name):
    joint = SLIDER if "slider" in name else HINGE
    system = PlanarSystem(bodies=[A, Point(name="p", mass=3.0), B], joints=[joint], forces=[FORCES[name]])
    report = check_system(system, samples=5)
    assert report.ok, str(report)


def test_torsional_spring_pulls_both_bodies_back():
    drive = Drive(joint="knee", stiffness=30.0, damping=2.0, target=0.4)
    system = PlanarSystem(bodies=[A, B], joints=[HINGE], forces=[drive], gravity=(0.0, 0.0))
    h = system.force(0.0, np.array([0, 0, 1.4, 0, 0, 0.5]), np.array([0, 0, 3.0, 0, 0, 2.0]))
    np.testing.assert_allclose(h, [0, 0, -30.0 * 0.5 - 2.0, 0, 0, 30.0 * 0.5 + 2.0], atol=1e-12)


def test_shaking_is_minus_mass_times_the_acceleration_of_the_frame():
    shaking = Shaking(direction=(3.0, 4.0), amplitude=2.0, frequency=0.5, phase=0.3)
    system = PlanarSystem(bodies=[A, Point(name="p", mass=3.0)], forces=[shaking], gravity=(0.0, 0.0))
    a = 2.0 * math.sin(math.pi * 0.7 + 0.3)
    v = np.arange(5.0)
    h = np.array([-2.0 * 0.6, -2.0 * 0.8, 0.0, -3.0 * 0.6, -3.0 * 0.8]) * a
    np.testing.assert_allclose(system.force(0.7, np.zeros(5), v), h, atol=1e-14)
    assert system.power(0.7, np.zeros(5), v) == pytest.approx(float(h @ v))
    assert system.potential(0.7, np.zeros(5)) == 0.0


def _accelerations(system, state):
    """Return the acceleration at a state whose joints hold to rounding."""
    return resolve(snapshot(system, state, activation=Activation(gap=1e-8, speed=1e-8))).require().x


# ---- double pendulum of two homogeneous rods, against Lagrange's equations in the two angles


def _double_pendulum():
    """Two rods of length 2 l, hinged at their ends; angles from the vertical axis downwards."""
    m, l = (1.0, 0.7), (0.5, 0.3)
    rods = [PlanarBody(name=f"r{k}", mass=m[k], inertia=m[k] * l[k] ** 2 / 3.0) for k in (0, 1)]
    joints = [
        Hinge(name="pivot", a=Marker("r0", (0.0, l[0])), b=fixed(0.0, 0.0)),
        Hinge(name="elbow", a=Marker("r1", (0.0, l[1])), b=Marker("r0", (0.0, -l[0]))),
    ]
    return PlanarSystem(bodies=rods, joints=joints, gravity=(0.0, -G)), m, l


def _pendulum_state(system, l, angle, rate):
    down = [np.array([math.sin(x), -math.cos(x)]) for x in angle]
    side = [np.array([math.cos(x), math.sin(x)]) for x in angle]
    place = {"r0": (*(l[0] * down[0]), angle[0]), "r1": (*(2 * l[0] * down[0] + l[1] * down[1]), angle[1])}
    v1 = 2 * l[0] * rate[0] * side[0] + l[1] * rate[1] * side[1]
    return system.state(place, {"r0": (*(l[0] * rate[0] * side[0]), rate[0]), "r1": (*v1, rate[1])})


def _lagrange(m, l, angle, rate):
    """Return the second rates of the two angles: kinetic energy with M12 = 2 m1 l0 l1 cos(difference)."""
    d = angle[0] - angle[1]
    M12, turn = 2.0 * m[1] * l[0] * l[1] * math.cos(d), 2.0 * m[1] * l[0] * l[1] * math.sin(d)
    M = np.array([[(4.0 / 3.0 * m[0] + 4.0 * m[1]) * l[0] ** 2, M12], [M12, 4.0 / 3.0 * m[1] * l[1] ** 2]])
    weight = [(m[0] + 2.0 * m[1]) * G * l[0] * math.sin(angle[0]), m[1] * G * l[1] * math.sin(angle[1])]
    return np.linalg.solve(M, [-turn * rate[1] ** 2 - weight[0], turn * rate[0] ** 2 - weight[1]])


def test_double_pendulum_has_the_accelerations_of_lagrange():
    system, m, l = _double_pendulum()
    rng = np.random.default_rng(0)
    for _ in range(10):
        angle, rate = rng.uniform(-3, 3, 2), rng.normal(size=2)
        a = _accelerations(system, _pendulum_state(system, l, angle, rate))
        np.testing.assert_allclose(a[[2, 5]], _lagrange(m, l, angle, rate), rtol=1e-10, atol=1e-10)


def test_double_pendulum_moves_as_its_ordinary_differential_equation():
    system, m, l = _double_pendulum()
    angle, rate = np.array([1.0, -0.4]), np.array([0.3, 1.0])

    def slope(_, y):
        return [*y[2:], *_lagrange(m, l, y[:2], y[2:])]

    exact = solve_ivp(slope, (0, 0.3), [*angle, *rate], rtol=1e-11, atol=1e-11).y[:2, -1]
    errors = []
    for dt in (1e-2, 5e-3):
        run = simulate(system, _pendulum_state(system, l, angle, rate), 0.3, stepper=MoreauJean(dt=dt))
        errors.append(np.abs(np.array([run.q[-1][2], run.q[-1][5]]) - exact).max())
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


# ---- slider-crank, against kinematics


def test_slider_crank_with_a_motor():
    """Crank r at a given rate, rod l: the piston is at x = r cos p + sqrt(l^2 - r^2 sin^2 p)."""
    r, l, w = 0.3, 1.0, 2.0
    crank = PlanarBody(name="crank", mass=1.0, inertia=0.01)
    rod = PlanarBody(name="rod", mass=1.0, inertia=0.1)
    piston = PlanarBody(name="piston", mass=2.0, inertia=0.1)
    joints = [
        Hinge(name="shaft", a=Marker("crank"), b=fixed(0.0, 0.0)),
        Hinge(name="pin", a=Marker("rod", (-l / 2, 0.0)), b=Marker("crank", (r, 0.0))),
        Hinge(name="wrist", a=Marker("rod", (l / 2, 0.0)), b=Marker("piston")),
        Slider(name="bore", a=Marker("piston"), b=fixed(0.0, 0.0)),
        Motor(joint="shaft", rate=w),
    ]
    system = PlanarSystem(bodies=[crank, rod, piston], joints=joints)

    def x(p):
        return r * math.cos(p) + math.sqrt(l * l - (r * math.sin(p)) ** 2)

    for p in (0.3, 1.2, 2.9, 4.4):
        lean = -math.asin(r / l * math.sin(p))
        turn = -r * math.cos(p) * w / (l * math.cos(lean))
        middle = np.array([r * math.cos(p), r * math.sin(p)]) + _turned((l / 2, 0.0), lean)
        end = np.array([-r * math.sin(p), r * math.cos(p)]) * w
        arm = _turned((l / 2, 0.0), lean)
        h = 1e-4
        speed = (x(p + h * w) - x(p - h * w)) / (2 * h)
        state = system.state(
            {"crank": (0, 0, p), "rod": (*middle, lean), "piston": (x(p), 0, 0)},
            {"crank": (0, 0, w), "rod": (*(end + turn * np.array([-arm[1], arm[0]])), turn), "piston": (speed, 0, 0)},
        )
        gaps = [row.gap for row in system.rows(0.0, state.q, state.v) if row.level == "position"]
        np.testing.assert_allclose(gaps, 0.0, atol=1e-12)
        rates = np.concatenate([row.rate for row in system.rows(0.0, state.q, state.v)])
        np.testing.assert_allclose(rates, 0.0, atol=1e-7)
        solution = resolve(snapshot(system, state, activation=Activation(speed=1e-6))).require()
        second = (x(p + h * w) - 2 * x(p) + x(p - h * w)) / h**2
        assert solution.x[system.index("piston")] == pytest.approx(second, abs=1e-5)


# ---- gears


def test_gear_shares_a_torque_by_its_ratio():
    """A torque T on wheel a: angle acceleration T / (J_a + J_b / k^2) with rate_a = k rate_b."""
    k = -2.5
    joints = [
        Hinge(name="left", a=Marker("a"), b=fixed(0.0, 0.0)),
        Hinge(name="right", a=Marker("b"), b=fixed(1.0, 0.0)),
        Gear(joint="left", other="right", ratio=k),
    ]
    system = PlanarSystem(bodies=[A, B], joints=joints, forces=[Drive(joint="left", effort=3.0)])
    state = system.state({"b": (1.0, 0.0, 0.7)})
    a = _accelerations(system, state)
    expected = 3.0 / (A.inertia + B.inertia / k**2)
    np.testing.assert_allclose(a[[2, 5]], [expected, expected / k], rtol=1e-12)
    run = simulate(system, state, 0.5, stepper=MoreauJean(dt=1e-2))
    assert run.q[-1][2] == pytest.approx(expected * 0.125, rel=1e-10)
    assert run.q[-1][2] == pytest.approx(k * (run.q[-1][5] - 0.7), rel=1e-10)


# ---- limits, friction, motors


def _wheel(*parts, **options):
    hinge = Hinge(name="axle", a=Marker("a"), b=fixed(0.0, 0.0))
    return PlanarSystem(bodies=[A], joints=[hinge, *parts], gravity=(0.0, 0.0), **options)


def test_limit_returns_what_its_restitution_says():
    system = _wheel(Limit(joint="axle", low=-1.0, high=0.5, eps_n=0.6))
    state = system.state({}, {"a": (0.0, 0.0, 2.0)})
    run = simulate(system, state, 1.0, stepper=MoreauJean(dt=5e-3))
    assert run.v[-1][2] == pytest.approx(-1.2, rel=1e-12)
    assert run.q[-1][2] == pytest.approx(0.5 - 1.2 * 0.75, abs=2e-2)


def test_limit_of_a_slider_holds_a_weight():
    slider = Slider(name="shaft", a=Marker("a"), b=fixed(0.0, 0.0), direction=(0.0, 1.0))
    system = PlanarSystem(bodies=[A], joints=[slider, Limit(joint="shaft", low=0.0)], gravity=(0.0, -G))
    dynamics = snapshot(system, system.state({}))
    solution = resolve(dynamics).require()
    np.testing.assert_allclose(solution.x, 0.0, atol=1e-14)
    np.testing.assert_allclose(solution.r, [A.mass * G], rtol=1e-13)


def test_joint_friction_stops_a_wheel():
    """Moment c against the turn: it stops after J w / c, having turned J w^2 / (2 c)."""
    system = _wheel(JointFriction(joint="axle", cap=0.6))
    run = simulate(system, system.state({}, {"a": (0, 0, 2.0)}), 1.5, stepper=MoreauJean(dt=1e-2))
    assert run.v[-1][2] == 0.0
    assert run.q[-1][2] == pytest.approx(0.3 * 4.0 / (2 * 0.6), abs=2e-2)


def test_motor_keeps_its_rate_and_a_weak_one_gets_there_in_time():
    strong = _wheel(Motor(joint="axle", rate=3.0))
    run = simulate(strong, strong.state({}), 0.1, stepper=MoreauJean(dt=1e-2))
    assert run.v[-1][2] == pytest.approx(3.0, rel=1e-12)
    weak = _wheel(Motor(joint="axle", rate=3.0, cap=0.5))
    run = simulate(weak, weak.state({}), 1.0, stepper=MoreauJean(dt=1e-2))
    assert run.v[-1][2] == pytest.approx(0.5 / 0.3, rel=1e-10)
    run = simulate(weak, weak.state({}), 3.0, stepper=MoreauJean(dt=1e-2))
    assert run.v[-1][2] == pytest.approx(3.0, rel=1e-12)


def test_pin_in_a_slot_is_a_bilateral_contact():
    slot = HalfPlane(name="slot", point=(0.1, 0.0), normal=(0.0, 1.0), body="b")
    pin = PlanarContact(point=TIP, plane=slot, bilateral=True)
    system = PlanarSystem(bodies=[A, B], contacts=[pin])
    (row,) = system.rows(0.0, np.zeros(6), np.zeros(6))
    assert (row.kind, row.gap) == ("bilateral", -0.1)
    assert row.between == ("a", "b")
    np.testing.assert_allclose(row.point, [0.5, -0.1])


# ---- welds


def test_weld_makes_one_body_of_two():
    """Two welded bodies fall and turn as one: the moment of a force off the centre, by the parallel axis theorem."""
    weld = Weld(name="seam", a=Marker("a", (1.0, 0.0)), b=Marker("b"), angle=-0.5)
    load = Load(point=Marker("a"), force_xy=(0.0, 6.0))
    system = PlanarSystem(bodies=[A, B], joints=[weld], forces=[load], gravity=(0.0, 0.0))
    state = system.state({"b": (1.0, 0.0, 0.5)})
    a = _accelerations(system, state)
    centre, mass = 1.0 / 3.0, 3.0
    J = A.inertia + A.mass * centre**2 + B.inertia + B.mass * (1.0 - centre) ** 2
    turn = -6.0 * centre / J
    np.testing.assert_allclose(a[[2, 5]], turn, rtol=1e-12)
    np.testing.assert_allclose(a[[1, 4]], [6.0 / mass - turn * centre, 6.0 / mass + turn * (1 - centre)], rtol=1e-12)


# ---- the N four-bar


@pytest.mark.parametrize("count", [1, 3])
def test_four_bars_move_as_one_pendulum(count):
    """All upright rods turn with p'' = -M g cos p / I, I = (N + 1) / 3 + N, M = (N + 1) / 2 + N, p from x."""
    system, state = four_bars(count)
    rows = system.rows(0.0, state.q, state.v)
    assert len(rows) == 2 * (3 * count + 1)
    np.testing.assert_allclose([row.gap for row in rows], 0.0, atol=1e-15)
    np.testing.assert_allclose(np.concatenate([row.rate for row in rows]), 0.0, atol=1e-15)
    inertia, weight = (count + 1) / 3 + count, (count + 1) / 2 + count
    slope = solve_ivp(
        lambda t, y: [y[1], -weight * G * math.cos(y[0]) / inertia],
        (0, 0.4),
        [math.pi / 2, -1.0],
        rtol=1e-11,
        atol=1e-11,
    )
    run = simulate(system, state, 0.4, stepper=MoreauJean(dt=1e-2))
    angles = [run.q[-1][system.index(f"v{k}", "angle")] for k in range(count + 1)]
    np.testing.assert_allclose(angles, slope.y[0, -1], atol=5e-4)


def test_four_bars_are_redundant_where_they_are_flat():
    system, _ = four_bars(3)
    place = {f"v{k}": (k + 0.5, 0.0, 0.0) for k in range(4)} | {f"h{k}": (k + 1.5, 0.0, 0.0) for k in range(3)}
    state = system.state(place)
    J = np.concatenate([row.J for row in system.rows(0.0, state.q, state.v)])
    assert len(J) == 20
    assert np.linalg.matrix_rank(J) == 17
    a = _accelerations(system, state)
    assert np.isfinite(a).all()


def test_spec_builds_the_same_linkage():
    parts = [
        HINGE, Hinge(name="hip", a=Marker("c"), b=fixed(0.0, 1.0)), Weld(name="seam", a=Marker("d"), b=fixed(0, 0)),
        Slider(name="rail", a=Marker("e"), b=Marker("c"), direction=(1.0, 2.0)), Limit(joint="rail", low=-1.0),
        Limit(joint="knee", high=1.0, eps_n=0.2), Motor(joint="hip", rate=1.0), JointFriction(joint="knee", cap=1.0),
        Gear(joint="knee", other="hip", ratio=2.0),
    ]  # fmt: skip
    bodies = [A, B, C, *(PlanarBody(name=name, mass=1.0, inertia=1.0) for name in "de")]
    system = PlanarSystem(bodies=bodies, joints=parts, forces=list(FORCES.values()))
    again = PlanarSystem.from_spec(json.loads(json.dumps(system.spec(), allow_nan=False)))
    assert again.spec() == system.spec()
    q, v = np.random.default_rng(3).normal(size=(2, 15))
    np.testing.assert_array_equal(again.force(0.3, q, v), system.force(0.3, q, v))
    for row, same in zip(system.rows(0.0, q, v), again.rows(0.0, q, v), strict=True):
        assert row.id == same.id
        np.testing.assert_array_equal(row.J, same.J)
    drawn = {shape["name"] for shape in system.drawables(q)}
    assert {"knee", "hip", "seam", "rail"} <= drawn


def test_coordinates_of_joints_are_asked_for_by_name():
    """An angle counts full turns; the travel is that along a line that turns with b's body, as is its rate."""
    rail = Slider(name="rail", a=Marker("c"), b=Marker("b", (0.2, 0.0)), direction=(0.0, 2.0))
    system = PlanarSystem(bodies=[A, B, C], joints=[HINGE, rail])
    place = {"a": (1.0, 2.0, 0.3), "b": (0.5, -0.4, 7.0), "c": (2.0, 1.0, 0.0)}
    speed = {"a": (0.0, 0.0, 1.5), "b": (0.1, 0.2, -0.5), "c": (-1.0, 0.7, 0.0)}
    state = system.state(place, speed)
    turn = system.coordinate("knee", state.q, state.v)
    assert (turn.value, turn.rate) == pytest.approx((0.3 - 7.0, 1.5 + 0.5), abs=1e-15)

    def travel(t):
        x, y, angle = np.array(place["b"]) + t * np.array(speed["b"])
        c, s = math.cos(angle), math.sin(angle)
        d = np.array(place["c"][:2]) + t * np.array(speed["c"][:2]) - (x + 0.2 * c, y + 0.2 * s)
        return d @ (-s, c)

    found = system.coordinate("rail", state.q, state.v)
    assert found.value == pytest.approx(travel(0.0), abs=1e-14)
    assert found.rate == pytest.approx((travel(1e-5) - travel(-1e-5)) / 2e-5, abs=1e-8)
    assert system.coordinate("rail", state.q).rate == 0.0


def _with(*joints, **options):
    bodies = [A, B, Point(name="p", mass=1.0)]
    return PlanarSystem(bodies=bodies, joints=joints, **options)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Hinge(name="knee", a=TIP, b=Marker("a")), "two different bodies"),
        (lambda: Hinge(name="a/b", a=TIP, b=HUB), "name of a joint"),
        (lambda: Hinge(name="knee", a="a", b=HUB), "a Marker"),
        (lambda: Slider(name="rail", a=TIP, b=HUB, direction=(0.0, 0.0)), "direction of rail"),
        (lambda: Slider(name="rail", a=TIP, b=HUB, angle=math.nan), "angle of rail"),
        (lambda: Weld(name="seam", a=TIP, b=HUB, angle=math.nan), "angle of seam"),
        (lambda: _with(Hinge(name="pin", a=Marker("q"), b=HUB)), "body of a marker"),
        (lambda: _with(Slider(name="pin", a=Marker("p"), b=HUB)), "A point mass has no angle"),
        (
            lambda: _with(Hinge(name="pin", a=Marker("p"), b=HUB), Motor(joint="pin", rate=1.0)),
            "point mass has no angle",
        ),
        (lambda: _with(HINGE, HINGE), "two called 'knee'"),
        (lambda: _with(HINGE, Limit(joint="kne", high=1.0)), "Did you mean knee"),
        (lambda: _with(HINGE, Motor(joint="knee", rate=1.0), Motor(joint="knee", rate=2.0)), "two called 'knee:motor'"),
        (lambda: _with(Weld(name="seam", a=TIP, b=HUB), Limit(joint="seam", high=1.0)), "a Hinge or a Slider"),
        (lambda: _with(HINGE, forces=[Drive(joint="hip", effort=1.0)]), "joint"),
        (lambda: _with("hinge"), "joints"),
        (lambda: _with(HINGE).coordinate("kne", np.zeros(8)), "Did you mean knee"),
        (lambda: _with(Weld(name="seam", a=TIP, b=HUB)).coordinate("seam", np.zeros(8)), "a Hinge or a Slider"),
        (lambda: Shaking(direction=(0.0, 0.0), amplitude=1.0, frequency=1.0), "direction of the shaking"),
        (lambda: Shaking(amplitude=-1.0, frequency=1.0), "amplitude of the shaking"),
        (lambda: Shaking(amplitude=1.0, frequency=-1.0), "frequency of the shaking"),
        (lambda: four_bars(0), "count"),
        (lambda: four_bars(2, length=0.0), "length"),
    ],
)
def test_bad_input_is_refused_in_words(build, message):
    with pytest.raises(InputError, match=message):
        build()
