"""Every certificate verifies, and no mutation makes the checker accept a different claim."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
from contact_cases import problem, random_body
from evidence import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussdyn import checker
from gaussdyn.programs.enumeration.certificate import prove
from gaussdyn.programs.enumeration.enumerate import enumerate_modes
from gaussdyn.programs.enumeration.modal_problem import ModalProblem, lcp_problem
from gaussdyn.programs.proof.certificates import Certificate, digest

SMALL = st.integers(-2, 2)


@st.composite
def lcps(draw: st.DrawFn) -> ModalProblem:
    n = draw(st.integers(1, 3))
    return lcp_problem(draw(st.lists(st.lists(SMALL, min_size=n, max_size=n), min_size=n, max_size=n)),
                       draw(st.lists(SMALL, min_size=n, max_size=n)))  # fmt: skip


@st.composite
def bodies(draw: st.DrawFn) -> ModalProblem:
    n = draw(st.integers(1, 2))
    pairs = st.lists(st.tuples(SMALL, SMALL).map(list), min_size=n, max_size=n)
    states = st.lists(st.integers(-1, 1), min_size=n, max_size=n)
    body = {
        "m": 1, "J": draw(st.integers(1, 3)), "points": draw(pairs), "state": draw(states),
        "normals": [[draw(SMALL), 1] for _ in range(n)], "mu": [f"{draw(st.integers(0, 4))}/2" for _ in range(n)],
        "bilateral": draw(st.lists(st.booleans(), min_size=n, max_size=n)),
        "force": draw(st.lists(SMALL, min_size=3, max_size=3)), "drift": draw(pairs),
    }  # fmt: skip
    return problem(body)


def proved(modal: ModalProblem) -> Certificate:
    made = prove(enumerate_modes(modal))
    assert made is not None
    return made


def accepted(doc: dict[str, Any]) -> str | None:
    """Return the claim that the checker confirms of a document with its hash made anew, or None."""
    said = checker.verdict(lambda: json.dumps({**doc, "sha256": digest(doc)}))
    assert said.startswith(("VALID: ", "INVALID: leaf ", "INVALID: document ")), said
    return said.removeprefix("VALID: ") if said.startswith("VALID: ") else None


@given(st.one_of(lcps(), bodies()))
@settings(max_examples=examples(60), deadline=None)
def test_every_certificate_verifies(modal: ModalProblem) -> None:
    found = enumerate_modes(modal)
    made = proved(modal)
    assert made.verify()
    assert made.claim.startswith(found.verdict)


def change(draw: st.DrawFn, doc: dict[str, Any]) -> None:
    """Make one change to the claim, the leaves or what they prove."""
    leaves = [leaf for leaf in doc["leaves"] if set(leaf) >= {"mode"}]
    if not leaves:
        return
    leaf = draw(st.sampled_from(leaves))
    key = draw(st.sampled_from(sorted(leaf)))
    kind = draw(st.sampled_from(["number", "drop", "double", "mode", "swap", "key", "claim", "count"]))
    if kind == "number" and isinstance(leaf[key], list):
        row = draw(st.sampled_from(leaf[key])) if key == "single" else leaf[key]
        i = draw(st.integers(0, len(row) - 1))
        step = draw(st.sampled_from([Fraction(1), Fraction(-1), Fraction(1, 7), Fraction(-1, 2**40)]))
        row[i] = str(draw(st.sampled_from([Fraction(row[i]) + step, -Fraction(row[i]), Fraction(0)])))
    elif kind == "drop":
        doc["leaves"].remove(leaf)
    elif kind == "double":
        doc["leaves"].append(dict(leaf))
    elif kind == "mode":
        leaf["mode"] = draw(st.sampled_from([other["mode"] for other in leaves] + ["*" * len(leaf["mode"])]))
    elif kind == "swap":
        other = draw(st.sampled_from(leaves))
        leaf["mode"], other["mode"] = other["mode"], leaf["mode"]
    elif kind == "key":
        del leaf[key]
    elif kind == "claim":
        doc["claim"] = draw(st.sampled_from([
            "NONE: no mode has a solution", "UNIQUE: exactly one z solves the problem",
            "UNIQUE: exactly one acceleration solves the problem", "MULTIPLE: exactly 2 values of z solve the problem",
            "CONTINUUM: the solutions fill a continuum of z", "INFEASIBLE: no x satisfies A x = b and C x >= d", "",
        ]))  # fmt: skip
    else:
        doc["claim"] = doc["claim"].replace("2", "3").replace("one", "2 values of")


@given(st.data(), st.one_of(lcps(), bodies()))
@settings(max_examples=examples(150, fast=50), deadline=None)
def test_no_mutation_proves_another_claim(data: st.DataObject, modal: ModalProblem) -> None:
    made = proved(modal)
    doc = json.loads(made.to_json())
    for _ in range(data.draw(st.integers(1, 2))):
        if doc["leaves"]:
            change(data.draw, doc)
    # what is accepted was a harmless change: another proof of the same claim
    assert accepted(doc) in (None, made.claim)


@given(st.data(), lcps())
@settings(max_examples=examples(60), deadline=None)
def test_any_change_without_a_new_hash_is_refused(data: st.DataObject, modal: ModalProblem) -> None:
    made = proved(modal)
    text = made.to_json()
    doc = json.loads(text)
    change(data.draw, doc)
    if json.dumps(doc, sort_keys=True) == json.dumps(json.loads(text), sort_keys=True):
        return
    assert "hash" in checker.verdict(lambda: json.dumps(doc))


@given(st.data(), lcps())
@settings(max_examples=examples(60), deadline=None)
def test_changed_data_are_another_problem_with_its_own_truth(data: st.DataObject, modal: ModalProblem) -> None:
    """If the leaves still prove something about changed data, then it is true of them."""
    doc = json.loads(proved(modal).to_json())
    n = len(doc["problem"]["q"])
    i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    doc["problem"]["M"][i][j] = str(data.draw(SMALL))
    doc["problem"]["q"][j] = str(data.draw(SMALL))
    claim = accepted(doc)
    assert claim is None or claim == proved(lcp_problem(doc["problem"]["M"], doc["problem"]["q"])).claim


def change_body(draw: st.DrawFn, body: dict[str, Any]) -> None:
    """Make one change to the data of a planar body."""
    k = draw(st.integers(0, len(body["mu"]) - 1))
    key = draw(st.sampled_from(["mu", "bilateral", "state", "force", "drift", "points", "normals", "m", "J"]))
    if key == "bilateral":
        body[key][k] = not body[key][k]
    elif key == "state":
        body[key][k] = draw(st.integers(-1, 1))
    elif key == "mu":
        body["mu"][k] = body["mu_s"][k] = str(Fraction(draw(st.integers(0, 5)), 2))
    elif key == "force":
        body[key][draw(st.integers(0, 2))] = str(draw(SMALL))
    elif key in ("m", "J"):
        body[key] = str(draw(st.integers(1, 3)))
    else:
        body[key][k][draw(st.integers(0, 1))] = str(draw(SMALL))


@given(st.data(), bodies())
@settings(max_examples=examples(150, fast=50), deadline=None)
def test_a_changed_body_is_another_problem_with_its_own_truth(data: st.DataObject, modal: ModalProblem) -> None:
    doc = json.loads(proved(modal).to_json())
    change_body(data.draw, doc["problem"])
    claim = accepted(doc)
    assert claim is None or claim == proved(problem(doc["problem"])).claim


@given(st.data(), st.one_of(lcps(), bodies()))
@settings(max_examples=examples(60), deadline=None)
def test_every_leaf_witness_and_proof_of_a_point_counts(data: st.DataObject, modal: ModalProblem) -> None:
    """A leaf left out or given twice, the witness of another mode, a proof of a point left out: each is refused."""
    doc = json.loads(proved(modal).to_json())
    solved = [leaf for leaf in doc["leaves"] if "witness" in leaf]
    points = [leaf for leaf in solved if "single" in leaf]
    kind = data.draw(st.sampled_from(["drop", "double", "witness", "single", "side"]))
    if kind == "drop":
        doc["leaves"].remove(data.draw(st.sampled_from(doc["leaves"])))
    elif kind == "witness" and len(solved) > 1:  # every witness lies in its own mode only
        solved[0]["witness"], solved[1]["witness"] = solved[1]["witness"], solved[0]["witness"]
    elif kind == "single" and points:
        del data.draw(st.sampled_from(points))["single"]
    elif kind == "side" and points:
        proofs = data.draw(st.sampled_from(points))["single"]
        k = data.draw(st.integers(0, len(proofs) - 1))
        proofs[k] = proofs[k ^ 1]  # what refutes a larger value, for a smaller one
    else:
        doc["leaves"].append(data.draw(st.sampled_from(doc["leaves"])))
    assert accepted(doc) is None


@given(st.data(), st.one_of(lcps(), bodies()))
@settings(max_examples=examples(150, fast=50), deadline=None)
def test_a_mutated_proof_of_a_point_proves_nothing_else(data: st.DataObject, modal: ModalProblem) -> None:
    """The witness is moved within its mode or elsewhere: with the old proofs the claim stays true or is refused."""
    made = proved(modal)
    doc = json.loads(made.to_json())
    solved = [leaf for leaf in doc["leaves"] if "witness" in leaf]
    if not solved:
        return
    leaf = data.draw(st.sampled_from(solved))
    if data.draw(st.booleans()):
        leaf.pop("ray", None)
    else:
        leaf["ray"] = [str(data.draw(SMALL)) for _ in leaf["witness"]]
    if data.draw(st.booleans()):
        leaf["single"] = [["0"] * len(proof) for proof in leaf.get("single", [])]
    for claim in (
        made.claim, "UNIQUE: exactly one z solves the problem", "UNIQUE: exactly one acceleration solves the problem",
        "CONTINUUM: the solutions fill a continuum of z", "CONTINUUM: the solutions fill a continuum of acceleration",
    ):  # fmt: skip
        assert accepted({**doc, "claim": claim}) in (None, made.claim)


def test_random_doubles_verify() -> None:
    rng = np.random.default_rng(0)
    for k in range(12):
        assert proved(problem(random_body(rng, 1 + k % 3, at_rest=bool(k % 2)))).verify()
        M = rng.normal(size=(5, 5))
        assert proved(lcp_problem(M.tolist(), rng.normal(size=5).tolist())).verify()
