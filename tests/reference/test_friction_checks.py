"""Outcomes of rods, bipods and bodies on several contacts with known numbers, all with certificates.

The numbers are closed forms of the rod and the bipod, or come from an exhaustive study of all modes with another
program (study cases f1 .. f15).
"""

from __future__ import annotations

from fractions import Fraction
from math import cos, radians, sin, sqrt
from typing import Any

import pytest
from contact_cases import bipod, rod

from gaussdyn.contact.classification.friction_margin import critical_friction
from gaussdyn.contact.outcome.outcome import Outcome, outcome
from gaussdyn.mechanics.planar.body_file import ExactBody

Q = Fraction


def solved(data: dict[str, Any], **options: Any) -> Outcome:
    found = outcome(ExactBody.of(data), **options)
    assert found.exact
    assert found.certificate is not None
    assert found.certificate.verify()
    return found


def modes(found: Outcome) -> set[str]:
    return {mode for component in found.components for mode in component.modes}


# The rod


def test_critical_friction_of_the_rod() -> None:  # C1: (1 + a^2) / (a h)
    (critical,) = critical_friction(ExactBody.of(rod(state=-1)), contact=0)
    assert critical.value == Q(61, 48)
    assert critical.exact
    assert (critical.before, critical.after) == (("UNIQUE", 1), ("NONE", 0))


@pytest.mark.parametrize(("t", "value"), [(Q(2), Q(4, 3)), (Q(19, 10), Q(761, 570)), (Q(21, 10), Q(841, 630))])
def test_critical_friction_of_the_uniform_rod_is_least_at_tangent_two(t: Fraction, value: Fraction) -> None:  # C2
    assert value == (4 + t * t) / (3 * t)
    body = rod(a=1, h=t, J=str((1 + t * t) / 3))  # half-length sqrt(1 + t^2), J = l^2 / 3
    (critical,) = critical_friction(ExactBody.of(body), contact=0)
    assert critical.value == value >= Q(4, 3)


def uniform_rod(degrees: float, mu: float, omega: float = 0.0) -> dict[str, Any]:
    """Mass, radius of gyration and gravity one, so half-length sqrt(3); the tip slides so that it digs in."""
    a, h = sqrt(3) * cos(radians(degrees)), sqrt(3) * sin(radians(degrees))
    return {"m": 1, "J": 1, "points": [[-a, -h]], "mu": [mu], "state": [-1], "force": [0, -1, 0],
            "drift": [[omega**2 * h, omega**2 * a]]}  # fmt: skip


@pytest.mark.parametrize(
    ("mu", "low", "high"),
    [(1.4, 55.5858108, 69.9518670), (1.5, 50.6415982, 73.0484694), (2.0, 37.3773681, 79.1876830)],
)
def test_painleve_intervals_of_the_uniform_rod(mu: float, low: float, high: float) -> None:  # C2
    for degrees, inside in ((low - 1e-7, 0), (low + 1e-7, 1), (high - 1e-7, 1), (high + 1e-7, 0)):
        assert solved(uniform_rod(degrees, mu)).verdict == ("NONE" if inside else "UNIQUE")


@pytest.mark.parametrize(("P1", "count"), [(1, 0), (-1, 2)])
def test_sliding_rod_beyond_the_critical_friction(P1: int, count: int) -> None:  # C4
    assert solved(rod(P1=P1)).count == count


@pytest.mark.parametrize(("state", "P1", "count"), [(1, 1, 2), (1, -1, 0), (-1, 1, 0), (-1, -1, 2)])
def test_sliding_rod_held_on_its_support(state: int, P1: int, count: int) -> None:  # C5
    assert solved(rod(state=state, P1=P1, bilateral=True)).count == count


def test_resting_rod_has_three_solutions() -> None:  # C6
    assert modes(solved(rod(state=0, P1=-1, P2=-4, bilateral=True))) in ({"S", "-", "m"}, {"s", "-", "m"})
    found = solved(rod(state=0, P1=-1, P2=-4))
    assert found.count == 3
    assert modes(found) == {"D", "S", "-"}


@pytest.mark.parametrize(("degrees", "omega", "count"), [(40, 0, 1), (40, 1.5, 1), (60, 0, 0), (60, 0.9, 2)])
def test_four_regions_of_the_uniform_rod(degrees: float, omega: float, count: int) -> None:  # C8
    assert solved(uniform_rod(degrees, 1.4, omega)).count == count


def test_associated_slider_with_stronger_friction_at_rest() -> None:  # C9
    body = {"m": 1, "J": 1, "points": [[0, 0]], "mu": ["3/10"], "mu_s": ["1/2"], "state": [0], "force": ["2/5", -1, 0]}
    found = solved(body)
    assert [c.point for c in found.components] == [(Q(0), Q(0)), (Q(0), Q(1, 10))]
    rest = outcome(ExactBody.of(body), mu_s_rule="stick")
    assert (rest.verdict, modes(rest)) == ("UNIQUE", {"S"})
    assert "stick priority leaves out +" in rest.reason


# The bipod


@pytest.mark.parametrize(
    ("mu", "F", "count"), [(("1/4", "1/4"), "1/2", 1), (("3/4", "3/5"), 1, 0), (("3/4", "2/5"), 1, 2)]
)
def test_sliding_bipod(mu: tuple[str, str], F: Any, count: int) -> None:  # D1
    assert solved(bipod(mu, F, 1)).count == count


def test_resting_bipod_has_three_solutions() -> None:  # D2
    found = solved(bipod(("3/4", "2/5"), 5, 0))
    assert {c.point[2] for c in found.components if c.point} == {Q(0), Q(247, 54), Q(23, 6)}
    assert found.count == 3


# Bodies on several contacts

