"""`solve_quadratic`: the bar on the residual, the edge cases, and answers that are wrong on purpose."""

from __future__ import annotations

import numpy as np
import pytest
from quadratic_cases import empty_program, force, mass_matrix, random_program, relative

from gaussdyn.programs.active_set.dual_method import solve_arrays
from gaussdyn.programs.problems.quadratic import QuadraticProgram
from gaussdyn.programs.quadratic.dual_active_set import ActiveSet
from gaussdyn.programs.quadratic.solve_quadratic import solve_quadratic
from gaussdyn.programs.solution.residuals import kkt_residuals
from gaussdyn.programs.solution.status import Status


def _normwise(program: QuadraticProgram, found: object) -> float:
    """Return the KKT residual as stated in words: feasibility by |d| + |C| |x| over all rows together."""
    x, y, z = found.x, found.lam, found.r
    f, N, rhs = force(program, y, z), np.vstack([program.A, program.C]), np.r_[program.b, program.d]
    load, size = (
        np.linalg.norm(program.g) + np.linalg.norm(f),
        np.linalg.norm(rhs) + np.linalg.norm(N) * np.linalg.norm(x),
    )
    slack = program.C @ x - program.d
    gap = np.linalg.norm(np.r_[program.A @ x - program.b, np.minimum(slack, 0.0)])
    parts = [np.linalg.norm(program.H @ x + program.g - f) / load]
    if len(rhs):
        parts += [gap / size, np.abs(z * slack).sum() / (load * size), max(-z.min(initial=0.0), 0.0)]
    return float(max(parts))


