"""Block problems for the tests: one block of every law, random bodies, and independent reference formulas."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import numpy as np

from gaussdyn.programs.laws.laws import (
    Associated,
    BilateralCoulomb,
    BilateralSliding,
    Coulomb,
    Dry,
    Rolling,
    Sliding,
    Torsional,
    Unilateral,
)
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, GlobalForm

LAWS = {
    "unilateral": Unilateral(),
    "coulomb in space": Coulomb(0.4),
    "coulomb in the plane": Coulomb(0.7, dim=2),
    "coulomb, large mu": Coulomb(2.0),
    "frictionless cone": Coulomb(0.0),
    "stronger at rest": Coulomb(0.3, 0.5),
    "stronger at rest, plane": Coulomb(0.3, 0.5, dim=2),
    "guide in space": BilateralCoulomb(0.6),
    "guide in the plane": BilateralCoulomb(0.3, dim=2),
    "guide, stronger at rest": BilateralCoulomb(0.3, 0.5),
    "sliding": Sliding(0.3),
    "dry": Dry(0.4),
    "dry, stronger at rest": Dry(0.4, 0.6),
    "dry in the plane": Dry(0.4, dim=2),
    "rolling": Rolling(0.4, 0.2),
    "torsional": Torsional(0.4, 0.2),
    "torsional and rolling": Torsional(0.4, 0.2, 0.1),
    "associated": Associated(0.5),
    "associated in the plane": Associated(0.5, dim=2),
}


def one_block(law, seed, skew=0.0):
    """A random block alone; `skew` adds an antisymmetric part to W."""
    g = np.random.default_rng(seed)
    d = law.size
    A, B = g.normal(size=(d, d)), g.normal(size=(d, d))
    W = A @ A.T + 0.01 * np.eye(d) + skew * (B - B.T)
    return ComplementarityProblem(W=W, q=g.normal(size=d), laws=[law])


def guided(w, w_abs, q):
    """One BilateralSliding block w r + w_abs |r| + q = 0."""
    return ComplementarityProblem(W=[[w]], q=[q], laws=[BilateralSliding(0.3)], W_abs=[[w_abs]])


def bodies(laws, seed, freedoms=6, skew=0.0):
    """Blocks on a body with so many degrees of freedom; an admissible motion exists, because w = 0."""
    g = np.random.default_rng(seed)
    m = sum(law.size for law in laws)
    J, A, K = g.normal(size=(m, freedoms)), g.normal(size=(freedoms, freedoms)), g.normal(size=(freedoms, freedoms))
    inverse = A @ A.T / freedoms + 0.1 * np.eye(freedoms) + skew * (K - K.T)
    return ComplementarityProblem(W=J @ inverse @ J.T, q=J @ g.normal(size=freedoms), laws=laws)


def box(twist, mu=0.5, half=(1.0, 1.0, 1.0), inertia=0.6):
    """A cube of mass 1 on four corners: 12 rows of rank 6; `twist` is its free velocity."""
    J = []
    for x, y in itertools.product((-half[0], half[0]), (-half[1], half[1])):
        p = np.array([x, y, -half[2]])
        J += [np.r_[e, np.cross(p, e)] for e in ([0.0, 0, 1], [1.0, 0, 0], [0, 1.0, 0])]
    M = np.diag([1.0, 1.0, 1.0, inertia, inertia, inertia])
    form = GlobalForm(M=M, h=M @ np.asarray(twist, dtype=float), J=np.array(J), w=np.zeros(12))
    return ComplementarityProblem.condensed(form, [Coulomb(mu)] * 4)


def squeeze(speed=1.0):
    """A block between two walls that both move in: no admissible velocity (local form)."""
    H = np.array([[1.0, 0, 0, -1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]])
    q = np.array([-speed, 0.1, 0.0, -speed, -0.1, 0.0])
    return ComplementarityProblem(W=H.T @ H, q=q, laws=[Coulomb(0.3)] * 2)


def lcp_solutions(M, q, tol=1e-9):
    """All basic solutions of a small LCP, by trying every basis."""
    M, q = np.asarray(M, dtype=float), np.asarray(q, dtype=float)
    n, found = len(q), []
    for basis in itertools.product((False, True), repeat=n):
        on = np.flatnonzero(basis)
        z = np.zeros(n)
        if len(on):
            B = M[np.ix_(on, on)]
            if abs(np.linalg.det(B)) < 1e-12:
                continue
            z[on] = np.linalg.solve(B, -q[on])
        if z.min() >= -tol and (M @ z + q).min() >= -tol and not any(np.allclose(z, y) for y in found):
            found.append(z)
    return found


def coulomb_residual(W, q, mu, r, dim):
    """E by an independent formula: loops over contacts, projection found by cases."""
    u = W @ r + q
    total, weighted = 0.0, 0.0
    for k, m in enumerate(mu):
        s = slice(dim * k, dim * (k + 1))
        D = W[s, s]
        rho = 1.0 / np.linalg.eigvalsh((D + D.T) / 2)[-1]
        x = r[s] - rho * (u[s] + np.r_[m * np.linalg.norm(u[s][1:]), np.zeros(dim - 1)])
        t = np.linalg.norm(x[1:])
        if m * t <= -x[0]:
            y = np.zeros(dim)
        elif t <= m * x[0]:
            y = x
        else:
            edge = np.r_[1.0, m * x[1:] / t]
            y = edge * (x @ edge) / (edge @ edge)
        total += float(((r[s] - y) ** 2).sum())
        weighted += float(((rho * q[s]) ** 2).sum())
    return np.sqrt(total / weighted)


def problem_folder():
    """Where recorded problems lie, or None."""
    here = Path(__file__).resolve().parents[2] / "shared" / "problems"
    root = Path(os.environ.get("GAUSSDYN_PROBLEMS", here))
    return root if root.is_dir() else None


def stack(n, seed, ratio):
    """n boxes on each other by four corners, masses 10^(-ratio..ratio), any friction and motion."""
    g = np.random.default_rng(seed)
    corners = [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    frame = np.eye(3)[[2, 0, 1]]
    H = np.zeros((n, 4, 3, n, 6))
    for k in range(n):
        for body, z, sign in ((k, -0.5, 1.0), (k - 1, 0.5, -1.0)):
            for c, (x, y) in enumerate(corners):
                if body >= 0:
                    turn = np.cross(np.eye(3), np.array([x, y, z]))
                    H[k, c, :, body] = sign * np.hstack([frame, -frame @ turn])
    H = H.reshape(12 * n, 6 * n)
    inverse = np.outer(10.0 ** g.uniform(-ratio, ratio, n), [1, 1, 1, 6, 6, 6]).ravel()
    q, mu = H @ g.normal(size=6 * n), g.uniform(0.0, 1.5, 4 * n)
    return ComplementarityProblem(W=(H * inverse) @ H.T, q=q, laws=[Coulomb(x) for x in mu])
