"""`SpatialSystem(coordinates="joints")`: what it says is what the bodies say, in other coordinates."""

from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from gaussdyn import EventDriven, InputError, MoreauJean, SpatialSystem, State, Trajectory, audit, simulate
from gaussdyn.integrate.compiled_control import CompiledControl
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem
from gaussdyn.integrate.time_stepping.core.row_model import built, by_answers
from gaussdyn.linalg.rotations import conjugate, matrix_of, product
from gaussdyn.mechanics import spatial
from gaussdyn.mechanics.specs import system_of
from gaussdyn.mechanics.trees.joint_readings import one_by_one, readings_along
from gaussdyn.mechanics.trees.jointed_system import JointedSystem
from tests.evidence import first
from tests.joint_cases import CHAIN, CHAIN_RATES, chain
from tests.jointed_cases import KINDS, both, closed, random_parts, random_state

SEEDS = range(24)


def case(seed: int) -> tuple[SpatialSystem, JointedSystem, State]:
    """Both systems, and a state of the joints; every third has a loop."""
    parts = random_parts(seed, others=seed % 2 == 0)
    if seed % 3:
        bodies, joints = both(parts)
        return bodies, joints, random_state(joints, seed)
    parts, there = closed(parts, seed, KINDS[seed % 5])
    bodies, joints = both(parts)
    return bodies, joints, joints.pair.state(there)


@pytest.mark.parametrize("seed", first(8, SEEDS))
def test_laws_of_motion_are_the_same(seed: int) -> None:
    """M, forces, energies and power are those of the bodies, with v = S v' and a = S a' + drift."""
    bodies, joints, state = case(seed)
    there, t, moved = joints.in_bodies(state), 0.3, joints.pair.motion(state.q, state.v)
    size = np.abs(bodies.force(t, there.q, there.v)).max()
    assert joints.mass(state.q) == pytest.approx(moved.S.T @ bodies.mass(there.q) @ moved.S, abs=1e-12)
    h = moved.S.T @ (bodies.force(t, there.q, there.v) - bodies.mass(there.q) @ moved.drift)
    assert joints.force(t, state.q, state.v) == pytest.approx(h, abs=1e-12 * size)
    assert joints.potential(t, state.q) == pytest.approx(bodies.potential(t, there.q), abs=1e-11)
    assert joints.power(t, state.q, state.v) == pytest.approx(bodies.power(t, there.q, there.v), abs=1e-11 * size)


@pytest.mark.parametrize("seed", first(8, SEEDS))
def test_constraints_are_the_same(seed: int) -> None:
    """Every row is that of the bodies, but for those that the joints of the tree keep; none is missing."""
    bodies, joints, state = case(seed)
    there, t, moved = joints.in_bodies(state), 0.3, joints.pair.motion(state.q, state.v)
    rows = {row.id: row for row in bodies.near(t, there.q, there.v, 0.02).rows(t, there.q, there.v)}
    own = {
        row.id.replace(":friction", ":dry"): row
        for row in joints.near(t, state.q, state.v, 0.02).rows(t, state.q, state.v)
    }
    tied = {id for tie in joints.pair.ties for id in tie.joint.ids}
    assert tied <= set(rows)
    assert {id for id in own if "/" not in id} == {id for id in rows if "/" not in id} - tied
    close = {id for id, row in rows.items() if "/" in id and abs(row.gap) < 1e-3}
    assert close <= set(own)
    for id, row in own.items():
        if (other := rows.get(id)) is not None:
            assert (row.kind, row.level, row.mu, row.eps_n) == (other.kind, other.level, other.mu, other.eps_n)
            assert row.gap == pytest.approx(other.gap, abs=1e-12), id
            assert row.rate == pytest.approx(other.rate, abs=1e-11), id
            assert pytest.approx(other.J @ moved.S, abs=1e-12) == row.J, id
            assert row.drift == pytest.approx(other.drift + other.J @ moved.drift, abs=1e-10), id


