"""Laws that every event-driven run of random bodies obeys: friction never drives, impacts gain no energy, no NaN.

Such a run completes, or stops with a reason.
"""

from __future__ import annotations

import numpy as np
import pytest
from evidence import examples, first
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from random_scenes import falling, linked, mixed

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.contact_modes import OPEN, parts_of
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.event_driven.smooth_phase import Phase as MotionPhase
from gaussdyn.integrate.impact.impact import impact
from gaussdyn.integrate.impact.impact_laws import Moreau
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.forces import Load
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem

QUICK = (Phase.explicit, Phase.generate)  # no smaller example: runs take long, and their seed says all
scenes = {
    "dim_count": st.sampled_from([(2, 1), (2, 2), (3, 1)]), "seed": st.integers(0, 10**6),
    "mu": st.sampled_from([0.0, 0.2, 0.5, 0.9]), "eps": st.sampled_from([0.0, 0.2, 1.0]),
}  # fmt: skip


def run_of(t_end, dim_count, seed, mu, eps):
    dim, count = dim_count
    system, state = falling(dim, seed, mu=mu, eps_n=eps, count=count)
    stepper = EventDriven(dt=0.05, impact=Moreau(eps=eps), crowd=30)
    return system, simulate(system, state, t_end, stepper=stepper)


def obeys(system, run):
    """Energy never grows, friction takes power, nothing overlaps, every end has a reason."""
    assert run.status == "COMPLETED" or run.stop.reason
    assert np.isfinite(run.q).all()
    assert np.isfinite(run.v).all()
    scale = float(run["kinetic"].max() + np.abs(run["potential"]).max())
    total = run["energy"]
    assert float((total - np.minimum.accumulate(total)).max()) <= 1e-9 * scale
    for k in range(len(run.t)):
        state = run.state(k)
        near = system.near(state.t, state.q, state.v, 0.0)
        for row in near.rows(state.t, state.q, state.v):
            assert row.gap >= -1e-9
            r = state.memory.get(row.id)
            if r is not None and row.frictional:
                size = float(np.abs(r[1:]).max())
                assert float(r[1:] @ row.rate[1:]) <= 1e-9 * size * (1.0 + float(np.abs(state.v).max()))


@settings(max_examples=examples(2, fast=1), deadline=None, derandomize=True, phases=QUICK)
@given(**scenes)
@example(dim_count=(2, 2), seed=9, mu=0.2, eps=1.0)  # corners that meet edges, beyond the ends of other edges
@example(dim_count=(2, 2), seed=7, mu=0.9, eps=0.6)  # a corner that the features at the start do not know
@example(dim_count=(3, 1), seed=17, mu=0.5, eps=1.0)
def test_random_bodies_by_events(dim_count, seed, mu, eps):
    obeys(*run_of(0.45, dim_count, seed, mu, eps))


def check_side(system, state, modes):
    """Friction and rolling resistance take power, relative to the support, and are inside their cones."""
    rows = system.rows(state.t, state.q, state.v)
    if {key for key, mode in modes.items() if mode.closed} - {row.id for row in rows} or not modes:
        return  # features that have parted since
    phase = MotionPhase(system=system, control=None, modes={row.id: modes.get(row.id, OPEN) for row in rows}, rows=rows)
    now = phase.instant(state.t, state.q, state.v)
    now = phase.sharing(now)  # redundant reactions are put inside their cones, if they can be
    size = max(float(np.abs(x).max()) for x in (now.h, *now.r))
    speed = 1.0 + float(np.abs(state.v).max())
    for row, r in zip(now.rows, now.r, strict=True):
        if not (row.frictional and phase.modes[row.id].closed):
            continue
        caps = (row.cap_s if row.kind == "dry" else row.mu_s * abs(float(r[0]))), row.mu_r * abs(float(r[0]))
        for part, cap in zip(parts_of(row), caps, strict=True):
            assert float(r[part] @ row.rate[part]) <= 1e-9 * size * speed, row.id
            assert float(np.linalg.norm(r[part])) <= cap + 1e-7 * size, row.id
        assert row.kind == "dry" or float(r[0]) >= -1e-7 * size, row.id


