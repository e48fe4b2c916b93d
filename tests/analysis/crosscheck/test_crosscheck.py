"""Cross-checks of realizations: orders, layers and verdicts on systems whose soft motion is known in closed form."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from evidence import first
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from gaussdyn.analysis.crosscheck import boundary_layer
from gaussdyn.analysis.crosscheck.boundary_layer import layer_of
from gaussdyn.analysis.crosscheck.crosscheck import crosscheck
from gaussdyn.analysis.crosscheck.orders import order_of
from gaussdyn.errors import InputError
from gaussdyn.integrate.realizations.penalty import Penalty
from gaussdyn.integrate.realizations.viscous import Viscous
from gaussdyn.mechanics.scene import Scene
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Position, UserSystem, Velocity

G, M = 9.81, 2.0
LEVEL_KEYS = {"stiffness", "position", "velocity", "reaction", "fast_energy", "stop", "t_reached", "wall_s"}


def scene(system, state, t_end=0.2):
    return Scene(name="made up", title="", source="", system=system, state=state, t_end=t_end, dt=1e-2, params={})


def bar(kind="bilateral"):
    """A heavy point on the line y = 0, which spring and rigid line hold at y = -m g / N and 0."""
    line = Position(lambda t, q: q[1], jacobian=lambda t, q: np.array([[0.0, 1.0]]), kind=kind, name="line")
    system = UserSystem(2, M * np.eye(2), [0.0, -M * G], [line], potential=lambda t, q: M * G * q[1])
    return scene(system, State(q=[0.0, 0.0], v=[1.0, 0.0]))


def runner(v0=0.0, force=3.0):
    """m v' = F - N v across the constraint."""
    law = Velocity(lambda t, q, v: v[1], kind="bilateral", name="across")
    return scene(UserSystem(2, M * np.eye(2), [0.0, force], [law]), State(q=[0.0, 0.0], v=[1.0, v0]), t_end=0.2)


@given(some.floats(-2.0, 3.0), some.floats(1e-6, 1e3), some.integers(2, 8))
def test_order_of_an_exact_power(order, factor, count):
    N = [10.0 ** (2 + k) for k in range(count)]
    found = order_of(N, [factor * x**-order for x in N], 0.0)
    assert found.value == pytest.approx(order, abs=1e-9)
    assert found.used == tuple(N)
    if count > 2:
        assert found.low <= found.value <= found.high
        assert found.high - found.low <= 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_interval_of_an_order_is_that_of_a_linear_regression(seed):
    rng = np.random.default_rng(seed)
    N = np.sort(10.0 ** rng.uniform(2, 8, 6))
    e = 3.0 * N**-0.7 * np.exp(0.2 * rng.normal(size=6))
    line = stats.linregress(np.log(N), np.log(e))
    width = stats.t.ppf(0.975, 4) * line.stderr
    found = order_of(N, e, 0.0)
    np.testing.assert_allclose(
        [found.value, found.low, found.high], [-line.slope, -line.slope - width, -line.slope + width], rtol=1e-10
    )
    assert found.settled


def test_the_interval_holds_the_true_slope_as_often_as_it_says():
    rng, N, held = np.random.default_rng(1), np.array([1e2, 1e3, 1e4, 1e5, 1e6]), 0
    for _ in range(2000):
        found = order_of(N, N**-0.5 * np.exp(0.3 * rng.normal(size=5)), 0.0)
        held += found.low <= 0.5 <= found.high
    assert abs(held / 2000 - 0.95) <= 0.015  # three standard deviations


def test_errors_at_the_floor_give_no_order():
    found = order_of([1e2, 1e3, 1e4, 1e5], [1e-2, 1e-3, 1e-9, math.nan], 1e-6)
    assert (found.value, found.low, found.used) == (pytest.approx(1.0), None, (1e2, 1e3))
    assert not found.settled
    assert order_of([1e2, 1e3], [1e-9, 1e-9], 1e-6).value is None
    assert str(order_of([], [], 0.0)) == "no order (errors at the floor)"
    noisy = order_of([1e2, 1e3, 1e4], [1.0, 3.0, 0.5], 0.0)
    assert noisy.low < 0.0 < noisy.high
    assert not noisy.settled


class TestSprings:
    LADDER = (1e3, 1e4, 1e5)

    @pytest.mark.slow
    def test_from_the_slow_manifold_the_place_is_of_order_one_and_nothing_vibrates(self):
        found = crosscheck(bar(), ["penalty"], stiffness=self.LADDER, start="slow")["penalty"]
        for N, level in zip(self.LADDER, found.levels, strict=True):
            assert level.gaps["position"].value == pytest.approx(M * G / N, rel=1e-6)
            assert level.gaps["position"].name == "q1"
            assert level.gaps["velocity"].value <= 1e-8
            assert level.fast_end <= 1e-12
            assert level.t_reached == 0.2
        assert found.orders["position"].value == pytest.approx(1.0, abs=1e-6)
        assert "tends to the rigid motion like N^-1.00" in found.words

    @pytest.mark.slow
    def test_from_the_constraint_the_velocity_is_of_order_one_half(self):
        """Largest |y| = 2 m g / N, |y'| = g / w, energy (m g)^2 / 2 N."""
        found = crosscheck(bar(), ["penalty"], stiffness=(1e3, 3e3, 1e4), dt=1e-3)["penalty"]
        for N, level in zip((1e3, 3e3, 1e4), found.levels, strict=True):
            assert level.gaps["position"].value == pytest.approx(2.0 * M * G / N, rel=2e-2)
            assert level.gaps["velocity"].value == pytest.approx(G / math.sqrt(N / M), rel=2e-2)
            assert level.fast_end == pytest.approx((M * G) ** 2 / (2.0 * N), rel=1e-5)
        assert found.orders["position"].value == pytest.approx(1.0, abs=0.02)
        assert found.orders["velocity"].value == pytest.approx(0.5, abs=0.02)

    @pytest.mark.slow
    def test_smooth_agrees(self):
        found = crosscheck(bar(), ["smooth"])["smooth"]
        assert found.words.endswith("it agrees")
        assert math.isnan(found.levels[0].stiffness)


