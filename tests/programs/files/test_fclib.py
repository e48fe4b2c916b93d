"""FCLib files: every storage, both forms, bilateral rows, what is written, and files that must be refused."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from gaussdyn.errors import InputError, SceneError
from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.files import fclib
from gaussdyn.programs.files.formats import read_problem
from gaussdyn.programs.laws.laws import Coulomb, Dry, Rolling, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, GlobalForm


def put_matrix(group, A, storage):
    A = np.asarray(A, dtype=float)
    group["m"], group["n"] = np.array([A.shape[0]], dtype="i4"), np.array([A.shape[1]], dtype="i4")
    if storage == "coo":
        s = sp.coo_array(A)
        i, p, x, nz = s.row, s.col, s.data, s.nnz
    elif storage == "swapped":  # rows in p, columns in i
        s = sp.coo_array(A)
        i, p, x, nz = s.col, s.row, s.data, s.nnz
    else:
        s = sp.csc_array(A) if storage == "csc" else sp.csr_array(A)
        i, p, x, nz = s.indices, s.indptr, s.data, -1 if storage == "csc" else -2
    group["nz"], group["nzmax"] = np.array([nz], dtype="i4"), np.array([len(x)], dtype="i4")
    group["i"], group["p"], group["x"] = i.astype("i4"), p.astype("i4"), x


def make(path, root, dim, matrices, vectors, storage="csr"):
    with h5py.File(path, "w") as h:
        g = h.create_group(root)
        g["spacedim"] = np.array([dim], dtype="i4")
        for name, A in matrices.items():
            put_matrix(g.create_group(name), A, storage)
        for name, x in vectors.items():
            g[f"vectors/{name}"] = np.asarray(x, dtype=float)
        g["info/title"] = np.bytes_("a title")
    return path


def local_data(nc=2, dim=3, seed=0):
    g = np.random.default_rng(seed)
    J = g.normal(size=(nc * dim, nc * dim + 2))
    W = J @ J.T
    W[0, nc * dim - 1] = 0.0  # unsymmetric, and sparse
    return W, J @ g.normal(size=nc * dim + 2)


@pytest.mark.parametrize("storage", ["coo", "csc", "csr"])
@pytest.mark.parametrize(("dim", "kind"), [(2, "fc2d"), (3, "fc3d")])
def test_local_files_in_every_storage(tmp_path, storage, dim, kind):
    W, q = local_data(dim=dim)
    path = make(tmp_path / "p.hdf5", "fclib_local", dim, {"W": W}, {"q": q, "mu": [0.3, 0.4]}, storage)
    file = fclib.read(path)
    assert file.kind == kind
    assert file.info["title"] == "a title"
    np.testing.assert_array_equal(file.problem.W, W)
    np.testing.assert_array_equal(file.problem.q, q)
    assert [law.mu for law in file.problem.laws] == [0.3, 0.4]


@pytest.mark.parametrize(("blocks", "sparse"), [(19, False), (20, True), (40, True)])
def test_the_matrix_of_many_separate_contacts_stays_sparse(tmp_path, blocks, sparse):
    W = np.kron(np.eye(blocks), np.diag([1.0, 2.0, 2.0]) + 0.1)
    q = np.tile([-1.0, 0.3, 0.0], blocks)
    path = make(tmp_path / "p.hdf5", "fclib_local", 3, {"W": W}, {"q": q, "mu": [0.3] * blocks})
    problem = fclib.read(path).problem
    assert sp.issparse(problem.W) is sparse
    assert np.array_equal(problem.W.toarray() if sparse else problem.W, W)
    one = solve_blocks(ComplementarityProblem(W=W[:3, :3], q=q[:3], laws=[Coulomb(0.3)]))
    assert np.allclose(solve_blocks(problem).r, np.tile(one.r, blocks), rtol=0.0, atol=1e-12)


def test_triplets_with_rows_in_p_are_recognised_where_only_that_fits(tmp_path):
    g = np.random.default_rng(1)
    H = g.normal(size=(9, 3))
    data = {"f": g.normal(size=9), "w": np.zeros(3), "mu": [0.3]}
    one, two = (
        fclib.read(make(tmp_path / f"{s}.hdf5", "fclib_global", 3, {"M": np.eye(9), "H": H}, data, s)).problem
        for s in ("coo", "swapped")
    )
    np.testing.assert_array_equal(one.W, two.W)


@pytest.mark.parametrize("storage", ["coo", "csc", "csr"])
def test_global_files_with_bilateral_rows(tmp_path, storage):
    """M v = H r + G l + f, G^T v + b = 0, u = H^T v + w: checked row by row on the answer."""
    g = np.random.default_rng(2)
    A = g.normal(size=(8, 8))
    M, H, G = A @ A.T + np.eye(8), g.normal(size=(8, 6)), g.normal(size=(8, 2))
    data = {"f": g.normal(size=8), "w": g.normal(size=6), "b": g.normal(size=2), "mu": [0.3, 0.5]}
    path = make(tmp_path / "g.hdf5", "fclib_global", 3, {"M": M, "H": H, "G": G}, data, storage)
    file = read_problem(path)
    assert (file.kind, file.contacts, file.name) == ("gfc3d", 2, "a title")
    answer = solve_blocks(file.problem).require()
    file.save(tmp_path / "out.hdf5", answer)
    with h5py.File(tmp_path / "out.hdf5") as h:
        u, r, v, lam = (h[f"solution/{name}"][()] for name in "urvl")
        assert "G" in h["fclib_global"]
    np.testing.assert_allclose(M @ v, H @ r + G @ lam + data["f"], atol=1e-9)
    np.testing.assert_allclose(G.T @ v + data["b"], 0.0, atol=1e-9)
    np.testing.assert_allclose(u, H.T @ v + data["w"], atol=1e-9)


def test_local_files_with_bilateral_rows(tmp_path):
    """u = W r + V l + q, V^T r + R l + s = 0."""
    g = np.random.default_rng(3)
    W, q = local_data()
    W = W + 9.0 * np.eye(6)
    V, R, s = g.normal(size=(6, 2)), -np.eye(2), g.normal(size=2)
    path = make(tmp_path / "m.hdf5", "fclib_local", 3, {"W": W, "V": V, "R": R}, {"q": q, "s": s, "mu": [0.3, 0.3]})
    file = read_problem(path)
    answer = solve_blocks(file.problem).require()
    file.save(tmp_path / "out.hdf5", answer)
    with h5py.File(tmp_path / "out.hdf5") as h:
        u, r, lam = (h[f"solution/{name}"][()] for name in "url")
    np.testing.assert_allclose(u, W @ r + V @ lam + q, atol=1e-10)
    np.testing.assert_allclose(V.T @ r + R @ lam + s, 0.0, atol=1e-10)


@pytest.mark.parametrize(("root", "kind"), [("fclib_local_rolling", "rfc3d"), ("fclib_global_rolling", "grfc3d")])
def test_rolling_files(tmp_path, root, kind):
    g = np.random.default_rng(4)
    A = g.normal(size=(5, 5))
    M = A @ A.T + np.eye(5)
    if kind == "rfc3d":
        matrices, vectors = {"W": M}, {"q": g.normal(size=5)}
    else:
        matrices, vectors = {"M": M, "H": np.eye(5)}, {"f": g.normal(size=5), "w": np.zeros(5)}
    file = fclib.read(make(tmp_path / "r.hdf5", root, 5, matrices, {**vectors, "mu": [0.3], "mu_r": [0.1]}))
    assert file.kind == kind
    assert file.problem.laws == (Rolling(0.3, 0.1),)


@pytest.mark.parametrize("with_form", [False, True])
def test_what_is_written_is_read_back(tmp_path, with_form):
    g = np.random.default_rng(5)
    J = g.normal(size=(4, 7))
    laws = [Coulomb(0.3, dim=2), Coulomb(0.6, dim=2)]
    form = GlobalForm(M=np.diag(g.uniform(1, 2, 7)), h=g.normal(size=7), J=J, w=g.normal(size=4), G=J[:1] + 1, b=[0.2])
    problem = ComplementarityProblem.condensed(form, laws)
    if not with_form:
        problem = ComplementarityProblem(W=problem.W, q=problem.q, laws=laws)
    r = np.arange(4.0)
    fclib.write(tmp_path / "w.hdf5", problem, r=r, info={"title": "mine"})
    back = fclib.read(tmp_path / "w.hdf5")
    assert back.kind == ("gfc2d" if with_form else "fc2d")
    assert back.info["title"] == "mine"
    np.testing.assert_allclose(back.problem.W, problem.W, rtol=1e-12)
    np.testing.assert_allclose(back.problem.q, problem.q, rtol=1e-12)
    with h5py.File(tmp_path / "w.hdf5") as h:
        np.testing.assert_array_equal(h["solution/r"][()], r)
        np.testing.assert_allclose(h["solution/u"][()], problem.motion(r))
        assert len(h["solution/v"]) == (7 if with_form else 0)
        assert len(h["solution/l"]) == (1 if with_form else 0)


def test_frictionless_rows_are_written_as_contacts_without_friction(tmp_path):
    problem = ComplementarityProblem(
        W=np.diag([2.0, 1.0, 1.0]), q=[-1.0, -1.0, 0.1], laws=[Unilateral(), Coulomb(0.5, dim=2)]
    )
    answer = solve_blocks(problem).require()
    fclib.write(tmp_path / "u.hdf5", problem, r=answer.r)
    back = solve_blocks(fclib.read(tmp_path / "u.hdf5").problem).require()
    np.testing.assert_allclose(back.r, [answer.r[0], 0.0, *answer.r[1:]], atol=1e-15)


def test_laws_without_a_place_in_the_format_are_refused(tmp_path):
    for law in (Coulomb(0.3, 0.4), Dry(0.1)):
        problem = ComplementarityProblem(W=np.eye(law.size), q=np.ones(law.size), laws=[law])
        with pytest.raises(InputError, match="FCLib"):
            fclib.write(tmp_path / "x.hdf5", problem)
    assert list(tmp_path.iterdir()) == []


def spoil(h, what):
    g = h["fclib_local"]
    if what == "no q":
        del g["vectors/q"]
    elif what == "no W":
        del g["W"]
    elif what == "no mu":
        del g["vectors/mu"]
    elif what == "no spacedim":
        del g["spacedim"]
    elif what == "negative mu":
        g["vectors/mu"][0] = -0.1
    elif what == "NaN":
        g["W/x"][0] = np.nan
    elif what == "short q":
        del g["vectors/q"]
        g["vectors/q"] = np.zeros(5)
    elif what == "indices":
        g["W/i"][0] = 99
    elif what == "pointers":
        g["W/p"][1] = 10_000
    elif what == "storage":
        g["W/nz"][0] = -7
    elif what == "spacedim 4":
        g["spacedim"][0] = 4
    elif what == "W is a number":
        del g["W"]
        g["W"] = 3.0
    elif what == "text":
        del g["vectors/q"]
        g["vectors/q"] = np.bytes_("abc")
    elif what == "cone block":
        g["W/x"][...] = -g["W/x"][...]


FAULTS = {
    "no q": "vectors/q", "no W": "W", "no mu": "vectors/mu", "no spacedim": "spacedim", "negative mu": "vectors/mu",
    "NaN": "W/x", "short q": "vectors/q", "indices": "W", "pointers": "W", "storage": "W", "spacedim 4": "spacedim",
    "W is a number": "W", "text": "vectors/q", "cone block": "W",
}  # fmt: skip


@pytest.mark.parametrize(("what", "key"), FAULTS.items())
def test_faulty_files_name_the_dataset(tmp_path, what, key):
    W, q = local_data()
    path = make(tmp_path / "bad.hdf5", "fclib_local", 3, {"W": W}, {"q": q, "mu": [0.3, 0.4]})
    with h5py.File(path, "a") as h:
        spoil(h, what)
    with pytest.raises(SceneError) as caught:
        read_problem(path)
    assert caught.value.key.startswith(key)
    assert str(path) in str(caught.value)


def test_truncated_and_foreign_files(tmp_path):
    W, q = local_data(nc=30)
    path = make(tmp_path / "whole.hdf5", "fclib_local", 3, {"W": W}, {"q": q, "mu": np.full(30, 0.3)})
    whole = path.read_bytes()
    for size in (4, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.hdf5").write_bytes(whole[:size])
        with pytest.raises(SceneError):
            read_problem(tmp_path / "cut.hdf5")
    with h5py.File(tmp_path / "other.hdf5", "w") as h:
        h["something"] = 1.0
    with pytest.raises(SceneError, match="fclib_local"):
        read_problem(tmp_path / "other.hdf5")


def test_saving_over_the_file_that_was_read(tmp_path):
    W, q = local_data()
    path = make(tmp_path / "p.hdf5", "fclib_local", 3, {"W": W}, {"q": q, "mu": [0.3, 0.4]})
    file = read_problem(path)
    file.save(path, solve_blocks(file.problem))
    again = read_problem(path)
    np.testing.assert_array_equal(again.problem.W, W)
    with h5py.File(path) as h:
        assert set(h["solution"]) == {"u", "r", "v", "l"}
    assert len(list(tmp_path.iterdir())) == 1
