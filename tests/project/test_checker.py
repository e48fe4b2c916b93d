"""The checker stands alone, refuses whatever is malformed with a place and a reason, and never crashes."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_cases import problem, table

from gaussdyn import checker, checker_blocks
from gaussdyn.programs.enumeration.certificate import prove
from gaussdyn.programs.enumeration.enumerate import enumerate_modes
from gaussdyn.programs.enumeration.modal_problem import lcp_problem, modal_problem
from gaussdyn.programs.laws.laws import Coulomb, Dry, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.proof.certificates import Certificate, digest, farkas_certificate
from gaussdyn.programs.proof.slater import slater_certificate

FILE = Path(checker.__file__)


def document(kind: str = "lcp") -> dict[str, Any]:
    made: Certificate | None
    if kind == "blocks":
        W = np.array([[2.0, 0.5, 0.1, 0.0], [0.5, 1.0, 0.0, 0.2], [0.1, 0.0, 1.0, 0.3], [0.0, 0.2, 0.3, 2.0]])
        laws = [Coulomb(0.5, dim=2), Dry(0.3), Unilateral()]
        made = prove(enumerate_modes(modal_problem(ComplementarityProblem(W=W, q=[-1.0, 0.5, 1.0, -0.5], laws=laws))))
    elif kind == "slater":
        made = slater_certificate(
            ComplementarityProblem(W=np.eye(3), q=np.array([-1.0, 0.2, 0.3]), laws=[Coulomb(0.4)])
        )
    elif kind == "farkas":
        made = farkas_certificate([], [], [[1.0], [-1.0]], [1.0, 0.0], [], [1.0, 1.0], claim="")
    else:
        made = prove(enumerate_modes(lcp_problem([[1, 2], [2, 1]], [-1, -1]) if kind == "lcp" else problem(table(2))))
    assert made is not None
    return json.loads(made.to_json())


def sealed(doc: dict[str, Any]) -> dict[str, Any]:
    return {**doc, "sha256": digest(doc)}


def verdict(doc: Any, program: Any = checker) -> str:
    said = program.verdict(lambda: json.dumps(doc))
    assert isinstance(said, str)
    return said


def refused(doc: Any) -> str:
    said = verdict(doc)
    assert said.startswith("INVALID: "), said
    return said.removeprefix("INVALID: ")


def run(folder: Path, *files: str | Path) -> tuple[int, str]:
    """Run the checker as a script, alone in a folder; return its exit status and what it prints."""
    script = folder / "checker.py"
    script.write_text(FILE.read_text())
    ran = subprocess.run(
        [sys.executable, "-I", script, *files], capture_output=True, text=True, check=False, cwd=folder
    )
    assert ran.stderr == ""
    return ran.returncode, ran.stdout


def test_imports_nothing_but_the_standard_library() -> None:
    tree = ast.parse(FILE.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= set(sys.stdlib_module_names) | {"collections.abc"}
    assert not any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))


def test_runs_as_a_script_without_the_package(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(document()))
    bad.write_text(json.dumps({**document(), "claim": "UNIQUE: exactly one z solves the problem"}))
    said = "VALID: MULTIPLE: exactly 3 values of z solve the problem\n"
    assert run(tmp_path, good) == (0, said)
    status, text = run(tmp_path, good, bad)
    assert (status, text[: len(said)]) == (1, said)
    assert text[len(said) :].startswith("INVALID: document has another hash")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"null", b"[]", b"3", b'"x"', b"\xff\xfe", b"{}", b"[" * 100_000, b"NaN", b'{"kind": "lcp"}']
)
def test_malformed_files(content: bytes) -> None:
    for program in (checker, checker_blocks):
        said = program.verdict(lambda: content)
        assert said.startswith("UNKNOWN: no certificate: ")
        assert "\n" not in said


def test_missing_file_and_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = [str(tmp_path / "none.json"), str(tmp_path)]
    status, text = run(tmp_path, *missing)
    assert (status, text.count("UNKNOWN: no certificate: ")) == (2, 2)
    assert run(tmp_path)[0] == 2
    assert checker_blocks.main(missing) == 2
    assert checker_blocks.main([]) == 2
    assert capsys.readouterr().out.count("UNKNOWN: no certificate: ") == 2


JUNK: list[Any] = [None, True, -1, 1.5, "x", "", "1/0", [], {}, [[]], ["x"], [None], "D" * 50, 10**400, float("inf")]


@pytest.mark.parametrize("kind", ["lcp", "planar_body", "farkas", "blocks", "slater"])
@pytest.mark.parametrize("junk", range(len(JUNK)))
def test_junk_in_the_place_of_every_value_is_refused_or_changes_nothing(kind: str, junk: int) -> None:
    """Replace values all over the document in turn, others for every junk; the hash is made anew."""
    original = document(kind)
    claim = original["claim"]

    def places(node: Any) -> list[tuple[Any, Any]]:
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
        return [(node, key) for key in keys] + [place for key in keys for place in places(node[key])]

    count = len(places(original))
    stride = max(1, count // 13)
    for i in range(junk * stride // len(JUNK), count, stride):
        doc = json.loads(json.dumps(original))
        node, key = places(doc)[i]
        if node is doc and key in ("sha256", "provenance"):
            continue
        node[key] = JUNK[junk]
        said = verdict(sealed(doc), checker_blocks)
        assert said == f"VALID: {claim}" or said.startswith(("INVALID: ", "UNKNOWN: ")[: 1 + (key == "kind")])


@pytest.mark.parametrize("key", ["kind", "problem", "claim", "leaves", "sha256"])
def test_every_key_is_needed(key: str) -> None:
    doc = document()
    del doc[key]
    said = verdict(doc if key == "sha256" else sealed(doc))
    assert said.startswith("UNKNOWN: no certificate: " if key in ("kind", "sha256") else "INVALID: document")


def test_messages_name_the_leaf_and_the_reason() -> None:
    doc = document()
    solved = next(leaf for leaf in doc["leaves"] if "witness" in leaf)
    solved["witness"][0] = "17"
    assert refused(sealed(doc)) == f"leaf {solved['mode']} has a point outside its mode (ValueError)"
    doc = document()
    dead = next(leaf for leaf in doc["leaves"] if "refutation" in leaf)
    dead["refutation"] = ["0"] * len(dead["refutation"])
    nothing = f"leaf {dead['mode']} has multipliers that show no contradiction (ValueError)"
    assert refused(sealed(doc)) == nothing
    dead["refutation"][-1] = "-1"
    assert refused(sealed(doc)) == nothing
    dead["refutation"] = dead["refutation"][:-1]
    assert refused(sealed(doc)).startswith(f"leaf {dead['mode']} ")
    del dead["refutation"]
    assert refused(sealed(doc)) == f"leaf {dead['mode']} 'witness' (KeyError)"


def test_negative_multipliers_of_inequalities_prove_nothing() -> None:
    """z >= 0 and z - 1 = w, w > 0, z = 0 has no solution; z = 1, w = 0 has one, though -1 times z >= 0 says 0 > 1."""
    doc = {
        "kind": "lcp", "problem": {"M": [["1"]], "q": ["-1"]}, "claim": "NONE: no mode has a solution",
        "leaves": [{"mode": "0", "refutation": ["1", "1", "1"]}, {"mode": "1", "refutation": ["1", "-1", "-1"]}],
    }  # fmt: skip
    assert refused(sealed(doc)) == "leaf 1 has multipliers that show no contradiction (ValueError)"


def test_leaves_must_partition_the_modes() -> None:
    doc = document()
    assert "partition" in refused(sealed({**doc, "leaves": doc["leaves"][1:]}))
    assert "partition" in refused(sealed({**doc, "leaves": [*doc["leaves"], doc["leaves"][0]]}))
    assert "partition" in refused(sealed({**doc, "leaves": []}))
    star = {"mode": "**", "refutation": doc["leaves"][0].get("refutation", ["0"] * 6)}
    assert "partition" in refused(sealed({**doc, "leaves": [*doc["leaves"], star]}))


def test_another_claim_is_refused() -> None:
    for claim in (
        "UNIQUE: exactly one z solves the problem",
        "MULTIPLE: exactly 2 values of z solve the problem",
        "",
        None,
    ):
        assert "proves only: MULTIPLE: exactly 3" in refused(sealed({**document(), "claim": claim}))


def test_a_single_point_cannot_pass_as_a_continuum() -> None:
    doc = document()
    leaf = next(leaf for leaf in doc["leaves"] if "witness" in leaf)
    del leaf["single"]
    leaf["ray"] = ["0"] * len(leaf["witness"])
    assert refused(sealed(doc)).startswith(f"leaf {leaf['mode']} ")
    leaf["ray"] = ["1"] * len(leaf["witness"])
    assert "outside its mode" in refused(sealed(doc))


def test_an_open_mode_cannot_have_a_witness() -> None:
    """What holds in all modes holds of z = 1, w = 2 too, but z w = 0 does not: z = 0 is the only solution."""
    for leaf in ({"witness": ["1", "2"], "ray": ["1", "1"]}, {"witness": ["0", "1"], "single": [["0"] * 3] * 2}):
        problem_ = {"M": [["1"]], "q": ["1"]}
        claim = "CONTINUUM: the solutions fill a continuum of z"
        doc = {"kind": "lcp", "problem": problem_, "claim": claim, "leaves": [{"mode": "*", **leaf}]}
        assert "outside its mode" in refused(sealed(doc))


def continuum() -> dict[str, Any]:
    made = prove(enumerate_modes(lcp_problem([[1, 1], [1, 1]], [-1, -1])))
    assert made is not None
    return json.loads(made.to_json())


@pytest.mark.parametrize("multiplier", ["0", "1", "-1"])
def test_a_face_cannot_pass_as_a_point(multiplier: str) -> None:
    doc = continuum()
    assert verdict(doc).startswith("VALID: CONTINUUM")
    wide = next(leaf for leaf in doc["leaves"] if "ray" in leaf)
    del wide["ray"]
    doc["claim"] = "UNIQUE: exactly one z solves the problem"
    refused(sealed(doc))
    wide["single"] = [[multiplier] * 6 + ["1"]] * 4
    assert refused(sealed(doc)) == f"leaf {wide['mode']} shows no single point (ValueError)"


def test_a_missing_mode_is_found() -> None:
    """[[1, 2], [2, 1]] has three solutions; with the leaf of one left out or refuted falsely, not two."""
    doc = document()
    doc["claim"] = "MULTIPLE: exactly 2 values of z solve the problem"
    solved = next(leaf for leaf in doc["leaves"] if "witness" in leaf)
    assert "partition" in refused(sealed({**doc, "leaves": [leaf for leaf in doc["leaves"] if leaf is not solved]}))
    del solved["witness"]
    for y in ("0", "1", "-1"):
        solved["refutation"] = [y] * 6
        assert "show no contradiction" in refused(sealed(doc))


def test_a_wrong_proof_of_a_point_is_refused() -> None:
    for change in (lambda y: ["0"] * len(y), lambda y: [*y[:-1], "0"], lambda y: y[:-1], lambda y: [*y, "0"],
                   lambda y: ["7", *y[1:]]):  # fmt: skip
        doc = document()
        leaf = next(leaf for leaf in doc["leaves"] if "witness" in leaf)
        leaf["single"][1] = change(leaf["single"][1])
        assert refused(sealed(doc)).startswith(f"leaf {leaf['mode']} ")
    for change in (lambda proofs: proofs[1:], lambda proofs: [*proofs, proofs[0]], lambda proofs: proofs[::-1]):
        doc = document()
        leaf = next(leaf for leaf in doc["leaves"] if "witness" in leaf)
        leaf["single"] = change(leaf["single"])
        assert refused(sealed(doc)).startswith(f"leaf {leaf['mode']} ")


def test_a_point_that_only_inequalities_fix() -> None:
    """z1 + z2 = 0 and z >= 0 leave z = 0 only, in a mode whose equalities leave a line."""
    made = prove(enumerate_modes(lcp_problem([[1, 1], [1, 1]], [0, 0])))
    assert made is not None
    assert made.claim == "UNIQUE: exactly one z solves the problem"
    doc = json.loads(made.to_json())
    leaf = next(leaf for leaf in doc["leaves"] if leaf["mode"] == "11")
    assert leaf["rank"] == 3
    assert all(Fraction(y) >= 0 for proof in leaf["single"] for y in proof[4:])
    assert verdict(doc) == f"VALID: {made.claim}"


def test_the_body_itself_is_checked() -> None:
    for key, value in (("m", "-1"), ("J", "0"), ("mu", ["-1", "1"]), ("mu_s", ["0", "0"]), ("state", [2, 0]),
                       ("normals", [["0", "0"], ["0", "1"]])):  # fmt: skip
        doc = document("planar_body")
        doc["problem"][key] = value
        refused(sealed(doc))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("state", [0.5, 0]), ("state", [True, 0]), ("drift", [["0", "0", "0"], ["0"]]),
        ("force", ["0", "-1", "0", "0"]),
        ("points", [["0", "0"]]), ("mu", ["1/2", "1/2", "1/2"]), ("bilateral", [0.5, False]), ("bilateral", []),
        ("m", "1/0"), ("m", "1e3"), ("J", True), ("normals", "all (0,1)"),
    ],
)  # fmt: skip
def test_misshapen_bodies_are_refused(key: str, value: Any) -> None:
    doc = document("planar_body")
    doc["problem"][key] = value
    refused(sealed(doc))


def test_a_state_given_as_a_double_does_not_round_the_data() -> None:
    """1/3 times 1.0 would be a double; the witness obeys 1/3 exactly and must be accepted."""
    body = {"m": 1, "J": 1, "points": [["0", "-1"]], "mu": ["1/3"], "state": [1], "force": ["0", "-1", "0"]}
    made = prove(enumerate_modes(problem(body)))
    assert made is not None
    doc = json.loads(made.to_json())
    doc["problem"]["state"] = [1.0]
    assert verdict(sealed(doc)) == f"VALID: {made.claim}"


def test_witnesses_of_another_length_are_refused() -> None:
    for change in (lambda x: [*x, "0"], lambda x: x[:-1], lambda _: []):
        doc = document()
        leaf = next(leaf for leaf in doc["leaves"] if "witness" in leaf)
        leaf["witness"] = change(leaf["witness"])
        assert refused(sealed(doc)).startswith(f"leaf {leaf['mode']} ")


def test_other_kinds_are_checked_beside_the_first_two() -> None:
    doc = document("farkas")
    assert verdict(doc) == "UNKNOWN: 'farkas' is not a kind that I know; I know lcp, planar_body"
    assert verdict(doc, checker_blocks) == f"VALID: {doc['claim']}"
    for key in ("lcp", "planar_body"):
        assert verdict(document(key), checker_blocks) == verdict(document(key))


def test_both_checkers_run_as_scripts_without_the_package(tmp_path: Path) -> None:
    other = Path(checker_blocks.__file__)
    for file in (FILE, other):
        (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "good.json").write_text(json.dumps(document("farkas")))
    command = [sys.executable, other.name, "good.json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"VALID: {document('farkas')['claim']}\n"


def code_lines(source: str) -> int:
    tree = ast.parse(source)
    prose: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node):
            prose |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(source.splitlines(), start=1)
    return sum(1 for i, line in lines if line.strip() and i not in prose and not line.strip().startswith("#"))


def test_the_checker_stays_small_enough_to_be_read() -> None:
    assert code_lines(FILE.read_text()) < 85
