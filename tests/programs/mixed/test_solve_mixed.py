"""Mixed problems: answers in closed form, singular equalities, random problems with a known solution, proofs."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from block_cases import problem_folder

from gaussdyn import checker_blocks
from gaussdyn.errors import InputError
from gaussdyn.linalg.rational import integer_row
from gaussdyn.linalg.rational import solve as rational_solve
from gaussdyn.programs.files.formats import read_problem
from gaussdyn.programs.laws.laws import Associated, Coulomb, Unilateral
from gaussdyn.programs.mixed.nearest_doubles import nearest_doubles
from gaussdyn.programs.mixed.standard_form import standard_form
from gaussdyn.programs.problems.mixed import Box, Equality, MixedComplementarity
from gaussdyn.programs.solution.residuals import mixed_residuals
from gaussdyn.programs.solution.status import Status
from gaussdyn.programs.solve import solve

INF = np.inf
FOLDER = problem_folder()
FILES = [] if FOLDER is None else sorted((FOLDER / "mixed").glob("*.json"))


def mixed(M, q, *blocks):
    return MixedComplementarity(M=M, q=q, blocks=blocks)


def test_a_bead_on_a_joint_above_a_floor():
    """2 z1 + z2 = 1 and z1 + 2 z2 - 2 ⟂ z2: z2 = 1, z1 = 0."""
    found = solve(mixed([[2, 1], [1, 2]], [-1, -2], Equality(1), Unilateral())).require()
    np.testing.assert_allclose(found.x, [0, 1], atol=1e-15)
    assert found.modes == ("stick",)


@pytest.mark.parametrize(("q", "z"), [(-0.5, 0.5), (-3.0, 1.0), (3.0, -1.0), (1.0, -1.0)])
def test_a_relay(q, z):
    """One box [-1, 1] with w = z + q: z = -q cut to the box."""
    found = solve(mixed([[1.0]], [q], Box([-1.0], [1.0]))).require()
    assert found.x[0] == pytest.approx(z, abs=1e-15)


def test_boxes_with_open_sides_are_rows_and_equalities():
    """z >= 2 with w = z + 1; z <= -3 with w = z - 1; z free with w = z - 5; z = 4 fixed."""
    box = Box([2.0, -INF, -INF, 4.0], [INF, -3.0, INF, 4.0])
    found = solve(mixed(np.eye(4), [1.0, -1.0, -5.0, 7.0], box)).require()
    np.testing.assert_allclose(found.x, [2, -3, 5, 4], rtol=1e-15)


def test_a_contact_slips_and_a_cone_lifts():
    """W = 1 at mu = 0.1, q = (-1, 1, 0): Coulomb keeps w_N = 0 with z = (1, -0.1, 0); the cone problem does not."""
    q = [-1.0, 1.0, 0.0]
    exact = solve(mixed(np.eye(3), q, Coulomb(0.1))).require()
    np.testing.assert_allclose(exact.x, [1, -0.1, 0], atol=1e-14)
    cone = solve(mixed(np.eye(3), q, Associated(0.1))).require()
    factor = (1 + 0.1) / (1 + 0.01)  # projection of -q on the ray (1, -mu)
    np.testing.assert_allclose(cone.x, [factor, -0.1 * factor, 0], atol=1e-14)
    assert cone.u[0] == pytest.approx(factor - 1.0, abs=1e-14)


def test_equalities_without_a_matrix_of_their_own_are_pivoted_with_rows():
    """Lagrange's conditions of min z^2/2 - 2 z2 ... with z1 + z2 = 1: M of the equality is 0."""
    M = [[0, 1, 1], [-1, 1, 0], [-1, 0, 1]]
    found = solve(mixed(M, [-1.0, 1.0, -2.0], Equality(1), Unilateral(), Unilateral())).require()
    np.testing.assert_allclose(found.x, [-1.0, 0.0, 1.0], atol=1e-15)


def test_redundant_joints_do_no_harm():
    """The same equality twice: the reaction is not unique, and nothing says that it is."""
    J = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    found = solve(mixed(J @ J.T, [-2.0, -2.0, -3.0], Equality(2), Unilateral())).require()
    np.testing.assert_allclose(found.u, [0, 0, 0], atol=1e-14)
    assert found.x[2] == pytest.approx(4.0)
    assert found.r_unique is not True


@pytest.mark.parametrize("seed", range(6))
def test_problems_built_from_their_solution(seed):
    """M monotone with a singular part, z and w chosen, q = w - M z: a solution exists, and one is found."""
    rng = np.random.default_rng(seed)
    n = 14
    A = rng.normal(size=(n, n - 2))
    S = rng.normal(size=(n, n))
    M = A @ A.T + S - S.T
    blocks = (Equality(4), *[Unilateral()] * 4, Box([-1.0] * 3, [2.0] * 3), Associated(0.4))
    z, w = rng.normal(size=n), np.zeros(n)
    z[4:8], w[4:8] = np.array([1.0, 2.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 3.0])
    z[8:11], w[8:11] = [-1.0, 2.0, 0.5], [0.3, -0.7, 0.0]
    z[11:], w[11:] = [1.0, 0.4, 0.0], [0.4, -1.0, 0.0]
    problem = MixedComplementarity(M=M, q=w - M @ z, blocks=blocks)
    found = solve(problem).require()
    assert found.residuals.E <= 1e-12
    assert found.audit() == mixed_residuals(problem, found.x)