class TestViscous:
    @pytest.mark.slow
    def test_orders_and_layer(self):
        """v = F / N (1 - exp(-N t / m)): all of order one; the force differs by exp(-N t / m), and the width is m/N."""
        found = crosscheck(runner(), ["viscous"], stiffness=[1e2, 1e3, 1e4], t_end=0.2)["viscous"]
        for level in found.levels:
            assert level.gaps["velocity"].value == pytest.approx(3.0 / level.stiffness, rel=1e-2)
        assert found.orders["velocity"].value == pytest.approx(1.0, abs=0.01)
        assert found.layer.row == "across"
        assert found.layer.predicted == pytest.approx(M / 1e4, rel=1e-12)

    @pytest.mark.parametrize(("v0", "N"), first(1, [(0.0, 1e3), (0.0, 1e5)]))
    def test_width_of_the_layer(self, v0, N):
        layer = layer_of(runner(v0), Viscous(stiffness=N))
        assert layer.width == pytest.approx(M / N, rel=1e-3)
        assert f"{layer.width:.3g} s" in str(layer)

    def test_no_layer_where_the_force_is_nothing(self, monkeypatch):
        monkeypatch.setattr(boundary_layer, "PER_WIDTH", 10)  # steps: nothing is measured here
        assert layer_of(runner(0.0, force=0.0), Viscous(stiffness=1e3)) is None
        assert layer_of(bar(), Viscous(stiffness=1e3)) is None


class TestWhatDoesNotApply:
    def test_a_reason_is_given(self):
        found = crosscheck(bar(), ["viscous"], stiffness=[1e3])["viscous"]
        assert "constraints on the velocity" in found.reason
        assert found.levels == ()

    def test_a_smooth_run_that_touches_says_up_to_when(self):
        falling = bar("unilateral")
        falling = scene(falling.system, State(q=[0.0, 0.1], v=[0.0, 0.0]), t_end=0.3)
        found = crosscheck(falling, ["smooth"])["smooth"]
        assert found.levels[0].stop.startswith("Touched")
        assert 0.12 < found.levels[0].t_reached <= math.sqrt(0.2 / G)
        assert "up to t = 0.138 s it agrees" in found.words

    def test_a_resting_contact_is_none_for_smooth_equations(self):
        assert "Touched" in crosscheck(bar("unilateral"), ["smooth"])["smooth"].reason

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"realizations": ["magic"]}, "realization: given 'magic'; allowed: penalty, viscous, smooth"),
            ({"realizations": [3]}, "realization"),
            ({"stiffness": [1e4, 1e3]}, "rising positive"),
            ({"stiffness": []}, "rising positive"),
            ({"stiffness": 1e4}, "rising positive"),
            ({"stiffness": [-1.0]}, "stiffness"),
            ({"start": "fast"}, "given, slow"),
            ({"t_end": 0.0}, "t_end"),
            ({"dt": -1.0}, "dt"),
        ],
    )
    def test_bad_options(self, options, words):
        with pytest.raises(InputError, match=words):
            crosscheck(bar(), **options)

    def test_a_system_is_not_a_scene(self):
        with pytest.raises(InputError, match="scene: given UserSystem"):
            crosscheck(bar().system)


def test_document():
    found = crosscheck(bar(), [Penalty(damping=0.1), "viscous", "smooth"], stiffness=[1e3, 1e4], t_end=0.03)
    text = json.dumps(found.to_json(), allow_nan=False)
    data = json.loads(text)
    assert set(data) == {"schema", "scene", "params", "t_end", "start", "reference", "results"}
    assert data["schema"] == "gaussdyn/crosscheck/1"
    assert set(data["reference"]) == {"name", "error"}
    penalty, viscous, smooth = data["results"]
    for one in data["results"]:
        assert set(one) == {"name", "applies", "reason", "words", "orders", "layer", "levels"}
        for level in one["levels"]:
            assert set(level) == LEVEL_KEYS
            assert set(level["position"]) == {"difference", "t", "name"}
    assert (penalty["applies"], viscous["applies"], smooth["applies"]) == (True, False, True)
    assert (viscous["levels"], viscous["words"]) == ([], None)
    assert [level["stiffness"] for level in penalty["levels"]] == [1e3, 1e4]
    assert smooth["levels"][0]["stiffness"] is None
    assert set(penalty["orders"]["position"]) == {"value", "low", "high", "used"}
    assert found["penalty"].name == "penalty"
    assert str(found) == found.explain()
    with pytest.raises(KeyError):
        _ = found["rigid"]
