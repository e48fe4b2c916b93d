"""Enumeration against Lemke's method from random starts and against the block solver, on random planar bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contact_cases import doubles, problem, random_body
from evidence import first

from gaussdyn.programs.blocks.lemke.lemke import Lemke
from gaussdyn.programs.enumeration.counting import count_solutions
from gaussdyn.programs.enumeration.enumerate import enumerate_modes
from gaussdyn.programs.enumeration.modal_problem import ModalProblem
from gaussdyn.programs.laws.laws import Coulomb, Sliding
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solve import solve


def as_blocks(modal: ModalProblem, body: dict[str, Any]) -> tuple[ComplementarityProblem, np.ndarray]:
    """Return the same problem for the solvers, and the rows of u that it keeps.

    A sliding contact is one unsymmetric row there: its tangential force is put into the column of its normal force.
    """
    W, q = doubles(modal)
    rows: list[int] = []
    columns, laws = [], []
    for k, (mu, state) in enumerate(zip(body["mu"], body["state"], strict=True)):
        if state:
            rows.append(2 * k)
            columns.append(W[:, 2 * k] - state * mu * W[:, 2 * k + 1])
            laws.append(Sliding(mu, (float(state),)))
        else:
            rows += [2 * k, 2 * k + 1]
            columns += [W[:, 2 * k], W[:, 2 * k + 1]]
            laws.append(Coulomb(mu, dim=2))
    return ComplementarityProblem(W=np.column_stack(columns)[rows], q=q[rows], laws=laws), np.array(rows)


def as_lcp(blocks: ComplementarityProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return M, q, T of the classical LCP with r = T z, z = (r_N, parts of r_T, bound on the slip) per contact."""
    T: list[np.ndarray] = []
    owners: list[tuple[int, float]] = []
    for k, law in enumerate(blocks.laws):
        first = blocks.table.start[k]
        unit = np.eye(len(blocks.q))[first : first + law.size]
        T.append(unit[0])
        if isinstance(law, Coulomb):
            T += [unit[1], -unit[1]]
            owners.append((len(T) - 3, law.mu))
    T_matrix = np.column_stack(T)
    n, m = T_matrix.shape[1], len(owners)
    M, q = np.zeros((n + m, n + m)), np.r_[T_matrix.T @ blocks.q, np.zeros(m)]
    M[:n, :n] = T_matrix.T @ blocks.W @ T_matrix
    for j, (at, mu) in enumerate(owners):
        M[[at + 1, at + 2], n + j] = 1.0
        M[n + j, [at, at + 1, at + 2]] = mu, -1.0, -1.0
    return M, q, np.column_stack([T_matrix, np.zeros((len(blocks.q), m))])


def check(rng: np.random.Generator, contacts: int, at_rest: bool, *, exact: bool) -> str:
    """Compare all methods on one random body; return the verdict."""
    body = random_body(rng, contacts, at_rest=at_rest)
    modal = problem(body)
    blocks, rows = as_blocks(modal, body)
    if exact:
        found = enumerate_modes(modal)
        verdict = found.verdict
        order = [k if r == 0 else contacts + k for k in range(contacts) for r in (0, 1)]
        points = [np.array([float(c.point[i]) for i in order])[rows] for c in found.components if c.point]
    else:
        count = count_solutions(*doubles(modal), modal.blocks)
        verdict, points = count.verdict, [u[rows] for u in count.points]
    assert verdict in ("NONE", "UNIQUE", "MULTIPLE"), body
    scale = max(1.0, *(float(np.abs(p).max()) for p in points), float(np.abs(blocks.q).max()))
    M, q, T = as_lcp(blocks)
    for _ in range(3):
        path = Lemke().path(M, q, rng.uniform(0.1, 1.0, len(q)))
        if path.ray is None and min(path.z.min(), (M @ path.z + q).min()) > -1e-9 * scale:
            u = blocks.motion(T @ path.z)
            assert any(np.abs(u - p).max() < 1e-6 * scale for p in points), (body, u, points)
    answer = solve(blocks)
    if answer.solved:
        assert any(np.abs(answer.u - p).max() < 1e-6 * scale for p in points), (body, answer.u, points)
    else:
        assert verdict == "NONE", (body, answer.status)
    return verdict


@pytest.mark.parametrize("contacts", [1, 2, 3, 4])
def test_random_bodies(contacts: int) -> None:
    rng = np.random.default_rng(contacts)
    verdicts = {check(rng, contacts, bool(k % 2), exact=k % 4 < 2) for k in range(60)}
    assert "UNIQUE" in verdicts


@pytest.mark.slow
@pytest.mark.parametrize("seed", first(4, range(20), rest=pytest.mark.nightly))
def test_twenty_thousand_random_bodies(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    verdicts = [check(rng, 1 + k % 4, bool(k // 4 % 2), exact=k % 20 == 0) for k in range(1000)]
    assert {"NONE", "UNIQUE", "MULTIPLE"} <= set(verdicts)
