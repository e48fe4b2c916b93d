"""Hard problems of piles, as runs came upon them."""

from pathlib import Path

import numpy as np
import pytest

from gaussdyn.contact.free_bodies.block_places import block_places
from gaussdyn.contact.free_bodies.body_problem import BodyProblem, Contacts, Iterate
from gaussdyn.contact.free_bodies.islands import room_for
from gaussdyn.contact.free_bodies.newton import motion
from gaussdyn.contact.free_bodies.one_island import solve_island
from gaussdyn.linalg.block_lu import analyse
from tests.contact.free_bodies.test_josephy_newton import natural_map

DATA = Path(__file__).parents[2] / "data"
TOL = 1e-10


@pytest.mark.parametrize("name", ["struck_wall", "heap_of_rocks"])
def test_hard_islands_are_solved(name):
    """A wall of 39 bricks that a heavy ball strikes at 5 m/s, 246 contacts: no short path leads to an answer.

    A heap of 198 rocks of 8 to 40 corners that comes to rest, 577 contacts: none did within 3900 factorisations.
    """
    kept = np.load(DATA / f"{name}.npz")
    n, (c, _) = len(kept["M"]), kept["p"].shape
    ordering = analyse(n, kept["pair"][:, 0].copy(), kept["pair"][:, 1].copy())
    contacts = Contacts(
        kept["pair"], kept["first"], block_places(n, kept["pair"], ordering), kept["R"], kept["ra"], kept["rb"]
    )
    problem = BodyProblem(contacts, *(kept[key] for key in ("M", "inverse", "h", "w", "mu", "rho")))
    iterate = Iterate(kept["p"].copy(), *(np.zeros((c, 3)) for _ in range(3)), np.zeros((n, 6)))
    solved, _factors, _slow = solve_island(problem, ordering, room_for(problem, ordering), iterate, TOL, TOL, np.inf)
    assert solved
    v, u = np.zeros((n, 6)), np.zeros((c, 3))
    motion(problem, iterate.p, np.zeros((n, 6)), v, u)
    assert natural_map(problem, iterate.p.copy(), u) <= 1.01 * TOL
