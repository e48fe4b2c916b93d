"""Energy of impacts: what each law promises, on random contacts in the plane and in space."""

from __future__ import annotations

import numpy as np
from evidence import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from impact_cases import random_contacts

from gaussdyn.integrate.impact.impact import impact
from gaussdyn.integrate.impact.impact_laws import Moreau, Newton, OneByOne, Poisson
from gaussdyn.integrate.impact.problem import Struck

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def struck(seed, contacts, dim, law):
    system, v = random_contacts(np.random.default_rng(seed), contacts, dim)
    return impact(system, system.start(v), law=law), 0.5 * v @ system.M @ v


@settings(deadline=None, max_examples=examples(25))
@given(seed=SEEDS, contacts=st.integers(1, 3), dim=st.sampled_from([2, 3]), e=st.floats(0.0, 1.0))
def test_moreau_with_one_restitution_never_gains(seed, contacts, dim, e):
    """The change is at most -(1 - e) / (1 + e) times the energy of the change of velocity, Moreau (1988)."""
    found, before = struck(seed, contacts, dim, Moreau(eps=e))
    assert found.solved
    M = found.phases[0].dynamics.M
    change = found.v - found.state.v
    bound = -(1.0 - e) / (1.0 + e) * 0.5 * change @ M @ change
    assert found.energy <= bound + 1e-9 * (before + abs(bound))


@settings(deadline=None, max_examples=examples(40))
@given(seed=SEEDS, contacts=st.integers(1, 3), dim=st.sampled_from([2, 3]), separates=st.booleans())
@example(seed=55, contacts=2, dim=3, separates=False)
@example(seed=1552, contacts=2, dim=2, separates=True)  # the laws have several solutions: the gain jumps
def test_moreau_with_any_restitution_never_gains_and_keeps_as_much_of_it_as_it_may(seed, contacts, dim, separates):
    """Coefficients that differ, and contacts that separate before the impact, could gain with all of it."""
    rng = np.random.default_rng(seed)
    system, v = random_contacts(rng, contacts, dim, spread=2.0)
    system.e_n, system.e_t = 1.0 - rng.uniform(size=contacts) ** 3, rng.uniform(size=contacts) ** 3
    start = system.start(rng.normal(size=system.nv) if separates else v)
    found = impact(system, start)
    assert found.solved
    assert not found.gains
    assert 0.0 <= found.kept <= 1.0
    if found.kept < 1.0 and found.phases[0].gain < -1e-11:  # a little more of it would gain, or not be solved
        at = Struck.at(system, start, None, None)
        more = at.phase("impact", at.dynamics(start.v, share=found.kept * (1.0 + 1e-9)))
        assert more.gain > 0.0 or not more.solution.solved


@settings(deadline=None, max_examples=examples(25))
@given(seed=SEEDS, contacts=st.integers(1, 3), dim=st.sampled_from([2, 3]), e=st.floats(0.0, 1.0))
def test_poisson_with_one_restitution_never_gains(seed, contacts, dim, e):
    """p_E . u+ <= e p_C W p_E, so that the change is at most -(1 - e^2) p_C W p_C / 2 - |p_E - e p_C|_W^2 / 2."""
    found, before = struck(seed, contacts, dim, Poisson(eps_n=e))
    assert found.solved
    M = found.phases[0].dynamics.M
    first = found.phases[0].v - found.state.v
    rest = found.v - found.phases[0].v - e * first
    bound = -0.5 * (1.0 - e * e) * first @ M @ first - 0.5 * rest @ M @ rest
    assert found.energy <= bound + 1e-9 * (before + abs(bound))


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS, contacts=st.integers(1, 3), dim=st.sampled_from([2, 3]), law=st.sampled_from([Newton, Poisson]))
def test_without_restitution_all_laws_are_one_and_lose(seed, contacts, dim, law):
    found, before = struck(seed, contacts, dim, law(eps_n=0.0))
    other, _ = struck(seed, contacts, dim, Moreau(eps=0.0))
    assert np.allclose(found.v, other.v, rtol=1e-9, atol=1e-9)
    assert found.energy <= 1e-9 * before


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS, dim=st.sampled_from([2, 3]), e=st.floats(0.0, 1.0))
def test_friction_never_works_against_the_slip_after_the_impact(seed, dim, e):
    for law in (Newton(eps_n=e), Moreau(eps=e)):
        found, _ = struck(seed, 2, dim, law)
        momentum = np.linalg.norm(found.phases[0].dynamics.M @ found.state.v)
        share = e if isinstance(law, Moreau) else 0.0
        for row in found.phases[-1].dynamics.rows:
            p, u = found.impulses[row.id], row.J @ found.v + share * row.rate
            assert np.linalg.norm(p[1:]) <= row.mu * p[0] + 1e-9 * momentum
            assert p[1:] @ u[1:] <= 1e-9 * momentum * np.linalg.norm(row.rate)


@settings(deadline=None, max_examples=15)
@given(seed=SEEDS, e=st.floats(0.0, 1.0), contacts=st.integers(1, 3))
def test_one_by_one_with_moreau_never_gains_and_leaves_nothing_approaching(seed, e, contacts):
    found, before = struck(seed, contacts, 2, OneByOne(law=Moreau(eps=e), most=200))
    assert found.energy <= 1e-9 * before
    if found.finished:
        system_rows = found.phases[0].dynamics.system.rows(0.0, found.state.q, found.v)
        assert min(float(row.rate[0]) for row in system_rows) >= -2e-9
