"""Orders of elimination, their fill and their updates against sets of neighbours in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.linalg.block_lu import analyse, block_at


def eliminated(n, edges):
    """Return the order of least degree, ties by number, and the neighbours that are left at each step."""
    near = {i: set() for i in range(n)}
    for i, j in edges:
        if min(i, j) >= 0 and i != j:
            near[i].add(j)
            near[j].add(i)
    order, left = [], []
    while near:
        k = min(near, key=lambda i: (len(near[i]), i))
        found = near.pop(k)
        for i in found:
            near[i] |= found
            near[i] -= {i, k}
        order.append(k)
        left.append(found)
    return order, left


@pytest.mark.parametrize(("n", "edges"), [(0, 0), (1, 2), (6, 4), (12, 30), (40, 60), (60, 240), (90, 1500)])
def test_order_fill_and_updates_are_those_of_sets(n, edges):
    rng = np.random.default_rng(n)
    a, b = rng.integers(-1, max(n, 1), (2, edges))
    found = analyse(n, a, b)
    order, left = eliminated(n, zip(a.tolist(), b.tolist(), strict=True))
    assert found.order.tolist() == order
    assert found.rank[found.order].tolist() == list(range(n))
    total, at = int(found.start[n]), 0
    for k, vertices in enumerate(left):
        rows = sorted(found.rank[list(vertices)].tolist())
        assert found.rows[found.start[k] : found.start[k + 1]].tolist() == rows
        assert found.first[k] == at
        for p, i in enumerate(rows):
            for s, j in enumerate(rows):
                below, above = n + int(found.start[k]) + p, n + total + int(found.start[k]) + s
                assert found.update[at].tolist() == [block_at(n, i, j, found.start, found.rows), below, above]
                at += 1
    assert at == found.first[n] == len(found.update)
