"""Steps of piles that are cut where their contact problem costs too much: laws, audits, and the same bits anyhow."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import InputError, MoreauJean, audit, build, simulate
from gaussdyn.integrate.stepper import CUT
from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.integrate.time_stepping.compiled.records import HARD
from gaussdyn.integrate.time_stepping.core.outside.cut_steps import halved, pieces_ahead, plan_of
from gaussdyn.integrate.worlds.worlds import Worlds
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import ball, brick
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State

pytestmark = pytest.mark.xdist_group("cut steps")  # what they share is made once

DT, END = 2e-3, 0.4
STEPPER = MoreauJean(dt=DT, tol=1e-10)
SIDES = [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)]


def spread(n, decades, mu, seed):
    """Return n balls in a narrow shaft, whose masses differ by so many powers of ten, and where they begin."""
    rng = np.random.default_rng(seed)
    sizes = [(10.0 ** rng.uniform(-decades, 0.0), rng.uniform(0.03, 0.05)) for _ in range(n)]
    bodies = [ball(f"b{i:02d}", mass=mass, radius=radius) for i, (mass, radius) in enumerate(sizes)]
    walls = [HalfSpace(name=f"w{k}", normal=n, point=tuple(-0.13 * np.array(n))) for k, n in enumerate(SIDES)]
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor"), *walls], contact=ContactLaw(mu=mu))
    at = [(0.11 * (i % 2) - 0.055, 0.11 * (i // 2 % 2) - 0.055, 0.1 + 0.13 * (i // 4)) for i in range(n)]
    off = rng.uniform(-4e-3, 4e-3, (n, 3))
    return system, system.state({body.name: tuple(x) for body, x in zip(bodies, at + off, strict=True)})


@pytest.fixture(scope="module")
def pile():
    system, state = spread(40, 2.95, 1.0, 13)  # whose islands have more than the 40 contacts that are pivoted
    return system, state, simulate(system, state, END, stepper=STEPPER)


def test_steps_that_are_cut_obey_all_laws_and_end_where_steps_end(pile):
    system, _state, run = pile
    assert run.status == "COMPLETED"
    assert run.event_counts["cut"] >= 10
    assert audit(run, system=system).passed
    assert run.steps.E.max() <= 1e-10
    cut = {event.t for event in run.events if event.kind == "cut"}
    whole = [t for t in run.steps.t.tolist() if t not in cut]
    np.testing.assert_array_equal(whole, np.arange(1, round(END / DT) + 1) * DT)
    assert run.steps.dt.min() >= DT / 1024 * (1.0 - 1e-9)
    np.testing.assert_allclose(np.diff(run.steps.t), run.steps.dt[1:], rtol=1e-9)
    ids = {event.id for event in run.events if event.kind == "cut"}
    assert all("/" in id for id in ids)  # contacts of shapes


def test_a_row_of_dominoes_that_leans_and_gives_way_ends_at_the_default_tolerance():
    """E keeps a least value of some 1e-11 where bodies are about to give way: no piece of a step is solved to 1e-12."""
    n = 12
    row = [brick(f"d{i:02d}", mass=0.1, half=(0.01, 0.04, 0.08)) for i in range(n)]
    system = SpatialSystem(bodies=row, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.2))
    stand = system.state({body.name: (0.07 * i, 0.0, 0.08) for i, body in enumerate(row)})
    v = np.zeros(system.nv)
    v[[0, 4]] = 0.5, 5.625  # the first one is pushed over
    run = simulate(system, State(q=stand.q, v=v), 0.9, stepper=MoreauJean(dt=DT))
    assert run.status == "COMPLETED"
    assert run.steps.E.max() <= 1e-10
    assert np.mean(run.steps.E <= 1e-12) > 0.5
    assert run["d11.z"][-1] < 0.03


def test_few_steps_are_cut_where_masses_differ_a_millionfold():
    """How heavy bodies wedge light ones does not depend on the length of a step: one in six was cut."""
    system, state = spread(20, 6.0, 0.5, 0)
    run = simulate(system, state, END, stepper=STEPPER)
    assert run.status == "COMPLETED"
    assert len(run.steps.t) <= 1.1 * END / DT
    assert run.steps.E.max() <= 1e-10
    assert audit(run, system=system).passed


def test_cut_steps_gain_no_energy(pile):
    """Those of this pile, to rounding; of any pile the law below holds."""
    _system, _state, run = pile
    energy = run["kinetic"] + run["potential"]
    short = np.flatnonzero(run.steps.dt < 0.9 * DT)
    assert np.diff(energy)[short].max() <= 1e-12 * energy[0]


def test_steps_and_pieces_of_them_gain_no_energy_but_what_reactions_do_while_their_normals_turn(pile):
    """Laws hold for directions at the middle of a step, and held for others at that of the one before."""
    system, _state, run = pile
    energy = run["kinetic"] + run["potential"]
    done = [work_of_turning(system, run, k) for k in range(1, len(run))]
    assert (np.diff(energy) <= 0.5 * np.array(done) + 1e-12 * energy[0]).all()
    assert (run.steps.dt < 0.9 * DT).sum() >= 10


def work_of_turning(system, run, k):
    """Return the sum of |p| |n1 - n0| |u| over the contacts of two balls in a step, J, u being what moves there."""
    radius, names, total = system.contacts.radii, [body.name for body in system.bodies], 0.0
    q0, v0, q1, v1 = (x[k].reshape(len(names), -1) for x in (run.before_q, run.before_v, run.q, run.v))
    for contact in run.contacts(k):
        if not contact.reaction.any() or not set(contact.between) <= set(names):
            continue
        a, b = map(names.index, contact.between)
        n0, n1 = ((q[a, :3] - q[b, :3]) / np.linalg.norm(q[a, :3] - q[b, :3]) for q in (q0, q1))
        spins = [[radius[i] * np.linalg.norm(v[i, 3:]) for i in (a, b)] for v in (v0, v1)]
        speed = max(np.linalg.norm(v[a, :3] - v[b, :3]) + sum(w) for v, w in zip((v0, v1), spins, strict=True))
        total += run.steps.dt[k - 1] * np.linalg.norm(contact.reaction) * np.linalg.norm(n1 - n0) * speed
    return total


@pytest.mark.parametrize("save", [pytest.param(1, marks=pytest.mark.slow), 7])
def test_runs_go_on_to_the_bit_from_within_a_cut_step(pile, tmp_path, save):
    system, state, run = pile
    within = next(event.t for event in run.events if event.kind == "cut")
    place = tmp_path / "run.h5"
    n = int(np.flatnonzero(run.steps.t == within)[0]) + 1
    many = CompiledBodies(system).advance_many(STEPPER, state, n)
    assert many.state.t == within
    assert many.state.memory[CUT][0] > within
    alone = CompiledBodies(system).advance_many(STEPPER, many.state, 40, t_max=END)
    np.testing.assert_array_equal(alone.q, run.q[n + 1 :][: len(alone.q)])
    assert len(alone.q) >= 20

    def stop(t, _t_end):
        if t == within:
            raise KeyboardInterrupt

    short = simulate(
        system, state, END, stepper=STEPPER, out=place, save=save, chunk=n, progress=stop, on_interrupt="return"
    )
    assert short.t_reached == within
    again = simulate(system, state, END, stepper=STEPPER, out=place, save=save, chunk=n, resume=True)
    np.testing.assert_array_equal(again.q[-1], run.q[-1])
    np.testing.assert_array_equal(again.v[-1], run.v[-1])


def test_one_step_at_a_time_gives_the_same_bits(pile):
    system, state, run = pile
    kernels, taken = CompiledBodies(system), []
    while state.t < END:
        step = STEPPER.advance(system, state, END)
        told = [event.id for event in run.events if event.kind == "cut" and event.t == step.state.t]
        assert [step.cut] == (told or [""])
        own = kernels.advance_many(STEPPER, state, 1).state
        np.testing.assert_array_equal(own.q, step.state.q)
        state = step.state
        taken.append(state.q)
    np.testing.assert_array_equal(taken, run.q[1:])


def test_a_run_may_end_within_a_cut_step(pile):
    system, state, run = pile
    within = next(event.t for event in run.events if event.kind == "cut")
    end = within + 0.3 * (np.ceil(within / DT) * DT - within)
    short = simulate(system, state, end, stepper=STEPPER)
    assert short.t_reached == end
    assert audit(short, system=system).passed


def test_worlds_stay_together_where_one_cuts_its_steps(pile):
    system, state, run = pile
    worlds = Worlds(system, [state, state], stepper=STEPPER)
    with pytest.raises(InputError, match="within a step that is cut"):
        worlds.put(0, State(t=0.0, q=state.q, v=state.v, memory={CUT: np.array([DT, DT / 4])}))
    worlds.step(n=round(END / DT))
    np.testing.assert_array_equal(worlds.state(1).q, run.q[-1])


def test_pieces_repeat_once_double_up_to_the_end_and_leave_no_sliver():
    plan = plan_of(STEPPER, State(t=0.0, q=np.zeros(0), v=np.zeros(0)), 8, 1.0)
    cut = halved(halved(halved(plan, 2), 2), 2)
    dt = DT * np.array([1, 1, 1 / 8, 1 / 8, 1 / 4, 1 / 2, 1, 1])
    np.testing.assert_allclose(cut[:, 1], dt, rtol=1e-9)
    np.testing.assert_array_equal(cut[1:, 0], cut[:-1, 2])
    assert cut[5, 2] == plan[2, 2]
    np.testing.assert_array_equal(cut[[0, 1, 5, 6, 7], 3:], 0.0)
    np.testing.assert_array_equal(cut[2:5, 3], plan[2, 2])
    within = State(t=cut[2, 2], q=np.zeros(0), v=np.zeros(0), memory={CUT: cut[2, 3:]})
    np.testing.assert_array_equal(pieces_ahead(STEPPER, within, 1.0), cut[3:6])


def test_pieces_that_no_means_solve_are_cut_further_before_dense_kernels_take_them(pile, monkeypatch):
    """One in some thousand steps of a hundred balls came to such a piece, and dense kernels took minutes there."""
    system, state, _run = pile
    kernels = CompiledBodies(system)
    state = kernels.advance_many(STEPPER, state, 140).state
    solve, by_hand, tried = kernels._call, kernels._by_hand, []

    def fails(run):
        length = run.plan[run.taken, 1] / DT
        return HARD if length > tried[-1] else solve(run)

    monkeypatch.setattr(kernels, "_call", fails)
    monkeypatch.setattr(kernels, "_by_hand", lambda *args: tried.append(1.0) or by_hand(*args))
    for longest, shortest in ((1 / 300, 1 / 512), (1 / 3000, 1 / 1024)):
        tried.append(longest)
        many = kernels.advance_many(STEPPER, state, 1)
        assert many.spans[0, 1] == pytest.approx(shortest * DT)
        assert many.E.max() <= STEPPER.tol
        assert (tried[-1] == 1.0) == (shortest == 1 / 1024)


@pytest.mark.parametrize("end", [1.0, -1.0, DT / 2])
def test_what_is_remembered_of_another_step_does_not_count(end: float) -> None:
    """A state that was given another time, or goes on with another dt, or in another system."""
    bodies = SpatialSystem(bodies=[ball("b", mass=1.0, radius=0.1)])
    cut, stepper = {CUT: np.array([end, DT / 4])}, MoreauJean(dt=DT / 4)
    for system, start in ((bodies, bodies.state()), (build("incline").system, build("incline").state)):
        state = State(t=0.0, q=start.q, v=start.v, memory=cut)
        step = stepper.advance(system, state, 1.0)
        assert step.dt == DT / 4
        assert CUT not in step.state.memory
        assert simulate(system, state, DT, stepper=stepper).steps.dt == pytest.approx(np.full(4, DT / 4))
