"""The checker for contacts in space: standard library only, alone in a folder with the files it names."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from spatial_contact_cases import SLENDER

from gaussdyn import checker_spatial
from gaussdyn.contact.outcome.outcome import outcome
from gaussdyn.mechanics.spatial.body_file import ExactSpatialBody
from gaussdyn.programs.proof.certificates import digest

FILE = Path(checker_spatial.__file__)


def document() -> dict[str, Any]:
    made = outcome(ExactSpatialBody.of({**SLENDER, "mu": "1/2", "F_star": ["-3/2", "33/20", -1]})).certificate
    assert made is not None
    return json.loads(made.to_json())


def test_short_and_without_anything_but_the_standard_library() -> None:
    text = FILE.read_text()
    assert len(text.splitlines()) <= 250
    tree = ast.parse(text)
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= set(sys.stdlib_module_names) | {"checker", "checker_blocks", "None"}


def test_runs_as_a_script_without_the_package(tmp_path: Path) -> None:
    for name in ("checker.py", "checker_blocks.py", "checker_spatial.py"):
        (tmp_path / name).write_text((FILE.parent / name).read_text())
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    doc = document()
    good.write_text(json.dumps(doc))
    doc["leaves"] = [leaf for leaf in doc["leaves"] if leaf["mode"] != "S"]
    bad.write_text(json.dumps({**doc, "sha256": digest(doc)}))
    for path, status, said in ((good, 0, "VALID: MULTIPLE: exactly 3"), (bad, 1, "INVALID: leaf D has leaves that")):
        command = [sys.executable, str(tmp_path / "checker_spatial.py"), str(path)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (ran.returncode, ran.stderr) == (status, "")
        assert ran.stdout.startswith(said)


@pytest.mark.parametrize(
    ("key", "value"),
    [("m", "0"), ("J", [["1", "0", "0"], ["0", "-1", "0"], ["0", "0", "1"]]), ("J", [["1"]]), ("r", ["1", "2"]),
     ("mu", "-1"), ("mu_s", "1/4"), ("F_star", ["1", "x", "2"]), ("slip", ["0", "0"]), ("slip", 3), ("slip", ["1"])],
)  # fmt: skip
def test_data_that_are_no_contact(key: str, value: Any) -> None:
    doc = document()
    doc["problem"][key] = value
    assert checker_spatial.verdict(lambda: json.dumps({**doc, "sha256": digest(doc)})).startswith("INVALID: ")
