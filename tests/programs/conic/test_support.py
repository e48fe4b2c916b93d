"""Largest values on slices of cones: closed forms, another solver, proofs that hold, and wrong input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from gaussdyn.arrays import Array
from gaussdyn.errors import InputError
from gaussdyn.programs.conic.cone_slice import FREE, RAY, Cone, ConeSlice, Support, Verdict
from gaussdyn.programs.conic.support import support


def body_on(rng: np.random.Generator, contacts: int, mu: float = 0.5) -> ConeSlice:
    """Return a body on a floor, carried by a force that contacts with random places can give."""
    A = np.zeros((6, 3 * contacts))
    for k, p in enumerate(rng.uniform(-1.0, 1.0, (contacts, 3))):
        for j, e in enumerate(np.eye(3)[[2, 0, 1]]):
            A[:3, 3 * k + j], A[3:, 3 * k + j] = e, np.cross(p, e)
    s = rng.uniform(0.5, 1.0, (contacts, 3)) * [1.0, 0.2, 0.2]
    return ConeSlice(A=A, f=A @ s.ravel(), cones=(Cone("cone", 3, mu),) * contacts)


def both(slice: ConeSlice) -> Support:
    return support(slice, np.vstack([np.eye(slice.n), -np.eye(slice.n)]))


def test_a_table_on_four_legs_has_one_number_free() -> None:
    A = [[1, 1, 1, 1], [1, -1, -1, 1], [1, 1, -1, -1]]
    found = support(ConeSlice(A=A, f=[4, 0, 0], cones=(RAY,) * 4), [*np.eye(4), *-np.eye(4), np.ones(4)])
    assert found.value == pytest.approx([2.0] * 4 + [0.0] * 4 + [4.0], abs=1e-12)
    assert found.verify(1e-12)


@pytest.mark.parametrize("contacts", [3, 4, 12])
def test_ranges_in_space_are_those_of_another_solver(contacts: int) -> None:
    cvxpy = pytest.importorskip("cvxpy")
    slice = body_on(np.random.default_rng(contacts), contacts)
    found = both(slice)
    assert found.verify()
    s = cvxpy.Variable(slice.n)
    held = [slice.A @ s == slice.f] + [cvxpy.SOC(0.5 * s[3 * k], s[3 * k + 1 : 3 * k + 3]) for k in range(contacts)]
    for k in range(0, 2 * slice.n, 5):
        other = cvxpy.Problem(cvxpy.Maximize(found.C[k] @ s), held)
        other.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        assert found.value[k] == pytest.approx(other.value, abs=2e-8)  # what the other solver reaches
        assert found.bound[k] - found.reached[k] == pytest.approx(0.0, abs=1e-8)


def test_linear_programs_are_those_of_another_solver() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        A, s = rng.standard_normal((4, 9)), rng.uniform(0.0, 1.0, 9)
        cones, bounds = (RAY,) * 7 + (FREE,) * 2, [(0, None)] * 7 + [(None, None)] * 2
        C = np.vstack([rng.standard_normal((3, 9)), rng.standard_normal((2, 4)) @ A])
        found = support(ConeSlice(A=A, f=A @ s, cones=cones), C)
        for c, value in zip(C, found.value, strict=True):
            other = linprog(-c, A_eq=A, b_eq=A @ s, bounds=bounds)
            expected = -other.fun if other.status == 0 else np.inf
            assert value == pytest.approx(expected, abs=1e-8)
        assert found.verify()


def test_what_a_hundred_contacts_carry_is_proved_to_nine_digits() -> None:
    slice = body_on(np.random.default_rng(1), 100)
    found = support(slice, np.vstack([np.eye(300)[::7], -np.eye(300)[::7]]))
    assert found.verify(1e-9)
    assert (found.bound >= found.reached - 1e-9).all()


def test_a_wedge_has_no_largest_force_and_a_direction_proves_it() -> None:
    found = support(ConeSlice(A=[[1, -1]], f=[1], cones=(RAY, RAY)), [[1, 0], [-1, 0], [1, -1]])
    assert found.verdicts == (Verdict.UNBOUNDED, Verdict.BOUNDED, Verdict.BOUNDED)
    assert found.value[1:] == pytest.approx([-1.0, 1.0], abs=1e-9)
    assert found.points[0] == pytest.approx([1.0, 1.0])
    assert found.verify(1e-8)


def test_lines_among_free_entries_are_unbounded_both_ways() -> None:
    slice = ConeSlice(A=[[1, 1, 1]], f=[-1], cones=(FREE, RAY, FREE))
    found = support(slice, [[1, 0, 0], [-1, 0, 0], [1, 1, 1], [1, 0, 1]])
    assert list(found.value) == pytest.approx([np.inf, np.inf, -1.0, -1.0])
    assert found.verify()


@pytest.mark.parametrize(("A", "f", "cones"), [
    ([[1, 1]], [-1], (RAY, RAY)),
    ([[1, 1], [1, 1]], [1, 2], (FREE, FREE)),
    ([[1, 0, 0], [0, 1, 0]], [1, 2], (Cone("cone", 3, 0.5),)),
])  # fmt: skip
def test_an_empty_slice_is_proved_empty(A: list[list[float]], f: list[float], cones: tuple[Cone, ...]) -> None:
    found = support(ConeSlice(A=A, f=f, cones=cones), np.eye(len(A[0])))
    assert set(found.verdicts) == {Verdict.EMPTY}
    assert (found.value == -np.inf).all()
    assert found.verify()


def test_a_damaged_proof_is_noticed() -> None:
    found = both(body_on(np.random.default_rng(2), 4))
    for name in ("points", "multipliers"):
        parts = {key: getattr(found, key) for key in ("slice", "C", "verdicts", "value", "points", "multipliers")}
        parts[name] = parts[name] * (1.0 + 1e-6)
        assert not Support(**parts).verify()


def test_scales_of_forces_change_nothing_but_the_unit() -> None:
    slice = body_on(np.random.default_rng(3), 4)
    small = ConeSlice(A=slice.A, f=1e-6 * np.array(slice.f), cones=slice.cones)
    value: Array = both(slice).value
    assert both(small).value * 1e6 == pytest.approx(value, rel=1e-8, abs=1e-8)


def test_wrong_input_is_refused() -> None:
    slice = ConeSlice(A=[[1, 1]], f=[1], cones=(RAY, RAY))
    with pytest.raises(InputError, match="2 entries, as s has"):
        support(slice, [[1, 0, 0]])
    with pytest.raises(InputError, match="as many as A has columns"):
        ConeSlice(A=[[1, 1]], f=[1], cones=(RAY,))
    with pytest.raises(InputError, match="free, ray, cone"):
        Cone("box")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="size of a cone"):
        Cone("ray", 2)
