"""Atlas of a scene with one rough contact: how many accelerations its start has, over two of its parameters.

For every x the data of the contact problem, u = W r + q and its friction, come from the engine at a few y; they are
polynomials of degree 2 in y (checked at further y), so every cell costs a few products. Signs that rounding could
change are decided one by one by `outcome`, in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..._show import brief
from ...arrays import Array, IntArray
from ...errors import InputError
from ...integrate.run.interrupts import interruptible
from .parameter_polynomials import LETTERS, Build, NotPolynomial, Table, columns, decided_modes, reduced, sample_of
from .parameter_range import Axis

__all__ = ["Atlas", "Axis", "Region", "atlas", "letters"]

BITS = (1 << len(LETTERS)) - 1
MOST_TIES = 2000
PLAIN = {"D": "lift-off", "L": "slides on", "l": "slides on, pulled", "S": "sticks", "s": "sticks, pulled",
         "+": "slips forward", "p": "slips forward, pulled", "-": "slips back", "m": "slips back, pulled"}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """All cells with the same motions.

    Attributes
    ----------
    code : int
        Their modes as bits, see `letters`.
    cells : int
    share : float
        Of all cells.
    """

    code: int
    cells: int
    share: float

    @property
    def modes(self) -> str:
        """Letters of the modes, see `programs.modes`; empty: there is no motion."""
        return letters(self.code)

    @property
    def count(self) -> int:
        """Number of motions."""
        return len(self.modes)

    @property
    def number(self) -> str:
        """Number of motions in words."""
        return ("none", "one", "two", "three", "four")[min(self.count, 4)]

    @property
    def words(self) -> str:
        """The region in words."""
        return self.number + (": " + " or ".join(PLAIN[letter] for letter in self.modes) if self.modes else "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Atlas:
    """The number of motions over two parameters.

    Attributes
    ----------
    scene, title : str
    x, y : Axis
    params : dict of str to float
        The other parameters.
    modes : IntArray, shape (y.size, x.size)
        Modes of every cell as bits, see `letters`.
    A, b : Array, shape (y.size, x.size)
        a_N = A N + b while it slides (A for N > 0), 1/kg and m/s^2; at rest A = W_NN.
    ties : int
        Cells so close to a border that they were decided by `outcome`.
    undecided : int
        Cells so close to a border that they were left to rounding, for there were too many.
    evaluations : int
        How often the engine was asked.
    """

    scene: str
    title: str
    x: Axis
    y: Axis
    params: Mapping[str, float]
    modes: IntArray
    A: Array
    b: Array
    ties: int
    undecided: int
    evaluations: int
    build: Build = field(repr=False)

    __repr__ = brief

    @property
    def counts(self) -> IntArray:
        """Number of motions of every cell, shape (y.size, x.size)."""
        return np.bitwise_count(self.modes).astype(np.int64)

    def regions(self) -> tuple[Region, ...]:
        """Return all sets of motions that occur, by number of motions, then by letters."""
        codes, cells = np.unique(self.modes, return_counts=True)
        found = [Region(code=int(c), cells=int(n), share=float(n / self.modes.size))
                 for c, n in zip(codes, cells, strict=True)]  # fmt: skip
        return tuple(sorted(found, key=lambda region: (region.count, region.modes)))

    def codimension_two(self) -> tuple[tuple[float, float], ...]:
        """Return the points (x, y) where A = b = 0, refined with the engine."""
        both = _crossed(self.A) & _crossed(self.b)
        starts = [(float(self.x.values[j]), float(self.y.values[i])) for i, j in np.argwhere(both)]
        found: list[tuple[float, float]] = []
        size = np.array([self.x.high - self.x.low, self.y.high - self.y.low])
        for start in starts:
            point = self._refined(start)
            if point is not None and all((abs(np.subtract(point, one)) > 1e-6 * size).any() for one in found):
                found.append(point)
        return tuple(sorted(found))

    def least_critical(self) -> tuple[float, float] | None:
        """Return the point of the curve A = 0 with the least y inside the picture; None if it has none."""
        from scipy.optimize import brentq, minimize_scalar

        crossed = _crossed(self.A)
        columns = np.flatnonzero(crossed.any(axis=0))
        if not len(columns):
            return None
        rows = crossed[:, columns].argmax(axis=0)
        best = int(rows.argmin())
        if rows[best] == 0 and (rows == 0).sum() > 1:
            return None  # it leaves the picture below

        def critical(x: float) -> float:
            """Return the least y at which A changes its sign, inf if there is none."""

            def A(y: float) -> float:
                """Return A at (x, y)."""
                return self._scalar(x, y)[0]

            return float(brentq(A, low, high, xtol=1e-14)) if A(low) * A(high) < 0 else np.inf

        low, high = float(self.y.values[0]), float(self.y.values[-1])  # at the edges a scene may not exist: mu = 0

        width = 3.0 * (self.x.high - self.x.low) / self.x.size
        lowest = columns[rows == rows[best]]
        ends = self.x.values[int(lowest[0])] - width, self.x.values[int(lowest[-1])] + width
        if ends[0] <= self.x.low or ends[1] >= self.x.high:
            return None
        x = float(minimize_scalar(critical, bounds=ends, method="bounded", options={"xatol": 1e-10}).x)
        return (x, critical(x)) if np.isfinite(critical(x)) else None

    def check(self, cells: int, seed: int = 0) -> tuple[tuple[float, float, str, str], ...]:
        """Ask `outcome` about cells drawn at random; return (x, y, modes here, modes there) where they differ."""
        rng, differ = np.random.default_rng(seed), []
        for k in rng.choice(self.modes.size, size=min(cells, self.modes.size), replace=False):
            i, j = divmod(int(k), self.x.size)
            x, y = float(self.x.values[j]), float(self.y.values[i])
            here, there = int(self.modes[i, j]), decided_modes(self.build(**{self.x.name: x, self.y.name: y}))
            if here != there:
                differ.append((x, y, letters(here), letters(there)))
        return tuple(differ)

    def _scalar(self, x: float, y: float) -> tuple[float, float]:
        sample = sample_of(self.build(**{self.x.name: x, self.y.name: y}))
        A, b = reduced(sample.data[None, :], np.array([sample.slip]))
        return float(A[0]), float(b[0])

    def _refined(self, start: tuple[float, float]) -> tuple[float, float] | None:
        """Return the zero of (A, b) that Newton's method reaches from a point; None where it ends outside the atlas."""

        from scipy.optimize import fsolve

        scale = np.array([self.x.high - self.x.low, self.y.high - self.y.low])
        low = np.array([self.x.low, self.y.low])
        inner = np.array([[self.x.values[k], self.y.values[k]] for k in (0, -1)])

        def gap(p: Array) -> Array:
            """Return (A, b) at the point p of the unit square."""
            x, y = np.clip(low + p * scale, *inner)  # at the edges a scene may not exist
            return np.array(self._scalar(float(x), float(y)))

        p, _, ok, _ = fsolve(gap, (np.array(start) - low) / scale, xtol=1e-13, full_output=True)
        inside = bool(ok == 1 and (p > 0.0).all() and (p < 1.0).all())
        return (float(low[0] + p[0] * scale[0]), float(low[1] + p[1] * scale[1])) if inside else None


