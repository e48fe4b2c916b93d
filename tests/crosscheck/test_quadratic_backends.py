"""Method against method on the same programs."""

from __future__ import annotations

import numpy as np
import pytest
from quadratic_cases import empty_program, force, random_program, relative

from gaussdyn.errors import InputError
from gaussdyn.programs.problems.complementarity import LinearComplementarity
from gaussdyn.programs.problems.quadratic import QuadraticProgram
from gaussdyn.programs.quadratic.backends.clarabel_ import Clarabel
from gaussdyn.programs.quadratic.backends.cvxpy_ import Cvxpy
from gaussdyn.programs.quadratic.backends.osqp_ import Osqp
from gaussdyn.programs.quadratic.dual_active_set import ActiveSet
from gaussdyn.programs.quadratic.solve_quadratic import solve_quadratic
from gaussdyn.programs.solution.status import Status

METHODS = (ActiveSet(), Osqp(), Clarabel(), Cvxpy())


def test_all_methods_agree() -> None:
    rng = np.random.default_rng(1)
    for _ in range(25):
        p = random_program(rng)
        found = [method.solve(p) for method in METHODS]
        for one in found:
            assert one.status is Status.SOLVED, one.method
            assert one.audit().E <= 1e-12
            assert relative(one.x, found[0].x) <= 1e-9
            f = force(p, found[0].lam, found[0].r)
            assert relative(force(p, one.lam, one.r), f, np.linalg.norm(p.g)) <= 1e-9
        assert {one.method for one in found} == {"active_set", "osqp", "clarabel", "cvxpy"}


@pytest.mark.parametrize(
    ("method", "tol"), [(Clarabel(polish=False), 1e-7), (Osqp(polish=False), 1e-4), (Cvxpy(polish=False), 1e-7)]
)
def test_unpolished_points_of_the_libraries_agree_with_ours(method: Clarabel | Osqp | Cvxpy, tol: float) -> None:
    """The polish is ours, so the agreement above proves little alone: here the libraries speak for themselves."""
    rng = np.random.default_rng(2)
    for _ in range(12):
        p = random_program(rng, cond=100.0)
        own, raw = ActiveSet().solve(p), method.solve(p)
        assert relative(raw.x, own.x) <= tol
        assert raw.solved == (raw.audit().small())
        assert abs(p.objective(raw.x) - p.objective(own.x)) <= tol * (1.0 + abs(p.objective(own.x)))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_proves_emptiness(method: ActiveSet | Osqp | Clarabel | Cvxpy) -> None:
    rng = np.random.default_rng(3)
    for _ in range(4):
        found = method.solve(empty_program(rng))
        assert found.status is Status.INFEASIBLE
        assert found.certificate.verify()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_handles_programs_without_rows(method: ActiveSet | Osqp | Clarabel | Cvxpy) -> None:
    assert method.solve(QuadraticProgram(H=np.eye(2), g=[1.0, 2.0])).require().x == pytest.approx([-1, -2], abs=1e-14)
    assert method.solve(QuadraticProgram(H=np.zeros((0, 0)), g=[])).solved


def test_osqp_repeats_bit_by_bit_and_starts_warm() -> None:
    p = random_program(np.random.default_rng(4), n=20, rows=25)
    first, second = (Osqp(polish=False).solve(p) for _ in range(2))
    assert (first.x == second.x).all()
    assert first.iterations == second.iterations
    assert Osqp(polish=False).solve(p, start=first).iterations <= first.iterations


def test_methods_print_their_settings() -> None:
    assert "tol=1e-11" in repr(Clarabel())
    assert "rho_interval=50" in repr(Osqp())
    for make in (Clarabel, Osqp, Cvxpy):
        with pytest.raises(InputError):
            make(tol=-1.0)


@pytest.mark.parametrize("method", METHODS)
def test_other_problems_are_refused_in_words(method: ActiveSet | Osqp | Clarabel | Cvxpy) -> None:
    with pytest.raises(InputError, match=f"QuadraticProgram for the method {method.name}"):
        method.solve(LinearComplementarity(M=[[1.0]], q=[-1.0]))


CP = pytest.importorskip("cvxpy")


def test_added_convex_constraint_against_its_closed_form() -> None:
    """The point of the unit disc nearest to (3, 4): (0.6, 0.8), pushed by the force x - (3, 4)."""
    program = QuadraticProgram(H=np.eye(2), g=[-3.0, -4.0], C=[[-1.0, 0.0]], d=[-2.0])
    found = Cvxpy(constraints=(lambda x: [CP.norm(x) <= 1.0],)).solve(program).require()
    assert found.x == pytest.approx([0.6, 0.8], abs=1e-7)
    assert found.residuals.E <= 1e-8
    assert found.certificate is None
    assert found.r[0] == 0.0
    half = found.problem
    assert half.C[-1] * found.r[-1] == pytest.approx([-2.4, -3.2], abs=1e-7)
    assert found.audit().E <= 1e-8


def test_added_constraints_that_do_not_touch_leave_all_digits() -> None:
    program = QuadraticProgram(H=np.eye(2), g=[-3.0, -4.0], C=[[-1.0, 0.0]], d=[-2.0])
    found = Cvxpy(constraints=(lambda x: [CP.norm(x) <= 10.0],)).solve(program)
    assert found.x == pytest.approx([2.0, 4.0], abs=1e-15)
    assert found.problem is program


def test_added_constraints_that_contradict_or_bend_the_wrong_way() -> None:
    program = QuadraticProgram(H=np.eye(2), g=[-3.0, -4.0], C=[[1.0, 0.0]], d=[2.0])
    found = Cvxpy(constraints=(lambda x: [CP.norm(x) <= 1.0],)).solve(program)
    assert found.status is Status.UNDECIDED
    assert found.x is None
    with pytest.raises(InputError, match="convex"):
        Cvxpy(constraints=(lambda x: [CP.norm(x) >= 10.0],)).solve(program)


@pytest.mark.parametrize("size", [1e60, 1e308])
def test_numbers_that_a_library_does_not_take_end_in_a_status(size: float) -> None:
    """OSQP takes bounds above 1e30 for infinite, and refuses a lower one that is."""
    program = QuadraticProgram(H=[[2.0, 0.0], [0.0, 1.0]], g=[1.0, 1.0], C=[[1.0, 0.0]], d=[size])
    for method in METHODS:
        assert method.solve(program).status in tuple(Status)
    assert solve_quadratic(program).status in tuple(Status)
