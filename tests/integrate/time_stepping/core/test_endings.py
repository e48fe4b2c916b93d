"""What the step kernel asks for: answers of hard contact problems, stiff forces beside the mass; and how steps fail."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import (
    ContactLaw,
    MoreauJean,
    Position,
    SpatialSystem,
    State,
    UserSystem,
    Velocity,
    audit,
    build,
    simulate,
)
from gaussdyn.errors import InputError
from gaussdyn.integrate.time_stepping.core import advance, endings
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem, ListedSystem
from gaussdyn.integrate.time_stepping.core.outside import cut_steps, unsolved
from gaussdyn.integrate.time_stepping.core.outside.lazy_step import CompiledStep
from gaussdyn.integrate.time_stepping.core.records import CHANGE, E_, GOAL, HARD, LOGGED, UNSETTLED
from gaussdyn.mechanics.spatial import BallJoint, Drag, HalfSpace, Hinge, Motor, SpatialBody, Spring, ball, brick, mark
from gaussdyn.mechanics.trees import Actuator, Tendon, TreeBody, TreeJoint, TreeSystem
from gaussdyn.programs.solution.status import Status

SCENES = ("incline", "capstan", "rocking_block", "slider_crank", "wall_press", "coulomb_oscillator", "turntable")


def refusing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the kernels say of every first attempt that its last contact problem was too hard."""

    def refuse(
        self: CompiledSystem, stepper: MoreauJean, state: State, control: object, spans: np.ndarray, stop: bool
    ) -> object:  # fmt: skip
        span = advance._span(stepper, *spans[0].tolist())
        self._load(state, control, span.dt)
        self._last = None
        self.opened(span)
        self._retake(*self._sim, span, np.array([0.0, 1.0, 1.0]))
        return HARD, np.zeros((0, LOGGED)), np.zeros((0, 1)), np.zeros((0, 1))

    monkeypatch.setattr(CompiledSystem, "_go", refuse)


