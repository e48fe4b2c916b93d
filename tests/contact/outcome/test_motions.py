"""Every branch obeys the equations of motion and the laws, and there are as many as closed forms say."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import InputError, build, snapshot
from gaussdyn.contact.outcome.motions import branches
from gaussdyn.integrate.run.uniqueness_checks import accelerating

STATES = [
    ("painleve_rod", {"omega": 3.5, "angle": 1.0, "mu": 2.0}, {"D", "L"}),
    ("painleve_rod", {"omega": 0.0, "angle": 1.0, "mu": 2.0}, set()),
    ("painleve_rod", {"slip": 0.0, "angle": 1.0, "mu": 2.0, "omega": 5.0}, None),
    ("associated_slider", {}, {"S", "+"}),
    ("painleve_klein", {"force": -1.0}, None),
    ("painleve_klein", {}, set()),
    ("bipod", {}, None),
    ("bipod", {"v0": 0.0, "mu1": 0.9}, None),
    ("v_groove", {}, {"DD", "DS", "D-", "SS", "-D", "--"}),
    ("double_pendulum_impact", {}, None),
]


@pytest.mark.parametrize(("name", "params", "expected"), STATES)
def test_branches_obey_the_equations_and_the_laws(name, params, expected):
    scene = build(name, **params)
    dynamics = accelerating(scene.system, scene.state, None)
    found = branches(dynamics)
    if expected is not None:
        assert {one.label for one in found} == expected
    rows = {row.id: row for row in dynamics.rows}
    for one in found:
        residual = dynamics.M @ one.x - dynamics.h
        for key, r in one.reactions.items():
            residual = residual - rows[key].J.T @ r
        assert np.abs(residual).max() <= 1e-8
        for key, mode in one.modes.items():
            _obeys(rows[key], one, mode)
    if name.startswith("bipod"):
        assert len(found) == (2 if scene.params["v0"] else 3)


def _obeys(row, one, mode):
    """Check the law of one contact in the plane from its mode's letter."""
    r, a = one.reactions[row.id], row.J @ one.x + row.drift
    if mode == "D":
        assert not r.any()
        assert a[0] >= -1e-8
        return
    assert a[0] == pytest.approx(0.0, abs=1e-8)
    assert row.bilateral or r[0] >= 0.0
    if len(r) < 2:
        return
    bound = max(row.mu, row.mu_s) if mode in "Ss" else row.mu
    assert abs(r[1]) <= bound * abs(r[0]) + 1e-8
    if mode in "Ss":
        assert a[1] == pytest.approx(0.0, abs=1e-8)
    else:
        way = np.sign(row.rate[1]) if abs(row.rate[1]) > 1e-9 else np.sign(a[1])
        assert r[1] == pytest.approx(-row.mu * abs(r[0]) * way, abs=1e-8)


def test_stick_priority_leaves_one():
    scene = build("associated_slider")
    dynamics = accelerating(scene.system, scene.state, None)
    assert [one.label for one in branches(dynamics, mu_s_rule="stick")] == ["S"]


def test_no_acceleration_is_refused():
    scene = build("zeno_ball")
    state = scene.state
    fast = type(state)(q=0.0 * state.q, v=0.0 * state.v - 1.0)
    with pytest.raises(InputError, match="IMPACT_NEEDED"):
        branches(snapshot(scene.system, fast))
