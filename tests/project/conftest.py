from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gaussdyn.cli import main


@dataclass(frozen=True)
class Answer:
    """What a command line left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run the command line in this process, as a shell would."""

    def run(*words: str | Path) -> Answer:
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        out, err = capfd.readouterr()
        return Answer(int(end.value.code or 0), out, err)

    return run


@pytest.fixture
def lcp(tmp_path: Path) -> Path:
    path = tmp_path / "lcp.json"
    path.write_text(json.dumps({"name": "small", "M": [[2, 1], [1, 2]], "q": [-5, -6]}))
    return path


@pytest.fixture
def qp(tmp_path: Path) -> Path:
    """Minimise 1/2 |x|^2 - x1 subject to x1 + x2 = 1, x2 >= 1/2: x = (1/2, 1/2), y = -1/2, z = 1."""
    path = tmp_path / "qp.json"
    data = {"H": [[1, 0], [0, 1]], "g": [-1, 0], "A": [[1, 1]], "b": [1], "C": [[0, 1]], "d": [0.5]}
    path.write_text(json.dumps({"kind": "qp", "name": "small", **data}))
    return path


@pytest.fixture
def slip(tmp_path: Path) -> Path:
    """One contact in space, W = 1, q = (-1, 2, 0), mu = 0.3: it slips with r = (1, -0.3, 0)."""
    import numpy as np

    from gaussdyn.programs.files.fclib import write
    from gaussdyn.programs.laws.laws import Coulomb
    from gaussdyn.programs.problems.complementarity import ComplementarityProblem

    path = tmp_path / "slip.hdf5"
    write(path, ComplementarityProblem(W=np.eye(3), q=[-1.0, 2.0, 0.0], laws=[Coulomb(0.3)]))
    return path
