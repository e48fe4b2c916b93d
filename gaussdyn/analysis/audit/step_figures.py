"""What is wrong with a recorded step: one number for each equation and law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.linalg import solve_triangular

from ...arrays import Array
from ...contact.assemble import assemble, blocks, start_of_blocks
from ...contact.coupled import coupled
from ...contact.reactions import law_residual
from ...contact.snapshot import LocalDynamics
from ...linalg.factor import solve_spd
from ...linalg.redundant_rows import HELD, VOID
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.rows import Row
from ...mechanics.spatial.system import SpatialSystem
from ...mechanics.system import coriolis_of
from ...mechanics.trees.system import TreeSystem
from ...programs.laws.laws import BORDER
from ...programs.problems.complementarity import ComplementarityProblem
from .recorded_step import RecordedStep

EXACT = 1e-12  # of the largest impulse: one that may be rounding
RANK = 1e-8  # relative singular value up to which joints depend on one another
FORESEEN = 2e-2  # of the speeds at hand: how far from its end the laws of a step without corrections may hold
PASSES = 2e-11  # of |v|, in joint coordinates of |M| |v|: what passes may leave, and laws see
BODIES = (PlanarSystem, SpatialSystem)
WORDS = ("inactive", "stick", "slip", "degenerate")  # modes of blocks, by their codes
WIDE = 30.0  # factor by which the border between two modes may lie elsewhere: it is one of scales


def kinematics(step: RecordedStep) -> float:
    """Return how far the coordinates are from where velocities and shifts lead, relative."""
    q = step.moved()
    return relative(np.abs(q - step.record.state.q), np.abs(step.record.start.q) + np.abs(q))


def momentum(step: RecordedStep) -> float:
    """Return the largest |M v+ - h - J^T p| of a coordinate, relative to its terms."""
    gain, size = unbalanced(step)
    return relative(np.abs(gain), size)


def unbalanced(step: RecordedStep) -> tuple[Array, Array]:
    """Return M v+ - h - J^T p and the size of its terms, N s, shape (nv,) each."""
    d, v_plus = step.dynamics, step.record.state.v
    gain, size = d.M @ v_plus - d.h, np.abs(d.M) @ (np.abs(v_plus) + np.abs(d.v)) + np.abs(d.h)
    for row in d.rows:
        p = step.record.impulses[row.id]
        gain, size = gain - row.J.T @ p, size + np.abs(row.J.T) @ np.abs(p)
    return gain, size


def laws(step: RecordedStep) -> float:
    """Return the residual E of the impulses in the contact problem of the step; inf where others push, too.

    And where the laws hold for an end that is not nearly the one that the step has, or where a part of the restitution
    is said to be kept and there is none.
    """
    acting, impulses = {row.id for row in step.dynamics.rows}, step.record.impulses
    rounding = EXACT * max((float(np.abs(p).max()) for p in impulses.values()), default=0.0)
    if any((np.abs(p) > rounding).any() for key, p in impulses.items() if key not in acting):
        return float("inf")
    if not _as_foreseen(step) or (step.record.kept != 1.0 and not step.bounces):
        return float("inf")
    return law_residual(with_joints_held(step), impulses, off=_left_by_passes(step))


def _left_by_passes(step: RecordedStep) -> Array | None:
    """Return by how much velocities may be off where passes end; None where that is no more than rounding.

    In joint coordinates the mass joins all of them: a joint that stands still in flight carries little beside the
    momentum of the whole, whose last digits it sees. Beside the little that changes in a very short step, the last
    digits of what bodies have already are much.
    """
    d, v_plus = step.dynamics, step.record.state.v
    speeds = np.abs(d.x_free) + np.abs(v_plus)
    if isinstance(step.record.system, BODIES):
        return PASSES * speeds
    if not isinstance(step.record.system, TreeSystem):
        return None
    return PASSES * (np.abs(np.linalg.inv(d.M)) @ (np.abs(d.M) @ speeds))  # type: ignore[no-any-return]


def _as_foreseen(step: RecordedStep) -> bool:
    """Return whether a step ended nearly as it was foreseen, where it was."""
    d, foreseen, v_plus = step.dynamics, step.record.evidence.foreseen, step.record.state.v
    if foreseen is None:
        return True
    speeds = float((np.abs(d.v) + np.abs(d.x_free) + np.abs(v_plus)).max(initial=0.0))
    far = float(np.abs(foreseen[step.record.system.nq :] - v_plus).max(initial=0.0))
    return far <= FORESEEN * speeds


def joint_rate(step: RecordedStep) -> float:
    """Return the largest rate of an equality at the end of the step, relative to the largest speed."""
    found, d, v_plus = [], step.dynamics, step.record.state.v
    # A joint at rest beside bodies that gravity would move has rounding of the size of their free motion.
    speeds = np.abs(d.v) + np.abs(v_plus) + np.abs(d.x_free)
    reach = np.full(len(speeds), speeds.max(initial=0.0))
    for row in d.rows:
        if row.bilateral:
            n = 1 if row.kind == "bilateral_contact" else row.size
            own = d.dt * row.drift if row.level == "acceleration" else row.rate
            rate = (row.J @ (v_plus - d.v) + own)[:n]
            found.append((np.abs(rate), np.abs(row.J[:n]) @ reach))
    return off_rates(found)


def off_rates(found: Sequence[tuple[Array, Array]]) -> float:
    """Return the largest rate of rows over the size of its terms; over the largest of all where a row holds nothing.

    That is a loop across its own plane, say: its terms are but rounding.
    """
    most = max((float(size.max(initial=0.0)) for _, size in found), default=0.0)
    longest, worst = np.array([most]), 0.0
    for rate, size in found:
        worst = max(worst, relative(rate, size if size.max(initial=0.0) > VOID * most else longest))
    return worst


@lru_cache(maxsize=2)
def with_joints_held(step: RecordedStep) -> LocalDynamics:
    """Return the dynamics with an independent set of rows in the place of those of joints, held as the step left them.

    Joints may depend on one another, to rounding of the coordinates, and their rates are a figure of their own. Several
    figures ask for it: the last answers are kept.
    """
    d = step.dynamics
    held = [row for row in d.rows if row.kind == "bilateral"]
    if not held:
        return d
    X = solve_triangular(d.factor, np.vstack([row.J for row in held]).T, lower=True).T
    length = np.linalg.norm(X, axis=1)
    _, s, Vt = np.linalg.svd(X / np.where(length > 0.0, length, 1.0)[:, None], full_matrices=False)
    J = Vt[s > RANK * s.max(initial=0.0)] @ d.factor.T
    rate = -J @ (step.record.state.v - d.v)
    free = [row for row in d.rows if row.kind != "bilateral"]
    if not len(J):
        return replace(d, rows=tuple(free))
    return replace(d, rows=(Row(id="joints", kind="bilateral", J=J, rate=rate, drift=0.0 * rate), *free))


def modes(step: RecordedStep, said: Mapping[str, str], possible: Mapping[str, set[str]]) -> float:
    """Return how many rows are said to be in a mode that their velocities and impulses do not have.

    Parameters
    ----------
    step : RecordedStep
    said : mapping of str to str
        Modes by row id.
    possible : mapping of str to set of str
        See `possible_modes`.
    """
    acting = {row.id for row in step.dynamics.rows}
    wrong = sum(mode != "open" for key, mode in said.items() if key not in acting)
    return float(wrong + sum(said[key] not in words for key, words in possible.items() if key in said))


def possible_modes(step: RecordedStep) -> dict[str, set[str]]:
    """Return what the rows that acted may be called by their velocities and impulses, joints aside: `_words`, by id.

    What joints hold by themselves moves by rounding, and may be called anything.
    """
    d = with_joints_held(step)
    problem = assemble(d)
    if not problem.laws:
        return {}
    from ...programs.solution.residual_kernels import block_mode

    r = start_of_blocks(d, step.record.impulses)
    u, table, rho = problem.motion(r), problem.table, problem.rho
    floor = EXACT * float(np.abs(r).max(initial=0.0))
    speeds, words = np.abs(step.record.state.v), dict[str, set[str]]()
    parts = [part for part in blocks(d) if part.law is not None]
    borders = _borders(d, problem)
    for b, part in enumerate(parts):
        at, row = slice(table.start[b], table.start[b + 1]), part.active.row
        mine, ours = np.ascontiguousarray(u[at]), np.ascontiguousarray(r[at])
        found = {int(block_mode(table.code[b], len(mine), table.P[b], mine, ours, rho[b], tol)) for tol in borders[b]}
        closed = abs(float(mine[0])) <= EXACT * float((np.abs(row.J) @ speeds).max())  # up to rounding
        words[row.id] = {*WORDS, "active"} if locked(d, row) else _words(found, closed, float(ours[0]), floor, row)
    return words


def locked(d: LocalDynamics, row: Row) -> bool:
    """Return whether the joints of `with_joints_held` leave nothing of a row."""
    joints = [one.J for one in d.rows if one.kind == "bilateral"]
    if not joints:
        return False
    x, B = (solve_triangular(d.factor, J.T, lower=True).T for J in (row.J, np.vstack(joints)))
    left = x - (x @ B.T) @ B
    return bool((left * left).sum() <= HELD * (x * x).sum())


def _borders(d: LocalDynamics, problem: ComplementarityProblem) -> Array:
    """Return up to what each block may count as on the border of two modes, N s, shape (blocks, 6).

    It is a share of |rho q|, of all that acts or of what the block has to do with: a run may judge either, as what
    stands apart does not hang on what moves elsewhere.
    """
    entries = (np.repeat(problem.rho, np.diff(problem.table.start)) * problem.q) ** 2
    sizes = np.add.reduceat(entries, problem.table.start[:-1])
    parts, label = [part for part in blocks(d) if part.law is not None], coupled(d.rows, d.M)
    island = label[[int(part.active.row.J.any(axis=0).argmax()) for part in parts]]
    own = np.sqrt(np.bincount(island, weights=sizes)[island])
    scale = np.stack([np.where(own > 0.0, own, 1.0), np.full(len(own), np.sqrt(sizes.sum()) or 1.0)])
    borders: Array = BORDER * np.outer(scale.T, (1.0 / WIDE, 1.0, WIDE)).reshape(len(parts), 6)
    return borders


def _words(codes: set[int], closed: bool, push: float, floor: float, row: Row) -> set[str]:
    """Return what a row may be called whose block has one of these modes: open, stick, slip, degenerate.

    Without friction it is active where it pushes or stays closed; a push up to `floor` may be rounding.
    """
    words = {WORDS[code] for code in codes}
    rough = row.frictional and max(row.mu, row.mu_s, row.cap, row.cap_s) > 0.0
    if rough:
        return words
    return words | ({"active"} if push > 0.0 or closed else set()) | ({"inactive"} if push <= floor else set())


def work(step: RecordedStep) -> tuple[float, float]:
    """Return the work of all reactions over the step, and the size of its terms, J.

    They act at once, in its middle: on the mean of the velocities just before and after, which Coriolis forces of half
    of the step lead from and to those of its ends.
    """
    d, v_plus, system = step.dynamics, step.record.state.v, step.record.system
    momentum, mean = d.M @ v_plus, 0.5 * (d.v + v_plus)
    bends = coriolis_of(system, d.q, v_plus) - coriolis_of(system, d.q, d.v)
    at_once = mean - 0.25 * d.dt * solve_spd(d.factor, bends)
    return float(at_once @ (momentum - d.h)), float(np.abs(mean) @ (np.abs(momentum) + np.abs(d.h)))


def relative(error: Array, size: Array) -> float:
    """Return the largest error over the largest size, the error itself where there is none; inf if it is not finite."""
    scale, worst = float(size.max(initial=0.0)), float(error.max(initial=0.0))
    if not np.isfinite(worst):
        return float("inf")
    return worst / scale if scale > 0.0 else worst
