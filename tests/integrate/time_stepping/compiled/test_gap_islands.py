"""Shifts of a pile, found island by island among the gaps that may close, against those found among all gaps."""

import numpy as np

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem
from gaussdyn.contact.free_bodies.body_problem import Iterate
from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.integrate.time_stepping.compiled.gap_islands import push_near_apart
from gaussdyn.integrate.time_stepping.compiled.soft_gaps import push_apart
from gaussdyn.mechanics.spatial import HalfSpace, ball

ENOUGH = 1e-12  # m


def dense_balls(seed):
    """Return the compiled arrays of 48 balls that touch, all contacts in its problem."""
    rng, k = np.random.default_rng(seed), np.arange(48)
    places = np.stack([k % 4, k // 4 % 4, k // 16], axis=1) * 0.1 + (0.0, 0.0, 0.05)
    bodies = [ball(f"b{i:02d}", mass=float(rng.uniform(0.5, 2.0)), radius=0.05) for i in k]
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.3))
    at = {body.name: (*x, 1.0, 0.0, 0.0, 0.0) for body, x in zip(bodies, places.tolist(), strict=True)}
    state = system.state(at)
    kernels = CompiledBodies.of(system)
    kernels.advance(MoreauJean(dt=1e-3), state, 1e-3, 1e-3)
    return kernels.space, rng


def iterate_for(count, bodies):
    return Iterate(*(np.zeros((count, 3)) for _ in range(4)), np.zeros((bodies, 6)))


def test_shifts_of_islands_are_those_of_the_whole_pile():
    apart = 0
    for seed in range(12):
        space, rng = dense_balls(seed)
        problem, count = space.problem, int(space.problem.contacts.first[-1])
        gaps, held = np.abs(rng.normal(size=count)) * 1e-3, rng.random(count) < 0.05
        below = rng.random(count) < (0.02, 0.1, 0.3)[seed % 3]
        problem.w[:], problem.h[:] = 0.0, 0.0
        problem.w[:count, 0] = np.where(below, -0.3 * gaps, gaps)
        problem.w[:count, 0][held] *= 0.1
        problem.mu[:count] = np.where(held, -1.0, 0.0)
        near, whole = iterate_for(count, 48), iterate_for(count, 48)
        push_near_apart(problem, space.ordering, space.work, near, ENOUGH)
        push_apart(problem, space.ordering, space.work, whole, ENOUGH)
        p, u, size = near.other[:, 0], near.u[:, 0], np.abs(whole.v).max()
        assert np.abs(near.v - whole.v).max() <= 1e-7 * size
        assert u.min() >= -10.0 * ENOUGH
        assert np.abs(u[held]).max(initial=0.0) <= 10.0 * ENOUGH
        assert p[~held].min() >= 0.0
        assert np.abs(p * u)[~held].max() <= 10.0 * ENOUGH * p.max()
        apart += (p == 0.0).sum() > count // 2
    assert apart > 4


def test_what_has_no_gap_to_be_removed_stays_where_it_is():
    """All gaps of a pile are held, off by rounding, but one below a ball that stands apart from the others."""
    space, rng = dense_balls(0)
    problem, count = space.problem, int(space.problem.contacts.first[-1])
    pair, first = problem.contacts.pair, problem.contacts.first
    alone = int(pair[0, 1])
    problem.w[:], problem.h[:], problem.mu[:count] = 0.0, 0.0, -1.0
    problem.w[:count, 0] = 0.5 * ENOUGH * rng.uniform(-1.0, 1.0, count)
    for k in range(len(first) - 1):
        if alone in pair[k]:
            one = slice(first[k], first[k + 1])
            grounded = pair[k, 0] < 0
            problem.w[one, 0], problem.mu[one] = (-1e-4, -1.0) if grounded else (1.0, 0.0)
    near = iterate_for(count, 48)
    assert push_near_apart(problem, space.ordering, space.work, near, ENOUGH) > 0
    still = np.arange(48) != alone
    assert not near.v[still].any()
    assert abs(near.v[alone, 2] - 1e-4) <= 10.0 * ENOUGH
