"""Events that find no modes, or no velocity: what is found when the motion goes on is noted, or why there is none."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from late_modes import found_late, without_clear_steps

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.event_driven import event_stepper, mode_selection
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.impact.impact_laws import Moreau, Newton, OneByOne
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.joints.limits_motors import Limit, Motor
from gaussdyn.mechanics.planar.bodies import Marker, box, disc, fixed
from gaussdyn.mechanics.planar.contacts import HalfPlane
from gaussdyn.mechanics.planar.joints import Hinge
from gaussdyn.mechanics.planar.shapes import Polygon
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Position, UserSystem
from gaussdyn.programs.solution.residuals import Residuals
from gaussdyn.programs.solution.solution import Solution
from gaussdyn.programs.solution.status import Status

TABLE = Polygon(points=((-1.0, -1.0), (0.3, -1.0), (0.3, 0.0), (-1.0, 0.0)), name="table")


def on_table(body, place, speed, mu):
    system = PlanarSystem(bodies=[body], obstacles=[TABLE], contact=ContactLaw(mu=mu, eps_n=0.0))
    return system, system.state({body.name: place}, {body.name: speed})


SCENES = {
    "stops": lambda: on_table(box("crate", mass=2.0, width=0.2, height=0.1), (-0.5, 0.05, 0.0), (0.6, 0.0, 0.0), 0.5),
    "lands": lambda: on_table(box("crate", mass=2.0, width=0.4, height=0.2), (0.2, 0.2, 0.3), (0.5, -1.0, 1.0), 0.4),
    "ends": lambda: on_table(disc("puck", mass=2.0, radius=0.1), (0.2, 0.1, 0.0), (0.5, 0.0, 0.0), 0.0),
}


@pytest.mark.parametrize("scene", SCENES)
def test_changes_are_noted_where_modes_are_found_only_when_the_motion_goes_on(scene, monkeypatch):
    system, state = SCENES[scene]()
    expected = simulate(system, state, 0.3, stepper=EventDriven())
    broken = found_late(monkeypatch)
    run = simulate(system, state, 0.3, stepper=EventDriven())
    assert len(broken) > 1
    assert run.status == "COMPLETED", run.stop
    assert [(event.kind, event.id) for event in run.events] == [(event.kind, event.id) for event in expected.events]
    assert np.allclose([event.t for event in run.events], [event.t for event in expected.events], rtol=0, atol=1e-10)
    checked = audit(run, system)
    assert checked.passed, checked.explain()


@dataclass(frozen=True)
class Hasty:
    """Moreau's law, but its velocity problem is not solved to the end."""

    name: ClassVar[str] = "hasty"

    def strike(self, struck, v):
        """Return a phase whose solution is none."""
        (phase,) = Moreau().strike(struck, v)
        solution = phase.solution.but(status=Status.MAX_ITERATIONS, residuals=Residuals(E=3e-5))
        return (replace(phase, solution=solution),)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (Hasty(), r"the impact of puck/table:e2 at t = 0\.\d+ s is not solved: E = 3\.0e-05 is left in its laws\."),
        (
            OneByOne(law=Newton(eps_n=0.5), most=1),
            r"the impact of .* does not end: .* again after 1 single ones, at 0\.\d+ m/s\.",
        ),
    ],
)
def test_an_impact_without_a_solution_says_so(law, words):
    if isinstance(law, OneByOne):
        sides = ((1.0, "left"), (-1.0, "right"))
        walls = [HalfPlane(normal=(sign * math.sin(0.5), math.cos(0.5)), name=name) for sign, name in sides]
        system = PlanarSystem(bodies=[disc("puck", mass=2.0, radius=0.1)], obstacles=walls)
        state = system.state({"puck": (0.0, 0.3, 0.0)}, {"puck": (0.0, -1.0, 0.0)})
    else:
        system, state = on_table(disc("puck", mass=2.0, radius=0.1), (0.0, 0.2, 0.0), (0.0, -1.0, 0.0), 0.3)
    run = simulate(system, state, 0.5, stepper=EventDriven(impact=law))
    assert run.status == "STOPPED"
    assert re.search(words, run.stop.reason), run.stop.reason


def test_an_impact_without_end_says_how_fast_it_shrinks_and_how_many_single_ones_it_takes():
    M = np.diag([1.0, 1.5, 2.25])
    gaps = [Position(lambda t, q, k=k: q[k] - (q[k - 1] if k else 0.0), eps_n=0.2, name=f"c{k}") for k in range(3)]
    system = UserSystem(3, M, lambda t, q, v: -9.81 * np.diag(M), constraints=gaps)
    state = State(q=[1.0] * 3, v=[0.0] * 3)
    stop = simulate(system, state, 0.5, stepper=EventDriven(impact=OneByOne(most=40))).stop.reason
    said = re.search(r"after 40 .* at \S+ m/s, \S+ less in each: .* about (\d+), which OneByOne\(most=(\d+)\)", stop)
    many, most = map(int, said.groups())
    run = simulate(system, state, 0.5, stepper=EventDriven(impact=OneByOne(most=most)))
    assert run.status == "COMPLETED"
    assert len(run.impacts[0].problems) == pytest.approx(many, rel=0.15)
    assert audit(run, system).passed


