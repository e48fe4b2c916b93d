"""Rail cars: the quadratic program against pooling adjacent violators, an independent exact algorithm."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.arrays import Array
from gaussdyn.programs.problems.quadratic import QuadraticProgram
from gaussdyn.programs.quadratic.solve_quadratic import solve_quadratic


def pool_adjacent_violators(m: Array, F: Array, rigid: Array) -> Array:
    """Return the accelerations of cars in a row with a_i >= a_{i+1}; rigid couplings make neighbours equal.

    Rigidly coupled cars form trains; trains are merged while the one behind would be faster, and move as one mass.
    """
    first = np.flatnonzero(np.r_[True, ~rigid])
    trains: list[list[float]] = []  # mass, force, number of cars
    for start, end in zip(first, [*first[1:], len(m)], strict=True):
        trains.append([m[start:end].sum(), F[start:end].sum(), end - start])
        while len(trains) > 1 and trains[-2][1] / trains[-2][0] < trains[-1][1] / trains[-1][0]:
            last = trains.pop()
            trains[-1] = [p + q for p, q in zip(trains[-1], last, strict=True)]
    return np.concatenate([[force / mass] * int(cars) for mass, force, cars in trains])


@pytest.mark.parametrize("seed", range(12))
def test_rail_cars(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = 5 if seed < 8 else 30
    m, F = rng.uniform(0.5, 20.0, count), 50.0 * rng.normal(size=count)
    rigid = rng.random(count - 1) < 0.3
    coupling = np.eye(count - 1, count) - np.eye(count - 1, count, k=1)
    program = QuadraticProgram(
        H=np.diag(m), g=-F, A=coupling[rigid], b=np.zeros(rigid.sum()), C=coupling[~rigid], d=np.zeros((~rigid).sum())
    )
    found = solve_quadratic(program).require()
    assert found.x == pytest.approx(pool_adjacent_violators(m, F, rigid), rel=1e-12, abs=1e-12)
    assert found.r_unique