CRANE = (
    spatial.Limit(joint="tube", low=-0.5, high=0.2), spatial.JointFriction(joint="hip", cap=0.5),
    spatial.Motor(joint="hip", rate=1.3),
)  # fmt: skip
BOUNCING = (
    spatial.Limit(joint="tube", low=-0.5, high=0.16, eps_n=0.5), spatial.JointFriction(joint="hip", cap=5.0, cap_s=8.0),
)  # fmt: skip
PUSHES = (
    spatial.Spring(a=spatial.mark("five"), b=spatial.mark("ground"), stiffness=20.0, length=0.3, damping=0.5),
    spatial.Drive(joint="tube", stiffness=30.0, damping=0.5),
)
WHERE = chain().state(joints=CHAIN).q.reshape(-1, 7)


def rope(kind: type, k: int, at: tuple[float, float, float], more: float = 0.0) -> spatial.Rod | spatial.String:
    """A rod or string from body k of the chain to the ground."""
    length = float(np.linalg.norm(WHERE[k, :3] - at)) + more
    bounces = {"eps_n": 0.5} if kind is spatial.String else {}
    return kind(a=spatial.mark(chain().bodies[k].name), b=spatial.mark("ground", at), length=length, **bounces)


ROPES = rope(spatial.Rod, 1, (0.3, 0.2, 1.5)), rope(spatial.String, 4, (0.5, 0.0, 1.8), 0.002)
SHAKEN = (spatial.Shaking(direction=(1.0, 1.0, 0.0), amplitude=5.0, frequency=3.0, phase=0.4),)
DRIVEN = (spatial.Motor(joint="hip", rate=1.0, cap=5.0), spatial.Gear(joint="tube", other="hip", ratio=0.6 / 1.3))
DRIVES = (
    spatial.Drive(joint="tube", effort=1.0, stiffness=100.0, damping=2.0, target=0.1, rate=0.2),
    spatial.Drive(joint="hip", stiffness=3.0, target=7.5, damping=0.5),  # at hip = 1.2
    spatial.Drive(joint="hip", stiffness=5.0, target=0.75 + np.pi),  # snaps over within the run
)


@pytest.mark.parametrize(
    ("parts", "forces"),
    [
        *first(4, [((), ()), (CRANE, PUSHES), (DRIVEN, DRIVES), (ROPES, SHAKEN), (CRANE[:2], ()), (CRANE, DRIVES)]),
        (BOUNCING, ()),
    ],
)
def test_runs_tell_the_same(parts: tuple[object, ...], forces: tuple[object, ...]) -> None:
    """A chain with every kind of joint: all columns that both have, reactions among them, as close as the steps are.

    A limit is met within the run: when, and what it leaves, is known to first order in dt = 1 ms.
    """
    there = chain(*parts, forces=forces)
    here = dataclasses.replace(there, coordinates="joints")
    rates = {} if ROPES[0] in parts else CHAIN_RATES  # a rod leaves no more than what it allows
    runs = [
        simulate(one, one.state(joints=CHAIN, rates=rates), 0.1, stepper=MoreauJean(dt=1e-3)) for one in (here, there)
    ]
    missing = [name for name in runs[1].names if name not in runs[0] and "error_" not in name and ":" not in name]
    assert [name for name in missing if name[0] not in "qv"] == []
    for name in ("hip.angle", "knee.turn_y", "cardan.rate_2", "tube.position", "five.x", "five.wz", "energy"):
        assert runs[0][name] == pytest.approx(runs[1][name], abs=1e-3 * np.abs(runs[1][name]).max()), name
    for name in runs[1].names:
        if "reaction" in name or "torque" in name or name.endswith("~ground.r"):
            size = np.abs(runs[1]["hip.reaction"]).max()
            assert runs[0][name][1:] == pytest.approx(runs[1][name][1:], abs=4e-3 * size), name


