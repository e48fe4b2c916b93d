"""The equations of joints, and forces, of bodies in space at many states at once, compiled."""

from __future__ import annotations

from ..._jit import A1, A2, A3, kernel
from ...arrays import Array
from .row_kernels import Mechanism, equation, put_bodies, spatial_forces


@kernel(f"void(Mechanism, {A2}, {A2}, {A3})", borrows=True, entry=True)
def equations_along(tables: Mechanism, q: Array, v: Array, found: Array) -> None:
    """Put `Mechanism.found` at n states, shapes (n, nq) and (n, nv), into an array of shape (n, e, 14)."""
    for k in range(len(q)):
        put_bodies(tables, q[k], v[k])
        for e in range(len(tables.equations)):
            equation(tables, e)
            for i in range(tables.found.shape[1]):
                found[k, e, i] = tables.found[e, i]


@kernel(f"void(Mechanism, {A1}, {A2}, {A2}, {A2})", borrows=True, entry=True)
def forces_along(tables: Mechanism, t: Array, q: Array, v: Array, h: Array) -> None:
    """Put the generalised forces at n states, shape (n, nv)."""
    for k in range(len(q)):
        spatial_forces(tables, t[k], q[k], v[k], h[k])
