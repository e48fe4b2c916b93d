"""One step of the theta scheme in plain numpy, to be read: what the kernels do for any system, in formulas.

    q_m = move(q, v, (1 - theta) dt)                   rows, mass M and force h there
    M (v+ - v) = dt h(q_m, v_theta) + J^T p            v_theta = (1 - theta) v + theta v+
    q+ = projection of move(q, v_theta, dt)            joints hold, no gap of what acts is negative
    the laws hold for (u+, p), u+ = rate at (q+, v+)   or, where passes do not settle, for the rate at the middle

The end of the step is not known beforehand: u+ is written J x + w with w from a guess of v+, the contact problem is
solved, and the guess is refined until nothing changes. Joints are eliminated by a pseudoinverse, so that rows which
depend on one another everywhere are no matter. Nothing here is shared with the kernels but `gaussdyn.solve` and the
systems' own functions.

Left out, because it changes a step by rounding only: that what friction holds is brought to rest exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from gaussdyn import State, solve
from gaussdyn.contact.snapshot import Activation
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.system import System
from gaussdyn.programs.laws.laws import BilateralCoulomb, Coulomb, Dry, Law, Rolling, Torsional, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem

Array = np.ndarray
PASSES, TOL = 80, 1e-13
CLOSE, TOGETHER, SLOW = 1e-11, 1e-6, 1e-9  # m; of a step; of the speeds at hand
ACTIVE = Activation()


class NotSettledError(Exception):
    """Passes did not settle, or the contact problem of a pass was not solved."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a step led to: its end, impulses by id, work of reactions and forces, kinetic energy on the way, rows."""

    state: State
    reactions: dict[str, Array]
    work: tuple[float, float]
    energy: float
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What one step does not change: the middle, and which rows act with which restitution terms."""

    system: System
    start: State
    dt: float
    theta: float
    control: Array | None
    at_middle: bool
    kept: float
    t: float
    q: Array
    M: Array
    L: Array
    begin: dict[str, Row]
    rows: dict[str, Row]
    bounce: dict[str, Array] = field(default_factory=dict)

    def force(self, v: Array) -> Array:
        """Return h at the middle."""
        return np.asarray(self.system.force(self.t, self.q, v, self.control))

    def coriolis(self, v: Array) -> Array:
        """Return what of h is even in v, without what is there at rest; only trees take it apart from the rest."""
        if not hasattr(self.system, "coriolis"):
            return np.zeros_like(v)
        return 0.5 * (self.force(v) + self.force(-v)) - self.force(0.0 * v)

    def along(self, v_plus: Array) -> Array:
        """Return h of the step: at v_theta, with the Coriolis forces of half of the change."""
        mean = self.mean(v_plus)
        return self.force(mean) + self.coriolis(mean - self.start.v)

    def mean(self, v_plus: Array) -> Array:
        """Return v_theta."""
        return (1.0 - self.theta) * self.start.v + self.theta * v_plus

    @property
    def speed(self) -> Array:
        """The largest speeds at hand."""
        v = self.start.v
        return np.abs(v) + np.abs(v + self.dt * np.linalg.solve(self.M, self.force(v)))

    def velocity(self, push: Array, v_plus: Array) -> Array:
        """Return x with M (x - v) = dt h(v_theta) + push, by iteration from a guess."""
        for _ in range(100):
            x = self.start.v + np.linalg.solve(self.M, self.dt * self.along(v_plus) + push)
            change, v_plus = np.abs(x - v_plus).max(initial=0.0), x
            if change <= 1e-15 * np.abs(x).max(initial=0.0):
                break
        return v_plus


def reference_step(
    system: System, start: State, dt: float, *, theta: float = 0.5, control: Array | None = None,
    at_middle: bool = False, kept: float = 1.0, joins: Collection[str] = (),
) -> Taken:  # fmt: skip
    """Take a step of any system.

    Parameters
    ----------
    system, start : System, State
    dt, theta : float
    control : Array, optional
    at_middle : bool
        Whether the laws hold at the middle.
    kept : float
        The fraction of all restitution.
    joins : collection of str
        Contacts that act besides: those that closed when the laws were still tried at the end.

    Raises
    ------
    NotSettledError
    """
    step = _begun(system.near(start.t, start.q, start.v, dt), start, dt, theta, control, at_middle, kept)
    late = [key for key in joins if key not in step.bounce]
    step = replace(step, bounce={**step.bounce, **{key: _restitution(step.begin[key]) for key in late}})
    last = {key: p for key, p in start.memory.items() if key in step.bounce and len(p) == step.rows[key].size}
    first = step.bounce.keys()
    v_plus, p, end = _settled(step, last)
    while late := _late(step, end[1]):
        step = replace(step, bounce={**step.bounce, **{key: _restitution(step.begin[key]) for key in late}})
        v_plus, p, end = _settled(step, p, v_plus)
    idle = {key for key in step.bounce if key not in first and not p[key].any()}
    if idle:
        fewer = replace(step, bounce={key: term for key, term in step.bounce.items() if key not in idle})
        found = _settled(fewer, {key: p[key] for key in fewer.bounce}, v_plus)
        step, (v_plus, p, end) = (step, (v_plus, p, end)) if _late(fewer, found[2][1]) else (fewer, found)
    v_mid = 0.5 * (start.v + v_plus)
    bends = np.linalg.solve(step.M, step.coriolis(v_plus) - step.coriolis(start.v))
    at_once = v_mid - 0.25 * dt * bends  # the mean of the velocities just before and after the impulses
    work = at_once @ (step.M @ (v_plus - start.v) - dt * step.along(v_plus))
    power = step.system.power(step.t, step.q, v_mid, control)
    memory = {key: one for key, one in p.items() if one.any() and not step.bounce[key].any()}
    state = State(t=start.t + dt, q=end[0], v=v_plus, memory=memory)
    return Taken(
        state, p, (float(work), float(dt * power)), float(0.5 * v_mid @ step.M @ v_mid), tuple(end[1].values())
    )


def _begun(
    system: System, start: State, dt: float, theta: float, control: Array | None, at_middle: bool, kept: float
) -> Step:
    """Return the middle of the step, and what acts."""
    rest = (1.0 - theta) * dt
    q = system.move(start.q, start.v, rest)
    M = np.asarray(system.mass(q), float)
    begin, rows = (
        {row.id: row for row in system.rows(t, place, start.v)}
        for t, place in ((start.t, start.q), (start.t + rest, q))
    )
    L = np.linalg.cholesky(M)
    step = Step(system, start, dt, theta, control, at_middle, kept, start.t + rest, q, M, L, begin, rows)
    acts = [row for row in rows.values() if not _sided(row) or _closed(step, row)]
    bounces = {row.id: row.level == "position" and (row.eps_n or row.eps_t) for row in acts}
    terms = {row.id: _restitution(begin[row.id]) if bounces[row.id] else np.zeros(row.size) for row in acts}
    return replace(step, bounce=terms)


def _sided(row: Row) -> bool:
    """Return whether a row is a gap that may open and close."""
    return row.level == "position" and row.kind in ("unilateral", "contact")


def _closed(step: Step, row: Row) -> bool:
    """Return whether a gap is closed at the start and does not leave, or pushed in the last step and is near."""
    before = row.gap - (1.0 - step.theta) * step.dt * row.rate[0]
    last = step.start.memory.get(row.id, np.zeros(1))
    reach = step.dt * np.abs(row.J[0]) @ step.speed
    if max(before, row.gap) <= ACTIVE.gap or (last[0] > 0.0 and before <= ACTIVE.gap + reach):
        return True
    if min(before, row.gap) > ACTIVE.gap:
        return False
    first = step.begin[row.id]
    return first.gap <= ACTIVE.gap and (row.gap <= ACTIVE.gap or abs(first.rate[0]) <= ACTIVE.speed)


def _restitution(row: Row) -> Array:
    """Return eps times the rate with which a contact approaches at the start."""
    term = np.zeros(row.size)
    if row.kind in ("contact", "unilateral") and row.rate[0] < -ACTIVE.speed:
        term[0] = row.eps_n * row.rate[0]
        term[1:3] = row.eps_t * row.rate[1:3]
    return term


def _late(step: Step, end: Mapping[str, Row]) -> list[str]:
    """Return the gaps that do not act and end below zero: of each body those that close first."""
    rest, below, found = (1.0 - step.theta) * step.dt, [], []
    for row in end.values():
        if row.gap < -CLOSE and row.id not in step.bounce and _sided(row):
            before = max(step.rows[row.id].gap - rest * step.rows[row.id].rate[0], 0.0)
            below.append((before / (before - row.gap), row))
    for s, row in sorted(below, key=lambda pair: pair[0]):
        if not any(s > t + TOGETHER and (one.J[0] != 0.0) @ (row.J[0] != 0.0) for t, one in found):
            found.append((s, row))
    return [row.id for _, row in found]


def _settled(
    step: Step, p: Mapping[str, Array], v_plus: Array | None = None
) -> tuple[Array, dict[str, Array], tuple[Array, dict[str, Row]]]:
    """Return v+, the impulses and the end of the step with the rows that act, pass by pass until nothing changes."""
    stopped = {key for key, one in p.items() if one[0] > 0.0 and _sided(step.rows[key])}
    if v_plus is None:
        push = sum((step.rows[key].J.T @ one for key, one in p.items()), np.zeros(len(step.M)))
        free, v_plus = step.velocity(0.0 * push, step.start.v), step.velocity(push, step.start.v)
        size = step.speed @ np.abs(step.M) @ step.speed
        if not v_plus @ step.M @ v_plus <= 4.0 * size:  # after an impact, whose impulse will not act again
            v_plus = free
    best = np.inf
    for k in range(PASSES):
        end = _end(step, v_plus, stopped)
        seen = _seen(step, v_plus, end[1])
        x, p = _solved(step, seen, v_plus, p)
        push = step.M @ (x - step.start.v) - step.dt * step.along(v_plus)
        refined = step.velocity(push, x)
        allowed = SLOW * (step.speed + np.abs(v_plus))
        stopped = {
            key for key, (J, w, _) in seen.items()
            if _sided(step.rows[key]) and J[0] @ x + w[0] <= np.abs(J[0]) @ allowed
        }  # fmt: skip
        change = np.abs(refined - v_plus).max(initial=0.0) / max(step.speed.max(initial=0.0), 1e-300)
        v_plus = refined
        if change <= 1e-14 or (k > 3 and change <= 1e-12 and change >= 0.5 * best):
            return v_plus, p, _end(step, v_plus, stopped)
        best = min(best, change)
    raise NotSettledError(f"v+ still moves by {change:.1e}")


def _seen(step: Step, v_plus: Array, end: Mapping[str, Row]) -> dict[str, tuple[Array, Array, Row]]:
    """Return J, w of u+ = J x + w and the row for all that acts."""
    v, rows, found = step.start.v, step.rows, {}
    if any(row.level != "position" for row in rows.values()):  # their J depends on v
        rows = {row.id: row for row in step.system.rows(step.t, step.q, step.mean(v_plus))}
    for key, term in step.bounce.items():
        row = rows[key]
        if row.level == "acceleration":
            found[key] = row.J, step.dt * row.drift - row.J @ v, row
            continue
        w = end[key].rate - row.J @ v_plus
        if step.at_middle:  # a joint does no work: the mean of its rates with v and with v+ vanishes
            w = (2.0 if row.kind == "bilateral" and row.level == "position" else 1.0) * row.rate - row.J @ v
        found[key] = row.J, w + step.kept * term, row
    return found


def _law(row: Row, dt: float) -> tuple[Law | None, int]:
    """Return the law of a row (None: it is held) and how many of its rows count."""
    if row.kind == "dry":
        return Dry(dt * row.cap, dt * row.cap_s, row.size), row.size
    if row.kind == "bilateral":
        return None, row.size
    held = row.kind == "bilateral_contact"
    if row.size == 1 or max(row.mu_s, row.mu_r, row.mu_t) <= 0.0:
        return None if held else Unilateral(), 1
    if row.size in (4, 6) and max(row.mu_r, row.mu_t) > 0.0:
        return Torsional(row.mu, row.mu_t, row.mu_r if row.size == 6 else None), row.size
    if row.mu_r > 0.0:
        return Rolling(row.mu, row.mu_r), 5
    dim = min(row.size, 3)
    return (BilateralCoulomb if held else Coulomb)(row.mu, row.mu_s, dim), dim


def _solved(
    step: Step, seen: Mapping[str, tuple[Array, Array, Row]], v_plus: Array, p: Mapping[str, Array]
) -> tuple[Array, dict[str, Array]]:
    """Return v+ and the impulses that solve the contact problem of a pass, begun near the impulses p.

    With y = L^T x: joints hold for y = y0 + N (..), N onto what their rows leave free; u = W r + q for the others.
    """
    laws = {key: _law(row, step.dt) for key, (_, _, row) in seen.items()}
    held = [key for key in seen if laws[key][0] is None]
    blocks = [key for key in seen if laws[key][0] is not None]

    def table(keys: list[str]) -> tuple[Array, Array]:
        """Return J L^-T and w of rows."""
        J = np.vstack([np.zeros((0, len(step.M))), *(seen[key][0][: laws[key][1]] for key in keys)])
        w = np.concatenate([np.zeros(0), *(seen[key][1][: laws[key][1]] for key in keys)])
        return solve_triangular(step.L, J.T, lower=True).T, w

    (G, g), (X, w) = table(held), table(blocks)
    length = np.linalg.norm(G, axis=1)
    length[length == 0.0] = 1.0
    G, g = G / length[:, None], g / length
    back = np.linalg.pinv(G, rcond=1e-10)
    y0 = solve_triangular(step.L, step.M @ step.start.v + step.dt * step.along(v_plus), lower=True)
    y = y0 - back @ (G @ y0 + g)
    free = X - (X @ back) @ G
    r = np.zeros(len(w))
    if blocks:
        problem = ComplementarityProblem(W=X @ free.T, q=X @ y + w, laws=[laws[key][0] for key in blocks])
        near = np.concatenate([np.resize(p.get(key, np.zeros(6)), 6)[: laws[key][1]] for key in blocks])
        answer = solve(problem, start=near, tol=TOL)
        if not answer.solved and not (answer.residuals is not None and answer.residuals.E <= 1e-9):
            raise NotSettledError(str(answer.status))
        r = answer.r
    y = y + free.T @ r
    lam = back.T @ (y - y0 - X.T @ r) / length
    found = {key: np.zeros(seen[key][2].size) for key in seen}
    for keys, values in ((held, lam), (blocks, r)):
        at = 0
        for key in keys:
            found[key][: laws[key][1]] = values[at : at + laws[key][1]]
            at += laws[key][1]
    return solve_triangular(step.L, y, lower=True, trans="T"), found


def _end(step: Step, v_plus: Array, stopped: set[str]) -> tuple[Array, dict[str, Row]]:
    """Return where the step ends, with all rows there: least shifts in the metric of M until nothing is violated."""
    t = step.start.t + step.dt
    q = step.system.move(step.start.q, step.mean(v_plus), step.dt)
    held = {key: _ends_at(step, step.rows[key]) for key in stopped}
    for _ in range(20):
        rows = {row.id: row for row in step.system.rows(t, q, v_plus)}
        told = [row for row in rows.values() if row.id in step.bounce and row.level == "position" and row.kind != "dry"]
        if max((_violation(row, held) for row in told), default=0.0) <= max(CLOSE, 7e-15 * np.abs(q).max()):
            break
        q = step.system.move(q, _least_shift(step, told, held), 1.0)
    return q, rows


def _ends_at(step: Step, row: Row) -> float:
    """Return the gap with which a contact that does not leave ends: that of a rebound from within the step."""
    before = max(row.gap - (1.0 - step.theta) * step.dt * row.rate[0], 0.0)
    return (step.kept * row.eps_n) ** 2 * before if step.bounce[row.id].any() else 0.0


def _violation(row: Row, held: Mapping[str, float]) -> float:
    """Return how far a joint, a gap, or one that is held, is off."""
    if not _sided(row):
        return abs(row.gap)
    return abs(row.gap - held[row.id]) if row.id in held else max(-row.gap, 0.0)


def _least_shift(step: Step, rows: list[Row], held: Mapping[str, float]) -> Array:
    """Return the least d^T M d with J d = -gap for joints and what is held, J d >= -gap for others.

    Equalities by least squares, inequalities in what they leave free by a problem of least distance.

    Source: Lawson, Hanson (1974), Solving least squares problems, 23.
    """
    J = solve_triangular(step.L, np.array([row.J[0] for row in rows]).T, lower=True).T
    short = np.array([row.gap - held.get(row.id, 0.0) for row in rows])
    fixed = np.array([not _sided(row) or row.id in held for row in rows])
    back = np.linalg.pinv(J[fixed], rcond=1e-10)
    y = -back @ short[fixed]
    G, h = J[~fixed] - (J[~fixed] @ back) @ J[fixed], -short[~fixed] - J[~fixed] @ y
    if (h > 0.0).any():
        size = h.max()
        E = np.vstack([G.T, h / size])
        u, _ = nnls(E, np.eye(len(E))[-1])
        rest = E @ u - np.eye(len(E))[-1]
        y = y - size * rest[:-1] / rest[-1]
    return solve_triangular(step.L, y, lower=True, trans="T")


def reference_of(system: System, step: Any) -> Taken:
    """Return the step that another one should be, from its start, with its laws."""
    told = {"control": step.control, "at_middle": bool(step.unsettled), "kept": step.restitution}
    told["joins"] = step.reactions.keys() if step.unsettled else ()
    return reference_step(system, step.start, step.dt, **told)


def apart(step: Any, other: Taken) -> float:
    """Return by how much a step of the kernels is off, relative: velocity, place, work, and which rows act."""
    assert step.reactions.keys() == other.reactions.keys()
    v = max(np.abs(other.state.v).max(), np.abs(step.start.v).max(), 1e-3)
    q = max(np.abs(other.state.q).max(), 1e-3)
    done = step.work.reactions, step.work.forces
    scale = sum(map(abs, other.work)) + other.energy + 1e-3
    work = sum(abs(one - two) for one, two in zip(done, other.work, strict=True)) / scale
    return max(np.abs(step.state.v - other.state.v).max() / v, np.abs(step.state.q - other.state.q).max() / q, work)
