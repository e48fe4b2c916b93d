"""Audits of event-driven runs judge the impacts that were, and notice others."""

from __future__ import annotations

from dataclasses import replace

import h5py
import numpy as np
import pytest
from evidence import examples, first
from random_scenes import falling, linked, mixed
from small_systems import SlidingRod

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.analysis.audit.recorded_impacts import JudgedImpact
from gaussdyn.analysis.audit.recorded_motion import RecordedMotion
from gaussdyn.analysis.audit.recorded_rests import rests, taken_along
from gaussdyn.contact.snapshot import Activation
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.impact.history import ImpactRecord, as_arrays, of_arrays
from gaussdyn.integrate.impact.impact import impact
from gaussdyn.integrate.impact.impact_laws import Moreau, Newton, OneByOne, Poisson
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.run.values import Column
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import Marker, Point, box, disc
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Position, UserSystem

LAWS = [Moreau(), Newton(), Poisson()]


def stacked():
    """A box that falls on a box that lies on the floor, turned a little: impacts pass through redundant corners."""
    law = ContactLaw(mu=0.4, eps_n=0.3)
    bodies = [box("lower", mass=2.0, width=1.0, height=0.4), box("upper", mass=1.0, width=0.5, height=0.3)]
    system = PlanarSystem(bodies=bodies, obstacles=[HalfPlane(name="floor")], contact=law)
    return system, system.state({"lower": (0.0, 0.2, 0.0), "upper": (0.1, 0.75, 0.2)}, {"upper": (0.5, 0.0, 0.0)})


def fell(impact=LAWS[0], t_end=0.23):
    system, state = stacked()
    return system, simulate(system, state, t_end, stepper=EventDriven(impact=impact))


def changed(run, which, by):
    """Change an impulse of one impact, and nothing else."""
    strike = run.impacts[which]
    key = max(strike.problems[0], key=lambda one: np.abs(strike.problems[0][one]).max())
    more = {key: strike.problems[0][key] + by * np.eye(len(strike.problems[0][key]))[0]}
    other = replace(strike, problems=({**strike.problems[0], **more}, *strike.problems[1:]))
    return replace(run, impacts=(*run.impacts[:which], other, *run.impacts[which + 1 :]))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_impacts_are_kept_and_judged_by_their_law(law):
    system, run = fell(law, t_end=0.178)
    assert run.status == "COMPLETED", run.stop
    assert {strike.t for strike in run.impacts} == {event.t for event in run.events if event.kind == "impact"}
    checked = audit(run, system)
    assert checked.passed, checked.explain()
    for by in (1e-6, -1e-6):
        assert not audit(changed(run, 0, by), system).passed


def test_a_changed_velocity_after_an_impact_is_noticed():
    system, run = fell(t_end=0.178)
    k = int(np.flatnonzero(run.saved == run.impacts[0].step)[0])
    for index in range(system.nv):
        v, before, column = run.v.copy(), run.before_v.copy(), run[f"v{index}"].copy()
        v[k, index] += 1e-6
        before[k + 1, index] += 1e-6
        column[k] += 1e-6
        columns = {**run.columns, f"v{index}": Column(unit="SI/s", values=column)}
        assert not audit(replace(run, v=v, before_v=before, columns=columns), system).passed


def test_a_step_that_begins_nowhere_is_not_searched_for_events():
    system, run = fell(t_end=0.178)
    fast = np.full_like(run.before_v, 1e6)  # through more bodies in a step than can be looked for
    assert audit(replace(run, before_v=fast), system).first_failure.name == "before"


