"""Matrix classes against definitions and brute force, with witnesses that show what is said; and the degree."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from contact_cases import groove, problem, rod
from evidence import examples

from gaussdyn.programs.enumeration.degeneracy import locked
from gaussdyn.programs.enumeration.degree import index, index_sum
from gaussdyn.programs.enumeration.enumerate import enumerate_modes
from gaussdyn.programs.enumeration.matrix_classes import LARGEST_P, Membership, is_p, is_r0, matrix_classes
from gaussdyn.programs.enumeration.modal_problem import lcp_problem

Q = Fraction
NAMES = ("P", "column sufficient", "strictly semimonotone", "copositive", "R0")

KNOWN = {  # textbook matrices: which classes hold
    "identity": ([[1, 0], [0, 1]], (True, True, True, True, True)),
    "zero": ([[0, 0], [0, 0]], (False, True, False, True, False)),
    "rotation": ([[0, 1], [-1, 0]], (False, True, False, True, False)),
    "three solutions": ([[1, 2], [2, 1]], (False, False, True, True, True)),
    "twin contact": ([[1, 1], [1, 1]], (False, True, True, True, True)),
    "P, not copositive": ([[1, -3], [0, 1]], (True, True, True, False, True)),
    "copositive, indefinite": ([[1, 1], [1, 0]], (False, False, False, True, False)),
    "minus one": ([[-1]], (False, False, False, False, True)),
}


def shows(name: str, M: np.ndarray, x: np.ndarray) -> bool:
    """Whether x contradicts membership in a class, by its definition."""
    y = M @ x
    if not x.any():
        return False
    return {
        "P": bool((x * y <= 0).all()),
        "column sufficient": bool((x * y <= 0).all() and (x * y < 0).any()),
        "strictly semimonotone": bool((x >= 0).all() and (y[x > 0] <= 0).all()),
        "copositive": bool((x >= 0).all() and x @ y < 0),
        "R0": bool((x >= 0).all() and (y >= 0).all() and x @ y == 0),
    }[name]


def check(M: list[list[int]]) -> dict[str, Membership]:
    found = {one.name: one for one in matrix_classes(M)}
    exact = np.array([[Q(x) for x in row] for row in M], dtype=object)
    for name, one in found.items():
        assert (one.witness is None) is bool(one.holds)
        if one.witness is not None:
            assert shows(name, exact, np.array(one.witness, dtype=object)), (name, one)
    return found


@pytest.mark.parametrize("name", KNOWN)
def test_textbook_matrices(name: str) -> None:
    M, holds = KNOWN[name]
    found = check(M)
    assert tuple(found[key].holds for key in NAMES) == holds


@pytest.mark.drawn
def test_random_matrices_against_minors_sampling_and_each_other() -> None:
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(60):
        n = int(rng.integers(1, 4))
        M = rng.integers(-2, 4, (n, n))
        found = check(M.tolist())
        minors = [np.linalg.det(M[np.ix_(s, s)]) for k in range(1, n + 1) for s in combinations(range(n), k)]
        assert found["P"].holds is bool(min(minors) > 0.5)  # integers
        samples = rng.integers(-3, 4, (examples(2000, fast=200), n))
        for name in NAMES:
            if found[name].holds:
                assert not any(shows(name, M, x) for x in samples)
        if found["P"].holds:
            assert all(found[name].holds for name in ("column sufficient", "strictly semimonotone", "R0"))
        seen |= {(name, found[name].holds) for name in NAMES}
    assert len(seen) == 2 * len(NAMES)


def test_a_p_matrix_that_is_too_large_is_not_decided() -> None:
    assert is_p(np.eye(LARGEST_P + 1).tolist()).holds is None


def test_every_q_has_one_solution_for_a_p_matrix() -> None:
    rng = np.random.default_rng(4)
    M = (2 * np.eye(4) + 0.3 * rng.normal(size=(4, 4))).tolist()
    assert is_p(M).holds
    for _ in range(20):
        assert enumerate_modes(lcp_problem(M, rng.normal(size=4).tolist())).verdict == "UNIQUE"


# The degree


def test_index_of_an_lcp_solution_is_the_sign_of_its_minor() -> None:
    rng = np.random.default_rng(5)
    M = rng.normal(size=(3, 3))
    modal = lcp_problem(M.tolist(), [1, 1, 1])
    for k in range(4):
        for on in combinations(range(3), k):
            modes = tuple(int(i in on) for i in range(3))
            assert index(modal, modes) == np.sign(np.linalg.det(M[np.ix_(on, on)]) if on else 1.0)


@pytest.mark.parametrize("seed", range(8))
def test_index_sum_does_not_depend_on_the_load(seed: int) -> None:
    """A solution left out, or listed twice, would change the sum."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    M = rng.normal(size=(n, n)).tolist()
    found = [enumerate_modes(lcp_problem(M, rng.normal(size=n).tolist())) for _ in range(5)]
    assert is_r0(M).holds
    assert len({index_sum(one) for one in found}) == 1
    assert index_sum(found[0]) is not None


def test_index_sum_of_contacts() -> None:
    rng = np.random.default_rng(1)
    checked = 0
    for k in range(24):
        body = groove(rng, 2 + k % 2, (0, 1, -1))
        body["bilateral"] = [bool(x) for x in rng.random(2 + k % 2) < 0.3]
        sums = []
        for _ in range(4):
            body["drift"] = rng.normal(size=(2 + k % 2, 2)).tolist()
            sums.append(index_sum(enumerate_modes(problem(body))))
        if not locked(problem(body)) and None not in sums:
            checked += 1
            assert all(a == b for a, b in pairwise(sums)), (body, sums)
    assert checked > 12


@pytest.mark.parametrize(("mu", "degree"), [(1, 1), (2, 0)])
def test_degree_of_the_sliding_rod_falls_at_the_critical_friction(mu: int, degree: int) -> None:
    assert {index_sum(enumerate_modes(problem(rod(mu=mu, P1=P1)))) for P1 in (-2, -1, 1, 2)} == {degree}


def test_index_sum_says_nothing_where_it_means_nothing() -> None:
    assert index_sum(enumerate_modes(lcp_problem([[1, 1], [1, 1]], [-1, -1]))) is None  # a face
    assert index_sum(enumerate_modes(lcp_problem([[1]], [0]))) is None  # on a border
    assert index_sum(enumerate_modes(problem({**rod(state=0, mu=1), "mu_s": [2]}))) is None