def _meets_the_bar(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for k in range(count):
        program = random_program(rng)
        found = solve_quadratic(program)
        assert found.status is Status.SOLVED, (k, found.explain())
        assert found.audit().E <= 1e-12, k
        assert _normwise(program, found) <= 1e-12, k
        assert found.u_unique


def test_residual_on_300_random_programs() -> None:
    _meets_the_bar(300, 1)


@pytest.mark.nightly
def test_residual_on_10000_random_programs() -> None:
    _meets_the_bar(10_000, 2)


def test_load_in_soft_directions_ends_at_the_rounding_floor() -> None:
    """With h random and cond(H) = 1e6 no double x balances better than eps |H| |x|: small() says so, E shows it."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        p = random_program(rng, cond=1e6)
        hard = QuadraticProgram(H=p.H, g=rng.normal(size=p.n), A=p.A, b=p.b, C=p.C, d=p.d)
        found = solve_quadratic(hard)
        assert found.solved
        assert max(1e-12, 10 * found.residuals.floor) >= found.residuals.E


def test_bare_kernel_and_audited_solve_agree() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        p = random_program(rng)
        x, w, _, info = solve_arrays(p.H, p.g, p.A, p.b, p.C, p.d)
        found = ActiveSet().solve(p)
        assert info[0] == 0
        assert relative(x, found.x) <= 1e-14
        assert kkt_residuals(p, x, w[: len(p.b)], w[len(p.b) :]).E <= 1e-12


def test_warm_start_confirms_a_known_active_set() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        p = random_program(rng, dependent=False)
        cold = ActiveSet().solve(p)
        warm = ActiveSet().solve(p, start=cold)
        assert relative(warm.x, cold.x) <= 1e-12
        assert warm.iterations <= (1 if cold.r_unique else cold.iterations)


def test_a_wrong_warm_start_costs_steps_not_digits() -> None:
    rng = np.random.default_rng(6)
    for _ in range(30):
        p = random_program(rng)
        right = ActiveSet().solve(p)
        wrong = right.but(r=np.abs(rng.normal(size=len(p.d))), x=rng.normal(size=p.n))
        again = ActiveSet().solve(p, start=wrong)
        assert again.solved
        assert relative(again.x, right.x) <= 1e-9


I2 = np.eye(2)


@pytest.mark.parametrize(
    ("rows", "x"),
    [
        ({"A": [[1, 1], [2, 2], [1, -1]], "b": [1, 2, 0.5]}, [0.75, 0.25]),  # an equality twice
        ({"C": [[0, 0], [1, 0]], "d": [-1, 0]}, [0.0, -2.0]),  # a row of zeros that asks for nothing
        ({"C": [[0, 0], [1, 0]], "d": [0, 0]}, [0.0, -2.0]),
        ({"A": [[0, 0]], "b": [0]}, [-1.0, -2.0]),
        ({"C": [[1, 1], [-1, -1]], "d": [1, -1]}, [1.0, 0.0]),  # two inequalities that act as an equality
        ({"C": [[1e-8, 2e-8], [3e8, -1e8]], "d": [1e-8, 1e8]}, [3 / 7, 2 / 7]),  # rows of very different size
        ({"C": [[1, 0]] * 5, "d": [0, 0, 0, -1, 0]}, [0.0, -2.0]),  # the same row five times
    ],
)
def test_edge_cases_of_rows(rows: dict[str, object], x: list[float]) -> None:
    found = solve_quadratic(QuadraticProgram(H=I2, g=[1.0, 2.0], **rows)).require()
    assert found.x == pytest.approx(x, abs=1e-14)
    assert found.audit().E <= 1e-14


@pytest.mark.parametrize(
    "rows",
    [
        {"A": [[1, 1], [2, 2]], "b": [1, 3]},
        {"A": [[0, 0], [1, 0]], "b": [-1e-9, 0]},
        {"C": [[0, 0], [1, 0]], "d": [1e-9, 0]},
        {"C": [[1, 1], [-1, -1]], "d": [1, -1 + 1e-6]},
        {"C": [[1e-8, 0], [-1e8, 0]], "d": [1e-8, 0]},
        {"A": [[1, 1]], "b": [2], "C": [[-1, 0], [0, -1]], "d": [-0.5, -0.5]},
    ],
)
def test_contradictions_are_proved(rows: dict[str, object]) -> None:
    found = solve_quadratic(QuadraticProgram(H=I2, g=[1.0, 2.0], **rows))
    assert found.status is Status.INFEASIBLE
    assert found.x is None
    assert found.certificate.verify()
    assert "contradict" in found.explain()


def test_nearly_empty_without_exact_proof_is_undecided() -> None:
    """The rows are parallel up to rounding only, so that exactly they do meet, some 1e15 away: neither is shown."""
    found = solve_quadratic(QuadraticProgram(H=I2, g=[1.0, 2.0], C=[[0.1, 0.7], [-0.3, -2.1]], d=[1.0, -2.9]))
    assert found.status is Status.UNDECIDED
    assert found.x is None
    assert found.certificate is None


def test_empty_by_construction() -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        found = solve_quadratic(empty_program(rng))
        assert found.status is Status.INFEASIBLE
        assert found.x is None
        assert found.certificate.verify()


def test_a_thousand_unknowns() -> None:
    rng = np.random.default_rng(8)
    n, rows = 1000, 400
    C = np.where(rng.random((rows, n)) < 0.01, rng.normal(size=(rows, n)), 0.0)
    inside = rng.normal(size=n)
    d = C @ inside - np.where(rng.random(rows) < 0.5, 0.0, rng.exponential(size=rows))
    H = np.diag(rng.uniform(1.0, 10.0, n))
    program = QuadraticProgram(H=H, g=5.0 * rng.normal(size=n), A=C[:60], b=C[:60] @ inside, C=C[60:], d=d[60:])
    assert solve_quadratic(program).require().audit().E <= 1e-12


def test_the_audit_notices_a_corrupted_answer() -> None:
    rng = np.random.default_rng(9)
    for _ in range(40):
        p = random_program(rng, n=8, rows=10, cond=100.0)
        found = solve_quadratic(p)
        assert found.audit().small()
        x = found.x.copy()
        x[0] += 1e-6 * np.linalg.norm(x)
        assert not found.but(x=x).audit().small()
        if (found.r > 1e-3).any():
            j = int(np.argmax(found.r))
            z = found.r.copy()
            z[j] *= 1.0 + 1e-6
            assert not found.but(r=z).audit().small()
            assert not found.but(r=-found.r).audit().small()
            assert not found.but(r=np.where(np.arange(len(z)) == j, 0.0, found.r)).audit().small()
            shifted = QuadraticProgram(H=p.H, g=p.g, A=p.A, b=p.b, C=p.C, d=p.d + 1e-6 * (np.arange(len(z)) == j))
            assert not found.but(problem=shifted).audit().small()
        nan = found.but(x=np.full(p.n, np.nan))
        assert np.inf == nan.audit().E


def test_a_tiny_answer_under_a_large_load_keeps_its_digits() -> None:
    """A body nearly at rest: |x| is 1e-9 of the free motion, and still exact to 1e-12 of itself."""
    rng = np.random.default_rng(10)
    for _ in range(20):
        n = 12
        H, C = mass_matrix(rng, n, 100.0), rng.normal(size=(n, n))
        target = 1e-9 * rng.normal(size=n)
        z = rng.uniform(1.0, 2.0, n)
        found = solve_quadratic(QuadraticProgram(H=H, g=C.T @ z - H @ target, C=C, d=C @ target)).require()
        assert relative(found.x, np.linalg.solve(C, C @ target)) <= 1e-9
        assert found.audit().E <= 1e-12
