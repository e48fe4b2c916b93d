"""Bodies and joints in space in motion, against scipy's integrators, conservation laws and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import first
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from spatial_cases import rotation_of, wxyz

from gaussdyn import InputError, MoreauJean, State, simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.joints.limits_motors import Gear, JointFriction, Limit, Motor
from gaussdyn.mechanics.spatial.bodies import SpatialBody, ball, brick
from gaussdyn.mechanics.spatial.joints import BallJoint, Hinge, Slider, Universal, Weld
from gaussdyn.mechanics.spatial.kinematics import mark
from gaussdyn.mechanics.spatial.links import Rod
from gaussdyn.mechanics.spatial.system import SpatialSystem

TOP = SpatialBody(name="top", mass=2.0, inertia=[0.3, 0.4, 0.6])
ARM = np.array([0.1, -0.2, 0.8])  # from the mass centre to the pivot, body axes
G = 9.81


def run(system, state, t_end, dt):
    result = simulate(system, state, t_end, stepper=MoreauJean(dt=dt))
    assert result.status == "COMPLETED"
    return result


def columns(result, letter, count):
    return np.stack([result[f"{letter}{k}"] for k in range(count)], axis=1)


def test_a_free_body_keeps_energy_and_angular_momentum():
    system = SpatialSystem(bodies=[TOP], gravity=(0, 0, 0))
    result = run(system, system.state({}, {"top": (1, 2, 3, 0.1, 4.0, 0.2)}), 2.0, 0.01)
    q, v, J = columns(result, "q", 7), columns(result, "v", 6), np.array(TOP.inertia)
    momentum = [rotation_of(x[3:]).apply(J @ w[3:]) for x, w in zip(q, v, strict=True)]
    energy = np.einsum("ki,ij,kj->k", v[:, 3:], J, v[:, 3:])
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(q), 1)), atol=1e-12)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-12)
    np.testing.assert_allclose(v[:, :3], np.tile([1.0, 2.0, 3.0], (len(q), 1)), atol=1e-15)
    assert np.ptp(v[:, 3]) > 1.0  # it does tumble


def top_by_scipy(t_end, w0):
    """A heavy body about a fixed pivot: Euler's equations about the pivot, attitude as a matrix."""
    s = -ARM  # mass centre from the pivot
    J = np.array(TOP.inertia) + TOP.mass * (s @ s * np.eye(3) - np.outer(s, s))

    def rates(t, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        moment = np.cross(s, R.T @ np.array([0.0, 0.0, -TOP.mass * G]))
        skew = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([(R @ skew).ravel(), np.linalg.solve(J, moment - np.cross(w, J @ w))])

    y = solve_ivp(rates, (0.0, t_end), [*np.eye(3).ravel(), *w0], rtol=1e-11, atol=1e-12).y[:, -1]
    return y[:9].reshape(3, 3), y[9:]


def test_a_pendulum_on_a_ball_joint_follows_eulers_equations_with_order_two():
    w0 = np.array([1.0, 2.0, -3.0])
    R, w = top_by_scipy(1.0, w0)
    joint = BallJoint(name="pivot", a=mark("top", ARM), b=mark("ground"))
    system = SpatialSystem(bodies=[TOP], joints=[joint])
    start = system.state({"top": -ARM}, {"top": (*np.cross(w0, -ARM), *w0)})
    errors = []
    for dt in (0.02, 0.01):
        result = run(system, start, 1.0, dt)
        q, v = columns(result, "q", 7)[-1], columns(result, "v", 6)[-1]
        errors.append(np.linalg.norm(rotation_of(q[3:]).as_matrix() - R) + np.linalg.norm(v[3:] - w))
        np.testing.assert_allclose(q[:3] + rotation_of(q[3:]).apply(ARM), 0.0, atol=2.0 * dt**2)
    assert errors[1] < 0.02
    assert 3.5 < errors[0] / errors[1] < 4.5


@pytest.mark.parametrize("direction", first(1, [0.5, 0.0]))
def test_a_pendulum_on_a_hinge_follows_its_equation(direction):
    """About a horizontal axis n: (n.J n + m l^2) theta'' = -m g l sin(theta) - c theta'."""
    length, c = 0.7, 0.3
    n = np.array([math.sin(direction), math.cos(direction), 0.0])
    hinge = Hinge(name="pivot", a=mark("top", (0, 0, length), axis=n), b=mark("ground", axis=n))
    system = SpatialSystem(bodies=[TOP], joints=[hinge], forces=[Drive(joint="pivot", damping=c)])
    R = Rotation.from_rotvec(n)
    result = run(system, system.state({"top": (*R.apply((0, 0, -length)), *wxyz(R))}), 1.0, 0.005)
    total = n @ np.array(TOP.inertia) @ n + TOP.mass * length**2
    exact = solve_ivp(
        lambda t, y: [y[1], (-TOP.mass * G * length * math.sin(y[0]) - c * y[1]) / total], (0, 1), [1.0, 0.0],
        rtol=1e-11, atol=1e-12,
    ).y[:, -1]  # fmt: skip
    q, v = columns(result, "q", 7)[-1], columns(result, "v", 6)[-1]
    angle = system.coordinate("pivot", q, v)
    assert angle.value == pytest.approx(exact[0], abs=1e-4)
    assert angle.rate == pytest.approx(exact[1], abs=2e-4)
    assert result["energy_error"][-1] == pytest.approx(0.0, abs=1e-6)


def wheels(*parts, forces=()):
    """Two wheels, moments of inertia 0.5 and 0.2, on parallel axes that stand upright."""
    bodies = [SpatialBody(name=name, mass=1.0, inertia=[1.0, 1.0, J]) for name, J in (("big", 0.5), ("small", 0.2))]
    hinges = [Hinge(name=f"axle_{k}", a=mark(k), b=mark("ground", (x, 0, 0))) for k, x in (("big", 0), ("small", 1))]
    return SpatialSystem(bodies=bodies, joints=[*hinges, *parts], forces=forces)


def test_a_gear_shares_the_moment_of_a_drive():
    """small = -2 big: the drive's 3 N m on the small wheel see 0.2 + 0.5 / 4 kg m^2, and the angles wind."""
    gear, drive = Gear(joint="axle_small", other="axle_big", ratio=-2.0), Drive(joint="axle_small", effort=3.0)
    system = wheels(gear, forces=[drive])
    result = run(system, system.state({"small": (1, 0, 0)}), 2.0, 0.01)
    v = columns(result, "v", 12)
    rate = 3.0 / (0.2 + 0.5 / 4.0) * result["t"]
    np.testing.assert_allclose(v[:, 11], rate, atol=1e-11)
    np.testing.assert_allclose(v[:, 5], -0.5 * rate, atol=1e-11)


def test_a_motor_turns_a_gear_at_its_rate_or_with_its_moment():
    gear = Gear(joint="axle_small", other="axle_big", ratio=-2.0)
    system = wheels(gear, Motor(joint="axle_small", rate=4.0))
    v = columns(run(system, system.state({"small": (1, 0, 0)}), 0.05, 0.01), "v", 12)[-1]
    np.testing.assert_allclose(v[[5, 11]], [-2.0, 4.0], atol=1e-12)
    system = wheels(gear, Motor(joint="axle_small", rate=4.0, cap=1.3))
    result = run(system, system.state({"small": (1, 0, 0)}), 1.5, 0.01)
    np.testing.assert_allclose(columns(result, "v", 12)[:, 11], np.minimum(4.0 * result["t"], 4.0), atol=1e-10)


@pytest.mark.parametrize("dt", [0.02, 0.01])
def test_a_motor_starts_a_cardan_shaft_by_an_impulse(dt):
    """Out of rest, so that no speed is known before; tan(out) = cos(bend) tan(in), three joints closed with ground."""
    bend, rate = 0.5, 2.0
    axis = np.array([math.sin(bend), 0.0, math.cos(bend)])
    centre = np.array([0.0, 0.0, 0.5])
    shafts = [SpatialBody(name=name, mass=1.0, inertia=[0.01, 0.01, 0.02]) for name in ("in", "out")]
    joints = [
        Hinge(name="front", a=mark("in", (0, 0, -0.5)), b=mark("ground", (0, 0, -0.5), name="front")),
        Universal(name="cross", a=mark("out", (0, 0, -0.5)), b=mark("in", (0, 0, 0.5))),
        Hinge(name="back", a=mark("out", (0, 0, 0.5)), b=mark("ground", centre + axis, axis=axis, name="back")),
        Motor(joint="front", rate=rate),
    ]  # fmt: skip
    system = SpatialSystem(bodies=shafts, joints=joints, gravity=(0, 0, 0))
    turned = (math.cos(bend / 2), 0.0, math.sin(bend / 2), 0.0)
    result = run(system, system.state({"in": (0, 0, 0), "out": (*(centre + 0.5 * axis), *turned)}), 10 * dt, dt)
    q, v = result.q[-1], result.v[-1]
    first, last = system.coordinate("front", q, v), system.coordinate("back", q, v)
    assert first.rate == pytest.approx(rate, rel=1e-12)
    assert first.value == pytest.approx(9.5 * rate * dt, abs=rate * dt)  # an impulse begins anywhere in its step
    c, s = math.cos(first.value), math.sin(first.value)
    assert last.value == pytest.approx(math.atan2(math.cos(bend) * s, c), abs=1e-9)
    assert last.rate == pytest.approx(rate * math.cos(bend) / (c * c + (math.cos(bend) * s) ** 2), rel=1e-9)


def test_dry_friction_stops_a_wheel_and_holds_it():
    system = wheels(JointFriction(joint="axle_big", cap=0.25), forces=[Drive(joint="axle_big", effort=0.1)])
    result = run(system, system.state({"small": (1, 0, 0)}, {"big": (0, 0, 0, 0, 0, 1.0)}), 5.0, 0.02)
    rate = np.maximum(1.0 - (0.25 - 0.1) / 0.5 * result["t"], 0.0)
    np.testing.assert_allclose(columns(result, "v", 12)[:, 5], rate, atol=5e-3)
    assert abs(columns(result, "v", 12)[-1, 5]) < 1e-15


def test_a_wheel_on_a_tilted_axle_comes_to_rest_and_what_rounding_leaves_of_its_motion_is_gone():
    axis = np.random.default_rng(0).normal(size=3)
    axis /= np.linalg.norm(axis)
    axle = Hinge(name="axle", a=mark("wheel", axis=axis), b=mark("ground", axis=axis))
    wheel = SpatialBody(name="wheel", mass=1.0, inertia=[0.1, 0.1, 0.1])
    system = SpatialSystem(bodies=[wheel], joints=[axle, JointFriction(joint="axle", cap=0.3)])
    result = run(system, system.state({"wheel": (0, 0, 0)}, {"wheel": (0, 0, 0, *(2.0 * axis))}), 1.2, 0.01)
    moving = result["t"] < 0.66
    np.testing.assert_allclose(result.v[moving, 3:] @ axis, 2.0 - 3.0 * result["t"][moving], atol=1e-13)
    assert not result.v[-1].any()
    assert not np.any(result["axle:dry.r_T"][-1])


def test_a_slider_bounces_on_its_limit():
    """Falls 1 m, bounces with e = 0.5 to 0.25 m, and comes to rest on the stop."""
    slider = Slider(name="rail", a=mark("block"), b=mark("ground"))
    stop = Limit(joint="rail", low=0.0, eps_n=0.5)
    system = SpatialSystem(bodies=[brick("block", mass=3.0, half=(0.1, 0.2, 0.3))], joints=[slider, stop])
    dt, e = 4e-3, 0.5
    result = run(system, system.state({"block": (0, 0, 1.0)}), 1.6, dt)
    z, t = result["q2"], result["t"]
    fall = math.sqrt(2.0 / G)
    after = (t > fall + 2 * dt) & (t < fall * 1.9)
    late = (1.0 + 1.5 * e * e) * G * fall * dt  # an impact is seen up to one step late
    assert z[after].max() == pytest.approx(0.25, abs=late)
    assert abs(z[-1]) < G * fall * dt
    assert abs(result["v2"][-1]) < 1e-12
    assert result["q3"][-1] == 1.0


@pytest.mark.parametrize("kind", [BallJoint, Hinge, Universal, Slider, Weld])
def test_joints_of_free_pairs_keep_momentum(kind):
    """Two bodies that only their joint forces: linear momentum exactly, energy to rounding, angular to order two."""
    one, two = brick("a", mass=1.0, half=(0.5, 0.1, 0.2)), brick("b", mass=2.0, half=(0.3, 0.2, 0.1))
    joint = kind(name="j", a=mark("a", (0.5, 0, 0)), b=mark("b", (-0.3, 0, 0)))
    system = SpatialSystem(bodies=[one, two], joints=[joint], gravity=(0, 0, 0))
    rng, M = np.random.default_rng(3), system.mass(np.zeros(14))
    q = system.state({"a": (-0.5, 0, 0), "b": (0.3, 0, 0)}).q
    J = np.vstack([row.J for row in system.rows(0.0, q, np.zeros(12))])
    v = rng.normal(size=12)
    v -= np.linalg.solve(M, J.T @ np.linalg.solve(J @ np.linalg.solve(M, J.T), J @ v))
    state = system.state({"a": (-0.5, 0, 0), "b": (0.3, 0, 0)}, {"a": v[:6], "b": v[6:]})
    drift = []
    for dt in (0.01, 0.005):
        result = run(system, state, 0.5, dt)
        Q, V = columns(result, "q", 14), columns(result, "v", 12)
        np.testing.assert_allclose(
            1.0 * V[:, :3] + 2.0 * V[:, 6:9], np.tile(v[:3] + 2 * v[6:9], (len(V), 1)), atol=1e-12
        )
        angular = [momentum(M, x, u) for x, u in zip(Q, V, strict=True)]
        drift.append(np.linalg.norm(np.array(angular) - angular[0], axis=1).max())
        gaps = [row.gap for row in system.rows(0.0, Q[-1], V[-1])]
        assert np.abs(gaps).max() < 3.0 * dt**2
        np.testing.assert_allclose([row.rate[0] for row in system.rows(0.0, Q[-1], V[-1])], 0.0, atol=1e-11)
    assert drift[1] < 1e-3
    assert drift[1] < 0.3 * drift[0] + 1e-12


def momentum(M, q, v):
    """Angular momentum about the origin."""
    total = np.zeros(3)
    for k in range(2):
        p = M[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] @ v[6 * k : 6 * k + 6]
        total += np.cross(q[7 * k : 7 * k + 3], p[:3]) + rotation_of(q[7 * k + 3 : 7 * k + 7]).apply(p[3:])
    return total


def test_a_block_swings_on_a_rod_and_another_rests_on_the_floor():
    bodies = [brick("bob", mass=1.0, half=(0.1, 0.1, 0.1)), brick("block", mass=1.0, half=(0.2, 0.2, 0.2))]
    system = SpatialSystem(
        bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.3),
        joints=[Rod(a=mark("bob"), b=mark("ground", (0, 0, 3)), length=1.0)],
    )  # fmt: skip
    result = run(system, system.state({"bob": (1, 0, 3), "block": (0, 0, 0.2)}, {"bob": (0, 1, 0)}), 0.5, 0.01)
    q = columns(result, "q", 14)
    np.testing.assert_allclose(np.linalg.norm(q[:, :3] - np.array([0, 0, 3]), axis=1), 1.0, atol=1e-3)
    np.testing.assert_allclose(q[-1, 7:], [0, 0, 0.2, 1, 0, 0, 0], atol=1e-12)


def test_the_same_run_twice_is_bitwise_the_same():
    system = SpatialSystem(bodies=[TOP], joints=[BallJoint(name="pivot", a=mark("top", ARM), b=mark("ground"))])
    runs = [run(system, system.state({"top": -ARM}), 0.1, 0.01) for _ in range(2)]
    assert runs[0].state_hash == runs[1].state_hash


@pytest.mark.parametrize("length", [0.0, 0.9])
def test_a_state_whose_quaternion_has_another_length_is_refused(length):
    system = SpatialSystem(bodies=[ball("ball", mass=1.0, radius=0.1)])
    q = np.array([0.0, 0.0, 1.0, length, 0.0, 0.0, 0.0])
    with pytest.raises(InputError, match="quaternions of length one"):
        simulate(system, State(q=q, v=np.zeros(6)), 0.1)
