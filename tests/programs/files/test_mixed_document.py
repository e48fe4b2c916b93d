"""Mixed problems in JSON: every type of block, open sides, and what is refused with the entry's name."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gaussdyn.errors import SceneError
from gaussdyn.programs.files.formats import read_problem
from gaussdyn.programs.laws.laws import Associated, Coulomb, Unilateral
from gaussdyn.programs.problems.mixed import Box, Equality

BLOCKS = [
    {"type": "equality", "size": 2},
    {"type": "complementarity", "size": 2},
    {"type": "box", "size": 2, "lower": [None, "1/2"], "upper": [1, "inf"]},
    {"type": "cone", "size": 3, "mu": 0.5},
    {"type": "coulomb", "size": 2, "mu": "1/4"},
    {"type": "cone", "size": 1, "mu": 0.5},
]


def read(tmp_path, **document):
    path = tmp_path / "p.json"
    path.write_text(json.dumps(document))
    return read_problem(path)


def test_every_type_of_block(tmp_path):
    file = read(tmp_path, name="all", M=np.eye(12).tolist(), q=[0] * 12, blocks=BLOCKS)
    box = Box((-np.inf, 0.5), (1.0, np.inf))
    rows = [Unilateral()] * 2
    expected = [Equality(2), *rows, box, Associated(0.5), Coulomb(0.25, dim=2), Unilateral()]
    assert list(file.problem.blocks) == expected
    assert (file.kind, file.name, file.contacts) == ("mixed", "all", 12)


@pytest.mark.parametrize("kind", ["mlcp", "gmp", "relay", "soclcp"])
def test_kinds_keep_their_name(tmp_path, kind):
    assert read(tmp_path, kind=kind, M=[[1]], q=[1], blocks=[{"type": "equality", "size": 1}]).kind == kind


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"blocks": [{"type": "equal", "size": 1}]}, "equality, complementarity"),
        ({"blocks": [{"type": "equality", "size": 0}]}, "size"),
        ({"blocks": [{"type": "equality", "size": 2}]}, "2 rows in all"),
        ({"blocks": [{"type": "box", "size": 1, "lower": [0]}]}, "upper"),
        ({"blocks": [{"type": "box", "size": 1, "lower": [2], "upper": [1]}]}, "lower <= upper"),
        ({"blocks": [{"type": "cone", "size": 1, "mu": 1}] * 2}, "2 rows in all"),
        ({"blocks": [{"type": "coulomb", "size": 2}], "M": [[1, 0], [0, 1]], "q": [0, 0]}, "mu"),
        ({"blocks": [{"type": "cone", "size": 4, "mu": 1}]}, "1, 2 or 3 rows"),
        ({"blocks": "equality"}, "list"),
        ({"blocks": ["equality"]}, "type"),
        ({"M": [[1, 2]]}, "M"),
    ],
)
def test_what_is_refused(tmp_path, changes, words):
    document = {"kind": "mixed", "M": [[1]], "q": [1], "blocks": [{"type": "equality", "size": 1}], **changes}
    with pytest.raises(SceneError, match=words):
        read(tmp_path, **document)


def test_a_kind_that_lacks_its_blocks_says_so(tmp_path):
    with pytest.raises(SceneError, match=r"blocks\]: is missing"):
        read(tmp_path, kind="relay", M=[[1]], q=[1])
