"""Kernels that are compiled without numba's detours do what Python does, and count references as numba does."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from gaussdyn._jit.lean import lean

A1, A2, A3, LOOSE = "float64[::1]", "float64[:,::1]", "float64[:,:,::1]", "float64[:,:]"


def both(function, signature):
    """Return a function as it stands, and compiled."""
    with lean():
        return function, numba.njit(signature, error_model="numpy")(function)


def entries(B, A, x, loose, i, j):
    B[i, j, -1] = A[-2, j] + x[i]
    B[j, -1, i] += A[j, -1] * x[-1] - loose[i, -2] * B[0, i, j]
    A[i, j], A[j, i] = A[j, i], A[i, j]
    loose[-1, i] = len(x) + A.shape[0] * 10.0 + loose.shape[1] * 100.0 + B.size + A.strides[0]


def views(B, A, x, loose, i, j):
    row = A[i]
    part = B[i, 1:]
    row[j] = part[0, i] + part[-1, -1]
    column = loose[:, j]
    column[1:] = A[i, 1:]
    B[j] = A
    turned = A.T
    flat = part.reshape(part.size)
    flat[1] += x[i]
    return turned[j, i] + flat[-1] + turned.shape[0] + column[-1] + part[1][i] + x[::2][1] + x[::-1][0]


def packed(B, A, x, loose, i, j):
    one = (A[i], i, (x, 2.5, B[j]))
    total = 0.0
    for k in range(4):
        if k % 2:
            one = (B[k % 3, i], k, (A[j], total, B[i]))
        row, number, (other, weight, block) = one
        total += row[j] * number + other[i] * weight + block[j, i]
        loose[j, i] = total
    return total


def made(n):
    kept = np.zeros(3)
    last = (kept, kept)
    total = 0.0
    for k in range(n):
        new = np.zeros((2, 3))
        new[1, 2] = k
        if k % 3 == 0:
            kept = new[1]
        elif k % 3 == 1:
            last = (last[1], new[1])
        for row in new:
            total += row[2] + last[0][2]
    return kept, last, total


def test_entries_views_and_tuples_are_those_of_python():
    signature = f"({A3}, {A2}, {A1}, {LOOSE}, int64, int64)"
    for function in (entries, views, packed):
        plain, compiled = both(function, signature)
        for i, j in ((0, 1), (1, 0), (2, 2), (-1, 1), (1, -2)):
            seen = []
            for one in (plain, compiled):
                draw = np.random.default_rng(7)
                B, A, x, wide = (draw.normal(size=size) for size in ((3, 3, 3), (3, 3), (3,), (3, 6)))
                found = one(B, A, x, wide[:, ::2], i, j)
                seen.append([*B.flat, *A.flat, *x, *wide.flat, found or 0.0])
            np.testing.assert_array_equal(*seen)


@pytest.fixture
def counted():
    """Have numba count arrays that are made and freed."""
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


@pytest.mark.usefixtures("counted")
def test_every_array_that_is_made_is_freed_once():
    plain, compiled = both(made, "(int64,)")
    begun = rtsys.get_allocation_stats()
    for n in range(8):
        np.testing.assert_array_equal(
            *([*kept, *first, *last, total] for kept, (first, last), total in (compiled(n), plain(n)))
        )
    ended = rtsys.get_allocation_stats()
    assert ended.alloc - begun.alloc == ended.free - begun.free > 0
