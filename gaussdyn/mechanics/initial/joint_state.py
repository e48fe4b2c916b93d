"""States from the angles and positions of joints: from body to body along the tree, then loops are closed.

Bodies are placed one after the other, each by the joint that leads to it. What is left over (the joints that close
loops, rods, strings, limits, gears) is met by moving the joints that were not asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, vector
from ...errors import InputError
from ..joints.columns import JointColumns
from ..joints.limits_motors import Limit, Motor
from ..names import GROUND, nearest
from ..rows import Row
from ..state import State
from ..system import System
from .consistent_state import joint_rows, violations

Values = Mapping[str, Sequence[float]]
TOL = 1e-9  # m, rad: as `check_initial`
MOST = 40  # steps of Newton's method
SLOW = 0.98  # of the error is left after a step: it leads nowhere
RANK = 1e-10  # singular value, SI or relative, below which equations repeat others
TRIES = 12  # starts from which a loop is closed
SPREAD = 2.0  # rad, m: of the starts
GOLDEN = 0.6180339887498949  # section of an interval


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mechanism:
    """What is asked of a system of bodies.

    Attributes
    ----------
    system : System
    columns : JointColumns
        Its joints.
    bodies : tuple of str
    ground : Array
        The pose of space: nothing turned, nothing moved.
    composed, inverse, marker_pose : callable
        What poses do: see `planar.poses` and `spatial.poses`.
    pose_of : callable
        ``pose_of(q, body)``.
    packed : callable
        ``packed(poses)`` gives q from poses by name.
    motion : callable
        ``motion(state)``, which joints ask for their markers.
    speeds_of : callable
        ``speeds_of(body)``: where its velocities stand in v.
    """

    system: System
    columns: JointColumns
    bodies: tuple[str, ...]
    ground: Array
    composed: Callable[[Array, Array], Array]
    inverse: Callable[[Array], Array]
    marker_pose: Callable[[Any], Array]
    pose_of: Callable[[Array, str], Array]
    packed: Callable[[Mapping[str, Array]], Array]
    motion: Callable[[State], Any]
    speeds_of: Callable[[str], slice]


def state_of_joints(
    mechanism: Mechanism,
    start: State,
    roots: Sequence[str],
    joints: Mapping[str, ArrayLike],
    rates: Mapping[str, ArrayLike],
    near: State | None = None,
) -> State:
    """Return the state in which joints have these values and rates.

    Parameters
    ----------
    mechanism : Mechanism
    start : State
        Where the bodies `roots` are, how they move, and the time.
    roots : sequence of str
        Bodies that no joint places.
    joints, rates : mapping of str to array_like
        By name of a joint; what is left out is as in `near`, else 0 (or the nearest that limits allow), and its rate 0:
        but for loops, gears and motors without a cap, which decide that themselves.
    near : State, optional
        A state close to the one that is looked for.

    Raises
    ------
    InputError
        An unknown joint, one that leaves nothing free, a wrong number of values; a body that is placed though joints
        lead to it; values that limits or closed loops do not allow.
    """
    if near is not None:
        vector("q of near", near.q, mechanism.system.nq)
    values = {name: _checked(mechanism, "joints", name, x) for name, x in joints.items()}
    speeds = {name: _checked(mechanism, "rates", name, x) for name, x in rates.items()}
    tree = _tree(mechanism, tuple(dict.fromkeys(roots)), values)
    state = _closed(mechanism, tree, start, values, near)
    return _moving(mechanism, tree, replace(start, q=state.q), speeds)


@dataclass(frozen=True, slots=True, eq=False)
class _Tree:
    """Bodies that joints do not lead to, and the joints that lead to the others: (joint, from b to a)."""

    roots: tuple[str, ...]
    given: frozenset[str]
    branches: tuple[tuple[Any, bool], ...]

    def left_over(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that the joints of the tree do not keep by themselves."""
        kept = {id for joint, _ in self.branches for id in joint.ids}
        return [row for row in rows if row.id not in kept]


def _checked(mechanism: Mechanism, what: str, name: str, value: ArrayLike) -> tuple[float, ...]:
    """Return the values of a joint; raise InputError unless it has as many."""
    free = mechanism.columns.free
    if name not in free and name in mechanism.bodies:
        of_bodies = {"joints": "place", "rates": "velocity"}[what]
        raise InputError(f"joint in {what}", f"the body {name!r}", "joints", f"Put it into {of_bodies}={{...}}.")
    if name not in free:
        raise InputError(f"joint in {what}", repr(name), *nearest(name, free))
    names = free[name]
    if not names:
        kind = type(mechanism.columns.joints[name]).__name__
        able = ", ".join(key for key, parts in free.items() if parts) or "none here"
        raise InputError(
            f"{what} of {name}",
            kind,
            f"a joint that leaves something free: {able}",
            f"Leave {name!r} out of {what}={{...}}.",
        )
    text = f"{what} of {name} ({', '.join(names)})"
    return tuple(vector(text, np.atleast_1d(np.asarray(value)), len(names)).tolist())


