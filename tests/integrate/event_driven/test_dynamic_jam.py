"""Jams are named where W is singular by friction, and only there, whatever stands beside and whatever the masses."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from random_scenes import mixed

from gaussdyn import EventDriven, State, build, simulate
from gaussdyn.contact.snapshot import Activation
from gaussdyn.integrate.contact_modes import CLOSED
from gaussdyn.integrate.event_driven import event_stepper
from gaussdyn.integrate.event_driven.phase_integrator import Accuracy, Stiff
from gaussdyn.integrate.event_driven.phase_state import Place
from gaussdyn.integrate.event_driven.rank_watch import jam_of
from gaussdyn.integrate.event_driven.smooth_phase import Phase
from gaussdyn.integrate.impact.impact_laws import Moreau
from gaussdyn.mechanics.planar.bodies import Marker, box
from gaussdyn.mechanics.planar.contacts import PlanarContact
from gaussdyn.mechanics.planar.system import PlanarSystem

TIP, SLIP = "rod.tip/floor", -5.0
SIDES = ((-0.5, "left"), (0.5, "right"))


def rod_beside_a_box(mu, angle, mass, bottom):
    """A rod that slides on its tip, and a box with corners that stick, one of them redundant where both do."""
    rod = build("painleve_rod", mu=mu, angle=angle, omega=2.0, slip=SLIP)
    floor = rod.system.contacts[0].plane
    corners = [PlanarContact(point=Marker("box", (x, -0.1), name), plane=floor, mu=0.3) for x, name in SIDES[:bottom]]
    system = PlanarSystem(
        bodies=[*rod.system.bodies, box("box", mass=mass, width=1.0, height=0.2)],
        contacts=[*rod.system.contacts, *corners], gravity=rod.system.gravity,
    )  # fmt: skip
    return system, State(t=0.0, q=np.append(rod.state.q, (9.0, 0.1, 0.0)), v=np.append(rod.state.v, np.zeros(3)))


def pole_of(mu):
    """Where 1 + 3 cos^2 - 3 mu sin cos of the angle vanishes, the smaller one: Painleve's rod."""
    return np.arctan((3.0 * mu - np.sqrt(9.0 * mu * mu - 16.0)) / 2.0)


def phase_at(system, state):
    place = Place.of(system, state.t, state.q, state.v, None)
    modes = {row.id: CLOSED.but(slip=(float(np.sign(SLIP)),)) if row.id == TIP else CLOSED for row in place.rows}
    return Phase(system=system, control=None, modes=modes, rows=place.rows), place


@pytest.mark.parametrize("bottom", [0, 1, 2])
@pytest.mark.parametrize(("mu", "mass"), [(1.5, 1.0), (2.0, 1e6), (4.0, 1e-6)])
def test_a_jam_is_named_at_the_pole_and_not_beside_it(mu, mass, bottom):
    pole = pole_of(mu)
    for angle, expected in ((pole, True), (pole + 1e-4, False), (pole - 1e-4, False)):
        system, state = rod_beside_a_box(mu, angle, mass, bottom)
        phase, place = phase_at(system, state)
        assert phase.redundant == (bottom == 2)
        said = jam_of(phase, place)
        assert (f"the reaction of {TIP} is determined no longer: " in said) == expected
        assert bool(said) == expected


def test_where_a_matrix_is_nearly_singular_no_forces_are_said_to_be_stiff():
    """Reactions that hardly have a matrix follow any slip at once: steps are short as if forces were stiff."""
    accuracy = Accuracy(rtol=1e-9, atol=1e-9, activation=Activation(), law=Moreau())
    for off, said in ((0.0, "(a dynamic jam)"), (1e-4, "forces are stiff")):
        system, state = rod_beside_a_box(2.0, pole_of(2.0) + off, 1.0, 2)
        phase, place = phase_at(system, state)
        segment = SimpleNamespace(
            phase=phase, place=lambda place=place: place, system=system, t=state.t, q=state.q, v=state.v,
            watch=SimpleNamespace(begun=None), task=SimpleNamespace(accuracy=accuracy, control=None),
        )  # fmt: skip
        reason = event_stepper._stuck(segment, Stiff("forces are stiff")).message
        assert said in reason
        assert ("stiff" in reason) == (off > 0.0)


def test_a_jam_is_proved_by_a_state_just_beyond_the_pole():
    """A capsule slides on one end, beside another one at rest: its friction turns the slip to where A = 0 at b < 0."""
    system, _ = mixed(3, 1)
    q = (
        0.1800444878691, 0.04653936012666, 0.2028180868053,
        -0.2061953205426, -0.1850957780685, 0.6419905652147, 0.7148924093197,
        -0.3693094438494, 0.05694103123275, 0.07864393954584,
        0.6920562854694, -0.7054443039639, 0.04845961210035, 0.1451140852647,
    )  # fmt: skip
    v = (
        -0.3664441136572, -0.0721828495635, -0.192230895124, 0.6588591867576, 0.179469201681, -1.711457127078,
        -0.4203168279885, -0.05841967491696, 0.0, 0.0, 0.0, -5.395931008296,
    )  # fmt: skip
    run = simulate(system, State(t=0.5937, q=q, v=v), 0.6, stepper=EventDriven(), project=True)
    assert run.status == "STOPPED"
    assert "the reaction of b0:c1/floor" in run.stop.reason
    assert [(one.t, one.outcome, one.verify()) for one in run.certificates] == [(run.t[-1], "NONE", True)]
