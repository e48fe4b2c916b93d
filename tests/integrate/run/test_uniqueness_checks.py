"""What a run says about its acceleration problem on the way, against verdicts derived from A and b by hand."""

from __future__ import annotations

import json
import math
import signal
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from gaussdyn import ContactLaw, InputError
from gaussdyn.cli import app
from gaussdyn.contact.outcome.examine import examine
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.run import certificate_log
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.run.uniqueness_checks import Examination, Finding, accelerating
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics import spatial
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Position, UserSystem
from gaussdyn.scenes.catalogue import build

TIP = "rod.tip/floor"
REGIONS = {
    "held": ({"angle": math.radians(40)}, "UNIQUE"),
    "lift-off": ({"angle": math.radians(40), "omega": 5.0}, "UNIQUE"),
    "inconsistent": ({"angle": math.radians(60)}, "NONE"),
    "indeterminate": ({"angle": math.radians(60), "omega": 4.5}, "MULTIPLE"),
}


def first_steps(scene, start=None, steps=5, **options):
    """Return the run of the first steps of a scene."""
    return simulate(scene, start, t_end=steps * scene.dt, **options)


def data(angle, omega=0.0, mu=1.4, l=1.0, g=9.81):
    """A and b of the uniform rod of mass 1 whose tip digs in."""
    c, s = math.cos(angle), math.sin(angle)
    return 1 + 3 * c * c - 3 * mu * s * c, l * omega**2 * s - g


def verdict(A, b):
    return "UNIQUE" if A > 0 else "NONE" if b < 0 else "MULTIPLE"


@pytest.mark.parametrize("region", REGIONS)
def test_first_step_of_the_rod_in_its_four_regions(region):
    params, expected = REGIONS[region]
    assert verdict(*data(**params)) == expected
    run = first_steps(build("painleve_rod", **params), examine="cheap")
    assert run.status == "COMPLETED"
    assert run.steps.outcome[0] == expected
    assert len(run.steps.outcome) == len(run.steps.t) == run.statistics["steps"]


@pytest.mark.slow
def test_every_step_while_the_rod_slides_and_presses():
    """The motion is followed into the region without solution; every verdict is the one of A and b at that state."""
    scene = build("painleve_rod", angle=math.radians(56.5), mu=1.4, omega=-0.2, slip=-5.0)
    run = simulate(scene, t_end=0.2, examine="cheap")
    told, seen = run.steps.outcome, set()
    for k in range(len(told)):
        u = run["tip.u"][k]
        if told[k] == "NOT_EXAMINED" or u > -1e-6 or run[f"{TIP}.gap"][k] > 1e-9:
            continue
        A, b = data(run["rod.angle"][k], run["rod.omega"][k])
        if abs(A) > 1e-6:
            assert told[k] == verdict(A, b), k
            seen.add(str(told[k]))
    assert {"UNIQUE"} <= seen or {"NONE"} <= seen


def test_impulse_carries_the_run_through_the_inconsistent_region():
    run = simulate(build("painleve_rod"), examine="cheap")
    assert (run.steps.outcome[0], run.status) == ("NONE", "COMPLETED")
    jump = np.abs(np.diff(run["tip.u"]))
    assert jump[0] == pytest.approx(1.0, abs=1e-9)
    assert jump[1:].max() < 0.05


def test_sliding_table_is_unique_and_sliding_wedge_a_continuum():
    table = first_steps(build("table", force=10.0), steps=20, examine="cheap")
    assert set(table.outcomes) == {"UNIQUE"}
    wedge = first_steps(build("wedge"), examine="cheap")
    assert wedge.steps.outcome[0] == "CONTINUUM"


def test_rest_is_examined_up_to_four_contacts_and_by_full_effort_beyond():
    scene = build("ivanov_rod", slip=0.0, force_x=-4.0, force_y=1.0)
    for effort in ("cheap", "full"):
        assert first_steps(scene, examine=effort).steps.outcome[0] == "MULTIPLE"
        assert first_steps(build("wedge", v0=0.0), examine=effort).steps.outcome[0] == "CONTINUUM"
    table = build("table", v0=0.0, feet=5.0)
    assert first_steps(table, examine="cheap").steps.outcome[0] == "NOT_EXAMINED"
    assert first_steps(table, examine="full").steps.outcome[0] == "UNIQUE"
    off = first_steps(scene, examine="off")
    assert set(off.outcomes) == {"NOT_EXAMINED"}


def test_weak_friction_at_rest_is_known_to_be_unique():
    run = first_steps(build("ivanov_rod", slip=0.0, mu=0.05, force_x=0.0, force_y=-1.0), examine="cheap")
    assert run.steps.outcome[0] == "UNIQUE"


