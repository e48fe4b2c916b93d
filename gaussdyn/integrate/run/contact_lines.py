"""The table of contacts of saved steps, made of what these left behind in arrays."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from ...arrays import Array, BoolArray, IntArray, stacked
from ...mechanics.collision.feature_kinematics import TURNOVER
from ...mechanics.collision.tangent_frames import STEP
from ...mechanics.placed_contacts import Listed, Placed
from ..contact_forces import is_contact, may_touch
from ..contact_modes import FREE
from ..stretch import WORDS, Stretch
from .contact_history import COMPONENTS, ContactTable, Line, empty_table, joined, table_of

NAMES = np.array(WORDS)
AT_ONCE = 4096  # steps whose poses are held together
Columns = frozenset[str] | None  # ids of rows that are columns; None: all are


def table_of_steps(parts: Sequence[Stretch], columns: Columns) -> ContactTable:
    """Return the table of the ends of steps: of the rows that are no columns, or know their bodies and directions.

    Steps with the same constraints are gone through together, whatever lies between them.
    """
    if not parts:
        return empty_table(0)
    groups = dict[Hashable, list[int]]()
    for k, steps in enumerate(parts):
        key = steps.step.kind
        groups.setdefault(k if key is None else key, []).append(k)
    ends = np.cumsum([0, *map(len, parts)])
    lots = [lot for own in groups.values() for lot in _lots(parts, own)]
    states = [np.arange(ends[k], ends[k + 1]) for own in lots for k in own]
    tables = [_of_alike([parts[k] for k in own], columns) for own in lots]
    return joined(tables).in_order(np.concatenate(states))


def _lots(parts: Sequence[Stretch], own: Sequence[int]) -> list[list[int]]:
    """Return the numbers of stretches in lots of no more steps than are gone through at once."""
    lots, room = list[list[int]](), 0
    for k in own:
        room -= len(parts[k])
        if room < 0 or not lots:
            lots.append([])
            room = AT_ONCE - len(parts[k])
        lots[-1].append(k)
    return lots


def _of_alike(parts: Sequence[Stretch], columns: Columns) -> ContactTable:
    """Return the table of steps with the same constraints."""
    first, *more = (one.step for one in parts)
    placed = first.placed(more)
    listed = first.listed(more) if placed is None else None
    if listed is not None:
        return _of_listed(parts, listed, columns)
    if placed is None:
        return table_of([_lines(steps, k, columns) for steps in parts for k in range(len(steps))])
    order = sorted(range(len(placed.rows)), key=lambda i: placed.rows[i].id)
    order = [i for i in order if may_touch(placed.rows[i]) or _comes(placed.rows[i].id, columns)]
    if not order:
        return empty_table(sum(map(len, parts)))
    rows = tuple(placed.rows[i] for i in order)
    return _table(parts, Placed(rows, placed.point[:, order], placed.frame[:, order]))


def _table(parts: Sequence[Stretch], placed: Placed) -> ContactTable:
    """Return the table of contacts that are there in all steps, a line of each for every step."""
    rows, (n, f, d), of = placed.rows, placed.point.shape, parts[0].of
    at = {key: k for k, key in enumerate(of.ids)}
    columns = [at[row.id] for row in rows]
    nowhere = [k for k, row in enumerate(rows) if not may_touch(row)]
    placed.point[:, nowhere], placed.frame[:, nowhere] = np.nan, np.nan
    found = stacked(parts, ("gap", "mode"))
    gap, mode = (found[name][:, columns].ravel() for name in found)
    return ContactTable(
        offsets=f * np.arange(n + 1), ids=tuple(row.id for row in rows), bodies=tuple(row.between for row in rows),
        index=np.tile(np.arange(f), n), gap=gap, size=np.tile([row.size for row in rows], n),
        reaction=_forces(parts, columns), point=placed.point.reshape(n * f, d),
        frame=placed.frame.reshape(n * f, d, d), mu=np.tile([row.mu for row in rows], n),
        mu_s=np.tile([row.mu_s for row in rows], n), mode=NAMES[mode],
    )  # fmt: skip


def _forces(parts: Sequence[Stretch], columns: Sequence[int]) -> Array:
    """Return the mean forces of constraints over steps, N, a line for each in every step."""
    start = parts[0].of.start.tolist()
    spread = [slice(start[j], start[j + 1]) for j in columns]
    width = max(COMPONENTS, *(one.stop - one.start for one in spread))
    dt = np.concatenate([one.spans[:, 1] for one in parts])
    p = np.concatenate([one.impulses for one in parts])
    found = np.zeros((len(dt), len(columns), width))
    for k, one in enumerate(spread):
        found[:, k, : one.stop - one.start] = p[:, one] / dt[:, None]
    return found.reshape(-1, width)


def _of_listed(parts: Sequence[Stretch], listed: Listed, columns: Columns) -> ContactTable:
    """Return the table of steps that list contacts of shapes; those that met others are asked for their rows."""
    at = {key: j for j, key in enumerate(parts[0].of.ids)}
    column = np.array([at.get(row.id, -1) for row in listed.rows], dtype=np.int64)[listed.which]
    state = np.repeat(np.arange(len(listed.ends) - 1), np.diff(listed.ends))
    gap, mode = (np.pad(x, ((0, 0), (0, 1)), constant_values=-1) for x in stacked(parts, ("gap", "mode")).values())
    heard = np.zeros(mode.shape, dtype=np.bool_)  # the last column is of contacts that kernels have left out
    heard[state, column] = True
    heard[:, [j for key, j in at.items() if not _comes(key, columns)]] = True
    late = np.any((mode >= 0) & ~heard, axis=1)
    own = np.flatnonzero(~late[state])
    frame = _frames(listed, state, mode[state, column] >= 0)[own]
    state, column = state[own], column[own]
    used, line = _first_come(listed.which[own])
    rows, known = [listed.rows[k] for k in used], column >= 0
    mu, mu_s = (np.array([getattr(row, x) for row in rows])[line] for x in ("mu", "mu_s"))
    size = np.array([row.size for row in rows], dtype=np.int64)[line]
    table = ContactTable(
        offsets=np.concatenate([[0], np.cumsum(np.diff(listed.ends)[~late])]), ids=tuple(row.id for row in rows),
        bodies=tuple(row.between for row in rows), index=line, size=size, mu=mu, mu_s=mu_s,
        gap=np.where(known, gap[state, column], listed.gap[own]), reaction=_listed_forces(parts, state, column, size),
        point=listed.point[own], frame=frame, mode=NAMES[np.where(known, mode[state, column], -1)],
    )  # fmt: skip
    return _with_asked(table, parts, late, columns) if late.any() else table


def _with_asked(table: ContactTable, parts: Sequence[Stretch], late: BoolArray, columns: Columns) -> ContactTable:
    """Return a table with the states that it lacks (late), which are asked for their rows."""
    each = [(steps, k) for steps in parts for k in range(len(steps))]
    asked = table_of([_lines(*each[k], columns) for k in np.flatnonzero(late).tolist()])
    return joined([table, asked]).in_order(np.concatenate([np.flatnonzero(~late), np.flatnonzero(late)]))


def _frames(listed: Listed, state: IntArray, acts: BoolArray) -> Array:
    """Return the frames of listed contacts; in steps where tangents of one that acts may turn over, `along`."""
    turned = np.isin(state, state[acts & (np.abs(listed.frame[:, 0, 2] - TURNOVER) < STEP)])
    return np.where(turned[:, None, None], listed.along, listed.frame)


def _listed_forces(parts: Sequence[Stretch], state: IntArray, column: IntArray, size: IntArray) -> Array:
    """Return the mean forces of contacts over their steps, N; zero for what kernels have left out (column -1)."""
    forces, start = np.concatenate([one.impulses / one.spans[:, 1:2] for one in parts]), parts[0].of.start
    found = np.zeros((len(state), max(COMPONENTS, int(size.max(initial=0)))))
    for i in range(int(size.max(initial=0))):
        has = np.flatnonzero((column >= 0) & (i < size))
        found[has, i] = forces[state[has], start[column[has]] + i]
    return found


def _first_come(which: IntArray) -> tuple[list[int], IntArray]:
    """Return the different numbers in the order in which they come, and for each the place of its number there."""
    found, first, place = np.unique(which, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return found[order].tolist(), np.argsort(order)[place.ravel()]


def _lines(steps: Stretch, k: int, columns: Columns) -> list[Line]:
    """Return the contacts at the end of a step that has to be asked for its rows."""
    known, found = {key: j for j, key in enumerate(steps.of.ids)}, []
    for row in steps.rows(k):
        if not (is_contact(row) or _comes(row.id, columns)):
            continue
        force, mode, j = np.zeros(row.size), FREE, known.get(row.id)
        if j is not None:
            force = steps.impulses[k, steps.of.start[j] : steps.of.start[j + 1]] / steps.spans[k, 1]
            mode = WORDS[steps.mode[k, j]]
            row = replace(row, gap=float(steps.gap[k, j]))  # that of the columns, to the bit
        found.append((row, force, mode))
    return found


def _comes(key: str, columns: Columns) -> bool:
    """Return whether a row is no column, as of contacts that come and go."""
    return columns is not None and key not in columns
