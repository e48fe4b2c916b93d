"""Certificates: what they say, how they verify, and what an independent reader finds in them."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_cases import bipod, groove, problem, rod, table

from gaussdyn.errors import InputError
from gaussdyn.programs.enumeration.certificate import SPELT_OUT, prove
from gaussdyn.programs.enumeration.enumerate import enumerate_modes
from gaussdyn.programs.enumeration.modal_problem import ModalProblem, lcp_problem, modal_problem
from gaussdyn.programs.laws.laws import Associated, Coulomb, Dry, Sliding, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, GlobalForm
from gaussdyn.programs.proof.certificates import Certificate, farkas_certificate
from gaussdyn.programs.proof.slater import slater_certificate

Q = Fraction


def proof(modal: ModalProblem) -> Certificate:
    made = prove(enumerate_modes(modal))
    assert made is not None
    assert made.verify(), made.claim
    return made


CLAIMS = {
    "NONE: no mode has a solution": lcp_problem([[-1]], [-1]),
    "UNIQUE: exactly one z solves the problem": lcp_problem([[2, 1], [1, 2]], [-1, -1]),
    "MULTIPLE: exactly 3 values of z solve the problem": lcp_problem([[1, 2], [2, 1]], [-1, -1]),
    "CONTINUUM: the solutions fill a continuum of z": lcp_problem([[1, 1], [1, 1]], [-1, -1]),
    "UNIQUE: exactly one acceleration solves the problem": problem(table(4)),
    "MULTIPLE: exactly 2 values of acceleration solve the problem": problem(rod(P1=-1)),
    "NONE: no mode has a solution ": problem(rod(P1=1)),
    "CONTINUUM: the solutions fill a continuum of acceleration": problem(
        {"m": 1, "J": 1, "points": [[-1, 0], [1, 0]], "normals": [[1, 0], [-1, 0]], "mu": [1, 1], "force": [0, -1, 0]}
    ),
    "MULTIPLE: exactly 3 values of acceleration solve the problem": problem(bipod(("3/4", "2/5"), 5, 0)),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims(claim: str) -> None:
    made = proof(CLAIMS[claim])
    assert made.claim == claim.strip()
    assert made.claim in made.explain()


def test_saved_certificate_is_the_document(tmp_path: Path) -> None:
    made = proof(lcp_problem([["1/3", 2], [2, 0.5]], [-1, -1]))
    path = made.save(tmp_path / "c.json")
    read = json.loads(path.read_text())
    assert read == made.document
    assert Certificate(document=read).verify()
    body = {key: value for key, value in read.items() if key != "sha256"}
    data = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert read["sha256"] == hashlib.sha256(data.encode()).hexdigest()
    assert read["problem"]["M"] == [["1/3", "2"], ["2", "1/2"]]


def test_numbers_are_stated() -> None:
    assert proof(lcp_problem([["1/3"]], [1])).document["provenance"]["numbers"] == "rational"
    dyadic = proof(lcp_problem([[0.1]], [1])).document
    assert dyadic["provenance"]["numbers"] == "exact values of doubles"
    assert Q(dyadic["problem"]["M"][0][0]) == Q(0.1)


def independent_rows(document: dict[str, Any], mode: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Rebuild a complete mode's system of an LCP or of resting unilateral contacts from the format's words alone."""
    numbers = document["problem"]
    E, G, S = [], [], []
    if document["kind"] == "lcp":
        M, q = [[Q(x) for x in row] for row in numbers["M"]], [Q(x) for x in numbers["q"]]
        n = len(q)
        unit = [[Q(i == j) for j in range(2 * n)] for i in range(2 * n)]
        E = [([-M[i][j] for j in range(n)] + [Q(i == j) for j in range(n)], q[i]) for i in range(n)]
        for i, letter in enumerate(mode):
            E.append((unit[i if letter == "0" else n + i], Q(0)))
            if letter == "0":
                S.append(([-x for x in unit[n + i]], Q(0)))
            else:
                G.append(([-x for x in unit[i]], Q(0)))
        return E, G, S
    m, J = Q(numbers["m"]), Q(numbers["J"])
    rows = []
    for (x, y), (a, b) in zip(numbers["points"], numbers["normals"], strict=True):
        for e in ((Q(a), Q(b)), (Q(b), -Q(a))):
            rows.append([e[0], e[1], Q(x) * e[1] - Q(y) * e[0]])
    n = len(rows)
    unit = [[Q(i == j) for j in range(2 * n)] for i in range(2 * n)]
    force = [Q(x) for x in numbers["force"]]
    for i, row in enumerate(rows):
        light = [row[0] / m, row[1] / m, row[2] / J]
        G_row = [-sum(a * b for a, b in zip(light, other, strict=True)) for other in rows]
        E.append((unit[i][:n] + G_row, sum(a * b for a, b in zip(light, force, strict=True))))
    for k, letter in enumerate(mode):
        a_n, a_t, r_n, r_t = unit[2 * k], unit[2 * k + 1], unit[n + 2 * k], unit[n + 2 * k + 1]
        mu, minus = Q(numbers["mu"][k]), lambda v: [-x for x in v]
        if letter == "D":
            E += [(r_n, Q(0)), (r_t, Q(0))]
            S.append((minus(a_n), Q(0)))
            continue
        E.append((a_n, Q(0)))
        G.append((minus(r_n), Q(0)))
        if letter == "S":
            E.append((a_t, Q(0)))
            G += [([s * t - mu * x for t, x in zip(r_t, r_n, strict=True)], Q(0)) for s in (1, -1)]
        else:
            s = 1 if letter == "+" else -1
            E.append(([t + s * mu * x for t, x in zip(r_t, r_n, strict=True)], Q(0)))
            S.append(([-s * x for x in a_t], Q(0)))
    return E, G, S


