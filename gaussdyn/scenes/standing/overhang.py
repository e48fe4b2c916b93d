"""Blocks on the edge of a table, each as far out as it can be: n blocks of length one reach out by H_n / 2.

The mass centre of all blocks above an edge lies right over it: everything is at its limit at once, and the least
excess makes it fall. The accelerations with which it does, without friction, are those of the least Gauss function
under the normal forces at both ends of every overlap, found here by nonnegative least squares.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.contact_law import ContactLaw
from ...mechanics.planar.bodies import box
from ...mechanics.planar.shapes import Polygon
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.first_state import first
from ..measures.measures import Columns, G, check, coordinate, largest_shift

PARAMETERS = {
    "blocks": Parameter(default=4.0, unit="1", min=1.0, max=10.0, meaning="n (rounded)"),
    "excess": Parameter(default=-1e-9, unit="1", min=-0.02, max=0.02, meaning="of all overhangs; it falls above 0"),
    "mu": Parameter(default=0.0, unit="1", min=0.0, max=1.0, meaning="friction"),
    "length": Parameter(default=1.0, unit="m", min=0.2, max=2.0, meaning="of a block"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-3, max=1e3, meaning="of a block"),
}
FLAT, DT, STEPS = 0.2, 1e-3, 50  # height over length of a block, s
TIE = 1e-10  # of the excess: closer to 0 rounding decides


def build(blocks: float, excess: float, mu: float, length: float, mass: float) -> Scene:
    """Return the scene: at rest; block 0 is the lowest."""
    n = round(blocks)
    places = [length * x for x in centres(n, excess)]
    height = FLAT * length
    names = [f"block{k}" for k in range(n)]
    table = Polygon(
        points=((-3.0 * length, -height), (0.0, -height), (0.0, 0.0), (-3.0 * length, 0.0)), name="table"
    )  # fmt: skip
    system = PlanarSystem(
        bodies=[box(name, mass=mass, width=length, height=height) for name in names],
        obstacles=[table],
        contact=ContactLaw(mu=mu),
        gravity=(0.0, -G),
    )
    start = {name: (x, (k + 0.5) * height, 0.0) for k, (name, x) in enumerate(zip(names, places, strict=True))}
    top = 3 * (n - 1)
    columns: Columns = {
        "top.x": ("m", coordinate(top)),
        "top.y": ("m", coordinate(top + 1)),
        "top.angle": ("rad", coordinate(top + 2)),
        "reach": ("m", lambda state: float(state.q[top]) + 0.5 * length),
    }
    return Scene(
        name="overhang",
        title="Blocks over the edge of a table: the harmonic overhang",
        source="reach H_n / 2 (textbook); reference for the fall: nonnegative least squares on the Gauss function",
        system=system,
        state=system.state(start),
        t_end=STEPS * DT,
        dt=DT,
        params={"blocks": blocks, "excess": excess, "mu": mu, "length": length, "mass": mass},
        exact=_exact(system, n, excess, (mu, length)),
        tests=("statics at the limit", "contacts of bodies with bodies", "a verdict to one part in 1e9"),
        columns=columns,
    )


def centres(n: int, excess: float) -> list[float]:
    """Return where the mass centres are, from the edge of the table and over the length, lowest first.

    Block k from the top (1, 2, ..) hangs 1 / (2 k) over the one below it.
    """
    right = 0.0
    found = []
    for k in range(n, 0, -1):
        right += (1.0 + excess) / (2.0 * k)
        found.append(right - 0.5)
    return found


def falls(n: int, excess: float) -> Array:
    """Return the accelerations at rest without friction, shape (n, 2): y'' over g and angle'' over g / length.

    With p the impulses at both ends of every overlap, minimise |a|_M^2 / 2 so that no gap closes: p >= 0 minimises
    |a_free + M^-1 J^T p|_M^2, a problem of nonnegative least squares.
    """
    from scipy.optimize import nnls

    x = centres(n, excess)
    J = []
    for k in range(n):
        below = 0.0 if k == 0 else x[k - 1] + 0.5
        for end in (x[k] - 0.5, below):
            row = np.zeros(2 * n)
            row[2 * k : 2 * k + 2] = 1.0, end - x[k]
            if k:
                row[2 * k - 2 : 2 * k] = -1.0, -(end - x[k - 1])
            J.append(row)
    root = np.array([1.0, math.sqrt((1.0 + FLAT**2) / 12.0)] * n)
    weight = np.array([-1.0, 0.0] * n)
    p, _ = nnls((np.array(J) / root).T, -weight * root, maxiter=1000)
    return np.asarray((weight + np.array(J).T @ p / root**2).reshape(n, 2))


def _exact(system: PlanarSystem, n: int, excess: float, size: tuple[float, float]) -> tuple[Exact, ...]:
    """Compare accelerations to the residual of a contact problem; with friction a fall is another one."""
    mu, length = size
    rounding = 1e-11 * G

    def still(run: Any) -> float:
        """Whether the accelerations at the start are rounding."""
        return float(np.abs(_start(system, run)[:, 1]).max() < 1e-3 * abs(excess) * G)

    found = [check("stands", float(excess < 0.0), "1", still, moreau_jean=0.5 if abs(excess) > TIE else 9.0)]
    if excess <= 0.0 or mu == 0.0:
        a = falls(n, excess)
        found += [
            check("acceleration of the topmost at the start", G * float(a[-1, 0]), "m/s^2",
                  lambda run: float(_start(system, run)[-1, 1]), moreau_jean=rounding),
        ]  # fmt: skip
    if excess < -TIE:
        reach = length * (centres(n, excess)[-1] + 0.5)
        found += [
            check("reach at the end", reach, "m", lambda run: float(run["reach"][-1]), moreau_jean=1e-11),
            check("largest way of a block", 0.0, "m", largest_shift, moreau_jean=1e-11),
        ]
    return tuple(found)


def _start(system: PlanarSystem, run: Any) -> Array:
    """Return the accelerations at the first state, shape (n, 3), m/s^2 and rad/s^2."""
    from ...contact.resolve import resolve

    return np.asarray(resolve(first(system, run)).x, dtype=np.float64).reshape(-1, 3)
