"""Steps of scenes and random linkages against the reference; many in one call; functions that fail."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_step import apart, reference_of
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn import LagrangianSystem, MoreauJean, PlanarSystem, State, UserSystem, build
from gaussdyn.errors import InputError
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem, ListedSystem
from gaussdyn.integrate.time_stepping.core.outside.lazy_step import CompiledStep
from gaussdyn.integrate.time_stepping.core.row_model import built
from gaussdyn.mechanics.planar import Drag, HalfPlane, Hinge, Marker, PlanarBody, PlanarContact, Slider, Spring
from gaussdyn.mechanics.user.system import Position

SCENES = (
    "belt_oscillator", "capstan", "chaplygin_sleigh", "double_pendulum_impact", "duffing_plane", "four_bar",
    "leaving_sphere", "painleve_klein", "rimless_wheel", "rocking_block", "slack_string", "slider_clearance",
    "turntable", "overhang", "two_ball_drop", "wedge_lock",
)  # fmt: skip


def largest_gap(stepper: MoreauJean, system: object, state: State, control: object = None) -> tuple[float, object]:
    """Return by how much one step differs from that of the reference, relative, and the step."""
    ours = stepper.advance(system, state, state.t + 1.0, control=control)
    assert ours.solution.solved
    return apart(ours, reference_of(system, ours)), ours


@pytest.mark.parametrize("name", SCENES)
def test_steps_of_scenes_are_those_of_the_reference(name: str) -> None:
    """Along a run of every kind of system and law: the same velocities, places, work, and the same rows that act."""
    scene, kinds = build(name), set()
    stepper, state = MoreauJean(dt=scene.dt), scene.state
    for k in range(24):
        off, step = largest_gap(stepper, scene.system, state, scene.control) if k % 4 == 0 else (0.0, None)
        assert off <= 1e-9
        state = (step or stepper.advance(scene.system, state, state.t + 1.0, control=scene.control)).state
        kinds.add(type(step))
    assert CompiledStep in kinds


def linked(lengths: list[float], mu: float, eps: float, angle: float, damping: float) -> PlanarSystem:
    """Return a chain of rods on a slider above a floor, with a spring; its tips may touch the floor."""
    bodies = [PlanarBody(name=f"r{k}", mass=1.0 + k, inertia=0.02 + 0.1 * a * a) for k, a in enumerate(lengths)]
    floor = HalfPlane(name="floor", normal=(np.sin(angle), np.cos(angle)))
    joints = [Slider(name="guide", a=Marker("r0"), b=Marker("ground", (0.0, 1.0)), direction=(1.0, 0.3))]
    for k in range(1, len(lengths)):
        ends = Marker(f"r{k}", (-lengths[k], 0.0)), Marker(f"r{k - 1}", (lengths[k - 1], 0.0))
        joints.append(Hinge(name=f"h{k}", a=ends[0], b=ends[1]))
    contacts = [
        PlanarContact(point=Marker(f"r{k}", (a, 0.0), "tip"), plane=floor, mu=mu, eps_n=eps)
        for k, a in enumerate(lengths)
    ]
    forces = [Spring(a=Marker("r0"), b=Marker("ground", (0.2, 0.9)), stiffness=30.0, length=0.1, damping=damping)]
    forces.append(Drag(point=Marker(f"r{len(lengths) - 1}"), damping=0.5))
    return PlanarSystem(bodies=bodies, contacts=contacts, forces=forces, joints=joints)


@settings(max_examples=12)
@given(
    lengths=st.lists(st.floats(0.1, 0.6), min_size=1, max_size=3), mu=st.floats(0.0, 0.9), eps=st.floats(0.0, 0.8),
    angle=st.floats(-0.4, 0.4), damping=st.floats(0.0, 3.0), turn=st.floats(-1.2, 1.2),
)  # fmt: skip
def test_random_linkages_with_contacts_step_as_the_reference(
    lengths: list[float], mu: float, eps: float, angle: float, damping: float, turn: float
) -> None:
    """Whatever closes, bounces or slides on the way."""
    system = linked(lengths, mu, eps, angle, damping)
    joints = {"guide": 0.05} | {f"h{k}": turn for k in range(1, len(lengths))}
    state = system.state(joints=joints, rates={"guide": 1.0})
    stepper = MoreauJean(dt=2e-3)
    for _ in range(60):
        state = stepper.advance(system, state, 10.0).state
    off, _step = largest_gap(stepper, system, state)
    assert off <= 1e-8


def test_many_steps_in_one_call_are_single_ones_bit_by_bit() -> None:
    """However a run is cut into calls, and whatever else the system was asked in between."""
    scene = build("rocking_block")
    stepper, one = MoreauJean(dt=scene.dt), scene.state
    for _ in range(200):
        one = stepper.advance(scene.system, one, scene.t_end).state
    kernels, many, taken = CompiledSystem.of(scene.system, scene.state), scene.state, 0
    assert kernels is not None
    while taken < 200:
        done = kernels.advance_many(stepper, many, min(70, 200 - taken), t_max=scene.t_end, whole=False)
        many, taken = done.state, taken + done.taken
        stepper.advance(scene.system, scene.state, scene.t_end)
    assert many.digest() == one.digest()


def rod(fails: dict[str, object]) -> UserSystem:
    """Return a pendulum of Python functions, whose force fails as told."""

    def force(t: float, q: np.ndarray, v: np.ndarray, u: object = None) -> object:
        """Return gravity."""
        if t > fails.get("t", np.inf):
            if isinstance(fails["with"], Exception):
                raise fails["with"]
            return fails["with"]
        return np.array([0.0, -9.81])

    length = Position(lambda t, q: float(np.hypot(*q)) - 1.0, kind="bilateral", name="rod")
    return UserSystem(2, mass=np.eye(2), force=force, constraints=[length])


@pytest.mark.parametrize(
    ("answer", "error"), [(ZeroDivisionError("user"), ZeroDivisionError), (np.array([np.nan, 0.0]), InputError),
                          (np.zeros(3), InputError)],
)  # fmt: skip
def test_a_function_that_fails_in_mid_step_says_so_and_costs_nothing(answer: object, error: type[Exception]) -> None:
    """It is raised as it was, and the system goes on from the state before."""
    fails: dict[str, object] = {}
    system, stepper = rod(fails), MoreauJean(dt=1e-2)
    before = stepper.advance(system, State(q=np.array([1.0, 0.0]), v=np.zeros(2)), 1.0).state
    fails |= {"t": 0.0, "with": answer}
    with pytest.raises(error):
        stepper.advance(system, before, 1.0)
    fails.clear()
    off, _step = largest_gap(stepper, system, before)
    assert off <= 1e-12


def test_symbols_are_evaluated_once_at_a_state() -> None:
    """Mass, force, energies and rows of a state come from one call: three for a pass, and four for begin and end."""
    scene = build("slider_crank")
    system, asked = scene.system.with_params(), list[tuple[float, ...]]()
    plain = system.evaluate

    def counted(t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        """Note what is asked."""
        asked.append((t, *q, *v))
        plain(t, q, v, u, p, out)

    system._evaluate = counted
    done = CompiledSystem(system, built(system, scene.state)).advance_many(MoreauJean(dt=scene.dt), scene.state, 20)
    assert done.taken == 20
    assert len(set(asked)) == len(asked) <= (3.0 * done.passes + 4.0).sum()


def test_what_was_evaluated_with_another_control_is_forgotten() -> None:
    """A step from the same state is the same whatever was asked before."""
    x, u = dynamicsymbols("x"), sp.Symbol("u")
    system = LagrangianSystem([x], kinetic=x.diff() ** 2, forces=[3 * u - x.diff()], controls=[u], compile=False)
    stepper, start = MoreauJean(dt=1e-2), State(q=np.zeros(1), v=np.ones(1))
    found = [stepper.advance(system, start, 1.0, control=[push]).state.digest() for push in (1.0, 2.0, 2.0, 1.0)]
    assert found[0] == found[3] != found[1] == found[2]


def test_a_system_held_to_contacts_that_were_found_is_asked_for_its_rows() -> None:
    """Kernels would find others; the step is the same where these are all there are."""
    scene = build("overhang")
    frozen = scene.system.near(0.0, scene.state.q, scene.state.v, scene.dt)
    assert isinstance(CompiledSystem.of(scene.system, scene.state), CompiledSystem)
    assert isinstance(CompiledSystem.of(frozen, scene.state), ListedSystem)
    one, other = (MoreauJean(dt=scene.dt).advance(s, scene.state, 1.0) for s in (scene.system, frozen))
    np.testing.assert_allclose(one.state.v, other.state.v, rtol=0.0, atol=1e-13)


def test_steps_before_an_error_in_the_same_call_are_kept() -> None:
    """The error comes with the next call; the state with which the failed call began can be begun with again."""
    fails: dict[str, object] = {}
    system, stepper, start = rod(fails), MoreauJean(dt=1e-2), State(q=np.array([1.0, 0.0]), v=np.zeros(2))
    kernels = CompiledSystem.of(system, start)
    assert kernels is not None
    whole = kernels.advance_many(stepper, start, 20)
    fails |= {"t": 0.1, "with": ZeroDivisionError("user")}
    some = kernels.advance_many(stepper, start, 20)
    assert 0 < some.taken < whole.taken
    with pytest.raises(ZeroDivisionError):
        stepper.advance(system, some.state, 1.0)
    fails.clear()
    again = kernels.advance_many(stepper, start, 20)
    assert again.state.digest() == whole.state.digest()


def test_a_system_that_cannot_be_hashed_steps_as_well() -> None:
    """Kernels are kept by system; one that says when it equals another may have no hash."""

    class Equal(UserSystem):
        """A system with equality."""

        def __eq__(self, other: object) -> bool:
            return self is other

        __hash__ = None  # type: ignore[assignment]

    step = MoreauJean(dt=1e-2).advance(Equal(1, [[1.0]], [-1.0]), State(q=[0.0], v=[0.0]), 1.0)
    assert step.solution.solved
    assert step.state.v[0] == pytest.approx(-1e-2)


def test_functions_in_python_are_asked_no_more_than_they_must() -> None:
    """The force once at a state, nothing that a system of functions is known for; but whatever a user puts in place."""
    asked: list[str] = []

    class Own(UserSystem):
        def mass(self, q):
            asked.append("mass")
            return super().mass(q)

        def move(self, q, v, dt):
            asked.append("move")
            return super().move(q, v, dt)

        def rows(self, t, q, v):
            asked.append("rows")
            return super().rows(t, q, v)

        def potential(self, t, q):
            asked.append("potential")
            return super().potential(t, q)

    def force(t, q, v):
        asked.append("force")
        return [-np.sin(q[0])]

    state, ends = State(q=[1.0], v=[0.3]), []
    for kind, others in ((UserSystem, set()), (Own, {"mass", "move", "rows", "potential"})):
        kernels = CompiledSystem.of(kind(1, [[2.0]], force), state)
        kernels.advance_many(MoreauJean(dt=1e-3), state, 2)
        asked.clear()
        ends.append(kernels.advance_many(MoreauJean(dt=1e-3), state, 20).state)
        assert asked.count("force") == 40
        assert set(asked) == {"force"} | others
    assert (ends[0].q, ends[0].v) == (ends[1].q, ends[1].v)
