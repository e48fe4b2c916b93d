"""All motions of two to four contacts in space, against Newton's method from a grid of directions, and their proofs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from evidence import examples, first

from gaussdyn import checker_spatial_several as checker
from gaussdyn import outcome
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.spatial.several_contacts import SpatialContacts, several_certificate, several_motions

Q = Fraction


def exact(x: np.ndarray) -> list:
    return [exact(row) for row in x] if np.ndim(x) else Fraction(float(x)).limit_denominator(10**6)


def body(rng: np.random.Generator, contacts: int = 2) -> tuple[list, tuple]:
    """W and q of a random body that touches a plane at some points, exactly consistent."""
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    J = np.sort(rng.uniform(0.05, 1.0, 3))
    J[2] = rng.uniform(J[1], J[0] + J[1])
    inverse = np.eye(6)
    inverse[3:, 3:] = axes @ np.diag(1 / J) @ axes.T
    rows = []
    for _ in range(contacts):
        x, y, z = *(rng.normal(size=2) * rng.uniform(0.2, 2.0)).round(3), -1.0
        arm = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        rows.append(np.hstack([np.eye(3), -arm])[[2, 0, 1]])
    light, jacobian = exact((inverse + inverse.T).round(4) / 2), exact(np.vstack(rows))
    load = exact(rng.normal(size=6) - np.array([0, 0, rng.uniform(0, 3), 0, 0, 0]))
    n = 3 * contacts
    moved = [[sum(light[i][k] * jacobian[j][k] for k in range(6)) for j in range(n)] for i in range(6)]
    W = [[sum(jacobian[i][k] * moved[k][j] for k in range(6)) for j in range(n)] for i in range(n)]
    return W, tuple(sum(moved[k][i] * load[k] for k in range(6)) for i in range(n))


def rests(W: np.ndarray, q: np.ndarray, mu: float) -> bool:
    """Whether both contacts can rest: the reactions are a line, searched for points in both cones."""
    r = np.linalg.lstsq(W, -q, rcond=1e-9)[0]
    line = r[:, None] + np.linalg.svd(W)[2][-1][:, None] * np.linspace(-100, 100, 100_001)
    inside = [np.hypot(line[k + 1], line[k + 2]) <= mu * line[k] for k in (0, 3)]
    return bool(np.abs(W @ r + q).max() < 1e-8 and (inside[0] & inside[1]).any())


def newton(W: np.ndarray, q: np.ndarray, mu: float, modes: str) -> list[np.ndarray]:
    """Motions of a mode with slip, from a grid of directions and random forces; unknown r of S, (angle, N, s) of +."""
    acting = [k for k in range(2) if modes[k] != "D"]
    slips = [k for k in acting if modes[k] == "+"]
    steps = np.radians(np.arange(0, 360, 15 if len(slips) == 2 else 3))
    x = np.random.default_rng(0).uniform(0, 2, (len(steps) ** len(slips), 2, 3))
    x[:, slips, 0] = np.array(list(product(steps, repeat=len(slips))))
    rows = [3 * k + i for k in acting for i in range(3)]
    for _ in range(50):
        r, slip, columns = np.zeros((len(x), 6)), np.zeros((len(x), 6)), []
        for k in acting:
            at = slice(3 * k, 3 * k + 3)
            if modes[k] == "S":
                r[:, at] = x[:, k]
                columns += [np.broadcast_to(W[:, 3 * k + i], (len(x), 6)) for i in range(3)]
                continue
            angle, N, s = x[:, k].T
            e, cross = (np.stack([0 * N, np.cos(angle + a), np.sin(angle + a)], axis=1) for a in (0, np.pi / 2))
            push = np.array([1.0, 0, 0]) - mu * e
            r[:, at], slip[:, at] = N[:, None] * push, s[:, None] * e
            turning, sliding = np.zeros((2, len(x), 6))
            turning[:, at], sliding[:, at] = s[:, None] * cross, e
            columns += [-mu * N[:, None] * (cross @ W[:, at].T) - turning, push @ W[:, at].T, -sliding]
        u = r @ W.T + q
        residual, jacobian = (u - slip)[:, rows], np.stack(columns, axis=2)[:, rows]
        fine = np.abs(np.linalg.det(jacobian)) > 1e-12
        step = np.zeros_like(residual)
        step[fine] = np.linalg.solve(jacobian[fine], residual[fine][:, :, None])[:, :, 0]
        x[:, acting] -= np.clip(step.reshape(len(x), -1, 3), -0.5, 0.5)
    good = np.abs(residual).max(axis=1) < 1e-9
    for k in range(2):
        good &= u[:, 3 * k] > 0 if modes[k] == "D" else r[:, 3 * k] > 1e-9
        good &= x[:, k, 2] > 1e-9 if modes[k] == "+" else True
        good &= np.hypot(r[:, 3 * k + 1], r[:, 3 * k + 2]) <= mu * r[:, 3 * k] + 1e-9 * (modes[k] != "S")
    found: list[np.ndarray] = []
    for one in u[good]:
        if not any(np.abs(one - other).max() < 1e-6 for other in found):
            found.append(one)
    return found


def brute_force(W: np.ndarray, q: np.ndarray, mu: float) -> list[tuple[str, np.ndarray]]:
    found = [("SS", np.zeros(6))] if rests(W, q, mu) else []
    if min(q[0], q[3]) > 0:
        found.append(("DD", q))
    for k, modes in ((0, "SD"), (3, "DS")):
        r = np.zeros(6)
        r[k : k + 3] = np.linalg.solve(W[k : k + 3, k : k + 3], -q[k : k + 3])
        if np.hypot(r[k + 1], r[k + 2]) <= mu * r[k] and (W @ r + q)[3 - k] > 0:
            found.append((modes, W @ r + q))
    for modes in ("+D", "D+", "+S", "S+", "++"):
        found += [(modes, u) for u in newton(W, q, mu, modes)]
    return found


def compare(seed: int, number: int) -> list[int]:
    rng, counts = np.random.default_rng(seed), []
    for _ in range(number):
        (W, q), mu = body(rng), float(rng.choice([0.3, 0.6, 1.0, 2.0]))
        contacts = SpatialContacts(W=W, q=q, mu=(Q(mu),) * 2, mu_s=(Q(mu),) * 2)
        found = several_motions(contacts)
        assert found.left == ()
        expected = brute_force(np.array(W, dtype=float), np.array(q, dtype=float), mu)
        assert sorted(one.modes for one in found.motions) == sorted(modes for modes, _ in expected)
        for one in found.motions:
            assert any(one.modes == m and np.allclose(one.motion, u, atol=1e-6) for m, u in expected)
            u = np.array(W, dtype=float) @ one.reaction + np.array(q, dtype=float)
            assert np.allclose(u, one.motion, atol=1e-8)
        counts.append(len(found.motions))
        proof = several_certificate(contacts, found, {})
        assert proof is not None
        assert proof.verify()
        assert proof.claim.startswith(("NONE", "UNIQUE", f"MULTIPLE: exactly {len(expected)} ")[min(len(expected), 2)])
    return counts


@pytest.mark.slow
def test_two_contacts_agree_with_a_grid_of_directions() -> None:
    assert set(compare(2, 3)) <= {1, 3}


@pytest.mark.slow
def test_two_contacts_agree_with_a_grid_of_directions_many_times() -> None:
    assert set(compare(0, 25)) <= {1, 3}


def test_independent_contacts_multiply() -> None:
    W = np.zeros((6, 6))  # two bodies: stick and two slips each
    one = np.array([[51.0, 100.0, 0.0], [100.0, 201.0, 0.0], [0.0, 0.0, 51.0]])
    W[:3, :3] = W[3:, 3:] = one
    q = np.array([-1.0, -1.5, 1.65] * 2)
    found = outcome(ComplementarityProblem(W=W, q=q, laws=[Coulomb(0.5)] * 2))
    assert (found.verdict, found.count) == ("MULTIPLE", 9)
    assert {name for one in found.components for name in one.modes} == {"SS", "S+", "+S", "++"}
    assert all(len(one["point"]) == 6 for one in found.solutions())


def test_stick_priority_leaves_out_slips() -> None:
    q = np.array([-1.0, 0.4, 0.1] * 2)
    problem = ComplementarityProblem(W=np.eye(6), q=q, laws=[Coulomb(0.3, 0.5)] * 2)
    assert outcome(problem).count == 4
    kept = outcome(problem, mu_s_rule="stick")
    assert (kept.verdict, kept.components[0].modes) == ("UNIQUE", ("SS",))


def test_what_is_not_decided_is_said() -> None:
    W = np.diag([1.0, 1.0, 1.0, 1.0, -1.0, -1.0])  # the second contact slips in every direction alike
    q, half = tuple(map(Q, (-1, 0, 0, -1, 0, 0))), (Q(1, 2),) * 2
    contacts = SpatialContacts(W=[list(map(Q, row)) for row in W.tolist()], q=q, mu=half, mu_s=half)
    found = several_motions(contacts, nodes=60)
    assert any("sectors" in why for _, why in found.left)
    assert several_certificate(contacts, found, {}) is None


def test_motions_obey_the_conditions_of_their_sectors() -> None:
    """Whatever slips within a sector, or rests inside its cone, keeps every linear condition."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        mu, a = Q(int(rng.integers(1, 15)), 10), Q(int(rng.integers(-8, 8)), 8)
        sector = (int(rng.choice([1, -1])), a, a + Q(1, int(rng.choice([1, 2, 8, 64]))))
        t = sector[1] + (sector[2] - sector[1]) * Q(int(rng.integers(0, 101)), 100)
        e = np.array(checker.direction(sector[0], t), dtype=float)
        N, s = rng.uniform(0, 3, 2)
        W, q = [[Q(0)] * 3 for _ in range(3)], tuple(Q(x) for x in (0.0, s * e[0], s * e[1]))
        keeps((W, q, (mu,), (mu,)), sector, np.array([N, *(-float(mu) * N * e)]))
        r = np.array([N, *(rng.uniform(0, 1) * float(mu) * N * e)])
        keeps((W, (Q(0),) * 3, (mu,), (mu,)), "S", r)
        keeps((W, q, (mu,), (mu,)), "*", r)


