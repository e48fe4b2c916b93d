"""From the multipliers of a program back to the constraints: the reaction of each, by id."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from ..arrays import EPS, Array
from ..programs.problems.quadratic import QuadraticProgram
from ..programs.solution.residuals import block_residuals
from ..programs.solution.solution import Solution
from .active_set import OmegaStatus, active_set
from .admissible_set import admissible_set
from .assemble import assemble, blocks, start_of_blocks
from .snapshot import LocalDynamics, check_dynamics


def reactions(dynamics: LocalDynamics, solution: Solution) -> dict[str, Array]:
    """Return the reaction of every constraint that acts, by id.

    Parameters
    ----------
    dynamics : LocalDynamics
        What `resolve` was given.
    solution : Solution
        What it returned.

    Returns
    -------
    dict
        One vector per id with one component per row of the constraint (N, T1, T2, ..), friction included: forces
        in N, impulses in N s on the velocity level. M x = h + sum of J^T reaction over the constraints. Under
        "convex" the generalised force of a user's convex constraints, if they act. Empty if there is no solution.
    """
    check_dynamics(dynamics)
    if solution.x is None or active_set(dynamics).status is not OmegaStatus.READY:
        return {}
    if isinstance(solution.problem, QuadraticProgram):
        return _from_rows(dynamics, solution)
    return _from_blocks(dynamics, solution)


def law_residual(
    dynamics: LocalDynamics, claimed: Mapping[str, Array], sums: int = 1, off: Array | None = None
) -> float:  # fmt: skip
    """Return the residual E of claimed reactions, by id, less what rounding of the free motion accounts for.

    That rounding is all there is to q = J x_free + w where bodies fly or rest side by side; with joints it goes from
    body to body, so that the fastest counts. Free motions that are sums of many impulses are rounded as often.
    off (nv,): what else velocities may be off by.
    """
    problem = assemble(dynamics)
    if not problem.laws:
        return 0.0
    parts = [part for part in blocks(dynamics) if part.law is not None]
    speeds = np.abs(dynamics.x_free)
    if any(part.law is None for part in blocks(dynamics)):
        speeds = np.full(len(speeds), speeds.max())
    terms = np.concatenate([np.abs(part.J) @ speeds for part in parts])
    rho = np.repeat(problem.rho, [len(part.take) for part in parts])
    rounded, size = 10.0 * sums * EPS * float(np.linalg.norm(rho * terms)), float(np.linalg.norm(rho * problem.q))
    if off is not None:
        rounded += float(np.linalg.norm(rho * np.concatenate([np.abs(part.J) @ off for part in parts])))
    found = block_residuals(problem, start_of_blocks(dynamics, claimed)).E
    return max(found - (rounded / size if size else 0.0), 0.0)


def rows_in_conflict(dynamics: LocalDynamics, solution: Solution) -> list[str]:
    """Return the ids of the constraints that the Farkas certificate of a solution combines."""
    if isinstance(solution.problem, QuadraticProgram):
        origin = [row.id for row in admissible_set(dynamics).rows] + ["convex"]
        (leaf,) = solution.certificate.document["leaves"]  # type: ignore[union-attr]
        used = [origin[min(i, len(origin) - 1)] for i, value in enumerate(leaf["refutation"]) if value != "0"]
    else:
        parts = blocks(dynamics)
        origin = [part.active.row.id for part in parts if part.law is not None]
        held = [part.active.row for part in parts if part.law is None and part.active.row.kind != "dry"]
        joints = [row.id for row in held for _ in range(row.size)]
        about = solution.certificate.document["provenance"]["about"]  # type: ignore[union-attr]
        found = re.findall(r"(block|bilateral row) (\d+)", about)
        used = [(origin if what == "block" else joints)[int(i)] for what, i in found]
    return list(dict.fromkeys(used))


def _from_rows(dynamics: LocalDynamics, solution: Solution) -> dict[str, Array]:
    """Map the multipliers of a Gauss program back: y of the equalities, then z of the inequalities."""
    omega, multipliers = admissible_set(dynamics), np.concatenate([solution.lam, solution.r])
    size = {row.id: row.size for row in dynamics.rows}
    found: dict[str, Array] = {row.id: np.zeros(size[row.id]) for row in omega.rows}
    for row, value in zip(omega.rows, multipliers, strict=False):
        found[row.id][row.component] = value
    if len(multipliers) > len(omega.rows):  # the half-space that stands for the user's convex constraints
        found["convex"] = solution.problem.C[-1] * multipliers[-1]
    return found


def _from_blocks(dynamics: LocalDynamics, solution: Solution) -> dict[str, Array]:
    """Map the reactions of a block problem back, in the order in which `assemble` takes them."""
    found: dict[str, Array] = {}
    lam, r = solution.lam, solution.r
    for part in blocks(dynamics):
        row, n = part.active.row, len(part.take)
        if part.law is not None:
            found[row.id], r = part.reaction(r[:n]), r[n:]
        elif row.kind == "dry":
            found[row.id] = part.spread[:, 0].copy()
        else:
            found[row.id], lam = part.reaction(lam[:n]), lam[n:]
    return found
