"""The friction margin of a state: closed forms for one contact, and a count beyond it."""

from __future__ import annotations

import math

import pytest

from gaussdyn.contact.classification.sliding_margin import sliding_margin
from gaussdyn.contact.outcome.outcome import outcome
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.scenes.catalogue import build


def margin(name, **params):
    scene = build(name, **params)
    return sliding_margin(snapshot(scene.system, scene.state))


@pytest.mark.parametrize("angle", [0.5, 1.0, math.atan(2.0), 1.3])
@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
def test_rod(angle, mu):
    critical = (1 + 3 * math.cos(angle) ** 2) / (3 * math.sin(angle) * math.cos(angle))
    assert margin("painleve_rod", angle=angle, mu=mu) == pytest.approx(critical / mu, rel=1e-12)
    assert margin("painleve_rod", angle=angle, mu=mu, slip=1.0) == math.inf


@pytest.mark.parametrize("slip", [-1.0, 1.0])
def test_bilateral_rod_counts_both_signs_of_the_force(slip):
    assert margin("ivanov_rod", mu=2.0, bilateral=1.0, slip=slip) == pytest.approx(61 / 96, rel=1e-12)


def test_mechanisms():
    assert margin("painleve_klein", mu=1.5, phi=1.0) == pytest.approx(2 / (1.5 * math.tan(1.0)), rel=1e-12)
    k3 = (0.75 + 0.4) * 2.0 / 2.0
    assert margin("bipod", a=1.0, h=2.0, mu1=0.75, mu2=0.4) == pytest.approx(1 / k3, rel=1e-12)


def test_beyond_the_margin_some_load_has_not_one_motion():
    """Two sliding contacts of one body: just below the margin the motion is unique for every load tried, above not."""

    def body(factor, load):
        floor, feet = HalfPlane(name="floor"), ((-1.0, -1.5, 0.4), (1.0, -2.0, 0.5))
        planes = (floor, HalfPlane(name="step", point=(0.0, -0.5)))
        contacts = [
            PlanarContact(point=Marker("box", (x, y), f"p{k}"), plane=planes[k], mu=factor * mu)
            for k, (x, y, mu) in enumerate(feet)
        ]
        system = PlanarSystem(
            bodies=[PlanarBody(name="box", mass=1.0, inertia=0.3)], contacts=contacts, gravity=(load[0], load[1])
        )
        state = system.state({"box": (0.0, 1.5, 0.0)}, {"box": (1.0, 0.0, 0.0)})
        return snapshot(system, state)

    loads = [(math.cos(0.1 * k), math.sin(0.1 * k)) for k in range(63)]
    edge = sliding_margin(body(1.0, (0.0, -1.0)))
    assert 0.0 < edge < math.inf
    assert all(outcome(body(0.99 * edge, load), certify=False).count == 1 for load in loads)
    assert any(outcome(body(1.5 * edge, load), certify=False).count != 1 for load in loads)


def test_at_rest_a_sufficient_bound():
    found = margin("ivanov_rod", slip=0.0, mu=0.05)
    assert found > 1.0
    assert margin("ivanov_rod", slip=0.0, mu=0.025) == pytest.approx(2 * found, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "params"),
    [("table", {}), ("wedge", {}), ("zeno_ball", {}), ("associated_slider", {}), ("painleve_rod", {"slip": 0.0})],
)
def test_nothing_is_said_where_nothing_is_known(name, params):
    assert margin(name, **params) is None