UPRIGHT = "all (0,1)"
CASES: dict[str, dict[str, Any]] = {
    "f1": {"m": 1, "J": "1/4", "points": [[-1, -3], [1, -2]], "mu": ["3/2", 1], "force": [-5, -1, -5]},
    "f2": {"m": 1, "J": 1, "points": [[-1, -3], [1, -3]], "mu": [1, 1], "force": [6, -1, 3]},
    "f3": {"m": 1, "J": 1, "points": [[-1, -3], [1, -3]], "mu": [1, 1], "force": [-4, 3, 6]},
    "f4": {"m": 1, "J": 1, "points": [[-1, -3], [1, -3]], "mu": [1, 1], "force": [1, -6, 0]},
    "f5": {"m": 1, "J": "1/2", "points": [[-1, -3], [1, -3]], "mu": [1, 1], "state": [1, 1], "force": [-3, -2, -3]},
    "f6": {"m": 1, "J": "1/2", "points": [[-1, -3], [1, -3]], "mu": [1, 1], "state": [1, 1], "force": [1, 3, 5]},
    "f7": {"m": 1, "J": "1/2", "points": [[-1, -3], [0, -3], [1, -3]], "mu": [1, 1, 1], "state": [1, 1, 1],
           "force": [-1, -4, 0]},
    "f9": {"m": 1, "J": 1, "points": [[-1, 0], [1, 0]], "normals": [[1, 0], [-1, 0]], "mu": ["1/2", "1/2"],
           "force": [0, -1, 0]},
    "f11": {"m": 1, "J": 1, "points": [[-1, 0], [1, 0]], "normals": [[1, 0], [-1, 0]], "mu": ["1/2", "1/2"],
            "state": [1, -1], "force": [0, -1, 0]},
    "f14": {"m": 1, "J": 1, "points": [["-17/10", "-29/10"], ["1/5", "-19/10"]],
            "normals": [["2/5", 1], ["-9/10", 1]], "mu": ["17/10", "17/10"], "state": [-1, -1],
            "force": ["-49/10", "9/5", "-9/10"]},
    "f15": {"m": 1, "J": "11/10", "points": [["-2/5", "-13/10"], ["1/10", "-2/5"]],
            "normals": [["-1/10", 1], ["9/10", 1]], "mu": ["9/10", "7/5"], "state": [-1, 1],
            "force": ["6/5", "-7/2", "-21/10"]},
}  # fmt: skip

POINTS = {  # (a_n of every contact, a_t of every contact) by mode
    "f1": {"D-": (1.230769231, 0, -5.230769231, -4.615384615), "SD": (0, 1.756097561, 0, -0.878048780),
           "-D": (0, 0.923076923, -1.423076923, -1.884615385)},
    "f2": {"DS": (2.545454545, 0, 0, 0), "D+": (2, 0, 1, 1), "++": (0, 0, 5, 5)},
    "f3": {"+D": (0, 7.2, 6.2, 6.2)},
    "f4": {"SS": (0, 0, 0, 0)},
    "f5": {},
    "f6": {"DL": (14.666666667, 0, -25.333333333, -25.333333333), "LD": (0, 7.555555556, 11.555555556, 11.555555556)},
    "f7": {},
    "f14": {"DD": (0.326, 7.569, -8.842, -5.152), "DL": (10.964987272, 0, 33.818402574, 39.023099275),
            "LD": (0, 5.802146236, -4.964006453, -2.678149593), "LL": (0, 0, 10.087778821, 8.432364378)},
    "f15": {"DL": (1.553274753, 0, -1.997811639, -0.818429125), "LD": (0, 4.184049666, 4.251812917, 3.719069644),
            "LL": (0, 0, -0.449463960, 1.533000838)},
}  # fmt: skip


@pytest.mark.parametrize("name", POINTS)
def test_isolated_solutions(name: str) -> None:  # F1, F2, F3
    found = solved(CASES[name])
    assert found.count == len(POINTS[name])
    assert modes(found) == set(POINTS[name])
    for component in found.components:
        assert component.point is not None
        (mode,) = component.modes
        assert [float(x) for x in component.point] == pytest.approx(POINTS[name][mode], abs=2e-9)
        assert component.forces_unique is (name != "f4")
    assert found.reason == ""


def test_unique_acceleration_under_forces_that_are_not() -> None:  # F5
    found = solved(CASES["f4"])
    assert (found.verdict, found.count) == ("UNIQUE", 1)
    assert found.solutions()[0]["force_unique"] is False


@pytest.mark.parametrize(("name", "every_mode"), [("f5", 4), ("f7", 8)])
def test_nothing_moves_is_proved_for_every_mode(name: str, every_mode: int) -> None:  # F2
    found = solved(CASES[name])
    assert found.verdict == "NONE"
    assert found.certificate is not None
    leaves = found.certificate.document["leaves"]
    assert len(leaves) == every_mode
    assert all("refutation" in leaf for leaf in leaves)


def test_wedge_between_walls_is_a_continuum() -> None:  # F4
    found = solved(CASES["f9"])
    assert (found.verdict, found.count) == ("CONTINUUM", 1)
    falls = [v[3] for face in found.solutions()[0]["faces"] for v in face["vertices"]]
    assert (min(falls), max(falls)) == (-1.0, 0.0)
    assert "degenerate" in found.reason


def test_sliding_between_walls_is_an_unbounded_continuum() -> None:
    found = solved(CASES["f11"])
    (face,) = found.solutions()[0]["faces"]
    assert face["vertices"] == [[0.0, 0.0, 1.0, -1.0]]
    (ray,) = face["rays"]
    assert ray[:2] == [0.0, 0.0]
    assert ray[3] == -ray[2] > 0
    assert "degenerate" in found.reason
