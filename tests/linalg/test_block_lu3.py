import numpy as np
import pytest
import scipy.sparse as sp

from gaussdyn.linalg.block_lu3 import by_blocks, factorise3, fill, order_blocks, solve3, times


def chain(rng, sizes, links):
    """A random matrix by blocks of the given sizes whose graph is a chain with some extra links."""
    start = np.concatenate([[0], np.cumsum(sizes)])
    n = len(sizes)
    W = np.zeros((start[-1], start[-1]))
    pairs = [(k, k) for k in range(n)] + [(k, k + 1) for k in range(n - 1)] + links
    for i, j in pairs:
        for a, b in {(i, j), (j, i)}:
            W[start[a] : start[a + 1], start[b] : start[b + 1]] = rng.normal(size=(sizes[a], sizes[b]))
    return W, start


def padded(x, start):
    out = np.zeros((len(start) - 1, 3))
    for k in range(len(out)):
        out[k, : start[k + 1] - start[k]] = x[start[k] : start[k + 1]]
    return out


@pytest.mark.parametrize("idle_rows", [(), (0, 5, 6, 11)])
@pytest.mark.parametrize("seed", range(5))
def test_factors_solve_the_dense_system(seed, idle_rows):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, size=12)
    W, start = chain(rng, sizes, [(0, 7), (3, 11), (2, 5)])
    csr = sp.csr_array(W)
    data, indices, indptr = by_blocks(
        csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64), start.astype(np.int64)
    )
    ordering, slot = order_blocks(indices, indptr)
    blocks = (data, indices, indptr, slot)
    n = len(sizes)
    x = rng.normal(size=start[-1])
    y = np.zeros((n, 3))
    times(blocks, padded(x, start), y)
    np.testing.assert_allclose(y, padded(W @ x, start), atol=1e-13)
    C = np.tile(20.0 * np.eye(3), (n, 1, 1)) + rng.normal(size=(n, 3, 3))
    D = rng.normal(size=(n, 3, 3))
    for k, size in enumerate(sizes):  # rows that only fill up the block stay apart
        C[k, size:, :], C[k, :, size:], D[k, size:, :], D[k, :, size:] = 0.0, 0.0, 0.0, 0.0
        C[k, range(size, 3), range(size, 3)] = 1.0
    for k in idle_rows:  # equations dr = x, which need no elimination
        C[k], D[k] = np.eye(3), 0.0
    dense = np.zeros_like(W)
    for k, size in enumerate(sizes):
        rows = slice(start[k], start[k + 1])
        dense[rows] = D[k, :size, :size] @ W[rows]
        dense[rows, rows] += C[k, :size, :size]
    B = np.zeros((n + 2 * len(ordering.rows), 3, 3))
    b, idle = padded(x, start), np.zeros(n, dtype=np.int64)
    fill(blocks, ordering.rank, C, D, b, B, idle)
    factorise3(ordering, B, idle)
    solve3(ordering, B, idle, b, np.zeros((n, 3)))
    np.testing.assert_allclose(b, padded(np.linalg.solve(dense, x), start), rtol=1e-9, atol=1e-10)


def test_a_tree_is_eliminated_without_fill():
    n = 9
    W = np.kron(np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1), np.ones((3, 3)))
    csr = sp.csr_array(W)
    start = 3 * np.arange(n + 1, dtype=np.int64)
    _, indices, indptr = by_blocks(csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64), start)
    ordering, _ = order_blocks(indices, indptr)
    assert len(ordering.rows) == n - 1
    assert sorted(ordering[0]) == list(range(n))
