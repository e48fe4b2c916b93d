"""The notebooks run, cell by cell, and are committed without outputs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
import matplotlib
from evidence import first

matplotlib.use("Agg")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def test_there_is_one_for_every_field() -> None:
    assert {path.stem for path in NOTEBOOKS} >= {"nonsmooth_mechanics", "robotics", "teaching"}


@pytest.mark.parametrize("path", first(1, NOTEBOOKS), ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem == "robotics":
        pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
        shutil.copy(EXAMPLES / "quadruped.xml", tmp_path)
    monkeypatch.chdir(tmp_path)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["nbformat"] == 4
    names: dict[str, object] = {"__name__": "__main__"}
    cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 3
    for k, cell in enumerate(cells):
        exec(compile("".join(cell["source"]), f"{path.name}, cell {k}", "exec"), names)
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
