"""Outcomes of states of systems, and what a run's quick examination says of them."""

from __future__ import annotations

from fractions import Fraction
from math import cos, radians, sin
from typing import Any

import numpy as np
import pytest

from gaussdyn import checker
from gaussdyn.contact.outcome.examine import examine
from gaussdyn.contact.outcome.outcome import Verdict, outcome
from gaussdyn.contact.snapshot import LocalDynamics, snapshot
from gaussdyn.errors import InputError
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.state import State
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, GlobalForm, LinearComplementarity
from gaussdyn.scenes import catalogue


def rod(degrees: float, mu: float, *, speed: float, omega: float, bilateral: bool = False) -> LocalDynamics:
    """A uniform rod (half-length one, mass one, g = 10) with its lower end on the floor, sliding at `speed`."""
    a, h = cos(radians(degrees)), sin(radians(degrees))
    body = PlanarBody(name="rod", mass=1.0, inertia=1.0 / 3.0)
    contact = PlanarContact(point=Marker("rod", (-1.0, 0.0)), plane=HalfPlane(name="floor"), mu=mu, bilateral=bilateral)
    system = PlanarSystem(bodies=[body], contacts=[contact], gravity=(0.0, -10.0))
    v = [speed - omega * h, omega * a, omega]  # the tip, at (-a, -h) from the centre, moves at (speed, 0)
    return snapshot(system, State(q=[a, h, radians(degrees)], v=v))


@pytest.mark.parametrize(
    ("degrees", "omega", "verdict", "count"),
    [(30.0, 0.0, "UNIQUE", 1), (30.0, 6.0, "UNIQUE", 1), (60.0, 0.0, "NONE", 0), (60.0, 4.0, "MULTIPLE", 2)],
)
def test_four_regions_of_the_painleve_rod(degrees: float, omega: float, verdict: str, count: int) -> None:
    dynamics = rod(degrees, 1.6, speed=-1.0, omega=omega)
    found = outcome(dynamics)
    assert (found.verdict, found.count, found.level) == (verdict, count, "acceleration")
    assert found.certificate is not None
    assert found.certificate.verify()
    assert "rounded" in found.certificate.document["provenance"]["numbers"]
    quick = examine(dynamics)
    assert (quick.verdict, quick.count, quick.exact) == (verdict, count, False)
    assert examine(rod(degrees, 1.6, speed=1.0, omega=omega)).verdict == "UNIQUE"  # dragged, not pushed


def test_solutions_of_the_indeterminate_rod() -> None:
    found = outcome(rod(60.0, 1.6, speed=-1.0, omega=4.0))
    fly, slide = sorted(found.solutions(), key=lambda one: one["modes"])
    assert (fly["modes"], slide["modes"]) == (["D"], ["L"])
    s = sin(radians(60.0))
    assert fly["point"][0] == pytest.approx(16.0 * s - 10.0, rel=1e-9)  # l omega^2 sin - g
    assert slide["point"][0] == 0.0
    assert all(one["force_unique"] and one["faces"] == [] for one in found.solutions())
    assert "MULTIPLE" in found.explain()


def test_held_rod_uses_both_signs_of_the_reaction() -> None:
    # beyond the critical friction a held rod that is pushed has none, and one that is dragged has two or none
    assert outcome(rod(60.0, 1.6, speed=-1.0, omega=0.0, bilateral=True)).verdict == "NONE"
    dragged = outcome(rod(60.0, 1.6, speed=1.0, omega=0.0, bilateral=True))
    assert (dragged.verdict, {m for c in dragged.components for m in c.modes}) == ("MULTIPLE", {"L", "l"})
    assert examine(rod(60.0, 1.6, speed=1.0, omega=0.0, bilateral=True)).verdict == "MULTIPLE"


