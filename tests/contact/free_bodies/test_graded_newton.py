"""Newton's method with a proximal term that falls: from far away, where contacts depend on one another."""

import numpy as np
import pytest
from evidence import examples

from gaussdyn.contact.free_bodies.body_problem import Iterate
from gaussdyn.contact.free_bodies.graded_newton import graded_newton
from gaussdyn.contact.free_bodies.newton import Goal, modes_newton

from .test_structure import Heap

TOL, LIMIT = 1e-10, 30


def from_nothing(heap):
    """Return impulses that are zero, and room for what belongs to them."""
    return Iterate(*np.zeros((4, heap.c, 3)), np.zeros((heap.n, 6)))


@pytest.mark.drawn
def test_more_is_solved_than_with_a_small_term_and_what_is_claimed_is_true():
    graded = small = 0
    seeds = range(examples(100, fast=24))
    for seed in seeds:
        heap = Heap(seed, n=5, per_pair=4)
        iterate = from_nothing(heap)
        E, factors, floor = graded_newton(heap.problem, heap.ordering, heap.work, iterate, TOL, LIMIT)
        assert pytest.approx(heap.natural_map(iterate.p), rel=1e-3, abs=1e-13) == E
        assert factors <= LIMIT
        graded += bool(max(TOL, floor) >= E)
        goal, iterate = Goal(TOL, TOL, LIMIT), from_nothing(heap)
        E, _, floor, *_ = modes_newton(heap.problem, heap.ordering, heap.work, iterate, 1e-10, goal, False)
        small += bool(max(TOL, floor) >= E)
    assert graded >= 0.7 * len(seeds)
    assert graded >= small + 0.2 * len(seeds)


def test_an_answer_is_left_as_it_is():
    heap = Heap(0, n=5, per_pair=2)
    iterate = from_nothing(heap)
    E, _factors, floor = graded_newton(heap.problem, heap.ordering, heap.work, iterate, TOL, LIMIT)
    assert max(TOL, floor) >= E
    p = iterate.p.copy()
    assert graded_newton(heap.problem, heap.ordering, heap.work, iterate, TOL, LIMIT)[1] == 0
    np.testing.assert_array_equal(iterate.p, p)
