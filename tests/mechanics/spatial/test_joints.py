"""Rows of joints in space: rates and drifts against differences along motions, reactions against statics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import examples
from scipy.spatial.transform import Rotation
from spatial_cases import KINDS, A, B, Flight, all_joints, coinciding, random_marker, rotation_of, slope, wxyz

from gaussdyn import check_system
from gaussdyn.errors import InputError
from gaussdyn.mechanics.joints.limits_motors import Gear, JointFriction, Limit, Motor
from gaussdyn.mechanics.spatial.joints import BallJoint, Hinge, Joint, Slider, Universal, Weld
from gaussdyn.mechanics.spatial.kinematics import Motions, SpatialMarker, mark
from gaussdyn.mechanics.spatial.links import Rod, String
from gaussdyn.mechanics.spatial.system import SpatialSystem

SIZES = {BallJoint: 3, Hinge: 5, Universal: 4, Slider: 5, Weld: 6}


def by_id(system, q, v, t=0.0):
    return {row.id: row for row in system.rows(t, q, v)}


@pytest.mark.drawn
@pytest.mark.parametrize("second", ["b", "ground"])
def test_rates_and_drifts_are_derivatives_along_the_motion(second):
    for seed in range(examples(6, fast=1)):
        check_rates_and_drifts_are_derivatives_along_the_motion(seed, second)


def check_rates_and_drifts_are_derivatives_along_the_motion(seed, second):
    system, flight = SpatialSystem(bodies=[A, B], joints=all_joints(seed, second=second)), Flight(seed)
    rows = by_id(system, flight.q(0.0), flight.v(0.0))
    assert len(rows) == 23 + 2 + 4 + 2 + 1 + 1
    for name, row in rows.items():
        if row.level == "position" and row.kind != "dry":
            change = slope(lambda t, name=name: by_id(system, flight.q(t), flight.v(t))[name].gap)
            assert row.rate[0] == pytest.approx(change, rel=1e-8, abs=1e-8), name
        bend = slope(lambda t, name=name: by_id(system, flight.q(t), flight.v(t))[name].rate)
        np.testing.assert_allclose(row.J @ flight.a + row.drift, bend, rtol=1e-7, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("second", ["b", "ground"])
def test_what_a_run_reads_of_a_ball_joint_is_the_turn_between_its_markers(second):
    rng, flight = np.random.default_rng(4), Flight(3)
    joint = BallJoint(name="ball", a=random_marker(rng, "a"), b=random_marker(rng, second))
    system = SpatialSystem(bodies=[A, B], joints=[joint])
    motion = Motions(system.layout, 0.0, flight.q(0.0), flight.v(0.0))
    x, rate = joint.readings(motion)
    one, other = motion(joint.a), motion(joint.b)
    np.testing.assert_allclose(x, Rotation.from_matrix(other.R.T @ one.R).as_rotvec(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(rate, other.R.T @ (one.omega - other.omega), rtol=0, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_check_system_finds_nothing(seed):
    report = check_system(SpatialSystem(bodies=[A, B], joints=all_joints(seed)), samples=1, seed=seed)
    assert report.ok, report


@pytest.mark.drawn
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_that_fits_is_at_zero_and_its_reactions_balance(kind):
    for seed in range(examples(3, fast=1)):
        check_a_joint_that_fits_is_at_zero_and_its_reactions_balance(kind, seed)


def check_a_joint_that_fits_is_at_zero_and_its_reactions_balance(kind, seed):
    """Action is reaction: no net force, and no net moment about the origin."""
    rng, flight = np.random.default_rng(seed), Flight(seed)
    q = flight.q(0.0)
    a, b = coinciding(rng, q)
    system = SpatialSystem(bodies=[A, B], joints=[kind(name="j", a=a, b=b)])
    rows = system.rows(0.0, q, np.zeros(12))
    assert len(rows) == SIZES[kind]
    np.testing.assert_allclose([row.gap for row in rows], 0.0, atol=1e-14)
    assert np.linalg.matrix_rank(np.vstack([row.J for row in rows])) == SIZES[kind]
    for row in rows:
        force, moment = net_wrench(row.J[0], q)
        np.testing.assert_allclose(force, 0.0, atol=1e-14)
        np.testing.assert_allclose(moment, 0.0, atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_reactions_of_links_and_parts_balance_everywhere(seed):
    system, q = SpatialSystem(bodies=[A, B], joints=all_joints(seed)), Flight(seed).q(0.0)
    for name, row in by_id(system, q, np.zeros(12)).items():
        if name[0] in "aS" or ":turn" in name or ":tilt" in name or ":cross" in name or "~" in name:
            force, moment = net_wrench(row.J[0], q)
            np.testing.assert_allclose(force, 0.0, atol=1e-14, err_msg=name)
            np.testing.assert_allclose(moment, 0.0, atol=1e-13, err_msg=name)


def net_wrench(J, q):
    """Force and moment about the origin of the generalised force J of two bodies."""
    force, moment = np.zeros(3), np.zeros(3)
    for k in range(2):
        F, R = J[6 * k : 6 * k + 3], rotation_of(q[7 * k + 3 : 7 * k + 7])
        force += F
        moment += np.cross(q[7 * k : 7 * k + 3], F) + R.apply(J[6 * k + 3 : 6 * k + 6])
    return force, moment


@pytest.mark.parametrize(
    ("kind", "motion", "free"),
    [
        (BallJoint, (0, 0, 0, 0.3, 0.2, -0.4), True),
        (BallJoint, (0.1, 0, 0, 0, 0, 0), False),
        (Hinge, (0, 0, 0, 0, 0, 0.7), True),
        (Hinge, (0, 0, 0, 0.2, 0, 0), False),
        (Hinge, (0, 0, 0.1, 0, 0, 0), False),
        (Universal, (0, 0, 0, 0, 0.5, 0), True),
        (Universal, (0, 0, 0, 0, 0, 0.2), False),
        (Slider, (0, 0, 0.6, 0, 0, 0), True),
        (Slider, (0, 0, 0, 0, 0, 0.2), False),
        (Slider, (0, 0.1, 0, 0, 0, 0), False),
        (Weld, (0, 0, 0.1, 0, 0, 0), False),
        (Weld, (0, 0, 0, 0, 0, math.pi), False),
        (Slider, (0, 0, 0, math.pi, 0, 0), False),
    ],
)
def test_what_a_joint_allows(kind, motion, free):
    """Moves marker a against marker b, which stands in space at an odd place."""
    rng = np.random.default_rng(1)
    base, own = random_marker(rng, "ground"), random_marker(rng, "a")
    Rb, Ra = rotation_of(base.turn), rotation_of(own.turn)
    frame = Rb * Rotation.from_rotvec(motion[3:])
    R = frame * Ra.inv()
    x = np.array(base.at) + Rb.apply(motion[:3]) - R.apply(own.at)
    system = SpatialSystem(bodies=[A], joints=[kind(name="j", a=own, b=base)])
    state = system.state({"a": (*x, *wxyz(R))})
    worst = max(abs(row.gap) for row in system.rows(0.0, state.q, state.v))
    assert (worst < 1e-14) == free


def test_universal_joint_turns_about_y_of_b_and_x_of_a():
    joint = Universal(name="j", a=mark("a"), b=mark("ground"))
    system = SpatialSystem(bodies=[A], joints=[joint])
    R = Rotation.from_euler("YX", [0.7, -0.4])
    state = system.state({"a": (0, 0, 0, *wxyz(R))})
    assert max(abs(row.gap) for row in system.rows(0.0, state.q, state.v)) < 1e-15


@pytest.mark.parametrize("angle", [-3.0, -1.0, 0.0, 0.5, 2.0, 3.1])
def test_angle_and_limits_of_a_hinge(angle):
    """The limits 2 and 4 stand on both sides of pi: the angle is taken near their middle."""
    limit = Limit(joint="j", low=2.0, high=4.0)
    system = SpatialSystem(bodies=[A], joints=[Hinge(name="j", a=mark("a"), b=mark("ground")), limit])
    state = system.state({"a": (0, 0, 0, math.cos(angle / 2), 0, 0, math.sin(angle / 2))}, {"a": (0, 0, 0, 0, 0, 0.7)})
    assert system.coordinate("j", state.q, state.v).value == pytest.approx(angle, abs=1e-15)
    assert system.coordinate("j", state.q, state.v).rate == pytest.approx(0.7)
    rows = by_id(system, state.q, state.v)
    near = angle if angle > 3.0 - math.pi else angle + 2 * math.pi
    assert rows["j:low"].gap == pytest.approx(near - 2.0)
    assert rows["j:high"].gap == pytest.approx(4.0 - near)
    assert (rows["j:low"].rate[0], rows["j:high"].rate[0]) == pytest.approx((0.7, -0.7))


def test_travel_of_a_slider_along_its_axis():
    a, b = mark("a", (1, 0, 0), axis=(0, 1, 0)), mark("ground", (0, 0, 2), axis=(0, 1, 0))
    system = SpatialSystem(bodies=[A], joints=[Slider(name="j", a=a, b=b), Limit(joint="j", high=1.0)])
    state = system.state({"a": (-1, 3, 2)}, {"a": (0, 0.5, 0)})
    assert system.coordinate("j", state.q, state.v).value == pytest.approx(3.0)
    rows = by_id(system, state.q, state.v)
    assert max(abs(rows[f"j:{part}"].gap) for part in Slider.parts) < 1e-15
    assert (rows["j:high"].gap, rows["j:high"].rate[0]) == pytest.approx((-2.0, -0.5))
    assert "j:low" not in rows


def test_parts_carry_their_data():
    hinge = Hinge(name="h", a=mark("a"), b=mark("ground"))
    slider = Slider(name="s", a=mark("b"), b=mark("ground"))
    parts = [JointFriction(joint="h", cap=2.0, cap_s=3.0), Motor(joint="s", rate=0.3, cap=5.0)]
    parts += [Motor(joint="h", rate=0.2), Gear(joint="h", other="s", ratio=-2.0)]
    system = SpatialSystem(bodies=[A, B], joints=[hinge, slider, *parts])
    v = np.arange(12.0)
    rows = by_id(system, system.state({}).q, v)
    assert (rows["h:dry"].kind, rows["h:dry"].cap, rows["h:dry"].cap_s) == ("dry", 2.0, 3.0)
    assert (rows["s:motor"].kind, rows["s:motor"].cap, rows["s:motor"].rate[0]) == ("dry", 5.0, 8.0 - 0.3)
    assert (rows["h:motor"].level, rows["h:motor"].rate[0]) == ("velocity", 5.0 - 0.2)
    assert (rows["h~s:gear"].level, rows["h~s:gear"].rate[0]) == ("velocity", 5.0 + 2.0 * 8.0)


def test_bad_joints_are_refused():
    with pytest.raises(InputError, match="both on 'a'"):
        Hinge(name="h", a=mark("a"), b=mark("a", (1, 0, 0)))
    with pytest.raises(InputError, match="name of a joint"):
        Weld(name="a/b", a=mark("a"), b=mark("b"))
    with pytest.raises(InputError, match="less than a turn"):
        SpatialSystem(
            bodies=[A], joints=[Hinge(name="h", a=mark("a"), b=mark("ground")), Limit(joint="h", low=0.0, high=7.0)]
        )
    ball = BallJoint(name="j", a=mark("a"), b=mark("ground"))
    with pytest.raises(InputError, match="BallJoint"):
        SpatialSystem(bodies=[A], joints=[ball, JointFriction(joint="j", cap=1.0)])
    hinge = Hinge(name="elbow", a=mark("a"), b=mark("ground"))
    with pytest.raises(InputError, match=r"'elbo'.*Did you mean elbow"):
        SpatialSystem(bodies=[A], joints=[hinge, Motor(joint="elbo", rate=1.0)])
    with pytest.raises(InputError, match="two rows called 'a~ground'"):
        SpatialSystem(bodies=[A], joints=[kind(a=mark("a"), b=mark("ground"), length=1.0) for kind in (Rod, String)])
    with pytest.raises(InputError, match="body of a marker"):
        SpatialSystem(bodies=[A], joints=[Weld(name="w", a=mark("a"), b=mark("c"))])
    with pytest.raises(InputError, match="joints"):
        SpatialSystem(bodies=[A], joints=[Joint(name="w", a=mark("a"), b=mark("ground"))])
    with pytest.raises(InputError, match="low < high"):
        Limit(joint="h", low=1.0, high=0.0)
    with pytest.raises(InputError, match="low < high"):
        Limit(joint="h")
    with pytest.raises(InputError, match="unit quaternion"):
        SpatialMarker("a", (0, 0, 0), (1.0, 0.1, 0.0, 0.0))
    with pytest.raises(InputError, match="length of"):
        Rod(a=mark("a"), b=mark("b"), length=0.0)


def test_a_string_whose_ends_coincide_hangs_loose():
    system = SpatialSystem(bodies=[A], joints=[String(a=mark("a"), b=mark("ground"), length=2.0)])
    (row,) = system.rows(0.0, system.state({}).q, np.ones(6))
    assert row.gap == 2.0
    assert np.isfinite(row.J).all()
    assert np.isfinite(row.drift).all()


def test_strings_of_the_same_ends_have_names():
    strings = [
        String(name=name, a=mark("a"), b=mark("ground", (0, y, 1)), length=2.0)
        for name, y in (("left", -1), ("right", 1))
    ]
    system = SpatialSystem(bodies=[A], joints=strings)
    assert [row.id for row in system.rows(0.0, system.state({}).q, np.zeros(6))] == ["left", "right"]
    assert SpatialSystem.from_spec(system.spec()).spec() == system.spec()
    with pytest.raises(InputError, match=r'two rows called .* Write name="left_knee"'):
        SpatialSystem(
            bodies=[A], joints=[String(a=mark("a"), b=mark("ground", (0, y, 1)), length=2.0) for y in (-1, 1)]
        )
