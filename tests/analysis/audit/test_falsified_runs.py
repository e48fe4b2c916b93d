"""Honest runs pass, and whatever single number of one is falsified, the audit notices.

A falsified number is changed wherever it is stored, so that nothing but mechanics can tell.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from random_scenes import falling, linked, mixed
from small_systems import Ball, Block, CoulombOscillator, SlidingRod, Tethered

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.contact_modes import FREE
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.state import State
from gaussdyn.scenes.catalogue import build

KINDS = ("impulse", "velocity", "gap", "time", "mode", "dropped contact")
WORDS = ("stick", "slip", "inactive", FREE)
FAST = 24


def small(system, q, v, t_end, dt):
    return lambda: (system, State(q=q, v=v), t_end, dt)


def scene(name, t_end, dt, **params):
    def made():
        found = build(name, **params)
        return found.system, found.state, t_end, dt

    return made


RUNS = {
    "ball": small(Ball(0.8), [0.05], [0.0], 0.3, 0.01),
    "sliding": small(Block(0.5, 0.2), [0.0, 0.0], [0.0, 0.0], 0.15, 0.01),
    "held": small(Block(0.3, 0.5), [0.0, 0.0], [0.0, 0.0], 0.1, 0.01),
    "oscillator": small(CoulombOscillator(), [0.0, 0.35], [0.0, 0.0], 0.5, 0.02),
    "rod": small(SlidingRod(0.3), [0.0, np.sin(1.1), 1.1], [3.0, 0.5 * np.cos(1.1), 0.5], 0.1, 0.01),
    "pendulum": small(Tethered(), [1.0, 0.0], [0.0, 0.0], 0.2, 0.01),
    "four bar": scene("four_bar", 0.1, 5e-3),
    "rocking": scene("rocking_block", 0.4, 1e-2),
    "cube": scene("launched_cube", 0.1, 5e-3),
    "stack": scene("stack", 0.1, 1e-2),
}


@cache
def made(name):
    system, state, t_end, dt = RUNS[name]()
    return system, simulate(system, state, t_end, stepper=MoreauJean(dt=dt))


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
        return _another_gap(run, k, by * 1e-3, rng)
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


def _another_gap(run, k, by, rng):
    table, low, high = run.table, int(run.table.offsets[k]), int(run.table.offsets[k + 1])
    names = [f"{key}.gap" for key in run.rows]
    pick = int(rng.integers(len(names) + high - low))
    if pick < len(names):
        return with_column(run, names[pick], k, run[names[pick]][k] + by)
    gap = table.gap.copy()
    gap[low + pick - len(names)] += by
    return with_lines(run, gap=gap)


def drawn(seed):
    """Return the run and its falsification that a seed says."""
    rng = np.random.default_rng(seed)
    kind, names = KINDS[seed % len(KINDS)], list(RUNS)
    while True:
        name = names[int(rng.integers(len(names)))]
        system, run = made(name)
        false = falsified(run, kind, rng)
        if false is not None:
            return name, kind, system, false


@pytest.mark.parametrize("name", RUNS)
def test_the_runs_themselves_pass(name):
    system, run = made(name)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


@pytest.mark.parametrize(
    "seeds", [range(FAST), pytest.param(range(FAST, 200), marks=pytest.mark.slow)], ids=["first", "all"]
)
def test_every_falsification_is_noticed(seeds):
    missed = [(seed, name, kind) for seed in seeds for name, kind, system, false in [drawn(seed)]
              if audit(false, system).passed]  # fmt: skip
    assert not missed


def honest(seed):
    """Return a short run of random bodies that fall, rub, hang on one another."""
    mu, eps = (0.0, 0.2, 0.5, 0.9)[seed % 4], (0.0, 0.2, 0.6, 1.0)[seed // 4 % 4]
    dim = 2 + seed % 2
    make = (lambda d, s: falling(d, s, mu=mu, eps_n=eps), mixed, linked)[seed % 3]
    system, state = make(dim, seed)
    return system, simulate(system, state, 0.3, stepper=MoreauJean(dt=4e-3), save=1 + seed % 5, project=True)


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 200), marks=pytest.mark.slow)], ids=["first", "all"])
def test_untouched_runs_pass(seeds):
    verdicts = {seed: audit(run, system) for seed in seeds for system, run in [honest(seed)]}
    assert not [(seed, verdict.explain()) for seed, verdict in verdicts.items() if not verdict.passed]