@pytest.mark.parametrize(
    "modal",
    [lcp_problem([[1, 2], [2, 1]], [-1, -1]),
     lcp_problem([[0.3, -1.2, 0.7], [2.1, -0.4, 0.1], [0.6, 0.9, -1.7]], [0.2, -1, 0.4]),
     problem(table(2)), problem(groove(np.random.default_rng(0), 2)), problem(rod(state=0, P1=None))],
)  # fmt: skip
def test_an_independent_reader_accepts_every_leaf(modal: ModalProblem) -> None:
    document = proof(modal).document
    letters = "01" if document["kind"] == "lcp" else "DS+-"
    seen = []
    for leaf in document["leaves"]:
        E, G, S = independent_rows(document, leaf["mode"])
        seen.append(leaf["mode"])
        if "witness" in leaf:
            x = [Q(v) for v in leaf["witness"]]
            value = [sum(a * b for a, b in zip(row, x, strict=True)) - end for row, end in E + G + S]
            assert all(v == 0 for v in value[: len(E)])
            assert all(v <= 0 for v in value[len(E) : len(E) + len(G)])
            assert all(v < 0 for v in value[len(E) + len(G) :])
            continue
        lam = [Q(v) for v in leaf["refutation"]]
        assert len(lam) == len(E + G + S)
        assert all(v >= 0 for v in lam[len(E) :])
        for j in range(len(E[0][0])):
            assert sum(v * row[j] for v, (row, _) in zip(lam, E + G + S, strict=True)) == 0
        total = sum(v * end for v, (_, end) in zip(lam, E + G + S, strict=True))
        assert total < 0 or (total == 0 and any(lam[len(E) + len(G) :]))
    assert sorted(seen) == sorted("".join(m) for m in product(letters, repeat=len(seen[0])))


def test_cut_subtrees_stay_cut_where_there_are_many_modes() -> None:
    few, many = proof(lcp_problem(np.eye(8).tolist(), [-1] * 8)), proof(lcp_problem(np.eye(9).tolist(), [-1] * 9))
    assert len(few.document["leaves"]) == 2**8 == SPELT_OUT
    assert 1 < len(many.document["leaves"]) < 2**9
    assert any("*" in leaf["mode"] for leaf in many.document["leaves"])


def test_cut_subtrees_of_contacts() -> None:
    plain, mixed, held = (groove(np.random.default_rng(seed), 6) for seed in (5, 6, 7))
    mixed["state"], held["bilateral"] = [0, 1, 0, -1, 0, 0], [False, True, False, False, False, False]
    for body in (plain, mixed, held):
        assert any("*" in leaf["mode"] for leaf in proof(problem(body)).document["leaves"])


def test_problems_of_blocks_have_certificates_too() -> None:
    W = np.diag([2.0, 1.0, 1.0, 3.0, 1.0]) + 0.25
    laws = (Coulomb(0.5, dim=2), Dry(0.25, 0.5), Unilateral(), Sliding(0.3))
    made = proof(modal_problem(ComplementarityProblem(W=W, q=np.array([-1.0, 0.3, 0.1, -2.0, 1.0]), laws=laws)))
    assert made.claim == "UNIQUE: exactly one motion solves the problem"
    relaxed = ComplementarityProblem(W=np.eye(2), q=np.array([-1.0, 3.0]), laws=(Associated(0.5, dim=2),))
    assert prove(enumerate_modes(modal_problem(relaxed))) is None  # no letters for it


