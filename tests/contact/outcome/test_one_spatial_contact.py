"""All motions of one contact in space: special cases by hand, random ones against a grid of directions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from spatial_contact_cases import SLENDER, brute_force, contact, random_body

from gaussdyn import outcome
from gaussdyn.errors import InputError
from gaussdyn.mechanics.spatial.body_file import ExactSpatialBody
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem


def letters(found: Any) -> list[str]:
    return [letter for one in found.solutions() for letter in one["modes"]]


def agree(W: np.ndarray, q: np.ndarray, mu: float, mu_s: float) -> int | None:
    """Compare with the grid; return the number of motions, None where the grid cannot tell."""
    found = outcome(contact(W, q, mu, mu_s))
    assert found.certificate is not None
    expected = brute_force(W, q, mu, mu_s)
    points = [np.array(one["point"]) for one in found.solutions()]
    for u in expected:
        assert any(np.abs(u - p).max() < 1e-5 * (1 + np.abs(u).max()) for p in points), (W, q, mu, u)
    if len(points) != len(expected):  # a motion that the grid does not find must be one that it cannot
        assert all(np.abs(p).max() < 1e-4 or np.abs(p).max() > 1e3 for p in points[len(expected) :]), (W, q, mu)
    return len(points)


def cases(seed: int, number: int) -> list[Any]:
    """Half of them symmetric, half not; loads from a reaction near the border of the cone and a small motion."""
    rng, found = np.random.default_rng(seed), []
    for k in range(number):
        W = random_body(rng) + (0.4 * rng.normal(size=(3, 3)) if k % 2 else 0.0)
        mu = float(rng.choice([0.3, 0.6, 1.0, 2.0, 4.0]))
        angle, near = rng.uniform(0, 2 * np.pi), rng.uniform(0.7, 1.2)
        r = np.array([1.0, mu * near * np.cos(angle), mu * near * np.sin(angle)])
        q = -W @ r + rng.normal(size=3) * rng.choice([0.0, 0.3, 3.0])
        found.append((W, q, mu, mu * float(rng.choice([1.0, 1.0, 1.3]))))
    return found


def test_agrees_with_a_grid_of_directions() -> None:
    counts = {agree(*case) for case in cases(0, 25)}
    assert {1, 3} <= counts


@pytest.mark.slow
def test_agrees_with_a_grid_of_directions_many_times() -> None:
    counts = [agree(*case) for case in cases(1, 200)]
    assert sum(number > 1 for number in counts if number) > 20


def test_stronger_friction_at_rest_admits_rest_and_slip() -> None:
    W, q = np.eye(3), np.array([-1.0, 0.4, 0.0])
    assert letters(outcome(contact(W, q, 0.3, 0.5))) == ["S", "+"]
    kept = outcome(contact(W, q, 0.3, 0.5), mu_s_rule="stick")
    assert letters(kept) == ["S"]
    assert "stick priority" in kept.reason
    assert kept.certificate is not None
    assert kept.certificate.claim.startswith("MULTIPLE")


def test_friction_that_turns_with_the_slip_leaves_the_direction_free() -> None:
    W = np.diag([1.0, -1.0, -1.0])  # friction drives the slip in every direction alike
    found = outcome(contact(W, np.array([-1.0, 0.0, 0.0]), 0.5))
    assert (found.verdict, found.count) == ("CONTINUUM", 2)  # rest, and a ring of slips with the same speed
    assert "continuum of slip directions" in found.reason
    assert letters(found) == ["S", "+"]
    assert found.solutions()[1]["faces"][0]["angles_deg"] == [-180.0, 180.0]
    assert found.certificate is not None
    assert found.certificate.verify()


def test_arcs_of_directions() -> None:
    W = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    none = outcome(contact(W, np.array([-1.0, 0.0, 0.0]), 0.5))  # the quartic vanishes too, but no speed is positive
    assert (none.verdict, letters(none)) == ("UNIQUE", ["S"])
    assert none.certificate is not None
    assert none.certificate.verify()
    half = outcome(contact([[1, 1.5, 0], [0, -1, 0], [0, 0, -1]], [-1, 0, 0], 1.0))  # N > 0 only where 1.5 cos < 1
    assert half.verdict == "CONTINUUM"
    (face,) = [face for one in half.solutions() for face in one["faces"] if face["mode"] == "+"]
    low, high = sorted(face["angles_deg"])
    assert (high - low) == pytest.approx(360.0 - 2 * np.degrees(np.arccos(1 / 1.5)), abs=1e-9)


def test_two_directions_that_coincide_are_called_degenerate() -> None:
    W, q = np.array([[1.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, -0.5]]), np.array([-1.0, 1.5, 0.0])
    found = outcome(contact(W, q, 0.5))  # by hand: cos(angle) = 1 is a root beside sin(angle) = 0
    assert "two slip directions coincide" in found.reason
    assert found.certificate is not None
    assert found.certificate.verify()
    counts = {outcome(contact(W, q + np.array([0.0, d, 0.0]), 0.5)).count for d in (-0.01, 0.01)}
    assert len(counts) == 2


@pytest.mark.parametrize("q", [[0, 0, 0], [0, 1, 0], [0, -2, 1]])
def test_no_normal_load_is_degenerate(q: list[int]) -> None:
    found = outcome(contact(np.diag([1.0, 2.0, 3.0]), np.array(q), 0.5))
    assert found.verdict == "UNIQUE"
    assert letters(found) == (["+"] if any(q) else ["S"])
    assert "degenerate" in found.reason
    assert found.certificate is not None
    assert found.certificate.verify()


def test_without_normal_load_a_steep_body_may_also_slip_with_a_reaction() -> None:
    W = np.array([[1.0, 2.0, 0.0], [2.0, 5.0, 0.0], [0.0, 0.0, 2.0]])  # mu 2 > 1: sliding may jam along +-60 degrees
    rng, more = np.random.default_rng(3), 0
    for _ in range(20):
        q = np.array([0.0, rng.uniform(0, 0.3), rng.uniform(0, 0.5)])
        found = outcome(contact(W, q, 1.0))
        assert found.certificate is not None
        assert found.certificate.verify()
        for one in found.solutions():
            u, r = np.array(one["point"]), np.array(one["reaction"])
            assert np.allclose(u, W @ r + q, atol=1e-12)
            if one["modes"] == ["+"]:
                assert np.allclose(r[1:] * np.linalg.norm(u[1:]), -r[0] * u[1:], atol=1e-12)
        more += found.count == 3
    assert more > 0


@pytest.mark.parametrize(
    ("W", "q", "found", "unique"),
    [
        (np.diag([1.0, 1.0, 0.0]), [-1, 0, 0], "S", False),  # a rail: side forces balance themselves
        (np.diag([1.0, 1.0, 0.0]), [-1, 2, 0], "+", True),
        (np.diag([1.0, 0.0, 0.0]), [-1, 0, 0], "S", False),
        (np.zeros((3, 3)), [0, 0, 0], "S", False),
        (np.array([[1.0, -1.0, 0], [-1, 1, 0], [0, 0, 1]]), [-1, 1, 0], "S", False),
    ],
)
def test_singular_systems(W: np.ndarray, q: list[float], found: str, unique: bool) -> None:
    answer = outcome(contact(W, np.array(q), 0.5))
    if answer.verdict == "UNDECIDED":
        assert "degenerate" in answer.reason
        return
    assert (letters(answer), answer.components[0].forces_unique) == ([found], unique)
    assert answer.certificate is not None
    assert answer.certificate.verify()


@pytest.mark.parametrize("rank", [1, 2])
def test_rest_of_singular_systems_against_a_grid_of_reactions(rank: int) -> None:
    rng, mu = np.random.default_rng(rank), 0.7
    angle, height = np.meshgrid(np.linspace(0, 2 * np.pi, 181), np.linspace(0, 1, 41))
    cone = np.stack([np.ones_like(angle), mu * height * np.cos(angle), mu * height * np.sin(angle)]).reshape(3, -1)
    rests = 0
    for _ in range(60):
        A = rng.integers(-3, 4, size=(3, rank)).astype(float)
        W = A @ (A.T if rng.random() < 0.5 else rng.integers(-3, 4, size=(rank, 3)))
        r = np.array([rng.uniform(-0.5, 1.0), *rng.normal(size=2) * 0.5]).round(2)
        q = -(W @ r)
        if np.linalg.matrix_rank(W) != rank:
            continue
        answer = outcome(contact(np.array([[Fraction(x) for x in row] for row in W.tolist()]), q, Fraction(mu)))
        resting = any("S" in one.modes for one in answer.components)
        size = np.einsum("ij,ij->j", W @ cone, W @ cone)
        scale = np.clip(np.where(size > 0, -(q @ (W @ cone)) / np.where(size > 0, size, 1), 1), 0, None)
        least = np.linalg.norm(W @ (cone * scale) + q[:, None], axis=0).min()
        if least > 0.1:
            assert not resting
        if resting:
            assert least < 0.1 * (1 + np.abs(q).max())
            rests += 1
    assert rests > 5


def test_a_block_of_friction_in_space_is_decided() -> None:
    W = random_body(np.random.default_rng(4))
    found = outcome(ComplementarityProblem(W=W, q=np.array([-1.0, 0.2, 0.1]), laws=[Coulomb(0.5)]))
    assert (found.verdict, found.level) == ("UNIQUE", "velocity")
    assert found.certificate is not None
    assert found.certificate.verify()


def test_gyroscopic_terms_of_a_body_in_its_file() -> None:
    rng = np.random.default_rng(6)
    J, r, omega = np.diag([0.2, 0.3, 0.4]), rng.normal(size=3), rng.normal(size=3)
    force, moment, m = rng.normal(size=3), rng.normal(size=3), 1.5
    turning = np.linalg.solve(J, moment - np.cross(omega, J @ omega))
    F = force + m * (np.cross(turning, r) + np.cross(omega, np.cross(omega, r)))
    common = {"m": m, "J": J.tolist(), "r": r.tolist(), "mu": 0.5}
    body = ExactSpatialBody.of({**common, "force": force.tolist(), "moment": moment.tolist(), "omega": omega.tolist()})
    assert [float(x) for x in body.F_star] == pytest.approx(F, abs=1e-14)
    assert outcome(body).solutions()[0]["point"] == pytest.approx(
        outcome(ExactSpatialBody.of({**common, "F_star": F.tolist()})).solutions()[0]["point"], abs=1e-12
    )


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"mu": -1}, "mu"), ({"mu_s": "1/4"}, "mu_s"), ({"J": [[1, 0, 0], [0, -1, 0], [0, 0, 1]]}, "J"),
        ({"J": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, "J"), ({"r": [1, 2]}, "r"), ({"m": 0}, "m"), ({"J": 3}, "J"),
        ({"F_star": None}, "F_star"), ({"F_star": [1, 2, "x"]}, "F_star[2]"), ({"slip": [1]}, "slip"),
    ],
)  # fmt: skip
def test_bad_bodies_are_refused(change: dict[str, Any], name: str) -> None:
    with pytest.raises(InputError) as error:
        ExactSpatialBody.of({**SLENDER, "mu": "1/2", "F_star": [0, 0, -1], **change})
    assert error.value.name == name
