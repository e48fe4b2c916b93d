"""Position projection: joints that hold, gaps that are not negative, redundant rows, and what it costs in energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence import examples, first
from small_systems import Ball, Block, Dome, G, Plain, Tethered

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.integrate.time_stepping.scheme import ALLOWED
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.state import State

COARSE = MoreauJean(dt=0.01)


class Linkage(Plain):
    """Points of unit mass in the plane, joined by rods of length 1 (some of them redundant) to one another or fixed."""

    def __init__(self, pairs, fixed, nq):
        self.pairs, self.fixed, self.nq, self.nv = pairs, fixed, nq, nq

    def force(self, t, q, v, control=None):
        return np.tile([0.0, -G], self.nq // 2)

    def potential(self, t, q):
        return G * float(q[1::2].sum())

    def point(self, name, x):
        """The place of a point, zero for the velocity of one that is fixed."""
        return x[2 * name : 2 * name + 2] if isinstance(name, int) else None

    def rows(self, t, q, v):
        found = []
        for k, (a, b, length) in enumerate(self.pairs):
            xa, xb = (self.fixed[p] if isinstance(p, str) else q[2 * p : 2 * p + 2] for p in (a, b))
            d = xa - xb
            J = np.zeros((1, self.nq))
            for p, sign in ((a, 1.0), (b, -1.0)):
                if not isinstance(p, str):
                    J[0, 2 * p : 2 * p + 2] += sign * d / np.hypot(*d)
            w = sum(
                (sign * v[2 * p : 2 * p + 2] for p, sign in ((a, 1.0), (b, -1.0)) if not isinstance(p, str)),
                np.zeros(2),
            )
            rate = J @ v
            drift = [(w @ w - rate[0] ** 2) / np.hypot(*d)]
            found.append(Row(id=f"rod{k}", kind="bilateral", gap=np.hypot(*d) - length, J=J, rate=rate, drift=drift))
        return tuple(found)


def four_bars(loops):
    """Parallel bars of length 1 in a row, their tips joined by rods of length 1: one rod more than there are freedoms.

    Every loop has a third parallel bar in its middle for which there is no need.
    """
    fixed = {f"g{k}": np.array([float(k), 0.0]) for k in range(loops + 1)}
    pairs = [(f"g{k}", k, 1.0) for k in range(loops + 1)] + [(k, k + 1, 1.0) for k in range(loops)]
    pairs.append(("g0", 0, 1.0))  # the same rod twice
    return Linkage(pairs, fixed, 2 * (loops + 1))


def tilted(loops, angle):
    q = np.array([[k + np.cos(angle), np.sin(angle)] for k in range(loops + 1)]).ravel()
    v = np.tile([-np.sin(angle), np.cos(angle)], loops + 1)
    return q, v


def test_pendulum_keeps_its_length_and_its_energy_to_second_order():
    drifts = []
    for dt in (2e-2, 1e-2):
        run = simulate(Tethered(), State(q=[1.0, 0.0], v=[0.0, 0.0]), 1.0, stepper=MoreauJean(dt=dt))
        assert run.statistics["max_joint_error_m"] <= 1e-11
        assert run.statistics["energy_drift_rel"] <= 1e-12
        drifts.append(np.abs(run["work_projection"]).max())
    assert np.log2(drifts[0] / drifts[1]) == pytest.approx(2.0, abs=0.1)


def test_without_projection_the_length_is_off_by_the_square_of_the_step():
    loose = MoreauJean(dt=1e-2, project=False)
    run = simulate(Tethered(), State(q=[1.0, 0.0], v=[0.0, 0.0]), 1.0, stepper=loose)
    assert 1e-5 < run.statistics["max_joint_error_m"] < 1e-3
    assert (run["work_projection"] == 0.0).all()
    assert loose.settings()["project"] is False


@pytest.mark.parametrize("loops", first(1, [1, 3]))
def test_redundant_four_bars_hold(loops):
    q, v = tilted(loops, 0.5 * np.pi)
    run = simulate(four_bars(loops), State(q=q, v=v), 0.2, stepper=MoreauJean(dt=2e-3))
    assert run.status == "COMPLETED", run.stop
    assert run.statistics["max_joint_error_m"] <= 1e-11
    assert run.statistics["energy_drift_rel"] <= 1e-12


@pytest.mark.drawn
@pytest.mark.parametrize("e", first(2, [0.0, 0.8, 0.3, 1.0]))
def test_no_gap_is_negative_and_energy_never_grows_at_impacts(e):
    rng = np.random.default_rng(3)
    for height in rng.uniform(0.1, 1.0, size=examples(4, fast=1)):
        run = simulate(Ball(e), State(q=[height], v=[0.0]), 2.0, stepper=COARSE)
        assert run.statistics["max_penetration_m"] <= 1e-11
        assert np.diff(run["energy"]).max() <= 1e-13 * run["energy"][0]
        pushes = np.flatnonzero(run["ball/floor.r_N"] > 0.0)
        first = pushes[0]
        if e > 0.0:  # one impact takes exactly 1 - e^2 of the energy
            assert run["energy"][first] == pytest.approx(e * e * run["energy"][first - 1], rel=1e-12)
        assert audit(run, Ball(e)).passed


def test_a_body_at_rest_is_not_moved_and_costs_nothing():
    run = simulate(Block(0.5, np.tan(0.51)), State(q=[0.0, 0.0], v=[0.0, 0.0]), 1.0, stepper=COARSE)
    assert np.abs(run.q).max() <= 1e-15
    assert (run["work_projection"] == 0.0).all()


class Table(Plain):
    """A stiff table on four legs: q = (height, roll, pitch); four contacts where three would do."""

    nq = nv = 3
    CORNERS = np.array([[1.0, x, y] for x in (-1.0, 1.0) for y in (-0.5, 0.5)])

    def mass(self, q):
        return np.diag([4.0, 0.5, 1.5])

    def force(self, t, q, v, control=None):
        return np.array([-4.0 * G, 0.0, 0.0])

    def potential(self, t, q):
        return 4.0 * G * float(q[0])

    def rows(self, t, q, v):
        return tuple(
            Row(id=f"leg{k}/floor", kind="unilateral", gap=float(c @ q), J=c[None, :], rate=[c @ v], drift=[0.0])
            for k, c in enumerate(self.CORNERS)
        )


@pytest.mark.drawn
def test_four_legs_at_rest_and_after_a_fall():
    still = simulate(Table(), State(q=[0.0, 0.0, 0.0], v=[0.0, 0.0, 0.0]), 0.05)
    assert np.abs(still.q).max() <= 1e-15
    assert np.abs(still["work_projection"]).max() <= 1e-10 * 4.0 * G * 2.0 * 0.05
    for tilt in ((0.07, -0.11), (0.1, 0.0), (0.0, 0.0))[: examples(3, fast=1)]:
        run = simulate(Table(), State(q=[0.5, *tilt], v=[0.0, 0.3, -0.2]), 3.0, stepper=COARSE)
        assert run.status == "COMPLETED", run.stop
        assert run.statistics["max_penetration_m"] <= 1e-11
        assert np.abs(run.final.q).max() <= 1e-10  # it lies flat
        assert np.diff(run["energy"]).max() <= 1e-12 * run["energy"][0]


def test_what_cannot_be_mended_is_named():
    class Torn(Tethered):
        """Two rods that want different lengths from t = 0.05 s on, without saying so in their rates."""

        def rows(self, t, q, v):
            (row,) = super().rows(t, q, v)
            stretch = 1e-3 if t > 0.05 else 0.0
            data = {"J": row.J, "rate": row.rate, "drift": row.drift}
            return (row, Row(id="other", kind="bilateral", gap=row.gap - stretch, **data))

    run = simulate(Torn(), State(q=[0.0, -1.0], v=[0.0, 0.0]), 0.1, stepper=COARSE)
    assert run.status == "STOPPED"
    assert run.stop.t == pytest.approx(0.05, abs=0.011)
    assert "projection" in run.stop.reason
    assert "other" in run.stop.reason or "tether" in run.stop.reason


@pytest.mark.slow
def test_curved_contact_stays_closed_while_it_pushes():
    start = 0.2
    q = np.array([np.sin(start), np.cos(start)])
    run = simulate(Dome(), State(q=q, v=[0.0, 0.0]), 0.6, stepper=MoreauJean(dt=2e-3))
    pushes = run["point/dome.r_N"] > 0.0
    assert pushes.sum() > 100
    assert np.abs(run["point/dome.gap"][pushes]).max() <= ALLOWED


def test_projected_coordinates_are_audited():
    run = simulate(Tethered(), State(q=[1.0, 0.0], v=[0.0, 0.0]), 0.3, stepper=COARSE)
    assert audit(run, Tethered()).passed
    loose = simulate(Tethered(), State(q=[1.0, 0.0], v=[0.0, 0.0]), 0.3, stepper=MoreauJean(dt=0.01, project=False))
    claimed = dict(loose.settings)
    claimed["stepper"] = {**claimed["stepper"], "project": True}
    verdict = audit(replace(loose, settings=claimed), Tethered())
    assert not verdict.passed
    assert verdict.max["joints"] > 1e-9