def test_reactions_of_a_loop_and_of_contacts() -> None:
    """A four-bar of hinges of which one closes the loop, lying on a ball of the floor: weights are carried."""
    size = {"crank": 0.3, "coupler": 0.7, "rocker": 0.5}
    bodies = [spatial.brick(name, mass=1.0, half=(half / 2, 0.02, 0.02)) for name, half in size.items()]
    ends = {name: [spatial.mark(name, (s * x / 2, 0, 0), axis=(0, 1, 0)) for s in (-1, 1)] for name, x in size.items()}
    ground = [spatial.mark("ground", (x, 0, 1), axis=(0, 1, 0)) for x in (0.0, 0.6)]
    pairs = [(ends["crank"][0], ground[0]), (ends["coupler"][0], ends["crank"][1]),
             (ends["coupler"][1], ends["rocker"][1]), (ends["rocker"][0], ground[1])]  # fmt: skip
    hinges = [spatial.Hinge(name=name, a=a, b=b) for name, (a, b) in zip("ABCD", pairs, strict=True)]
    there = SpatialSystem(bodies=bodies, joints=hinges)
    here = dataclasses.replace(there, coordinates="joints")
    runs = [simulate(one, one.state(joints={"A": 1.1}), 0.02, stepper=MoreauJean(dt=1e-3)) for one in (here, there)]
    assert here.nv == 3
    for name in ("A.angle", "D.angle", "coupler.z"):
        assert runs[0][name] == pytest.approx(runs[1][name], abs=1e-6)
    for joint in "ABCD":  # the plane leaves forces across it to the rank of the rows
        for axis in "xz":
            name = f"{joint}.reaction_{axis}"
            assert runs[0][name][1:] == pytest.approx(runs[1][name][1:], abs=0.02), name


@pytest.mark.parametrize(
    "kind", first(2, [spatial.Hinge, spatial.Weld, spatial.Slider, spatial.Universal, spatial.BallJoint])
)
def test_reactions_of_a_loop_on_a_body_that_turns(kind: type) -> None:
    """The end of the chain held at its first body: rows of loops are in the axes of space, as with bodies."""
    R, five = matrix_of(WHERE[0, 3:]), WHERE[4]
    turn = product(conjugate(WHERE[0, 3:]), five[3:])
    end = spatial.SpatialMarker("one", tuple(R.T @ (five[:3] - WHERE[0, :3])), tuple(turn))
    there = chain(kind(name="last", a=spatial.SpatialMarker("five"), b=end))
    here = dataclasses.replace(there, coordinates="joints")
    assert here.forest is not None
    start = there.state(joints=CHAIN)
    runs = [
        simulate(one, state, 0.05, stepper=MoreauJean(dt=1e-3))
        for one, state in ((here, here.in_joints(start)), (there, start))
    ]
    for name in runs[1].names:
        if "reaction" in name or name in ("hip.angle", "five.x"):
            size = np.abs(runs[1]["last.reaction" if "reaction" in name else name]).max()
            assert runs[0][name][1:] == pytest.approx(runs[1][name][1:], abs=4e-3 * size), name
    assert audit(runs[0], here).passed


def test_ropes_and_shaking_go_on_from_any_state_to_the_bit() -> None:
    """And audits pass."""
    system = dataclasses.replace(chain(*ROPES, forces=SHAKEN), coordinates="joints")
    start, stepper = system.state(joints=CHAIN), MoreauJean(dt=1e-3)
    whole, half = (simulate(system, start, t, stepper=stepper) for t in (0.08, 0.04))
    rest = simulate(system, half.final, 0.08, stepper=stepper)
    assert np.array_equal(rest.final.q, whole.final.q)
    assert np.array_equal(rest.final.v, whole.final.v)
    assert audit(whole, system).passed


