"""Runs of robots (loops, motors, limits, cables) pass, and one number of a file that is changed is noticed."""

from __future__ import annotations

from functools import cache

import h5py
import numpy as np
import pytest
from tree_cases import five_bar_legs, zoo

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.errors import GaussdynError
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.state import State

pytestmark = pytest.mark.xdist_group("falsified robots")  # what they share is made once

STEPPERS = {
    "stepped": MoreauJean(dt=0.004),
    "once": MoreauJean(dt=0.004, corrections=False),
    "ends": MoreauJean(dt=0.004, theta=1.0),
    "located": EventDriven(dt=0.01),
}
NO_EVIDENCE = ("evidence/place", "evidence/foreseen")  # of coordinates that no row depends on, see docs/formats.md
LEAST = 1e-2  # SI: of what is smaller in all of a table so much is changed
FAST = 4


def legs():
    """A trunk on legs of five bars that falls on its feet, turning."""
    system = five_bar_legs()
    q, v = np.zeros(system.nq), np.zeros(system.nv)
    q[2], q[3], v[:6] = 0.31, 1.0, (0.3, 0.1, -1.0, 0.2, -0.3, 0.4)
    return system, State(t=0.0, q=q, v=v), None


def arms():
    """Trees with every kind of joint, motors that are told something, cables, and a floor not far below."""
    system = zoo(loops=False)
    q = np.zeros(system.nq)
    q[2], q[3], q[7], v = 0.25, 1.0, 1.0, 0.5 * np.random.default_rng(2).normal(size=system.nv)
    return system, State(t=0.0, q=q, v=v), lambda t, _: np.array([0.3, 0.4, -0.2]) * np.cos(40.0 * t)


SYSTEMS = {"legs": legs, "arms": arms}
RUNS = [(name, stepper) for name in SYSTEMS for stepper in STEPPERS if (name, stepper) != ("arms", "located")]


@cache
def made(name, stepper, folder):
    system, state, control = SYSTEMS[name]()
    t_end = 0.02 if stepper == "located" else 0.06
    run = simulate(system, state, t_end, stepper=STEPPERS[stepper], control=control, project=True)
    path = folder / f"{name} {stepper}.h5"
    run.save(path)
    return system, path


def falsified(path, rng):
    """Write a run file with another number in one of its tables; return the file, and what was changed."""
    false, entries = path.with_suffix(".false.h5"), []
    false.write_bytes(path.read_bytes())
    with h5py.File(false, "a") as file:
        file.visititems(lambda key, x: entries.append(key) if getattr(x, "size", 0) and x.dtype.kind in "fiu" else None)
        groups = sorted({key.split("/")[0] for key in entries})
        group = groups[int(rng.integers(len(groups)))]
        own = [key for key in entries if key.startswith(group) and not key.startswith(NO_EVIDENCE)]
        key = own[int(rng.integers(len(own)))]
        x, about = np.atleast_1d(file[key][()]), dict(file[key].attrs)
        at = tuple(int(rng.integers(n)) for n in x.shape)
        by = float(10.0 ** rng.uniform(-5.0, 0.0) * rng.choice([-1.0, 1.0]))
        if x.dtype.kind == "f":
            size = max(float(np.abs(x[np.isfinite(x)]).max(initial=0.0)), LEAST)
            x[at] = x[at] + by * size if np.isfinite(x[at]) else by
        else:
            x[at] += np.sign(by).astype(x.dtype) if x[at] else 1
        shape = file[key].shape
        del file[key]
        file[key] = x.reshape(shape)
        file[key].attrs.update(about)
    return false, (key, at, by)


def noticed(path, system):
    try:
        return not audit(Trajectory.load(path), system).passed
    except GaussdynError:
        return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("robots")


@pytest.mark.slow
@pytest.mark.parametrize("case", RUNS, ids=" ".join)
def test_the_runs_themselves_pass(case, folder):
    system, path = made(*case, folder)
    verdict = audit(Trajectory.load(path), system)
    assert not [one.name for one in verdict.series if not one.passed and one.name != "energy_drift"]


@pytest.mark.parametrize(
    "seeds", [range(FAST), pytest.param(range(FAST, 120), marks=pytest.mark.slow)], ids=["first", "all"]
)
def test_every_falsification_is_noticed(seeds, folder):
    missed = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        case = RUNS[int(rng.integers(len(RUNS)))]
        system, path = made(*case, folder)
        false, what = falsified(path, rng)
        if not noticed(false, system):
            missed.append((seed, *case, *what))
    assert not missed


def test_forces_of_a_step_without_corrections_do_not_hang_on_what_was_told_before():
    """How much of a motor falls with the rate stayed that of the first control: honest runs failed `momentum`."""
    system, state, _ = arms()
    first, then = np.array([0.0, 0.0, -0.2]), np.array([0.0, 0.0, -0.1])
    at = (0.0, state.q, state.v, 1.1 * state.v)
    system.force_foreseen(*at, first)
    np.testing.assert_array_equal(system.force_foreseen(*at, then), zoo(loops=False).force_foreseen(*at, then))
