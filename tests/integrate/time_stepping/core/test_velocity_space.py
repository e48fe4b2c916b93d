"""Newton's method in velocity space: the steps and answers of the space of reactions, with a factor as sparse as M."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from tree_cases import link

from gaussdyn import ComplementarityProblem, ContactLaw, MoreauJean, solve
from gaussdyn._jit import Held, nothing
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem, listing
from gaussdyn.integrate.time_stepping.core.problem.near_residual import Near, look
from gaussdyn.integrate.time_stepping.core.problem.near_residual import room as near_room
from gaussdyn.integrate.time_stepping.core.problem.near_solution import make_factor, near_solution, take_newton_step
from gaussdyn.integrate.time_stepping.core.problem.velocity_space import (
    diagonal_blocks,
    factor_upper_lower,
    solve_upper_lower,
    take_rows,
)
from gaussdyn.integrate.time_stepping.core.records import ALONE, HIGH, Layout, Rows
from gaussdyn.mechanics import spatial, trees
from gaussdyn.programs.laws.laws import Coulomb, Dry, Law, Unilateral

TOL = 1e-12
ABOVE = np.array([-1, 0, 1, 2, 3, 4, 5, 6, 7, 5, 9, 10, 5, 12, 12, 14])  # a free trunk, three limbs, one of them forked
TIPS = (8, 11, 13, 15)
CORNERS = ((0.3, 0.2), (-0.3, 0.2), (0.3, -0.2), (-0.3, -0.2))
MU = 0.4


class Posed(NamedTuple):
    """A problem in both spaces; W = Z Z^T."""

    problem: ComplementarityProblem
    table: tuple[np.ndarray, np.ndarray, np.ndarray]
    rho: np.ndarray
    Z: np.ndarray
    near: Near

    @property
    def W(self) -> np.ndarray:
        """By rows, with room for whole fours; empty in velocity space."""
        return np.zeros(0) if self.near.space.used[0] else np.append((self.Z @ self.Z.T).ravel(), np.zeros(3))

    def size(self, q: np.ndarray) -> float:
        """Return |rho q|."""
        return float(np.linalg.norm(np.repeat(self.rho, np.diff(self.table[1])) * q))


def way(tip: int, rng: np.random.Generator) -> np.ndarray:
    """Return a row that reaches from a tip to the root."""
    row = np.zeros(len(ABOVE))
    while tip >= 0:
        row[tip], tip = rng.normal(), ABOVE[tip]
    return row


def rows_of(rng: np.random.Generator, corners: int) -> tuple[np.ndarray, list[Law]]:
    """Return Z and laws: feet with so many corners, a limit, two limbs that touch, and a dry joint everywhere."""
    rows: list[np.ndarray] = []
    laws: list[Law] = []
    for tip in TIPS[:3]:
        foot = np.stack([way(tip, rng) for _ in range(6)])
        for x, y in CORNERS[:corners]:  # all of them move with six numbers: more than two depend on one another
            arm = np.array([[0.0, -0.1, y], [0.1, 0.0, -x], [-y, x, 0.0]])
            rows.extend((np.hstack([np.eye(3), -arm]) @ foot)[[2, 0, 1]])
            laws.append(Coulomb(MU))
    rows.append(way(TIPS[1], rng))
    laws.append(Unilateral())
    one, other = np.stack([way(TIPS[0], rng) for _ in range(3)]), np.stack([way(TIPS[3], rng) for _ in range(3)])
    rows.extend(one - other)
    laws.append(Coulomb(MU))
    for joint in range(6, len(ABOVE)):
        rows.append(way(joint, rng))
        laws.append(Dry(float(0.2 + rng.random())))
    return np.array(rows), laws


def root_of(rng: np.random.Generator) -> np.ndarray:
    """Return L of a mass L^T L of the tree."""
    L = np.stack([0.5 * way(k, rng) for k in range(len(ABOVE))])
    np.fill_diagonal(L, 1.0)
    return L


def layout_of(J: np.ndarray) -> Layout:
    """Return of what velocities rows are."""
    reach = np.zeros((len(J), ALONE + 1), dtype=np.int64)
    for row, own in zip(J, reach, strict=True):
        some = np.flatnonzero(row)
        own[HIGH], own[ALONE] = some[-1] + 1, some[0] + 1 if len(some) == 1 else 0
    return nothing(Layout)._replace(reach=reach)


def posed(seed: int, corners: int, velocities: bool = True, alone: bool = False, hinged: bool = False) -> Posed:
    """Return a problem whose feet push, slip and stick; alone: the rows of dry joints are of one velocity each.

    hinged: those of the two limbs that touch are, too, as of a tree with one hinge.
    """
    rng = np.random.default_rng(seed)
    Z, laws = rows_of(rng, corners)
    L = root_of(np.random.default_rng(seed + 100))
    if alone:
        Z[6 - len(ABOVE) :] = np.linalg.inv(L)[6:]
    if hinged:
        dry = len(Z) + 6 - len(ABOVE)
        Z[dry - 3 : dry] = rng.normal(size=(3, 1)) * np.linalg.inv(L)[5]
    J = np.round(Z @ L, 14)  # what cancels is zero
    q = Z @ rng.normal(size=len(ABOVE)) + 0.05 * rng.normal(size=len(Z))
    start = np.cumsum([0] + [law.size for law in laws])
    for k, law in enumerate(laws):
        q[start[k]] = q[start[k]] if isinstance(law, Dry) else -abs(q[start[k]])
    P = np.array([[0.0, law.c, law.c, 0.0] if isinstance(law, Dry) else [MU, MU, 0.0, 0.0] for law in laws])
    table = np.array([law.code for law in laws]), start, P
    near, D = near_room(len(laws), layout_of(J), L.T @ L, Z), np.zeros((len(laws), 6, 6))
    take_rows(Held(near.space), Held(nothing(Rows)._replace(J=J)), np.arange(len(J)), len(J))
    diagonal_blocks(Held(near.space), start, len(laws), D)
    near.space.used[0] = int(velocities)
    rho = np.array([1.0 / np.linalg.eigvalsh(D[k, : b - a, : b - a])[-1] for k, (a, b) in enumerate(pairwise(start))])
    for k, (a, b) in enumerate(pairwise(start)):
        assert np.allclose(D[k, : b - a, : b - a], (Z @ Z.T)[a:b, a:b], rtol=0.0, atol=1e-12)
    return Posed(ComplementarityProblem(W=Z @ Z.T, q=q, laws=laws), table, rho, Z, near)


@pytest.mark.parametrize("corners", [1, 4])
@pytest.mark.parametrize("seed", range(6))
def test_answers_are_those_of_solve(seed: int, corners: int) -> None:
    """Of rows that depend on one another the velocities; their reactions obey the laws, which are looked at apart."""
    of = posed(seed, corners, alone=seed % 2 == 1)
    exact = solve(of.problem, tol=TOL)
    assert exact.solved
    rng, q = np.random.default_rng(seed), np.asarray(of.problem.q)
    r = np.array(exact.r) * (1.0 + 1e-4 * rng.normal(size=len(q)))
    E = near_solution(Held(of.near), of.W, q, of.table, of.rho, r, (TOL, 0.0, 0.0), of.size(q))
    assert E <= TOL
    assert np.allclose(of.Z.T @ r, of.Z.T @ exact.r, rtol=0.0, atol=1e-8)
    u, start = of.Z @ (of.Z.T @ r) + q, of.table[1]
    left = [
        law.residual(u[a:b], r[a:b], rho)
        for law, (a, b), rho in zip(of.problem.laws, pairwise(start), of.rho, strict=True)
    ]
    assert np.linalg.norm(np.concatenate(left)) <= 10.0 * TOL * of.size(q)


@pytest.mark.parametrize(("corners", "most"), [(1, 5), (2, 10)])
def test_most_problems_are_solved_from_afar(corners: int, most: int) -> None:
    """From no reactions at all: steps that are not shortened go round in circles in 12 and 18 of 30."""
    left = 0
    for seed in range(30):
        of = posed(seed, corners)
        q, r = np.asarray(of.problem.q), np.zeros(len(of.Z))
        E = near_solution(Held(of.near), of.W, q, of.table, of.rho, r, (TOL, 0.0, 0.0), of.size(q))
        assert E <= TOL or not r.any()
        left += not E <= TOL
    assert left <= most


@pytest.mark.parametrize("seed", range(4))
def test_a_newton_step_is_the_one_in_the_space_of_reactions(seed: int) -> None:
    steps = []
    for velocities in (True, False):
        of = posed(seed, 1, velocities, seed % 2 == 1, hinged=seed > 1)
        held, q = Held(of.near), np.asarray(of.problem.q)
        r = 0.3 * np.random.default_rng(seed).normal(size=len(q))
        size = look(held, of.W, q, of.table, of.rho, r)
        of.near.size[2] = 1  # rows count as dependent: the proximal term is the one that is given
        assert make_factor(held, of.W, of.table[1], of.rho, 1e-3)
        take_newton_step(held, of.W, of.table[1], of.rho, r)
        steps.append(np.append(r, size))
    assert np.allclose(*steps, rtol=1e-8, atol=1e-9)


def test_the_factor_fills_no_more_than_ways_to_the_root_and_pairs_that_touch() -> None:
    """Eliminated from the leaves: 16 velocities, 9 of which lie on one limb each."""
    of = posed(0, 4)
    held, q = Held(of.near), np.asarray(of.problem.q)
    look(held, of.W, q, of.table, of.rho, np.array(solve(of.problem, tol=TOL).r))
    assert make_factor(held, of.W, of.table[1], of.rho, 1e-3)
    width = of.near.space.end - np.arange(1, len(ABOVE) + 1)
    assert width[9:].tolist() == [2, 1, 0, 3, 0, 1, 0]  # limbs without others, and the fork
    assert width[6:9].tolist() == [9, 8, 7]  # the limb that touches one of another


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_upper_and_lower_factors_solve(n: int, same: bool) -> None:
    rng = np.random.default_rng(n)
    A = n * np.eye(n) + rng.normal(size=(n, n))
    A = A + A.T if same else A
    gone = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > 1 + n // 3
    A[gone] = 0.0
    b, U, L, end = rng.normal(size=n), np.triu(A), np.tril(A).T.copy(), np.minimum(np.arange(n) + 2 + n // 3, n)
    U[:], x = np.triu(rng.normal(size=(n, n))) * ~gone if same else U, b.copy()  # that of a symmetric one is not read
    assert factor_upper_lower(U, L, end, same)
    solve_upper_lower(U, L, end, x)
    assert np.allclose(A @ x, b, rtol=0.0, atol=1e-12)
    assert not U[gone].any()


def test_a_singular_matrix_is_said_to_be_one() -> None:
    A = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert not factor_upper_lower(np.triu(A), np.tril(A).T.copy(), np.array([2, 2]), False)


def walker(shapes: tuple[spatial.Box, ...]) -> trees.TreeSystem:
    """A trunk on two legs of three dry joints each, with feet that have corners."""
    bodies = [link("trunk", "ground", trees.TreeJoint(name="root", motion="free"), centre=(0.0, 0.0, 0.0))]
    for side in (-1.0, 1.0):
        parent, at = "trunk", (0.0, 0.12 * side, -0.05)
        for k, part in enumerate(("hip", "knee", "ankle")):
            name = f"{part}{side:+.0f}".replace("-", "m").replace("+", "p")
            joint = trees.TreeJoint(name=name, axis=(0.0, 1.0, 0.1 * k), damping=0.1, friction=0.4)
            own = shapes if part == "ankle" else ()
            bodies.append(link(f"{name}_link", parent, joint, at=at, centre=(0.0, 0.0, -0.1), shapes=own))
            parent, at = f"{name}_link", (0.0, 0.0, -0.2)
    floor = [spatial.HalfSpace(name="floor")]
    return trees.TreeSystem(bodies=bodies, obstacles=floor, contact=ContactLaw(mu=0.6))


def test_a_walker_lands_as_by_steps_that_python_says() -> None:
    """8 corners and 6 dry joints for 12 velocities: in velocity space once more than three of them stand."""
    system = walker((spatial.Box(half=(0.08, 0.04, 0.02), at=(0.0, 0.0, -0.05)),))
    state = system.state({"root": (0, 0, 0.53)}, {"root": (0.2, 0.0, -0.4, 0.0, 0.0, 0.0)})
    stepper, one, other, used = MoreauJean(dt=2e-3), state, state, 0
    kernels = CompiledSystem.of(system, state)
    assert isinstance(kernels, CompiledSystem)
    for k in range(30):
        step = stepper.advance(system, one, 10.0)
        assert step.solution.solved
        one, used = step.state, used + int(kernels.problem.near.space.used[0])
        other = listing(system, stepper, other, 2e-3, (k + 1) * 2e-3, None).state
    assert used > 5
    assert one.q == pytest.approx(other.q, abs=1e-8)
    assert one.v == pytest.approx(other.v, abs=1e-6)