def letters(code: int) -> str:
    """Return the letters of the modes of a cell."""
    return "".join(letter for k, letter in enumerate(LETTERS) if code >> k & 1)


@interruptible
def atlas(build: Build, x: Axis, y: Axis, params: Mapping[str, float] | None = None) -> Atlas:
    """Count the accelerations of a scene at its start over two of its parameters.

    Parameters
    ----------
    build : callable
        Parameters of the scene by name -> Scene, e.g. ``functools.partial(catalogue.build, "painleve_rod")``.
    x, y : Axis
    params : mapping, optional
        The other parameters, where they are not the defaults.

    Raises
    ------
    InputError
        The scene has not exactly one rough planar contact, or it is open; the data are polynomials of degree 2
        neither along x nor along y.
    """
    if x.name == y.name:
        raise InputError("axes", f"twice {x.name}", "two different parameters", f"E.g. --x mu --y {y.name}.")
    fixed = partial(build, **(params or {}))
    try:
        table = columns(fixed, x, y)
    except NotPolynomial as along_y:
        try:
            return _turned(_painted(fixed, y, x, columns(fixed, y, x)))
        except NotPolynomial as along_x:
            raise InputError("axes", f"{x.name} and {y.name}", "at least one along which the data are polynomials of "
                             "degree 2 (friction, forces, angular velocity) and the slip keeps its sign",
                             f"Along {y.name}: {along_y}; along {x.name}: {along_x}: --x mu") from None  # fmt: skip
    return _painted(fixed, x, y, table)


def _painted(build: Build, x: Axis, y: Axis, table: Table) -> Atlas:
    """Count in every cell; decide ties with `outcome`."""
    from .planar_contact_counts import NEAR, count_cells

    modes = np.empty((y.size, x.size), dtype=np.int64)
    count_cells(table.C, y.values, table.slip, table.held, modes)
    ties = np.argwhere(modes & NEAR)
    decided = ties if len(ties) <= MOST_TIES else ties[:0]
    for i, j in decided:
        modes[i, j] = decided_modes(build(**{x.name: float(x.values[j]), y.name: float(y.values[i])}))
    powers = np.vander(y.values, 3, increasing=True)
    data = np.einsum("jkp,ip->ijk", table.C, powers)
    A, b = reduced(data, table.slip)
    others = {key: value for key, value in table.scene.params.items() if key not in (x.name, y.name)}
    return Atlas(
        scene=table.scene.name, title=table.scene.title, x=x, y=y, params=others, modes=modes & BITS, A=A, b=b,
        ties=len(decided), undecided=len(ties) - len(decided),
        evaluations=table.evaluations + len(decided), build=build,
    )  # fmt: skip


def _turned(found: Atlas) -> Atlas:
    """Return the atlas with its axes exchanged."""
    A, b = np.ascontiguousarray(found.A.T), np.ascontiguousarray(found.b.T)
    return replace(found, x=found.y, y=found.x, modes=np.ascontiguousarray(found.modes.T), A=A, b=b)


def _crossed(field: Array) -> NDArray[np.bool_]:
    """Return where the sign differs between a cell and its right, lower or diagonal neighbour, shape of the field."""
    s = np.sign(field)
    low = np.minimum.reduce([s[:-1, :-1], s[1:, :-1], s[:-1, 1:], s[1:, 1:]])
    high = np.maximum.reduce([s[:-1, :-1], s[1:, :-1], s[:-1, 1:], s[1:, 1:]])
    out = np.zeros(field.shape, dtype=np.bool_)
    out[:-1, :-1] = low * high <= 0
    return out
