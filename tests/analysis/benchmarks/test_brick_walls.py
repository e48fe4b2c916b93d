"""Generated walls: what their rows must be, and Newton steps in the space of bodies against dense elimination."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from block_cases import coulomb_residual

from gaussdyn.analysis.benchmarks import brick_walls as walls
from gaussdyn.analysis.benchmarks.brick_walls import wall
from gaussdyn.programs.blocks.newton import body_form
from gaussdyn.programs.blocks.newton.body_form import body_step, has_body_form
from gaussdyn.programs.blocks.newton.dense_newton import linearize
from gaussdyn.programs.blocks.scaled import scaled
from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.problems.complementarity import ComplementarityProblem


def test_moving_as_one_body_leaves_all_inner_contacts_and_bolts_at_rest() -> None:
    form, laws = wall(200)
    n = form.J.shape[1] // 6
    translation = np.tile([0.3, -0.2, 0.0, 0.0, 0.0, 0.0], n)
    u = (form.J @ translation).reshape(-1, 3)
    ground = 4 * 5  # five bricks stand on the ground
    np.testing.assert_allclose(u[:ground], np.tile([0.0, 0.3, -0.2], (ground, 1)), atol=1e-15)
    assert np.abs(u[ground:]).max() < 1e-15
    assert np.abs(form.G @ translation).max() < 1e-15
    assert len(laws) == len(u)


def test_weights_add_up() -> None:
    form, laws = wall(150)
    answer = solve_blocks(ComplementarityProblem.condensed(form, laws)).require()
    h = form.h.reshape(-1, 6)[:, :3].sum(axis=0)
    ground = answer.r.reshape(-1, 3)[: 4 * round((150 / 8) ** 0.5)].sum(axis=0)
    after = (form.M @ answer.x).reshape(-1, 6)[:, :3].sum(axis=0)
    np.testing.assert_allclose(h + ground[[1, 2, 0]], after, atol=1e-9 * np.abs(h).max())
    assert np.abs(form.G @ answer.x).max() < 1e-12


@pytest.mark.parametrize("bolted", [10, 10**6])
def test_a_step_of_bodies_is_the_step_of_contacts(monkeypatch: pytest.MonkeyPatch, bolted: int) -> None:
    monkeypatch.setattr(walls, "BOLTED", bolted)
    monkeypatch.setattr(body_form, "LEAST_BLOCKS", 1)
    problem = ComplementarityProblem.condensed(*wall(150))
    data = scaled(problem)
    assert has_body_form(data)
    g, m, n = np.random.default_rng(0), len(problem.q), len(problem.laws)
    r, centre, alpha = g.normal(size=m), g.normal(size=m), 1e-2
    prox, rho = np.repeat(alpha / data.rho, 3), np.repeat(data.rho, 3)
    F, Y = np.zeros(m), np.zeros((n, 6, 6))
    linearize(data.table, data.rho, data.motion(r) + prox * (r - centre), r, F, Y)
    W = data.dense() + np.diag(prox)
    D = sp.block_diag([block[:3, :3] for block in Y]).toarray()
    dense = np.eye(m) - D + D @ (rho[:, None] * W)
    dr = body_step(data, Y, rho, prox, F)
    np.testing.assert_allclose(dense @ dr, -F, atol=1e-7 * np.linalg.norm(F))


def test_a_wall_by_bodies_obeys_the_laws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_form, "LEAST_BLOCKS", 1)
    form, laws = wall(150)
    problem = ComplementarityProblem.condensed(form, laws)
    answer = solve_blocks(problem, tol=1e-8).require()
    W = problem.W.toarray() if sp.issparse(problem.W) else problem.W
    assert coulomb_residual(W, problem.q, [0.6] * len(laws), answer.r, 3) <= 1e-8
    assert np.abs(form.G @ answer.x).max() < 1e-10
