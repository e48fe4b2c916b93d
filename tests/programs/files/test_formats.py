"""The door for problem files: JSON documents, exact rationals, several cases, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gaussdyn.errors import InputError, SceneError
from gaussdyn.programs.files.formats import read_problem
from gaussdyn.programs.problems.complementarity import LinearComplementarity
from gaussdyn.programs.problems.quadratic import QuadraticProgram
from gaussdyn.programs.solve import solve


def put(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_lcp(tmp_path):
    file = read_problem(put(tmp_path / "p.json", {"name": "two", "M": [[2, 1], [1, 2]], "q": [-5, -6.0], "note": 1}))
    assert (file.kind, file.name, file.contacts) == ("lcp", "two", 2)
    assert isinstance(file.problem, LinearComplementarity)
    np.testing.assert_allclose(solve(file.problem).require().x, [4 / 3, 7 / 3])


def test_quadratic_program(tmp_path):
    document = {"H": [[2, 0], [0, 2]], "g": [0, 0], "A": [[1, 1]], "b": [1], "C": [[1, 0]], "d": ["3/4"]}
    file = read_problem(put(tmp_path / "p.json", document))
    assert (file.kind, file.name, file.contacts) == ("qp", "p", 1)
    assert isinstance(file.problem, QuadraticProgram)
    np.testing.assert_allclose(solve(file.problem).require().x, [0.75, 0.25])
    assert read_problem(put(tmp_path / "q.json", {"H": [[1]], "g": [-1]})).contacts == 0


def test_rational_strings_are_rounded_once(tmp_path):
    file = read_problem(put(tmp_path / "p.json", {"M": [["1/3", "12"], ["0", "-7/5"]], "q": ["2/7", "1/1000"]}))
    np.testing.assert_array_equal(file.problem.M, [[1 / 3, 12.0], [0.0, -7 / 5]])
    np.testing.assert_array_equal(file.problem.q, [2 / 7, 1e-3])


def test_a_single_number_is_a_vector_of_one(tmp_path):
    assert read_problem(put(tmp_path / "p.json", {"M": [[1]], "q": 3})).contacts == 1


def test_several_cases(tmp_path):
    cases = [{"name": "a", "M": [[1]], "q": [-1]}, {"name": "b", "M": [[2]], "q": [-1]}, {"M": [[3]], "q": [-1]}]
    path = put(tmp_path / "p.json", {"kind": "lcp", "cases": cases})
    assert read_problem(path, "b").problem.M[0, 0] == 2.0
    assert read_problem(path, "p[2]").problem.M[0, 0] == 3.0
    with pytest.raises(SceneError, match="a, b, p"):
        read_problem(path)
    with pytest.raises(SceneError, match="no such case"):
        read_problem(path, "c")
    groups = {
        "note": 1,
        "first": {"kind": "lcp", "cases": cases[:1]},
        "second": {"kind": "qp", "cases": [{"name": "x"}]},
    }
    assert read_problem(put(tmp_path / "groups.json", groups), "a").problem.M[0, 0] == 1.0
    with pytest.raises(SceneError, match="H"):
        read_problem(tmp_path / "groups.json", "x")
    one = put(tmp_path / "one.json", {"kind": "lcp", "cases": cases[:1]})
    assert read_problem(one).name == "a"


FAULTS = {
    "": "",
    '{"M": [[1': "",
    "[1, 2]": "",
    '{"M": [[1]], "q": [NaN]}': "",
    '{"M": [[1]], "q": [1, 2]}': "M",
    '{"M": [[1, 2], [3]], "q": [1, 2]}': "M",
    '{"M": [[1]]}': "q",
    '{"H": [[1]]}': "g",
    '{"x": 1}': "kind",
    '{"kind": "planar_body", "m": 1}': "kind",
    '{"M": [["a/b"]], "q": [1]}': "M",
    '{"M": [["1/0"]], "q": [1]}': "M",
    '{"M": [[true]], "q": [1]}': "M",
    '{"M": [[null]], "q": [1]}': "M",
    '{"M": {"a": 1}, "q": [1]}': "M",
    '{"M": [[1]], "q": [1e999]}': "q",
    '{"M": 3, "q": [1]}': "M",
    '{"H": [[-1]], "g": [1]}': "H",
    '{"H": [[1, 2], [0, 1]], "g": [1, 1]}': "H",
    '{"H": [[1]], "g": [1], "A": [[1]]}': "A, b",
    '{"cases": []}': "cases",
    '{"cases": [1]}': "cases",
}


@pytest.mark.parametrize(("text", "key"), FAULTS.items())
def test_faulty_documents(tmp_path, text, key):
    path = put(tmp_path / "bad.json", text)
    with pytest.raises(SceneError) as caught:
        read_problem(path)
    assert caught.value.key == key
    assert str(path) in str(caught.value)


def test_missing_and_binary_files(tmp_path):
    with pytest.raises(SceneError, match="cannot be opened"):
        read_problem(tmp_path / "nothing.json")
    with pytest.raises(SceneError, match="cannot be opened"):
        read_problem(tmp_path)
    (tmp_path / "noise.bin").write_bytes(bytes(range(128, 256)))
    with pytest.raises(SceneError, match="neither"):
        read_problem(tmp_path / "noise.bin")


def test_only_friction_problems_are_saved_as_fclib(tmp_path):
    file = read_problem(put(tmp_path / "p.json", {"M": [[1]], "q": [-1]}))
    with pytest.raises(InputError, match="save"):
        file.save(tmp_path / "out.hdf5", solve(file.problem))
