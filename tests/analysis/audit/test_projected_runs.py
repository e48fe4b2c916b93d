"""Runs of piles and of chains pass their audits; a shift of the coordinates that changes no gap does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence import first
from random_scenes import falling

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.contact.snapshot import rows_of
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.scenes.catalogue import build


def fell(seed, t_end):
    mu, eps = (0.0, 0.2, 0.5, 0.9)[seed % 4], (0.0, 0.2, 0.6, 1.0)[seed // 4 % 4]
    system, state = falling(3, seed, mu=mu, eps_n=eps)
    return system, simulate(system, state, t_end, stepper=MoreauJean(dt=4e-3))


@pytest.mark.parametrize(("seed", "t_end"), first(1, [(287, 0.296), (177, 0.192)]))
def test_steps_with_contacts_that_joined_and_do_not_push_and_with_passes_that_swing_pass(seed, t_end):
    system, run = fell(seed, t_end)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
    assert verdict.max["kinematics"] <= 1e-13
    assert any(one.shifts for one in run.evidence.values()), "nothing was projected"


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "t_end"), [(195, 0.292), (215, 0.324)])
def test_impacts_of_many_edges_pass_and_a_shift_along_a_free_direction_is_noticed(seed, t_end):
    system, run = fell(seed, t_end)
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


def test_a_shift_that_was_not_recorded_is_noticed():
    """A four-bar is projected onto its joints in every step."""
    scene = build("four_bar")
    run = simulate(scene.system, scene.state, 0.05, stepper=MoreauJean(dt=2e-3))
    assert audit(run, scene.system).passed
    step = next(step for step, one in run.evidence.items() if one.shifts)
    for shifts in (
        (),
        tuple(
            one._replace(pushes={key: 2.0 * s for key, s in one.pushes.items()}) for one in run.evidence[step].shifts
        ),
    ):
        evidence = {**run.evidence, step: replace(run.evidence[step], shifts=shifts)}
        assert audit(replace(run, evidence=evidence), scene.system).max["kinematics"] > 1e-12


def test_runs_without_evidence_are_judged_by_what_pushes():
    """Files of earlier versions have none; where nothing was projected nothing is missing."""
    scene = build("incline")
    run = simulate(scene.system, scene.state, 0.1, stepper=MoreauJean(dt=1e-2))
    assert audit(replace(run, evidence={}), scene.system).passed
