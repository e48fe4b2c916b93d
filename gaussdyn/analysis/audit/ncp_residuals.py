"""Nine residuals by the names that they have elsewhere, so that runs of different engines can stand side by side.

With K the cones of all reactions, u^ = u+ + mu |u_T| n and p the impulses, in SI units and the largest absolute values,

    r_eom           M (v+ - v) - dt h - J^T p                     r_ncp_primal   p - P_K(p)
    r_kinematics    rate of joints at the end                     r_ncp_dual     u^ - P_K*(u^)
    r_cts_joints, r_cts_limits, r_cts_contacts   open joints,     r_ncp_compl    p . u^ of a constraint
                    depth of limits and of contacts               r_vi_natmap    p - P_K(p - u^)

Source: arXiv 2603.16536 (Kamino), whose metrics have these names. Here u+ is what the scheme of the run puts into the
laws, restitution included; dry friction and contacts in guides have sets, no cones, and count in r_vi_natmap alone.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...contact.assemble import assemble, start_of_blocks
from ...programs.laws.laws import Coulomb, Rolling, Torsional, Unilateral, moment_discs
from ...programs.problems.complementarity import ComplementarityProblem
from .recorded_step import RecordedStep
from .step_figures import unbalanced, with_joints_held

NCP = (
    "r_eom", "r_kinematics", "r_cts_joints", "r_cts_limits", "r_cts_contacts",
    "r_ncp_primal", "r_ncp_dual", "r_ncp_compl", "r_vi_natmap",
)  # fmt: skip
UNITS = ("N s", "SI/s", "SI", "SI", "m", "N s", "m/s", "J", "SI")


def ncp_residuals(step: RecordedStep) -> Array:
    """Return the residuals of a step in the order of `NCP`, shape (9,)."""
    gain, _ = unbalanced(step)
    joints = [row for row in step.record.end if row.bilateral and row.level != "acceleration"]
    placed = [row for row in step.record.end if row.level == "position"]
    rate = [np.abs(row.rate[:1] if row.kind == "bilateral_contact" else row.rate).max(initial=0.0) for row in joints]
    open_ = [abs(row.gap) for row in placed if row.bilateral]
    limits = [-row.gap for row in placed if row.kind == "unilateral"]
    contacts = [-row.gap for row in placed if row.kind == "contact"]
    depths = [max(x, default=0.0) for x in (rate, open_, limits, contacts)]
    return np.array([np.abs(gain).max(initial=0.0), *np.maximum(depths, 0.0), *_of_laws(step)])


def _of_laws(step: RecordedStep) -> tuple[float, float, float, float]:
    """Return r_ncp_primal, r_ncp_dual, r_ncp_compl and r_vi_natmap."""
    dynamics = with_joints_held(step)
    problem = assemble(dynamics)
    if not problem.laws:
        return 0.0, 0.0, 0.0, 0.0
    r = start_of_blocks(dynamics, step.record.impulses)
    return of_problem(problem, problem.motion(r), r)


def of_problem(problem: ComplementarityProblem, u: Array, r: Array) -> tuple[float, float, float, float]:
    """Return r_ncp_primal, r_ncp_dual, r_ncp_compl and r_vi_natmap of motions u and reactions r of blocks."""
    primal = dual = compl = natmap = 0.0
    for law, blocks, rows in problem.table.groups():
        P, U, R = problem.table.P[blocks], u[rows], r[rows]
        map_ = law.natural_map(U, R, np.ones(len(U)), P)
        natmap = max(natmap, float(np.abs(map_).max(initial=0.0)))
        if law not in (Unilateral, Coulomb, Rolling, Torsional):
            continue
        X = _augmented(U, P)
        primal = max(primal, _largest(R - law.project_many(R, P)))
        dual = max(dual, _largest(law.project_many(-X, P)))  # Moreau: u^ - P_K*(u^) = -P_K(-u^)
        compl = max(compl, _largest((R * X).sum(axis=1)))
    return primal, dual, compl, natmap


def _augmented(U: Array, P: Array) -> Array:
    """Return u^ of n blocks: u_N + mu |u_T| + mu_r |w_R| + mu_t |w_S| in the place of u_N."""
    X = U.copy()
    X[:, 0] += sum(mu * np.linalg.norm(U[:, rows], axis=1) for rows, mu in moment_discs(U.shape[1], P))
    return X


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))
