"""Honest event-driven runs pass, and whatever single number of one is falsified, the audit notices.

A falsified number is changed wherever it is stored, so that nothing but mechanics can tell.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from falsified import falsified, jointed, robot, small, with_lines, with_state
from random_scenes import falling, linked, mixed
from small_systems import Ball, Block, CoulombOscillator, SlidingRod, Tethered

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.analysis.audit.from_system import RecordedMotion
from gaussdyn.analysis.audit.motion_figures import laws, momentum
from gaussdyn.contact.snapshot import Activation
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.impact.impact_laws import Moreau, Newton, OneByOne, Poisson
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import Marker, Point, box, fixed
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.forces import Spring
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import ball, brick
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Position, UserSystem
from gaussdyn.scenes.catalogue import build

pytestmark = pytest.mark.xdist_group("falsified motion")  # what they share is made once

KINDS = (
    "impulse", "velocity", "gap", "time", "mode", "dropped contact",
    "impact", "velocity before", "velocity after", "dropped impact", "event", "dropped event",
    "arc velocity", "arc place", "arc force", "arc friction", "arc time", "dropped arc",
)  # fmt: skip
FAST = len(KINDS)


def scene(name, t_end):
    def made():
        found = build(name)
        return found.system, found.state, t_end, None

    return made


RUNS = {
    "ball": small(Ball(0.8), [0.2], [0.0], 1.5, None),
    "sliding": small(Block(0.5, 0.2), [0.05, 0.0], [0.0, 0.0], 0.3, None),
    "oscillator": small(CoulombOscillator(), [0.0, 0.35], [0.0, 0.0], 4.0, None),
    "rod": small(SlidingRod(0.3), [0.0, np.sin(1.1), 1.1], [3.0, 0.5 * np.cos(1.1), 0.5], 0.3, None),
    "pendulum": small(Tethered(), [1.0, 0.0], [0.0, 0.0], 0.5, None),
    "rocking": scene("rocking_block", 0.8),
    "jointed": jointed(0.15, None),
    "robot": robot(0.15, None),
    "superball": scene("superball", 1.0),
    "coin": scene("coin", 0.05),
}


@cache
def made(name):
    system, state, t_end, _ = RUNS[name]()
    return system, simulate(system, state, t_end, stepper=EventDriven())


def another(values, i, x):
    return (*values[:i], x, *values[i + 1 :])


def shifted(x, rng, by):
    """Return an array with one number changed, by a share of the largest."""
    found = np.array(x)
    at = tuple(int(rng.integers(n)) for n in found.shape)
    found[at] += by * (float(np.abs(found).max()) or 1.0)
    return found


def false_motion(run, kind, rng):
    """Return the run with one number of its record changed, or None where it has no such number."""
    by = float(10.0 ** rng.uniform(-6.0, 0.0) * rng.choice([-1.0, 1.0]))
    if kind in KINDS[:6]:
        return falsified(run, kind, rng)
    if "event" in kind:
        return false_event(run, kind, rng, by)
    if "arc" in kind:
        return false_arc(run, kind, rng, by)
    strikes = [i for i, one in enumerate(run.impacts) if one.kind == "impact"]
    if not strikes:
        return None
    i = int(rng.choice(strikes))
    one = run.impacts[i]
    if kind == "dropped impact":
        return replace(run, impacts=(*run.impacts[:i], *run.impacts[i + 1 :]))
    if kind == "impact":
        key = max(one.problems[0], key=lambda key: np.abs(one.problems[0][key]).max())
        first = {**one.problems[0], key: shifted(one.problems[0][key], rng, by)}
        new = replace(one, problems=(first, *one.problems[1:]))
    else:
        name = kind.split()[1]
        new = replace(one, **{name: shifted(getattr(one, name), rng, by)})
    return replace(run, impacts=another(run.impacts, i, new))


def false_event(run, kind, rng, by):
    if not run.events:
        return None
    i = int(rng.integers(len(run.events)))
    if kind == "event":
        moved = replace(run.events[i], t=run.events[i].t + 1e-3 * abs(by))
        return replace(run, events=another(run.events, i, moved))
    counts = run.steps.events.copy()
    counts[int(np.flatnonzero(np.cumsum(counts) > i)[0])] -= 1
    events = (*run.events[:i], *run.events[i + 1 :])
    return replace(run, events=events, steps=replace(run.steps, events=counts))


def false_arc(run, kind, rng, by):
    steps = [step for step, one in run.evidence.items() if one.arcs]
    step = int(rng.choice(steps))
    evidence = run.evidence[step]
    i = int(rng.integers(len(evidence.arcs)))
    arc, arcs = evidence.arcs[i], evidence.arcs
    if kind == "arc friction":
        return false_friction(run, step, i, 1.0 + by)
    if kind == "dropped arc":
        arcs = (*arcs[:i], *arcs[i + 1 :])
    elif kind == "arc force":
        if not arc.reactions:
            return None
        key = sorted(arc.reactions)[0]
        arcs = another(arcs, i, replace(arc, reactions={**arc.reactions, key: shifted(arc.reactions[key], rng, by)}))
    elif kind == "arc time":
        arcs = another(arcs, i, replace(arc, h=arc.h * (1.0 + abs(by))))
    else:
        name = {"arc velocity": "v", "arc place": "q"}[kind]
        x = getattr(arc, name).copy()
        end = int(rng.choice([0, -1])) if name == "q" else int(rng.integers(len(x)))
        x[end] = shifted(x[end], rng, by)
        arcs = another(arcs, i, replace(arc, **{name: x}))
    return replace(run, evidence={**run.evidence, step: replace(evidence, arcs=arcs)})


def false_friction(run, step, i, share):
    """Return the run with a share of the friction that a contact has while it slips, None where none does."""
    evidence = run.evidence[step]
    arc = evidence.arcs[i]
    key = next((key for key, mode in sorted(arc.modes.items()) if mode == "slip"), None)
    if key is None:
        return None
    first = 0 if arc.reactions[key].shape[1] == 1 else 1  # dry friction has no normal force
    r = arc.reactions[key].copy()
    r[:, first:3] *= share
    new = replace(arc, reactions={**arc.reactions, key: r})
    return replace(run, evidence={**run.evidence, step: replace(evidence, arcs=another(evidence.arcs, i, new))})


def drawn(seed):
    """Return the run and its falsification that a seed says."""
    rng = np.random.default_rng(seed)
    kind, names = KINDS[seed % len(KINDS)], list(RUNS)
    while True:
        name = names[int(rng.integers(len(names)))]
        system, run = made(name)
        false = false_motion(run, kind, rng)
        if false is not None:
            return name, kind, system, false


@pytest.mark.parametrize("name", RUNS)
def test_the_runs_themselves_pass(name):
    system, run = made(name)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


@pytest.mark.parametrize(
    "seeds", [range(FAST), pytest.param(range(FAST, 216), marks=pytest.mark.slow)], ids=["first", "all"]
)
def test_every_falsification_is_noticed(seeds):
    missed = [(seed, name, kind) for seed in seeds for name, kind, system, false in [drawn(seed)]
              if audit(false, system).passed]  # fmt: skip
    assert not missed


@pytest.mark.parametrize("name", ["jointed", "robot", "rod"])
def test_small_changes_at_every_sample_are_noticed(name):
    """A velocity inside a short arc, and a reaction at its end, hardly count in the integral over it."""
    system, run = made(name)
    step, evidence = next((step, one) for step, one in run.evidence.items() if one.arcs)
    i = min(range(len(evidence.arcs)), key=lambda i: evidence.arcs[i].h)
    arc, false = evidence.arcs[i], []
    for k in (1, len(arc.nodes) - 2):
        v = arc.v.copy()
        v[k] += 1e-6 * np.abs(arc.v).max()
        false.append(replace(arc, v=v))
    for key, r in arc.reactions.items():
        for k in (0, len(r) - 1):
            push = r.copy()
            push[k, 0] += 1e-5 * max(float(np.abs(r).max()), 1.0)
            false.append(replace(arc, reactions={**arc.reactions, key: push}))
    for one in false:
        changed = replace(evidence, arcs=another(evidence.arcs, i, one))
        assert not audit(replace(run, evidence={**run.evidence, step: changed}), system).passed


def honest(seed):
    """Return a short run of random bodies that fall, rub, hang on one another."""
    mu, eps = (0.0, 0.2, 0.5, 0.9)[seed % 4], (0.0, 0.2, 0.6, 1.0)[seed // 4 % 4]
    dim, law = 2 + seed % 2, (Moreau(), Newton(), Poisson(), OneByOne())[seed // 12 % 4]
    make = (lambda d, s: falling(d, s, mu=mu, eps_n=eps), mixed, linked)[seed % 3]
    system, state = make(dim, seed)
    stepper = EventDriven(impact=law, dt=0.05 if seed % 5 == 0 else None)
    return system, simulate(system, state, 0.3, stepper=stepper, save=1 + seed % 2, project=True)


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param([k for k in range(48) if k % 12 < 6], marks=pytest.mark.slow),  # every law, friction and body
        pytest.param([k for k in range(60) if k % 12 >= 6 or k >= 48], marks=pytest.mark.nightly),
    ],
    ids=["first", "all"],
)
def test_untouched_runs_pass(seeds):
    verdicts = {seed: audit(run, system) for seed in seeds for system, run in [honest(seed)]}
    assert not [(seed, verdict.explain()) for seed, verdict in verdicts.items() if not verdict.passed]


def test_friction_that_another_contact_makes_up_for_is_noticed():
    """A box slides on two corners; one of them has 1.3 times its friction, the other one as much less."""
    system = PlanarSystem(
        bodies=[box("b", mass=1.0, width=0.4, height=0.2)], obstacles=[HalfPlane(name="floor")],
        contact=ContactLaw(mu=0.5),
    )  # fmt: skip
    run = simulate(system, system.state({"b": (0.0, 0.1, 0.0)}, {"b": (1.0, 0.0, 0.0)}), 0.1, stepper=EventDriven())
    motion = RecordedMotion.of(run, system, len(run.t) - 1, Activation(), Newton())
    assert {mode for one in motion.arcs for mode in one.arc.modes.values()} == {"slip"}
    assert laws(motion) <= 1e-10
    more = 0.3 * next(iter(motion.arcs[0].samples[1].r.values()))[1]
    false = motion_pushed(motion, ((0.0, more), (0.0, -more)), "slip")
    assert momentum(false, 0.0) <= 1e-10
    assert laws(false) > 0.01


@pytest.mark.parametrize("said", ["stick", "slip"])
def test_forces_that_pull_are_noticed_whatever_contacts_at_rest_are_said_to_do(said):
    """A brick pushed inwards and pulled up at two corners, down at the others: no motion shows it."""
    contact = ContactLaw(mu=0.5)
    system = SpatialSystem(
        bodies=[brick("b", mass=1.0, half=(0.2, 0.2, 0.1))], obstacles=[HalfSpace(name="floor")], contact=contact
    )
    at_rest = system.state({"b": (0, 0, 0.1, 1, 0, 0, 0)}, {"b": (0,) * 6})
    run = simulate(system, at_rest, 0.1, stepper=EventDriven())
    motion = RecordedMotion.of(run, system, len(run.t) - 1, Activation(), Newton())
    assert laws(motion) <= 1e-10
    pairs = ((6.0, 0.0), (-6.0, 0.0), (-6.0, 0.0), (6.0, 0.0)), ((0.0, 1.0), (0.0, 1.0), (0.0, -1.0), (0.0, -1.0))
    for pushes in pairs:
        assert laws(motion_pushed(motion, pushes, said)) > 0.01


def motion_pushed(motion, pushes, said):
    """Return a motion whose contacts push more, by normal and first tangential force, and are said to be in a mode."""
    arcs = []
    for one in motion.arcs:
        size = len(next(iter(one.samples[0].r.values())))
        more = dict(zip(sorted(one.arc.reactions), (np.array([*push, 0.0])[:size] for push in pushes), strict=True))
        samples = tuple(replace(at, r={key: r + more[key] for key, r in at.r.items()}) for at in one.samples)
        arc = replace(one.arc, modes=dict.fromkeys(one.arc.modes, said))
        arcs.append(replace(one, arc=arc, samples=samples))
    return replace(motion, arcs=tuple(arcs))


@pytest.mark.parametrize("pull", [0.0, 0.3], ids=["alone", "coupled"])
def test_a_contact_that_lets_go_where_nothing_is_left_to_push_passes(pull):
    """Force and reaction vanish together: what is left of both is rounding, and says nothing of what is held."""
    M, floor = np.array([[2.0, pull], [pull, 1.0]]), Position(lambda t, q: q[0], eps_n=0.0)
    for turn, phase, spring in np.random.default_rng(5).uniform((1.0, 0.0, 1.0), (20.0, 1.5, 90.0), (4, 3)).tolist():
        system = UserSystem(2, M, swinging(turn, phase, spring), constraints=[floor])
        run = simulate(system, State(q=[0.0, 0.0], v=[0.0, 0.0]), 1.6 / turn, stepper=EventDriven())
        assert "lift_off" in run.event_counts
        checked = audit(run, system)
        assert checked.passed, checked.explain()


def swinging(turn, phase, spring, more=0.0):
    """Return a force on one coordinate that swings, and a spring on others."""
    return lambda t, q, v: np.array([more - np.cos(turn * t + phase), *(-spring * q[1:])])


def test_a_woodpecker_whose_sleeve_lets_go_passes():
    """Only weight is left on the sleeve as it leaves the pole, and its mass turns by rounding: `laws` was 0.6."""
    found = build("woodpecker", mu=0.28269722766055605, beak=0.5974553686675851, spring=0.005318710838485517,
                  omega=-7.211451064179971)  # fmt: skip
    run = simulate(found.system, found.state, found.t_end, stepper=EventDriven())
    assert run.event_counts["lift_off"] == 2
    assert audit(run, found.system).passed


def test_what_hangs_between_springs_without_weight_passes():
    """It moves by rounding alone: samples inside steps are no better than the error that steps may have."""
    hub = Marker("b")
    for seed in range(4):
        rng = np.random.default_rng(seed)
        b, turn = Point(name="b", mass=float(rng.uniform(0.1, 5.0))), rng.uniform(0.0, 6.28)
        ends = [(f"w{j}", turn + 2.0 * np.pi * j / 3.0) for j in range(3)]
        springs = [Spring(a=hub, b=fixed(float(np.cos(x)), float(np.sin(x)), name), stiffness=77.7) for name, x in ends]
        system = PlanarSystem(
            bodies=[b], forces=springs, gravity=(0.0, 0.0),
            contacts=[PlanarContact(point=hub, plane=HalfPlane(name="floor"), mu=0.3)],
        )  # fmt: skip
        run = simulate(system, system.state({"b": (0.0, 0.0)}), 1.0, stepper=EventDriven())
        checked = audit(run, system)
        assert checked.passed, (seed, checked.explain())


def test_what_is_held_at_rest_all_along_does_no_work():
    """Nothing moves at the saved times, and forces have no potential: the work of rounding was taken for an error."""
    floor = Position(lambda t, q: q[0], eps_n=0.0)
    for seed in (0, 22):
        turn, phase, more, m = np.random.default_rng(seed).uniform((1.0, 0.0, -0.5, 0.1), (20.0, 1.5, 0.5, 9.0))
        system = UserSystem(1, [[m]], swinging(turn, phase, 0.0, more), constraints=[floor])
        run = simulate(system, State(q=[0.0], v=[0.0]), 1.0, stepper=EventDriven())
        checked = audit(run, system)
        assert checked.passed, (seed, checked.explain())


def without_event(run, i):
    """Return the run without one of its events, which its step does not count either."""
    counts = run.steps.events.copy()
    counts[int(np.flatnonzero(np.cumsum(counts) > i)[0])] -= 1
    return replace(run, events=(*run.events[:i], *run.events[i + 1 :]), steps=replace(run.steps, events=counts))


def test_a_contact_that_closes_without_an_event_is_noticed():
    """That it strikes at that time does not say that it stays closed."""
    system, state = mixed(3, 9934)
    run = simulate(system, state, 0.1, stepper=EventDriven())
    i = next(i for i, event in enumerate(run.events) if event.kind == "touchdown")
    assert audit(run, system).passed
    assert audit(without_event(run, i), system).first_failure.name == "events"


def test_joints_that_bear_nothing_have_the_momentum_of_the_end_beside_them():
    """Two bodies fall together from rest: what rounding makes of their impulses was taken for all that acts."""
    system, state = linked(2, 7144)
    run = simulate(system, state, 0.2, stepper=EventDriven())
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
    assert verdict.max["impulses"] < 1e-12


def test_ends_of_infinitely_many_impacts_have_their_events_and_no_others_have_them():
    """A rest on record says which contacts had just rebounded: each of them comes to its end."""
    system = Ball(0.5)
    run = simulate(system, State(q=[0.2], v=[0.0]), 0.7, stepper=EventDriven())
    i = next(i for i, event in enumerate(run.events) if event.kind == "accumulation")
    assert audit(run, system).passed
    assert audit(without_event(run, i), system).first_failure.name == "events"
    early = replace(run.events[0], kind="accumulation")
    assert audit(replace(run, events=another(run.events, 0, early)), system).max["events"] > 0.0


def test_what_comes_to_rest_as_a_step_begins_is_no_missing_momentum():
    """Slips of 4e-10 m/s count as at rest, and are: beside speeds of .01 m/s that was a `momentum` of 3e-7."""
    system, state = linked(2, 20044)
    run = simulate(system, state, 3e-3, stepper=EventDriven(), project=True)
    assert audit(run, system).passed
    last = len(run) - 1
    false = with_state(run, "v", last - 1, 5, run.v[last - 1, 5] + 1e-8)
    assert audit(false, system).max["momentum"] > 1e-8


def test_what_a_light_body_weighs_is_judged_beside_a_heavy_one_that_flies_by():
    """Its reaction may be off by a hundredth, and that is little beside all momentum."""
    system = SpatialSystem(
        bodies=[ball("heavy", mass=1e3, radius=0.2), ball("light", mass=1e-3, radius=0.1)],
        obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.3),
    )  # fmt: skip
    place = {"heavy": (5.0, 0.0, 50.0, 1.0, 0.0, 0.0, 0.0), "light": (0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0)}
    speed = {"heavy": (10.0, *(0.0,) * 5), "light": (0.1, *(0.0,) * 5)}
    run = simulate(system, system.state(place, speed), 0.1, stepper=EventDriven())
    r = run.table.reaction.copy()
    r[-1, 0] *= 1.0 + 1e-6
    assert audit(run, system).passed
    assert audit(with_lines(run, reaction=r), system).first_failure.name == "impulses"
