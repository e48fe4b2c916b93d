"""Islands of a contact problem: what does not touch is solved as if it were alone, and what rests costs a check."""

import numpy as np
import pytest

from gaussdyn.contact.free_bodies.body_problem import BodyProblem, Contacts, Iterate
from gaussdyn.contact.free_bodies.coulomb import step_sizes
from gaussdyn.contact.free_bodies.islands import solve_islands
from gaussdyn.contact.free_bodies.newton import motion

from .test_structure import Heap

TOL = 1e-10


class Together:
    """Heaps side by side in one problem, the bodies of each in their order, but mixed with those of the others."""

    def __init__(self, heaps, seed):
        rng = np.random.default_rng(seed)
        owner = rng.permutation(np.repeat(np.arange(len(heaps)), [heap.n for heap in heaps]))
        self.bodies = [np.flatnonzero(owner == k) for k in range(len(heaps))]
        pairs = [np.where(h.contacts.pair < 0, -1, b[h.contacts.pair]) for h, b in zip(heaps, self.bodies, strict=True)]
        pair = np.concatenate(pairs)
        first = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(heap.contacts.first) for heap in heaps]))])
        self.contacts = np.split(np.arange(first[-1]), np.cumsum([heap.c for heap in heaps])[:-1])
        solid = [np.zeros((len(owner), *part.shape[1:])) for part in heaps[0].problem[1:4]]
        for heap, at in zip(heaps, self.bodies, strict=True):
            for whole, part in zip(solid, heap.problem[1:4], strict=True):
                whole[at] = part
        frames = [np.concatenate(parts) for parts in zip(*(heap.contacts[3:] for heap in heaps), strict=True)]
        law = [np.concatenate(parts) for parts in zip(*(heap.problem[4:] for heap in heaps), strict=True)]
        slot = np.full((len(pair), 4), -1)
        contacts = Contacts(np.ascontiguousarray(pair), first, slot, *frames)
        self.problem = BodyProblem(contacts, *solid, *law)


def solve(problem, start=None):
    """Return impulses, E and factorisations."""
    c, n = len(problem.mu), len(problem.M)
    p = np.zeros((c, 3)) if start is None else start.copy()
    iterate = Iterate(p, *(np.zeros((c, 3)) for _ in range(3)), np.zeros((n, 6)))
    E, floor, factors, _slow = solve_islands(problem, iterate, TOL, 0.01 * TOL, np.inf)
    assert max(TOL, floor) >= E
    return p, E, factors


@pytest.mark.parametrize("seed", range(4))
def test_joined_is_apart_to_the_bit(seed):
    heaps = [Heap(seed + 10 * k, n=n) for k, n in enumerate((5, 1, 4))]
    together = Together(heaps, seed)
    p, _E, factors = solve(together.problem)
    alone = [solve(heap.problem) for heap in heaps]
    for at, (wanted, _, _) in zip(together.contacts, alone, strict=True):
        np.testing.assert_array_equal(p[at], wanted)
    assert factors == sum(used for _, _, used in alone)


@pytest.mark.parametrize("seed", range(4))
def test_answers_meet_the_law_of_the_dense_problem(seed):
    heap = Heap(seed)
    p, E, _factors = solve(heap.problem)
    assert heap.natural_map(p) <= TOL
    assert E <= TOL


def test_what_rests_costs_a_check_and_keeps_its_bits():
    heaps = [Heap(3), Heap(0)]
    together = Together(heaps, 0)
    p = solve(together.problem)[0]
    p = solve(together.problem, p)[0]  # to a hundredth of the tolerance, as far as rounding lets it
    rest, _E, none = solve(together.problem, p)
    assert none == 0
    np.testing.assert_array_equal(rest, p)
    together.problem.h[together.bodies[0]] *= 1.5  # one heap is pushed
    moved, _E, factors = solve(together.problem, p)
    assert factors > 0
    np.testing.assert_array_equal(moved[together.contacts[1]], p[together.contacts[1]])
    assert np.abs(moved[together.contacts[0]] - p[together.contacts[0]]).max() > 1e-3


def test_a_contact_that_was_left_out_is_taken_in_where_others_close_it():
    """A ball is thrown at another, which thereby closes a gap that it would not have closed by itself."""
    heap = Heap(0, n=2, per_pair=1)
    pair, first, _slot, R, ra, rb = heap.contacts
    pair[:] = [[-1, 1], [0, 1]][: len(pair)]
    R[:], ra[:], rb[:] = np.eye(3), 0.0, 0.0
    M, inverse = heap.problem.M, heap.problem.inverse
    M[:, 3, 0] = inverse[:, 3, 0] = 1.0
    heap.h[:], heap.w[:] = 0.0, 0.0
    heap.h[0, 0] = 4.0  # towards +x, the normal; body 1 in front, and a wall that it pulls away from at w
    R[0] = np.diag([-1.0, 1.0, -1.0])
    heap.w[0, 0], heap.w[1, 0] = 1.0, 0.0
    step_sizes(heap.contacts, heap.mu, inverse, heap.rho)
    p, _E, _factors = solve(heap.problem)
    v, u, F = np.zeros((2, 6)), np.zeros((2, 3)), np.zeros((2, 6))
    motion(heap.problem, p, F, v, u)
    assert first[-1] == 2
    np.testing.assert_allclose(v[:, 0], [1.0, 1.0], atol=1e-12)  # both as fast as the wall allows
    np.testing.assert_allclose(p[:, 0], [2.0, 3.0], atol=1e-12)


def test_near_an_answer_where_contacts_depend_on_one_another_little_is_needed():
    """Eight contacts for each pair of bodies: Newton's method alone moves their impulses about without an end."""
    heap = Heap(0, n=4, per_pair=8)
    p = solve(heap.problem)[0]
    rng = np.random.default_rng(0)
    for _ in range(3):
        pushed = heap.problem._replace(h=heap.h * (1.0 + 1e-9 * rng.normal(size=heap.h.shape)))
        _p, _E, factors = solve(pushed, p)
        assert factors <= 25
