"""The complementarity problem of blocks, and the LCP as its smallest case. Data only: no solver inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._show import brief
from ...arrays import FLOAT, Array, IntArray, finite_only, matrix, vector
from ...errors import InputError
from ..frozen import filler, maker
from ..laws.law_table import LawTable
from ..laws.laws import Law, Unilateral
from .condensation import Elimination

SMALL_ROWS = 60  # patterns of full matrices up to here are kept
NOTHING = np.zeros(0)
Matrix = Any  # Array or scipy.sparse.csr_array: both know @ and .T


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearComplementarity:
    """Find z with 0 <= z ⟂ w = M z + q >= 0.

    Parameters
    ----------
    M : array_like, shape (n, n)
    q : array_like, shape (n,)

    Raises
    ------
    InputError
        NaN or wrong shapes.
    """

    M: Array
    q: Array

    __repr__ = brief

    def __post_init__(self) -> None:
        q = vector("q", self.q)
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "M", matrix("M", self.M, len(q), len(q)))

    def blocks(self) -> ComplementarityProblem:
        """Return the same problem as unilateral blocks (r = z, u = w)."""
        return ComplementarityProblem(W=self.M, q=self.q, laws=(Unilateral(),) * len(self.q))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GlobalForm:
    """Where W and q come from: M x = h + G^T lam + B r (+ B_abs |r|), G x = b, u = J x + w.

    Parameters
    ----------
    M : array_like or sparse, shape (n, n)
        Mass matrix (symmetric or not), invertible.
    h : array_like, shape (n,)
        M times the free acceleration (or velocity).
    J, w : array_like or sparse, shapes (m, n), (m,)
        Relative motion of the blocks.
    G, b : optional, shapes (p, n), (p,)
        Bilateral rows; redundant rows are allowed if they agree.
    B : optional, shape (n, m)
        Directions of the reactions; J^T unless a block slides.
    B_abs : optional, shape (n, m)
        Directions that act with |r| (`BilateralSliding` only).
    """

    M: Matrix
    h: Array
    J: Matrix
    w: Array
    G: Matrix = None
    b: Array = None  # type: ignore[assignment]
    B: Matrix = None
    B_abs: Matrix = None

    __repr__ = brief

    def __post_init__(self) -> None:
        h = vector("h", self.h)
        w = vector("w", self.w)
        n, m = len(h), len(w)
        b = np.zeros(0) if self.b is None else vector("b", self.b)
        shapes = {"M": (n, n), "J": (m, n), "G": (len(b), n), "B": (n, m), "B_abs": (n, m)}
        values = {name: _matrix(name, getattr(self, name), *shape) for name, shape in shapes.items()}
        if values["G"] is None:
            values["G"] = np.zeros((0, n))
        for name, value in {**values, "h": h, "w": w, "b": b}.items():
            object.__setattr__(self, name, value)

    @classmethod
    def trusted(cls, *numbers: Matrix) -> GlobalForm:
        """Return a form of M, h, J, w, G, b, B and B_abs that are known to be good, without checks or copies."""
        return _form(*numbers)


_form = maker(GlobalForm)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """W by rows for the kernels: entries, columns and row pointers (CSR), and its diagonal blocks D (n, 6, 6)."""

    data: Array
    indices: IntArray
    indptr: IntArray
    D: Array
    spectra: Array  # (n, 3): lowest and highest eigenvalue of the symmetric part of W_kk, and |W_kk|
    arrays: tuple[Array, IntArray, IntArray]  # data, indices and indptr, as kernels take them

    __repr__ = brief


_rows = maker(Rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False, init=False)
class ComplementarityProblem:
    """Find r with u = W r + W_abs |r| + q and (u_k, r_k) in law k, for every block k.

    Parameters
    ----------
    W : array_like or sparse, shape (m, m)
        Local (Delassus) matrix; used as it is, symmetric or not.
    q : array_like, shape (m,)
        Relative motion without reactions.
    laws : sequence of Law
        One per block; the sizes add up to m.
    W_abs : optional, shape (m, m)
        Columns that act with |r|; only `BilateralSliding` blocks have them.
    form : GlobalForm, optional
        The global problem that W and q were condensed from.

    Attributes
    ----------
    idle : bool
        Whether r = 0 obeys every law at first sight: there are no rows, q = 0, or every contact opens.

    Raises
    ------
    InputError
        NaN, wrong shapes, blocks of a wrong size, or a cone block (Coulomb, Associated, Rolling) whose symmetric
        part has an eigenvalue below -1e-9 |W_kk|.
    """

    W: Matrix
    q: Array
    laws: Sequence[Law]
    W_abs: Matrix = None
    form: GlobalForm | None = None
    table: LawTable = field(init=False, repr=False)
    rows: Rows = field(init=False, repr=False)
    rho: Array = field(init=False, repr=False)
    idle: bool = field(init=False, repr=False)
    elimination: Elimination | None = field(default=None, repr=False)

    def __init__(
        self, *, W: Matrix, q: Array, laws: Sequence[Law], W_abs: Matrix = None, form: GlobalForm | None = None,
        elimination: Elimination | None = None,
    ) -> None:  # fmt: skip
        table, q = LawTable.of(laws), vector("q", q, finite=False)
        m = len(q)
        _check_sizes(table, m)
        W = _matrix("W", W, m, m, finite=False)
        rows, rho, idle = _described(W, q, table, given=form is None)
        W_abs = None if W_abs is None else _matrix("W_abs", W_abs, m, m)
        _fill(self, W, q, table.laws, W_abs, form, table, rows, rho, idle, elimination)

    def __repr__(self) -> str:
        """Return one line: the number of blocks, of rows, and the laws' names."""
        names = ", ".join(sorted({type(law).__name__ for law in self.laws}))
        return f"ComplementarityProblem(blocks={len(self.laws)}, rows={len(self.q)}, laws={{{names}}})"

    @classmethod
    def condensed(cls, form: GlobalForm, laws: Sequence[Law]) -> ComplementarityProblem:
        """Eliminate M and G from a global problem: W = J S B, q = J x_free + w.

        S is the inverse of M on the null space of G; redundant rows of G do no harm.
        """
        elimination = Elimination(form.M, form.G, form.b)
        x_free, _ = elimination.motion(form.h)
        W = form.J @ elimination.spread(form.J.T if form.B is None else form.B)
        q = np.asarray(form.J @ x_free + form.w).ravel()
        if sp.issparse(W):
            W_abs = None if form.B_abs is None else form.J @ elimination.spread(form.B_abs)
            return cls(W=W, q=q, laws=laws, W_abs=W_abs, form=form, elimination=elimination)
        table, W = LawTable.of(laws), np.ascontiguousarray(W)
        _check_sizes(table, len(q))
        W_abs = None if form.B_abs is None else np.asarray(form.J @ elimination.spread(form.B_abs))
        rows, rho, idle = _described(W, q, table, given=False)
        new: ComplementarityProblem = object.__new__(cls)
        return _fill(new, W, q, table.laws, W_abs, form, table, rows, rho, idle, elimination)

    def motion(self, r: Array) -> Array:
        """Return u = W r + W_abs |r| + q."""
        u = np.empty(len(self.q))
        _kernels()[1](self.rows.arrays, self.q, np.ascontiguousarray(r, np.float64), u)
        return u if self.W_abs is None else u + np.asarray(self.W_abs @ np.abs(r)).ravel()

    def recover(self, r: Array) -> tuple[Array, Array]:
        """Return (x, lam) of the global form for the reaction r; two empty vectors without one."""
        form = self.form
        if form is None:
            return NOTHING, NOTHING
        elimination = self.elimination or Elimination(form.M, form.G, form.b)
        load = form.h + np.asarray((form.J.T if form.B is None else form.B) @ r).ravel()
        if form.B_abs is not None:
            load = load + np.asarray(form.B_abs @ np.abs(r)).ravel()
        return elimination.motion(load)


