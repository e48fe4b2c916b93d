"""``gaussdyn outcome`` and ``gaussdyn verify``: documents, files, exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
KEYS = {"schema", "outcome", "count", "level", "proof", "solutions", "certificate", "reason"}
ROD = {"kind": "planar_body", "name": "rod", "m": 1, "J": 1, "points": [["-6/5", "-8/5"]], "normals": "all (0,1)",
       "mu": [2], "state": [-1], "force": [0, -1, 0], "unknown": "ignored"}  # fmt: skip
LCP = {"name": "lcp", "kind": "lcp", "M": [["1", 2], [2, 1]], "q": [-1, -1]}
CASES = {"kind": "planar_body", "cases": [ROD, {**ROD, "name": "lifted", "drift": [[3, 0]]}, LCP]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(CASES))
    return path


@pytest.mark.parametrize(
    ("case", "outcome", "count", "level"),
    [("rod", "NONE", 0, "acceleration"), ("lifted", "MULTIPLE", 2, "acceleration"), ("lcp", "MULTIPLE", 3, "lcp")],
)
def test_cases_of_a_file(cli: Cli, file: Path, case: str, outcome: str, count: int, level: str) -> None:
    proof = file.parent / "proof.json"
    answer = cli("outcome", file, "--case", case, "--json", "--certificate", proof)
    document = answer.document
    assert answer.code == 0
    assert set(document) >= KEYS
    assert document["schema"] == "gaussdyn/outcome/1"
    assert (document["outcome"], document["count"], document["level"]) == (outcome, count, level)
    assert (document["proof"], document["certificate"]) == ("exact", str(proof))
    assert len(document["solutions"]) == count
    for solution in document["solutions"]:
        assert {"modes", "point", "faces", "force_unique"} <= set(solution)
    checked = cli("verify", proof)
    assert checked.code == 0
    assert checked.out.startswith(f"VALID: {outcome}")


def test_continuum_has_faces_and_no_point(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "twin.json"
    path.write_text(json.dumps({"M": [[1, 1], [1, 1]], "q": [-1, -1]}))
    document = cli("outcome", path, "--json").document
    assert (document["outcome"], document["count"], document["certificate"]) == ("CONTINUUM", 1, None)
    (solution,) = document["solutions"]
    assert solution["point"] is None
    assert {tuple(v) for face in solution["faces"] for v in face["vertices"]} == {(0.0, 1.0), (1.0, 0.0)}
    assert "degenerate" in document["reason"]


def test_for_people(cli: Cli, file: Path) -> None:
    answer = cli("outcome", file, "--case", "lifted")
    assert answer.code == 0
    assert answer.out.startswith("MULTIPLE: ")
    assert "1. D:" in answer.out


def test_scenes(cli: Cli) -> None:
    document = cli("outcome", "sliding_rod", "--json", "--set", "mu=0.4", "--at", "0.01").document
    assert (document["outcome"], document["solutions"][0]["modes"]) == ("UNIQUE", ["L"])


def test_stick_rule(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "slider.json"
    path.write_text(
        json.dumps({"m": 1, "J": 1, "points": [[0, 0]], "mu": ["3/10"], "mu_s": ["1/2"], "force": ["2/5", -1, 0]})
    )
    assert cli("outcome", path, "--json").document["count"] == 2
    assert cli("outcome", path, "--json", "--mu-s-rule", "stick").document["count"] == 1


@pytest.mark.parametrize(
    "content",
    ["{", "[]", "{}", '{"kind": "planar_body"}', '{"kind": "lcp", "M": 1, "q": [1]}', '{"M": [[1, 2]], "q": [1]}',
     '{"M": [["1/0"]], "q": [1]}', '{"kind": "spatial_body", "m": 1}', '{"M": [[NaN]], "q": [1]}', '{"cases": []}'],
)  # fmt: skip
def test_bad_files(cli: Cli, tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    answer = cli("outcome", path, "--json")
    assert (answer.code, answer.out) == (2, "")
    assert "bad.json" in answer.err


def test_bad_usage(cli: Cli, file: Path, tmp_path: Path) -> None:
    for words in ([file], [file, "--case", "none"], [file, "--case", "rod", "--set", "mu=1"], ["no_scene"],
                  [tmp_path / "none.json"], ["sliding_rod", "--at", "-1"], [file, "--case", "rod", "--mu-s-rule", "x"],
                  [file, "--case", "rod", "--certificate", tmp_path / "no" / "where.json"]):  # fmt: skip
        answer = cli("outcome", *words, "--json")
        assert (answer.code, answer.out) == (2, ""), words
        assert answer.err


def test_verify_refuses(cli: Cli, file: Path, tmp_path: Path) -> None:
    for path in (file, tmp_path / "none.json"):  # a body, and no file
        answer = cli("verify", path)
        assert answer.code == 2
        assert answer.out.startswith("UNKNOWN: no certificate: ")


def test_directions_of_slip_are_printed(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "body.json"
    slender = {"m": 1, "J": [["1/10", 0, 0], [0, "1/50", 0], [0, 0, "1/10"]], "r": [1, 0, -2], "mu": "1/2"}
    path.write_text(json.dumps({"kind": "spatial_body", **slender, "F_star": ["-3/2", "33/20", -1]}))
    rests, *slips = cli("outcome", path).out.splitlines()[1:]
    assert "slips" not in rests
    assert ["slips towards 34.4599 degrees" in slips[0], "slips towards 63.7598 degrees" in slips[1]] == [True, True]
