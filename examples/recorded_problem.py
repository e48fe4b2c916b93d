"""A contact problem from a file: solve it, and check the answer by hand."""

from pathlib import Path

import numpy as np

from gaussdyn import solve
from gaussdyn.programs.files import read

path = Path(__file__).resolve().parents[1] / "tests" / "data" / "table.hdf5"
problem = read(path).problem
solution = solve(problem).require()
print(f"{path.name}: {len(problem.laws)} contacts, {solution.explain()}")
print(f"E = {solution.residuals.E:.1e}, modes {', '.join(solution.modes)}")

u = problem.W @ solution.r + problem.q
r = solution.r.reshape(-1, 2)
print("largest speed of a contact:", np.abs(u).max())
print("total reaction (N s):", r.sum(axis=0), "unique:", solution.r_unique)
