"""Contacts that only a step's own reactions bring about act in that step: no step ends with an overlap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence import first
from random_scenes import falling

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.run import step_evidence
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.core.outside import cut_steps, late_contacts
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.linalg.rotations import matrix_of
from gaussdyn.mechanics.collision.shapes import Box, HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import box, disc
from gaussdyn.mechanics.planar.shapes import Disc
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import ball, brick
from gaussdyn.mechanics.spatial.system import SpatialSystem

R, APART = 0.1, 0.0033  # m: of discs and balls; how far the first of a row is from the second
STILL = (0.0, 0.0)


def row_of_discs(clearance, eps=0.0, pairs=None, names="abc"):
    """Return a disc that flies at 1 m/s against a second one, others in a row being a little apart from that."""
    system = PlanarSystem(
        bodies=[disc(name, mass=1.0, radius=R) for name in names], gravity=STILL, contact=ContactLaw(eps_n=eps),
        pairs=pairs or {},
    )  # fmt: skip
    places = {name: (k * (2.0 * R + clearance), 0.0, 0.0) for k, name in enumerate(names[1:])}
    places["a"] = (-2.0 * R - APART, 0.0, 0.0)
    return system, system.state(places, {"a": (1.0, 0.0, 0.0)})


@pytest.mark.parametrize("dt", first(1, [4e-3, 1e-2, 1e-3]))
@pytest.mark.parametrize("clearance", [1e-5, 1e-4, 1e-3, 3e-3])
def test_a_disc_that_is_pushed_against_a_third_one_meets_it_in_the_same_step(clearance, dt):
    system, state = row_of_discs(clearance)
    run = simulate(system, state, 0.03, stepper=MoreauJean(dt=dt))
    assert run.status == "COMPLETED", run.stop
    assert np.diff(run.q[:, [0, 3, 6]], axis=1).min() >= 2.0 * R - 1e-10
    assert run.final.v[[0, 3, 6]] == pytest.approx(np.full(3, 1.0 / 3.0), abs=1e-12)  # momentum, nothing rebounds
    assert run.final.q[[0, 3, 6]].mean() == pytest.approx((0.03 - APART + clearance) / 3.0, abs=1e-12)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


@pytest.mark.parametrize("eps", [0.5, 1.0])
def test_a_row_of_discs_that_rebound_gains_no_energy(eps):
    system, state = row_of_discs(1e-4, eps)
    run = simulate(system, state, 0.03, stepper=MoreauJean(dt=4e-3))
    assert np.diff(run.q[:, [0, 3, 6]], axis=1).min() >= 2.0 * R - 1e-10
    v = run.v[:, [0, 3, 6]]
    assert v.sum(axis=1) == pytest.approx(np.ones(len(v)), abs=1e-12)
    assert (v * v).sum(axis=1).max() <= 1.0 + 1e-12
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


PEG, HALF = 0.05, (0.5, 0.05, 0.02)  # m: radius, and half sides of the lever


def seesaw(clearance, dim):
    """Return a lever on a peg near one end, a ball that falls on that end, and one that rests above the other end.

    The far end moves away nine times as fast as the ball comes.
    """
    law = ContactLaw(eps_n=0.0)
    places = {"lever": (0.4, 0.0), "hammer": (-0.09, HALF[2] + R + 0.001), "target": (0.85, HALF[2] + R + clearance)}
    speed = -1.0
    if dim == 2:
        bodies = [box("lever", mass=0.1, width=2.0 * HALF[0], height=2.0 * HALF[2])]
        bodies += [disc(name, mass=m, radius=R) for name, m in (("hammer", 10.0), ("target", 1.0))]
        peg = Disc(name="peg", at=(0.0, -HALF[2] - PEG), radius=PEG)
        system = PlanarSystem(bodies=bodies, obstacles=[peg], gravity=STILL, contact=law)
        return system, system.state({k: (*x, 0.0) for k, x in places.items()}, {"hammer": (0.0, speed, 0.0)})
    bodies = [brick("lever", mass=0.1, half=HALF)]
    bodies += [ball(name, mass=m, radius=R) for name, m in (("hammer", 10.0), ("target", 1.0))]
    pegs = [Sphere(name="peg", at=(0.0, 0.0, -HALF[2] - PEG), radius=PEG)]
    system = SpatialSystem(bodies=bodies, obstacles=pegs, gravity=(0.0, 0.0, 0.0), contact=law)
    return system, system.state({k: (x, 0.0, z) for k, (x, z) in places.items()}, {"hammer": (0.0, 0.0, speed)})


def apart(run, dim):
    """Return the least distance of the balls from the lever at all steps, by its nearest point to their centres, m."""
    least = np.inf
    for q in run.q:
        lever, *balls = q.reshape(3, -1)
        if dim == 2:
            c, s = np.cos(lever[2]), np.sin(lever[2])
            turn, half = np.array([[c, -s], [s, c]]), np.array([HALF[0], HALF[2]])
        else:
            turn, half = matrix_of(lever[3:]), np.array(HALF)
        for one in balls:
            place = turn.T @ (one[:dim] - lever[:dim])
            least = min(least, float(np.linalg.norm(place - np.clip(place, -half, half))) - R)
    return least


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("dt", first(1, [1e-2, 4e-3, 2e-3]))
@pytest.mark.parametrize("clearance", [1e-4, 1e-3, 1e-2, 2.5e-2])
def test_the_far_end_of_a_lever_meets_what_it_reaches(clearance, dt, dim):
    system, state = seesaw(clearance, dim)
    run = simulate(system, state, 0.04, stepper=MoreauJean(dt=dt))
    assert run.status == "COMPLETED", run.stop
    assert apart(run, dim) >= -1e-10
    up = run.final.v[7] if dim == 2 else run.final.v[6 * 2 + 2]
    turning = 0.09**2 * 10.0 + 0.85**2 * 1.0 + 0.1 * ((1.0 + 0.04**2) / 12.0 + 0.4**2)  # about the peg, kg m^2
    assert up == pytest.approx(0.85 * 0.09 * 10.0 / turning, rel=0.1)  # angular momentum; the lever turns meanwhile
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


@pytest.mark.parametrize("seed", range(8))
def test_a_plate_that_is_struck_lands_on_the_table_below_it_in_the_same_step(seed):
    """Nothing moves there before: what is at rest reaches no farther than it is. Edges cross nearly in parallel."""
    rng = np.random.default_rng(seed)
    bodies = [brick("plate", mass=0.3, half=(0.2, 0.15, 0.02)), ball("hammer", mass=10.0, radius=PEG)]
    table = Box(name="table", half=(0.3, 0.1, 0.05), at=(0.05, 0.0, -0.05))
    system = SpatialSystem(bodies=bodies, obstacles=[table], gravity=(0.0, 0.0, 0.0), contact=ContactLaw(mu=0.3))
    turn = np.array([1.0, *rng.uniform(-0.015, 0.015, 3)])
    over = 0.032 + 0.02 + PEG + 0.006
    places = {"plate": (0.15, 0.0, 0.032, *turn / np.linalg.norm(turn))}
    places["hammer"] = (0.15 + rng.uniform(-0.15, 0.15), rng.uniform(-0.1, 0.1), over)
    state = system.state(places, {"hammer": (0.0, 0.0, -3.0)})
    run = simulate(system, state, 0.05, stepper=MoreauJean(dt=4e-3))
    assert run.status == "COMPLETED", run.stop
    assert run.statistics["max_penetration_m"] <= 1e-10
    assert any("table" in event.id for event in run.events)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


def test_an_overlap_in_a_contact_that_was_not_listed_fails_the_audit():
    """What takes the steps does not know that the second and the third one may touch; the audit does."""
    system = row_of_discs(1e-4)[0]
    run = simulate(*row_of_discs(1e-4, pairs={("b", "c"): None}), 0.03, stepper=MoreauJean(dt=4e-3))
    assert np.diff(run.q[:, [0, 3, 6]], axis=1).min() < 2.0 * R - 1e-6
    verdict = audit(run, system)
    assert not verdict.passed
    assert max(verdict.max["gaps"], -np.inf) > 1e-6


def test_a_step_for_which_contacts_are_found_without_end_fails_in_words(monkeypatch):
    """Kernels take a step once more with what they overlooked: the third disc, which then meets the fourth."""
    monkeypatch.setattr(late_contacts, "SEARCHES", 1)
    monkeypatch.setattr(cut_steps, "SHORTEST", 1.0)
    system, state = row_of_discs(1e-4, names="abcd")
    run = simulate(system, state, 0.03, stepper=MoreauJean(dt=4e-3))
    assert run.status == "STOPPED"
    assert "b/c overlapped by" in run.stop.reason


def test_a_capsule_that_is_turned_on_to_an_edge_does_not_overlap_it():
    """The 148th step of this pile rolls a capsule from a corner of a box on to an edge, by its reaction alone."""
    system, state = falling(3, 2, mu=0.5, eps_n=0.0)
    run = simulate(system, state, 0.31, stepper=MoreauJean(dt=2e-3))
    pill, block = system.bodies[0].shapes[0], system.bodies[2].shapes[0]
    along = np.linspace(-1.0, 1.0, 2001)[:, None] * pill.half_length * matrix_of(pill.turn)[:, 2]
    for q in run.q:
        place = (q[:3] + along @ matrix_of(q[3:7]).T - q[14:17]) @ matrix_of(q[17:21])
        far = np.linalg.norm(place - np.clip(place, -np.array(block.half), block.half), axis=1)
        assert far.min() >= pill.radius - 1e-10
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


@pytest.mark.parametrize("peg_at", [0.02, 0.1, 0.2])
@pytest.mark.parametrize("eps", first(1, [0.6, 0.3, 1.0]))
def test_a_peg_that_pushes_a_lever_at_rest_stays_closed(eps, peg_at):
    """Without gravity nothing but the impulses themselves says what is small: rounding let the lever off the peg."""
    law, half, soft = ContactLaw(mu=0.1, eps_n=eps), 0.02, {("lever", "peg"): ContactLaw(mu=0.1)}
    bodies = [box("lever", mass=0.1, width=1.0, height=2.0 * half)]
    bodies += [disc(name, mass=m, radius=R) for name, m in (("hammer", 10.0), ("target", 1.0))]
    peg = Disc(name="peg", at=(peg_at, -half - PEG), radius=PEG)
    system = PlanarSystem(bodies=bodies, obstacles=[peg], gravity=STILL, contact=law, pairs=soft)
    places = {"lever": (0.4, 0.0), "hammer": (-0.05, half + R + 0.001), "target": (0.85, half + R + 1e-5)}
    state = system.state({k: (*x, 0.0) for k, x in places.items()}, {"hammer": (0.0, -3.0, 0.0)})
    run = simulate(system, state, 0.02, stepper=MoreauJean(dt=1e-2))
    pushing = [c for k in range(1, len(run)) for c in run.contacts(k) if "peg" in c.id and c.reaction[0] > 0.0]
    assert len(pushing) > 0
    assert max(abs(c.gap) for c in pushing) <= 1e-10
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


def test_runs_say_where_contacts_were_found_that_are_found_nowhere_else(tmp_path):
    """A corner over a face that is beside it where the step begins, and where it ends once it is taken again."""
    system, state = falling(3, 17, mu=0.2, eps_n=0.0)
    run = simulate(system, state, 0.296, stepper=MoreauJean(dt=4e-3))
    assert [(k, len(one.tries)) for k, one in run.evidence.items() if one.tries] == [(72, 2)]
    assert all(contact.frame is not None for k in range(len(run)) for contact in run.contacts(k))
    at_once, each = (step_evidence.as_arrays(found) for found in (run.evidence, dict(run.evidence)))
    for name, values in at_once.items():
        np.testing.assert_array_equal(values, each[name])
    again = Trajectory.load(run.save(tmp_path / "run.h5"))
    np.testing.assert_array_equal(again.evidence[72].tries, run.evidence[72].tries)
    assert audit(again, system).passed
    bare = {k: replace(one, tries=()) for k, one in run.evidence.items()}
    assert not audit(replace(run, evidence=bare), system).passed  # as of files of earlier versions


def test_contacts_that_only_a_step_tried_before_has_found_are_listed_with_their_impulses():
    """With two coefficients of friction, so that the step for all kinds of systems takes them."""
    free, state = falling(3, 106, mu=0.3, eps_n=0.5)
    law = ContactLaw(mu=0.3, mu_s=0.300001, eps_n=0.5)
    system = SpatialSystem(bodies=free.bodies, obstacles=[HalfSpace(name="floor")], contact=law)
    run = simulate(system, state, 0.3, stepper=MoreauJean(dt=4e-3))
    assert any(one.tries for one in run.evidence.values())
    for k, one in run.evidence.items():
        assert set(one.acts) <= {contact.id for contact in run.contacts(k)}
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
