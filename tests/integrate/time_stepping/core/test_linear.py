"""The factor of the mass from the leaves of trees to their roots."""

from itertools import pairwise

import numpy as np
import pytest

from gaussdyn._jit import Held, nothing
from gaussdyn.integrate.time_stepping.core.linear import (
    SMALL,
    back_nodes,
    cross_products,
    factor_nodes,
    keep_block,
    multiply_abs,
    multiply_mass,
    products_in_reach,
    solve_nodes,
)
from gaussdyn.integrate.time_stepping.core.records import ALONE, FOREST, HIGH, LOW, SPATIAL, Layout
from gaussdyn.integrate.time_stepping.core.row_model import _branches
from gaussdyn.linalg.branches import invert_block

TREE = np.array([-1, 0, 1, 2, 1, 4, 5, 1, 0, 8])  # a trunk of two with three limbs, another limb from the root
APART = np.full(10, -1)  # every velocity by itself
CHAINS = np.array([-1, 0, 1, -1, 3, 4, 5, 6, 7, 8])  # full blocks of three and seven


def layout_of(above: np.ndarray, nodes: tuple[int, ...], rows: int, who: int = FOREST) -> Layout:
    """Return what the kernels need to know of a mass; all rows reach everywhere, and trees take them together."""
    reach = np.tile([0, len(above), 0, len(nodes) - 1, 0, 0], (rows, 1))
    known = nothing(Layout)._replace(who=who, nodes=np.array(nodes), reach=reach)
    return known._replace(branches=_branches(np.array(nodes), above))


def whole(L: np.ndarray, branches: np.ndarray) -> np.ndarray:
    """Return a factor, which comes with the inverse of its diagonal, as a lower matrix."""
    lower = np.zeros((len(L), len(L)))
    for k, (n, *way) in enumerate(branches.tolist()):
        lower[k, way[:n]] = L[k, :n]
        lower[k, k] = 1.0 / lower[k, k]
    return lower


def room_of(M: np.ndarray) -> np.ndarray:
    """Return room for a factor, with what was there before."""
    return np.full((len(M), len(M) + 3), 7.0)


