"""Laws that every event-driven run of random bodies obeys: friction never drives, impacts gain no energy, no NaN.

Such a run completes, or stops with a reason.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from random_scenes import falling, mixed

from gaussdyn.analysis.audit import audit
from gaussdyn.integrate.event_driven import EventDriven
from gaussdyn.integrate.impact import impact
from gaussdyn.integrate.impact_laws import Moreau
from gaussdyn.integrate.phases import Phase as MotionPhase
from gaussdyn.integrate.simulate import simulate

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


@settings(max_examples=2, deadline=None, derandomize=True, phases=QUICK)
@given(**scenes)
@example(dim_count=(2, 2), seed=9, mu=0.2, eps=1.0)  # corners that meet edges, beyond the ends of other edges
@example(dim_count=(2, 2), seed=7, mu=0.9, eps=0.6)  # a corner that the features at the start do not know
@example(dim_count=(3, 1), seed=17, mu=0.5, eps=1.0)
def test_random_bodies_by_events(dim_count, seed, mu, eps):
    obeys(*run_of(0.45, dim_count, seed, mu, eps))


def power(phase, state):
    """Return the largest power of friction in a phase, relative to its terms."""
    now, most = phase.instant(state.t, state.q, state.v), 0.0
    for row, r in zip(now.rows, now.r, strict=True):
        if row.frictional:
            size = float(np.abs(r).max()) * (1.0 + float(np.abs(state.v).max()))
            most = max(most, float(r[1:3] @ row.rate[1:3]) / size) if size else most
    return most


def check_event(system, change, law):
    """Friction takes power before and after an event, and an impact gains no energy."""
    at = system.near(change.t, change.before.q, change.before.v, 0.0)
    for state, modes in ((change.before, change.modes_before), (change.after, change.modes_after)):
        rows = at.rows(state.t, state.q, state.v)
        if modes and {row.id for row in rows} <= modes.keys():
            modes = {row.id: modes[row.id] for row in rows}
            assert power(MotionPhase(system=at, control=None, modes=modes, rows=rows), state) <= 1e-9
    if change.kind == "impact":
        M, state = system.mass(change.before.q), change.before
        said = impact(at, state, law=law)
        before = 0.5 * state.v @ M @ state.v
        assert not said.gains
        assert said.energy <= 1e-11 * (before + sum(map(abs, said.works.values())))
        for row in at.rows(state.t, state.q, state.v):
            p = said.impulses.get(row.id)
            if p is not None and row.frictional:  # friction acts against the slip that the law looks at
                u, size = row.J @ said.v + said.kept * row.eps_t * row.rate, float(np.abs(p).max())
                assert float(p[1:3] @ u[1:3]) <= 1e-9 * size * (1.0 + float(np.abs(state.v).max()))


@settings(max_examples=4, deadline=None, derandomize=True, phases=QUICK)
@given(
    dim_count=scenes["dim_count"], seed=scenes["seed"], mu=st.sampled_from([0.2, 0.5, 0.9]),
    eps=st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])),
)  # fmt: skip
@example(dim_count=(2, 1), seed=3, mu=0.9, eps=(1.0, 0.0))
@example(dim_count=(3, 1), seed=3, mu=0.9, eps=(1.0, 0.0))
def test_friction_takes_power_at_every_event_whatever_the_restitution(dim_count, seed, mu, eps):
    dim, count = dim_count
    system, state = falling(dim, seed, mu=mu, eps_n=eps[0], eps_t=eps[1], count=count)
    stepper, events = EventDriven(crowd=30), 0
    while state.t < 0.6 and events < 40:
        step = stepper.advance(system, state, 0.6)
        if not step.solution.solved:
            break
        for change in step.changes:
            check_event(system, change, stepper.impact)
            events += 1
        assert step.restitution <= 1.0
        state = step.state


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
    (3, 0),  # the lines of two edges cross beyond the ends of the edges
    (3, 4),  # an edge slides along the border of a face that it comes down on
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
