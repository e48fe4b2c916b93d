"""What holds for every quadratic program."""

from __future__ import annotations

import numpy as np
from evidence import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from quadratic_cases import empty_program, force, random_program, relative

from gaussdyn.arrays import Array
from gaussdyn.programs.problems.quadratic import QuadraticProgram
from gaussdyn.programs.quadratic.equivalent_programs import multiplier_dual, reaction_program
from gaussdyn.programs.quadratic.solve_quadratic import solve_quadratic
from gaussdyn.programs.solution.solution import Solution
from gaussdyn.programs.solution.status import Status

seeds = st.integers(0, 2**32 - 1)
examples = settings(max_examples=examples(40), deadline=None, derandomize=True)


def _case(seed: int, cond: float = 1e3) -> tuple[np.random.Generator, QuadraticProgram, Solution]:
    rng = np.random.default_rng(seed)
    program = random_program(rng, n=int(rng.integers(1, 13)), rows=int(rng.integers(0, 21)), cond=cond)
    return rng, program, solve_quadratic(program).require()


def _active(found: Solution) -> Array:
    return np.array([mode == "active" for mode in found.modes], dtype=bool)


@examples
@given(seeds)
def test_any_other_admissible_point_costs_more(seed: int) -> None:
    """Z(a') - Z(a) >= 1/2 |a' - a|_M^2: Gauss's principle."""
    rng, p, found = _case(seed)
    load = rng.normal(size=p.n) * np.abs(p.g).max(initial=1.0)
    other = solve_quadratic(QuadraticProgram(H=p.H, g=load, A=p.A, b=p.b, C=p.C, d=p.d)).require().x
    step = other - found.x
    excess = p.objective(other) - p.objective(found.x) - 0.5 * step @ p.H @ step
    size = abs(p.objective(other)) + abs(p.objective(found.x)) + 0.5 * step @ p.H @ step
    assert excess >= -1e-11 * size


@examples
@given(seeds)
def test_order_of_rows_does_not_matter(seed: int) -> None:
    rng, p, found = _case(seed)
    i, j = rng.permutation(len(p.b)), rng.permutation(len(p.d))
    again = solve_quadratic(QuadraticProgram(H=p.H, g=p.g, A=p.A[i], b=p.b[i], C=p.C[j], d=p.d[j])).require()
    assert relative(again.x, found.x) <= 1e-9
    assert relative(np.r_[again.lam, again.r], np.r_[found.lam[i], found.r[j]], 1e-6 * np.abs(p.g).max()) <= 1e-6


@examples
@given(seeds)
def test_inactive_rows_may_come_and_go(seed: int) -> None:
    """Deleting them, or giving them twice, changes nothing."""
    _, p, found = _case(seed)
    active = _active(found)
    for keep in (active, np.r_[np.ones(len(p.d), bool), ~active]):
        C, d = (np.concatenate([rows, rows])[: len(keep)][keep] for rows in (p.C, p.d))
        again = solve_quadratic(QuadraticProgram(H=p.H, g=p.g, A=p.A, b=p.b, C=C, d=d)).require()
        assert relative(again.x, found.x) <= 1e-9
        f = force(p, found.lam, found.r)
        assert relative(force(again.problem, again.lam, again.r), f, np.linalg.norm(p.g)) <= 1e-9


@examples
@given(seeds)
def test_doubling_an_active_row_shares_its_force(seed: int) -> None:
    _, p, found = _case(seed)
    C, d = np.vstack([p.C, p.C]), np.r_[p.d, p.d]
    again = solve_quadratic(QuadraticProgram(H=p.H, g=p.g, A=p.A, b=p.b, C=C, d=d)).require()
    k = len(p.d)
    assert relative(again.x, found.x) <= 1e-9
    assert relative(force(again.problem, again.lam, again.r), force(p, found.lam, found.r), np.linalg.norm(p.g)) <= 1e-9
    assert relative(again.r[:k], again.r[k:], 1e-6 * np.abs(p.g).max()) <= 1e-6  # the smallest multipliers are even


@examples
@given(seeds, st.integers(-20, 20), st.integers(-20, 20), st.integers(-20, 20))
def test_units_do_not_matter(seed: int, mass: int, length: int, rows: int) -> None:
    """Powers of two in the units of H, of x and of every row come back in x, y and z."""
    rng, p, found = _case(seed)
    M, L = 2.0**mass, 2.0**length
    a, c = (2.0 ** (rows * rng.integers(0, 2, len(rhs))) for rhs in (p.b, p.d))
    scaled = QuadraticProgram(
        H=M * p.H, g=M * L * p.g, A=p.A * a[:, None], b=L * p.b * a, C=p.C * c[:, None], d=L * p.d * c
    )
    again = solve_quadratic(scaled).require()
    assert relative(again.x, L * found.x) <= 1e-9
    scale = M * L * np.linalg.norm(p.g)
    assert relative(force(scaled, again.lam, again.r), M * L * force(p, found.lam, found.r), scale) <= 1e-9


@examples
@given(seeds)
def test_coordinates_do_not_matter(seed: int) -> None:
    rng, p, found = _case(seed)
    S = np.linalg.qr(rng.normal(size=(p.n, p.n)))[0] * rng.uniform(0.5, 2.0, p.n)  # x = S x'
    H = S.T @ p.H @ S
    turned = QuadraticProgram(H=(H + H.T) / 2, g=S.T @ p.g, A=p.A @ S, b=p.b, C=p.C @ S, d=p.d)
    assert relative(S @ solve_quadratic(turned).require().x, found.x) <= 1e-9


@examples
@given(seeds)
def test_three_programs_one_motion(seed: int) -> None:
    """Gauss program, reaction program and multiplier dual give the same a and the same generalised reaction."""
    _, p, found = _case(seed, cond=1e2)
    f, load = force(p, found.lam, found.r), float(np.linalg.norm(p.g))
    reaction = reaction_program(p)
    rho = solve_quadratic(reaction.program).require()
    assert relative(rho.x, f, load) <= 1e-9
    assert relative(reaction.motion(rho.x), found.x) <= 1e-9
    dual = multiplier_dual(p)
    w = dual.solve()
    m = len(p.b)
    assert (w[m:] >= 0.0).all()
    assert relative(force(p, w[:m], w[m:]), f, load) <= 1e-9
    assert relative(dual.motion(w), found.x) <= 1e-9


@examples
@given(seeds)
def test_strong_duality(seed: int) -> None:
    """Z(a) = Z(a_free) - the minimum of the dual: every valid (y, z) attains it."""
    _, p, found = _case(seed, cond=1e2)
    free = np.linalg.solve(p.H, -p.g)
    dual = multiplier_dual(p)
    value = dual.objective(np.r_[found.lam, found.r])
    size = abs(p.objective(found.x)) + abs(p.objective(free)) + abs(value)
    assert abs(p.objective(found.x) - p.objective(free) + value) <= 1e-11 * size


@examples
@given(seeds)
def test_empty_programs_are_proved_empty(seed: int) -> None:
    found = solve_quadratic(empty_program(np.random.default_rng(seed)))
    assert found.status is Status.INFEASIBLE
    assert found.certificate.verify()
