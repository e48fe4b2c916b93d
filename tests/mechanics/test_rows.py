"""Row: plain data of a constraint, checked."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.mechanics.rows import Row


def row(**change):
    given = {"id": "c", "kind": "contact", "J": np.eye(3), "rate": [0, 3.0, 4.0], "drift": [0, 0, 0], "mu": 0.5}
    return Row(**(given | change))


def test_static_friction_defaults_to_sliding_friction():
    assert row().mu_s == 0.5
    assert row(mu_s=0.7).mu_s == 0.7
    assert row(kind="dry", J=np.eye(1), rate=[0], drift=[0], mu=0, cap=2.0).cap_s == 2.0


def test_slip_speed_and_kind():
    one = row()
    assert one.slip_speed == 5.0
    assert one.frictional
    assert not one.bilateral
    dry = row(kind="dry", J=np.eye(2), rate=[3.0, 4.0], drift=[0, 0], mu=0, cap=1.0)
    assert dry.slip_speed == 5.0
    assert dry.frictional
    assert not row(J=np.eye(1), rate=[1.0], drift=[0]).frictional


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"mu": -0.1}, "mu of c"),
        ({"mu": np.nan}, "mu of c"),
        ({"mu_s": 0.4}, "mu_s of c"),
        ({"cap": -1.0}, "cap of c"),
        ({"eps_n": 1.1}, "eps_n of c"),
        ({"gap": np.inf}, "gap of c"),
        ({"rate": [0, 0]}, "rate of c"),
        ({"drift": [0, 0, np.nan]}, "drift of c"),
        ({"kind": "glue"}, "kind"),
        ({"level": "jerk"}, "level"),
        ({"mu_r": 0.1}, "J of c"),
        ({"kind": "unilateral"}, "J of c"),
        ({"kind": "bilateral_contact", "J": np.eye(5), "rate": np.zeros(5), "drift": np.zeros(5)}, "J of c"),
    ],
)
def test_bad_input_is_named(change, name):
    with pytest.raises(InputError, match=f"^{name}"):
        row(**change)


def test_but_changes_what_it_is_told_and_nothing_else():
    one, rate = row(between=("a", "b"), eps_n=0.3), np.ones(3)
    other = one.but(gap=0.25, rate=rate)
    assert other.gap == 0.25
    assert other.rate is rate
    for field in fields(Row):
        if field.name not in ("gap", "rate"):
            assert getattr(other, field.name) is getattr(one, field.name)
    assert one.gap == 0.0
    with pytest.raises(KeyError):
        one.but(speed=1.0)