def check_impact(system, change, law):
    """The impulses take energy, relative to the supports, and each of them acts against the slip of its law."""
    v, after = change.before.v, change.after.v
    M, rows = system.mass(change.before.q), system.rows(change.t, change.before.q, v)
    said = impact(system, change.before, law=law)
    assert not said.gains
    np.testing.assert_allclose(said.v, after, rtol=0, atol=1e-6 * (1.0 + np.abs(v).max()))
    support = {row.id: row.rate - row.J @ v for row in rows}
    moved = sum(float(p @ support[key]) for key, p in said.impulses.items())
    size = 0.5 * v @ M @ v + sum(map(abs, said.works.values()))
    assert 0.5 * after @ M @ after - 0.5 * v @ M @ v + moved <= 1e-11 * size
    most = max((float(np.abs(p).max()) for p in said.impulses.values()), default=0.0) * (1.0 + np.abs(v).max())
    for row in rows:
        p = said.impulses.get(row.id)
        if p is not None and row.frictional:
            eps = law.eps if law.eps is not None else row.eps_t
            for part, e in zip(parts_of(row), (eps, 0.0), strict=True):
                u = row.J[part] @ after + support[row.id][part] + said.kept * e * row.rate[part]
                assert float(p[part] @ u) <= 1e-9 * most, row.id


def check_event(system, change, law):
    """Friction takes power before and after an event, and an impact gains no energy."""
    at = system.near(change.t, change.before.q, change.before.v, 0.0)
    check_side(at, change.before, change.modes_before)
    check_side(at, change.after, change.modes_after)
    if change.kind == "impact":
        check_impact(at, change, law)


def check_events(system, state, stepper, t_end, most=40):
    """Return how many events were checked, and what the last step says."""
    events, said = 0, None
    while state.t < t_end and events < most:
        step = stepper.advance(system, state, t_end)
        said = step.solution
        if not said.solved:
            break
        for change in step.changes:
            check_event(system, change, stepper.impact)
            events += 1
        assert step.restitution <= 1.0
        state = step.state
    return events, said


@settings(max_examples=examples(4, fast=1), deadline=None, derandomize=True, phases=QUICK)
@given(
    dim_count=scenes["dim_count"], seed=scenes["seed"], mu=st.sampled_from([0.2, 0.5, 0.9]),
    eps=st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])),
)  # fmt: skip
@example(dim_count=(2, 1), seed=3, mu=0.9, eps=(1.0, 0.0))
@example(dim_count=(3, 1), seed=3, mu=0.9, eps=(1.0, 0.0))
def test_friction_takes_power_at_every_event_whatever_the_restitution(dim_count, seed, mu, eps):
    dim, count = dim_count
    system, state = falling(dim, seed, mu=mu, eps_n=eps[0], eps_t=eps[1], count=count)
    check_events(system, state, EventDriven(crowd=30), 0.6)


@pytest.mark.parametrize(("make", "dim", "seed"), [
    (linked, 2, 88),  # redundant contacts, any of which may be the one whose friction is used up
    pytest.param(linked, 2, 20, marks=pytest.mark.slow),  # a hinge with dry friction beside redundant contacts
    (linked, 2, 102),  # dry friction that slides beside redundant contacts
    (linked, 3, 7),
    pytest.param(linked, 3, 14, marks=pytest.mark.slow),  # a rolling turns back on an edge
])  # fmt: skip
def test_friction_takes_power_at_every_event_of_linked_bodies(make, dim, seed):
    check_events(*make(dim, seed), EventDriven(crowd=30), 0.45)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "dim"), [(linked, 2), (linked, 3), (mixed, 2), (mixed, 3)])
@pytest.mark.parametrize("seeds", first(1, [range(100, 104), range(104, 112)], rest=pytest.mark.nightly))
def test_friction_takes_power_at_every_event_of_many_scenes(make, dim, seeds):
    events = 0
    for seed in seeds:
        system, state = make(dim, seed)
        law = Moreau(eps=0.5) if seed % 2 else Moreau()  # one restitution for all, or that of every row
        events += check_events(system, state, EventDriven(crowd=30, impact=law), 0.6)[0]
    assert events > 4 * len(seeds)


def test_the_saved_states_hold_reactions():
    system, run = run_of(0.45, (2, 1), 25, 0.5, 0.0)
    found = [run.state(k).memory.get(row.id) for k in range(len(run.t))
             for row in system.near(0.0, run.q[k], run.v[k], 0.0).rows(0.0, run.q[k], run.v[k])]  # fmt: skip
    assert any(r is not None and r.any() for r in found)


