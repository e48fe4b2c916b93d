"""Rows and forces by kernels are those of the system itself; what is not listed is what a search does not find."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest
from random_scenes import falling, linked

from gaussdyn.integrate.event_driven.compiled.kernel_rows import KernelRows
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.event_driven.run_memory import RunMemory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.spatial.system import SpatialSystem

CASES = [(falling, {"seed": seed, "mu": 0.5, "eps_n": 0.5, "count": 1}) for seed in range(6)]
CASES += [(linked, {"seed": seed}) for seed in (101, 105, 107, 117)]


def with_all_contacts(make, how):
    """Return a system, and the same with all contacts that it can have where these are always the same."""
    system, state = make(3, **how)
    return system, RunMemory().whole(system, state.q), state


def states(state, seed, n=20):
    """Return states of bodies turned, moved and lifted at random."""
    rng, q0 = np.random.default_rng(seed), state.q.reshape(-1, 7)
    for k in range(n):
        q = q0 + np.where(np.arange(7) < 3, 0.2, 0.5) * rng.normal(size=q0.shape)
        q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
        yield 0.1 * k, q.ravel(), rng.normal(size=len(state.v))


def served():
    """Return the cases that kernels serve."""
    return [case for case in CASES if type(with_all_contacts(*case)[1]) is KernelRows]


def test_some_systems_are_served():
    assert len(served()) >= 6
    assert any(make is linked for make, _ in served())


def test_rows_and_force_are_those_of_the_system():
    for make, how in served():
        system, whole, start = with_all_contacts(make, how)
        plain = system.listed(start.q)
        for t, q, v in states(start, 1):
            push = np.linspace(-1.0, 1.0, len(v))
            np.testing.assert_allclose(whole.force(t, q, v), plain.force(t, q, v), rtol=0, atol=1e-11)
            np.testing.assert_allclose(whole.force(t, q, v, push), plain.force(t, q, v, push), rtol=0, atol=1e-11)
            pairs = list(zip(whole.rows(t, q, v), plain.rows(t, q, v), strict=True))
            for one, other in pairs:
                assert (one.id, one.kind, one.level, one.eps_n) == (other.id, other.kind, other.level, other.eps_n)
                assert one.gap == pytest.approx(other.gap, rel=0, abs=1e-13)
                for name in ("J", "rate", "drift", "point", "frame"):
                    mine, theirs = getattr(one, name), getattr(other, name)
                    assert (mine is None) == (theirs is None), name
                    if mine is not None:
                        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-11, err_msg=name)


def test_bodies_are_moved_to_the_bit_as_the_system_moves_them():
    for make, how in served():
        system, whole, start = with_all_contacts(make, how)
        for _, q, v in states(start, 4):
            for dt in (0.0, 1e-9, 0.01, 0.3):
                assert np.array_equal(whole.move(q, v, dt), system.move(q, v, dt))
                for longer in (1.0, 1.0 + 4e-16, 1.0 + 1e-15, 1.0 + 3e-15, 1.0 - 1e-9):
                    long, still = longer * q, 0.0 * v
                    assert np.array_equal(whole.move(long, still, dt), system.move(long, still, dt))


def test_answers_are_not_those_of_the_state_before():
    _, whole, start = with_all_contacts(*served()[0])
    (t, q, v), (_, p, u) = list(states(start, 2, 2))
    first = whole.rows(t, q, v)
    kept = [(row.J.copy(), row.rate.copy()) for row in first]
    whole.force(t, p, u)
    for row, (J, rate) in zip(first, kept, strict=True):
        assert np.array_equal(row.J, J)
        assert np.array_equal(row.rate, rate)
    again = whole.rows(t, q, v)
    assert all(np.array_equal(a.rate, b.rate) for a, b in zip(first, again, strict=True))
    q[2] += 0.1  # in place
    assert whole.rows(t, q, v)[0].gap == pytest.approx(first[0].gap + 0.1)


def test_contacts_beside_are_those_that_a_search_finds():
    for make, how in served():
        system, whole, start = with_all_contacts(make, how)
        for t, q, v in states(start, 3, 6):
            for over in (0.0, 1e-9, 1e-7, 3e-7, -1e-7, -0.01):
                rows = whole.rows(t, q, v)
                height = min([row.gap for row in rows if row.frame is not None])
                q = q.copy()
                q[2::7] += over - height
                rows = whole.rows(t, q, v)
                assert whole.beside(rows) == system.near(t, q, v, 0.0).contact_ids


def test_a_copy_is_a_plain_system_that_may_have_other_contacts():
    _, whole, start = with_all_contacts(*served()[0])
    assert type(copy(whole)) is SpatialSystem
    assert copy(whole).contacts is whole.contacts
    assert type(whole.near(0.0, start.q, start.v, 0.1)) is KernelRows, "all contacts are listed"
    assert [row.id for row in copy(whole).rows(0.0, start.q, start.v)] == [
        row.id for row in whole.rows(0.0, start.q, start.v)
    ]


def test_runs_with_rows_by_kernels_come_to_the_same_events(monkeypatch):
    system, state = falling(3, 3, mu=0.5, eps_n=0.5, count=1)
    fast = simulate(system, state, 0.5, stepper=EventDriven())
    monkeypatch.setattr(RunMemory, "whole", lambda self, system, q: system.listed(q) or system)
    slow = simulate(system, state, 0.5, stepper=EventDriven())
    assert len(fast.events) > 1
    assert [(event.kind, event.id) for event in fast.events] == [(event.kind, event.id) for event in slow.events]
    np.testing.assert_allclose([e.t for e in fast.events], [e.t for e in slow.events], rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast.q[-1], slow.q[-1], rtol=0, atol=1e-10)
