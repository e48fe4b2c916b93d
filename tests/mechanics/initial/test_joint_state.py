"""States from angles and positions of joints: trees, closed loops, what cannot be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from joint_cases import ARM, CHAIN, CHAIN_RATES, SIDES, arm, chain, four_bar

from gaussdyn import InputError, PlanarSystem, SpatialSystem, State
from gaussdyn.mechanics import planar, spatial
from gaussdyn.mechanics.initial.consistent_state import violations


def free_of(system: PlanarSystem | SpatialSystem, state: State) -> dict[str, tuple[list[float], list[float]]]:
    """Return values and rates of all joints as runs read them."""
    readings = system.readings()
    names = [name.replace(":", ".") for name, _ in readings.more]
    angles = dict(zip(readings.winding, readings.angles(state.q, state.v)[0], strict=True)) if readings.angles else {}
    row = dict(zip(names, readings.read(state.t, state.q, state.v, {}, angles), strict=True))
    joints = system._linkage.joints if isinstance(system, PlanarSystem) else system._bonds.named
    found = {}
    for name, joint in joints.items():
        values = [row[f"{name}.{x}"] for x in joint.freedoms]
        rates = [row[f"{name}.{'_'.join(['rate', *x.split('_')[1:]])}"] for x in joint.freedoms]
        found[name] = values, rates
    return found


@pytest.mark.parametrize(
    ("system", "joints", "rates"),
    [(arm(), ARM, {"rail": 0.4, "shoulder": -1.2, "elbow": 2.0}), (chain(), CHAIN, CHAIN_RATES)],
    ids=["plane", "space"],
)
def test_a_tree_stands_as_its_joints_say(
    system: PlanarSystem | SpatialSystem, joints: dict[str, float], rates: dict[str, float]
) -> None:
    """What is asked for is what is read, full turns of planar hinges included, and every constraint holds."""
    state = system.state(joints=joints, rates=rates, t=2.0)
    assert state.t == 2.0
    assert violations(system, state, tol=1e-12) == ()
    found = free_of(system, state)
    for name, value in joints.items():
        assert found[name][0] == pytest.approx(np.atleast_1d(value), abs=1e-13)
        assert found[name][1] == pytest.approx(np.atleast_1d(rates[name]), abs=1e-12)


def test_rates_are_those_of_the_values() -> None:
    """A short way along the velocity changes every angle and position by dt times its rate."""
    for system, joints, rates in ((arm(), ARM, {"shoulder": 1.0, "rail": 0.3}), (chain(), CHAIN, CHAIN_RATES)):
        state, dt = system.state(joints=joints, rates=rates), 1e-6
        ends = [free_of(system, State(q=system.move(state.q, state.v, s), v=state.v)) for s in (-dt, dt)]
        for name, (_, rate) in free_of(system, state).items():
            if name != "knee":  # the rate of a ball is an angular velocity
                change = np.subtract(ends[1][name][0], ends[0][name][0]) / (2 * dt)
                assert change == pytest.approx(rate, abs=1e-8)


def test_a_planar_arm_by_hand() -> None:
    state = arm().state(joints={"rail": 0.2, "shoulder": math.pi / 2, "elbow": -math.pi / 2}, rates={"shoulder": 2.0})
    expected = [0.2, 1.0, 0.0, 0.2, 1.5, math.pi / 2, 0.7, 2.0, 0.0]
    assert state.q == pytest.approx(expected, abs=1e-15)
    assert state.v == pytest.approx([0, 0, 0, -1.0, 0, 2.0, -2.0, 1.0, 2.0], abs=1e-13)


def test_a_loop_closes_about_the_angle_that_is_given() -> None:
    system = four_bar()
    state = system.state(joints={"A": 1.1}, rates={"A": 2.0})
    assert violations(system, state, tol=1e-10) == ()
    crank, coupler, rocker = (state.q[system.index(name, "angle")] for name in SIDES)
    assert crank == pytest.approx(1.1, abs=1e-10)
    far = [
        SIDES["crank"] * np.exp(1j * crank) + SIDES["coupler"] * np.exp(1j * coupler),
        0.6 + SIDES["rocker"] * np.exp(1j * rocker),
    ]
    assert abs(far[0] - far[1]) < 1e-10
    assert state.v[system.index("crank", "angle")] == pytest.approx(2.0, abs=1e-10)
    line = np.angle(SIDES["crank"] * np.exp(1j * crank) - 0.6)  # it closes in two ways, mirror images in this line
    mirrored = {"crank": crank, "coupler": 2 * line - coupler, "rocker": 2 * line - rocker}
    other = system.state(joints={"A": 1.1}, near=system.state({name: (0, 0, x) for name, x in mirrored.items()}))
    assert [other.q[system.index(name, "angle")] for name in SIDES] == pytest.approx(list(mirrored.values()), abs=1e-9)


def test_a_loop_that_floats_stays_where_it_is_placed() -> None:
    bodies = [planar.box(name, mass=1.0, width=1.0, height=0.1) for name in "abcd"]
    joints = [
        planar.Hinge(name=f"h{k}", a=planar.Marker("bcda"[k], (-0.5, 0.0)), b=planar.Marker("abcd"[k], (0.5, 0.0)))
        for k in range(4)
    ]
    system = PlanarSystem(bodies=bodies, joints=joints)
    state = system.state({"a": (2.0, 3.0, 0.5)}, {"a": (1.0, 0.0, 0.3)}, joints={"h0": 1.0}, rates={"h0": 0.7})
    assert violations(system, state, tol=1e-10) == ()
    assert state.q[:3] == pytest.approx([2.0, 3.0, 0.5], abs=1e-14)
    assert state.v[:3] == pytest.approx([1.0, 0.0, 0.3], abs=1e-10)


def test_limits_gears_and_motors_have_their_say() -> None:
    limited = arm(planar.Limit(joint="elbow", low=0.5, high=1.0))
    assert limited.coordinate("elbow", limited.state(joints={"shoulder": 0.1}).q).value == pytest.approx(0.5)
    with pytest.raises(InputError, match=r"elbow:high: gap -0\.2"):
        limited.state(joints={"elbow": 1.2})
    geared = arm(planar.Gear(joint="elbow", other="shoulder", ratio=-3.0))
    state = geared.state(joints={}, rates={"shoulder": 1.0})
    assert geared.coordinate("elbow", state.q, state.v).rate == pytest.approx(-3.0)
    with pytest.raises(InputError, match=r"elbow~shoulder:gear"):
        geared.state(joints={}, rates={"shoulder": 1.0, "elbow": 1.0})
    driven = arm(planar.Motor(joint="elbow", rate=2.0))
    for rates, speed in (({}, 2.0), ({"elbow": 0.0}, 0.0)):
        state = driven.state(joints={}, rates=rates)
        assert driven.coordinate("elbow", state.q, state.v).rate == pytest.approx(speed, abs=1e-12)


def test_what_cannot_be_is_said() -> None:
    system = four_bar()
    with pytest.raises(InputError, match=r"A = 1, D = 3.*(?s:.*)near="):
        system.state(joints={"A": 1.0, "D": 3.0})
    with pytest.raises(InputError, match=r"A = 1, D = 50.*rates=\{\.\.\.\}"):
        system.state(joints={"A": 1.1}, rates={"A": 1.0, "D": 50.0})
    with pytest.raises(InputError, match=r"(?s)'Q'.*A, B, C, D"):
        system.state(joints={"Q": 1.0})
    with pytest.raises(InputError, match=r"joints of A \(angle\)"):
        system.state(joints={"A": (1.0, 2.0)})
    with pytest.raises(InputError, match=r"'crank'.*no joint connects"):
        system.state({"crank": (0, 0, 0)}, joints={"A": 1.0})
    with pytest.raises(InputError, match="Weld"):
        chain().state(joints={"seam": 0.0})
    with pytest.raises(InputError, match=r"the body 'crank'.*velocity=\{"):
        system.state(rates={"crank": (0.0, 0.0, 1.0)})
    with pytest.raises(InputError, match="q of near"):
        system.state(joints={"A": 1.0}, near=State(q=[0.0], v=[0.0]))


def test_point_masses_hang_in_hinges_without_an_angle() -> None:
    bob = planar.Point(name="bob", mass=1.0)
    rod = planar.box("rod", mass=1.0, width=1.0, height=0.1)
    joints = [
        planar.Hinge(name="pivot", a=planar.Marker("rod", (-0.5, 0.0)), b=planar.fixed(0.0, 0.0)),
        planar.Hinge(name="tip", a=planar.Marker("bob"), b=planar.Marker("rod", (0.5, 0.0))),
    ]
    system = PlanarSystem(bodies=[rod, bob], joints=joints)
    state = system.state(joints={"pivot": math.pi / 2}, rates={"pivot": 1.0})
    assert state.q[3:] == pytest.approx([0.0, 1.0], abs=1e-15)
    assert state.v[3:] == pytest.approx([-1.0, 0.0], abs=1e-13)
    with pytest.raises(InputError, match="joints of tip"):
        system.state(joints={"tip": 1.0})


def test_spatial_loop_closes() -> None:
    """A four-bar in space, with a ball and a universal joint in place of two hinges, stands as the one in the plane."""
    half = {name: 0.5 * size for name, size in SIDES.items()}
    bodies = [spatial.brick(name, mass=1.0, half=(size, 0.02, 0.02)) for name, size in half.items()]

    def end(name: str, side: int) -> dict[str, object]:
        """The near (-1) or far (1) end of a bar."""
        return {"body": name, "at": (side * half[name], 0.0, 0.0)}

    upright = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)  # y of the marker is z of the body
    joints = [
        spatial.Hinge(name="A", a=spatial.SpatialMarker(**end("crank", -1)), b=spatial.mark("ground")),
        spatial.Hinge(name="D", a=spatial.SpatialMarker(**end("rocker", -1)), b=spatial.mark("ground", (0.6, 0, 0))),
        spatial.BallJoint(
            name="B", a=spatial.SpatialMarker(**end("coupler", -1)), b=spatial.SpatialMarker(**end("crank", 1))
        ),
        spatial.Universal(
            name="C",
            a=spatial.SpatialMarker(**end("coupler", 1)),
            b=spatial.SpatialMarker(**end("rocker", 1), turn=upright),
        ),
    ]
    system = SpatialSystem(bodies=bodies, joints=joints)
    state = system.state(joints={"A": 1.1}, rates={"A": 2.0})
    assert violations(system, state, tol=1e-9) == ()
    assert system.coordinate("A", state.q, state.v).value == pytest.approx(1.1, abs=1e-12)
    turn = system.coordinate("D", state.q, state.v)
    flat = four_bar().state(joints={"A": 1.1, "D": turn.value}, rates={"A": 2.0})
    assert turn.rate == pytest.approx(flat.v[8], abs=1e-9)
