"""Steps of trees with one contact problem: laws where it was foreseen, order 2, audits, and who may go without."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import stepping_cases as cases
from evidence import first
from tree_cases import five_bar_legs, link

from gaussdyn import ContactLaw, InputError, MoreauJean, SpatialSystem, State, Trajectory, build, simulate
from gaussdyn._jit import Held
from gaussdyn.analysis.audit import audit
from gaussdyn.integrate.run.step_evidence import StepEvidence, as_arrays
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem
from gaussdyn.integrate.time_stepping.core.evaluate import forest_rates, gaps_at, rows_at
from gaussdyn.integrate.time_stepping.core.records import ALL, FIXED
from gaussdyn.integrate.worlds.worlds import Worlds
from gaussdyn.mechanics import spatial, trees
from gaussdyn.mechanics.trees import TreeSystem
from gaussdyn.mechanics.trees.forest import RUB, WHAT

ONCE = MoreauJean(dt=2e-3, corrections=False)


def told(system, seed):
    """Return a control that jumps from time to time."""
    size, draw = len(system.actuators), np.random.default_rng(seed).normal(size=(40, len(system.actuators)))
    return lambda t, state: 2.0 * draw[min(int(20.0 * t), 39)] if size else np.zeros(0)


def driven_arm() -> TreeSystem:
    """Return two links with dampers and a stiff drive, which are bent and swing."""
    joints = [trees.TreeJoint(name=f"j{k}", axis=axis, damping=0.3) for k, axis in enumerate([(0, 1, 0), (1, 1, 0.0)])]
    bodies = [
        link(f"b{k}", "ground" if k == 0 else "b0", joint, at=(0.0, 0.0, -0.3 * k), centre=(0.05, 0.0, -0.15))
        for k, joint in enumerate(joints)
    ]
    drive = trees.Actuator(name="knee", factors={"j1": 1.0}, gain=(30.0, 0.0, 0.0), bias=(0.0, -30.0, -2.0))
    return TreeSystem(bodies=bodies, actuators=[drive])


def standing_leg() -> TreeSystem:
    """Return a body on a ball that does not slip on the floor: it rolls, and the contact turns with it."""
    root = trees.TreeJoint(name="root", motion="free")
    hip = trees.TreeJoint(name="hip", axis=(0.0, 1.0, 0.0))
    foot = spatial.Sphere(radius=0.2)
    bodies = [
        link("foot", "ground", root, centre=(0.0, 0.0, 0.05), shapes=(foot,)),
        link("arm", "foot", hip, centre=(0.0, 0.0, 0.2)),
    ]
    return TreeSystem(bodies=bodies, obstacles=[spatial.HalfSpace(name="floor")], contact=ContactLaw(mu=5.0))


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_where_a_contact_joins_impulses_count_once_in_the_guess(mu: float) -> None:
    """A rod on one end strikes with the other, which takes load off the first: one problem before, and one then.

    A guess that starts from what the first end's impulse has led to cannot take that off again.
    """
    motions = [("x", "slide", (1, 0, 0)), ("z", "slide", (0, 0, 1)), ("turn", "hinge", (0, 1, 0))]
    joints = tuple(trees.TreeJoint(name=name, motion=motion, axis=axis) for name, motion, axis in motions)
    ends = tuple(spatial.Sphere(name=name, radius=0.05, at=(x, 0, 0)) for name, x in (("left", -0.5), ("right", 0.5)))
    rod = trees.TreeBody(name="rod", joints=joints, mass=1.0, inertia=np.diag([1.0, 0.3, 1.0]), shapes=ends)
    system = TreeSystem(bodies=[rod], obstacles=[spatial.HalfSpace(name="floor")], contact=ContactLaw(mu=mu))
    for speed in (0.02, 0.05, 0.2):
        angle = 0.75 * ONCE.dt * speed  # the end that strikes does so after three quarters of the step
        state = State(q=[0.0, 0.05 + 0.5 * np.sin(angle), -angle], v=[0.0, -0.5 * speed, speed])
        many = ONCE.kernels(system, state).advance_many(ONCE, state, 1, np.zeros(0))
        assert many.passes.tolist() == [2]
        assert many.gap[0] > -1e-10


def test_dry_joints_that_slide_need_no_row() -> None:
    """What stands beside the force is what the law says, and those that come to rest do so by their rows."""
    joints = [
        trees.TreeJoint(name=f"j{k}", axis=axis, friction=0.3, armature=0.01)
        for k, axis in enumerate([(0.0, 1.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)])
    ]
    bodies = [
        link(f"b{k}", f"b{k - 1}" if k else "ground", joints[k], at=(0, 0, -0.3 * (k > 0)), centre=(0, 0, -0.15))
        for k in range(3)
    ]
    system = TreeSystem(bodies=bodies)
    state, beside, turned, stuck = system.state({"j0": 1.0, "j2": 0.5}), 0, 0, 0
    kernels = ONCE.kernels(system, state)
    for _ in range(600):
        many = kernels.advance_many(ONCE, state, 1, np.zeros(0), record=False)
        data, after = kernels.parts.data, many.state
        p, most = data.last[:3], 0.3 * 2e-3
        assert np.abs(p).max() <= most * (1.0 + 1e-15)
        moves = np.abs(after.v) > 1e-12
        assert np.allclose(p[moves], -most * np.sign(after.v[moves]), rtol=1e-12, atol=0.0)
        beside, stuck = beside + np.count_nonzero(data.slides), stuck + np.count_nonzero(~moves)
        turned, state = turned + np.count_nonzero(after.v * state.v < 0.0), after
    assert min(beside, stuck) > 300
    assert turned > 3


def test_a_body_that_others_set_in_motion_is_seen_to_strike() -> None:
    """A sled at rest, 3 mm before a wall, is jerked by an arm that comes to its limit: its contact was not listed."""
    rail = trees.TreeJoint(name="rail", motion="slide", axis=(1.0, 0.0, 0.0))
    hinge = trees.TreeJoint(name="hinge", axis=(0.0, 1.0, 0.0), high=0.5)
    bodies = [
        link("sled", "ground", rail, mass=0.1, centre=(0.0, 0.0, 0.0), shapes=(spatial.Sphere(radius=0.1),)),
        link("arm", "sled", hinge, mass=2.0, centre=(0.0, 0.0, 0.3)),
    ]
    wall = spatial.HalfSpace(name="wall", point=(0.103, 0.0, 0.0), normal=(-1.0, 0.0, 0.0))
    system = TreeSystem(bodies=bodies, obstacles=[wall], gravity=(0.0, 0.0, 0.0), contact=ContactLaw(mu=0.0))
    start = system.state({"hinge": 0.49}, {"hinge": 20.0, "rail": -20.0 * 2.0 * 0.3 * np.cos(0.49) / 2.1})
    run = simulate(system, start, 0.02, stepper=ONCE)
    assert run.status == "COMPLETED"
    assert run.event_counts["touchdown"] == 1
    assert min(row.gap for row in system.rows(0.0, run.final.q, run.final.v) if row.id != "hinge.high") >= -1e-10


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_laws_hold_where_they_were_foreseen(seed: int) -> None:
    """The equations of every step, put together by an audit in Python from what is on record alone."""
    system, state = cases.tree(seed)
    run = simulate(system, state, 0.3, stepper=ONCE, control=told(system, seed))
    verdict = audit(run, system)
    assert run.status == "COMPLETED"
    assert run.steps.E.max() <= 1e-10
    assert verdict.passed, verdict
    assert run.event_counts["touchdown"] > 0
    assert sum(one.foreseen is not None for one in run.evidence.values()) > 0.9 * len(run.evidence)
    at_once, each = as_arrays(run.evidence), as_arrays(dict(run.evidence))
    assert all(np.array_equal(at_once[key], values) for key, values in each.items())
    assert max(verdict.max[name] for name in ("momentum", "laws", "kinematics", "joint_rate")) <= 1e-10
    assert verdict.max["gaps"] <= 1e-10


@pytest.mark.parametrize("case", [*first(1, range(3)), "loops"])
def test_the_end_is_asked_for_gaps_and_rates_alone(case: int | str) -> None:
    """They are those of whole rows, at other states than the one that was foreseen, too."""
    system, state = (
        (five_bar_legs(), five_bar_legs().state({"root": (0, 0, 0.305)})) if case == "loops" else cases.tree(case)
    )
    kernels = CompiledSystem.of(system, state)
    many = kernels.advance_many(ONCE, state, 80, np.zeros(len(system.actuators)), record=False)
    model, data = kernels.parts.model, kernels.parts.data
    rng, n, start = np.random.default_rng(0), model.layout.counts[ALL], model.layout.start
    acts = data.acts[:n] != 0
    first_rows = start[:n][acts]
    turning = [
        k
        for k in range(n)
        if acts[k] and (k >= model.layout.counts[FIXED] or model.forest.couplings.kinds[k, WHAT] > RUB)
    ]
    assert turning
    for _ in range(3):
        v = rng.normal(size=system.nv)
        q = system.move(many.state.q, v, 0.01)
        assert rows_at(Held(model), 0.0, q, v, Held(data.begin))
        assert gaps_at(Held(model), 0.0, q, np.zeros(system.nv), True, Held(data.end))
        assert np.allclose(data.end.gap[:n], data.begin.gap[:n], rtol=0.0, atol=1e-14)
        assert np.allclose(data.end.J[first_rows], data.begin.J[first_rows], rtol=0.0, atol=1e-13)
        forest_rates(Held(model), q, v, data.acts, Held(data.end))
        for k in turning:
            rows = slice(start[k], start[k + 1])
            assert np.allclose(data.end.rate[rows], data.begin.rate[rows], rtol=0.0, atol=1e-12)


def test_loops_are_judged_where_they_were_foreseen() -> None:
    """One row of each is zero up to rounding, and has no reaction."""
    system = five_bar_legs()
    run = simulate(system, system.state({"root": (0.0, 0.0, 0.305)}), 0.1, stepper=ONCE)
    verdict = audit(run, system)
    assert run.status == "COMPLETED"
    assert verdict.passed, verdict
    assert max(abs(row.gap) for row in system.rows(0.0, run.final.q, run.final.v) if row.kind == "bilateral") <= 1e-10
    assert max(np.abs(run[f"pin{k}:y.r"]).max() for k in range(3)) == 0.0
    assert min(np.abs(run[f"pin{k}:z.r"]).max() for k in range(3)) > 1.0


def test_an_impact_is_foreseen() -> None:
    """A step in which a foot strikes takes a problem without it and one with it, which is that of the end foreseen."""
    system, state = cases.tree(0)
    kernels, passes = ONCE.kernels(system, state), []
    while not any(key.startswith("leg") for key in state.memory):
        many = kernels.advance_many(ONCE, state, 1, np.zeros(len(system.actuators)))
        passes, state = [*passes, int(many.passes[0])], many.state
    assert state.t > 0.02
    assert passes == [1] * (len(passes) - 1) + [2]


def tipping_box() -> TreeSystem:
    """Return a box on an edge, two corners of which stick, and an arm on it: it tips, and its rows turn with it."""
    box = spatial.Box(half=(0.2, 0.1, 0.1))
    bodies = [replace(body, shapes=(box,) if body.name == "foot" else ()) for body in standing_leg().bodies]
    return TreeSystem(bodies=bodies, obstacles=[spatial.HalfSpace(name="floor")], contact=ContactLaw(mu=5.0))


STARTS = {
    driven_arm: ({"j0": 0.7, "j1": -0.4}, {}),
    standing_leg: ({"root": (0.0, 0.0, 0.2), "hip": 0.3}, {"root": (0.4, 0.0, 0.0, 0.0, 2.0, 0.0)}),
    tipping_box: (
        {"root": (0.0, 0.0, 0.2 * np.sin(0.6) + 0.1 * np.cos(0.6), np.cos(0.3), 0.0, np.sin(0.3), 0.0), "hip": 0.3},
        {},
    ),
}


@pytest.mark.parametrize(("make", "duration"), [(driven_arm, 0.4), (standing_leg, 0.4), (tipping_box, 0.16)])
def test_smooth_motion_is_of_order_two(make, duration: float) -> None:
    system = make()
    start = system.state(*STARTS[make])
    control = (lambda t, state: np.array([0.5])) if system.actuators else None

    def end(dt: float, corrections: bool = False) -> np.ndarray:
        """Return where it ends."""
        method = MoreauJean(dt=dt, corrections=corrections)
        final = simulate(system, start, duration, stepper=method, control=control).final
        return np.concatenate([final.q, final.v])

    best = end(2.5e-4, corrections=True)
    errors = [np.abs(end(dt) - best).max() for dt in (8e-3, 4e-3, 2e-3)]
    assert errors[0] / errors[1] > 3.5
    assert errors[1] / errors[2] > 3.5
    assert errors[2] < 1e-3


def test_a_foot_that_stands_takes_one_problem() -> None:
    """Its corners depend on one another, and contradict one another where it is foreseen to turn."""
    foot = spatial.Box(half=(0.2, 0.1, 0.02))
    sway, lean = (
        trees.TreeJoint(name=f"j{k}", axis=axis, friction=0.1) for k, axis in enumerate([(0, 1, 0), (1, 0, 0)])
    )
    bodies = [
        link("foot", "ground", trees.TreeJoint(name="root", motion="free"), centre=(0.0, 0.0, 0.0), shapes=(foot,)),
        link("leg", "foot", sway, at=(0.0, 0.0, 0.05), centre=(0.0, 0.0, 0.2)),
        link("arm", "leg", lean, at=(0.0, 0.0, 0.3), centre=(0.0, 0.02, 0.1)),
    ]
    drives = [
        trees.Actuator(name=f"m{k}", factors={f"j{k}": 1.0}, gain=(20.0, 0.0, 0.0), bias=(0.0, -20.0, -0.5))
        for k in range(2)
    ]
    floor = spatial.HalfSpace(name="floor")
    system = TreeSystem(bodies=bodies, actuators=drives, obstacles=[floor], contact=ContactLaw(mu=0.8))
    state, passes = system.state({"root": (0.0, 0.0, 0.02)}), []
    kernels = ONCE.kernels(system, state)
    for block in range(8):
        many = kernels.advance_many(ONCE, state, 25, 0.1 * np.sin([0.45 * block, 1.5 + 0.35 * block]), record=False)
        state, passes = many.state, [*passes, *many.passes]
        assert many.E.max() <= 1e-10
    assert len(passes) == 200
    assert np.mean(passes) < 1.2


def test_a_place_that_was_not_foreseen_is_noticed() -> None:
    system, state = cases.tree(1)
    run = simulate(system, state, 0.12, stepper=ONCE, control=told(system, 1))
    number = max(k for k, one in run.evidence.items() if any(key.startswith("leg") for key in one.acts))
    one = run.evidence[number]
    assert one.foreseen is not None
    for k in (system.nq - 1, system.nq + 3):
        moved = one.foreseen.copy()
        moved[k] += 1e-4
        false: dict[int, StepEvidence] = {**run.evidence, number: replace(one, foreseen=moved)}
        assert not audit(replace(run, evidence=false), system).passed
    settings = {key: value for key, value in run.settings["stepper"].items() if key != "corrections"}
    claims_more = replace(run, settings={**run.settings, "stepper": settings})
    assert audit(run, system).passed
    assert not audit(claims_more, system).passed


def test_a_file_of_it_is_judged_and_goes_on(tmp_path) -> None:
    system, state = cases.tree(2)
    whole, path = simulate(system, state, 0.2, stepper=ONCE), tmp_path / "run.h5"
    half = simulate(system, state, 0.12, stepper=ONCE, out=path)
    assert any(key.endswith("/floor") and p.any() for key, p in half.final.memory.items())  # it has touched down
    gone_on = simulate(system, state, 0.2, stepper=ONCE, out=path, resume=True)
    assert gone_on.state_hash == whole.state_hash
    assert audit(Trajectory.load(path), system).passed


def test_worlds_are_runs() -> None:
    system, state = cases.tree(3)
    worlds = Worlds(system, [state, state], stepper=ONCE)
    worlds.step(n=50)
    run = simulate(system, state, 0.1, stepper=ONCE)
    assert worlds.state(1).digest() == run.final.digest()


def test_others_than_trees_are_refused() -> None:
    scene = build("incline")
    with pytest.raises(InputError, match="only trees"):
        simulate(scene, stepper=MoreauJean(dt=1e-3, corrections=False))
    with pytest.raises(InputError, match="True or False"):
        MoreauJean(corrections=0)  # type: ignore[arg-type]


def test_a_force_that_tables_do_not_have_is_refused_before_any_work(tmp_path) -> None:
    """Bodies in joints go without corrections, on a table that shakes too; not where Python is asked for a friction.

    It is where that acts on a joint that closes a loop.
    """
    ball = spatial.SpatialBody(name="ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
    hinge = spatial.Hinge(a=spatial.mark("ball"), b=spatial.mark("ground"), name="hinge")
    system = SpatialSystem(bodies=[ball], joints=[hinge], coordinates="joints")
    turned = simulate(system, system.state(), 0.01, stepper=ONCE, control=np.full(system.nv, 0.3))
    assert turned.v[-1] == pytest.approx(0.3 / 0.1 * 0.01, rel=1e-12)
    slide = spatial.Slider(
        a=spatial.mark("ball", axis=(1, 0, 0)), b=spatial.mark("ground", axis=(1, 0, 0)), name="rail"
    )
    shaking = spatial.Shaking(amplitude=1.0, frequency=2.0)
    shaken = SpatialSystem(bodies=[ball], joints=[slide], forces=[shaking], coordinates="joints")
    pushed = -2e-3 * float(np.sin(4.0 * np.pi * 2e-3 * (np.arange(5) + 0.5)).sum())
    assert simulate(shaken, shaken.state(), 0.01, stepper=ONCE).v[-1] == pytest.approx(pushed, rel=1e-12)
    loop = [slide, replace(slide, name="beside"), spatial.JointFriction(joint="beside", cap=0.5)]
    shaken = SpatialSystem(bodies=[ball], joints=loop, forces=[shaking], coordinates="joints")
    path = tmp_path / "run.h5"
    with pytest.raises(InputError, match="only trees"):
        simulate(shaken, shaken.state(), 0.01, stepper=ONCE, out=path)
    assert not path.exists()
