"""The complementarity problem of blocks, and the LCP as its smallest case. Data only: no solver inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from ..arrays import Array, matrix, vector
from ..errors import InputError
from .laws import Law, LawTable, Unilateral

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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

    def __post_init__(self) -> None:
        table = LawTable.of(self.laws)
        q = vector("q", self.q)
        if table.start[-1] != len(q):
            mend = "A planar contact is Coulomb(mu, dim=2)."
            raise InputError("laws", f"blocks of {table.start[-1]} rows in all", f"{len(q)} rows, the size of q", mend)
        W = _matrix("W", self.W, len(q), len(q))
        _check_cone_blocks(W, table)
        values = {"W": W, "q": q, "laws": table.laws, "table": table}
        values["W_abs"] = _matrix("W_abs", self.W_abs, len(q), len(q))
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def condensed(cls, form: GlobalForm, laws: Sequence[Law]) -> ComplementarityProblem:
        """Eliminate M and G from a global problem: W = J S B, q = J x_free + w.

        S is the inverse of M on the null space of G; redundant rows of G do no harm.
        """
        x_free, inverse = _eliminate(form)
        B = form.J.T if form.B is None else form.B
        W = form.J @ inverse(B)
        W_abs = None if form.B_abs is None else form.J @ inverse(form.B_abs)
        return cls(W=W, q=np.asarray(form.J @ x_free + form.w).ravel(), laws=laws, W_abs=W_abs, form=form)

    def motion(self, r: Array) -> Array:
        """Return u = W r + W_abs |r| + q."""
        u = np.asarray(self.W @ r).ravel() + self.q
        return u if self.W_abs is None else u + np.asarray(self.W_abs @ np.abs(r)).ravel()

    def recover(self, r: Array) -> tuple[Array, Array]:
        """Return (x, lam) of the global form for the reaction r; two empty vectors without one."""
        if self.form is None:
            return np.zeros(0), np.zeros(0)
        form = self.form
        B = form.J.T if form.B is None else form.B
        load = form.h + np.asarray(B @ r).ravel()
        if form.B_abs is not None:
            load = load + np.asarray(form.B_abs @ np.abs(r)).ravel()
        return _saddle(form, load)


def _matrix(name: str, value: Matrix, rows: int, cols: int) -> Matrix:
    if value is None:
        return None
    if not sp.issparse(value):
        return matrix(name, value, rows, cols) if rows * cols else np.zeros((rows, cols))
    if value.shape != (rows, cols):
        raise InputError(name, f"shape {value.shape}", f"a matrix of shape ({rows}, {cols})")
    csr = sp.csr_array(value, dtype=np.float64)
    csr.sum_duplicates()
    if not np.isfinite(csr.data).all():
        raise InputError(name, "NaN or infinity", "finite numbers")
    return csr


def _check_cone_blocks(W: Matrix, table: LawTable) -> None:
    for law, blocks, rows in table.groups():
        if not law.cone or not len(blocks):
            continue
        D = diagonal_blocks(W, rows)
        low = np.linalg.eigvalsh((D + D.transpose(0, 2, 1)) / 2)[:, 0]
        bad = np.flatnonzero(low < -1e-9 * np.linalg.norm(D, axis=(1, 2)))
        if len(bad):
            k = int(blocks[bad[0]])
            given = f"block {k} ({law.__name__}) with eigenvalue {low[bad[0]]:.3g} of its symmetric part"
            raise InputError("W", given, "positive semidefinite diagonal blocks for contact laws")


def diagonal_blocks(W: Matrix, rows: Any) -> Array:
    """Return the diagonal blocks of W, shape (k, d, d), for the row indices `rows` (k, d)."""
    if not sp.issparse(W):
        return np.asarray(W[rows[:, :, None], rows[:, None, :]], dtype=np.float64)
    k, d = rows.shape
    i = np.repeat(rows, d, axis=1).ravel()
    j = np.tile(rows, (1, d)).ravel()
    return np.asarray(W[i, j], dtype=np.float64).reshape(k, d, d)


def _eliminate(form: GlobalForm) -> tuple[Array, Any]:
    """Return x_free and the map B -> S B of the constrained free motion."""
    if not len(form.b) and sp.issparse(form.M):
        lu = splu(sp.csc_array(form.M))
        return lu.solve(form.h), lambda B: _solve_sparse(lu, B)
    x_free, _ = _saddle(form, form.h)
    homogeneous = GlobalForm(M=form.M, h=0 * form.h, J=form.J, w=form.w, G=form.G, b=0 * form.b)
    return x_free, lambda B: _saddle(homogeneous, B.toarray() if sp.issparse(B) else B)[0]


def _solve_sparse(lu: Any, B: Matrix) -> Matrix:
    if not sp.issparse(B):
        return lu.solve(B)
    return sp.csr_array(lu.solve(B.toarray()))


def _saddle(form: GlobalForm, load: Array) -> tuple[Array, Array]:
    """Solve M x = load + G^T lam, G x = b for one or several loads; lam of minimum norm if G is redundant."""
    M = form.M.toarray() if sp.issparse(form.M) else form.M
    G = form.G.toarray() if sp.issparse(form.G) else form.G
    free = np.linalg.solve(M, load)
    if not len(form.b):
        return free, np.zeros((0, *load.shape[1:]))
    S = np.linalg.solve(M, G.T)
    b = form.b if load.ndim == 1 else form.b[:, None]
    lam = np.linalg.lstsq(G @ S, b - G @ free, rcond=1e-12)[0]
    return free + S @ lam, lam
