"""What is wrong with the recorded motion of a step: one number for each equation and law."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from ...arrays import EPS, Array
from ...contact.assemble import assemble, blocks, start_of_blocks
from ...contact.coupled import coupled
from ...contact.snapshot import LocalDynamics, rows_of, snapshot
from ...integrate.contact_modes import parts_of, rough
from ...integrate.event_driven.drift_correction import stilled
from ...integrate.recorded_arcs import Arc
from ...integrate.stepper import near_of
from ...linalg.factor import solve_spd
from ...mechanics.collision.tangent_frames import into_chart, turned_components
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...programs.solution.residuals import block_residuals
from .recorded_motion import RecordedArc, RecordedMotion, Sample
from .recorded_rests import rests
from .saved_rows import listing, one_sided
from .step_figures import EXACT, off_rates, relative

FOLLOWED = 1e-8  # relative: samples are of dense output, which is an order below the steps that are controlled
DENSE = 100.0  # of what steps may be off by, absolute: what samples inside may be, which are not controlled
STILL = 1e-8  # of the terms of a second rate: one that is zero
UNDIRECTED = 1e-11  # m/s, times the largest speed, at least one: slips that are known no better
ROUNDED = 1e-14  # of the largest speed, at least one: what rounding leaves of a slip
MOMENT = 1e-11  # s, times max(1, t)
CLOCK = 8.0 * EPS  # rounding of times, relative
HELD = 1e-8  # m, m/s, times the largest place or speed, at least one: what is held is off by less


def kinematics(motion: RecordedMotion, atol: float) -> float:
    """Return how far coordinates are from where velocities lead along the arcs, relative; inf where time is missing.

    `atol` is the absolute error (SI) that an arc may have: one of 1e-10 s is short enough to show it.
    """
    found = [0.0]
    for one in motion.arcs:
        arc, system = one.arc, one.samples[0].dynamics.system
        rates = np.array([system.qdot(q, v) for q, v in zip(arc.q, arc.v, strict=True)])
        found.append(_off(arc, arc.q, rates, np.eye(system.nq), (arc.h**2 * _free(one), atol)))
    (a, b), off = motion.seams()[0], max(abs(a.t - b.t) for a, b in motion.seams())
    found.append(relative(np.abs(a.q - b.q), np.abs(a.q)))
    return max(*found, 0.0 if off <= EXACT * max(1.0, abs(motion.state.t)) else np.inf)


def momentum(motion: RecordedMotion, atol: float) -> float:
    """Return the largest |M (v+ - v) - h sum b_i M a_i| of a coordinate, relative, beyond `atol` in v.

    Slips that are over within what times are known to have no direction, nor has their friction: velocities are known
    as well as such slips there.
    """
    found = [0.0]
    for one in motion.arcs:
        arc, M = one.arc, np.abs(one.samples[len(one.samples) // 2].dynamics.M)
        a = np.array([sample.a for sample in one.samples])
        forces = max(float((np.abs(sample.dynamics.h) + sample.pushes).max(initial=0.0)) for sample in one.samples)
        unknown = UNDIRECTED * max(1.0, float(np.abs(arc.v).max(initial=0.0))) if _fleeting(arc) else 0.0
        found.append(_off(arc, arc.v, a, M, (arc.h * forces, atol + unknown)))
    return max(*found, relative(np.abs(_off_start(motion)), np.abs(motion.start.v)))


def _off_start(motion: RecordedMotion) -> Array:
    """Return by how much the velocity that follows is another one than that of the start, shape (nv,).

    Less what brings to rest what is held from there on, and moves no faster than what counts as at rest.
    """
    off = motion.start.v - motion.seams()[0][1].v
    if not motion.arcs or not np.array_equal(motion.seams()[0][1].v, motion.arcs[0].arc.v[0]):
        return off
    d = motion.arcs[0].samples[0].dynamics
    J, _ = _held_rows(d, motion.arcs[0].arc.modes)
    moves = float(np.abs(J @ off).max(initial=0.0))
    return stilled(d.M, off, J, J @ off) if 0.0 < moves <= d.activation.speed else off


def _fleeting(arc: Arc) -> bool:
    """Return whether something slips for no longer than the times of events are known to."""
    return arc.h <= MOMENT * max(1.0, arc.t) and "slip" in arc.modes.values()


def _off(arc: Arc, x: Array, rates: Array, M: Array, scales: tuple[float, float]) -> float:
    """Return how far M x is from where its rates lead along an arc, less what rounding of times explains.

    It is relative to the terms; these are the first of `scales` at least, the size of the motion without reactions: at
    rest there is none, but rounding. The second is the absolute error that x may have.
    """
    (least, atol), most = scales, np.abs(rates).max(axis=0)
    moved, unsure = _moved_within(arc, rates)
    within = np.abs(x[1:-1] - x[0] - moved) - unsure - DENSE * atol
    off = np.vstack((within, np.abs(x[-1] - x[0] - arc.weights @ rates)))
    off = off.max(axis=0) - CLOCK * abs(arc.t_end) * most - atol
    size = M @ (np.abs(x[0]) + np.abs(x[-1]) + arc.h * most)
    return relative(M @ np.maximum(off, 0.0), np.maximum(size, least))


def _moved_within(arc: Arc, rates: Array) -> tuple[Array, Array]:
    """Return how far rates lead to the samples inside an arc, and what a polynomial of one degree less has other.

    The weights of a whole arc are of twice the order, but a sample inside hardly counts in them where it is short.
    """
    sure, less = _integrals(tuple(arc.nodes.tolist()))
    return arc.h * (sure @ rates), np.abs(arc.h * ((sure - less) @ rates))


@lru_cache(maxsize=16)
def _integrals(nodes: tuple[float, ...]) -> tuple[Array, Array]:
    """Return what takes values at nodes to the integrals from 0 to those inside, of two polynomials through them."""
    c, n = np.array(nodes), len(nodes)
    if n < 3:
        return np.zeros((max(n - 2, 0), n)), np.zeros((max(n - 2, 0), n))
    fits = [np.linalg.pinv(np.vander(c, k, increasing=True)) for k in (n, n - 1)]
    sure, less = (
        np.vander(c[1:-1], len(fit) + 1, increasing=True)[:, 1:] / np.arange(1, len(fit) + 1) @ fit for fit in fits
    )
    return sure, less


def _free(one: RecordedArc) -> float:
    """Return the largest acceleration without reactions."""
    return max(float(np.abs(sample.dynamics.x_free).max(initial=0.0)) for sample in one.samples)


def put_back(motion: RecordedMotion) -> float:
    """Return how far places and velocities are moved between arcs and jumps, SI, over the largest, at least one.

    What is held is put back there, up to the gaps that count as closed.
    """
    pairs = [pair for a, b in motion.seams() for pair in ((a.q, b.q), (a.v, b.v))]
    return max(float(np.abs(x - y).max()) / max(1.0, float(np.abs(x).max())) for x, y in pairs)


def impulses(motion: RecordedMotion) -> float:
    """Return how far the claimed impulses are from the sum of the recorded ones, over the largest, or the momentum.

    What falls from rest has its momentum at the end, and joints that bear nothing have impulses of rounding. Both are
    those of the bodies that a row has to do with: the weight of a light one is little beside a heavy one that flies by.
    """
    parts = [(one.arc.t, one.arc.impulses(), one.samples[0].dynamics) for one in motion.arcs]
    strikes = [(one.record.t, dict(one.impulses), None) for one in motion.impacts]
    total = _sum_of_impulses(sorted([*parts, *strikes], key=lambda part: part[0]))
    island, sizes = _islands(motion)
    for _, own, _ in [*parts, *strikes]:
        for key, p in own.items():
            here = island.get(key, -1)
            sizes[here] = max(sizes.get(here, 0.0), float(np.abs(p).max(initial=0.0)))
    worst, none = 0.0, np.zeros(1)
    for key in total.keys() | motion.impulses.keys():
        off = float(np.abs(total.get(key, none) - motion.impulses.get(key, none)).max())
        size = sizes.get(island.get(key, -1), 0.0) or max(sizes.values(), default=0.0)
        worst = max(worst, off / size if size > 0.0 else off)
    return worst


def _islands(motion: RecordedMotion) -> tuple[dict[str, int], dict[int, float]]:
    """Return what each row is coupled with along the arcs, by a number, and the largest momentum of these, N s."""
    found = [sample.dynamics for one in motion.arcs for sample in (one.samples[0], one.samples[-1])]
    if not found:
        return {}, {}
    rows = [row for d in found for row in d.rows]
    M = np.abs([d.M for d in found]).max(axis=0)
    label = coupled(rows, M)
    island = {row.id: int(label[int(row.J.any(axis=0).argmax())]) for row in rows if row.J.any()}
    sizes = dict.fromkeys(label.tolist(), 0.0)
    for d in (found[0], found[-1]):
        momentum = np.abs(d.M) @ np.abs(d.v)
        for j, here in enumerate(label.tolist()):
            sizes[here] = max(sizes[here], float(momentum[j]))
    return island, sizes


def _sum_of_impulses(parts: Iterable[tuple[float, dict[str, Array], LocalDynamics | None]]) -> dict[str, Array]:
    """Return the sums of impulses by row id, turned where the tangents of a contact come from another chart."""
    total: dict[str, Array] = {}
    charts: dict[str, int] = {}
    for _, own, here in parts:
        now = {} if here is None else getattr(here.system, "charts", {})
        for row in () if here is None else here.rows:
            if row.frame is not None and row.id in total and charts.get(row.id, 0) == -now.get(row.id, 0) != 0:
                total[row.id] = turned_components(total[row.id], into_chart(row.frame[0], now[row.id]))
        charts |= now
        for key, p in own.items():
            total[key] = total[key] + p if key in total else p
    return total


def laws(motion: RecordedMotion) -> float:
    """Return the largest residual E of the recorded reactions inside the arcs, where modes do not change.

    An arc as short as rounding of its times has no inside: what jumps at its end jumps there.
    Slips in an arc no longer than events are known to are as good as zero. Those in space, and rollings, no faster than
    velocities are known to have no direction of their own: theirs is that of their friction. Of friction there is as
    much as slip has, contact by contact, also where several share a load and only their sum moves anything. What
    is held allows the accelerations of every sample, those at the ends too.
    """
    arcs = [one for one in motion.arcs if one.arc.h > CLOCK * abs(one.arc.t_end) and not _fleeting(one.arc)]
    worst = max((_law(one, i) for one in arcs for i in range(1, len(one.samples) - 1)), default=0.0)
    return max(worst, *(_off_held(one) for one in arcs), 0.0)


def _off_held(one: RecordedArc) -> float:
    """Return the largest second rate of what is held over the largest of its terms along an arc.

    The terms are what forces and reactions give one by one: where a contact lets go they give nothing together, and
    where nothing pushes they are but rounding. What moves nothing all along the arc by more than rounding is none.
    """
    off, sizes = np.zeros(1), np.zeros(1)
    rounding = CLOCK * max(1.0, float(np.abs(one.arc.v).max(initial=0.0))) / one.arc.h if one.arc.h else np.inf
    for sample in one.samples:
        J, drift = _held_rows(sample.dynamics, one.arc.modes)
        found = np.abs(J @ sample.a + drift) - rounding * np.abs(J).sum(axis=1)
        off, sizes = np.append(off, found), np.append(sizes, _terms(sample, J, drift))
    return relative(off, sizes)


def _held_rows(d: LocalDynamics, modes: Mapping[str, str]) -> tuple[Array, Array]:
    """Return J and drift of what is held: that of joints and of contacts in modes, shapes (m, nv), (m,)."""
    held = [(row.J, row.drift) for row in d.rows if row.kind == "bilateral"]
    for row in d.rows:
        if row.kind != "bilateral" and row.id in modes:
            part = _held(row, modes[row.id])
            held.append((row.J[part], row.drift[part]))
    if not held:
        return np.zeros((0, len(d.v))), np.zeros(0)
    return np.concatenate([J for J, _ in held]), np.concatenate([drift for _, drift in held])


def _terms(sample: Sample, J: Array, drift: Array) -> Array:
    """Return the sizes of what second rates J a + drift are sums of, shape (m,)."""
    d = sample.dynamics
    pushed = np.abs(solve_spd(d.factor, J.T).T) @ (np.abs(d.h) + sample.pushes)
    return np.asarray(pushed + np.abs(J) @ (np.abs(d.x_free) + np.abs(sample.a)) + np.abs(drift))


def _slides(row: Row, mode: str | None, r: Array) -> list[tuple[slice, float]]:
    """Return the components of a row that slip or roll, with the friction that they have, N (N m).

    What a row resists of rolling or spin says whether it does: less than the most there is holds. A contact without
    friction that has some here slips.
    """
    normal, slips = abs(float(r[0])), mode == "slip" or (mode == "active" and rough(row))
    found = [(parts_of(row)[0], row.cap if row.kind == "dry" else row.mu * normal)] if slips else []
    rolls = [(where, mu * normal) for where, mu in row.moments]
    return found + [(where, cap) for where, cap in rolls if np.linalg.norm(r[where]) >= (1.0 - STILL) * cap]


def _way_of_friction(u: Array, r: Array, cap: float, reach: float) -> Array | None:
    """Return the slip (1 m/s) that friction r tells of, where that, u, is too slow to have a direction of its own.

    None where it has one. Zero where its friction is less than that of a slip: it sticks.
    """
    if not still(u, reach):
        return None
    size = float(np.linalg.norm(r))
    found: Array = -r / size if size > 0.0 and size >= (1.0 - STILL) * cap else np.zeros(len(u))
    return found


def still(u: Array, reach: float) -> bool:
    """Whether a slip is too slow to have a direction, as where other constraints hold all that friction could."""
    return float(np.linalg.norm(u)) <= UNDIRECTED * reach


def _off_slip(u: Array, r: Array, cap: float, reach: float) -> float:
    """Return how far friction r is from what it has where it slips, N: in size, and, if it moves, in way."""
    speed, off = float(np.linalg.norm(u)), abs(float(np.linalg.norm(r)) - cap)
    if speed <= UNDIRECTED * reach:
        return off
    return max(off, float(np.linalg.norm(r + cap * u / speed)) - cap * ROUNDED * reach / speed)


def _law(one: RecordedArc, i: int) -> float:
    """Return the residual E of the reactions at a sample among those that its accelerations allow."""
    sample, modes = one.samples[i], one.arc.modes
    d = sample.dynamics
    reach = max(1.0, float(np.abs(d.v).max(initial=0.0)))
    rows, slips, off = [], [np.inf], 0.0
    for row in d.rows:
        mode = modes.get(row.id)
        if mode is None and one_sided(row):
            rows.append(row.but(gap=max(row.gap, 2.0 * d.activation.gap)))
            continue
        if _lets_go(row, mode, reach):
            return np.inf
        seen, faster, off_slip = _as_law_sees(row, mode, sample, reach)
        rows.append(seen)
        slips, off = slips + faster, max(off, off_slip)
    speed = min(d.activation.speed, 0.5 * min(slips)) or d.activation.speed
    dynamics = replace(d, rows=tuple(rows), activation=replace(d.activation, speed=speed))
    return max(_residual(dynamics, sample), relative(np.array([off]), np.array([_largest(sample.r)])))


def _lets_go(row: Row, mode: str | None, reach: float) -> bool:
    """Return whether what a mode holds of a row moves, or its gap is open."""
    moves = np.abs(row.rate[_held(row, mode)]).max(initial=0.0) > HELD * reach
    return bool(moves or (one_sided(row) and abs(row.gap) > HELD * reach))


def _as_law_sees(row: Row, mode: str | None, sample: Sample, reach: float) -> tuple[Row, list[float], float]:
    """Return a row with the rate that its law sees, the speeds of its slips, and how far their friction is off, N."""
    rate = row.rate.copy()
    rate[_held(row, mode)] = 0.0
    r = sample.r.get(row.id, np.zeros(0))
    r = r if len(r) == row.size else np.zeros(row.size)
    for where, _ in row.moments:
        if np.linalg.norm(rate[where]) <= sample.dynamics.activation.speed:
            rate[where] = 0.0
    speeds, off = [], 0.0
    for part, cap in _slides(row, mode, r):
        u, friction = row.rate[part], r[part]
        way = _way_of_friction(u, friction, cap, reach)
        rate[part] = u if way is None else way
        if way is None or way.any():
            pulls = one_sided(row) and r[0] < 0.0  # nothing more is said of it: its residual is that it pulls
            off = max(off, 0.0 if pulls else _off_slip(u, friction, cap, reach))
            speeds.append(float(np.linalg.norm(rate[part])))
    return row.but(rate=rate, gap=0.0) if row.level == "position" else row.but(rate=rate), speeds, off


def _largest(forces: Mapping[str, Array]) -> float:
    """Return the largest component of any reaction, N (N m)."""
    return max((float(np.abs(r).max(initial=0.0)) for r in forces.values()), default=0.0)


def _held(row: Row, mode: str | None) -> slice | list[int]:
    """Return the components of a row that a mode keeps at rest."""
    if row.level == "acceleration":
        return []
    if row.kind == "bilateral":
        return slice(0, row.size)
    first = [] if row.kind == "dry" else [0]
    slip = parts_of(row)[0]
    return first + (list(range(slip.start, slip.stop)) if mode == "stick" else [])


def _residual(d: LocalDynamics, sample: Sample) -> float:
    """Return E over the terms of the free accelerations, which may cancel; inf where others push than act."""
    acting = {row.id for row in d.rows}
    least = EXACT * _largest(sample.r)
    if any(key not in acting and float(np.abs(r).max(initial=0.0)) > least for key, r in sample.r.items()):
        return np.inf
    problem = assemble(d)
    r = start_of_blocks(d, sample.r)
    if not len(r):
        return 0.0
    parts = [part for part in blocks(d) if part.law is not None]
    rho = np.repeat(problem.rho, [len(part.take) for part in parts])
    speeds = np.abs(d.x_free) + np.abs(sample.a)
    terms = np.concatenate([np.abs(part.J) @ speeds + np.abs(part.w) for part in parts])
    q, size = float(np.linalg.norm(rho * problem.q)), float(np.linalg.norm(rho * terms))
    E = block_residuals(problem, r).E
    return E * q / size if q < size else E


def joint_rate(motion: RecordedMotion) -> float:
    """Return the largest rate of an equality at the samples, relative to the largest speed."""
    worst = 0.0
    for one in motion.arcs:
        for sample in one.samples:
            d, found = sample.dynamics, []
            # A joint at rest beside bodies that gravity would move has rounding of the size of their free motion.
            reach = np.full(len(d.v), float(np.abs(one.arc.v).max(initial=0.0)) + motion.dt * _free(one))
            for row in d.rows:
                if row.bilateral and row.level != "acceleration":
                    n = 1 if row.kind == "bilateral_contact" else row.size
                    size = np.abs(row.J[:n]) @ reach + np.abs(row.rate - row.J @ d.v)[:n]
                    found.append((np.abs(row.rate[:n]), size))
            worst = max(worst, off_rates(found))
    return worst


def depth(motion: RecordedMotion) -> float:
    """Return how deep gaps are within the arcs, m."""
    worst = 0.0
    for one in motion.arcs:
        for sample in one.samples[1:-1]:
            d = sample.dynamics
            state = State(t=d.t, q=d.q, v=d.v)
            here = near_of(motion.whole, state, 0.0)
            rows = d.rows if here is motion.whole else rows_of(here, d.t, d.q, d.v)
            worst = max(worst, *(-row.gap for row in rows if one_sided(row)), 0.0)
    return worst


def work(motion: RecordedMotion, atol: float) -> tuple[Array, float]:
    """Return the work of all reactions and of forces without potential, J, shape (2,), and the size of its terms.

    What is at rest but for velocities that are off by `atol` (SI) does no work, though forces are large.
    """
    done, size = np.zeros(2), 0.0
    for one in motion.arcs:
        for weight, sample in zip(one.arc.weights.tolist(), one.samples, strict=True):
            d = sample.dynamics
            done += weight * np.array([d.v @ sample.push, d.system.power(d.t, d.q, d.v, d.control)])
            size += (abs(weight) + CLOCK / FOLLOWED * abs(d.t)) * float(np.abs(d.v) @ np.abs(sample.push))
            size += abs(weight) * atol / FOLLOWED * float((np.abs(d.h) + sample.pushes).sum())
    for strike in (one.record for one in motion.impacts):
        M = np.asarray(motion.whole.mass(strike.q))
        before, after = (0.5 * float(v @ M @ v) for v in (strike.before, strike.after))
        done[0] += after - before
        size += before + after
    return done, size


def modes(motion: RecordedMotion, said: dict[str, str], following: RecordedArc | None) -> float:
    """Return how many rows are said to be in a mode that their velocities and reactions at the end do not have."""
    state, forces = motion.state, motion.forces
    places = [*_places(motion.arcs[-1:]), *(_places((following,)) if following else ())]
    local = listing(motion.whole, state, forces, places)
    rows = {row.id: row for row in rows_of(local, state.t, state.q, state.v)}
    if not forces.keys() <= rows.keys():  # a feature that begins just here
        return 0.0 if following is None else np.inf
    d = snapshot(local, state, activation=motion.activation, control=motion.control)
    push = sum((rows[key].J.T @ r for key, r in forces.items()), np.zeros(len(d.v)))
    a = solve_spd(d.factor, d.h + push)
    speeds = np.abs(a) + np.abs(d.x_free)
    size = max((float((np.abs(row.J) @ speeds + np.abs(row.drift)).max()) for row in d.rows), default=0.0)
    found, least = 0, EXACT * _largest(forces)
    for key, mode in said.items():
        row, r = rows.get(key), forces.get(key, np.zeros(0))
        if float(np.abs(r).max(initial=0.0)) <= least:
            r = np.zeros(0)
        found += mode not in _possible(
            row, r, d, np.zeros(0) if row is None else (row.J @ a + row.drift) / (size or 1.0)
        )
    return float(found)


def _places(arcs: Iterable[RecordedArc]) -> list[tuple[State, float]]:
    """Return the states at the samples of arcs, as places in which contacts are looked for."""
    return [
        (State(t=t, q=q, v=v), 0.0)
        for one in arcs for t, q, v in zip(one.arc.times.tolist(), one.arc.q, one.arc.v, strict=True)
    ]  # fmt: skip


def _possible(row: Row | None, r: Array, d: LocalDynamics, second: Array) -> set[str]:
    """Return the modes that a row may be in with a reaction r (empty: none) and a second rate over the largest."""
    words = set() if len(r) else {"open", "inactive"}
    if row is None or (one_sided(row) and row.gap > d.activation.gap):
        return words
    if not rough(row):
        reach = max(1.0, float(np.abs(d.v).max(initial=0.0)))
        return words | ({"active"} if abs(row.rate[0]) <= HELD * reach else set())
    if row.kind != "dry" and abs(row.rate[0]) > d.activation.speed:
        return words
    return words | _stick_or_slip(row, r, d.activation.speed, second)


def _stick_or_slip(row: Row, r: Array, speed: float, second: Array) -> set[str]:
    """Return whether what touches sticks, slips or is at the point between both; see `_possible`."""
    slip = parts_of(row)[0]
    if (np.abs(row.rate[slip]) > speed).any() or (np.abs(second[slip]) > STILL).any():
        return {"slip"}
    if not len(r):
        return {"stick", "slip"}
    cap = row.cap if row.kind == "dry" else row.mu * abs(float(r[0]))
    at_limit = float(np.linalg.norm(r[slip])) >= (1.0 - STILL) * cap
    return {"stick", "slip"} if at_limit else {"stick"}


def impacts(motion: RecordedMotion) -> float:
    """Return what is wrong with the jumps of the velocity, at most."""
    return max(rests(motion), *(one.residual for one in motion.impacts), 0.0)