@pytest.mark.parametrize("corrections", [True, False])
def test_what_stands_in_a_frame_that_shakes_is_held_anew_in_every_step(corrections: bool) -> None:
    """Friction of a slider that sticks is m a of the frame at the middle of the step."""
    shaking = spatial.Shaking(direction=(1.0, 0.0, 0.0), amplitude=5.0, frequency=25.0)  # the same bits in two steps
    a, b = (spatial.mark(body, axis=(1.0, 0.0, 0.0)) for body in ("brick", "ground"))
    system = SpatialSystem(
        bodies=[spatial.brick("brick", mass=2.0, half=(0.1, 0.1, 0.1))],
        joints=[spatial.Slider(name="rail", a=a, b=b), spatial.JointFriction(joint="rail", cap=100.0)],
        forces=[shaking], coordinates="joints",
    )  # fmt: skip
    run = simulate(system, system.state(), 0.02, stepper=MoreauJean(dt=1e-3, corrections=corrections))
    held = [2.0 * shaking.acceleration(t - 0.5e-3)[0] for t in run.t[1:]]
    assert run["rail.friction_force"][1:] == pytest.approx(held, abs=1e-12)
    assert np.abs(run.v).max() < 1e-15


def test_reactions_of_joints_beside_a_rod() -> None:
    """A rod that hangs on the second of two hinged beams takes its share of the load in both coordinates."""
    bodies = [spatial.brick(name, mass=1.0, half=(0.25, 0.03, 0.03)) for name in ("upper", "lower")]
    ends = {name: [spatial.mark(name, (x, 0, 0), axis=(0, 1, 0)) for x in (-0.25, 0.25)] for name in ("upper", "lower")}
    joints = [spatial.Hinge(name="A", a=ends["upper"][0], b=spatial.mark("ground", axis=(0, 1, 0))),
              spatial.Hinge(name="B", a=ends["lower"][0], b=ends["upper"][1]),
              spatial.Rod(a=ends["lower"][1], b=spatial.mark("ground", (0.0, 0.0, 1.0)), length=2.0**0.5)]  # fmt: skip
    there = SpatialSystem(bodies=bodies, joints=joints)
    runs = [
        simulate(one, one.state(joints={"A": 0.0, "B": 0.0}), 0.05, stepper=MoreauJean(dt=1e-3))
        for one in (dataclasses.replace(there, coordinates="joints"), there)
    ]
    for name in ("A.reaction_x", "A.reaction_z", "B.reaction", "lower~ground.r"):
        assert runs[0][name][1:] == pytest.approx(runs[1][name][1:], abs=1e-3), name


@pytest.mark.parametrize("seed", first(3, [2, 7, 26, 5, 10, 17, 22, 27]))
def test_columns_of_all_states_are_those_of_each(seed: int) -> None:
    """What kernels and arrays say along a run is what all joints, forces and contacts say one by one."""
    _, joints, state = case(seed)
    run = simulate(joints, state, 0.01, stepper=MoreauJean(dt=1e-3), project=True)
    ids = [id for one in joints.joints for id in one.ids]
    pushes = {id: found for id in ids if (found := run.reactions(id)) is not None}
    quick, slow = (ask(joints.pair, run, pushes) for ask in (readings_along, one_by_one))
    assert quick.shape == slow.shape
    assert quick == pytest.approx(slow, abs=1e-11 * np.abs(slow).max())


def test_columns_do_not_depend_on_what_is_recorded_together(tmp_path: Path) -> None:
    system = dataclasses.replace(chain(), coordinates="joints")
    start, stepper = system.state(joints=CHAIN, rates=CHAIN_RATES), MoreauJean(dt=1e-3)
    whole = simulate(system, start, 0.02, stepper=stepper)
    parts = simulate(system, start, 0.02, stepper=stepper, out=tmp_path / "run.h5", chunk=7)
    assert all(np.array_equal(whole[name], parts[name]) for name in whole.names)
    for run in (whole, parts, Trajectory.load(tmp_path / "run.h5")):  # by the ids of rows, as with coordinates="bodies"
        found = run.reactions("hip:x")
        assert found is not None
        assert np.array_equal(found[:, 0], run["hip.reaction_x"])


