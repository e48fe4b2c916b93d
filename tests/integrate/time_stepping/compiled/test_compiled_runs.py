"""Runs with compiled steps: many at once are the same as one by one, also where sparse kernels hand steps on."""

import numpy as np
import pytest
from run_cases import same

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.run import checkpoints as archive
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.integrate.time_stepping.compiled.step import DONE, HARD
from gaussdyn.integrate.time_stepping.core.outside.spans import spans_of
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import ball, brick
from gaussdyn.mechanics.spatial.forces import Shaking
from gaussdyn.mechanics.spatial.system import SpatialSystem

pytestmark = pytest.mark.xdist_group("compiled runs")  # what they share is made once

H, DT = 0.1, 2e-3
COLUMNS = ("kinetic", "potential", "energy_error", "work_reactions", "work_forces", "work_projection")


def falling():
    """A ball that rolls and a box dropped flat beside it, on a floor that shakes."""
    bodies = [ball("ball", mass=1.0, radius=H), brick("box", mass=2.0, half=(H, H, H))]
    floor = HalfSpace(name="floor")
    contact, forces = ContactLaw(mu=0.5), (Shaking(amplitude=0.5, frequency=3.0),)
    system = SpatialSystem(bodies=bodies, obstacles=[floor], contact=contact, forces=forces)
    place = {"ball": (1.0, 0.0, H), "box": (0.0, 0.0, H + 0.004)}
    return system, system.state(place, {"ball": (0.5, 0.0, 0.0), "box": (0.4, 0.0, 0.0)})


def run(save, t_end=0.4, **given):
    system, state = falling()
    return simulate(system, state, t_end, stepper=MoreauJean(dt=DT), save=save, **given)


def happened(run):
    return [(round(event.t / DT), event.kind, event.id) for event in run.events]


def columns(run):
    return [name for name in COLUMNS if name in run.columns]


@pytest.fixture(scope="module")
def whole():
    return run(1)


@pytest.mark.parametrize("save", [7, 1000])
def test_many_at_once_are_the_same_bits(whole, save):
    other = run(save)
    assert other.state_hash == whole.state_hash
    assert happened(other) == happened(whole)
    assert np.array_equal(other.steps.E, whole.steps.E)
    assert np.array_equal(other.steps.t, whole.steps.t)
    assert len(columns(whole)) >= 3
    for name in columns(whole):
        assert other[name][-1] == whole[name][-1]


def test_steps_that_kernels_hand_back_are_taken_between_many_at_once(monkeypatch):
    call, refused = CompiledBodies._call, (15, 41, 42, 90)

    def handing_back(self, run):
        plan = run.plan
        ahead = [k for k, t in enumerate(plan[:, 0]) if round(t / DT) in refused and k >= self.space.count[0]]
        stop = ahead[0] if ahead else len(plan)
        if self.space.count[0] < stop:
            run.plan = plan[:stop]
            code = call(self, run)
            run.plan = plan
            if code != DONE or stop == len(plan):
                return code
        return HARD if ahead else DONE

    monkeypatch.setattr(CompiledBodies, "_call", handing_back)
    monkeypatch.setattr(CompiledBodies, "_solve", lambda self, log: False)
    one, many = run(1, 0.2), run(13, 0.2)
    assert many.status == one.status == "COMPLETED", many.stop
    assert many.state_hash == one.state_hash
    assert happened(many) == happened(one)
    assert np.array_equal(many.steps.E, one.steps.E)


def test_a_run_in_pieces_is_the_whole_run(whole, tmp_path):
    short = run(7, 0.25, out=tmp_path / "run.h5", chunk=10)
    assert short.status == "COMPLETED"
    rest = run(7, 0.4, out=tmp_path / "run.h5", chunk=10, resume=True)
    assert rest.state_hash == whole.state_hash
    assert np.array_equal(rest.steps.E, whole.steps.E)
    assert happened(rest) == happened(whole)


def test_when_the_clock_has_a_chunk_written_changes_no_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "SECONDS", 0.0)  # after every call of the kernels
    same(run(7, 0.03), run(7, 0.03, out=tmp_path / "run.h5"))


def test_saved_states_pass_the_audit():
    assert audit(run(7), falling()[0]).passed


def test_a_control_is_held_and_its_work_counted():
    push = np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 12.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    one, many = run(1, control=push), run(50, control=push)
    assert many.state_hash == one.state_hash
    assert abs(one["energy_error"]).max() <= 1e-10
    assert run(1, control=lambda t, state: push).state_hash == one.state_hash


def test_balls_of_a_row_that_part_slowly_are_not_pulled_back():
    """The contacts that end a step closed are those that push in it, not those that pushed in the last one."""
    row = [ball(f"b{k}", mass=1.0, radius=H) for k in range(3)]
    system = SpatialSystem(bodies=row, contact=ContactLaw(mu=0.0), gravity=(0.0, 0.0, 0.0))
    place = {f"b{k}": (2 * H * k - 0.05 * (k == 0), 0.0, 0.0) for k in range(3)}
    state = system.state(place, {"b0": (1.0, 0.03, 0.0)})
    assert audit(simulate(system, state, 0.1, stepper=MoreauJean(dt=1e-3)), system).passed


@pytest.mark.parametrize(
    "masses", [(13.3, 11.54, 0.04, 8.08, 0.11), (26.78, 6.99, 10.75, 1.46, 21.13, 0.04, 14.71, 0.47)], ids=len
)
def test_light_balls_between_heavy_ones_lose_no_energy(masses):
    """The first ball rebounds from all others as one body; E is weighted by masses and sees little of light ones."""
    n, r, v0, d = len(masses), 0.05, 3.0, np.array([0.6, 0.0, 0.8])
    bodies = [ball(f"b{k}", mass=m, radius=r) for k, m in enumerate(masses)]
    system = SpatialSystem(bodies=bodies, contact=ContactLaw(mu=0.3, eps_n=1.0), gravity=(0.0, 0.0, 0.0))
    state = system.state({f"b{k}": (2.0 * r * k - (0.01 if k == 0 else 0.0)) * d for k in range(n)}, {"b0": v0 * d})
    run = simulate(system, state, 4e-3, stepper=MoreauJean(dt=1e-3), project=True)
    m, rest, v = masses[0], sum(masses[1:]), run.v[-1].reshape(n, 6)[:, :3]
    after = np.array([(m - rest) / (m + rest), *[2.0 * m / (m + rest)] * (n - 1)]) * v0
    np.testing.assert_allclose(v, np.outer(after, d), atol=1e-12 * v0)
    assert 0.5 * np.array(masses) @ (v**2).sum(axis=1) == pytest.approx(0.5 * m * v0**2, rel=1e-12)


@pytest.mark.parametrize(
    ("t", "t_max"),
    [(0.0, np.inf), (14 * DT, np.inf), (1020 * DT, np.inf), (-3 * DT, np.inf), (0.0, 7.5 * DT), (0.3 * DT, np.inf)],
)
def test_spans_of_many_steps_are_those_of_one_after_another(t: float, t_max: float) -> None:
    stepper, expected, now = MoreauJean(dt=DT), [], t
    horizon = min(t_max, t + 12 * DT)
    while len(expected) < 10 and now < horizon:
        dt, end = stepper.span(now, horizon)
        expected.append((now, dt, end))
        now = end
    assert np.array_equal(spans_of(stepper, t, 10, t_max), expected)