def test_another_solution_of_the_law_is_an_impact_too():
    """A rod that slides into a Painleve situation: open, or stopped by an impact without collision."""
    system, rod = SlidingRod(2.0), "rod.end/floor"
    angle, omega = 1.2, -0.3
    s, c = np.sin(angle), np.cos(angle)
    state = State(q=[0.0, s, angle], v=[-3.0, c * omega + 0.01, omega])  # the end rises at 0.01 m/s and slides
    (row,) = system.rows(0.0, state.q, state.v)
    p = np.linalg.solve(row.J @ np.linalg.inv(system.mass(state.q)) @ row.J.T, -row.rate)
    assert p[0] > 0.0
    assert abs(p[1]) < system.mu * p[0]
    after = state.v + np.linalg.solve(system.mass(state.q), row.J.T @ p)
    np.testing.assert_allclose(row.J @ after, 0.0, rtol=0, atol=1e-14)
    assert judged(system, state, rod, p, after).residual <= 1e-14
    assert not impact(system, state).impulses[rod].any()  # solved anew it is the other one
    for off in 1e-6 * np.eye(2):
        moved = state.v + np.linalg.solve(system.mass(state.q), row.J.T @ (p + off))
        assert judged(system, state, rod, p + off, moved).residual > 1e-7
        assert judged(system, state, rod, p, moved).residual > 1e-7


def judged(system, state, key, p, after):
    strike = ImpactRecord(t=0.0, q=state.q, before=state.v, after=after, problems=({key: p},))
    return JudgedImpact.of(strike, system, Moreau(), Activation())


def test_an_impact_at_the_end_of_a_step_belongs_to_the_next():
    """A ball that strikes the floor just when a state is saved."""
    system = PlanarSystem(
        bodies=[disc("ball", mass=1.0, radius=0.1)], obstacles=[HalfPlane(name="floor")], contact=ContactLaw(eps_n=0.5)
    )
    run = simulate(
        system, system.state({"ball": (0.0, 0.1 + 0.5 * 9.81 * 0.1**2, 0.0)}), 0.35, stepper=EventDriven(dt=0.01)
    )
    assert run.before_t[run.impacts[0].step] == 0.1
    assert run.events[0].t == pytest.approx(0.1, abs=1e-16)  # as near as heights and times are rounded
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def test_a_file_gives_back_the_impacts_and_older_ones_have_none(tmp_path):
    system, run = fell()
    path = run.save(tmp_path / "run.h5")
    again = Trajectory.load(path)
    assert np.array_equal(again.steps.events, run.steps.events)
    assert again.steps.events.sum() == len(run.events)
    same(again.impacts, run.impacts)
    assert audit(again, system).passed
    with h5py.File(path, "a") as file:
        del file["impacts"], file["evidence"], file["steps/events"]
    older = Trajectory.load(path)
    assert older.impacts == ()
    assert older.evidence == {}
    assert (older.steps.events == -1).all()
    assert audit(older).passed
    assert audit(older, system).first_failure.name == "kinematics"  # nobody knows how its states were reached


@pytest.mark.parametrize("save", [1, 4])
def test_a_run_in_chunks_keeps_its_impacts(tmp_path, save):
    system, state = stacked()
    run = simulate(system, state, 0.23, stepper=EventDriven(), save=save)
    pieces = simulate(system, state, 0.23, stepper=EventDriven(), save=save, out=tmp_path / "run.h5", chunk=2)
    same(pieces.impacts, run.impacts)
    assert pieces.evidence.keys() == run.evidence.keys()
    assert {strike.step for strike in run.impacts} <= set(run.saved.tolist())
    assert audit(pieces, system).passed


def same(one, two):
    assert [(x.t, x.step, x.kept, len(x.problems)) for x in one] == [
        (x.t, x.step, x.kept, len(x.problems)) for x in two
    ]
    for x, y in zip(one, two, strict=True):
        for a, b in zip(x.problems, y.problems, strict=True):
            assert a.keys() == b.keys()
            assert all(np.array_equal(a[key], b[key]) for key in a)


def test_no_impacts_are_kept_as_none():
    assert of_arrays(as_arrays(())) == ()
    (alone,) = of_arrays(as_arrays([ImpactRecord(t=1.0, problems=(), step=3)]))
    assert (alone.t, alone.step, alone.problems) == (1.0, 3, ())


