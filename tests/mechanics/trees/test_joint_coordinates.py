"""Bodies held by joints and the tree of the same joints: states there and back, the same motion, the same reactions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gaussdyn
from gaussdyn import ContactLaw, EventDriven, InputError, MoreauJean, SpatialSystem
from gaussdyn.linalg.rotations import exponential
from gaussdyn.mechanics import spatial
from gaussdyn.mechanics.trees import JointCoordinates, in_joint_coordinates

RNG = np.random.default_rng(7)


def marker(body: str) -> spatial.SpatialMarker:
    at, turn = RNG.normal(size=3), exponential(RNG.normal(size=3))
    return spatial.SpatialMarker(body, tuple(0.3 * at), tuple(turn))


def mechanism(*joints: spatial.Joint, floor: bool = False) -> SpatialSystem:
    """Bodies base, one, two, .. of different inertias."""
    names = dict.fromkeys(marker.body for joint in joints for marker in (joint.a, joint.b))
    bodies = [
        spatial.SpatialBody(name=name, mass=1.0 + k, inertia=(0.1, 0.15, 0.2),
                            shapes=(spatial.Sphere(radius=0.1),) if floor else ())
        for k, name in enumerate(name for name in names if name != "ground")
    ]  # fmt: skip
    obstacles = [spatial.HalfSpace(name="floor", point=(0, 0, -1.0))] if floor else []
    return SpatialSystem(bodies=bodies, joints=joints, obstacles=obstacles, contact=ContactLaw(mu=0.5))


def pair(kind: type, a: str, b: str) -> spatial.Joint:
    return kind(name=f"{a}_{b}", a=marker(a), b=marker(b))


CASES = {
    "hinges_and_sliders": mechanism(
        pair(spatial.Hinge, "one", "base"), pair(spatial.Slider, "one", "two"), pair(spatial.Slider, "three", "two"),
        pair(spatial.Hinge, "three", "four"),
    ),
    "balls_and_crosses": mechanism(
        pair(spatial.BallJoint, "one", "ground"), pair(spatial.Universal, "one", "two"),
        pair(spatial.Universal, "three", "two"), pair(spatial.BallJoint, "three", "four"),
        pair(spatial.Weld, "four", "five"), pair(spatial.Weld, "six", "five"),
    ),
}  # fmt: skip


def random_state(pair: JointCoordinates) -> gaussdyn.State:
    tree, rng = pair.system, np.random.default_rng(1)
    state = tree.state()
    return gaussdyn.State(q=tree.move(state.q, rng.normal(size=tree.nv), 0.5), v=rng.normal(size=tree.nv))


@pytest.mark.parametrize("name", CASES)
def test_states_go_there_and_back(name: str) -> None:
    system = CASES[name]
    pair = in_joint_coordinates(system)
    state = random_state(pair)
    there = pair.back(state)
    rows = system.rows(0.0, there.q, there.v)
    assert max(abs(row.gap) for row in rows) < 1e-13
    assert max(np.abs(row.J @ there.v).max() for row in rows) < 1e-13
    again = pair.state(there)
    assert pair.back(again).q == pytest.approx(there.q, abs=1e-13)
    assert again.v == pytest.approx(state.v, abs=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_both_move_alike(name: str) -> None:
    """Accelerations, from the rows of joints there and without any here, to rounding."""
    system = CASES[name]
    pair = in_joint_coordinates(system)
    state = random_state(pair)
    there, eps = pair.back(state), 1e-6
    G = np.vstack([row.J for row in system.rows(0.0, there.q, there.v)])
    drift = np.concatenate([row.drift for row in system.rows(0.0, there.q, there.v)])
    n, m = system.nv, len(G)
    K = np.block([[system.mass(there.q), -G.T], [G, np.zeros((m, m))]])
    held = np.linalg.solve(K, np.concatenate([system.force(0.0, there.q, there.v), -drift]))[:n]
    a = np.linalg.solve(pair.system.mass(state.q), pair.system.force(0.0, state.q, state.v))
    ends = [
        pair.back(gaussdyn.State(q=pair.system.move(state.q, state.v, s), v=state.v + s * a)).v for s in (eps, -eps)
    ]
    assert (ends[0] - ends[1]) / (2 * eps) == pytest.approx(held, rel=1e-6, abs=1e-6 * np.abs(held).max())


@pytest.mark.slow
def test_both_land_alike() -> None:
    """From event to event, through an impact, to 1e-7; reactions of joints in both, to what steps leave."""
    system = mechanism(pair(spatial.Hinge, "one", "base"), pair(spatial.Slider, "one", "two"), floor=True)
    both = in_joint_coordinates(system)
    start = both.system.state({"one_free": (0.0, 0.0, 0.2)}, {"one_base": 1.0})
    here = gaussdyn.simulate(both.system, start, 0.5, stepper=EventDriven())
    there = gaussdyn.simulate(system, both.back(start), 0.5, stepper=EventDriven())
    assert there.event_counts["touchdown"] >= 1
    assert both.back(here.final).q == pytest.approx(there.final.q, abs=1e-7)
    here, there = (
        gaussdyn.simulate(one, state, 0.05, stepper=MoreauJean(dt=1e-4))
        for one, state in ((both.system, start), (system, both.back(start)))
    )
    force = np.linalg.norm(here["one_base_force"][1:], axis=1)
    assert force == pytest.approx(there["one_base.reaction"][1:], rel=1e-3)


def test_loops_are_closed_and_limits_kept() -> None:
    ring = mechanism(
        pair(spatial.Hinge, "one", "ground"), pair(spatial.BallJoint, "one", "two"),
        spatial.BallJoint(name="last", a=spatial.mark("two"), b=spatial.mark("ground")),
    )  # fmt: skip
    tree = in_joint_coordinates(ring).system
    assert [part.name for part in tree.parts] == ["last"]
    assert tree.sensors == ()
    one = pair(spatial.Hinge, "one", "ground")
    limited = SpatialSystem(bodies=ring.bodies[:1], joints=[one, spatial.Limit(joint=one.name, low=-0.2, high=0.3)])
    joint = in_joint_coordinates(limited).system.bodies[0].joints[0]
    assert (joint.low, joint.high) == (-0.2, 0.3)
    bouncing = dataclasses.replace(limited, joints=[one, spatial.Limit(joint=one.name, low=-0.2, high=0.3, eps_n=0.5)])
    assert {row.id: row.eps_n for row in in_joint_coordinates(bouncing).system.blanks} == {
        f"{one.name}:high": 0.5, f"{one.name}:low": 0.5,
    }  # fmt: skip


def test_what_trees_do_not_have_is_named() -> None:
    sliders = [pair(spatial.Slider, *ends) for ends in (("one", "ground"), ("one", "two"), ("two", "ground"))]
    assert [part.name for part in in_joint_coordinates(mechanism(*sliders)).system.parts] == ["two_ground"]
    limit = spatial.Limit(joint="two_ground", low=0.0)
    with pytest.raises(InputError, match="Limit"):
        in_joint_coordinates(SpatialSystem(bodies=mechanism(*sliders).bodies, joints=[*sliders, limit]))