def box(feet: list[float], *, push: float = 0.0, mu: float = 0.5, v: Any = (0.0, 0.0, 0.0)) -> LocalDynamics:
    """A unit box on points of its base; redundant from three feet on."""
    body = PlanarBody(name="box", mass=1.3, inertia=0.7)
    floor = HalfPlane(name="floor")
    contacts = [
        PlanarContact(point=Marker("box", (x, -0.3), f"foot{k}"), plane=floor, mu=mu) for k, x in enumerate(feet)
    ]
    system = PlanarSystem(bodies=[body], contacts=contacts)
    return snapshot(system, State(q=[0.1, 0.3, 0.0], v=v), control=np.array([push, 0.0, 0.0]))


def test_rounding_noise_does_not_decide_redundant_contacts() -> None:
    found = outcome(box([-0.7, -0.1, 0.3, 0.9]))
    assert (found.verdict, found.components[0].modes) == ("UNIQUE", ("SSSS",))
    assert not found.components[0].forces_unique
    slides = outcome(box([-0.7, 0.1, 0.9], v=(1.0, 0.0, 0.0)))
    assert (slides.verdict, slides.components[0].modes) == ("UNIQUE", ("LLL",))


def test_effort() -> None:
    assert examine(box([-0.7, -0.1, 0.3, 0.9])).verdict is Verdict.UNIQUE
    rest = box([-0.7, -0.3, 0.1, 0.3, 0.9])  # five contacts at rest
    assert examine(rest).verdict is Verdict.NOT_EXAMINED
    assert "cheap" in examine(rest).reason
    assert examine(rest, effort="full").verdict is Verdict.UNIQUE
    one = box([0.1], mu=0.01)  # one contact at rest: the bound is enough
    assert examine(one).verdict is Verdict.UNIQUE
    many = box(list(np.linspace(-1, 1, 9)), v=(1.0, 0.0, 0.0))
    assert examine(many).verdict is Verdict.NOT_EXAMINED  # nine sliding feet: W is singular, the bound says nothing
    assert "9 contacts" in examine(many).reason
    with pytest.raises(InputError, match="cheap or full"):
        examine(rest, effort="quick")


def test_frictionless_states_are_unique_at_once() -> None:
    assert examine(box([-0.7, 0.9], mu=0.0)).verdict is Verdict.UNIQUE


def test_a_state_that_needs_an_impact_is_not_examined() -> None:
    falling = box([-0.7, 0.9], v=(0.0, -1.0, 0.0))
    assert examine(falling).verdict is Verdict.NOT_EXAMINED
    with pytest.raises(InputError, match="IMPACT_NEEDED"):
        outcome(falling)


def test_velocity_level() -> None:
    scene = catalogue.build("incline")
    found = outcome(snapshot(scene.system, scene.state, level="velocity", dt=1e-3))
    assert (found.verdict, found.level) == ("UNIQUE", "velocity")
    assert found.certificate is not None
    assert found.certificate.verify()