def _tree(mechanism: Mechanism, given: tuple[str, ...], values: Mapping[str, Any]) -> _Tree:
    """Return the order in which joints place bodies: those with known values lead, the others close loops."""
    joints = list(mechanism.columns.joints.values())
    known = [joint.name in values or not joint.freedoms for joint in joints]
    ranked = [joint for _, joint in sorted(zip(known, joints, strict=True), key=lambda pair: not pair[0])]
    home, branches, roots = {name: name for name in (GROUND, *given)}, [], list(given)

    def grow() -> None:
        """Place all bodies that joints lead to from those that are placed."""
        while found := _leading_on(ranked, home):
            joint, forward = found
            one, other = (joint.b.body, joint.a.body) if forward else (joint.a.body, joint.b.body)
            home[other] = home[one]
            branches.append(found)

    grow()
    _check_apart(ranked, home)
    for body in mechanism.bodies:
        if body not in home:
            home[body] = body
            roots.append(body)
            grow()
    return _Tree(tuple(roots), frozenset(given), tuple(branches))


def _leading_on(joints: Sequence[Any], home: Mapping[str, str]) -> tuple[Any, bool] | None:
    """Return the first joint of which one body is placed, and whether that is its second; None if there is none."""
    ends = ((joint, joint.b.body in home, joint.a.body in home) for joint in joints)
    return next(((joint, from_b) for joint, from_b, from_a in ends if from_b != from_a), None)


def _check_apart(joints: Sequence[Any], home: Mapping[str, str]) -> None:
    """Raise InputError if a joint connects bodies that were placed by themselves."""
    for joint in joints:
        ends = {home.get(joint.a.body), home.get(joint.b.body)} - {None}
        if len(ends) == 2:
            body = next(str(name) for name in sorted(map(str, ends)) if name != GROUND)
            mend = "Say where its joints are (joints={...}), or leave them out and place all bodies."
            raise InputError("place", repr(body), "bodies that no joint connects to the ground or to one placed", mend)


