"""The planar body of the file format: exact numbers, defaults, and complaints that name the key."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from gaussdyn.errors import InputError
from gaussdyn.mechanics.planar.body_file import ExactBody

Q = Fraction
BODY: dict[str, Any] = {"m": 2, "J": "1/4", "points": [["-1", -3], [1, "-2"]], "normals": "all (0,1)", "mu": ["3/2", 1],
                        "state": [0, 1], "force": [1, "-1/2", 0.5], "comment": "ignored"}  # fmt: skip


def test_numbers_and_defaults() -> None:
    body = ExactBody.of(BODY)
    assert (body.m, body.J, body.mu, body.mu_s) == (2, Q(1, 4), (Q(3, 2), 1), (Q(3, 2), 1))
    assert body.normals == ((0, 1), (0, 1))
    assert (body.bilateral, body.state) == ((False, False), (0, 1))
    assert body.drift == ((0, 0), (0, 0))
    assert body.numbers == "exact values of doubles"
    assert ExactBody.of({**BODY, "force": [1, "-1/2", "1/2"]}).numbers == "rational"
    assert ExactBody.of(body.document()).document() == body.document()


def test_contact_accelerations() -> None:
    """G = J M^-1 J^T with t = (n_y, -n_x): by hand for one contact at (-1, -3) with m = 1, J = 1/4."""
    body = ExactBody.of({"m": 1, "J": "1/4", "points": [[-1, -3]], "mu": [1], "force": [0, -1, 2], "drift": [[5, 7]]})
    assert body.jacobian() == [[0, 1, -1], [1, 0, 3]]
    G, b = body.local()
    assert G == [[1 + 4, -12], [-12, 1 + 36]]
    assert b == [-1 - 8 + 5, 24 + 7]


def test_normals_need_not_have_length_one() -> None:
    long = ExactBody.of({**BODY, "normals": [[0, 2], [0, 2]]})
    assert long.jacobian() == [[2 * x for x in row] for row in ExactBody.of(BODY).jacobian()]


@pytest.mark.parametrize(
    ("key", "value"),
    [("m", 0), ("m", "-1"), ("J", 0), ("m", "x"), ("points", [[1, 2, 3]]), ("points", 3),
     ("points", [["a", 1], [0, 0]]),
     ("normals", [[0, 1]]), ("normals", [[0, 0], [0, 1]]), ("normals", "up"), ("mu", [1]), ("mu", [-1, 1]),
     ("mu", None), ("mu_s", [1, 1]), ("bilateral", [1, 0]), ("bilateral", [True]), ("state", [2, 0]),
     ("state", [True, False]),
     ("force", [1, 2]), ("force", [1, 2, float("nan")]), ("drift", [[1, 2]])],
)  # fmt: skip
def test_bad_values_name_their_key(key: str, value: Any) -> None:
    with pytest.raises(InputError) as error:
        ExactBody.of({**BODY, key: value})
    assert error.value.name.startswith(key.split("[")[0])


@pytest.mark.parametrize("key", ["m", "J", "points", "mu", "force"])
def test_missing_keys_are_named(key: str) -> None:
    with pytest.raises(InputError, match=f"^{key}:"):
        ExactBody.of({k: v for k, v in BODY.items() if k != key})