def first_events(run, n):
    return np.array([event.t for event in run.events if event.kind == "impact"][:n])


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "seed"), [
    (2, 2),  # rests where restitution turns the slip; shapes met on the way
    (2, 5), (2, 26), (2, 52),
    (2, 13), (2, 50),  # a disc comes to the end of an edge
    (2, 15),  # two corners that stick begin to slip at the same time
    (2, 24),  # the last ones of a sequence of impacts
    (3, 0),  # the lines of two edges cross beyond the ends of the edges
    (3, 4),  # an edge slides along the border of a face that it comes down on
    (3, 9),  # a dynamic jam: accelerations grow until the time is rounded
    (3, 8),  # a slip begins, and friction turns it faster than it moves
    (3, 22),  # a capsule across the border of a face; a gap that would close has parted when it is looked at again
])  # fmt: skip
def test_runs_of_mixed_scenes_end_and_pass_the_audit(dim, seed):
    system, state = mixed(dim, seed)
    legs = iter(range(300))
    run = simulate(system, state, 0.45, stepper=EventDriven(), progress=lambda t, t_end: next(legs))
    assert "StopIteration" not in str(run.stop), "more legs than events can explain"
    assert run.status == "COMPLETED" or run.stop.reason
    scale = float(run["kinetic"].max() + np.abs(run["potential"]).max())
    assert np.abs(run["energy_error"]).max() <= 1e-9 * scale
    assert run.statistics["max_penetration_m"] <= 1e-10
    checked = audit(run, system)
    assert checked.passed, checked.explain()
    coarse = simulate(system, state, 0.45, stepper=EventDriven(rtol=1e-10, atol=1e-11))
    fine, rough = first_events(run, 4), first_events(coarse, 4)
    np.testing.assert_allclose(rough, fine, rtol=0, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "t_end"), [
    (lambda: linked(3, 5), 0.3),
    (lambda: linked(3, 130), 0.3),
    # a corner slides on a capsule until its edge does; rolling turns back as it slips; four corners stop at once
    (lambda: linked(3, 1014), 0.8),
    # 774 events in 0.47 s, the last ones of heavy bodies that fall together; then they rest
    (lambda: falling(2, 21, mu=0.5, eps_n=0.5, eps_t=0.5), 1.0),
    # a point over a rim far from it; a slip begins beside corners that slide in all directions
    (lambda: falling(3, 8201, mu=0.2, eps_n=0.0, eps_t=0.5, count=2), 0.4),
    (lambda: falling(3, 8220, mu=0.5, eps_n=0.0, count=3), 0.3),
    # the tip of a capsule goes over an edge: its axis comes, and goes on
    (lambda: falling(3, 8223, mu=0.5, eps_n=0.0, count=3), 0.29),
    (lambda: linked(3, 8205), 0.4),  # a rolling turns as it stops
    (lambda: linked(2, 8328), 0.28),  # friction of a pin that other constraints hold is used up, and nothing turns
    (lambda: falling(3, 5, mu=0.1, eps_n=0.0), 0.33),  # a body lands on one whose corners slide in all directions
])  # fmt: skip
def test_runs_that_did_not_end_complete_and_pass_the_audit(make, t_end):
    system, state = make()
    run = simulate(system, state, t_end, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    checked = audit(run, system)
    assert checked.passed, checked.explain()


@pytest.mark.parametrize(("seed", "mu", "eps", "t_end"), first(3, [
    (104, 0.8, 0.6, 0.42),  # slips stop among speeds whose rounding is 1e-12 m/s
    (104, 0.8, 0.3, 0.5),  # friction turns a slip that begins, faster than steps of kernels are
    (212, 0.8, 0.3, 0.42),  # two corners would come to rest with more friction than they have
    (3009, 0.1, 0.3, 0.4),  # the end of a capsule comes over a face: the point over the rim is the same one
    (209, 0.8, 0.0, 0.24),  # as the first one
    (203, 0.8, 0.3, 0.25),  # a point over a rim that shapes meet later has a gap below zero until then
    (3007, 0.4, 0.0, 0.5),  # what a slip gave that stops, beside a contact that sticks
    (9216, 0.2, 0.0, 0.45),  # a box slides on its face; its last arc takes 2e-14 s, in which friction has no direction
]))  # fmt: skip
def test_falling_bodies_come_to_rest_in_space(seed, mu, eps, t_end):
    system, state = falling(3, seed, mu=mu, eps_n=eps, count=1 + seed % 2)
    run = simulate(system, state, t_end, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def test_a_slip_in_space_that_turns_at_once_as_it_stops_is_recorded_up_to_there():
    """Steps end short of the stop, again and again: an arc of 2e-11 s up to it had friction across its slip."""
    system, state = falling(3, 9009, mu=0.9, eps_n=0.0, eps_t=0.5, count=1)
    run = simulate(system, state, 0.35, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert any(event.kind == "stick" and event.t > 0.34 for event in run.events)
    checked = audit(run, system)
    assert checked.passed, checked.explain()


@pytest.mark.slow
def test_a_capsule_that_rocks_at_rest_goes_on_past_the_end_of_its_impacts():
    system, state = mixed(3, 3022)  # the other end touches as those of this one end; slips stop in long steps
    run = simulate(system, state, 0.8, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    checked = audit(run, system)
    assert checked.passed, checked.explain()


@pytest.mark.parametrize("seed", range(6))
def test_a_brick_that_slides_and_spins_while_a_corner_is_lifted_goes_on(seed):
    """The shortest reactions of its corners pull at one of them; those of three do not."""
    rng = np.random.default_rng(seed)
    lift = Load(point=SpatialMarker("b", (0.15, rng.uniform(-0.1, 0.0), 0.1)), force_xyz=(0.0, 0.0, 4.5))
    system = SpatialSystem(
        bodies=[brick("b", mass=1.0, half=(0.2, 0.15, 0.1))], obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=0.5), forces=[lift],
    )  # fmt: skip
    speed = (*rng.normal(size=2), 0.0, 0.0, 0.0, rng.normal() * 5.0)
    run = simulate(
        system, system.state({"b": (0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0)}, {"b": speed}), 0.01, stepper=EventDriven()
    )
    assert run.status == "COMPLETED", run.stop
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def test_a_step_that_is_cut_before_the_end_of_a_run_is_shorter():
    system, state = falling(3, 3007, mu=0.4, eps_n=0.0, count=2)
    run = simulate(system, state, 0.445, stepper=EventDriven())  # a slip stops in the last tenth of what is left
    assert run.status == "COMPLETED", run.stop


@pytest.mark.slow
def test_a_capsule_that_jams_ends_with_the_contact_whose_reaction_has_no_bound():
    system, state = mixed(3, 1)
    run = simulate(system, state, 0.8, stepper=EventDriven())
    assert run.status == "STOPPED"
    assert "b0:c1/floor" in run.stop.reason
    assert "grows without bound" in run.stop.reason
    assert [one.verify() for one in run.certificates] == [True]
    checked = audit(run, system)
    assert checked.passed, checked.explain()


@pytest.mark.slow
def test_a_touch_of_edges_that_has_moved_on_by_the_time_it_is_found_costs_no_energy():
    system, state = mixed(3, 10)
    run = simulate(system, state, 0.27, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert np.abs(run["energy_error"]).max() <= 1e-9 * float(run["kinetic"].max() + np.abs(run["potential"]).max())


@pytest.mark.slow
def test_a_slip_among_redundant_contacts_begins_along_its_acceleration():
    system, state = linked(3, 130)  # friction drops as it begins, and three contacts are redundant
    run = simulate(system, state, 0.2255, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    key = "b0:axis/b1:e10"
    begins = next(event.t for event in run.events if (event.kind, event.id) == ("slip", key))
    later = simulate(system, state, begins + 1e-6, stepper=EventDriven()).final
    (row,) = (
        row for row in system.near(later.t, later.q, later.v, 0.0).rows(later.t, later.q, later.v) if row.id == key
    )
    r, slip = later.memory[key], row.rate[1:]
    assert np.linalg.norm(slip) > 1e-7
    np.testing.assert_allclose(r[1:], -row.mu * r[0] * slip / np.linalg.norm(slip), rtol=0, atol=1e-6 * r[0])


@pytest.mark.slow
def test_the_audit_allows_redundant_reactions_another_share():
    system, state = linked(2, 20)
    before = simulate(system, state, 0.6, stepper=EventDriven()).final
    run = simulate(system, before, 0.7, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    checked = audit(run, system)
    assert checked.passed, checked.explain()
