"""The tree of modes against brute force over all modes, and what it says when it cannot finish."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from contact_cases import doubles, groove, problem, random_body, rod, table

from gaussdyn.errors import InputError
from gaussdyn.programs.enumeration.counting import count_solutions
from gaussdyn.programs.enumeration.degeneracy import degeneracy
from gaussdyn.programs.enumeration.enumerate import LARGEST, System, enumerate_modes, find_solution, letters
from gaussdyn.programs.enumeration.modal_problem import ModalProblem, lcp_problem, modal_problem
from gaussdyn.programs.enumeration.stick_priority import stick_priority
from gaussdyn.programs.laws.laws import Associated, BilateralSliding, Coulomb, Dry, Rolling, Sliding, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, LinearComplementarity
from gaussdyn.programs.proof.exact_linear import feasible

Q = Fraction


def brute_force(modal: ModalProblem) -> set[str]:
    """Decide every mode on its own with the exact simplex: no tree, no relaxation, no floating point."""
    system = System(modal)
    found = set()
    for modes in product(*(range(len(block.modes)) for block in modal.blocks)):
        if feasible(*system.gather(modes), system.n).point is not None:
            found.add(letters(modal, modes))
    return found


def solved_modes(modal: ModalProblem, **options: Any) -> set[str]:
    found = enumerate_modes(modal, **options)
    assert found.complete
    return {mode for component in found.components for mode in component.modes}


def complementary_bases(M: np.ndarray, q: np.ndarray) -> list[np.ndarray]:
    """Return the solutions of a nondegenerate LCP by trying all bases."""
    found, n = [], len(q)
    for basis in product((0, 1), repeat=n):
        z, on = np.zeros(n), np.flatnonzero(basis)
        z[on] = np.linalg.solve(M[np.ix_(on, on)], -q[on])
        if z.min(initial=0.0) >= 0 and (M @ z + q)[np.array(basis) == 0].min(initial=0.0) >= 0:
            found.append(z)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_random_lcps_against_all_bases(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for n in range(1, 8):
        M, q = rng.normal(size=(n, n)), rng.normal(size=n)
        expected = sorted(tuple(z) for z in complementary_bases(M, q))
        found = enumerate_modes(lcp_problem(M.tolist(), q.tolist()))
        points = sorted(tuple(float(x) for x in c.point) for c in found.components if c.point)
        assert len(points) == found.count == len(expected)
        assert np.allclose(points, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_degenerate_lcps_against_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(25):
        n = int(rng.integers(1, 6))
        modal = lcp_problem(rng.integers(-2, 3, (n, n)).tolist(), rng.integers(-2, 3, n).tolist())
        assert solved_modes(modal) == solved_modes(modal, certify=False) == brute_force(modal)


@pytest.mark.parametrize("seed", range(4))
def test_degenerate_bodies_against_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(8):
        n = int(rng.integers(1, 4))
        mu = rng.integers(0, 4, n)
        body = {
            "m": 1, "J": int(rng.integers(1, 3)), "points": rng.integers(-2, 3, (n, 2)).tolist(),
            "normals": [[int(x), 1] for x in rng.integers(-1, 2, n)], "mu": [f"{x}/2" for x in mu],
            "mu_s": [f"{x + rng.integers(0, 2)}/2" for x in mu], "bilateral": [bool(x) for x in rng.integers(0, 2, n)],
            "state": [int(x) for x in rng.integers(-1, 2, n)], "force": rng.integers(-2, 3, 3).tolist(),
        }  # fmt: skip
        modal = problem(body)
        assert solved_modes(modal) == brute_force(modal)


def test_faces_of_an_lcp() -> None:
    # w = z1 + z2 - 1 twice: all z >= 0 with z1 + z2 = 1
    found = enumerate_modes(lcp_problem([[1, 1], [1, 1]], [-1, -1]))
    assert (found.verdict, found.count) == ("CONTINUUM", 1)
    vertices = {v for hull in found.components[0].hulls for v in hull.vertices}
    assert vertices == {(Q(0), Q(1)), (Q(1), Q(0))}


def test_rays_and_separate_components() -> None:
    # z1 is free upwards where its row is zero; the second pair has two isolated points
    found = enumerate_modes(lcp_problem([[0, 0, 0], [0, -1, 0], [0, 0, 1]], [0, 1, 1]))
    assert (found.verdict, found.count) == ("CONTINUUM", 2)
    for component in found.components:
        assert {ray for hull in component.hulls for ray in hull.rays} == {(Q(1), Q(0), Q(0))}
    assert {v[1] for c in found.components for hull in c.hulls for v in hull.vertices} == {Q(0), Q(1)}


def test_a_two_dimensional_face() -> None:
    found = enumerate_modes(lcp_problem([[1, 1, 1]] * 3, [-1, -1, -1]))
    hull = next(h for c in found.components for m, h in zip(c.modes, c.hulls, strict=True) if m == "111")
    assert set(hull.vertices) == {(Q(1), Q(0), Q(0)), (Q(0), Q(1), Q(0)), (Q(0), Q(0), Q(1))}
    assert hull.rays == ()


def test_three_isolated_solutions() -> None:
    found = enumerate_modes(lcp_problem([[1, 2], [2, 1]], [-1, -1]))
    assert {c.point for c in found.components} == {(Q(1), Q(0)), (Q(0), Q(1)), (Q(1, 3), Q(1, 3))}


def test_table_on_eight_feet_is_at_rest_and_its_forces_are_free() -> None:
    found = enumerate_modes(problem(table(8)))
    assert (found.verdict, found.count) == ("UNIQUE", 1)
    assert found.components[0].modes == ("SSSSSSSS",)
    assert found.components[0].point == (Q(0),) * 16
    assert not found.components[0].forces_unique
    pushed = enumerate_modes(problem(table(8, force=("3/5", "-1", "0"))))
    assert pushed.components[0].modes == ("++++++++",)
    assert pushed.components[0].point == (Q(0),) * 8 + (Q(1, 10),) * 8


def test_too_many_modes_is_undecided_and_lists_nothing() -> None:
    rng = np.random.default_rng(3)
    found = enumerate_modes(problem(groove(rng, 6)), limit=2)
    assert found.verdict == "UNDECIDED"
    assert found.count is None
    assert found.components == ()
    assert found.leaves == ()
    assert "4096 modes" in found.reason
    n = LARGEST + 1
    huge = enumerate_modes(lcp_problem(np.eye(n).tolist(), [-1] * n))
    assert huge.verdict == "UNDECIDED"
    assert f"{n} blocks with {2.0**n:.3g} modes" in huge.reason


def test_find_solution_stops_at_the_first() -> None:
    found = find_solution(lcp_problem([[1, 2], [2, 1]], [-1, -1]))
    assert found is not None
    assert found[0] in {"10", "01", "11"}
    assert find_solution(lcp_problem([[-1]], [-1])) is None


@pytest.mark.parametrize("seed", range(3))
def test_counting_in_doubles_agrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for k in range(20):
        modal = problem(random_body(rng, 1 + k % 4, at_rest=bool(k % 2)))
        count, found = count_solutions(*doubles(modal), modal.blocks), enumerate_modes(modal)
        assert (count.verdict, len(count.points)) == (found.verdict, found.count)
        assert sorted(count.modes) == sorted(c.modes for c in found.components)
        n = len(modal.blocks)
        order = [k if r == 0 else n + k for k in range(n) for r in (0, 1)]
        exact = {c.modes: np.array([float(c.point[i]) for i in order]) for c in found.components if c.point}
        for u, names in zip(count.points, count.modes, strict=True):
            assert u == pytest.approx(exact[names], rel=1e-6, abs=1e-7)


def test_problems_of_blocks() -> None:
    W = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.0]])
    laws = (Coulomb(1.0, dim=2), Dry(0.5))
    found = enumerate_modes(modal_problem(ComplementarityProblem(W=W, q=np.array([-1.0, 0.25, 3.0]), laws=laws)))
    assert found.verdict == "UNIQUE"
    assert found.components[0].modes == ("S+",)
    slides = ComplementarityProblem(W=np.array([[-1.0]]), q=np.array([1.0]), laws=(Sliding(0.5),))
    assert enumerate_modes(modal_problem(slides)).count == 2  # the rod beyond its critical friction
    relaxed = ComplementarityProblem(W=np.eye(2), q=np.array([-1.0, 3.0]), laws=(Associated(0.5, dim=2),))
    (component,) = enumerate_modes(modal_problem(relaxed)).components
    assert component.point is not None
    assert component.point[0] == Q(1, 2) * component.point[1] > 0  # it lifts while it slides


@pytest.mark.parametrize(("q", "reactions"), [(1.0, {1.0, -1 / 3}), (-1.0, set())])
def test_sliding_guide(q: float, reactions: set[float]) -> None:
    """u = r - 2 |r| + q = 0 has two reactions or none, and one motion."""
    assert all(abs(r - 2 * abs(r) + q) < 1e-12 for r in reactions)
    p = ComplementarityProblem(W=np.eye(1), W_abs=-2.0 * np.eye(1), q=np.array([q]), laws=(BilateralSliding(2.0),))
    found = enumerate_modes(modal_problem(p))
    assert {float(leaf.face.forces[0]) for leaf in found.leaves if leaf.face} == reactions
    assert found.count == (1 if reactions else 0)


def test_frictionless_lcp_is_the_same_problem() -> None:
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-1.0, 1.0])
    rows = enumerate_modes(modal_problem(ComplementarityProblem(W=M, q=q, laws=(Unilateral(),) * 2)))
    lcp = enumerate_modes(modal_problem(LinearComplementarity(M=M, q=q)))
    assert rows.components[0].modes == ("LD",)
    assert lcp.components[0].modes == ("10",)


def test_laws_with_round_cones_are_refused() -> None:
    rolling = ComplementarityProblem(W=np.eye(5), q=-np.ones(5), laws=(Rolling(0.5, 0.1),))
    with pytest.raises(InputError, match="linear"):
        modal_problem(rolling)
    with pytest.raises(InputError, match="linear"):
        modal_problem(ComplementarityProblem(W=np.eye(3), q=-np.ones(3), laws=(Coulomb(0.5),)))
    with pytest.raises(InputError):
        modal_problem("M")  # type: ignore[arg-type]


@pytest.mark.parametrize("M", [[[1, 2]], [[1], [2]], [["x"]], [[float("nan")]]])
def test_bad_matrices(M: Any) -> None:
    with pytest.raises(InputError):
        lcp_problem(M, [1])


DEGENERATE = {
    "friction exactly critical": rod(mu="61/48", P1=1),
    "friction exactly critical, no load": rod(mu="61/48", P1=0),
    "no load": rod(mu="1/2", force=(0, 0, 0)),
    "no load at rest": rod(mu="1/2", state=0, force=(0, 0, 0)),
    "exactly at the friction limit": {**table(1), "points": [[0, 0]], "force": ["1/2", -1, 0]},
    "lifts exactly": rod(mu="1/2", P1=0, P2=1, state=0),
    "parallel walls": {"m": 1, "J": 1, "points": [[-1, 0], [1, 0]], "normals": [[1, 0], [-1, 0]], "mu": [1, 1],
                       "force": [0, -1, 0]},
    "parallel walls, slippery": {"m": 1, "J": 1, "points": [[-1, 0], [1, 0]], "normals": [[1, 0], [-1, 0]],
                                 "mu": [0, 0], "force": [0, -1, 0]},
}  # fmt: skip


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_are_called_so(name: str) -> None:
    assert degeneracy(enumerate_modes(problem(DEGENERATE[name]))).startswith("degenerate")


@pytest.mark.parametrize(
    "body", [rod(mu="61/49", P1=1), rod(mu="61/47", P1=1), rod(state=0, P1=1, P2="1/3"), table(4), table(3, mu=0),
             {**table(1), "points": [[0, 0]], "force": ["2/5", -1, 0]}],
)  # fmt: skip
def test_ordinary_data_are_not(body: dict[str, Any]) -> None:
    assert degeneracy(enumerate_modes(problem(body))) == ""


def test_stick_priority_only_where_friction_at_rest_is_stronger() -> None:
    three = enumerate_modes(problem(rod(state=0, P1=-1, P2=-4)))
    same, left_out = stick_priority(three)
    assert (same.count, left_out) == (3, [])
    stronger = problem({**rod(state=0, P1=-1, P2=-4), "mu_s": [3]})
    kept, left_out = stick_priority(enumerate_modes(stronger))
    assert left_out == ["-"]
    assert {m for c in kept.components for m in c.modes} == {"D", "S"}
