"""All checkers at every kind of certificate, and at files that are none: a word, one line, an exit status, no crash."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spatial_contact_cases import SLENDER

from gaussdyn import checker, checker_blocks, checker_spatial, checker_spatial_several, outcome
from gaussdyn.mechanics.planar.body_file import ExactBody
from gaussdyn.mechanics.spatial.body_file import ExactSpatialBody
from gaussdyn.programs.laws.laws import Coulomb, Dry
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, LinearComplementarity
from gaussdyn.programs.proof.certificates import digest, farkas_certificate
from gaussdyn.programs.proof.slater import slater_certificate

CHECKERS = (checker, checker_blocks, checker_spatial, checker_spatial_several)
ROD = {
    "m": 1,
    "J": "1/12",
    "points": [[0.3, -0.4]],
    "normals": [[0, 1]],
    "mu": ["1/2"],
    "state": [0],
    "force": [0, -1, 0],
}
JUNK: list[Any] = [None, True, -1, 1.5, "x", "a\nVALID: UNIQUE", "\ud800", "≥", [], {}, [[None]], 10**400, float("inf")]


@cache
def certificates() -> dict[str, str]:
    """Return a certificate of every kind, as text."""
    planar, both = [Coulomb(0.5, dim=2)], [1.0, 0.4, 0.1, 1.0, 0.2, 0.5]
    made = [
        outcome(LinearComplementarity(M=[[1, 2], [2, 1]], q=[-1, -1])).certificate,
        outcome(ExactBody.of(ROD)).certificate,
        outcome(ComplementarityProblem(W=np.eye(3), q=[-1.0, 0.5, -0.5], laws=[*planar, Dry(0.3)])).certificate,
        farkas_certificate([], [], [[1.0], [-1.0]], [1.0, 0.0], [], [1.0, 1.0], claim=""),
        slater_certificate(ComplementarityProblem(W=np.eye(3), q=np.array([-1.0, 0.2, 0.3]), laws=[Coulomb(0.4)])),
        outcome(ExactSpatialBody.of({**SLENDER, "mu": "1/2", "F_star": ["-3/2", "33/20", -1]})).certificate,
        outcome(ComplementarityProblem(W=np.eye(3), q=[-1.0, 0.4, 0.1], laws=[Coulomb(0.3)])).certificate,
        outcome(ComplementarityProblem(W=np.eye(6), q=both, laws=[Coulomb(0.3)] * 2)).certificate,
    ]
    return {one.document["kind"]: one.to_json() for one in made}


def test_there_is_one_of_every_kind() -> None:
    assert set(certificates()) == set(checker_spatial_several.KINDS)


@pytest.mark.parametrize("program", CHECKERS, ids=lambda one: one.__name__.rpartition(".")[2])
def test_a_kind_that_a_checker_does_not_know_is_not_called_invalid(
    program: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {}
    for kind, text in certificates().items():
        files[kind] = tmp_path / f"{kind}.json"
        files[kind].write_text(text)
        status, said = program.main([str(files[kind])]), capsys.readouterr().out
        claim = json.loads(text)["claim"]
        if kind in program.KINDS:
            assert (status, said) == (0, f"VALID: {claim}\n")
        else:
            assert status == 2
            assert said.startswith(f"UNKNOWN: {kind!r} is not a kind that I know; I know lcp, planar_body")
    bad, alien = tmp_path / "bad.json", tmp_path / "alien.json"
    bad.write_text(json.dumps({**json.loads(certificates()["lcp"]), "claim": "NONE"}))
    strange = {**json.loads(certificates()["lcp"]), "kind": "brick"}
    alien.write_text(json.dumps({**strange, "sha256": digest(strange)}))
    assert program.main([str(files["lcp"]), str(bad), str(alien)]) == 1  # one that is invalid counts more
    assert program.main([str(files["lcp"]), str(alien)]) == 2


@pytest.mark.parametrize("program", CHECKERS, ids=lambda one: one.__name__.rpartition(".")[2])
@pytest.mark.parametrize("text", ["", "# A title", "{}", '{"kind": "foo"}', '{"sha256": "0"}', "[]", None])
def test_what_is_no_certificate_is_bad_input(
    program: Any, text: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file.json"
    if text is not None:
        path.write_text(text)
    assert program.main([str(path)]) == 2
    assert capsys.readouterr().out.startswith("UNKNOWN: no certificate: ")


@pytest.mark.parametrize("kind", sorted(checker_spatial_several.KINDS))
def test_damaged_and_alien_files_never_stop_a_checker(kind: str) -> None:
    rng, text = random.Random(kind), certificates()[kind]
    claim = json.loads(text)["claim"]
    for _ in range(12):
        for read in (cut(text, rng), flipped(text, rng), changed(text, rng)):
            for program in CHECKERS:
                said = program.verdict(read)
                assert said.isprintable()
                assert said.isascii()
                assert said == f"VALID: {claim}" or said.split(": ")[0] in ("INVALID", "UNKNOWN")


def cut(text: str, rng: random.Random) -> Callable[[], bytes]:
    data = text.encode()[: rng.randrange(len(text))]
    return lambda: data


def flipped(text: str, rng: random.Random) -> Callable[[], bytes]:
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return lambda: bytes(data)


def changed(text: str, rng: random.Random) -> Callable[[], str]:
    """Put junk in the place of one value, or take it away, and make the hash anew."""
    document = json.loads(text)
    places = list(_places({key: x for key, x in document.items() if key not in ("sha256", "provenance")}, document))
    node, key = rng.choice(places)
    if rng.random() < 0.2:
        del node[key]
    else:
        node[key] = rng.choice(JUNK)
    document["sha256"] = digest(document)
    return lambda: json.dumps(document)


def _places(node: Any, real: Any) -> Any:
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
    for key in keys:
        yield real, key
        yield from _places(node[key], real[key])
