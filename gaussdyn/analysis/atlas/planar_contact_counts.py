"""The number of solutions of one planar contact with friction over a grid, compiled.

Data of a cell: W_NN, W_NT, W_TN, W_TT, q_N, q_T, mu, mu_s, each a polynomial of degree 2 in y for every x.
A mode is a bit: D 1, L 2, l 4, S 8, s 16, + 32, p 64, - 128, m 256; letters as in `programs.modes`.
"""

from __future__ import annotations

import numpy as np

from ..._jit import kernel
from ...arrays import Array, IntArray

DETACH, SLIDE, SLIDE_PULLED, STICK, STICK_PULLED, SLIP_UP, SLIP_UP_PULLED, SLIP_DOWN, SLIP_DOWN_PULLED = (
    1, 2, 4, 8, 16, 32, 64, 128, 256,
)  # fmt: skip
NEAR = 512  # some sign is closer than TIE to a change
TIE = 1e-10
DATA = 8


@kernel("int64(float64[::1], float64, float64, boolean)")
def sliding(d: Array, s: float, load: float, held: bool) -> int:
    """Return the modes of a contact that slides with sign s; `load` is the size of q before cancellation."""
    found = DETACH if d[4] > 0.0 and not held else 0
    near = abs(d[4]) <= TIE * load
    for side in (1.0, -1.0):
        if side < 0.0 and not held:
            break
        push, pull = d[0], d[6] * s * side * d[1]
        A = push - pull
        near = near or abs(A) <= TIE * (abs(push) + abs(pull))
        if A != 0.0 and -side * d[4] / A > 0.0:
            found |= SLIDE if side > 0.0 else SLIDE_PULLED
    return found | NEAR if near else found


@kernel("int64(float64[::1], float64, boolean)")
def sticking(d: Array, load: float, held: bool) -> int:
    """Return the modes in which a contact at rest sticks; `load` is the size of q before cancellation."""
    det, found = d[0] * d[3] - d[1] * d[2], 0
    near = abs(d[4]) <= TIE * load or det <= TIE * d[0] * d[3]
    if det != 0.0:
        N, T = (d[1] * d[5] - d[3] * d[4]) / det, (d[2] * d[4] - d[0] * d[5]) / det
        size = (abs(d[1]) + d[3] + d[0]) * load / det
        near = near or abs(abs(T) - d[7] * abs(N)) <= TIE * (1.0 + d[7]) * size or abs(N) <= TIE * size
        if abs(T) <= d[7] * abs(N) and (held or N >= 0.0):
            found = STICK if N >= 0.0 else STICK_PULLED
    return found | NEAR if near else found


@kernel("int64(float64[::1], float64, float64, float64)")
def beginning(d: Array, load: float, s: float, side: float) -> int:
    """Return the mode in which a contact at rest begins to slip to the side s, pushed (side 1) or pulled (-1)."""
    push, pull, found = d[0], d[6] * s * side * d[1], 0
    A = push - pull
    near = abs(A) <= TIE * (abs(push) + abs(pull))
    N = -d[4] / A if A != 0.0 else 0.0
    if side * N > 0.0:
        T = -d[6] * s * abs(N)
        a_T = d[2] * N + d[3] * T + d[5]
        near = near or abs(a_T) <= TIE * (abs(d[2] * N) + abs(d[3] * T) + load)
        if s * a_T > 0.0:
            pushed, pulled = (SLIP_UP, SLIP_UP_PULLED) if s > 0.0 else (SLIP_DOWN, SLIP_DOWN_PULLED)
            found = pushed if side > 0.0 else pulled
    return found | NEAR if near else found


@kernel("int64(float64[::1], float64, boolean)")
def resting(d: Array, load: float, held: bool) -> int:
    """Return the modes of a contact at rest; `load` is the size of q before cancellation."""
    found = DETACH if d[4] > 0.0 and not held else 0
    found |= sticking(d, load, held) | beginning(d, load, 1.0, 1.0) | beginning(d, load, -1.0, 1.0)
    if held:
        found |= beginning(d, load, 1.0, -1.0) | beginning(d, load, -1.0, -1.0)
    return found


@kernel("void(float64[:,:,::1], float64[::1], float64[::1], boolean, int64[:,::1])", entry=True)
def count_cells(C: Array, y: Array, slip: Array, held: bool, out: IntArray) -> None:
    """Fill out (len(y), len(C)) with the modes of every cell; C (nx, 8, 3) holds 1, y, y^2 coefficients."""
    data = np.empty(DATA)
    for j in range(len(C)):
        for i in range(len(y)):
            load = 0.0
            for k in range(DATA):
                data[k] = C[j, k, 0] + y[i] * (C[j, k, 1] + y[i] * C[j, k, 2])
                if k == 4 or k == 5:
                    load += abs(C[j, k, 0]) + abs(y[i]) * (abs(C[j, k, 1]) + abs(y[i] * C[j, k, 2]))
            out[i, j] = sliding(data, slip[j], load, held) if slip[j] != 0.0 else resting(data, load, held)