def test_control_is_a_generalised_force_in_both() -> None:
    there = chain()
    here = dataclasses.replace(there, coordinates="joints")
    ends = []
    for one in (here, there):
        state, stepper = one.state(joints=CHAIN), MoreauJean(dt=1e-3)
        for _ in range(20):
            push = 5.0 * one.coordinate("hip", state.q, state.v).J - 3.0 * one.coordinate("tube", state.q, state.v).J
            state = stepper.advance(one, state, state.t + 1e-3, control=push).state
        ends.append(state)
    assert here.in_bodies(ends[0]).q == pytest.approx(ends[1].q, abs=1e-5)
    assert np.abs(here.in_bodies(ends[0]).v - there.state(joints=CHAIN).v).max() > 0.1


@pytest.mark.parametrize("corrections", [True, False])
def test_a_compiled_law_pushes_as_a_function_in_python_does(corrections: bool) -> None:
    """Kernels ask it for a generalised force before every step: the same bits."""

    def law(t, q, v, p, u):
        for i in range(len(u)):
            u[i] = p[0] * np.sin(3.0 * t + i) - 0.3 * v[i]

    def in_python(t, state):
        u = np.empty(system.nv)
        law(t, state.q, state.v, (2.0,), u)
        return u

    system = dataclasses.replace(chain(), coordinates="joints")
    start, stepper = system.state(joints=CHAIN, rates=CHAIN_RATES), MoreauJean(dt=1e-3, corrections=corrections)
    laws = in_python, CompiledControl(law, system.nv, (2.0,))
    ends = [simulate(system, start, 0.03, stepper=stepper, control=one, save=10).final for one in laws]
    free = simulate(system, start, 0.03, stepper=stepper, save=10).final
    assert np.array_equal(ends[0].q, ends[1].q)
    assert np.array_equal(ends[0].v, ends[1].v)
    assert np.abs(ends[0].v - free.v).max() > 1e-3


def test_plain_trees_are_compiled_and_others_are_not() -> None:
    plain = dataclasses.replace(chain(*CRANE[:2]), coordinates="joints")
    assert plain.forest is not None
    assert dataclasses.replace(chain(*CRANE, *DRIVEN[1:], forces=DRIVES), coordinates="joints").forest is not None
    forces = (
        *PUSHES,
        spatial.Load(point=spatial.mark("five"), force_xyz=(1.0, 0.0, 0.0)),
        spatial.Drag(point=spatial.mark("two")),
    )
    assert dataclasses.replace(chain(forces=forces), coordinates="joints").forest is not None
    assert dataclasses.replace(chain(*ROPES, forces=SHAKEN), coordinates="joints").forest is not None
    assert dataclasses.replace(chain(*BOUNCING), coordinates="joints").forest is not None
    for kind in KINDS:
        last = kind(name="last", a=spatial.mark("five"), b=spatial.mark("two", axis=(0.0, 1.0, 0.3)))
        assert dataclasses.replace(chain(last), coordinates="joints").forest is not None


@pytest.mark.parametrize(
    ("parts", "forces"),
    [
        (DRIVEN, DRIVES),
        (CRANE, ()),
        ((spatial.Motor(joint="tube", rate=-1.0, cap=3.0),), ()),
        (ROPES[1:], SHAKEN),
        (BOUNCING, ()),
    ],
)
def test_tables_say_what_python_says(parts: tuple[object, ...], forces: tuple[object, ...]) -> None:
    """Steps by tables of motors, gears and drives, and those of the same system asked in Python: alike to rounding."""
    system = dataclasses.replace(chain(*parts, forces=forces), coordinates="joints")
    assert system.forest is not None
    start, stepper = system.state(joints=CHAIN, rates=CHAIN_RATES), MoreauJean(dt=1e-3)
    push = np.linspace(-2.0, 3.0, system.nv)
    ends, reactions = [], []
    for make in (built, by_answers):
        state, own, one = start, [], CompiledSystem(system, make(system, start))
        for _ in range(20):
            step = one.attempt(stepper, state, 1e-3, state.t + 1e-3, push)
            state, own = step.state, [*own, dict(step.reactions)]
        ends.append(state)
        reactions.append(own)
    assert ends[0].q == pytest.approx(ends[1].q, abs=1e-11)
    assert ends[0].v == pytest.approx(ends[1].v, abs=1e-9)
    for here, there in zip(*reactions, strict=True):
        assert here.keys() == there.keys()
        for id, value in here.items():
            assert value == pytest.approx(there[id], abs=1e-9), id