# --- on_multiple ---


def pressed(scene):
    """The start of a scene with the reactions of the motion that keeps its contact closed, as memory."""
    dynamics = snapshot(scene.system, scene.state)
    row = dynamics.rows[0]
    minv = np.linalg.inv(dynamics.M)
    W, q = row.J @ minv @ row.J.T, row.J @ dynamics.x_free + row.drift
    s, mu = np.sign(row.rate[1]) if abs(row.rate[1]) > 1e-9 else 0.0, row.mu
    if s:
        N = -q[0] / (W[0, 0] - mu * s * W[0, 1])
        r = np.array([N, -mu * s * N])
    else:
        r = -np.linalg.solve(W, q)
    memory = {row.id: scene.dt * r}
    return State(q=scene.state.q, v=scene.state.v, memory=memory), r


SEVERAL = {
    "sliding": {"slip": -1.0, "force_y": 1.0},
    "at rest": {"slip": 0.0, "force_x": -4.0, "force_y": 1.0},
}


@pytest.mark.parametrize("case", SEVERAL)
def test_continue_keeps_to_the_last_reactions_and_first_forgets_them(case):
    scene = build("ivanov_rod", **SEVERAL[case])
    start, r = pressed(scene)
    kept = first_steps(scene, start, examine="full", on_multiple="continue")
    assert kept.steps.outcome[0] == "MULTIPLE"
    assert kept[f"{TIP}.r_N"][1] == pytest.approx(r[0], rel=1e-2)
    free = first_steps(scene, start, examine="full", on_multiple="first")
    assert free[f"{TIP}.r_N"][1] == 0.0
    assert {kept.status, free.status} == {"COMPLETED"}


def test_raise_stops_with_a_reason_and_keeps_what_was_found():
    run = simulate(build("painleve_rod", omega=4.5), examine="cheap", on_multiple="raise")
    assert (run.status, run.stop.t, len(run)) == ("STOPPED", 0.0, 1)
    assert run.stop.reason.startswith("MULTIPLE")
    assert "on_multiple" in run.stop.reason
    assert first_steps(build("painleve_rod"), steps=20, examine="cheap", on_multiple="raise").status == "COMPLETED"
    assert first_steps(build("wedge"), examine="cheap", on_multiple="raise").stop.reason.startswith("CONTINUUM")


# --- what carries the outcomes ---


def test_file_carries_outcomes_with_times(tmp_path):
    run = simulate(build("painleve_rod"), examine="full")
    again = Trajectory.load(run.save(tmp_path / "run.h5"))
    assert again.steps.outcome.tolist() == run.steps.outcome.tolist()
    assert again.steps.t.tolist() == run.steps.t.tolist()
    assert again.outcomes == run.outcomes == {"NONE": 1, "UNIQUE": 149}


def invoke(*words):
    return CliRunner().invoke(app, list(words))


def test_command_line_tells_outcomes_and_stops():
    told = invoke("run", "painleve_rod", "--examine", "full", "--json")
    document = json.loads(told.stdout)
    assert (told.exit_code, document["outcomes"]) == (0, {"NONE": 1, "UNIQUE": 149})
    stopped = invoke("run", "painleve_rod", "--set", "omega=4.5", "--on-multiple", "raise", "--json")
    document = json.loads(stopped.stdout)
    assert (stopped.exit_code, document["status"]) == (3, "STOPPED")
    assert document["stop"]["t"] == 0.0
    assert "MULTIPLE" in document["stop"]["reason"]


def test_outcome_of_a_scene_later_in_its_run():
    """What the time stepping left of the gap does not count as a penetration."""
    for t in ("0.0005", "0.004"):
        told = invoke("outcome", "painleve_rod", "--at", t, "--json")
        assert told.exit_code == 0
        assert json.loads(told.stdout)["outcome"] == "UNIQUE"


def test_closed_rows_of_a_run_count_as_closed():
    scene = build("painleve_rod")
    run = simulate(scene, t_end=10 * scene.dt)
    rows = accelerating(scene.system, run.final, None).rows
    assert [row.gap for row in rows] == [0.0]
    raw = snapshot(scene.system, run.final).rows
    assert raw[0].gap != 0.0