def mass_of(above: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a random mass with entries between each velocity and those above it alone."""
    n = len(above)
    M = np.zeros((n, n))
    for tip in range(n):  # a body at each: composite bodies add up along the way
        way, k = np.zeros(n), tip
        while k >= 0:
            way[k], k = rng.normal(), above[k]
        M += np.outer(way, way)
    return M + 0.1 * np.eye(n)


@pytest.mark.parametrize(("above", "nodes"), [(TREE, (0, 10)), (CHAINS, (0, 3, 10))])
def test_the_factor_has_entries_where_the_mass_has(above: np.ndarray, nodes: tuple[int, ...]) -> None:
    M = mass_of(above, np.random.default_rng(1))
    L = room_of(M)
    assert factor_nodes(M, Held(layout_of(above, nodes, 0)), L)
    L = whole(L, _branches(np.array(nodes), above))
    assert np.allclose(L.T @ L, M, rtol=0.0, atol=1e-13)
    assert not L[M == 0.0].any()


@pytest.mark.parametrize("who", [FOREST, SPATIAL])
def test_a_row_on_one_branch_is_solved_by_itself(who: int) -> None:
    """The same as of a row that may reach everywhere, and zeros up to its end."""
    rng = np.random.default_rng(4)
    M, n = mass_of(TREE, rng), len(TREE)
    for end, way in enumerate(_branches(np.array([0, n]), TREE)):
        J = np.zeros((2, n))
        J[:, way[1 : 1 + way[0]]] = rng.normal(size=way[0])
        layout = layout_of(TREE, (0, n), 2, who)
        layout.reach[1] = 0, end + 1, 0, 1, 1, 0
        L, Z, A = room_of(M), np.full_like(J, np.nan), np.zeros((2, 4))
        assert factor_nodes(M, Held(layout), L)
        cross_products(Held(layout), L, np.zeros((0, 0)), J, np.arange(2), Z, A, np.zeros((n, 4)))
        np.testing.assert_array_equal(Z[1, : end + 1], Z[0, : end + 1])
        assert not Z[0, end + 1 :].any()
        assert np.allclose(A[:, :2], J @ np.linalg.solve(M, J.T), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("who", [FOREST, SPATIAL])
@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize(("above", "nodes"), [(TREE, (0, 10)), (CHAINS, (0, 3, 10)), (APART, tuple(range(11)))])
def test_products_and_solutions_are_those_of_the_mass(
    above: np.ndarray, nodes: tuple[int, ...], inverted: bool, who: int
) -> None:
    rng = np.random.default_rng(2)
    M, J, rows = mass_of(above, rng), rng.normal(size=(6, len(above))), 6
    J[0, 1:] = J[1, :5] = 0.0
    L, Z, A, layout = room_of(M), np.zeros_like(J), np.zeros((rows, 8)), layout_of(above, nodes, rows, who)
    layout = Held(layout)
    assert factor_nodes(M, layout, L)
    inverse = np.full_like(M, np.nan) if inverted else np.zeros((0, 0))  # only blocks of bodies have one
    for first, end in pairwise(nodes):
        if inverted and end - first <= SMALL:
            invert_block(L, first, end, inverse)
    cross_products(layout, L, inverse, J, np.arange(rows), Z, A, np.zeros((len(M), 8)))
    assert np.allclose(A[:, :rows], J @ np.linalg.solve(M, J.T), rtol=1e-12, atol=1e-12)
    b, x, p = rng.normal(size=len(above)), np.zeros(len(above)), rng.normal(size=rows)
    solve_nodes(L, inverse, layout, b, x)
    assert np.allclose(M @ x, b, rtol=0.0, atol=1e-12)
    y = p @ Z
    back_nodes(L, inverse, layout, y)
    assert np.allclose(M @ y, J.T @ p, rtol=0.0, atol=1e-12)


def test_rows_that_share_no_velocity_have_no_product() -> None:
    """In any order, and whatever rows were there before."""
    rng, nv, rows = np.random.default_rng(6), 20, 12
    A = np.zeros((rows, rows))
    for _ in range(50):
        reach = np.zeros((rows, ALONE + 1), dtype=np.int64)
        reach[:, [LOW, HIGH]] = np.sort([rng.choice(nv + 1, 2, replace=False) for _ in range(rows)], axis=1)
        at = rng.permutation(rows)[: rng.integers(1, rows + 1)]
        Z = np.full((rows, nv), np.nan)
        for z, row in zip(Z, at, strict=False):
            z[slice(*reach[row, [LOW, HIGH]])] = rng.normal(size=nv)[slice(*reach[row, [LOW, HIGH]])]
        n, known = len(at), np.nan_to_num(Z[: len(at)])
        products_in_reach(reach, at, n, Z, A, np.zeros(rows))
        assert np.allclose(A[:n, :n], known @ known.T, rtol=0.0, atol=1e-13)


def test_a_mass_that_is_not_positive_definite_has_no_factor() -> None:
    M = np.diag([1.0, 0.0, 1.0])
    assert not factor_nodes(M, Held(layout_of(np.array([-1, 0, 1]), (0, 3), 0)), room_of(M))


def test_a_block_counts_as_known_where_no_entry_of_it_is_another() -> None:
    """Wherever that stands, and where nothing was known before; blocks beside it stay as they were."""
    rng, first, end = np.random.default_rng(7), 2, 7
    places = [(i, j) for i in range(first, end) for j in range(first, i + 1)]
    M, kept = rng.normal(size=(9, 9)), np.full((9, 9), np.nan)
    M = M + M.T
    assert not keep_block(M, kept, first, end)
    for i, j in places:
        assert keep_block(M, kept, first, end)
        M[i, j] += 1.0
        assert not keep_block(M, kept, first, end)
        assert all(kept[at] == M[at] for at in places)
    assert np.isnan(kept[:first]).all()
    assert np.isnan(kept[end:]).all()


@pytest.mark.parametrize("nodes", [(0, 10), (0, 9, 10), (0, 3, 10)])
def test_a_symmetric_matrix_is_multiplied_by_columns(nodes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    M, x, y = np.zeros((10, 10)), rng.normal(size=10), np.full(10, np.nan)
    for first, end in pairwise(nodes):
        block = rng.normal(size=(end - first, end - first))
        M[first:end, first:end] = block + block.T
    multiply_mass(M, np.array(nodes), x, y)
    assert np.allclose(y, M @ x, rtol=0.0, atol=1e-14)
    multiply_abs(M, np.array(nodes), x, y)
    assert np.allclose(y, np.abs(M) @ x, rtol=0.0, atol=1e-14)