def test_event_driven_runs_tell_the_same() -> None:
    """A motor at its cap that takes its joint along from an event on, with a gear and drives: as bodies do, to 1e-9."""
    there = chain(*DRIVEN, forces=DRIVES[:2])
    runs = []
    for one in (dataclasses.replace(there, coordinates="joints"), there):
        state = one.state(joints=CHAIN, rates={**CHAIN_RATES, "hip": 1.3, "tube": 0.6})
        runs.append(simulate(one, state, 0.1, stepper=EventDriven()))
    assert runs[0].event_counts == runs[1].event_counts
    for name in ("hip.angle", "tube.position", "five.x", "energy"):
        assert runs[0][name][-1] == pytest.approx(runs[1][name][-1], abs=1e-9)


def test_motors_keep_rates_and_gears_ratios() -> None:
    """Without a cap the rate is there after one step; one that slips has its cap, also where it slipped before."""
    system = dataclasses.replace(chain(*DRIVEN[1:], spatial.Motor(joint="hip", rate=2.0)), coordinates="joints")
    rates = {**CHAIN_RATES, "hip": 0.0, "tube": 0.0}
    run = simulate(system, system.state(joints=CHAIN, rates=rates), 0.02, stepper=MoreauJean(dt=1e-3))
    assert run["hip.rate"][1:] == pytest.approx(2.0, abs=1e-12)
    assert run["tube.rate"][1:] == pytest.approx(2.0 * 0.6 / 1.3, abs=1e-12)
    slips = dataclasses.replace(chain(spatial.Motor(joint="hip", rate=9.0, cap=0.5)), coordinates="joints")
    for corrections in (True, False):
        stepper = MoreauJean(dt=1e-3, corrections=corrections)
        run = simulate(slips, slips.state(joints=CHAIN, rates=CHAIN_RATES), 0.02, stepper=stepper)
        assert run["hip.motor_torque"][1:] == pytest.approx(0.5, abs=1e-12)


def test_built_again_from_its_spec_and_pickled() -> None:
    system = dataclasses.replace(chain(*CRANE, forces=PUSHES), coordinates="joints")
    for other in (system_of(json.loads(json.dumps(system.spec()))), pickle.loads(pickle.dumps(system))):
        assert isinstance(other, JointedSystem)
        q = random_state(system, 1).q
        assert np.array_equal(other.mass(q), system.mass(q))
        assert other.spec() == system.spec()
    assert "coordinates" not in chain().spec()


def test_states_of_bodies_are_taken_where_joints_allow_them() -> None:
    there = chain()
    here = dataclasses.replace(there, coordinates="joints")
    state = there.state(joints=CHAIN, rates=CHAIN_RATES)
    own = here.in_joints(state)
    assert here.in_bodies(own).q == pytest.approx(state.q, abs=1e-13)
    assert here.in_bodies(own).v == pytest.approx(state.v, abs=1e-12)
    places = {body.name: state.q[7 * k : 7 * k + 7] for k, body in enumerate(there.bodies)}
    assert here.state(places).q == pytest.approx(own.q, abs=1e-12)
    places["two"] = (*(places["two"][:3] + 0.1), *places["two"][3:])
    with pytest.raises(InputError, match=r"place of two.*joints="):
        here.state(places)


def test_bad_values_are_refused() -> None:
    bodies = chain().bodies
    with pytest.raises(InputError, match=r"coordinates.*'minimal'.*'bodies' or 'joints'"):
        SpatialSystem(bodies=bodies, coordinates="minimal")  # type: ignore[arg-type]
    free = SpatialSystem(bodies=bodies, coordinates="joints")
    assert free.index("two", "vx") == 6
    assert free.index("three", "qw") == 17
    with pytest.raises(InputError, match="a body on a joint"):
        dataclasses.replace(chain(), coordinates="joints").index("two")
    with pytest.raises(InputError, match="control"):
        free.force(0.0, free.state().q, np.zeros(30), np.zeros(3))
    with pytest.raises(InputError, match="unknown_joint"):
        free.state(joints={"unknown_joint": 1.0})


