"""What the step kernel asks for: the answer of a contact problem that it could not solve; and words where all fails."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh

from .....arrays import EPS, Array, matrix
from .....contact.assemble import assemble, start_of_blocks
from .....contact.reactions import law_residual, reactions
from .....contact.resolve import resolve
from .....contact.snapshot import Activation, LocalDynamics, checked_mass, rows_of, snapshot
from .....errors import InputError
from .....linalg.factor import cholesky
from .....mechanics.rows import KINDS, Row
from .....mechanics.state import State
from .....mechanics.system import System
from .....programs.solution.solution import Solution
from .....programs.solution.status import Status
from ...scheme import ALLOWED, MAX_PASSES, PASSES, ROUGH, ROUNDING
from ..problem.dependent_joints import COUNT, LOOKED
from ..python_system import vast
from ..records import (
    ALL_ROWS,
    BEYOND,
    CAP,
    CHANGE,
    DEPENDENT,
    E_,
    FOREST,
    GOAL,
    HARD,
    MU,
    MU_R,
    MU_S,
    OVERLAP,
    PLANAR,
    PLUS,
    SOFT,
    SPATIAL,
    UNSETTLED,
    Span,
)
from ..records import PASSES as PASSES_TAKEN

if TYPE_CHECKING:
    from ..advance import CompiledSystem

GROWS = "the motion grows beyond all numbers; take a smaller step (MoreauJean(dt=1e-4)), or look at what drives it"
STIFF = 0.3  # of the mass: what makes passes diverge, or hardly contract
FORBIDDEN = "a motion that they do not allow, or too large a step"
APART = f"the joints depend on one another, and none of their configurations is near the midpoint: {FORBIDDEN}"


def asks(kernels: CompiledSystem, code: int) -> bool:
    """Return whether a step stopped at a contact problem: one that is hard, or has joints that depend on each other."""
    return code == HARD or (code == DEPENDENT and kernels.parts.data.bound.known[COUNT] == 0)


def answered(kernels: CompiledSystem, span: Span, control: Array | None) -> Solution:
    """Solve the contact problem at hand by all means; where that succeeds, put the answer where the kernels go on."""
    parts = kernels.parts
    dynamics = problem_at_hand(kernels, span, control)
    start, ids, data = parts.model.layout.start, kernels.ids, parts.data
    near = {id: data.p[start[k] : start[k + 1]].copy() for k, id in enumerate(ids) if data.acts[k]}
    found = resolve(dynamics, start=near, tol=span.tol)
    if found.x is None or not (found.solved or _rough(found)):
        return found
    impulses = reactions(dynamics, found)
    E = law_residual(dynamics, impulses)
    _put(kernels, span, impulses, found.x)
    _put_blocks(kernels, dynamics, impulses)
    data.log[E_], data.log[GOAL] = E, max(span.tol, E if found.solved else 0.0)
    return found


def known(kernels: CompiledSystem) -> bool:
    """Return whether the data of the contact problem at hand are numbers, and so are their products."""
    data = kernels.parts.data
    return all(_squared(x[:n]) for x, n in ((data.w, kernels.parts.model.layout.counts[ALL_ROWS]), (data.h, None)))


def _squared(x: Array) -> bool:
    """Return whether the square of a vector is a number."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(x @ x))


def usable(found: Solution) -> bool:
    """Return whether an answer will do to go on with: between passes rates need not agree to the last digits."""
    return found.x is not None and (found.solved or _rough(found))


def _rough(found: Solution) -> bool:
    usual = found.status in (Status.MAX_ITERATIONS, Status.UNDECIDED)
    return usual and found.residuals is not None and found.residuals.E <= ROUGH