def test_nothing_is_proved_without_certification() -> None:
    assert prove(enumerate_modes(lcp_problem([[1]], [-1]), certify=False)) is None
    big = enumerate_modes(lcp_problem(np.eye(6).tolist(), [-1] * 6), limit=1)
    assert prove(big) is None


# Farkas


def test_farkas_vector_is_rounded_to_a_proof() -> None:
    # x >= 1/3, y >= x, y <= 0 with a rounded multiplier
    C, d = [[3.0, 0.0], [-1.0, 1.0], [0.0, -1.0]], [1.0, 0.0, 0.0]
    made = farkas_certificate([], [], C, d, [], [1.0, 3.0000000001, 2.9999999999], claim="x must be both")
    assert made is not None
    assert made.verify()
    assert made.document["provenance"]["about"] == "x must be both"
    assert "x must be both" in made.explain()
    assert made.claim.startswith("INFEASIBLE")


def test_farkas_with_equalities() -> None:
    made = farkas_certificate([[1.0, 1.0]], [1.0], [[-1.0, 0.0], [0.0, -1.0]], [0.0, 0.0], [1.0], [1.0, 1.0], claim="")
    assert made is not None
    assert made.verify()


def test_no_proof_for_a_set_that_is_not_empty() -> None:
    assert farkas_certificate([], [], [[1.0]], [0.0], [], [1.0], claim="") is None


def test_farkas_refuses_nan_and_wrong_shapes() -> None:
    with pytest.raises(InputError):
        farkas_certificate([], [], [[np.nan]], [0.0], [], [1.0], claim="")
    with pytest.raises(InputError):
        farkas_certificate([], [], [[1.0]], [0.0], [], [1.0, 2.0], claim="")


# Slater


def test_strictly_feasible_motion_proves_existence() -> None:
    J = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    form = GlobalForm(M=np.diag([1.0, 2.0, 3.0]), h=np.array([0.1, 0.2, -5.0]), J=J, w=np.array([-0.5, 0.3, 0.0]))
    made = slater_certificate(ComplementarityProblem.condensed(form, [Coulomb(0.4)]))
    assert made is not None
    assert made.document["kind"] == "slater"
    assert made.claim.startswith("EXISTS")


def test_slater_with_bilateral_rows_that_need_a_correction() -> None:
    J = np.array([[0.1, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.3]])
    G, b = np.array([[0.3, 0.7, 0.1], [0.6, 1.4, 0.2]]), np.array([0.1, 0.2])  # redundant, not representable
    form = GlobalForm(M=np.eye(3), h=np.zeros(3), J=J, w=np.zeros(3), G=G, b=b)
    assert slater_certificate(ComplementarityProblem.condensed(form, [Coulomb(0.4)])) is not None


def test_no_existence_is_claimed_where_the_criterion_fails() -> None:
    J = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    stuck = GlobalForm(M=np.eye(3), h=np.zeros(3), J=np.vstack([J, -J]), w=np.zeros(6))
    assert slater_certificate(ComplementarityProblem.condensed(stuck, [Coulomb(0.4)] * 2)) is None
    unsymmetric = ComplementarityProblem(
        W=np.array([[1.0, 0, 0], [0.5, 1, 0], [0, 0, 1]]), q=np.ones(3), laws=(Coulomb(0.4),)
    )
    assert slater_certificate(unsymmetric) is None


def test_slater_of_a_singular_matrix_without_its_factors() -> None:
    """Two contacts on opposite sides of a point: W = J J^T has rank 3, its gaps are open enough for a motion."""
    frame = np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])
    J = np.vstack([frame, -frame])
    laws = [Coulomb(0.3)] * 2
    made = slater_certificate(ComplementarityProblem(W=J @ J.T, q=np.array([-1, 0.2, 0, 2, 0, 0]), laws=laws))
    assert made is not None
    assert made.verify()
    assert len(made.document["problem"]["M"]) == 3
    assert slater_certificate(ComplementarityProblem(W=J @ J.T, q=np.array([-2, 0, 0, 1, 0, 0]), laws=laws)) is None