def test_every_examined_step_has_its_friction_margin(tmp_path):
    from gaussdyn.analysis.margins import friction_margins

    scene = build("painleve_rod")
    run = first_steps(scene, steps=30, examine="cheap")
    found = run.steps.friction_margin
    assert found.shape == run.steps.t.shape
    closed = ~np.isnan(found)
    assert closed.any()
    # one sliding contact: A = W_NN - f mu s W_NT vanishes at the margin, whatever the load is
    for k in np.flatnonzero(closed)[:: max(1, closed.sum() // 5)]:
        state = State(t=run.before_t[k + 1], q=run.before_q[k + 1], v=run.before_v[k + 1])
        row = scene.system.rows(state.t, state.q, state.v)[0]
        W = row.J @ np.linalg.solve(scene.system.mass(state.q), row.J.T)
        slip = np.sign(row.rate[1])
        ratio = W[0, 0] / (row.mu * slip * W[0, 1]) if slip * W[0, 1] > 0 else np.inf
        assert found[k] == pytest.approx(ratio, rel=1e-9)
    loaded = Trajectory.load(run.save(tmp_path / "run.h5"))
    assert np.array_equal(loaded.steps.friction_margin, found, equal_nan=True)
    t, margins = friction_margins(run, scene)
    finite = np.isfinite(found)
    assert np.array_equal(margins, found[finite][: len(margins)] if finite.sum() <= 400 else margins)
    assert t == pytest.approx((run.steps.t - run.steps.dt)[finite])
    assert np.isnan(first_steps(scene).steps.friction_margin).all()


EXAMINED = {
    "contacts come and go": lambda: (build("zeno_ball"), MoreauJean(dt=2e-3)),
    "slip that ends": lambda: (build("sliding_rod"), MoreauJean(dt=1e-3)),
    "no acceleration": lambda: (build("painleve_rod"), MoreauJean(dt=5e-4)),
    "by events": lambda: (build("sliding_rod"), EventDriven(dt=1e-2)),
}


@pytest.mark.parametrize("case", EXAMINED)
def test_looking_changes_nothing_and_sees_every_state(case):
    """A run that is examined is the run that is not, and says of every step what its first state says by itself."""
    scene, stepper = EXAMINED[case]()
    run = simulate(scene, stepper=stepper, examine="cheap")
    blind = simulate(scene, stepper=stepper, examine="off")
    assert run.state_hash == blind.state_hash
    assert np.array_equal(run.q, blind.q)
    assert [one.kind for one in run.events] == [one.kind for one in blind.events]
    assert [proof.t for proof in run.certificates] == sorted(proof.t for proof in run.certificates)
    for k in range(0, len(run.steps.t), max(1, len(run.steps.t) // 40)):
        state = run.state(k)
        outcome = examine(accelerating(scene.system, state, None), effort="cheap").verdict
        assert run.steps.outcome[k] == str(outcome), (k, state)


def test_a_state_that_cannot_be_examined_ends_the_run_there(monkeypatch):
    seen, look = [], Examination.look

    def fails_later(self, system, state, control):
        seen.append(state.t)
        if state.t > 0.05:
            raise ArithmeticError("no mass there")
        return look(self, system, state, control)

    monkeypatch.setattr(Examination, "look", fails_later)
    run = simulate(build("zeno_ball"), examine="cheap")
    assert run.status == "STOPPED"
    assert "no mass there" in run.stop.reason
    assert 0.05 < run.t_reached < 0.052
    assert set(run.steps.outcome) == {"UNIQUE"}


def test_proofs_are_of_states_that_the_run_has_come_to(monkeypatch):
    """A column that fails ends the run at once, however many steps were taken together and looked at."""
    said = SimpleNamespace(verdict="NONE", certificate=SimpleNamespace(to_json=lambda: "{}"))
    monkeypatch.setattr(certificate_log, "_outcome", lambda system, state, control: said)
    monkeypatch.setattr(
        Examination, "look", lambda _, system, state, control: Finding(outcome="NONE" if state.t > 0.02 else "UNIQUE")
    )

    def until(last):
        def read(state):
            if state.t > last:
                raise ArithmeticError("beyond the table")
            return state.q[0]

        return replace(build("zeno_ball"), columns={"table": ("m", read)})

    for last, proofs in ((0.015, 0), (0.025, 1)):
        run = simulate(until(last), examine="cheap")
        assert "beyond the table" in run.stop.reason
        assert run.t_reached == pytest.approx(last, abs=1.001e-3)
        assert len(run.certificates) == proofs


def test_ctrl_c_comes_through_while_a_state_is_examined(monkeypatch):
    seen, look = [], Examination.look

    def pressed(self, system, state, control):
        seen.append(state.t)
        if len(seen) == 40:
            signal.raise_signal(signal.SIGINT)
            raise AssertionError("it was held back")
        return look(self, system, state, control)

    monkeypatch.setattr(Examination, "look", pressed)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts beside itself ignores it
    try:
        run = simulate(build("zeno_ball"), examine="cheap", on_interrupt="return")
    finally:
        signal.signal(signal.SIGINT, before)
    assert run.interrupted
    assert 10 < len(run.steps.t) < 40
    assert set(run.steps.outcome) == {"UNIQUE"}


def test_examined_states_ask_for_the_contacts_that_are_near():
    from integrate.run.test_contact_history import Pile, start

    asked = []

    class Watched(Pile):
        def near(self, t, q, v, dt):
            asked.append(dt)
            return super().near(t, q, v, dt)

        def rows(self, t, q, v):
            raise AssertionError("all pairs of bodies were asked for")

    run = simulate(Watched(), start(), 0.4, stepper=MoreauJean(dt=0.01), examine="full")
    assert run.status == "COMPLETED", run.stop
    assert 0.0 in asked
    assert set(run.outcomes) == {"UNIQUE"}


def test_a_single_contact_in_space_is_examined():
    run = simulate(
        build("sphere_slip"), t_end=0.6, stepper=MoreauJean(dt=5e-3), examine="cheap"
    )  # it slides, then rolls
    assert set(run.outcomes) == {"UNIQUE"}
    assert run.outcomes["UNIQUE"] == len(run.steps.t)


# --- without being asked ---


def three_motions():
    """A slender body on one point: it may stay at rest, or slip in two directions."""
    turned = np.array([[0.0, 2.0, 0.0], [-2.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # r x, for r = (1, 0, -2)
    mobility = np.eye(3) - turned @ np.diag([10.0, 50.0, 10.0]) @ turned
    order = [2, 0, 1]  # normal, then the two tangents
    mass = np.linalg.inv(mobility[np.ix_(order, order)])
    foot = Position(lambda t, q: q[0], mu=0.5, tangent=lambda t, q: np.eye(3)[1:], name="foot")
    load = mass @ [-1.0, -1.5, 1.65]
    return UserSystem(3, 0.5 * (mass + mass.T), load, [foot]), State(q=np.zeros(3), v=np.zeros(3))


@pytest.mark.parametrize("stepper", [MoreauJean(dt=1e-3), EventDriven()])
def test_a_run_says_that_it_begins_with_one_of_several_motions(stepper):
    run = simulate(*three_motions(), 0.01, stepper=stepper)
    assert run.steps.outcome[0] == "MULTIPLE"
    assert set(run.steps.outcome[1:]) <= {"NOT_EXAMINED"}
    assert [(event.t, event.kind, event.id) for event in run.events][:1] == [(0.0, "chosen", "foot")]
    off = simulate(*three_motions(), 0.01, stepper=stepper, examine="off")
    assert off.state_hash == run.state_hash
    assert "chosen" not in off.event_counts


def test_the_first_step_alone_is_examined_where_that_is_cheap():
    ball = simulate(build("cue_ball"), t_end=0.02)  # compiled, many steps at once
    assert ball.steps.outcome[0] == "UNIQUE"
    assert ball.outcomes["NOT_EXAMINED"] == len(ball.steps.outcome) - 1
    assert set(simulate(build("zeno_ball"), t_end=0.01).outcomes) == {"NOT_EXAMINED"}  # nothing rubs
    assert set(simulate(build("capstan", corners=20.0), t_end=0.01).outcomes) == {"NOT_EXAMINED"}  # too many


def test_a_run_of_before_goes_on(tmp_path):
    """Files whose runs did not examine their first step are resumed without being asked to say so."""
    scene, out = build("incline"), tmp_path / "run.h5"
    simulate(scene, t_end=0.01, out=out, examine="off")
    run = simulate(scene, t_end=0.02, out=out, resume=True)
    assert run.state_hash == simulate(scene, t_end=0.02).state_hash


def test_large_systems_are_not_examined():
    """The acceleration problem holds the full mass matrix: a system of 1e4 bodies would ask for 29 GB of it."""
    balls = [spatial.ball(f"b{k}", mass=1.0, radius=0.1) for k in range(1001)]
    system = spatial.SpatialSystem(
        bodies=balls, obstacles=[spatial.HalfSpace(name="floor")], contact=ContactLaw(mu=0.5)
    )
    heights = {f"b{k}": (0.3 * k, 0.0, 0.1 if k < 2 else 1.0) for k in range(1001)}  # two of them roll
    state = system.state(heights)
    assert set(simulate(system, state, 2e-3, stepper=MoreauJean(dt=1e-3)).outcomes) == {"NOT_EXAMINED"}
    for asked in ({"examine": "cheap"}, {"examine": "full"}, {"on_multiple": "raise"}):
        with pytest.raises(InputError, match=r"of 6006 velocities.*6000.*examine='start'"):
            simulate(system, state, 2e-3, **asked)