def problem_at_hand(kernels: CompiledSystem, span: Span, control: Array | None) -> LocalDynamics:
    """Return the contact problem of the last pass: what acts, with w of u+ = J v+ + w folded into the rates."""
    layout, data = kernels.parts.model.layout, kernels.parts.data
    M, h, rows = data.M.copy(), data.M @ data.v + span.dt * data.h, []
    for k, id in enumerate(kernels.ids):
        if not data.acts[k]:
            continue
        part = slice(layout.start[k], layout.start[k + 1])
        J, w, law = data.seen.J[part].copy(), data.w[part], data.seen.law[k]
        if layout.kind[k] == SOFT:  # stands beside the mass
            soft = span.dt * span.theta * law[MU]
            M, h = M + soft * J.T @ J, h - soft * J.T @ w
            continue
        rows.append(_row(id, int(layout.kind[k]), J, w + J @ data.v, law))
    return LocalDynamics(
        system=kernels.system, level="velocity", dt=span.dt, ahead=0.0, t=span.t + (1.0 - span.theta) * span.dt,
        q=data.middle.copy(), v=data.v.copy(), M=M, factor=cholesky("mass(q)", M), h=h, rows=tuple(rows),
        activation=Activation(gap=span.gap, speed=span.speed), control=control,
    )  # fmt: skip


def problem_as_far_as_known(
    kernels: CompiledSystem, state: State, span: Span, control: Array | None
) -> LocalDynamics:  # fmt: skip
    """Return the contact problem of the last pass, or the start of the step where there has been none."""
    data = kernels.parts.data
    if data.log[PASSES_TAKEN] > 0.0 and known(kernels):
        return problem_at_hand(kernels, span, control)
    return snapshot(kernels.system, state, level="velocity", dt=span.dt, control=control)


def _row(id: str, kind: int, J: Array, rate: Array, law: Array) -> Row:
    """Return a row that has its law's numbers, and is closed."""
    name = KINDS[kind]
    if name == "dry":
        more = {"cap": float(law[CAP]), "cap_s": float(law[MU_S])}
    else:
        more = {"mu": float(law[MU]), "mu_s": float(law[MU_S]), "mu_r": float(law[MU_R]), "mu_t": float(law[CAP])}
    return Row(id=id, kind=name, J=J, rate=rate, drift=np.zeros(len(J)), **more)  # type: ignore[arg-type]


def _put(kernels: CompiledSystem, span: Span, impulses: dict[str, Array], x: Array) -> None:
    """Put impulses and v+ into the arrays; those of dampers follow from v+."""
    layout, data = kernels.parts.model.layout, kernels.parts.data
    data.p[:], data.V[PLUS] = 0.0, x
    for k, id in enumerate(kernels.ids):
        part = slice(layout.start[k], layout.start[k + 1])
        if data.acts[k] and layout.kind[k] == SOFT:
            soft = span.dt * span.theta * data.seen.law[k, MU]
            data.p[part] = -soft * (data.seen.J[part] @ x + data.w[part])
        elif id in impulses:
            data.p[part] = impulses[id]


def _put_blocks(kernels: CompiledSystem, dynamics: LocalDynamics, impulses: dict[str, Array]) -> None:
    """Put the problem without joints into the arrays, which say later which contacts stick and which slip."""
    blocks, problem = assemble(dynamics), kernels.problem
    n = len(blocks.q)
    W = blocks.W if isinstance(blocks.W, np.ndarray) else blocks.W.toarray()
    problem.W[: n * n], problem.q[:n] = W.ravel(), blocks.q
    problem.r[:n], problem.rho[: len(blocks.laws)] = start_of_blocks(dynamics, impulses), blocks.rho


