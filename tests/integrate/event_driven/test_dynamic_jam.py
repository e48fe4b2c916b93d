"""Jams are named where W is singular by friction, and only there, whatever stands beside and whatever the masses."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import State, build
from gaussdyn.integrate.contact_modes import CLOSED
from gaussdyn.integrate.event_driven.phase_state import Place
from gaussdyn.integrate.event_driven.rank_watch import jam_of
from gaussdyn.integrate.event_driven.smooth_phase import Phase
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


@pytest.mark.parametrize("bottom", [0, 1, 2])
@pytest.mark.parametrize(("mu", "mass"), [(1.5, 1.0), (2.0, 1e6), (4.0, 1e-6)])
def test_a_jam_is_named_at_the_pole_and_not_beside_it(mu, mass, bottom):
    pole = pole_of(mu)
    for angle, expected in ((pole, True), (pole + 1e-4, False), (pole - 1e-4, False)):
        system, state = rod_beside_a_box(mu, angle, mass, bottom)
        place = Place.of(system, state.t, state.q, state.v, None)
        modes = {row.id: CLOSED.but(slip=(float(np.sign(SLIP)),)) if row.id == TIP else CLOSED for row in place.rows}
        phase = Phase(system=system, control=None, modes=modes, rows=place.rows)
        assert phase.redundant == (bottom == 2)
        said = jam_of(phase, place)
        assert (f"the reaction of {TIP} is determined no longer: " in said) == expected
        assert bool(said) == expected
