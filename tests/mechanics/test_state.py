"""State: checked, copied, hashed."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.mechanics.state import State


def test_is_a_copy():
    q = np.array([1.0, 2.0])
    state = State(q=q, v=[0, 0])
    q[0] = 5.0
    assert state.q.tolist() == [1.0, 2.0]


def test_digest_sees_every_bit():
    base = State(q=[1.0], v=[2.0], t=3.0, memory={"a": [1.0]})
    assert base.digest() == State(q=[1.0], v=[2.0], t=3.0, memory={"a": [1.0]}).digest()
    for other in (
        State(q=[np.nextafter(1.0, 2.0)], v=[2.0], t=3.0, memory={"a": [1.0]}),
        State(q=[1.0], v=[2.0], t=np.nextafter(3.0, 4.0), memory={"a": [1.0]}),
        State(q=[1.0], v=[2.0], t=3.0, memory={"b": [1.0]}),
        State(q=[1.0], v=[2.0], t=3.0),
    ):
        assert other.digest() != base.digest()


@pytest.mark.parametrize(("change", "name"), [({"q": [np.nan]}, "q"), ({"v": "no"}, "v"), ({"t": np.inf}, "t")])
def test_bad_input_is_named(change, name):
    with pytest.raises(InputError, match=f"^{name}:"):
        State(**({"q": [0.0], "v": [0.0]} | change))