_fill = filler(ComplementarityProblem)


def _check_sizes(table: LawTable, rows: int) -> None:
    """Raise InputError unless the blocks of the laws have as many rows as there are."""
    if table.size != rows:
        mend = "A planar contact is Coulomb(mu, dim=2)."
        raise InputError("laws", f"blocks of {table.size} rows in all", f"{rows} rows, the size of q", mend)


def _matrix(name: str, value: Matrix, rows: int, cols: int, *, finite: bool = True) -> Matrix:
    """Return a copy, dense or CSR as it is given, of the right shape."""
    if value is None:
        return None
    if type(value) is np.ndarray and value.dtype is FLOAT and not finite and value.shape == (rows, cols):
        return value.copy()  # as `matrix` does: a contact from Python takes few microseconds
    if type(value) is np.ndarray or not sp.issparse(value):
        return matrix(name, value, rows, cols, finite=finite) if rows * cols else np.zeros((rows, cols))
    if value.shape != (rows, cols):
        raise InputError(
            name,
            f"shape {value.shape}",
            f"a matrix of shape ({rows}, {cols})",
            f"Write {name}=numpy.zeros(({rows}, {cols})).",
        )
    checked = type(value) is sp.csr_array and value.data.dtype == np.float64
    csr = value if checked else sp.csr_array(value, dtype=np.float64)
    csr.sum_duplicates()
    if finite:
        finite_only(name, csr.data)
    return csr