@pytest.mark.parametrize("scene", ["stops", "lands"])
def test_the_motion_up_to_where_laws_do_not_hold_is_in_the_run(scene, monkeypatch):
    """Said of all states from some time on the run stops at the next event; said once it is asked anew, and goes on."""
    system, state = SCENES[scene]()
    expected = simulate(system, state, 0.3, stepper=EventDriven())
    after, verified, said = float(expected.events[0].t) + 1e-9, event_stepper._verified, [0]
    without_clear_steps(monkeypatch)

    def doubting(most):
        def found(dynamics, segment):
            if segment.phase is None or segment.t < after or said[0] >= most:
                return verified(dynamics, segment)
            said[0] += 1
            return Solution(problem=None, status=Status.UNDECIDED, message="laws do not hold.")

        return found

    monkeypatch.setattr(event_stepper, "_verified", doubting(1))
    run = simulate(system, state, 0.3, stepper=EventDriven())
    assert run.status == "COMPLETED"
    assert [(event.kind, event.id) for event in run.events] == [(event.kind, event.id) for event in expected.events]
    assert np.allclose(run.final.q, expected.final.q, rtol=0, atol=1e-11)
    monkeypatch.setattr(event_stepper, "_verified", doubting(math.inf))
    run = simulate(system, state, 0.3, stepper=EventDriven())
    assert run.status == "STOPPED"
    assert "laws do not hold" in run.stop.reason
    assert expected.events[0].t <= run.stop.t == run.t[-1] < 0.3
    if scene == "lands":
        assert run.stop.t == min(event.t for event in expected.events if event.t > after)
    checked = audit(run, system)
    assert checked.passed, checked.explain()


@pytest.mark.parametrize("where", ["force", "gap", "event"])
def test_the_motion_up_to_where_a_function_raises_is_in_the_run(where):
    def told(name, q, value):
        if name == where and q[0] > 0.6:
            raise ValueError(f"no table of the {name} beyond 0.6 m")
        return value

    floor = Position(
        lambda t, q: told("gap", q, q[1]), jacobian=lambda t, q: [0.0, 1.0], tangent=lambda t, q: [1.0, 0.0],
        drift=lambda t, q, v: 0.0, mu=0.3, eps_n=0.5, name="floor",
    )  # fmt: skip
    system = UserSystem(2, np.eye(2), lambda t, q, v: told("force", q, np.array([0.0, -9.81])), [floor])
    stepper = EventDriven(step=0.01, events={"far": lambda t, state: told("event", state.q, state.q[0] - 9.0)})
    run = simulate(system, State(q=[0.0, 0.05], v=[2.0, 0.0]), 1.0, stepper=stepper)
    assert run.status == "STOPPED"
    assert f"ValueError: no table of the {where} beyond 0.6 m" in run.stop.reason
    assert 0.57 < run.final.q[0] <= 0.6  # one step of the integrator before
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def test_a_motor_that_drives_into_a_limit_contradicts_it_whatever_else_may_act():
    rod, arm = box("rod", mass=1.0, width=1.0, height=0.02), box("arm", mass=1.0, width=0.5, height=0.02)
    pivot = Hinge(name="pivot", a=Marker("rod", (-0.5, 0.0)), b=fixed(0.0, 0.0))
    elbow = Hinge(name="elbow", a=Marker("arm", (-0.25, 0.0)), b=Marker("rod", (0.5, 0.0)))
    stops = Limit(joint="pivot", low=-2.0, high=0.3), Limit(joint="elbow", low=-1.5, high=1.5)
    system = PlanarSystem(bodies=[rod, arm], joints=[pivot, elbow, Motor(joint="pivot", rate=1.0), *stops])
    start = system.state(joints={"pivot": 0.0}, rates={"pivot": 1.0})
    run = simulate(system, start, 0.5, stepper=EventDriven())
    assert run.stop.t == pytest.approx(0.3, abs=1e-10)
    assert re.search("INFEASIBLE.*pivot:motor, pivot:high", run.stop.reason)


def test_where_nothing_may_push_the_time_alone_is_named():
    """A body that leaves what it overlaps: no contact pushes."""
    ball = UserSystem(nq=1, mass=[[1.0]], force=[0.0], constraints=[Position(lambda t, q: q[0], name="stop")])
    step = EventDriven().advance(ball, State(q=[-0.2], v=[0.1]), 0.1)
    assert step.solution.status == Status.PENETRATING
    assert step.solution.message.startswith("at t = 0 s: unilateral stop")


def test_accelerations_that_are_not_found_are_named_by_time_and_contacts(monkeypatch):
    """Not only by a status."""
    tried = mode_selection.resolve
    monkeypatch.setattr(mode_selection, "holds", lambda *_, **__: None)
    monkeypatch.setattr(
        mode_selection, "resolve",
        lambda *of, **how: tried(*of, **how).but(status=Status.MAX_ITERATIONS, x=None, message=""),
    )  # fmt: skip
    body = box("b", mass=1.0, width=0.2, height=0.1)
    system = PlanarSystem(bodies=[body], obstacles=[HalfPlane(name="floor")], contact=ContactLaw(mu=0.5))
    run = simulate(system, system.state({"b": (0.0, 0.05, 0.0)}, {"b": (1.0, 0.0, 0.0)}), 0.1, stepper=EventDriven())
    assert run.status == "STOPPED"
    words = "at t = 0 s, where b:c0/floor, b:c1/floor may push: no accelerations were found."
    assert run.stop.reason == f"MAX_ITERATIONS: {words}"