def keeps(data: tuple, state: object, r: np.ndarray) -> None:
    for row, kind in checker.of_contact(data, 0, state):
        *a, b = np.array(row, dtype=float)
        value, size = float(np.dot(a, r) - b), 1e-9
        assert abs(value) < size if kind == checker.EQUAL else value > -size


def natural_residual(W: list, q: tuple, mu: float, found: object) -> float:
    r, u = np.array(found.reaction), np.array(found.motion)
    n = len(mu_ := [mu] * (len(q) // 3))
    laws = [Coulomb(mu_[k]).residual(u[3 * k : 3 * k + 3], r[3 * k : 3 * k + 3]) for k in range(n)]
    return float(max(np.abs(np.array(W, dtype=float) @ r + np.array(q, dtype=float) - u).max(), np.abs(laws).max()))


@pytest.mark.parametrize(("contacts", "seeds"), first(1, [(3, (3, 4, 8)), (4, (2,)), (4, (4,))]))
def test_three_and_four_contacts_are_decided(contacts: int, seeds: tuple) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        (W, q), mu = body(rng, contacts), Q(int(rng.integers(2, 9)), 10)
        given = SpatialContacts(W=W, q=q, mu=(mu,) * contacts, mu_s=(mu,) * contacts)
        found = several_motions(given)
        assert (found.left, len(found.motions)) == ((), 1)  # friction is moderate
        assert natural_residual(W, q, float(mu), found.motions[0]) < 1e-8
        proof = several_certificate(given, found, {})
        assert proof is not None
        assert proof.verify()


@pytest.mark.drawn
@pytest.mark.slow
def test_nine_of_ten_random_problems_of_three_and_four_contacts_are_decided() -> None:
    """Bodies on a plane, and matrices at random: each with a proof that the checker accepts."""
    decided = tried = 0
    for seed in range(examples(25, fast=10)):
        for contacts in (3, 4):
            rng = np.random.default_rng(seed)
            J = rng.normal(size=(3 * contacts, 3 * contacts))
            dense = exact(J @ J.T)
            sizes = range(3 * contacts)
            at_random = (
                [[dense[min(i, j)][max(i, j)] for j in sizes] for i in sizes],
                tuple(exact(rng.normal(size=3 * contacts))),
            )
            for W, q in (body(rng, contacts), at_random):
                mu = (Q(int(rng.integers(2, 9)), 10),) * contacts
                given = SpatialContacts(W=W, q=q, mu=mu, mu_s=mu)
                found = several_motions(given)
                proof = several_certificate(given, found, {})
                tried += 1
                decided += proof is not None and proof.verify()
                assert all(natural_residual(W, q, float(mu[0]), one) < 1e-8 for one in found.motions)
    assert decided >= 0.9 * tried


def test_four_legs_that_slide_and_turn_have_a_continuum_of_motions() -> None:
    """Legs in a plane: one number of the normal forces is free, and the friction turns the body as they share it."""
    rng = np.random.default_rng(0)
    (W, q), mu = body(rng, 4), (Q(4, 5),) * 4
    given = SpatialContacts(W=W, q=q, mu=mu, mu_s=mu)
    found = several_motions(given)
    assert (found.curve, found.motions[0].modes, found.left) == (True, "++++", ())
    assert natural_residual(W, q, 0.8, found.motions[0]) < 1e-8
    proof = several_certificate(given, found, {})
    assert proof is not None
    assert proof.claim == checker.CONTINUUM
    assert proof.verify()


def test_doubles_of_one_body_stay_dependent() -> None:
    """Rounding makes 12 rows of a body with 6 velocities independent; the outcome is that of the exact rows."""
    for seed, modes in ((3, "DSSD"), (0, "++++")):
        rng = np.random.default_rng(seed)
        W, q = body(rng, 4)
        mu = int(rng.integers(2, 9)) / 10
        dense = np.array(W, dtype=float)
        dense += 1e-16 * np.abs(dense).max() * rng.normal(size=dense.shape)
        problem = ComplementarityProblem(W=(dense + dense.T) / 2, q=np.array(q, dtype=float), laws=[Coulomb(mu)] * 4)
        found = outcome(problem)
        assert found.components[0].modes == (modes,)
        assert found.verdict == ("CONTINUUM" if modes == "++++" else "UNIQUE")
        assert found.certificate is not None
        assert "made to" in found.certificate.document["provenance"]["numbers"]
        assert found.certificate.verify()