@pytest.mark.slow
@pytest.mark.parametrize(("make", "dim", "seed"), [(linked, 2, 7), (linked, 2, 8), (linked, 3, 2000), (mixed, 3, 2004)])
def test_runs_with_impacts_among_redundant_contacts_pass(make, dim, seed):
    system, state = make(dim, seed)
    run = simulate(system, state, 0.75, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def slid(speed, eps_n, mu=0.5, t_end=0.4):
    """A point that falls on a floor along which it goes, until its bounces have come to an end."""
    contact = PlanarContact(point=Marker("p"), plane=HalfPlane(name="floor"), mu=mu, eps_n=eps_n)
    system = PlanarSystem(bodies=[Point(name="p", mass=1.0)], contacts=[contact], gravity=(0.0, -9.81))
    state = system.state({"p": (0.0, 0.05)}, {"p": (speed, 0.0)})
    return system, simulate(system, state, t_end, stepper=EventDriven())


@pytest.mark.parametrize(("speed", "eps_n"), [(0.6, 0.1), (0.9, 0.2), (1.5, 0.3), (5.0, 0.2), (0.1, 0.3)])
def test_what_comes_to_rest_is_judged_by_all_that_pushes_until_then(speed, eps_n):
    """The jump that takes the last rebound away pulls and may drive: its sum with the impact pushes."""
    system, run = slid(speed, eps_n)
    k, rest = next((k, one) for k, one in enumerate(run.impacts) if one.kind == "rest")
    struck = run.impacts[k - 1]
    assert (struck.kind, struck.t) == ("impact", rest.t)
    pull, push = (sum(own["p/floor"] for own in one.problems) for one in (rest, struck))
    assert pull[0] < 0.0 < pull[0] + push[0]
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def test_friction_that_drives_where_contacts_come_to_rest_is_noticed():
    """More of it than the sum allows, with the velocity that it leads to, in all that is on record."""
    system, run = slid(1.5, 0.3)
    k, rest = next((k, one) for k, one in enumerate(run.impacts) if one.kind == "rest")
    sum_of_all = run.impacts[k - 1].problems[0]["p/floor"] + rest.problems[0]["p/floor"]
    for more, noticed in ((0.0, False), (-2.1 * sum_of_all[1], True)):
        own = {"p/floor": rest.problems[0]["p/floor"] + np.array([0.0, more])}
        other = replace(rest, problems=(own,), after=rest.after + np.array([more, 0.0]))
        motion = motion_with(run, system, k, other)
        assert all(one.residual <= 1e-12 for one in motion.impacts)
        assert (rests(motion) > 1e-8) == noticed


@pytest.mark.parametrize(("speed", "eps_n"), [(1.2, 0.2), (1.5, 0.3), (5.0, 0.2), (-2.0, 0.4)])
@pytest.mark.parametrize("share", [0.5, 1.0 + 1e-6, 1.5])
def test_more_or_less_friction_than_slip_has_where_contacts_come_to_rest_is_noticed(speed, eps_n, share):
    """With the velocity that it leads to, inside the cones: only the law of slip says that it is another amount."""
    system, run = slid(speed, eps_n)
    k, rest = next((k, one) for k, one in enumerate(run.impacts) if one.kind == "rest")
    p = rest.problems[0]["p/floor"]
    more = (share - 1.0) * p[1]
    row = next(row for row in system.rows(rest.t, rest.q, rest.before) if row.id == "p/floor")
    change = np.linalg.solve(system.mass(rest.q), row.J[1] * more)
    assert rests(motion_with(run, system, k, rest)) <= 1e-12
    other = replace(rest, problems=({"p/floor": p + np.array([0.0, more])},), after=rest.after + change)
    motion = motion_with(run, system, k, other)
    assert all(one.residual <= 1e-12 for one in motion.impacts)
    assert rests(motion) > 1e-8


def motion_with(run, system, k, strike):
    """Return the step of an impact on record, with another one in its place."""
    impacts, at = (*run.impacts[:k], strike, *run.impacts[k + 1 :]), int(np.flatnonzero(run.saved == strike.step)[0])
    return RecordedMotion.of(replace(run, impacts=impacts), system, at, Activation(), Moreau())


def test_a_rest_without_impulses_is_noticed():
    system, run = slid(1.2, 0.2)
    k = next(k for k, one in enumerate(run.impacts) if one.kind == "rest")
    impacts = list(run.impacts)
    impacts[k] = replace(impacts[k], problems=())
    assert not audit(replace(run, impacts=tuple(impacts)), system).passed


@pytest.mark.parametrize("mu", first(2, [0.1, 0.8, 0.4]))
def test_boxes_that_tumble_onto_a_floor_and_come_to_rest_pass(mu):
    """Where one corner stops to slip nothing moves, and friction has no say."""
    rng = np.random.default_rng(11)
    for _ in range(4 if mu == 0.4 else 2):
        law = ContactLaw(mu=mu, eps_n=float(rng.uniform(0.05, 0.5)))
        system = PlanarSystem(
            bodies=[box("a", mass=1.0, width=0.4, height=0.2)], obstacles=[HalfPlane(name="floor")], contact=law
        )
        speeds = rng.uniform(-2.0, 2.0), 0.0, rng.uniform(-3.0, 3.0)
        start = system.state({"a": (0.0, 0.3, rng.uniform(-0.5, 0.5))}, {"a": speeds})
        checked = audit(simulate(system, start, 1.2, stepper=EventDriven()), system)
        assert checked.passed, checked.explain()


@pytest.mark.parametrize("seed", range(examples(5)))
def test_a_pull_on_a_line_that_has_turned_leaves_the_pushes_in_their_cone(seed):
    """Pushes at their limit along lines that turn, less a pull along the last: outside by the square of the turn."""
    rng = np.random.default_rng(seed)
    mu, angles, N = rng.uniform(0.1, 1.0), np.sort(rng.uniform(0.0, 1e-2, 20)), rng.uniform(0.1, 1.0, 20)
    lines = np.column_stack((np.cos(angles), np.sin(angles)))
    pushes = np.concatenate(([N.sum()], mu * N @ lines))
    pull = -0.5 * N.sum() * np.concatenate(([1.0], mu * lines[-1]))
    total, found = pushes + pull, taken_along(pushes, pull, slice(1, 3))
    assert np.linalg.norm(total[1:]) - mu * total[0] > 1e-7 * total[0]
    assert np.linalg.norm(found[1:]) <= mu * found[0]
    np.testing.assert_allclose(found, total, rtol=0, atol=1e-2 * total[0])


@pytest.mark.parametrize(("ratio", "eps"), first(1, [(0.5, 0.2), (1.5, 0.4)]))
def test_a_column_whose_impacts_follow_one_another_until_nothing_moves_passes(ratio, eps):
    """The last of a hundred single impacts are at 1e-9 m/s, the first at 4.4 m/s: what these leave is rounding."""
    M = np.diag(ratio ** np.arange(3.0))
    gaps = [Position(lambda t, q, k=k: q[k] - (q[k - 1] if k else 0.0), eps_n=eps, name=f"c{k}") for k in range(len(M))]
    system = UserSystem(3, M, lambda t, q, v: -9.81 * np.diag(M), constraints=gaps)
    run = simulate(system, State(q=[1.0] * 3, v=[0.0] * 3), 0.5, stepper=EventDriven(impact=OneByOne()))
    assert len(run.impacts[0].problems) > 40
    checked = audit(run, system)
    assert checked.passed, checked.explain()
    *firsts, last = run.impacts[0].problems
    false = {key: (1.0 + 1e-3) * p for key, p in firsts[-5].items()}
    first = replace(run.impacts[0], problems=(*firsts[:-5], false, *firsts[-4:], last))
    assert not audit(replace(run, impacts=(first, *run.impacts[1:])), system).passed


@pytest.mark.slow
def test_a_rest_is_not_blamed_for_what_a_contact_gains_in_a_later_impact_of_many():
    """A corner came to rest, and was struck anew with three others: alone it gained 126 J, all of them lost energy."""
    system, state = falling(3, 9416, mu=0.9, eps_n=0.3, count=3)
    run = simulate(system, state, 0.45, stepper=EventDriven())
    checked = audit(run, system)
    assert checked.passed, checked.explain()