def _described(W: Matrix, q: Array, table: LawTable, *, given: bool) -> tuple[Rows, Array, bool]:
    """Return W by rows, the step sizes rho of the blocks, and whether the problem is idle; all numbers are checked.

    given: by the user, and not condensed from a global problem.
    """
    if type(W) is sp.csr_array:
        data = np.ascontiguousarray(W.data)
        indices, indptr = np.ascontiguousarray(W.indices, np.int64), np.ascontiguousarray(W.indptr, np.int64)
    else:
        m = len(W)
        data, (indices, indptr) = W.ravel(), _pattern(m) if m <= SMALL_ROWS else _full(m)
    n = len(table.code)
    D, spectra, rho = np.zeros((n, 6, 6)), np.zeros((n, 3)), np.empty(n)
    rows = data, indices, indptr
    finite, monotone, idle = _kernels()[0](rows, table.start, q, table.one_sided, D, spectra, rho)
    if not finite:
        finite_only("q", q)
        finite_only("W", data)
    if not monotone and given:  # what joints leave of a W that was condensed may be nothing but rounding
        _check_cone_blocks(spectra, D, table)
    return _rows(data, indices, indptr, D, spectra, rows), rho, idle


def _full(m: int) -> tuple[IntArray, IntArray]:
    """Return the columns and the row pointers of a full matrix of m rows."""
    if not m:
        return np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    return np.tile(np.arange(m), m), np.arange(0, m * m + 1, m)


_pattern = cache(_full)  # a time step asks for the same few small ones


@cache
def _kernels() -> tuple[Any, Any]:
    from ..._jit import entry_of
    from ...linalg.sparse_rows import motion
    from ..laws.projections import block_spectra

    return entry_of(block_spectra), entry_of(motion)


def _check_cone_blocks(spectra: Array, D: Array, table: LawTable) -> None:
    """Refuse W whose diagonal blocks of contact laws are not positive semidefinite."""
    for k in np.flatnonzero(table.cone & (spectra[:, 0] < -1e-9 * spectra[:, 2])):
        n = int(table.start[k + 1] - table.start[k])
        least = float(np.linalg.eigvalsh(0.5 * (D[k, :n, :n] + D[k, :n, :n].T))[0])  # the spectra of rank one: to 1e-8
        if least < -1e-9 * spectra[k, 2]:
            name = type(table.laws[k]).__name__
            given = f"block {k} ({name}) with eigenvalue {least:.3g} of the symmetric part of W_kk"
            mend = "Check the sign convention u = W r + q; only Unilateral and Sliding blocks may have any sign."
            raise InputError("W", given, "positive semidefinite diagonal blocks for contact laws", mend)


Problem = ComplementarityProblem | LinearComplementarity


def as_blocks(problem: Problem) -> ComplementarityProblem:
    """Return the problem as blocks (an LCP as Unilateral ones)."""
    return problem.blocks() if isinstance(problem, LinearComplementarity) else problem