def _closed(mechanism: Mechanism, tree: _Tree, start: State, values: Values, near: State | None) -> State:
    """Return the first state that all constraints on places hold, from several starts of the joints that are free."""
    roots = {GROUND: mechanism.ground}
    for root in tree.roots:
        known = near if near is not None and root not in tree.given else start
        roots[root] = mechanism.pose_of(known.q, root)
    loop = _Loop(mechanism, tree, start, roots, values)
    best, least = start, np.inf
    for guess in _guesses(mechanism, values, near):
        state, error = loop.closed(guess)
        if error <= TOL:
            return state
        if error < least:
            best, least = state, error
    left = [found for found in violations(mechanism.system, best, tol=TOL) if found.what == "gap"]
    what = "; ".join(map(str, left[:6])) or "joints that were asked for give way"
    mend = f"None was found: left over are {what}. Ask for fewer joints, or pass near=state, a state close by."
    raise InputError(
        "joints", _listed(values) or "none", "angles and positions that limits and closed loops allow", mend
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Loop:
    """The constraints that the tree leaves over, as equations of what its joints leave free.

    Newton's method moves joints only, so that bodies stay joined along the tree all the way.
    """

    mechanism: Mechanism
    tree: _Tree
    start: State
    roots: Mapping[str, Array]
    values: Values

    def closed(self, guess: dict[str, tuple[float, ...]]) -> tuple[State, float]:
        """Return the state that Newton's method leads to, and the largest error there."""
        shut: set[str] = set()
        now = self._state(guess)
        e, J = self._errors(now, shut)
        for _ in range(MOST):
            if np.abs(e).max(initial=0.0) <= 1e-3 * TOL or not J.shape[1]:
                break
            step = _least(J, -e)
            step *= min(1.0, SPREAD / np.abs(step).max(initial=SPREAD))
            trials = (self._moved(guess, 0.5**k * step) for k in range(6))
            tried = ((x, self._state(x)) for x in trials)
            less = (one for one in tried if np.linalg.norm(self._errors(one[1], shut)[0]) < np.linalg.norm(e))
            better = next(less, None)
            if better is None:
                break
            guess, now = better
            before, (e, J) = np.linalg.norm(e), self._errors(now, shut)
            if np.linalg.norm(e) > SLOW * before:
                break
        left = [found for found in violations(self.mechanism.system, now, tol=TOL) if found.what == "gap"]
        return now, max([float(np.abs(e).max(initial=0.0)), *(abs(found.value) for found in left)])

    def _state(self, guess: Values) -> State:
        """Return the state with the bodies where the tree puts them."""
        poses = dict(self.roots)
        for joint, forward in self.tree.branches:
            _place(self.mechanism, poses, joint, forward, guess[joint.name])
        return replace(self.start, q=self.mechanism.packed(poses), v=np.zeros(self.mechanism.system.nv))

    def _free(self) -> list[Any]:
        """Return the joints of the tree that may move."""
        return [joint for joint, _ in self.tree.branches if joint.name not in self.values]

    def _moved(self, guess: Values, step: Array) -> dict[str, tuple[float, ...]]:
        """Return the values after a step of all free joints; limits hold them."""
        found, k = {name: tuple(value) for name, value in guess.items()}, 0
        for joint in self._free():
            n = len(self.mechanism.columns.free[joint.name])
            found[joint.name] = _within(self.mechanism, joint.name, joint.moved(guess[joint.name], step[k : k + n]))
            k += n
        return found

    def _errors(self, state: State, shut: set[str]) -> tuple[Array, Array]:
        """Return what is left of gaps and of the values asked for, and its derivative by the free joints."""
        mechanism, nv = self.mechanism, self.mechanism.system.nv
        rows = [row for row in self.tree.left_over(joint_rows(mechanism.system, state)) if row.level == "position"]
        shut.update(row.id for row in rows if row.gap < 0.0)
        rows = [row for row in rows if row.bilateral or row.id in shut]
        motion, joints = mechanism.motion(state), mechanism.columns.joints
        off = [x for name, value in self.values.items() for x in joints[name].off(motion, value)]
        J = np.vstack([np.zeros((0, nv)), *(row.J[:1] for row in rows), *(x.J[None] for x in off)])
        e = np.array([*(row.gap for row in rows), *(x.value for x in off)])
        names = [joint.name for joint in self._free()]
        return e, J @ _speeds(mechanism, self.tree, motion).columns(names)


@dataclass(frozen=True, slots=True, eq=False)
class _Speeds:
    """The velocities of all bodies by those of the roots and the rates of the joints of the tree.

    Attributes
    ----------
    T : Array, shape (nv, nv)
        v = T (velocities of the roots, zeros, rates).
    roots, joints : dict of str to slice
        Where roots and joints stand in its columns.
    """

    T: Array
    roots: dict[str, slice]
    joints: dict[str, slice]

    def columns(self, names: Sequence[str]) -> Array:
        """Return the columns of these joints, shape (nv, n)."""
        return np.hstack([np.zeros((len(self.T), 0)), *(self.T[:, self.joints[name]] for name in names)])


def _speeds(mechanism: Mechanism, tree: _Tree, motion: Any) -> _Speeds:
    """Return how bodies move with the roots and the joints of the tree."""
    nv, parts, count = mechanism.system.nv, [], 0
    roots, joints = {}, {}
    for root in tree.roots:
        parts.append(np.eye(nv)[mechanism.speeds_of(root)])
        roots[root] = slice(count, count := count + len(parts[-1]))
    for joint, _ in tree.branches:
        parts.append(np.vstack([row.J for row in joint.rows(motion)]))
        count += len(parts[-1])
        free = joint.free_motions(motion) if mechanism.columns.free[joint.name] else ()
        parts.append(np.vstack([np.zeros((0, nv)), *(x.J[None] for x in free)]))
        joints[joint.name] = slice(count, count := count + len(parts[-1]))
    return _Speeds(np.linalg.pinv(np.vstack(parts)), roots, joints)


def _least(A: Array, b: Array) -> Array:
    """Return the shortest x of least |A x - b|; what is only rounding in A counts as zero."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > RANK * max(1.0, float(s.max(initial=0.0)))
    x: Array = Vt[kept].T @ ((U.T @ b)[kept] / s[kept])
    return x


def _guesses(mechanism: Mechanism, values: Values, near: State | None) -> Iterator[dict[str, tuple[float, ...]]]:
    """Yield values of all joints: those that are free as in `near` or at 0, then spread about that, always alike."""
    columns = mechanism.columns
    motion = None if near is None else mechanism.motion(near)
    base: dict[str, tuple[float, ...]] = {}
    for name, joint in columns.joints.items():
        nothing = (0.0,) * len(columns.free[name])
        there = nothing if motion is None or not nothing else tuple(x.value for x in joint.free_motions(motion))
        base[name] = tuple(values[name]) if name in values else _within(mechanism, name, there)
    yield base
    chosen = {name: value for name, value in base.items() if name not in values and value}
    for k in range(1, TRIES):
        yield base | _spread(mechanism, chosen, k)


def _spread(mechanism: Mechanism, base: Mapping[str, tuple[float, ...]], k: int) -> dict[str, tuple[float, ...]]:
    """Return the values of joints moved about those of `base`, in the k-th way."""
    spread, count = {}, 0
    for name, value in base.items():
        shifts = [SPREAD * (2.0 * ((k * GOLDEN * (count + j + 1)) % 1.0) - 1.0) for j in range(len(value))]
        spread[name] = _within(mechanism, name, tuple(x + y for x, y in zip(value, shifts, strict=True)))
        count += len(value)
    return spread


def _within(mechanism: Mechanism, name: str, value: tuple[float, ...]) -> tuple[float, ...]:
    """Return the value nearest to the one given that limits of the joint allow."""
    for part in mechanism.columns.parts:
        if isinstance(part, Limit) and part.joint == name:
            value = tuple(min(max(x, part.low), part.high) for x in value)
    return value


def _place(mechanism: Mechanism, poses: dict[str, Array], joint: Any, forward: bool, value: Sequence[float]) -> None:
    """Place the body at the other end of a joint."""
    between, a, b = joint.pose(value), mechanism.marker_pose(joint.a), mechanism.marker_pose(joint.b)
    if forward:
        at = mechanism.composed(mechanism.composed(poses[joint.b.body], b), between)
        poses[joint.a.body] = mechanism.composed(at, mechanism.inverse(a))
    else:
        at = mechanism.composed(mechanism.composed(poses[joint.a.body], a), mechanism.inverse(between))
        poses[joint.b.body] = mechanism.composed(at, mechanism.inverse(b))


def _moving(mechanism: Mechanism, tree: _Tree, state: State, rates: Values) -> State:
    """Return the state with the velocities that roots and rates give: those left out are as small as loops allow."""
    motion = mechanism.motion(state)
    speeds = _speeds(mechanism, tree, motion)
    known = np.zeros(mechanism.system.nv)
    for root in tree.given:
        known[speeds.roots[root]] = state.v[mechanism.speeds_of(root)]
    for name in rates.keys() & speeds.joints.keys():
        known[speeds.joints[name]] = rates[name]
    ids, J, wanted = _asked(mechanism, tree, state, rates, motion)
    free = speeds.columns([name for name in speeds.joints if name not in rates])
    v = speeds.T @ known
    v += free @ _least(J @ free, wanted - J @ v)
    left = np.abs(J @ v - wanted)
    if left.max(initial=0.0) > TOL * (1.0 + np.abs(v).max()):
        worst = ids[k] if (k := int(left.argmax())) < len(ids) else "a rate that was asked for"
        mend = (
            f"{worst} is off by {left.max():.3g}. Ask for fewer: in loops and gears one rate decides others: "
            f"rates={{...}}."
        )
        raise InputError("rates", _listed(rates) or "none", "rates that closed loops and gears allow", mend)
    return replace(state, v=v)


def _asked(
    mechanism: Mechanism, tree: _Tree, state: State, rates: Values, motion: Any
) -> tuple[list[str], Array, Array]:
    """Return what velocities have to meet, J v = wanted: ids of the rows that loops leave over, then the rates."""
    columns, nv = mechanism.columns, mechanism.system.nv
    rows = _kept_by_loops(mechanism, tree, replace(state, v=np.zeros(nv)), rates)
    off = [x for name in rates for x in columns.joints[name].free_motions(motion)]
    J = np.vstack([np.zeros((0, nv)), *(row.J[:1] for row in rows), *(x.J[None] for x in off)])
    wanted = np.array([*(-row.rate[0] for row in rows), *(x for rate in rates.values() for x in rate)])
    return [row.id for row in rows], J, wanted


def _listed(values: Values) -> str:
    return ", ".join(f"{name} = {', '.join(f'{x:g}' for x in value)}" for name, value in values.items())


def _kept_by_loops(mechanism: Mechanism, tree: _Tree, state: State, rates: Values) -> list[Row]:
    """Return the equalities that joints of the tree do not keep, without those of motors of joints that have rates."""
    motors = (part for part in mechanism.columns.parts if isinstance(part, Motor) and part.joint in rates)
    alone = {id for motor in motors for id in motor.ids}
    rows = tree.left_over(joint_rows(mechanism.system, state))
    return [row for row in rows if row.bilateral and row.id not in alone]
