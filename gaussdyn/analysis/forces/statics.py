"""Holding a pose or a motion under Coulomb friction: the largest load, and the least actuator forces, with proofs.

Everything here asks whether reactions *exist* that hold. Beyond a limit load nothing holds, whatever happened before.
Up to it the pose can be held; friction is not associated, so that whether it is depends on the history, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..._show import brief
from ...arrays import Array, matrix, vector
from ...contact.active_set import OmegaStatus, active_set
from ...contact.snapshot import LocalDynamics, snapshot
from ...errors import InputError
from ...mechanics.scene import Scene
from ...mechanics.state import State
from ...mechanics.system import System
from ...mends import one_of
from ...programs.conic.cone_slice import FREE, RAY, TOL, Cone, ConeSlice, Support, Verdict
from ...programs.conic.support import support
from .allowed import Allowed, Alternative, allowed
from .limit_mechanisms import free_mechanisms

MOVES = 1e-7  # of a mechanism, relative to its fastest contact
Norm = Literal["euclid", "sum", "max"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LimitLoad:
    """The factors of a load that can be held.

    Attributes
    ----------
    low, high : float
        -inf and inf where nothing gives way; NaN where no factor is held.
    reactions : pair of Array, shape (R,)
        At both ends, in the order of `names`.
    mechanisms : pair of Array, shape (nv,)
        Velocities with which it gives way beyond each end, with unit power of the load (of its opposite at the low
        end); contacts that slip open with mu times their slip in it, as in the limit theorems.
    modes : pair of dict
        What every constraint does in the mechanism: opens, slips or stays.
    others : pair of Array, shapes (nv, k)
        What may be added to the mechanism: without columns it is unique. Otherwise the slip is kinematically
        indeterminate: several mechanisms use up the load at the limit.
    names : tuple of str
    proofs : tuple of Support
    """

    low: float
    high: float
    reactions: tuple[Array, Array]
    mechanisms: tuple[Array, Array]
    modes: tuple[dict[str, str], dict[str, str]]
    others: tuple[Array, Array]
    names: tuple[str, ...]
    proofs: tuple[Support, ...]

    __repr__ = brief

    @property
    def held(self) -> bool:
        """Whether some factor is held."""
        return self.low <= self.high

    def verify(self, tol: float = TOL) -> bool:
        """Whether reactions and mechanisms prove both ends, recomputed from the data."""
        return all(one.verify(tol) for one in self.proofs)

    def explain(self) -> str:
        """Return the limits and what gives way there, in words."""
        if not self.held:
            return "No factor of this load is held."
        lines = [f"Held from {self.low:.6g} to {self.high:.6g} times the load."]
        ends = zip((self.low, self.high), ("below", "above"), self.modes, self.others, strict=True)
        for end, name, modes, others in ends:
            if not np.isfinite(end):
                lines.append(f"Nothing gives way {name}: it is wedged, or the load does no work.")
                continue
            words = [f"{mode} at {', '.join(ids)}" for mode in ("opens", "slips", "stays")
                     if (ids := [id for id, one in modes.items() if one == mode])]  # fmt: skip
            lines.append(f"Just {name}, it {'; '.join(words)}.")
            if free := others.shape[1]:
                many = "1 number of it is" if free == 1 else f"{free} numbers of it are"
                lines.append(f"This mechanism is one of several: {many} not determined by statics.")
        return "\n".join(lines)


def limit_load(
    system: System | Scene | LocalDynamics, state: State | None, load: ArrayLike, *, motion: ArrayLike | None = None
) -> LimitLoad:
    """Return how much of a load can be added to all forces before nothing holds.

    Parameters
    ----------
    system : System, Scene or LocalDynamics
    state : State or None
    load : array_like, shape (nv,)
        Generalised force, N and N m: J^T F of a force F at a point.
    motion : array_like, shape (nv,), optional
        Acceleration that is to be held; default none.

    Raises
    ------
    InputError
        A load or motion of the wrong length, a load of zeros, a state without an acceleration, a motion that
        constraints forbid.
    """
    dynamics = _dynamics(system, state)
    w = vector("load", load, dynamics.nv)
    if not w.any():
        raise InputError("load", "zeros", "a force", "Write load=[0.0, -1.0, 0.0].")
    base = allowed(dynamics, _motion(dynamics, motion))
    found = [_with_load(one, w) for one in base.alternatives]
    ends = [max(found, key=lambda one: _rank(one, k)) for k in (0, 1)]
    high, low = (float(one.value[k]) for k, one in enumerate(ends))
    if ends[0].verdicts[0] is Verdict.EMPTY:
        high = low = np.nan
    at = [base.alternatives[found.index(one)] for one in ends]
    points = [one.points[k, : a.slice.n] for k, (a, one) in enumerate(zip(at, ends, strict=True))]
    reactions = [a.offset + a.spread @ s for a, s in zip(at, points, strict=True)]
    moves = [one.multipliers[k, : dynamics.nv] for k, one in enumerate(ends)]
    others = [
        free_mechanisms(a, w, s, one.multipliers[k])
        if one.verdicts[k] is Verdict.BOUNDED
        else np.zeros((dynamics.nv, 0))
        for k, (a, one, s) in enumerate(zip(at, ends, points, strict=True))
    ]
    return LimitLoad(
        low=-low,
        high=high,
        reactions=(reactions[1], reactions[0]),
        mechanisms=(moves[1], moves[0]),
        modes=(_modes(base, dynamics, moves[1]), _modes(base, dynamics, moves[0])),
        others=(others[1], others[0]),
        names=base.names,
        proofs=tuple(found),
    )


def _rank(one: Support, k: int) -> float:
    value = float(one.value[k])
    return np.inf if np.isnan(value) else value


def _dynamics(system: System | Scene | LocalDynamics, state: State | None) -> LocalDynamics:
    dynamics = system if isinstance(system, LocalDynamics) else snapshot(system, state)
    status = active_set(dynamics)
    if dynamics.level != "acceleration" or status.status is not OmegaStatus.READY:
        given = f"{status.status} at {', '.join(status.at_fault)}" if status.at_fault else dynamics.level
        raise InputError(
            "state", given, "a state with an acceleration", "Look at what holds there: resolve(problem).explain()."
        )
    return dynamics


def _motion(dynamics: LocalDynamics, motion: ArrayLike | None) -> Array:
    return np.zeros(dynamics.nv) if motion is None else vector("motion", motion, dynamics.nv)


def _with_load(one: Alternative, w: Array) -> Support:
    """Return the largest and the smallest factor, with proofs: J^T r + factor w = M a - h."""
    column = np.zeros((len(one.slice.f), 1))
    column[: len(w), 0] = w
    wide = ConeSlice(A=np.hstack([one.slice.A, column]), f=one.slice.f, cones=(*one.slice.cones, FREE))
    C = np.zeros((2, wide.n))
    C[:, -1] = 1.0, -1.0
    return support(wide, C)


def _modes(base: Allowed, dynamics: LocalDynamics, move: Array) -> dict[str, str]:
    """Return what every constraint does in a mechanism."""
    speed = base.J @ move
    top = MOVES * max(float(np.abs(speed).max(initial=0.0)), 1e-300)
    found = {}
    for active in active_set(dynamics).rows:
        row, u = active.row, speed[base.rows[active.row.id]]
        slip = float(np.linalg.norm(u[1:3])) if row.kind != "dry" else float(np.linalg.norm(u))
        opens = row.kind != "dry" and u[0] > row.mu_s * slip + top
        found[row.id] = "opens" if opens else "slips" if slip > top and row.kind != "bilateral" else "stays"
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Holding:
    """The least actuator forces that hold.

    Attributes
    ----------
    held : bool
        Whether any do.
    forces : Array, shape (k,)
        Of the actuators; NaN where none hold.
    size : float
        Their norm; inf where none hold.
    reactions : Array, shape (R,)
        With which they do, in the order of `names`.
    names : tuple of str
    norm : str
    proof : Support
        No smaller ones do; or none at all.
    """

    held: bool
    forces: Array
    size: float
    reactions: Array
    names: tuple[str, ...]
    norm: str
    proof: Support

    __repr__ = brief

    def verify(self, tol: float = TOL) -> bool:
        """Whether the proof holds, recomputed from the data."""
        return self.proof.verify(tol)

    def explain(self) -> str:
        """Return the forces in words."""
        if not self.held:
            return "No actuator forces within their limits hold this: a combination of the equations proves it."
        numbers = ", ".join(f"{x:.6g}" for x in self.forces)
        return f"Held by actuator forces {numbers} (least {self.norm}, {self.size:.6g}); nothing smaller does."


def holding(
    system: System | Scene | LocalDynamics,
    state: State | None,
    actuators: ArrayLike,
    *,
    motion: ArrayLike | None = None,
    norm: Norm = "euclid",
    limits: ArrayLike | None = None,
) -> Holding:
    """Return the least actuator forces with which a pose or a motion is possible under Coulomb friction.

    Parameters
    ----------
    system : System, Scene or LocalDynamics
    state : State or None
    actuators : array_like, shape (k, nv)
        Generalised force of a unit of every actuator, one row each.
    motion : array_like, shape (nv,), optional
        Acceleration that is wanted; default none: a pose is held.
    norm : str
        euclid, sum of sizes, or max.
    limits : array_like, shape (k,), optional
        Largest size of every actuator force, > 0.

    Raises
    ------
    InputError
        Wrong shapes, an unknown norm, limits that are not positive; see `limit_load`.
    """
    dynamics = _dynamics(system, state)
    S = matrix("actuators", actuators, None, dynamics.nv)
    if norm not in ("euclid", "sum", "max"):
        raise InputError("norm", repr(norm), "euclid, sum or max", one_of("norm", norm, ("euclid", "sum", "max")))
    caps = None if limits is None else vector("limits", limits, len(S))
    if caps is not None and not (caps > 0.0).all():
        raise InputError("limits", limits, "numbers > 0", "Write limits=10.0.")
    base = allowed(dynamics, _motion(dynamics, motion))
    found = [_least(one, S, norm, caps) for one in base.alternatives]
    best = max(range(len(found)), key=lambda k: _rank(found[k][0], 0))
    (proof, torque), one = found[best], base.alternatives[best]
    held = proof.verdicts[0] is Verdict.BOUNDED
    s = proof.points[0]
    return Holding(
        held=held,
        forces=torque @ s if held else np.full(len(S), np.nan),
        size=-float(proof.value[0]) if held else np.inf,
        reactions=one.offset + one.spread @ s[: one.slice.n],
        names=base.names,
        norm=norm,
        proof=proof,
    )


def _least(one: Alternative, S: Array, norm: str, caps: Array | None) -> tuple[Support, Array]:
    """Return the proof for an alternative, and the rows that give the actuator forces."""
    k, n, m = len(S), one.slice.n, len(one.slice.f)
    torque, cones, extra, right, cost = _parts(k, norm, caps)
    width = torque.shape[1]
    A = np.zeros((m + len(extra), n + width))
    A[:m, :n] = one.slice.A
    A[: S.shape[1], n:] = S.T @ torque
    A[m:, n:] = extra
    wide = ConeSlice(A=A, f=np.concatenate([one.slice.f, right]), cones=(*one.slice.cones, *cones))
    C = np.concatenate([np.zeros(n), -cost])[None]
    return support(wide, C), np.hstack([np.zeros((k, n)), torque])


def _parts(k: int, norm: str, caps: Array | None) -> tuple[Array, Sequence[Any], Array, Array, Array]:
    """Return actuator forces as entries of cones: rows, cones, equations with right-hand sides, and the norm."""
    eye, none = np.eye(k), np.zeros((k, 1))
    zero, ones = np.zeros((k, k)), np.ones(k)
    if norm == "euclid":  # (t, x) in a cone
        torque, cones, cost = np.hstack([none, eye]), [Cone("cone", k + 1)], np.r_[1.0, np.zeros(k)]
        equal, right = np.zeros((0, k + 1)), np.zeros(0)
    elif norm == "sum":  # x = p - q
        torque, cones, cost = np.hstack([eye, -eye]), [RAY] * (2 * k), np.ones(2 * k)
        equal, right = np.zeros((0, 2 * k)), np.zeros(0)
    else:  # p = t + x, q = t - x
        torque, cones = np.hstack([none, 0.5 * eye, -0.5 * eye]), [RAY] * (2 * k + 1)
        cost = np.r_[1.0, np.zeros(2 * k)]
        equal, right = np.hstack([-2.0 * ones[:, None], eye, eye]), np.zeros(k)
    if caps is None:
        return torque, cones, equal, right, cost
    width = torque.shape[1]  # x + a = cap, a + b = 2 cap
    more = np.block([[torque, eye, zero], [np.zeros((k, width)), eye, eye]])
    equal = np.vstack([np.hstack([equal, np.zeros((len(equal), 2 * k))]), more])
    return (np.hstack([torque, zero, zero]), [*cones, *[RAY] * (2 * k)], equal,
            np.concatenate([right, caps, 2.0 * caps]), np.concatenate([cost, np.zeros(2 * k)]))  # fmt: skip
