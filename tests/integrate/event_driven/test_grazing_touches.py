"""Bodies that just touch others as they pass: with no normal speed nothing changes, whatever the last digits say."""

from __future__ import annotations

import pytest

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import disc
from gaussdyn.mechanics.planar.contacts import HalfPlane
from gaussdyn.mechanics.planar.system import PlanarSystem

LAW, G = ContactLaw(mu=0.6, eps_n=0.5), 9.81


def passes(off):
    """A disc goes straight on beside another one at rest, open by `off` (m) where they are next to each other."""
    bodies = [disc("a", mass=1.0, radius=0.2), disc("b", mass=2.0, radius=0.3)]
    system = PlanarSystem(bodies=bodies, contact=LAW, gravity=(0.0, 0.0))
    return system, system.state({"a": (-1.0, 0.5 + off, 0.0), "b": (0.0, 0.0, 0.0)}, {"a": (1.0, 0.0, 5.0)}), (1.0, 0.0)


def flies_up(off):
    """A disc is thrown up to a ceiling that it would come to `off` (m) below at its highest."""
    up = 2.0
    ceiling = HalfPlane(name="ceiling", point=(0.0, 0.5 * up * up / G + 0.1 + off), normal=(0.0, -1.0))
    system = PlanarSystem(bodies=[disc("a", mass=1.0, radius=0.1)], obstacles=[ceiling], contact=LAW)
    return system, system.state({"a": (0.0, 0.0, 0.0)}, {"a": (1.0, up, 4.0)}), (1.0, up - 1.6 * G)


@pytest.mark.parametrize("off", [0.0, 1e-13, -1e-13, 1e-9])
@pytest.mark.parametrize("scene", [passes, flies_up])
def test_what_just_touches_goes_on(scene, off):
    system, state, end = scene(off)
    run = simulate(system, state, 1.6, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert {event.kind for event in run.events} <= {"undecided"}
    assert bool(run.events) == (abs(off) < 1e-12)
    assert run.v[-1][:3] == pytest.approx((*end, state.v[2]), abs=1e-12)
    checked = audit(run, system)
    assert checked.passed, checked.explain()
