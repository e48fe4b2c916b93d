"""Ends of steps that gaps hardly determine: right runs of piles pass their audits, shifts that change no gap do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence import first
from random_scenes import falling
from small_systems import Plain

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.analysis.audit.projection_slack import unexplained
from gaussdyn.contact.snapshot import rows_of
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.rows import Row


class Free(Plain):
    """A point in space."""

    nq = nv = 3


def gap(*normal):
    return Row(id=f"{normal}", kind="contact", gap=0.0, J=np.array([normal]), rate=np.zeros(1), drift=np.zeros(1))


def left(by, *places):
    q = np.array([1.0, 2.0, 3.0])
    return unexplained(Free(), q, q + by, places, np.eye(3)).max()


@pytest.mark.parametrize(("far", "known"), [(2e-9, False), (2e-7, True)])
def test_two_gaps_that_hardly_differ_leave_the_shift_between_them_open(far, known):
    wedge = [gap(0.0, 0.0, 1.0), gap(0.0, 1e-3, 1.0)]
    assert (left([0.0, far, 0.0], wedge) > 1e-12) == known
    assert left([far, 0.0, 0.0], wedge) == pytest.approx(far)  # changes no gap
    assert left([0.0, 0.0, far], wedge) > 0.9 * far  # changes both


def test_what_a_pass_leaves_open_the_next_one_closes_where_its_gaps_tell_it():
    wedge, corner = [gap(0.0, 0.0, 1.0), gap(0.0, 1e-3, 1.0)], [gap(0.0, 0.0, 1.0), gap(0.0, 1.0, 0.0)]
    flat = [gap(0.0, 0.0, 1.0)]
    assert left([0.0, 2e-9, 0.0], wedge, flat) <= 1e-12
    assert left([0.0, 2e-9, 0.0], wedge, corner) > 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", [195, 215])
def test_impacts_of_many_edges_are_rebuilt_and_a_shift_along_a_free_direction_is_noticed(seed):
    mu, eps = (0.0, 0.2, 0.5, 0.9)[seed % 4], (0.0, 0.2, 0.6, 1.0)[seed // 4 % 4]
    system, state = falling(3, seed, mu=mu, eps_n=eps)
    run = simulate(system, state, {195: 0.292, 215: 0.324}[seed], stepper=MoreauJean(dt=4e-3))
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
    rows = rows_of(system.near(run.t[-1], run.q[-1], run.v[-1], 0.0), run.t[-1], run.q[-1], run.v[-1])
    J = np.array([row.J[0] for row in rows if abs(row.gap) <= 1e-3])
    free = np.linalg.svd(J)[2][-1]
    assert np.abs(J @ free).max() <= 1e-10
    q = run.q.copy()
    q[-1] = system.move(q[-1], 1e-7 * free, 1.0)
    tampered = audit(replace(run, q=q), system)
    assert not tampered.passed
    assert tampered.max["kinematics"] > 1e-9


@pytest.mark.parametrize(("seed", "t_end"), first(1, [(287, 0.296), (177, 0.192)]))
def test_steps_with_contacts_that_joined_and_do_not_push_and_with_passes_that_swing_are_rebuilt(seed, t_end):
    mu, eps = (0.0, 0.2, 0.5, 0.9)[seed % 4], (0.0, 0.2, 0.6, 1.0)[seed // 4 % 4]
    system, state = falling(3, seed, mu=mu, eps_n=eps)
    run = simulate(system, state, t_end, stepper=MoreauJean(dt=4e-3))
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
    assert verdict.max["kinematics"] <= 1e-13