@pytest.mark.parametrize("name", SCENES)
def test_a_step_with_the_answer_of_solve_is_the_step(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels go on from an answer that came from elsewhere, to the same velocities, impulses and modes."""
    scene = build(name)
    stepper, state = MoreauJean(dt=scene.dt), scene.state
    for _ in range(5):
        state = stepper.advance(scene.system, state, 10.0, control=scene.control).state
    plain = stepper.advance(scene.system, state, 10.0, control=scene.control)
    refusing(monkeypatch)
    asked = stepper.advance(scene.system, state, 10.0, control=scene.control)
    assert isinstance(asked, CompiledStep)
    assert asked.solution.solved
    scale = max(np.abs(plain.state.v).max(), 1e-3)
    np.testing.assert_allclose(asked.state.v, plain.state.v, rtol=0.0, atol=1e-10 * scale)
    np.testing.assert_allclose(asked.state.q, plain.state.q, rtol=1e-12, atol=1e-12)
    assert asked.modes == plain.modes
    assert asked.reactions.keys() == plain.reactions.keys()


def test_a_problem_without_an_answer_ends_the_step_in_words_after_few_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the step, and once more with the laws at its middle."""
    asked = []

    def hopeless(dynamics: object, **options: object) -> object:
        asked.append(1)
        return resolve(dynamics, **options).but(status=Status.MAX_ITERATIONS, residuals=None, message="too hard")

    resolve = unsolved.resolve
    refusing(monkeypatch)
    monkeypatch.setattr(unsolved, "resolve", hopeless)
    monkeypatch.setattr(CompiledSystem, "again", lambda *_: HARD)
    monkeypatch.setattr(cut_steps, "SHORTEST", 1.0)
    scene = build("incline")
    step = MoreauJean(dt=scene.dt).advance(scene.system, scene.state, 1.0)
    assert step.solution.status is Status.MAX_ITERATIONS
    assert step.solution.message == "too hard"
    assert 1 <= len(asked) <= 2


@pytest.mark.parametrize(("E", "change", "said"), [
    (3e-9, 0.0, "its contact problem is solved to E = 3.0e-09 only, where E <= 1.0e-12 is asked for"),
    (1e-13, 0.25, "v+ still moved by 2.5e-01 (relative)"),
])  # fmt: skip
def test_a_step_that_fails_says_what_is_off(E: float, change: float, said: str) -> None:
    """An answer that is off is no velocity that still moves, and the other way about."""
    scene = build("incline")
    stepper, kernels = MoreauJean(dt=scene.dt), CompiledSystem.of(scene.system, scene.state)
    step = kernels.advance(stepper, scene.state, scene.dt, scene.dt)
    assert step.solution.solved
    kernels.parts.data.log[[E_, GOAL, CHANGE]] = E, 1e-12, change
    found = unsolved.unsolved(kernels, UNSETTLED, advance._span(stepper, 0.0, scene.dt, scene.dt), None)
    assert found.status is Status.MAX_ITERATIONS
    assert found.message.startswith(said)
    assert found.message.endswith("take a smaller step")


def dashpot(damping: float, calls: list[int] | None = None) -> UserSystem:
    """Return two masses above one another, a stiff dashpot between them, and a floor below the lower one."""
    C = damping * np.array([[1.0, -1.0], [-1.0, 1.0]])

    class Damped(UserSystem):
        """With its own gradient of the force."""

        def force_gradient(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            """Return dh/dv."""
            if calls is not None:
                calls.append(1)
            return -C

    floor = Position(lambda t, q: q[0], name="floor")
    force = lambda t, q, v: np.array([-9.81, -3.0 * 9.81]) - C @ v  # noqa: E731
    return Damped(2, np.diag([1.0, 3.0]), force, [floor])


@pytest.mark.parametrize("damping", [1e2, 1e4])
def test_masses_on_a_stiff_dashpot_stop_together(damping: float) -> None:
    """The lower one lands; the upper one follows within c dt / m, and what the floor takes is all momentum."""
    system, stepper = dashpot(damping), MoreauJean(dt=1e-2)
    state, impulse = State(q=[0.01, 1.0], v=[-1.0, -1.0]), 0.0
    for _ in range(200):
        step = stepper.advance(system, state, 10.0)
        assert step.solution.solved
        assert step.solution.residuals is not None
        assert step.solution.residuals.E <= 1e-12
        impulse, state = impulse + float(step.reactions.get("floor", np.zeros(1))[0]), step.state
    v = state.v
    assert v[0] == pytest.approx(0.0, abs=1e-12)
    assert np.diag([1.0, 3.0]).diagonal() @ v + 4.0 - impulse == pytest.approx(-4.0 * 9.81 * 2.0, rel=1e-9)
    if damping >= 1e4:
        assert v[1] == pytest.approx(-3.0 * 9.81 / damping, rel=1e-3)


def test_stiff_forces_are_taken_beside_the_mass_with_the_systems_own_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes that are said not to settle are taken again so, to the same end."""
    calls: list[int] = []
    system, state = dashpot(1e3, calls), State(q=[0.0, 1.0], v=[-0.1, -1.0])
    plain = MoreauJean(dt=1e-2).advance(dashpot(1e3), state, 1.0)
    ended = endings.Ending.of
    monkeypatch.setattr(endings.Ending, "of", lambda self, code: ended(self, endings.UNSETTLED))
    step = MoreauJean(dt=1e-2).advance(system, state, 1.0)
    assert calls
    assert not step.unsettled
    np.testing.assert_allclose(step.state.v, plain.state.v, rtol=1e-10)
    assert step.work.reactions == pytest.approx(plain.work.reactions, rel=1e-9, abs=1e-12)


class Rolling(UserSystem):
    """A point on a row of stones, each a row of its own that is known near it only."""

    def near(self, t: float, q: np.ndarray, v: np.ndarray, dt: float) -> UserSystem:
        """Return the system with the stones below."""
        first = int(np.floor(q[0]))
        stones = [
            Position(lambda t, q: q[1], mu=0.2, tangent=lambda t, q: np.array([1.0, 0.0]), name=f"stone{k}")
            for k in (first, first + 1)
        ]  # fmt: skip
        return UserSystem(2, np.eye(2), np.array([0.0, -9.81]), stones[:1])


def test_rows_may_be_others_in_every_step() -> None:
    """It slides over three stones, and slows down as on one floor."""
    system, state = Rolling(2, np.eye(2), np.array([0.0, -9.81])), State(q=[0.5, 0.0], v=[4.0, 0.0])
    assert isinstance(CompiledSystem.of(system, state), ListedSystem)
    seen = set()
    for _ in range(50):
        step = MoreauJean(dt=1e-2).advance(system, state, 10.0)
        assert step.solution.solved
        seen |= step.reactions.keys()
        state = step.state
    assert {"stone0", "stone1", "stone2"} <= seen
    assert state.v[0] == pytest.approx(4.0 - 0.2 * 9.81 * 0.5, abs=1e-12)
    assert state.q[0] == pytest.approx(0.5 + 2.0 - 0.1 * 9.81 * 0.25, abs=1e-12)


@pytest.mark.parametrize("answer", [np.array([np.nan]), np.zeros(2)])
def test_a_force_that_is_none_is_named(answer: np.ndarray) -> None:
    """Whoever calls, and at whatever pass."""
    system = UserSystem(1, [[1.0]], lambda t, q, v: answer if v[0] < -0.05 else np.array([-9.81]))
    stepper = MoreauJean(dt=1e-2)
    state = stepper.advance(system, State(q=[1.0], v=[0.05]), 10.0).state
    with pytest.raises(InputError, match="force"):
        stepper.advance(system, state, 10.0)


def test_dependent_rates_that_agree_are_solved_by_all_means() -> None:
    """The same rolling condition twice: kernels cannot factorise it, and the motion is that with one."""
    roll = [Velocity(lambda t, q, v: v[0] - v[1], kind="bilateral", name=name) for name in ("one", "two")]
    pull = np.array([1.0, 0.0])
    steps = [
        MoreauJean(dt=1e-2).advance(UserSystem(2, np.eye(2), pull, rows), State(q=[0.0, 0.0], v=[0.0, 0.0]), 1.0)
        for rows in (roll[:1], roll)
    ]  # fmt: skip
    for step in steps:
        assert step.solution.solved
        np.testing.assert_allclose(step.state.v, 5e-3, rtol=1e-12)


def swinging(where: str, c: float) -> TreeSystem:
    """Return a link on a hinge, damped along its joint, by its drive, or by a tendon."""
    joint = TreeJoint(name="hip", axis=(0, 1, 0), damping=c if where == "joint" else 0.0)
    link = TreeBody(name="link", joints=(joint,), mass=1.0, centre=(0, 0, -0.2), inertia=0.01 * np.eye(3))
    drive = Actuator(name="drive", factors={"hip": 1.0}, bias=(0.0, 0.0, -c))
    tendon = Tendon(name="rope", factors={"hip": 1.0}, damping=c)
    parts = [tendon] if where == "tendon" else []
    return TreeSystem(bodies=[link], actuators=[drive] if where == "drive" else [], parts=parts)


@pytest.mark.parametrize("where", ["joint", "drive", "tendon"])
@pytest.mark.parametrize("c", [0.0, 1e2, 1e4])
def test_what_trees_have_beside_the_mass_already_is_not_stiff(where: str, c: float) -> None:
    """A step whose passes do not contract for another reason is then taken with its laws at the middle.

    Dampers of joints and drives stand there in every step, those of tendons do not.
    """
    system, dt = swinging(where, c), 2e-3
    start = system.state({"hip": 0.5})
    kernels = CompiledSystem.of(system, start)
    assert isinstance(kernels, CompiledSystem)
    stepper, control = MoreauJean(dt=dt), np.zeros(len(system.actuators))
    assert kernels.advance(stepper, start, dt, dt, control).solution.solved
    found = unsolved.stiffness(kernels, advance._span(stepper, 0.0, dt, dt), control)
    assert (found is not None) == (where == "tendon" and c > 0.0)
    if found is not None:
        assert found[0, 0] == pytest.approx(0.5 * dt * c, rel=1e-5)


def test_a_load_on_light_links_is_stepped_by_kernels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links turn too far in a step for passes to settle; gyroscopic moments are not to blame."""
    monkeypatch.setattr(advance, "listing", None)
    parts, pose, joints = [], {}, []
    for k in range(10):
        parts.append(SpatialBody(name=f"link{k}", mass=3e-4, inertia=(2.5e-9, 2.5e-7, 2.5e-7)))
        before = mark(f"link{k - 1}", (0.05, 0.0, 0.0)) if k else mark("ground")
        joints.append(BallJoint(name=f"joint{k}", a=mark(f"link{k}", (-0.05, 0.0, 0.0)), b=before))
        pose[f"link{k}"] = (0.1 * k + 0.05, 0.0, 0.0)
    joints.append(BallJoint(name="hook", a=mark("load"), b=mark("link9", (0.05, 0.0, 0.0))))
    system = SpatialSystem(bodies=[*parts, ball("load", mass=1.0, radius=0.05)], joints=joints)
    run = simulate(system, system.state({**pose, "load": (1.0, 0.0, 0.0)}), 0.4, stepper=MoreauJean(dt=2e-3), save=20)
    assert run.status == "COMPLETED"
    assert run.event_counts.get("cut", 0) > 0 or run.statistics["steps"] > 200
    assert abs(run["energy_error"]).max() < 1e-12 * 9.81
    assert run.statistics["max_joint_error_m"] <= 1e-10


def test_wheels_that_contradict_one_another_do_not_work_against_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four driven wheels that stick, on rockers of which one is sprung: the motors of a side turn alike.

    They contradict one another by as much as the first guess of a step is off, which is no problem for Python, and by
    as much as joints are open: what solves that all the same slips, motors against one another by 2 N m.
    """
    bodies, joints, pose = [brick("body", mass=10.0, half=(0.3, 0.2, 0.08))], [], {"body": (0.0, 0.0, 0.25)}
    for side, y in (("l", 0.28), ("r", -0.28)):
        rocker = f"rocker_{side}"
        bodies.append(SpatialBody(name=rocker, mass=1.0, inertia=(0.02, 0.05, 0.05)))
        ends = mark(rocker, axis=(0, 1, 0)), mark("body", (0.0, y, 0.0), axis=(0, 1, 0))
        joints.append(Hinge(name=f"pivot_{side}", a=ends[0], b=ends[1]))
        pose[rocker] = (0.0, y, 0.25)
        for k, x in enumerate((-0.3, 0.3)):
            wheel, own = f"w{side}{k}", np.sign(y) * 0.08
            bodies.append(ball(wheel, mass=0.5, radius=0.12))
            ends = mark(wheel, axis=(0, 1, 0)), mark(rocker, (x, own, -0.12), axis=(0, 1, 0))
            joints += [
                Hinge(name=f"axle_{wheel}", a=ends[0], b=ends[1]),
                Motor(joint=f"axle_{wheel}", rate=6.0, cap=6.0),
            ]
            pose[wheel] = (x, y + own, 0.13)
    a, b = mark("rocker_l", (0.2, 0.0, 0.0)), mark("body", (0.2, 0.28, 0.05))
    spring, law = Spring(a=a, b=b, stiffness=2000.0, length=0.05), ContactLaw(mu=0.7)
    floor = [HalfSpace(name="floor")]
    system = SpatialSystem(bodies=bodies, joints=joints, forces=[spring], obstacles=floor, contact=law)
    taken: list[int] = []
    asked: list[int] = []
    again, answered = CompiledSystem.again, endings.answered
    monkeypatch.setattr(CompiledSystem, "again", lambda *given: taken.append(1) or again(*given))
    monkeypatch.setattr(endings, "answered", lambda *given: asked.append(1) or answered(*given))
    run = simulate(system, system.state(pose), 0.3, stepper=MoreauJean(dt=2e-3))
    assert run.status == "COMPLETED"
    assert len(taken) < 5
    assert not asked
    assert run.statistics["max_residual"] <= 2e-12
    for side in ("l", "r"):  # once they have come up to speed
        front, rear = (run[f"axle_w{side}{k}.motor_torque"][100:] for k in (0, 1))
        assert abs(front - rear).max() < 1e-3  # N m
        assert abs(front).max() < 0.01
    assert audit(run).passed


@pytest.mark.parametrize("damping", [10.0, 100.0])
def test_a_stiff_drag_stands_beside_the_mass_and_no_step_is_cut(damping: float) -> None:
    """It has no row, and is more than the gyroscopic moments that passes follow by themselves."""
    body = SpatialBody(name="a", mass=1.0, inertia=(0.01, 0.02, 0.03))
    hinge = Hinge(name="h", a=mark("a", (0.0, 0.0, 0.3)), b=mark("ground", (0.0, 0.0, 1.0)))
    drag = Drag(point=mark("a", (0.0, 0.3, 0.0)), damping=damping, spin_damping=0.1 * damping)
    system = SpatialSystem(bodies=[body], joints=[hinge], forces=[drag])
    start = system.state({"a": (0.0, 0.0, 0.7)}, {"a": (0.0, 0.0, 0.0, 0.0, 0.0, 3.0)})
    run = simulate(system, start, 0.2, stepper=MoreauJean(dt=1e-2))
    assert run.status == "COMPLETED"
    assert run.statistics["steps"] == 20
    assert audit(run, system).passed