def spatial(w: list[float], *, opposed: bool = False, times: int = 1) -> ComplementarityProblem:
    """One or two contacts of a particle in space, or some times as many; opposed ones squeeze it."""
    J = np.eye(3)[[2, 0, 1]]
    J = np.vstack([J, -J if opposed else J][: len(w) // 3])
    form = GlobalForm(M=np.eye(3), h=np.array([0.1, 0.0, -1.0]), J=np.vstack([J] * times), w=np.array(w * times))
    return ComplementarityProblem.condensed(form, [Coulomb(0.5)] * (len(w) // 3 * times))


def test_contacts_in_space_exist_or_not() -> None:
    alone = outcome(spatial([0.0, 0.0, 0.0]))
    assert (alone.verdict, alone.components[0].modes) == ("UNIQUE", ("S",))
    twice = outcome(spatial([0.0] * 6))
    assert (twice.verdict, twice.components[0].modes) == ("UNIQUE", ("SS",))
    exists = outcome(spatial([0.0] * 6, times=3))  # more contacts than are enumerated
    assert (exists.verdict, exists.reason) == ("UNDECIDED", "exists")
    assert exists.certificate is not None
    assert exists.certificate.document["kind"] == "slater"
    none = outcome(spatial([-1.0, 0.0, 0.0, -1.0, 0.0, 0.0], opposed=True))
    assert (none.verdict, none.count) == ("NONE", 0)
    assert none.certificate is not None
    assert none.certificate.document["kind"] == "farkas"


def test_contacts_in_space_that_balance_each_other_rest_and_many_are_undecided() -> None:
    pinched = outcome(spatial([0.0] * 6, opposed=True))  # its weight loads friction by a fifth of its limit
    assert (pinched.verdict, pinched.components[0].modes) == ("UNIQUE", ("SS",))
    assert not pinched.components[0].forces_unique
    assert pinched.certificate is not None
    assert pinched.certificate.verify()
    many = outcome(spatial([0.0] * 6, opposed=True, times=3))
    assert (many.verdict, many.certificate) == ("UNDECIDED", None)
    assert "neither" in many.reason


def test_lcp_and_rules() -> None:
    found = outcome(LinearComplementarity(M=[[1.0, 2.0], [2.0, 1.0]], q=[-1.0, -1.0]))
    assert (found.verdict, found.count, found.level) == ("MULTIPLE", 3, "lcp")
    with pytest.raises(InputError, match="all or stick"):
        outcome(LinearComplementarity(M=[[1.0]], q=[1.0]), mu_s_rule="slip")
    assert outcome(LinearComplementarity(M=[[1.0]], q=[1.0]), certify=False).certificate is None


def test_undecided_says_how_large_it_is() -> None:
    found = outcome(LinearComplementarity(M=np.eye(200), q=-np.ones(200)))
    assert found.verdict is Verdict.UNDECIDED
    assert "200 blocks" in found.reason
    assert found.solutions() == []


def test_states_of_one_body_are_certified_as_a_planar_body() -> None:
    found = outcome(box([-0.7, -0.1, 0.3, 0.9], push=1.0))
    assert found.certificate is not None
    document = found.certificate.document
    assert document["kind"] == "planar_body"
    assert checker.verdict(found.certificate.to_json) == f"VALID: {found.certificate.claim}"
    points = [[float(Fraction(x)) for x in point] for point in document["problem"]["points"]]
    assert points == [pytest.approx([x, -0.3], abs=1e-9) for x in (-0.7, -0.1, 0.3, 0.9)]
    assert Fraction(document["problem"]["m"]) == pytest.approx(1.3, abs=1e-9)


def test_points_of_one_body_list_normal_accelerations_first() -> None:
    """A box that slides away freely: a_n of both feet vanish, both a_t are the same."""
    found = outcome(box([-0.7, 0.9], mu=0.1, push=5.0))
    (component,) = found.components
    assert component.point is not None
    first, second, *along = component.point
    assert (first, second) == (0, 0)
    assert along[0] == along[1] != 0


def test_fclib_like_problems_are_about_velocities() -> None:
    W = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert outcome(ComplementarityProblem(W=W, q=[-1.0, 0.3], laws=[Coulomb(0.4, dim=2)])).level == "velocity"


def test_states_near_critical_friction_are_called_degenerate() -> None:
    for mu, near in ((4 / 3, True), (float(np.nextafter(4 / 3, 2)), True), (1.2, False), (1.4, False)):
        scene = catalogue.build("painleve_rod", mu=mu, angle=float(np.arctan(2.0)))
        assert ("degenerate" in examine(snapshot(scene.system, scene.state)).reason) is near


def test_contacts_that_no_reaction_moves_keep_their_motion() -> None:
    found = outcome(ComplementarityProblem(W=np.zeros((6, 6)), q=[1.0, 0.1, 0.0] * 2, laws=[Coulomb(0.5)] * 2))
    assert (found.verdict, found.components[0].modes) == ("UNIQUE", ("DD",))
