"""FCLib HDF5 files: frictional contact problems in the format of the Frictional Contact Library.

Local ``u = W r + q``, with bilateral rows ``u = W r + V l + q, V^T r + R l + s = 0``; global
``M v = H r + G l + f, G^T v + b = 0, u = H^T v + w`` (fclib.h of FCLib 3, where l acts with a plus sign). Blocks are
(N, T1, T2), with rolling (N, T1, T2, R1, R2). Triplets hold rows in i and columns in p, as CSparse has them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._files import hdf5, seal_file, unwritable, values
from ..._show import brief
from ...arrays import Array, IntArray
from ...errors import InputError, SceneError
from ..laws.laws import Coulomb, Law, Rolling, Unilateral
from ..problems.complementarity import ComplementarityProblem, GlobalForm

ROOTS = ("fclib_local", "fclib_global", "fclib_local_rolling", "fclib_global_rolling")
DENSE_ROWS = 300  # smaller matrices are kept dense,
SPARSE_ROWS, SPARSE = 60, 0.25  # but W from so many rows on where no more than this share of it is not zero


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FclibFile:
    """What a file holds.

    Attributes
    ----------
    kind : str
        fc2d, fc3d, gfc2d, gfc3d, rfc3d or grfc3d.
    problem : ComplementarityProblem
    info : dict
        title, description, math_info (empty where absent).
    multiplier : callable
        The file's l for a reaction r and the multipliers lam of the problem.
    """

    kind: str
    problem: ComplementarityProblem
    info: dict[str, str] = field(default_factory=dict)
    multiplier: Callable[[Array, Array], Array]

    __repr__ = brief


def read(path: str | os.PathLike[str]) -> FclibFile:
    """Read a contact problem.

    Raises
    ------
    SceneError
        If the file is truncated, of another format, or inconsistent; names the dataset and how to mend it.
    """
    with hdf5(path) as file:
        return _problem(_Reader(path, file))


def _problem(file: _Reader) -> FclibFile:
    """Return what is in a file: in the plane, in space or rolling, local or global."""
    root = file.root()
    dim = file.integer("spacedim")
    if dim not in ((5,) if root.endswith("rolling") else (2, 3)):
        raise SceneError(
            file.name,
            "spacedim",
            f"given {dim}; allowed: 2 or 3, or 5 in a rolling group: file['fclib_local/spacedim'][...] = 3",
        )
    laws = _laws(file, dim)
    kind = ("r" if dim == 5 else "") + ("fc2d" if dim == 2 else "fc3d")
    if "global" in root:
        kind = "g" + kind
        problem = ComplementarityProblem.condensed(_global(file, dim * len(laws)), laws)
        return FclibFile(kind=kind, problem=problem, info=file.info(), multiplier=lambda r, lam: lam)
    W, q, multiplier = _local(file, dim * len(laws))
    problem = ComplementarityProblem(W=W, q=q, laws=laws)
    return FclibFile(kind=kind, problem=problem, info=file.info(), multiplier=multiplier)


def _laws(file: _Reader, dim: int) -> list[Law]:
    mu = file.vector("vectors/mu")
    file.not_negative("vectors/mu", mu)
    if dim != 5:
        return [Coulomb(float(m), dim=dim) for m in mu]
    mu_r = file.vector("vectors/mu_r", len(mu))
    file.not_negative("vectors/mu_r", mu_r)
    return [Rolling(float(m), float(s)) for m, s in zip(mu, mu_r, strict=True)]


def _global(file: _Reader, m: int) -> GlobalForm:
    f, w = file.vector("vectors/f"), file.vector("vectors/w", m)
    n = len(f)
    M, H = file.matrix("M", n, n), file.matrix("H", n, m)
    if not file.has("G"):
        return GlobalForm(M=M, h=f, J=H.T, w=w)
    b = file.vector("vectors/b") if file.has("vectors/b") else np.zeros(file.integer("G/n"))
    return GlobalForm(M=M, h=f, J=H.T, w=w, G=file.matrix("G", n, len(b)).T, b=-b)


def _local(file: _Reader, m: int) -> tuple[Any, Array, Callable[[Array, Array], Array]]:
    """Return W and q with the bilateral rows eliminated: l = -R^-1 (s + V^T r), of least norm if R is singular."""
    q, W = file.vector("vectors/q", m), file.matrix("W", m, m)
    if m >= SPARSE_ROWS and not sp.issparse(W) and np.count_nonzero(W) <= SPARSE * m * m:
        W = sp.csr_array(W)
    if not file.has("V") or not file.has("R"):
        return W, q, lambda r, lam: np.zeros(0)
    s = file.vector("vectors/s")
    p = len(s)
    V, R = (np.asarray(sp.csr_array(file.matrix(key, rows, p)).todense()) for key, rows in (("V", m), ("R", p)))
    inverse = np.linalg.pinv(R, rcond=1e-12)
    dense = W.toarray() if sp.issparse(W) else W
    return dense - V @ inverse @ V.T, q - V @ inverse @ s, lambda r, lam: -inverse @ (s + V.T @ r)


def write(
    path: str | os.PathLike[str],
    problem: ComplementarityProblem,
    *,
    r: Array | None = None,
    info: dict[str, str] | None = None,
) -> None:
    """Write a contact problem, and the solution that belongs to the reaction r.

    Global if the problem was condensed from one with reactions along J^T, else local. A frictionless row is written
    as a contact with mu = 0 whose tangential rows are zero.

    Raises
    ------
    InputError
        If a law has no place in the format (mu_s > mu, bilateral or dry friction).
    """
    dim, fill = _space(problem)
    m = dim * len(problem.laws)
    pad = sp.csr_array((np.ones(len(fill)), (fill, np.arange(len(fill)))), shape=(m, len(fill)))
    matrices, vectors = _contents(problem, pad)
    vectors |= {"mu": problem.table.P[:, 0]} | ({"mu_r": problem.table.P[:, 3]} if dim == 5 else {})
    root = ("fclib_global" if "M" in matrices else "fclib_local") + ("_rolling" if dim == 5 else "")
    with _Creating(path) as h:
        group = h.create_group(root)
        group["spacedim"] = np.array([dim], dtype=np.int32)
        for name, matrix in matrices.items():
            _write_matrix(group.create_group(name), matrix)
        for name, vector in vectors.items():
            group[f"vectors/{name}"] = np.asarray(vector, dtype=np.float64)
        for name in ("title", "description", "math_info"):
            group[f"info/{name}"] = np.bytes_((info or {}).get(name, "") or " ")
        if r is not None:
            x, lam = problem.recover(r)
            _write_solution(h, pad @ problem.motion(r), pad @ r, x, lam)


def _contents(problem: ComplementarityProblem, pad: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the matrices and vectors of the file; `pad` maps rows of the problem to rows of the file."""
    form = problem.form
    if form is None or form.B is not None or form.B_abs is not None:
        return {"W": pad @ sp.csr_array(problem.W) @ pad.T}, {"q": pad @ problem.q}
    matrices, vectors = {"M": form.M, "H": sp.csr_array(form.J).T @ pad.T}, {"f": form.h, "w": pad @ form.w}
    if len(form.b):
        matrices["G"], vectors["b"] = form.G.T, -form.b
    return matrices, vectors


