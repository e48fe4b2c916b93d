"""A run as a film: where every shape is and what acts at the contacts, frame by frame, as data for the player.

The drawing is decimated, never the run: frames are spread evenly over the saved states, and every state in which
something happens is one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...arrays import Array, IntArray
from ...integrate.run.contact_history import Contact
from ...integrate.run.trajectory import Trajectory
from ...linalg.rotations import matrix_of
from ...mechanics.system import System
from ..series import spans
from .skeleton import skeleton

Shape = Mapping[str, Any]
FRAMES = 600
FEWEST = 60
NUMBERS = 1_000_000  # in the whole film, of which a page takes about as many bytes
EVENTS = 200
PLANES = ("halfplane", "plane")
PLACES = ("at", "ends", "points", "corners")
DIGITS = 5  # of a place, relative to the size of the scene
CLOSED = 1e-9  # m
NEAR = 0.02  # of the size: open contacts further apart are not drawn


def film(system: System, run: Trajectory) -> dict[str, Any] | None:
    """Return the film of a run; None if its system has nothing to draw.

    Returns
    -------
    dict or None
        ``t`` (F,); ``space``; ``shapes`` and, in space, ``joints``: each with shape, name, ``fixed`` and ``moving``
        attributes (one entry per frame, null where it is not there); ``centre`` (F, 3): the mass centre, None if
        unknown; ``contacts``: per frame a list of (which id, mode, point, normal, force); ``ids``, ``between``, ``mu``,
        ``modes``; ``middle`` and ``half``: the box that holds everything; ``decimals`` to which places are rounded;
        ``span`` of the largest body, ``spread`` of all and ``length`` of a cone, m; ``force``: the reaction
        that the longest ordinary arrow stands for, N; ``outcomes``, ``events``.
    """
    chosen = frames(run, _cost(system, run))
    poses = [seen(system, run.q[k]) for k in chosen]
    if not any(poses):
        return None
    middle, half = box([shape for pose in poses for shape in pose])
    size = float(half.max())
    decimals = max(0, DIGITS - int(np.floor(np.log10(size))))
    found: dict[str, Any] = {
        "t": [float(f"{run.t[k]:.9g}") for k in chosen],
        "space": len(middle) == 3,
        "shapes": tracks(poses, decimals),
        "decimals": decimals,
        "middle": middle.round(decimals).tolist(),
        "half": half.round(decimals).tolist(),
        "span": span(poses[0]),
        "spread": spread(poses[0]),
        "length": cone_length(poses[0], size),
        "outcomes": _outcomes(run),
        "events": [[float(f"{e.t:.9g}"), e.kind, e.id] for e in run.events[: 10 * EVENTS]],
    }
    return found | _held(system, run, chosen, decimals) | acting(run, chosen, size, decimals)


def seen(system: System, q: Array) -> list[dict[str, Any]]:
    """Return what a view shows of a system in one pose: robots by the meshes of their files."""
    found: list[dict[str, Any]] = getattr(system, "seen", system.drawables)(q)
    return found


def _held(system: System, run: Trajectory, chosen: IntArray, decimals: int) -> dict[str, Any]:
    """Return joints and mass centre of bodies in space."""
    found = [skeleton(system, run.q[k]) for k in chosen]
    centre = [x for _, x in found if x is not None]
    return {"joints": tracks([joints for joints, _ in found], decimals), "centre": centre or None}


def frames(run: Trajectory, cost: int) -> IntArray:
    """Return which saved states are frames; `cost` is how many numbers a frame takes."""
    most = int(np.clip(NUMBERS // max(cost, 1), FEWEST, FRAMES))
    even = np.linspace(0, len(run) - 1, min(most, len(run))).round().astype(np.int64)
    times = np.array([event.t for event in run.events][: min(EVENTS, most)])
    return np.unique(np.concatenate([even, np.minimum(np.searchsorted(run.t, times), len(run) - 1)]))


def tracks(poses: Sequence[Sequence[Shape]], decimals: int) -> list[dict[str, Any]]:
    """Return every shape of some poses with what stays and what moves."""
    named: list[dict[tuple[str, str, int], Shape]] = []
    for pose in poses:
        keyed: dict[tuple[str, str, int], Shape] = {}
        for shape in pose:
            kind, name = str(shape["shape"]), str(shape.get("name", ""))
            count = sum(key[:2] == (kind, name) for key in keyed)
            keyed[kind, name, count] = shape
        named.append(keyed)
    keys = dict.fromkeys(key for keyed in named for key in keyed)
    return [_track(key, [keyed.get(key) for keyed in named], decimals) for key in keys]


def _track(key: tuple[str, str, int], poses: Sequence[Shape | None], decimals: int) -> dict[str, Any]:
    names = dict.fromkeys(name for pose in poses if pose for name in pose if name not in ("shape", "name"))
    values = {name: _column(name, [None if p is None else p.get(name) for p in poses], decimals) for name in names}
    fixed = {name: column[0] for name, column in values.items() if _same(column)}
    moving = {name: column for name, column in values.items() if name not in fixed}
    return {"shape": key[0], "name": key[1], "fixed": fixed, "moving": moving}


def _same(column: Sequence[Any]) -> bool:
    return all(one is column[0] or one == column[0] for one in column)


def _column(name: str, values: Sequence[Any], decimals: int) -> list[Any]:
    """Return an attribute in all frames, rounded; one that is the same object as before, as meshes are, only once."""
    found: list[Any] = []
    for k, value in enumerate(values):
        same = k > 0 and value is values[k - 1]
        found.append(found[-1] if same else _rounded(name, value, decimals))
    return found


def _rounded(name: str, value: Any, decimals: int) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if name == "faces":
        return value.tolist() if isinstance(value, np.ndarray) else value
    return np.round(np.asarray(value, dtype=np.float64), decimals if name in PLACES else 4).tolist()


def box(shapes: Sequence[Shape]) -> tuple[Array, Array]:
    """Return middle and half sides of what holds all bodies, shapes (2,) or (3,), m; planes count by their point."""
    ends = [extent(shape) for shape in shapes if shape["shape"] not in PLANES]
    ends = ends or [extent(shape) for shape in shapes]
    d = max(cloud.shape[1] for cloud in ends)
    cloud = np.vstack([np.pad(points, ((0, 0), (0, d - points.shape[1]))) for points in ends])
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    half = (high - low) / 2.0
    return (low + high) / 2.0, np.maximum(half, 0.05 * max(float(half.max()), 1e-3))


def extent(shape: Shape) -> Array:
    """Return points around a shape, shape (k, d), m."""
    for key in ("ends", "points"):
        if key in shape:
            return np.array(shape[key], dtype=np.float64)
    at = np.atleast_2d(np.array(shape.get("at", [0.0, 0.0]), dtype=np.float64))
    if "corners" in shape:
        found: Array = at + np.array(shape["corners"], dtype=np.float64) @ matrix_of(shape["turn"]).T
        return found
    reach = float(shape.get("radius", 0.0)) + float(shape.get("half_length", 0.0))
    reach += float(np.linalg.norm(shape.get("half", 0.0)))
    reach += float(np.linalg.norm(np.atleast_2d(shape.get("corners", 0.0)), axis=1).max())
    return np.vstack([at - reach, at + reach])


def span(shapes: Sequence[Shape]) -> float:
    """Return the largest extent of a body in one pose, m; 0 if all are points."""
    return max((float(np.ptp(extent(s), axis=0).max()) for s in shapes if s["shape"] not in PLANES), default=0.0)


def spread(shapes: Sequence[Shape]) -> float:
    """Return the largest extent of all bodies together in one pose, m; 0 if there is none."""
    clouds = [extent(s) for s in shapes if s["shape"] not in PLANES]
    return float(np.ptp(np.vstack(clouds), axis=0).max()) if clouds else 0.0


def cone_length(shapes: Sequence[Shape], size: float) -> float:
    """Return how long a friction cone is drawn, m: as the bodies are, where the scene is much larger than they."""
    body = span(shapes)
    return min(0.3 * size, 0.9 * body if body > 0.0 else 0.2 * size)


def acting(run: Trajectory, chosen: IntArray, size: float, decimals: int) -> dict[str, Any]:
    """Return what acts at the contacts whose bodies and directions are known."""
    states = [[c for c in run.contacts(int(k)) if _drawn(c, size)] for k in chosen]
    contacts = list(chain.from_iterable(states))
    last = {c.id: c for c in contacts}
    ids, modes = list(last), list(dict.fromkeys(map(_mode, contacts)))
    lines = [[_line(c, ids.index(c.id), modes.index(_mode(c)), decimals) for c in state] for state in states]
    return {
        "contacts": lines, "ids": ids, "modes": modes, "mu": [_finite(c.mu) for c in last.values()],
        "between": [list(c.between) for c in last.values()], "force": _usual_force(contacts),
    }  # fmt: skip


def _usual_force(contacts: Sequence[Contact]) -> float:
    """Return the force that nine tenths of those that push at all do not exceed, N; 0 where none pushes."""
    forces = np.array([np.linalg.norm(c.force) for c in contacts if c.force is not None])
    forces = forces[forces > 0.0]
    return float(np.percentile(forces, 90)) if len(forces) else 0.0


def _drawn(c: Contact, size: float) -> bool:
    return c.point is not None and (bool(np.any(c.reaction)) or abs(c.gap) <= NEAR * size)


def _line(c: Contact, which: int, mode: int, decimals: int) -> list[Any]:
    point, normal, force = (np.zeros(0) if x is None else x for x in (c.point, c.normal, c.force))
    return [which, mode, point.round(decimals).tolist(), normal.round(4).tolist(), [float(f"{f:.4g}") for f in force]]


def _mode(c: Contact) -> str:
    """Return the mode in words; a contact that touches without a reaction, as all do at the start, is only closed."""
    mode = "open" if c.mode == "inactive" else c.mode
    return "closed" if mode == "open" and c.gap <= CLOSED else mode


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _outcomes(run: Trajectory) -> list[list[Any]]:
    if not len(run.steps.t):
        return []
    borders = np.r_[run.steps.t[0] - run.steps.dt[0], run.steps.t]
    found = spans(run.steps.outcome.tolist(), borders)[: 10 * EVENTS]
    return [[label, float(f"{a:.9g}"), float(f"{b:.9g}")] for label, a, b in found]


def _cost(system: System, run: Trajectory) -> int:
    """Return about how many numbers a frame takes."""
    middle = len(run) // 2
    shapes = sum(7 if "turn" in shape else extent(shape).size + 4 for shape in seen(system, run.q[middle]))
    return int(shapes) + 12 * len(run.contacts(middle))
