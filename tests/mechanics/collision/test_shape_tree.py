"""Pairs of shapes whose bounds overlap, against all pairs one by one; runs of many bodies without wide matrices."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest
from evidence import examples
from scipy.spatial.transform import Rotation

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, simulate
from gaussdyn.mechanics.collision.features import WIDE
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, Capsule, HalfSpace, Sphere
from gaussdyn.mechanics.spatial import ball


def _crowd(n, seed):
    """Return shapes whose sizes differ by a hundred, some of them in one place, and their poses."""
    rng = np.random.default_rng(seed)
    size = 0.01 * 100.0 ** rng.uniform(0.0, 1.0, n) if seed % 2 else np.full(n, 0.1)
    makers = (lambda r: Sphere(radius=r), lambda r: Box(half=(r, r, r / 2)), lambda r: Capsule(radius=r, half_length=r))
    x = rng.uniform(-1.0, 1.0, (n, 3)) * n ** (1 / 3) * np.array([[1.0, 0.5, 0.1]])
    if seed % 3 == 0:
        x[: n // 2] = x[0]
    return [makers[k % 3](r) for k, r in enumerate(size.tolist())], x, Rotation.random(n, random_state=seed).as_matrix()


@pytest.mark.drawn
@pytest.mark.parametrize("n", [1, 2, 8, 9, 70, 150])
def test_the_pairs_are_those_of_all_pairs(n):
    from gaussdyn.mechanics.collision.shape_tree import bounds_meet, next_shape

    for seed in range(examples(12, fast=4)):
        shapes, x, R = _crowd(n, seed)
        found = Shapes.of({f"b{k:03d}": (shape,) for k, shape in enumerate(shapes)})
        space = found.buffers()
        found.search(x, R, 0.01, np.zeros(n), space)
        world, value, order = space.space[0], space.space[1], np.arange(n)
        if n > 8:
            from gaussdyn.mechanics.collision.shape_tree import along_curve, raise_tree

            along_curve(world, value, order, n)
            raise_tree(world, order, n, n)
        pairs = []
        for s in range(n):
            t = next_shape(world, order, n, n, order[s], s + 1)
            while t < n:
                pairs.append((min(order[s], order[t]), max(order[s], order[t])))
                t = next_shape(world, order, n, n, order[s], t + 1)
        assert sorted(pairs) == [(i, j) for i, j in combinations(range(n), 2) if bounds_meet(world, i, j)]


def test_contacts_of_many_are_those_of_pair_by_pair():
    shapes, x, R = _crowd(60, 1)
    x *= 0.4
    together = Shapes.of({f"b{k:03d}": (shape,) for k, shape in enumerate(shapes)}).find(x, R, 0.02)
    one_by_one = []
    for i, j in combinations(range(60), 2):
        pair = Shapes.of({f"b{k:03d}": (shapes[k],) for k in (i, j)})
        one_by_one += [feature.id for feature in pair.find(x[[i, j]], R[[i, j]], 0.02)]
    assert len(one_by_one) > 100
    assert [feature.id for feature in together] == sorted(one_by_one)


def _rows(n):
    """Return n balls on a floor and rolling over it, side by side."""
    bodies = [ball(f"b{k:03d}", mass=1.0, radius=0.1) for k in range(n)]
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5))
    place = {body.name: (0.2 * k, 0.0, 0.1) for k, body in enumerate(bodies)}
    return system, system.state(place, {body.name: (0, 1.0, 0, -10.0, 0, 0) for body in bodies})


def test_jacobians_of_many_bodies_are_made_when_asked_for():
    (small, few), (large, many) = _rows(2), _rows(WIDE // 6 + 1)
    own, rows = (
        {row.id: row for row in one.near(0.0, state.q, state.v, 0.0).rows(0.0, state.q, state.v)}
        for one, state in ((small, few), (large, many))
    )
    assert len(rows) == 2 * len(large.bodies) - 1
    for key, row in own.items():
        other = rows[key]
        again = pickle.loads(pickle.dumps(other))
        assert np.array_equal(other.J[:, :12], row.J)
        assert not other.J[:, 12:].any()
        assert np.array_equal(again.J, other.J)
        assert np.allclose(other.J @ many.v, other.rate, atol=1e-14)
        assert other.but(gap=1.0).gap == 1.0


def test_a_run_of_many_bodies_builds_no_mass_matrix():
    system, state = _rows(300)
    run = simulate(system, state, 0.01, stepper=MoreauJean(dt=1e-3))
    assert run.status == "COMPLETED"
    assert "mass" not in vars(system.layout)
    assert run["kinetic"][-1] == pytest.approx(300 * 0.5 * (1.0 + 0.4), rel=1e-12)
    assert run["b299.y"][-1] == pytest.approx(0.01, rel=1e-12)