def save(
    path: str | os.PathLike[str], source: str | os.PathLike[str], file: FclibFile, r: Array, x: Array, lam: Array
) -> None:
    """Write the problem of the file `source` unchanged, and the solution (reaction r, velocity x, multipliers lam)."""
    with _Creating(path) as h:
        with hdf5(source) as old:
            for root in (key for key in old if key in ROOTS):
                old.copy(root, h)
        _write_solution(h, file.problem.motion(r), r, x, file.multiplier(r, lam))


class _Creating:
    """Write to a neighbour of `path` and move it there when complete, so that no half file is ever left."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.part = self.path.with_name(f"{self.path.name}.part{os.getpid()}")

    def __enter__(self) -> Any:
        import h5py

        try:
            self.file = h5py.File(self.part, "w")
        except OSError as error:
            raise InputError("path", self.path, "a file that can be written", unwritable(self.path, error)) from None
        return self.file

    def __exit__(self, kind: object, *rest: object) -> None:
        self.file.close()
        if kind is None:
            seal_file(self.part)
            os.replace(self.part, self.path)
        else:
            self.part.unlink(missing_ok=True)


def _space(problem: ComplementarityProblem) -> tuple[int, IntArray]:
    """Return the block size of the file and, for every row of the problem, its row in the file."""
    sizes = {law.size for law in problem.laws if not isinstance(law, Unilateral)} or {3}
    for k, law in enumerate(problem.laws):
        fits = isinstance(law, Unilateral) or type(law) in (Coulomb, Rolling)
        if not fits or len(sizes) > 1 or law.parameters()[1] > law.parameters()[0]:
            allowed = "Coulomb of one dimension without mu_s > mu, or Rolling, and Unilateral"
            raise InputError(f"laws[{k}]", law, allowed, "FCLib has no place for others: keep Coulomb(0.3) blocks.")
    dim, start = sizes.pop(), problem.table.start
    parts = [dim * k + np.arange(start[k + 1] - start[k]) for k in range(len(start) - 1)]
    return dim, np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, dtype=np.int64)


def _write_matrix(group: Any, matrix: Any) -> None:
    csr = sp.csr_array(matrix)
    csr.sum_duplicates()
    sizes = {"m": csr.shape[0], "n": csr.shape[1], "nz": -2, "nzmax": csr.nnz}
    for name, value in sizes.items():
        group[name] = np.array([value], dtype=np.int32)
    group["p"], group["i"] = csr.indptr.astype(np.int32), csr.indices.astype(np.int32)
    group["x"] = csr.data


def _write_solution(h: Any, u: Array, r: Array, v: Array, lam: Array) -> None:
    for name, value in (("u", u), ("r", r), ("v", v), ("l", lam)):
        h[f"solution/{name}"] = np.asarray(value, dtype=np.float64)


class _Reader:
    """An open FCLib file whose every fault is a SceneError."""

    def __init__(self, path: str | os.PathLike[str], file: Any) -> None:
        self.name, self.file, self.group = str(path), file, file

    def root(self) -> str:
        """Return the kind of the problem: the one group at the root that FCLib knows."""
        found = [key for key in self.file if key in ROOTS]
        if len(found) != 1:
            raise SceneError(
                self.name,
                "",
                f"holds {list(self.file)[:6]}, none of {', '.join(ROOTS)}: file.create_group({ROOTS[0]!r})",
            )
        self.group = self.file[found[0]]
        return str(found[0])

    def has(self, key: str) -> bool:
        """Return whether the problem has that entry."""
        return key in self.group

    def array(self, key: str) -> Any:
        """Return a dataset as an array of at least one dimension."""
        try:
            return np.atleast_1d(np.asarray(values(self.group[key])))
        except KeyError:
            raise SceneError(
                self.name, key, f"the dataset is missing; write the complete problem: group[{key!r}] = ..."
            ) from None
        except (OSError, TypeError, AttributeError, ValueError, RuntimeError) as error:
            raise SceneError(
                self.name, key, f"cannot be read ({error}); the file may be truncated: ls -l {self.name}"
            ) from None

    def integer(self, key: str) -> int:
        """Return a dataset that holds one integer."""
        value = self.array(key)
        if value.size != 1 or value.dtype.kind not in "iu":
            raise SceneError(self.name, key, f"given {value.tolist()}; one integer is needed: group[{key!r}] = [1]")
        return int(value[0])

    def vector(self, key: str, size: int | None = None) -> Array:
        """Return a dataset as a finite float64 vector, of the size asked for."""
        x = self.array(key)
        if x.dtype.kind not in "iuf" or x.ndim != 1 or (size is not None and len(x) != size):
            wanted = "a vector of numbers" if size is None else f"a vector of {size} numbers"
            raise SceneError(
                self.name,
                key,
                f"given {x.dtype} of shape {x.shape}; {wanted} is needed: group[{key!r}] = numpy.zeros({size or 3})",
            )
        if not np.isfinite(x).all():
            where = int(np.argmax(~np.isfinite(x)))
            raise SceneError(
                self.name, key, f"entry {where} is {x[where]}; look for a division by zero: numpy.seterr(all='raise')"
            )
        return np.asarray(x, dtype=np.float64)

    def not_negative(self, key: str, x: Array) -> None:
        """Raise SceneError if a friction coefficient is negative."""
        if len(x) and x.min() < 0.0:
            k = int(np.argmin(x))
            raise SceneError(
                self.name, key, f"contact {k} has {x[k]:g}; friction coefficients are >= 0: group[{key!r}][{k}] = 0.5"
            )

    def matrix(self, key: str, rows: int, cols: int) -> Any:
        """Return a sparse matrix, stored as triplets (nz >= 0), by columns (-1) or by rows (-2)."""
        m, n, nz = (self.integer(f"{key}/{name}") for name in ("m", "n", "nz"))
        if (m, n) != (rows, cols):
            raise SceneError(
                self.name,
                key,
                f"is {m} x {n}; {rows} x {cols} is needed by the vectors and mu: {key}/m = {rows}, {key}/n = {cols}",
            )
        i, p = (self.array(f"{key}/{name}").astype(np.int64) for name in ("i", "p"))
        x = self.vector(f"{key}/x")
        try:
            A = _assemble(nz, i, p, x, m, n)
        except (ValueError, IndexError) as error:
            raise SceneError(
                self.name, key, f"its indices do not fit ({error}); write it again from scipy.sparse.coo_array(A)"
            ) from None
        return A.toarray() if max(m, n) <= DENSE_ROWS else A

    def info(self) -> dict[str, str]:
        """Return title and description, where the file has them."""
        found: dict[str, str] = {}
        for key in ("title", "description", "math_info"):
            value = values(self.group[f"info/{key}"]) if f"info/{key}" in self.group else b""
            text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
            found[key] = text.strip()
        return found


def _assemble(nz: int, i: IntArray, p: IntArray, x: Array, m: int, n: int) -> Any:
    """Return the CSR matrix of a triplet (nz >= 0), CSC (-1) or CSR (-2) record; ValueError if it does not fit."""
    if nz >= 0:
        return _triplets(i[:nz], p[:nz], x[:nz], nz, (m, n))
    if nz not in (-1, -2):
        raise ValueError(f"nz = {nz}; allowed: >= 0, -1 or -2")
    major, minor = (n, m) if nz == -1 else (m, n)
    if len(p) != major + 1 or p[0] != 0 or (np.diff(p) < 0).any():
        raise ValueError(f"p must hold {major + 1} rising pointers from 0")
    used = int(p[-1])
    if min(len(i), len(x)) < used or (used and not 0 <= i[:used].min() <= i[:used].max() < minor):
        raise ValueError(f"{used} entries with indices below {minor} are needed")
    kind = sp.csc_array if nz == -1 else sp.csr_array
    A = sp.csr_array(kind((x[:used], i[:used], p), shape=(m, n)))
    A.sum_duplicates()
    return A


def _triplets(i: IntArray, p: IntArray, x: Array, nz: int, shape: tuple[int, int]) -> Any:
    """Return the CSR matrix with rows i and columns p; the other reading in use is taken where only it fits."""
    if min(len(i), len(p), len(x)) < nz:
        raise ValueError(f"fewer than nz = {nz} entries")
    if nz and (i.max() >= shape[0] or p.max() >= shape[1]) and i.max() < shape[1] and p.max() < shape[0]:
        i, p = p, i
    return sp.csr_array(sp.coo_array((x, (i, p)), shape=shape))
