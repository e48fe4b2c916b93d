"""Whatever one number of a run's tables is changed to, on disk, the audit says which table is wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import h5py
import numpy as np
import pytest
from falsified import jointed
from random_scenes import linked
from tree_cases import link

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.errors import SceneError
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics import trees
from gaussdyn.mechanics.collision.shapes import HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.state import State
from gaussdyn.scenes.catalogue import build

RUNS = {
    "located": (lambda: jointed(0.3, 1e-2)()[:2], EventDriven(), 0.2),
    "joints": (lambda: linked(2, 12), MoreauJean(dt=0.01), 0.3),
    "one": (lambda: (build("superball").system, build("superball").state), MoreauJean(dt=0.01), 0.35),
}
TABLES = {
    "contact_places": ("contacts/point", "contacts/frame", "contacts/mu", "contacts/mu_s"),
    "event_times": ("events/t", "steps/events"),
    "step_table": ("steps/E", "steps/dt", "columns/E", "steps/restitution", "steps/friction_margin"),
    "joint_columns": ("columns/joint.reaction", "columns/pin.reaction"),
}


@cache
def made(name):
    how, stepper, t_end = RUNS[name]
    system, state = how()
    return system, simulate(system, state, t_end, stepper=stepper)


def changed(path, run, entry, seed):
    """Write a run with one number of an entry changed by a hundredth of the largest; False where there is none."""
    run.save(path)
    rng = np.random.default_rng(seed)
    with h5py.File(path, "a") as file:
        if entry not in file or not file[entry].size:
            return False
        x = file[entry][()]
        k = int(rng.integers(x.size))
        if x.dtype.kind == "i":
            x.flat[k] += 1
        elif np.isfinite(x.flat[k]):
            x.flat[k] -= 0.01 * max(float(np.nanmax(np.abs(x))), 0.1) * (1.0 if entry.endswith("E") else -1.0)
        else:
            x.flat[k] = 1.5
        file[entry][...] = x
    return True


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("check", TABLES)
def test_a_number_that_is_changed_in_a_table_is_noticed_there(tmp_path, name, check):
    system, run = made(name)
    assert audit(run, system).passed
    tried = 0
    for seed, entry in enumerate(TABLES[check]):
        path = tmp_path / f"{seed}.h5"
        if changed(path, run, entry, seed):
            verdict = audit(Trajectory.load(path), system)
            assert check in {one.name for one in verdict.series if not one.passed}, entry
            tried += 1
    assert tried or check == "joint_columns"


def test_an_event_is_in_its_step_and_with_time_stepping_at_its_end():
    system, run = made("joints")
    for by, passes in ((0.0, {"event_times", "event_table"}), (-0.5, {"event_times"}), (-2.0, set())):
        event = run.events[0]
        moved = (replace(event, t=event.t + by * 0.01), *run.events[1:])
        series = audit(replace(run, events=moved), system).series
        assert {one.name for one in series if one.passed and one.name.startswith("event_")} == passes


@pytest.mark.parametrize("entry", ["contacts/size", "final/memory/sizes"])
def test_sizes_that_do_not_fit_are_refused_in_words(tmp_path, entry):
    """A line too short for its friction, and one number of memory more than there are."""
    _, run = made("one")
    final = State(t=run.final.t, q=run.final.q, v=run.final.v, memory={"kept": np.ones(2)})
    replace(run, final=final, state_hash=final.digest()).save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "a") as file:
        x = file[entry][()]
        if entry.startswith("contacts"):
            x[int(np.argmax(np.abs(file["contacts/reaction"][:, 1])))] -= 2
        else:
            x[0] += 1
        file[entry][...] = x
    with pytest.raises(SceneError, match=r"run\.h5"):
        Trajectory.load(tmp_path / "run.h5")


def test_a_contact_of_another_size_than_its_row_is_named(tmp_path):
    system, run = made("one")
    run.save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "a") as file:
        sizes = file["contacts/size"][()]
        sizes[0] += 1
        file["contacts/size"][...] = sizes
    with pytest.raises(ValueError, match="4 components of ball/floor"):
        audit(Trajectory.load(tmp_path / "run.h5"), system)


def test_gaps_of_limits_are_those_of_the_state_saved():
    """Those of limits that do not act stood where the last pass had begun: dogs and humanoids failed `gap_column`."""
    shapes = (Sphere(radius=0.05),)
    bodies = [link("b0", "ground", trees.TreeJoint(name="root", motion="free"), shapes=shapes)]
    for k in (1, 2, 3):
        hinge = trees.TreeJoint(name=f"j{k}", axis=tuple(np.eye(3)[k % 3]), low=-3.0, high=3.0)
        bodies.append(link(f"b{k}", f"b{k - 1}", hinge, at=(0.2, 0.0, 0.1), shapes=shapes))
    system = trees.TreeSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.7))
    q = np.zeros(system.nq)
    q[2], q[3] = 0.06, 1.0
    thrown = State(t=0.0, q=q, v=20.0 * np.random.default_rng(6).normal(size=system.nv))
    run = simulate(system, thrown, 0.1, stepper=MoreauJean(dt=0.005))
    assert len(run.events) > 10
    for k in (1, 2, 3):
        assert np.array_equal(run[f"j{k}:low.gap"], run[f"j{k}"] + 3.0)