def stiffness(kernels: CompiledSystem, span: Span, control: Array | None) -> Array | None:
    """Return what may stand beside the mass so that passes contract, see `Stiff`; None if forces are not stiff.

    Those of trees that stand beside the mass already, see `evaluate.resist`, are not: passes do not contract otherwise.
    Nor are those of bodies that kernels evaluate: what depends on v has rows there, and passes follow gyroscopic
    moments from the first one on.
    """
    system, data, layout = kernels.system, kernels.parts.data, kernels.parts.model.layout
    if layout.who in (SPATIAL, PLANAR):
        return None
    t, q, v = span.t + (1.0 - span.theta) * span.dt, data.middle, kernels.work.mean.copy()
    if not np.isfinite(v).all():
        v = data.v.copy()
    D = slope(system, t, q, v, control)
    S = -0.5 * span.theta * span.dt * (D + D.T)
    if not S.any():
        return None
    M = checked_mass(system.mass(q), system.nv)
    if not np.isfinite(S).all() or np.linalg.eigvalsh(M + S)[0] <= 0.0:
        return None
    trees = layout.who == FOREST
    beside = np.diag(np.diagonal(data.M) - np.diagonal(M)) if trees else np.zeros_like(M)
    return S if eigh(S - beside, M + beside, eigvals_only=True)[-1] > STIFF else None


def slope(system: System, t: float, q: Array, v: Array, control: Array | None) -> Array:
    """Return dh/dv, shape (nv, nv): the system's `force_gradient`, or by differences."""
    given, n = getattr(system, "force_gradient", None), system.nv
    if given is not None:
        return matrix("force_gradient(t, q, v)", given(t, q, v), n, n)
    force, D = np.asarray(system.force(t, q, v, control)), np.zeros((n, n))
    for k in range(n):
        moved, step = v.copy(), np.sqrt(EPS) * max(1.0, abs(v[k]))
        moved[k] += step
        D[:, k] = (np.asarray(system.force(t, q, moved, control)) - force) / step
    return D


def overlap(kernels: CompiledSystem) -> tuple[str, float]:
    """Return the constraint of those that act that is violated most at the end, and by how much, m; empty if none."""
    layout, data, worst = kernels.parts.model.layout, kernels.parts.data, ("", ALLOWED)
    limit = max(ALLOWED, ROUNDING * float(np.abs(data.q1).max(initial=0.0)))
    for k, id in enumerate(kernels.ids):
        if data.acts[k] and layout.level[k] == 0 and layout.kind[k] < KINDS.index("dry"):
            sided = KINDS[layout.kind[k]] in ("unilateral", "contact")
            off = max(-data.end.gap[k], 0.0) if sided else abs(data.end.gap[k])
            worst = (id, float(off)) if off > max(limit, worst[1]) else worst
    return worst


def unsolved(kernels: CompiledSystem, code: int, span: Span, control: Array | None, fast: str = "") -> Solution:
    """Return the solution of a step that the kernels could not end, in words; with the last v+ where there is one.

    fast: what `check_functions` says of it.
    """
    data, (id, off) = kernels.parts.data, overlap(kernels)
    beyond = _beyond_numbers(kernels, code, span) if code in (OVERLAP, UNSETTLED, HARD, BEYOND) else ""
    beyond = beyond or fast
    if beyond:
        return Solution(problem=None, status=Status.UNDECIDED, message=beyond)
    words = _what_is_off(data.log)
    if code == OVERLAP:
        words = f"{id} is violated by {off:.3g} m after {PASSES} passes of the position projection"
    if code in (OVERLAP, UNSETTLED, HARD):
        return Solution(problem=None, status=Status.MAX_ITERATIONS, x=data.v1.copy(), message=words)
    if code == DEPENDENT and data.log[PASSES_TAKEN] > 0.0:
        found = resolve(_as_they_are(kernels, span, control))
        if not found.solved:
            return found.but(x=None)
    words = APART if data.bound.known[LOOKED] else "a function of the system gives what is no finite number"
    return Solution(problem=None, status=Status.UNDECIDED, message=words)


def _what_is_off(log: Array) -> str:
    """Return in words what keeps a step from its end: its contact problem, or that v+ still moves."""
    if not log[GOAL] >= log[E_]:
        off = f"its contact problem is solved to E = {log[E_]:.1e} only, where E <= {log[GOAL]:.1e} is asked for"
    else:
        off = f"v+ still moved by {log[CHANGE]:.1e} (relative) after {MAX_PASSES} passes"
    return f"{off}; take a smaller step"


