"""All motions of two contacts in space, against Newton's method from a grid of directions in every mode."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from gaussdyn import outcome
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.spatial.certificate import spatial_certificate
from gaussdyn.programs.spatial.several_contacts import SpatialContacts, polygon, several_motions
from gaussdyn.programs.spatial.slip_directions import SlipSystem, uncoupled

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
        proof = spatial_certificate(contacts, {})
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
    found = several_motions(SpatialContacts(W=[list(map(Q, row)) for row in W.tolist()], q=q, mu=half, mu_s=half))
    assert any("boxes" in why for _, why in found.left)


@pytest.mark.parametrize("sides", [12, 48, 192])
@pytest.mark.parametrize("outside", [True, False])
def test_polygons_lie_outside_or_inside_the_cone(outside: bool, sides: int) -> None:
    rows, mu = [np.array(row, dtype=float) for row in polygon(Q(3, 5), sides, outside)], 0.6
    angle = np.radians(np.arange(0.0, 360.0, 0.05))
    border = np.stack([np.ones_like(angle), mu * np.cos(angle), mu * np.sin(angle)])
    least = np.min([row @ border for row in rows], axis=0)
    assert ((least >= -1e-12) if outside else (least < 0)).all()


def test_directions_of_a_rigid_motion_are_never_refuted_and_most_others_are() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        W, q = body(rng, 3)
        couplings = SlipSystem(W=W, q=q, mu=(Q(1, 2),) * 3).couplings
        kernel = np.linalg.svd(couplings.reshape(len(couplings), -1))[2][len(couplings) :]  # of velocities, 3 of 6
        u = (rng.normal(size=(400, len(kernel))) @ kernel).reshape(-1, 3, 2)
        angles = np.arctan2(u[..., 1], u[..., 0])
        for r in (0.4, 0.05, 1e-3, 1e-6):
            assert not uncoupled(couplings, angles + rng.uniform(-r, r, angles.shape), r).any()
        assert uncoupled(couplings, rng.uniform(-np.pi, np.pi, (400, 3)), 1e-3).mean() > 0.95


@pytest.mark.parametrize("seed", [3, 4, 8])
def test_three_contacts_are_decided(seed: int) -> None:
    rng = np.random.default_rng(seed)
    (W, q), mu = body(rng, 3), Q(int(rng.integers(2, 9)), 10)
    found = several_motions(SpatialContacts(W=W, q=q, mu=(mu,) * 3, mu_s=(mu,) * 3))
    assert found.left == ()
    assert len(found.motions) == 1  # friction is moderate
    (one,) = found.motions
    r, u = np.array(one.reaction), np.array(one.motion)
    assert np.array(W, dtype=float) @ r + np.array(q, dtype=float) == pytest.approx(u, abs=1e-8)
    for law_u, law_r in zip(u.reshape(3, 3), r.reshape(3, 3), strict=True):
        assert np.abs(Coulomb(float(mu)).residual(law_u, law_r)).max() < 1e-8
