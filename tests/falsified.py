"""Runs in which one number is falsified wherever it is stored, so that nothing but mechanics can tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaussdyn.integrate.contact_modes import FREE
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import ball
from gaussdyn.mechanics.spatial.joints import BallJoint
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.trees import in_joint_coordinates

WORDS = ("stick", "slip", "inactive", FREE)


def small(system, q, v, t_end, dt):
    return lambda: (system, State(q=q, v=v), t_end, dt)


def jointed(t_end, dt):
    """Two balls in space in a joint, the lower one about to hit the floor aslant."""
    joint = BallJoint(name="joint", a=SpatialMarker("a", (0.3, 0.0, 0.0)), b=SpatialMarker("b", (-0.3, 0.0, 0.0)))
    system = SpatialSystem(
        bodies=[ball("a", mass=1.0, radius=0.2), ball("b", mass=2.0, radius=0.2)], joints=[joint],
        obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.3, eps_n=0.6),
    )  # fmt: skip
    still = {"a": (0.0, 0.0, 0.24, 1.0, 0.0, 0.0, 0.0), "b": (0.6, 0.0, 0.24, 1.0, 0.0, 0.0, 0.0)}
    state = system.state(still, {"a": (0.4, 0.2, -1.0, 0.0, 1.0, 0.0), "b": (0.4, 0.2, -1.6, 0.0, 1.0, 0.0)})
    return lambda: (system, state, t_end, dt)


def robot(t_end, dt):
    """The same two balls in the coordinates of a robot."""
    system, state, _, _ = jointed(t_end, dt)()
    tree = in_joint_coordinates(system)
    return lambda: (tree.system, tree.state(state), t_end, dt)


def with_column(run, name, k, x):
    values = run[name].copy()
    values[k] = x
    name = name if name in run.columns else next(key for key, one in run.columns.items() if one.also == name)
    return replace(run, columns={**run.columns, name: replace(run.columns[name], values=values)})


def with_state(run, letter, k, i, x):
    """Change a coordinate of time or motion wherever it is stored."""
    name = letter if i is None else f"{letter}{i}"
    at = (k,) if i is None else (k, i)
    now, before = getattr(run, letter).copy(), getattr(run, f"before_{letter}").copy()
    now[at] = x
    if k + 1 < len(run):
        before[(k + 1, *at[1:])] = x
    changed = replace(with_column(run, name, k, x), **{letter: now, f"before_{letter}": before})
    if k + 1 < len(run):
        return changed
    final = State(t=changed.t[-1], q=changed.q[-1], v=changed.v[-1], memory=run.final.memory)
    return replace(changed, final=final, state_hash=final.digest())


def with_lines(run, **values):
    return replace(run, table=replace(run.table, **values))


def reactions(run, k):
    """Where reactions stand at a state: (row id, component, column name or None, line of the table or None)."""
    table, found = run.table, []
    lines = {table.ids[table.index[m]]: m for m in range(table.offsets[k], table.offsets[k + 1])}
    for key in run.rows:
        for c, name in enumerate(run.reaction_names(key)):
            found.append((key, c, name, lines.get(key)))
    found += [(key, c, None, m) for key, m in lines.items() if key not in run.rows for c in range(table.size[m])]
    return found


def falsified(run, kind, rng):
    """Return the run with one number changed, or None where it has no such number."""
    k = int(rng.integers(1, len(run)))
    by = float(10.0 ** rng.uniform(-6.0, 0.0) * rng.choice([-1.0, 1.0]))
    table, low, high = run.table, int(run.table.offsets[k]), int(run.table.offsets[k + 1])
    if kind == "impulse":
        places = reactions(run, k)
        if not places:
            return None
        _, c, name, line = places[int(rng.integers(len(places)))]
        size = max(
            [float(np.abs(table.reaction[low:high]).max(initial=0.0))] + [abs(run[n][k]) for _, _, n, _ in places if n]
        )
        x = (run[name][k] if name else table.reaction[line, c]) + by * (size or 1.0)
        if line is not None:
            r = table.reaction.copy()
            r[line, c] = x
            run = with_lines(run, reaction=r)
        return with_column(run, name, k, x) if name else run
    if kind == "velocity":
        i = int(rng.integers(run.v.shape[1]))
        return with_state(run, "v", k, i, run.v[k, i] + by * (np.abs(run.v).max() or 1.0))
    if kind == "time":
        dt = run.steps.dt[k - 1]
        changed = with_state(run, "t", k, None, run.t[k] + 0.9 * abs(by) * dt)
        t = run.steps.t.copy()
        t[k - 1] = changed.t[k]
        return replace(changed, steps=replace(run.steps, t=t))
    if kind == "gap":
        return another_gap(run, k, by * 1e-3, rng)
    if high == low:
        return None
    line = int(rng.integers(low, high))
    if kind == "mode":
        mode, friction = str(table.mode[line]), table.size[line] > 1 and table.mu[line] > 0.0
        words = [
            w for w in (WORDS if friction else ("active", FREE)) if w != mode and not {w, mode} <= {"inactive", FREE}
        ]
        said = table.mode.astype("U12")
        said[line] = rng.choice(words)
        return with_lines(run, mode=said) if mode != "degenerate" else None
    offsets = table.offsets - (np.arange(len(table.offsets)) > k)
    keep = np.arange(len(table.index)) != line
    cut = {
        name: getattr(table, name)[keep]
        for name in ("index", "gap", "size", "reaction", "point", "frame", "mu", "mu_s", "mode")
    }
    return with_lines(run, offsets=offsets, **cut)


def another_gap(run, k, by, rng):
    table, low, high = run.table, int(run.table.offsets[k]), int(run.table.offsets[k + 1])
    names = [f"{key}.gap" for key in run.rows]
    if not names and high == low:
        return None
    pick = int(rng.integers(len(names) + high - low))
    if pick < len(names):
        return with_column(run, names[pick], k, run[names[pick]][k] + by)
    gap = table.gap.copy()
    gap[low + pick - len(names)] += by
    return with_lines(run, gap=gap)