def _beyond_numbers(kernels: CompiledSystem, code: int, span: Span) -> str:
    """Return in words which velocity or coordinate of the end has no square that is a number, or what it came from.

    Empty if all have one.
    """
    data, readings = kernels.parts.data, getattr(kernels.system, "readings", None)
    before, after = np.concatenate([data.q, data.v]), np.concatenate([data.q1, data.v1])
    if _squared(after):
        settles = code == OVERLAP or np.isfinite(data.log[CHANGE])  # a first pass that ends so has no change yet
        if known(kernels) and settles:
            return ""
        return f"forces, rates or energies of this step, from t = {span.t:g} s on, overflow: {GROWS}"
    far = np.where(np.isfinite(after), np.abs(after), np.inf)
    k = int(np.lexsort((np.abs(before), far))[-1])  # of those that are no numbers the one that was largest
    at, letter = (k, "q") if k < len(data.q) else (k - len(data.q), "v")
    name, unit = (f"{letter}{at}", "") if readings is None else getattr(readings(), letter)[at]
    ends, was = f"{name} would be {after[k]:.3g} {unit}".rstrip(), f"{before[k]:.3g} at t = {span.t:g} s"
    return f"{ends} at the end of this step, t = {span.t_end:g} s, where it was {was}: {GROWS}"


def _as_they_are(kernels: CompiledSystem, span: Span, control: Array | None) -> LocalDynamics:
    """Return the last contact problem with rows that contradict one another as they are, not cleared of that."""
    problem, system, data = problem_at_hand(kernels, span, control), kernels.system, kernels.parts.data
    middle = {row.id: row for row in rows_of(system, problem.t, problem.q, problem.v)}
    end = {row.id: row for row in rows_of(system, span.t_end, data.q1, data.v1)}
    rates = {id: end[id].rate - row.J @ (data.v1 - data.v) for id, row in middle.items()}
    rows = tuple(row.but(J=middle[row.id].J, rate=rates[row.id]) if row.id in middle else row for row in problem.rows)
    return replace(problem, rows=rows)


def check_functions(kernels: CompiledSystem, state: State, span: Span, control: Array | None) -> str:
    """Ask the system itself about the step that failed, so that what it says wrongly is named.

    Return in words that the motion has become so fast that products of its speeds overflow; empty if it has not.

    Raises
    ------
    InputError
        What a function of the system returns is not finite or has a wrong shape, or the mass is not positive.
    """
    system, data, speeds = kernels.system, kernels.parts.data, [state.v]
    rest = (1.0 - span.theta) * span.dt
    try:
        middle = State(t=span.t + rest, q=system.move(state.q, state.v, rest), v=state.v)
        there = snapshot(system, middle, level="velocity", dt=span.dt, control=control)
        speeds.append(there.x_free)  # of a force that is finite
        if not np.isfinite(there.x_free).all():
            raise InputError(
                "force(t, q, v)",
                "a force that overflows",
                "a finite force",
                "Take a smaller step: MoreauJean(dt=1e-4).",
            )
        for v in (data.v1, there.x_free):
            if _squared(v):
                mean = (1.0 - span.theta) * state.v + span.theta * v
                rows_of(system, span.t_end, system.move(state.q, mean, span.dt), v)
        if not np.isfinite(data.w).all():
            raise InputError(
                "rows(t, q, v)", "rates that overflow", "finite rates", "Take a smaller step: MoreauJean(dt=1e-4)."
            )
    except InputError:
        if not any(map(vast, speeds)):
            raise
    words = f"forces, rates or energies of this step, from t = {span.t:g} s on, overflow: {GROWS}"
    return words if any(map(vast, [*speeds, data.v1])) else ""
