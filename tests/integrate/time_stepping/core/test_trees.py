"""Trees by compiled steps: the same motion as by steps whose rows Python says, for all kinds of joints and parts."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import first
from tree_cases import five_bar_legs, link, random_state, zoo

import gaussdyn
from gaussdyn import ContactLaw, MoreauJean, State, simulate
from gaussdyn._jit import Held
from gaussdyn.analysis.audit import audit
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem, listing
from gaussdyn.integrate.time_stepping.core.contact_list import list_contacts, misses, overlooked
from gaussdyn.integrate.time_stepping.core.records import AHEAD, ALL_ROWS, ALONE, FIXED_ROWS, HIGH, REACH
from gaussdyn.integrate.time_stepping.core.row_model import built
from gaussdyn.integrate.worlds import Worlds
from gaussdyn.mechanics import spatial, trees
from gaussdyn.mechanics.initial.consistent_state import projected
from gaussdyn.mechanics.trees import TreeSystem

DT = 1e-3


def biped(legs: int = 2, floor: object = None) -> TreeSystem:
    """A trunk on legs with feet, above the floor, a half-space unless it is given; hips are driven."""
    hips = [f"hip{k}" for k in range(legs)]
    bodies = [link("trunk", "ground", trees.TreeJoint(name="root", motion="free"), centre=(0.0, 0.0, 0.0),
                   shapes=(spatial.Box(half=(0.2, 0.2, 0.05)),))]  # fmt: skip
    for k, hip in enumerate(hips):
        turn = 2.0 * np.pi * k / legs
        at = (0.25 * np.cos(turn), 0.25 * np.sin(turn), -0.05)
        joint = trees.TreeJoint(name=hip, axis=(0.3, 1.0, 0.0), low=-0.3, high=0.8, damping=0.5, friction=0.05)
        foot = spatial.Capsule(radius=0.04, half_length=0.1, at=(0.0, 0.0, -0.2))
        bodies.append(link(f"leg{k}", "trunk", joint, at=at, centre=(0.0, 0.0, -0.15), shapes=(foot,)))
    drives = [trees.Actuator(name=f"m{hip}", factors={hip: 2.0}, control_low=-1.0, control_high=1.0) for hip in hips]
    ground = spatial.HalfSpace(name="floor") if floor is None else floor
    return TreeSystem(bodies=bodies, actuators=drives, obstacles=[ground], contact=ContactLaw(mu=0.7))


def both(system: TreeSystem, state: State, steps: int, control: object = None) -> tuple[State, State]:
    """Return where kernels lead to, and where they do if Python evaluates the tree."""
    stepper, one, other = MoreauJean(dt=DT), state, state
    for k in range(steps):
        one = stepper.advance(system, one, 10.0, control=control).state
        other = listing(system, stepper, other, DT, (k + 1) * DT, control).state
    return one, other


@pytest.mark.parametrize("seed", range(3))
def test_all_kinds_of_parts_move_as_by_rows_of_python(seed: int) -> None:
    system = zoo(loops=False)
    state = projected(system, random_state(system, seed))
    told = np.array([0.2, 2.0, -0.3])
    one, other = both(system, state, 3, told)
    assert one.q == pytest.approx(other.q, abs=1e-10)
    assert one.v == pytest.approx(other.v, abs=1e-8)


def test_a_step_whose_end_has_more_contacts_than_fit_is_taken_again() -> None:
    """The search at the end says how fast bodies come there, by which the next try lists them, and asks for room."""
    system = biped(3)
    high = system.state({"root": (0.0, 0.0, 0.45)})
    low = system.state({"root": (0.0, 0.0, 0.37)}, {"root": (0.0, 0.0, -80.0, 0.0, 0.0, 0.0)})
    parts = built(system, high, 2)
    model, data, now = Held(parts.model), Held(parts.data), np.full(len(parts.data.acts), -1)
    data.value.q[:], data.value.v[:] = high.q, high.v
    assert list_contacts(model, data, now, DT)
    data.value.q1[:], data.value.v1[:] = low.q, low.v
    assert overlooked(model, data, DT)
    assert misses(model)
    assert not list_contacts(model, data, now, DT)


def test_feet_land_and_slide_as_by_rows_of_python() -> None:
    system = biped(3)
    state = system.state({"root": (0, 0, 0.42), "hip1": 0.2}, {"root": (0.4, 0.1, -0.5, 0.2, 0.1, 0.3)})
    one, other = both(system, state, 40, np.array([0.5, -3.0, 0.2]))
    assert one.q == pytest.approx(other.q, abs=1e-8)
    assert one.v == pytest.approx(other.v, abs=1e-6)
    assert {key for key, p in one.memory.items() if p[0] > 1e-9} == {
        key for key, p in other.memory.items() if p[0] > 1e-9
    }


def test_flight_is_of_second_order() -> None:
    """Halving the step divides the error by four, although passes end where the data change by 1e-12."""
    system, T = biped(3), 0.016
    rates = {"root": (0.4, 0.1, -0.5, 0.8, 0.5, -0.6), "hip0": 2.0, "hip1": 2.5, "hip2": 3.0}
    state = system.state({"root": (0, 0, 3.0)}, rates)

    def end(steps: int) -> np.ndarray:
        """Return q and v there."""
        final = gaussdyn.simulate(system, state, T, stepper=MoreauJean(dt=T / steps), save=10**6).final
        return np.concatenate([final.q, final.v])

    exact = end(512)
    errors = [np.abs(end(steps) - exact).max() for steps in (8, 16, 32)]
    assert errors[0] > 1e-8  # it is a motion that has errors
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(2.0, abs=0.05)


def test_steps_are_compiled_and_their_books_balance() -> None:
    system, dt = biped(4), 2e-3
    state = system.state({"root": (0, 0, 0.395)})
    run = gaussdyn.simulate(system, state, 0.4, stepper=MoreauJean(dt=dt), control=np.array([0.3, -0.2, 0.1, 0.4]))
    assert np.abs(run["energy_error"]).max() < 1e-5 * np.abs(run["potential"]).max()
    assert run["work_reactions"][-1] < 0.0  # impacts and friction take energy
    assert min(contact.gap for contact in run.contacts(-1)) >= -1e-10
    report = gaussdyn.audit(run, system=system)
    assert report.passed, report


def test_a_loop_stays_closed() -> None:
    """A four-bar in joint coordinates, its last pin a closure with redundant rows: bars of 1 m, a parallelogram."""

    def bar(name: str, parent: str, at: float, angle: float) -> trees.TreeBody:
        joint = trees.TreeJoint(name=f"to_{name}", axis=(0.0, 1.0, 0.0), zero=angle)
        return link(name, parent, joint, at=(at, 0.0, 0.0), centre=(0.5, 0.0, 0.0))

    bodies = [bar("crank", "ground", 0.0, 0.0), bar("coupler", "crank", 1.0, 0.0), bar("rocker", "coupler", 1.0, 0.0)]
    pin = trees.Connect(name="pin", a="rocker", at_a=(1.0, 0.0, 0.0), b="ground", at_b=(1.0, 0.0, 0.0))
    system = TreeSystem(bodies=bodies, parts=[pin])
    start = system.state({"to_crank": -1.0, "to_coupler": 1.0, "to_rocker": np.pi - 1.0})
    run = gaussdyn.simulate(system, start, 0.2, stepper=MoreauJean(dt=4e-3))
    assert max(abs(row.gap) for row in system.rows(0.0, run.final.q, run.final.v)) < 1e-10
    assert run["to_coupler.angle"] == pytest.approx(-run["to_crank.angle"], abs=1e-9)
    assert abs(run["to_crank.angle"][-1] + 1.0) > 0.02


@pytest.mark.parametrize("corrections", [True, False])
@pytest.mark.parametrize("askew", [(0.0, 0.0, 0.0), (0.5, 0.5, 0.5), (0.0, 0.0, 0.4)])
def test_legs_of_five_bars_stay_closed_while_the_trunk_tilts(
    askew: tuple[float, float, float], corrections: bool
) -> None:
    """Each loop has three rows for two freedoms: one is zero up to rounding, or follows from the others, all the time.

    What follows must be found.
    """
    system = five_bar_legs(askew)
    state, stepper = system.state({"root": (0, 0, 0.305)}), MoreauJean(dt=2e-3, corrections=corrections)
    for _ in range(40):
        step = stepper.advance(system, state, 1.0)
        assert step.solution.solved, step.solution.explain()
        assert step.solution.residuals is not None
        assert step.solution.residuals.E <= 1e-10
        state = step.state
        rows = system.rows(state.t, state.q, state.v)
        assert max(abs(row.gap) for row in rows if row.kind == "bilateral") <= 1e-10
        assert min((row.gap for row in rows if row.kind != "bilateral"), default=0.0) >= -1e-10
    assert abs(state.q[3:7] - [1.0, 0.0, 0.0, 0.0]).max() > 1e-5  # three feet: it does not stay level


@pytest.mark.parametrize("askew", [(0.0, 0.0, 0.0), (0.0, 0.0, 0.4)])
def test_audits_of_loops_with_rows_that_nothing_moves_pass(askew: tuple[float, float, float]) -> None:
    system = five_bar_legs(askew)
    start = system.state({"root": (0, 0, 0.305)})
    run = gaussdyn.simulate(system, start, 0.1, stepper=MoreauJean(dt=2e-3))
    verdict = audit(run, system)
    assert run.event_counts["touchdown"] == 3
    assert verdict.passed, verdict
    assert np.abs(run["pin0:y.r"]).max() == 0.0


def test_rows_of_a_loop_are_those_of_the_body_that_it_begins_at() -> None:
    """However that body moves: in its axes, and without its velocities, wherever the ends are."""
    system = five_bar_legs((0.5, 0.0, -0.3))
    state = random_state(system, 4)
    for one in system.parts:
        rows = {row.id: row for row in system.rows(0.0, state.q, state.v)}
        own = np.vstack([rows[f"{one.name}:{axis}"].J for axis in "xyz"])
        gap = np.array([rows[f"{one.name}:{axis}"].gap for axis in "xyz"])
        a, b, trunk = (system.frame(state.q, name) for name in (one.a, one.b, "trunk"))
        apart = a.x + a.R @ one.at_a - b.x - b.R @ one.at_b
        assert np.abs(own[:, :6]).max() == 0.0
        assert gap == pytest.approx(trunk.R.T @ apart, abs=1e-14)
        assert np.linalg.norm(apart) > 0.1
        assert np.linalg.matrix_rank(own, tol=1e-12) == 2


def test_what_a_step_strikes_at_its_new_speed_is_listed_by_kernels() -> None:
    """Contacts are sought as far as the speeds at the start lead; a strong motor reaches farther within one step."""
    arm = link("arm", "ground", trees.TreeJoint(name="turn", axis=(0.0, 1.0, 0.0)), centre=(0.2, 0.0, 0.0),
               shapes=(spatial.Sphere(radius=0.05, at=(0.5, 0.0, 0.0)),))  # fmt: skip
    motor = trees.Actuator(name="motor", factors={"turn": 1.0})
    floor = spatial.HalfSpace(name="floor", point=(0.0, 0.0, -0.06))
    system = TreeSystem(bodies=[arm], actuators=[motor], obstacles=[floor], contact=ContactLaw(mu=0.5))
    start, stepper, told = system.state(), MoreauJean(dt=2e-3), np.array([2000.0])
    by_python = listing(system, stepper, start, 2e-3, 2e-3, told)
    kernels = CompiledSystem.of(system, start)
    assert isinstance(kernels, CompiledSystem)
    many = kernels.advance_many(stepper, start, 1, told)
    assert many.taken == 1
    assert many.state.v == pytest.approx(by_python.state.v, abs=1e-9)
    assert many.state.q == pytest.approx(by_python.state.q, abs=1e-11)
    assert many.state.memory["arm/floor"][0] > 0.0
    assert abs(many.state.v[0]) < 0.1 * abs(start.q[0] + 2e-3 * told[0])  # the floor has stopped it


def scissors(draw: np.random.Generator) -> TreeSystem:
    """Two legs that swing to all sides, with long capsules askew, and motors."""
    bodies, motors, inertia = [], [], np.diag([0.02, 0.02, 0.01])
    for k, x in enumerate((-0.12, 0.12)):
        turn = np.array([1.0, *(0.3 * draw.normal(size=3))])
        pill = spatial.Capsule(radius=0.05, half_length=0.15, at=(0.0, 0.0, -0.25), turn=turn / np.linalg.norm(turn))
        axes = {f"swing{k}": (0.0, 1.0, 0.0), f"spread{k}": (1.0, 0.0, 0.0)}
        joints = tuple(trees.TreeJoint(name=name, axis=axis) for name, axis in axes.items())
        bodies.append(trees.TreeBody(name=f"leg{k}", at=(x, 0.0, 0.0), joints=joints, mass=1.0, inertia=inertia,
                                     shapes=(pill,)))  # fmt: skip
        motors += [trees.Actuator(name=f"m_{name}", factors={name: 1.0}) for name in axes]
    return TreeSystem(bodies=bodies, actuators=motors, contact=ContactLaw(mu=0.3))


@pytest.mark.parametrize("seed", first(1, [79, 22, 93]))
def test_a_leg_that_slides_from_the_side_of_another_to_its_end_is_listed_by_kernels(seed: int) -> None:
    """The end overlaps where the step of the sides alone leads to: nothing before says so."""
    draw = np.random.default_rng(seed)
    system, stepper = scissors(draw), MoreauJean(dt=4e-3)
    told = 3.0 * np.abs(draw.normal(size=4)) * [-1.0, 1.0, 1.0, 1.0]
    state, sides = system.state(), set()
    kernels = CompiledSystem.of(system, state)
    assert isinstance(kernels, CompiledSystem)
    for k in range(25):
        by_python = listing(system, stepper, state, 4e-3, (k + 1) * 4e-3, told).state
        many = kernels.advance_many(stepper, state, 1, told)
        assert many.taken == 1
        assert many.state.v == pytest.approx(by_python.v, abs=1e-8)
        assert many.state.q == pytest.approx(by_python.q, abs=1e-10)
        state = many.state
        sides |= {id for id in state.memory if "/" in id}
    assert len(sides) > 1


def test_calls_without_a_record_come_to_the_same_states_and_leave_them_alone() -> None:
    """Their room serves the next call: what a call has returned must not be in it."""
    system, stepper = biped(), MoreauJean(dt=DT)
    start = system.state({"root": (0, 0, 0.42), "hip1": 0.2}, {"root": (0.4, 0.1, -0.5, 0.2, 0.1, 0.3)})
    kernels = CompiledSystem.of(system, start)
    assert isinstance(kernels, CompiledSystem)
    recorded, found, state = [], [], start
    for _ in range(8):
        recorded.append(kernels.advance_many(stepper, state, 25))
        state = recorded[-1].state
    state = start
    for _ in range(8):
        found.append(kernels.advance_many(stepper, state, 25, record=False))
        state = found[-1].state
    assert any("/" in id for one in found for id in one.state.memory)  # feet have landed
    for one, other in zip(recorded, found, strict=True):
        for name in ("spans", "E", "goal", "passes", "gap", "q", "v"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert one.state.digest() == other.state.digest() == one.stretches[-1].end.digest()


def test_what_stands_still_keeps_its_contacts_and_no_other_state_gets_them() -> None:
    """Contacts are not looked for again where nothing has moved since: the same as by kernels that know of no step."""
    ball = link("ball", "ground", trees.TreeJoint(name="root", motion="free"), centre=(0.0, 0.0, 0.0),
                shapes=(spatial.Sphere(radius=0.1),))  # fmt: skip
    systems = [
        TreeSystem(bodies=[ball], obstacles=[spatial.HalfSpace(name="floor")], contact=ContactLaw(mu=0.7))
        for _ in range(2)
    ]
    stepper = MoreauJean(dt=DT)
    stands, hangs = (systems[0].state({"root": (0.0, 0.0, z)}) for z in (0.1, 0.2))
    for state in (stands, stands, hangs, stands, hangs):
        for _ in range(3):
            fresh = CompiledSystem(systems[1], built(systems[1], state))
            one = stepper.advance(systems[0], state, 10.0)
            assert one.state.digest() == fresh.advance(stepper, state, DT, state.t + DT).state.digest()
            assert bool(one.reactions) == (state.q[2] < 0.15)
            state = one.state
    worlds = Worlds(systems[0], [stands, stands, hangs, stands], stepper=stepper, threads=1)
    for _ in range(3):
        worlds.step(n=2)
        assert [len(worlds.state(k).memory) for k in (2, 0, 1, 3)] == [0, 1, 1, 1]
    assert worlds.state(1).q.tolist() == stands.q.tolist()
    worlds.step()
    assert worlds._lanes[0].parts.model.shapes.numbers[REACH] < 0.0  # no list is that of the next world's places


@pytest.mark.parametrize("corrections", [True, False])
def test_contacts_found_at_the_end_of_a_step_serve_the_next_one_alone(corrections: bool) -> None:
    """States at the same place that go on faster, or for longer, list their own: as kernels that know of no step do."""
    slab = spatial.Box(
        half=(2.0, 2.0, 0.05), at=(0.0, 0.0, -0.05), name="floor"
    )  # feet may have others contacts with it
    systems, stepper, served = [biped(3, slab) for _ in range(2)], MoreauJean(dt=2e-3, corrections=corrections), 0
    state = systems[0].state({"root": (0, 0, 0.42), "hip1": 0.2}, {"root": (0.4, 0.1, -0.5, 0.2, 0.1, 0.3)})
    kernels = CompiledSystem.of(systems[0], state)
    assert isinstance(kernels, CompiledSystem)
    for k in range(60):
        told = np.array([40.0, -30.0, 20.0]) * (-1.0) ** (k // 5)
        state = stepper.advance(systems[0], state, 10.0, control=told).state
        served += int(kernels.parts.model.shapes.numbers[AHEAD] >= 0.0)
        faster = State(t=state.t, q=state.q, v=1.5 * state.v, memory=dict(state.memory))
        for other, dt in ((state, 2e-3), (faster, 2e-3), (state, 5e-3)) if k % 4 == 0 else ((state, 2e-3),):
            fresh = CompiledSystem(systems[1], built(systems[1], other))
            own = fresh.advance(stepper, other, dt, other.t + dt, told)
            one = kernels.advance(stepper, other, dt, other.t + dt, told)
            assert (one.state.digest(), kernels.ids) == (own.state.digest(), fresh.ids)
    assert served > 10


def test_rows_of_trees_end_where_their_branches_do() -> None:
    """What sums over rows leave out, beyond `reach`, is zero: of rows J, and of J L^-1 with M = L^T L."""
    system = biped(3)
    start = system.state({"root": (0, 0, 0.42), "hip1": 0.2}, {"root": (0.4, 0.1, -0.5, 0.2, 0.1, 0.3)})
    kernels = CompiledSystem.of(system, start)
    assert isinstance(kernels, CompiledSystem)
    for _ in range(120):
        start = MoreauJean(dt=DT).advance(system, start, 10.0, control=np.array([0.5, -3.0, 0.2])).state
    assert any("/" in id for id in start.memory)  # feet have landed
    layout, data = kernels.parts.model.layout, kernels.parts.data
    n, nv = int(layout.counts[ALL_ROWS]), system.nv
    beyond = np.arange(nv) >= layout.reach[:n, HIGH, None]
    assert beyond[: layout.counts[FIXED_ROWS]].any()
    assert beyond[layout.counts[FIXED_ROWS] :].any()
    alone = layout.reach[:n, ALONE, None]
    beside = (alone > 0) & (alone != 1 + np.arange(nv))
    assert beside[: layout.counts[FIXED_ROWS]].any()
    L = np.linalg.cholesky(data.M[::-1, ::-1]).T[::-1, ::-1]  # lower, M = L^T L
    for J in (data.mid.J[:n], data.end.J[:n]):
        assert not J[beyond | beside].any()
        assert np.abs(np.linalg.solve(L.T, J.T).T[beyond]).max() < 1e-14


def test_two_robots_push_each_other() -> None:
    """Two trees whose rows meet: blocks of the mass beside each other."""
    finger = [
        link(name, "ground", trees.TreeJoint(name=f"slide_{name}", motion="slide", axis=(1.0, 0.0, 0.0)),
             at=(x, 0.0, 0.0), shapes=(spatial.Sphere(radius=0.1),))
        for name, x in (("left", -0.11), ("right", 0.11))
    ]  # fmt: skip
    system = TreeSystem(bodies=finger, gravity=(0.0, 0.0, 0.0))
    state = system.state(rates={"slide_left": 1.0})
    run = gaussdyn.simulate(system, state, 0.1, stepper=MoreauJean(dt=DT))
    assert run.final.v == pytest.approx([0.5, 0.5], abs=1e-12)  # momentum is kept, the impact is inelastic


@pytest.mark.parametrize("corrections", [True, False])
def test_what_stands_is_stepped_once_as_if_step_by_step(corrections: bool) -> None:
    """A step that ends exactly as it began is the next one, too: in one call, one by one and in worlds, to the bit."""
    feet = [spatial.Sphere(name=f"foot{a}", radius=0.05, at=(0.2 * np.cos(a), 0.2 * np.sin(a), 0.0)) for a in (0, 2, 4)]
    root, hip = trees.TreeJoint(name="root", motion="free"), trees.TreeJoint(name="hip", axis=(0, 1, 0.0), damping=0.5)
    bodies = [link("stool", "ground", root, centre=(0.0, 0.0, 0.0), shapes=tuple(feet))]
    bodies.append(link("arm", "stool", hip, centre=(0.0, 0.0, -0.02)))
    drive = trees.Actuator(name="servo", factors={"hip": 1.0}, gain=(3.0, 0.0, 0.0), bias=(0.0, -3.0, -0.2))
    system = TreeSystem(
        bodies=bodies, actuators=[drive], obstacles=[spatial.HalfSpace(name="floor")], contact=ContactLaw(mu=0.5)
    )
    state, stepper = system.state({"root": (0.0, 0.0, 0.051)}), MoreauJean(dt=2e-3, corrections=corrections)
    run = simulate(system, state, 2.0, stepper=stepper, control=[0.0])
    assert np.array_equal(run.q[-1], run.q[-2])
    assert not run.v[-1].any()
    one, several = state, Worlds(system, [state], stepper=stepper)
    for k in range(1000):
        one = stepper.advance(system, one, 1e9, control=np.zeros(1)).state
        assert np.array_equal(one.q, run.q[k + 1])
    assert audit(simulate(system, state, 2.0, stepper=stepper, control=[0.0], save=50), system).passed
    several.step(np.zeros(1), n=1000)
    assert one.digest() == run.state_hash == several.state(0).digest()
    calls = [(0.0, 2e-3, False), (0.0, 2e-3, True), (0.3, 2e-3, False), (0.3, 1e-3, False), (0.0, 1e-3, True)]
    for told, dt, books in calls:
        method = MoreauJean(dt=dt, corrections=corrections)  # from one call to the next, whatever changes between them
        for _ in range(2):
            many = method.kernels(system, one).advance_many(method, one, 3, np.array([told]), record=books)
            fresh = State(t=one.t, q=one.q, v=one.v, memory=dict(one.memory))
            kernels = CompiledSystem(system, built(system, fresh))
            for _ in range(3):
                fresh = kernels.advance(method, fresh, *method.span(fresh.t, 1e9), np.array([told])).state
            one = many.state
            assert np.array_equal(one.q, fresh.q)
            assert np.array_equal(one.v, fresh.v)
            assert one.digest() == fresh.digest()
            if books:
                potential = many.stretches[-1].books.potential[-1]
                assert potential == pytest.approx(system.potential(one.t, one.q), rel=1e-12)
