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

LEFT = 28  # column that marks who has left the box in which its near pairs are listed


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
    from gaussdyn.mechanics.collision.bounds.near_pairs import widen
    from gaussdyn.mechanics.collision.bounds.shape_tree import along_curve, bounds_meet, next_shape, raise_tree
    from gaussdyn.mechanics.collision.terrain.surface_search import LOW

    for seed in range(examples(12, fast=4)):
        shapes, x, R = _crowd(n, seed)
        found = Shapes.of({f"b{k:03d}": (shape,) for k, shape in enumerate(shapes)})
        space = found.buffers()
        found.search(x, R, 0.01, np.zeros(n), space)
        world, value, order = space.space.world, space.space.value.rank, np.arange(n)
        along_curve(world, value, order, n)
        widen(world, order, n)
        raise_tree(world, order, n, n)
        pairs = []
        for s in range(n):
            t = next_shape(world, order, n, n, order[s], LOW, s + 1)
            while t < n:
                if bounds_meet(world, order[s], order[t]):
                    pairs.append((min(order[s], order[t]), max(order[s], order[t])))
                t = next_shape(world, order, n, n, order[s], LOW, t + 1)
        assert sorted(pairs) == [(i, j) for i, j in combinations(range(n), 2) if bounds_meet(world, i, j)]


def _motions(x, R, seed):
    """Return poses and reaches, one after another: few shapes move, then all, none, many; one jumps; reaches change."""
    rng, n = np.random.default_rng(seed), len(x)
    for k in range(24):
        moving = rng.random(n) < (0.1, 1.0, 0.0, 0.4)[k % 4]
        x = x + moving[:, None] * rng.normal(size=(n, 3)) * 0.02
        if k % 6 == 5:
            x[rng.integers(n)] = rng.uniform(-1.0, 1.0, 3)
        turn = Rotation.from_rotvec(0.1 * moving[:, None] * rng.normal(size=(n, 3)))
        R = np.ascontiguousarray((turn * Rotation.from_matrix(R)).as_matrix())
        yield x, R, (0.0, 0.02, 0.1)[k % 3]


@pytest.mark.drawn
@pytest.mark.parametrize("crowded", [0.3, 1.0, 3.0])
def test_what_is_kept_of_near_pairs_changes_no_contact(crowded):
    for seed in range(examples(12, fast=3)):
        shapes, x, R = _crowd(70, seed)
        floor = [HalfSpace(name="floor", point=(0.0, 0.0, -1.0))]
        found = Shapes.of({f"b{k:03d}": (shape,) for k, shape in enumerate(shapes)}, floor)
        kept, left, listed = found.buffers(20_000), 0, 0
        for places, turns, reach in _motions(x * crowded, R, seed):
            fresh = found.buffers(20_000)
            count, again = (found.search(places, turns, reach, np.zeros(70), one) for one in (kept, fresh))
            assert count == again
            for one, other in zip(kept.answer, fresh.answer, strict=True):
                assert np.array_equal(one[:count], other[:count])
            left += kept.space.world[:71, LEFT].any()
            listed += kept.space.near[0] > 1
        assert crowded < 1.0 or (left and listed)  # shapes of very different sizes in a small place: too many to list


def _thrown_at():
    """Return 48 balls at rest on a floor, and two that fly into them."""
    bodies = [ball(f"b{k:02d}", mass=1.0, radius=0.1) for k in range(50)]
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5))
    place = {f"b{k:02d}": (0.2 * (k % 8), 0.2 * (k // 8), 0.1) for k in range(48)}
    place |= {"b48": (-0.4, 0.5, 0.2), "b49": (0.7, 0.6, 0.6)}
    return system, system.state(place, {"b48": (8.0, 0.0, -1.0, 0, 0, 0), "b49": (0.0, 0.0, -2.0, 0, 0, 0)})


def test_a_run_is_the_same_whatever_is_kept_of_near_pairs():
    stepper = MoreauJean(dt=2e-3)
    (keeps, one), (forgets, other) = _thrown_at(), _thrown_at()
    listed = 0
    for _ in range(100):
        stepper.kernels(forgets, other).space.buffers.space.near[0] = 0
        one, other = stepper.advance(keeps, one, 1e9).state, stepper.advance(forgets, other, 1e9).state
        assert one.digest() == other.digest()
        listed = max(listed, int(stepper.kernels(keeps, one).space.buffers.space.near[0]) - 1)
    assert listed > 80  # neighbours in the square
    assert np.abs(one.v[: 48 * 6]).max() > 0.1  # they were hit


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
