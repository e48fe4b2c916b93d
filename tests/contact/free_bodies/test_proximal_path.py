"""Proximal paths: directions with the modes held, and answers that are claimed."""

import numpy as np
import pytest
from evidence import examples

from gaussdyn.contact.free_bodies.frozen_directions import change_of_misfit
from gaussdyn.contact.free_bodies.frozen_modes import Border, impulses_of, misfit, modes_at, move
from gaussdyn.contact.free_bodies.newton import motion, residual, without_impulses
from gaussdyn.contact.free_bodies.one_island import THROUGH, care_of, through_folds
from gaussdyn.contact.free_bodies.proximal_path import (
    BEGAN,
    LOG,
    begin_on_path,
    look,
    next_point,
    room_on_path,
    sign_of_pivots,
)
from tests.contact.free_bodies.test_josephy_newton import TOL, natural_map, plates

ALPHA, SMALL = 1e-3, 1e-5
BRISKLY, FAITHFULLY = care_of(False), care_of(True)


def on_the_way(seed):
    """Return a problem, its work space, and a path somewhere in impulses drawn at random."""
    problem, ordering, work, _iterate = plates(seed)
    rng, n = np.random.default_rng(seed), len(problem.mu)
    path = room_on_path(n)
    path.x[:], path.centre[:] = rng.normal((1.0, 0.0, 0.0), 1.0, (n, 3)), rng.normal(size=(n, 3))
    path.at[LOG] = np.log(ALPHA)
    modes_at(n, problem.mu, path.x, path.mode)
    return problem, ordering, work, path


def misfit_at(problem, work, path, x, alpha):
    """Return u + alpha / rho (p - centre) - (p - x) / rho in the modes of the path."""
    p, off = np.zeros_like(x), np.zeros_like(x)
    misfit(problem, work, x, path.mode, alpha, path.centre, p, off)
    return off


@pytest.mark.drawn
def test_impulses_are_what_the_law_projects():
    for seed in range(examples(100, fast=10)):
        problem, _ordering, _work, path = on_the_way(seed)
        impulses_of(len(problem.mu), problem.mu, path.x, path.mode, path.p)
        normal = np.maximum(path.x[:, 0], 0.0)
        size = np.linalg.norm(path.x[:, 1:], axis=1)
        share = np.minimum(problem.mu * normal / size, 1.0)
        assert np.allclose(path.p, np.column_stack([normal, share[:, None] * path.x[:, 1:]]), atol=1e-15)


@pytest.mark.drawn
def test_directions_are_derivatives_of_the_misfit():
    """A small part of the correction takes that part of the misfit away, the direction none as alpha goes along."""
    for seed in range(examples(100, fast=10)):
        problem, ordering, work, path = on_the_way(seed)
        n, x = len(problem.mu), path.x.copy()
        begin = misfit_at(problem, work, path, x, ALPHA)
        look(problem, ordering, work, path, BRISKLY.exact)
        for d, h, left in ((path.fix, 0.0, 1.0 - SMALL), (path.along, SMALL, 1.0)):
            there = x.copy()
            move(n, there, d, SMALL, path.mode)
            end = misfit_at(problem, work, path, there, ALPHA * np.exp(h))
            scale = np.linalg.norm(problem.rho[:, None] * begin)
            size = np.linalg.norm(SMALL * d) / np.linalg.norm(x)
            assert np.linalg.norm(problem.rho[:, None] * (end - left * begin)) <= 50.0 * (size**2 + 1e-9) * scale, seed


@pytest.mark.drawn
def test_directions_are_exact_where_factors_are_not():
    """At terms of 1e-10 what the direction leaves of the misfit is looked at, and combined away."""
    seeds, exact = range(examples(100, fast=10)), 0
    for seed in seeds:
        problem, ordering, work, path = on_the_way(seed)
        path.at[LOG] = np.log(1e-10)
        look(problem, ordering, work, path, BRISKLY.exact)
        off = misfit_at(problem, work, path, path.x, 1e-10)
        change = np.zeros_like(off)
        change_of_misfit(problem, work, 1e-10, path.x, path.mode, path.fix, change)
        left = change + problem.rho[:, None] * off
        exact += np.linalg.norm(left) <= 2.0 * BRISKLY.exact.left * np.linalg.norm(problem.rho[:, None] * off)
    assert exact >= 0.9 * len(seeds)


@pytest.mark.drawn
def test_points_from_where_steps_are_taken_are_on_the_path():
    """The law holds there for u + alpha / rho (p - centre), whatever the steps, borders and turns before."""
    points = on = 0
    for seed in range(examples(40, fast=5)):
        problem, ordering, work, iterate = plates(seed, twist=1e-2)
        p, u, best, _start, v = iterate
        path, border, going = room_on_path(len(problem.mu)), Border(0.0, -1, False), 1
        scale, _floor = without_impulses(problem, work, p, v, u, best)
        motion(problem, p, work.F, v, u)
        used = begin_on_path(problem, ordering, work, iterate, path, scale, residual(problem, scale, p, u))
        while going == 1 and used < 60 and np.log(1e-8) < path.at[LOG] < 0.0:
            left = 60 - used
            going, border, more = next_point(problem, ordering, work, path, FAITHFULLY, border, np.log(1e-11), left)
            used += more
            if going == 1:
                alpha, far = np.exp(path.at[BEGAN]), np.linalg.norm(path.p - path.centre)
                motion(problem, path.p, work.F, v, u)
                shifted = u + alpha / problem.rho[:, None] * (path.p - path.centre)
                points += 1
                allowed = 5.0 * FAITHFULLY.part * alpha * far + 2.0 * FAITHFULLY.stray * np.linalg.norm(path.p)
                on += natural_map(problem, path.p, shifted) * scale <= allowed
    assert points >= 20
    assert on >= 0.95 * points


@pytest.mark.drawn
def test_sign_of_a_determinant():
    for seed in range(examples(100, fast=20)):
        B = np.random.default_rng(seed).normal(size=(3, 6, 6))
        assert sign_of_pivots(3, B) == np.prod(np.sign(np.linalg.det(B)))


@pytest.mark.drawn
@pytest.mark.parametrize("care", [BRISKLY, FAITHFULLY], ids=["briskly", "faithfully"])
def test_answers_beyond_folds_are_answers(care):
    """What is claimed is true, and most plates are solved from no impulses."""
    seeds, solved = range(examples(60, fast=10)), 0
    for seed in seeds:
        problem, ordering, work, iterate = plates(seed, twist=1e-2)
        E, floor, _factors = through_folds(problem, ordering, work, iterate, care, TOL, THROUGH)
        if max(TOL, floor) >= E:
            solved += 1
            assert natural_map(problem, iterate.p, iterate.u) <= 1.001 * max(TOL, floor), seed
    assert solved >= 0.7 * len(seeds)