@pytest.mark.parametrize("coordinates", ["bodies", "joints"])
def test_what_pushes_only_the_ground_moves_nothing(coordinates: str) -> None:
    ends = spatial.mark("ground", (0.0, 0.1, 0.0)), spatial.mark("ground")
    forces = (
        spatial.Spring(a=ends[0], b=ends[1], stiffness=50.0, damping=0.5),
        spatial.Load(point=ends[0], force_xyz=(1.0, 0.0, 0.0)),
    )
    bodies = [spatial.ball("ball", mass=1.0, radius=0.1), spatial.brick("post", mass=1.0, half=(0.1, 0.1, 0.1))]
    here, there = spatial.mark("post"), spatial.mark("ground", (2.0, 0.0, 0.0))
    held = (
        spatial.Weld(name="foot", a=here, b=there),
        spatial.Rod(a=here, b=spatial.mark("ground"), length=2.0),
        spatial.String(a=spatial.mark("post", name="top"), b=there, length=0.1),
        spatial.Hinge(name="again", a=here, b=there),
    )
    system = SpatialSystem(bodies=bodies, joints=held, forces=forces, coordinates=coordinates)
    start = system.state({"ball": (0.0, 0.0, 1.0), "post": (2.0, 0.0, 0.0)})
    run = simulate(system, start, 0.05, stepper=MoreauJean(dt=1e-2))
    assert run.status == "COMPLETED"
    assert run["ball.z"][-1] == pytest.approx(1.0 - 0.5 * 9.81 * 0.05**2, abs=1e-14)


def test_an_audit_notices_a_changed_reaction_of_a_joint_of_the_tree() -> None:
    system = dataclasses.replace(chain(*CRANE, forces=PUSHES), coordinates="joints")
    run = simulate(system, system.state(joints=CHAIN, rates=CHAIN_RATES), 0.02, stepper=MoreauJean(dt=2e-3))
    assert audit(run, system).passed
    column = run.columns["hip.reaction"]
    changed = dataclasses.replace(column, values=column.values * np.where(run.t == run.t[5], 1.0 + 1e-6, 1.0))
    told = audit(dataclasses.replace(run, columns={**run.columns, "hip.reaction": changed}), system)
    assert not told.passed
    assert "sensor_columns" in told.explain()


def test_a_rod_between_bodies_welded_to_each_other_bears_nothing() -> None:
    """Its row is rounding: with it the bodies move as without it."""
    bodies = [spatial.brick(name, mass=1.0, half=(0.1, 0.12, 0.14)) for name in "ab"]
    weld = spatial.Weld(name="weld", a=spatial.mark("b"), b=spatial.mark("a", (0.3, 0.1, 0.2)))
    there, here = spatial.mark("b", (0.2, -0.3, 0.1)), spatial.mark("a", (0.37, -0.11, 0.23))
    length = float(np.linalg.norm(np.array([0.37, -0.11, 0.23]) - (0.5, -0.2, 0.3)))
    ends = []
    for links in (
        (),
        (spatial.Rod(a=here, b=there, length=length),),
        (spatial.String(a=here, b=there, length=length),),
    ):
        system = SpatialSystem(bodies=bodies, joints=(weld, *links), coordinates="joints")
        start = system.state({"a": (0.0, 0.0, 0.0)}, {"a": (1.0, 0.0, 0.5, 1.0, 2.0, 3.0)})
        run = simulate(system, start, 0.1, stepper=MoreauJean(dt=1e-2))
        assert run.status == "COMPLETED"
        ends.append(run.final.q)
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, rtol=0.0, atol=1e-12)
