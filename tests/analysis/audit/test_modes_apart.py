"""What stands apart from all that moves is in the same modes for the audit, however heavy what moves elsewhere is."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import first

from gaussdyn.analysis.audit import step_figures as figures
from gaussdyn.analysis.audit.audit import audit
from gaussdyn.analysis.audit.recorded_scheme import Scheme
from gaussdyn.analysis.audit.recorded_step import RecordedStep, saved_record
from gaussdyn.analysis.audit.saved_rows import SavedState
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.system import SpatialSystem


def tumbled(seed):
    """Return the run of a light box that stops, a corner on the border of sliding, and a heavy one that falls."""
    rng = np.random.default_rng(seed)
    turns, halves = rng.normal(size=(2, 4)), rng.uniform(0.03, 0.06, (2, 3))
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    bodies = [brick("light", mass=0.01, half=halves[0]), brick("heavy", mass=100.0, half=halves[1])]
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5))
    state = system.state({"light": (0.0, 0.0, 0.11, *turns[0]), "heavy": (1.0, 0.0, 0.4, *turns[1])})
    return system, simulate(system, state, 0.4, stepper=MoreauJean(dt=2e-3), save=20)


@pytest.mark.parametrize("seed", first(1, [6, 18]))
def test_modes_of_a_light_body_do_not_hang_on_a_heavy_one_apart(seed):
    system, run = tumbled(seed)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
    here = SavedState.of(run, system, len(run) - 1, False)
    step = RecordedStep.of(saved_record(run, system, here), Scheme.of(run.settings["stepper"]))
    said = {contact.id: contact.mode for contact in here.contacts}
    light = [key for key, mode in said.items() if key.startswith("light") and mode == "stick"]
    assert light, "the light box does not stand"
    possible = figures.possible_modes(step)
    assert figures.modes(step, said, possible) == 0.0
    assert figures.modes(step, {**said, **dict.fromkeys(light, "open")}, possible) == len(light)
    assert figures.modes(step, {**said, **dict.fromkeys(light, "slip")}, possible) == len(light)
