"""The checker of several contacts in space: it stands alone, and refuses proofs that leave sectors or modes out."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evidence import FULL, examples

from gaussdyn import checker_spatial_several as checker
from gaussdyn import outcome
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.proof.certificates import digest

pytestmark = pytest.mark.xdist_group("several contacts")  # what they share is made once

FILE = Path(checker.__file__)
BESIDE = ("checker.py", "checker_blocks.py", "checker_spatial.py", "checker_slips.py", "checker_spatial_several.py")


@lru_cache
def made() -> str:
    """Two bodies that both slip: one motion, which needs sectors of directions."""
    W, q = np.eye(6), np.array([-1.0, 0.4, 0.1, -1.0, 0.2, 0.5])
    W[0, 4] = W[4, 0] = 0.2
    found = outcome(ComplementarityProblem(W=W, q=q, laws=[Coulomb(0.3)] * 2))
    assert (found.verdict, found.components[0].modes) == ("UNIQUE", ("++",))
    assert found.certificate is not None
    return found.certificate.to_json()


def said(doc: dict[str, Any]) -> str:
    return checker.verdict(lambda: json.dumps({**doc, "sha256": digest(doc)}))


@pytest.mark.parametrize("file", [FILE, FILE.with_name("checker_slips.py")])
def test_without_anything_but_the_standard_library(file: Path) -> None:
    tree = ast.parse(file.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= set(sys.stdlib_module_names) | {
        "checker",
        "checker_blocks",
        "checker_slips",
        "checker_spatial",
        "None",
    }


def test_runs_as_a_script_without_the_package(tmp_path: Path) -> None:
    for name in BESIDE:
        (tmp_path / name).write_text((FILE.parent / name).read_text())
    (tmp_path / "good.json").write_text(made())
    command = [sys.executable, str(tmp_path / FILE.name), str(tmp_path / "good.json")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "VALID: UNIQUE: exactly one motion solves the problem\n"


@pytest.mark.drawn
def test_every_changed_leaf_is_refused_or_changes_nothing() -> None:
    doc = json.loads(made())
    rng, held = np.random.default_rng(0), 0
    proved = [k for k, leaf in enumerate(doc["leaves"]) if "rows" in leaf]
    for _ in range(tried := examples(60, fast=20)):
        changed = json.loads(made())
        leaf = changed["leaves"][int(rng.choice(proved))]
        leaf["rows"][int(rng.integers(len(leaf["rows"])))] = int(rng.integers(20))
        answer = said(changed)
        if answer.startswith("VALID"):  # another proof of the same
            held += 1
            assert answer == f"VALID: {doc['claim']}"
    assert held < tried


@pytest.mark.drawn
def test_what_proves_nothing_is_refused() -> None:
    slip = next(k for k, leaf in enumerate(json.loads(made())["leaves"]) if "rows" not in leaf)
    changes = (
        (lambda d: d["leaves"].pop(), "fewer leaves"),
        (lambda d: d["leaves"].append(d["leaves"][0]), "more leaves"),
        (lambda d: d["leaves"].pop(slip), ""),
        (lambda d: d["leaves"][slip].update(rows=[0, 1, 2]), "without a contradiction"),
        (lambda d: d["leaves"][0].update(multipliers=["1"] * len(d["leaves"][0]["rows"])), "without a contradiction"),
        (lambda d: d["leaves"][0].update(depth=99), ""),
        (lambda d: d["leaves"][0].update(mode="SS"), "not where the tree has it"),
        (lambda d: d["problem"].update(mu=["0", "1"]), "no friction"),
        (lambda d: d["problem"]["q"].__setitem__(0, "0"), ""),
        (lambda d: d.update(claim="NONE: no mode has a solution"), "proves only"),
    )
    for change, why in changes[:: 1 if FULL else 3]:
        doc = json.loads(made())
        change(doc)
        answer = said(doc)
        assert answer.startswith("INVALID: ")
        assert why in answer
