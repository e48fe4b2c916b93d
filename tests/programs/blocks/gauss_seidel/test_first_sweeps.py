import numpy as np
import pytest
import scipy.sparse as sp

from gaussdyn.programs.blocks.gauss_seidel.first_sweeps import MOST, first_sweeps
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solution.residuals import block_residuals
from gaussdyn.programs.solve import solve


def chain(contacts, coupling, seed=0):
    """Contacts in a row, each coupled to its neighbours by `coupling`: Gauss-Seidel is quick where that is small."""
    rng = np.random.default_rng(seed)
    links = sp.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(contacts, contacts))
    W = sp.csr_array(sp.kron(sp.eye_array(contacts), np.eye(3)) - coupling * sp.kron(links, np.eye(3)))
    q = rng.normal(size=3 * contacts) - np.tile([1.5, 0.0, 0.0], contacts)
    return ComplementarityProblem(W=W, q=q, laws=(Coulomb(0.4),) * contacts)


def test_weakly_coupled_contacts_are_solved_by_sweeps():
    problem = chain(30, 0.02)
    r, E, done = first_sweeps(problem, None, 1e-12)
    assert done < 15
    assert E <= 1e-12
    assert pytest.approx(E, rel=1e-6, abs=1e-15) == block_residuals(problem, r).E


def test_slow_sweeps_are_given_up_early():
    problem = chain(30, 0.49)
    _, E, done = first_sweeps(problem, None, 1e-12)
    assert done < MOST / 2
    assert E > 1e-6
    assert solve(problem).solved  # by the methods that follow


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_data_whose_squares_leave_the_doubles_are_left_alone(scale):
    problem = chain(30, 0.02)
    assert (
        first_sweeps(ComplementarityProblem(W=problem.W, q=scale * problem.q, laws=problem.laws), None, 1e-12) is None
    )


@pytest.mark.parametrize("coupling", [0.02, 0.3, 0.49])
def test_from_the_last_reactions_the_answer_is_the_same(coupling):
    problem = chain(40, coupling, seed=1)
    last = solve(problem)
    changed = ComplementarityProblem(W=problem.W, q=1.001 * problem.q + 1e-3, laws=problem.laws)
    cold, warm = solve(changed), solve(changed, start=last.r)
    assert cold.solved
    assert warm.solved
    np.testing.assert_allclose(warm.u, cold.u, atol=1e-9 * np.abs(changed.q).max())