def test_last_bits_are_chosen_together():
    """Reactions of 1e5 beside small ones: w = 0 holds far below what rounding number by number leaves."""
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    d = 10.0 ** rng.uniform(-4, 0, 20)
    M = d[:, None] * (Q @ np.diag(np.linspace(50.0, 200.0, 20)) @ Q.T) * d
    problem = mixed(M, rng.normal(size=20), Equality(20))
    rounded = solution_rounded_number_by_number(problem)
    better = nearest_doubles(problem, standard_form(problem), rounded)
    assert np.abs(rounded).max() > 1e4
    assert mixed_residuals(problem, better).E < 0.1 * mixed_residuals(problem, rounded).E


def solution_rounded_number_by_number(problem):
    """Return the exact solution of the equalities, each number rounded to the nearest double."""
    rows = [[Fraction(x) for x in row] for row in problem.M.tolist()]
    whole = [integer_row([*row, -Fraction(end)])[0] for row, end in zip(rows, problem.q.tolist(), strict=True)]
    return np.array([float(x) for x in rational_solve(whole, len(rows))])


def test_contradicting_equalities_are_refuted():
    found = solve(mixed([[1, 1], [1, 1]], [0.0, 1.0], Equality(2)))
    assert found.status is Status.INFEASIBLE
    assert found.certificate.verify()


def test_bounds_that_contradict_an_equality_are_refuted():
    found = solve(mixed([[0, 1], [0, 0]], [-3.0, 0.0], Equality(1), Box([-1.0], [1.0])))
    assert found.status is Status.INFEASIBLE
    assert found.certificate.verify()


def test_where_the_conditions_agree_but_no_mode_does_all_are_refuted():
    """w1 = z2 - 1 = 0 makes z2 = 1, so w2 = -z2 + 2 should be 0: feasible, never complementary."""
    problem = mixed([[0, 1], [0, -1]], [-1.0, 2.0], Equality(1), Unilateral())
    found = solve(problem)
    assert found.status is Status.NO_SOLUTION
    assert found.certificate.verify()
    document = json.loads(found.certificate.to_json())
    assert checker_blocks.verdict(lambda: json.dumps(document)) == f"VALID: {found.certificate.claim}"
    document["problem"]["blocks"][0] = {"law": "unilateral"}  # another problem: its sum no longer matches
    assert checker_blocks.verdict(lambda: json.dumps(document)).startswith("INVALID")


def test_an_equality_that_only_a_relay_can_meet_is_found_by_its_modes():
    """z2 - 0.25 = 0, w2 = z1: M of the equality is 0 and no row can be exchanged."""
    found = solve(mixed([[0, 1], [1, 0]], [-0.25, 0.0], Equality(1), Box([-1.0], [1.0]))).require()
    np.testing.assert_allclose(found.x, [0.0, 0.25], atol=1e-15)
    assert found.method == "enumerate"


def test_what_is_refused():
    for blocks, words in (((Equality(1),), "2 rows"), ((Coulomb(0.1, 0.2, 2),), "mu_s"), ((1, 2), "Equality, Box")):
        with pytest.raises(InputError, match=words):
            MixedComplementarity(M=np.eye(2), q=[0.0, 0.0], blocks=blocks)
    with pytest.raises(InputError, match="lower <= upper"):
        Box([1.0], [0.0])
    with pytest.raises(InputError, match="as many as lower"):
        Box([1.0], [2.0, 3.0])
    with pytest.raises(InputError, match=">= 1"):
        Equality(0)


@pytest.mark.skipif(not FILES, reason="no recorded mixed problems: set GAUSSDYN_PROBLEMS to the folder of mixed/")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_recorded_problems(path):
    """Each condition holds within 1e-10 of the largest number of q; w is summed exactly here."""
    problem = read_problem(path).problem
    found = solve(problem).require()
    z = [Fraction(x) for x in found.x.tolist()]
    rows = zip(problem.M.tolist(), problem.q.tolist(), strict=True)
    w = [float(sum((Fraction(a) * x for a, x in zip(row, z, strict=True)), Fraction(end))) for row, end in rows]
    size = np.abs(problem.q).max()
    for start, block in zip(problem.starts, problem.blocks, strict=False):
        here = slice(start, start + block.size)
        assert worst(block, found.x[here], np.array(w[here])) <= 1e-10 * size


def worst(block, z, w):
    """Return the largest violation of the conditions of a block."""
    if isinstance(block, Equality):
        return np.abs(w).max()
    if isinstance(block, Unilateral):
        return max(-z[0], -w[0], min(abs(z[0]), abs(w[0])))
    if isinstance(block, Box):
        low, high = np.array(block.lower), np.array(block.upper)
        off = np.minimum(np.maximum(w, 0.0), z - low) + np.minimum(np.maximum(-w, 0.0), high - z)
        return max((low - z).max(), (z - high).max(), off.max())
    normal = w[0] + (0.0 if isinstance(block, Associated) else block.mu * np.linalg.norm(w[1:]))
    dot = abs(z[0] * normal + z[1:] @ w[1:]) / max(np.linalg.norm(z), np.hypot(normal, np.linalg.norm(w[1:])), 1e-300)
    return max(np.linalg.norm(z[1:]) - block.mu * z[0], block.mu * np.linalg.norm(w[1:]) - normal, dot)
