"""The digest of a function: it changes with what the function does, and with nothing else."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import sys

import numpy as np
import pytest

from gaussdyn.studies.function_digest import digest_of

TEXT = """
import numpy as np

LIMIT = 3.0
TABLE = np.arange(4.0)
UNUSED = 1

class Scale:
    factor = 2.0

def inner(x):
    return x * LIMIT * Scale.factor

def build(x, y=1.0):
    def again(z):
        return inner(z) + TABLE[0]
    return again(x) + np.sin(y)
"""
NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def no_module_stays():
    yield
    sys.modules.pop("users", None)


def build_of(tmp_path, text: str):
    path = tmp_path / f"{next(NUMBERS)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("users", path)
    module = sys.modules["users"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.build


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("again(x) + np.sin(y)", "again(x) - np.sin(y)"),
        ("y=1.0", "y=2.0"),
        ("return x * LIMIT", "return 2 * x * LIMIT"),
        ("LIMIT = 3.0", "LIMIT = 3.5"),
        ("np.arange(4.0)", "np.arange(5.0)"),
        ("factor = 2.0", "factor = 1.0"),
        ("np.sin(y)", "np.cos(y)"),
    ],
)
def test_an_edit_of_the_function_or_of_what_it_names_is_seen(tmp_path, old: str, new: str) -> None:
    before = digest_of(build_of(tmp_path, TEXT))
    assert digest_of(build_of(tmp_path, TEXT.replace(old, new))) != before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def inner", "# a comment\n\ndef inner"),
        ("return x * LIMIT", "return (x * LIMIT)"),
        ("UNUSED = 1", "UNUSED = 2"),
        ("class Scale", "def other(x):\n    return x\n\nclass Scale"),
    ],
)
def test_comments_layout_and_what_it_does_not_name_do_not_count(tmp_path, old: str, new: str) -> None:
    before = digest_of(build_of(tmp_path, TEXT))
    assert digest_of(build_of(tmp_path, TEXT.replace(old, new))) == before


def test_arguments_of_partial_functions_closures_and_methods_count(tmp_path) -> None:
    build = build_of(tmp_path, TEXT)

    def closed(value):
        return lambda run: value

    for make in (
        lambda x: functools.partial(build, x),
        lambda x: functools.partial(build, y=x),
        closed,
        lambda x: np.full(3, x).sum,
    ):
        one, same, other = (digest_of(make(x)) for x in (1.0, 1.0, 2.0))
        assert one == same != other


def test_a_function_that_calls_itself_or_has_no_source_has_a_digest() -> None:
    space: dict[str, object] = {"__name__": "typed"}
    exec("def f(x):\n    return f(x - 1) if x else 0\ndef g(x):\n    return f(x - 1) if x else 1\n", space)
    assert digest_of(space["f"]) != digest_of(space["g"])
    assert len(digest_of(len)) == 16
