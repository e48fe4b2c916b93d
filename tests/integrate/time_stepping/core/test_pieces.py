"""Steps of the core that are not solved are taken in pieces, as those of free bodies are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, simulate
from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.stepper import Step
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem
from gaussdyn.mechanics import spatial
from gaussdyn.programs.solution.solution import Solution
from gaussdyn.programs.solution.status import Status
from gaussdyn.scenes.catalogue import build

DT = 2e-3


def unsolved_above(longest: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no step that is longer be solved, s."""
    whole = CompiledSystem.whole

    def hard(self: CompiledSystem, *given: object) -> Step:
        step, dt = whole(self, *given), given[2]
        if dt <= longest:
            return step
        return Step(
            start=step.start, state=step.start, dt=dt, rows=(), reactions={}, control=None, dynamics=step.dynamics,
            solution=Solution(problem=None, status=Status.MAX_ITERATIONS, message="too hard"),
        )  # fmt: skip

    monkeypatch.setattr(CompiledSystem, "whole", hard)
    monkeypatch.setattr(MoreauJean, "advance_many", lambda *_given, **_more: ())


def test_pieces_are_steps_like_any_other_and_runs_go_on_to_the_bit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Halves of steps are those of half the length."""
    scene = build("four_bar")
    halves = simulate(scene, t_end=10 * DT, stepper=MoreauJean(dt=0.5 * DT))
    unsolved_above(0.6 * DT, monkeypatch)
    run = simulate(scene, t_end=10 * DT, stepper=MoreauJean(dt=DT))
    assert run.status == "COMPLETED"
    assert np.allclose(run.t, halves.t, rtol=0.0, atol=1e-15)
    assert np.allclose(run.q, halves.q, rtol=0.0, atol=1e-13)
    assert audit(run, scene).passed
    within = next(event.t for event in run.events if event.kind == "cut")

    def stop(t: float, _t_end: float) -> None:
        if t == within:
            raise KeyboardInterrupt

    part = {"t_end": 10 * DT, "stepper": MoreauJean(dt=DT), "out": tmp_path / "part.h5", "chunk": 3}
    assert simulate(scene, **part, progress=stop, on_interrupt="return").t_reached == within
    assert np.array_equal(simulate(scene, **part, resume=True).q[-1], run.q[-1])


def test_what_no_piece_solves_ends_with_the_words_of_the_whole_step(monkeypatch: pytest.MonkeyPatch) -> None:
    unsolved_above(0.0, monkeypatch)
    run = simulate(build("four_bar"), t_end=10 * DT, stepper=MoreauJean(dt=DT))
    assert run.status == "STOPPED"
    assert len(run.t) == 1
    assert "too hard" in run.stop.reason


def drum(count: int, seed: int) -> tuple[SpatialSystem, dict[str, tuple[float, ...]]]:
    """Return a drum of sixteen sides that turns about its axis, boxes and balls in it, and where these begin."""
    rng, radius, sides = np.random.default_rng(seed), 0.3, 16
    walls = [
        spatial.Box(
            half=(0.02, 0.15, radius * np.tan(np.pi / sides) + 0.01), name=f"side{k}",
            at=((radius + 0.02) * np.cos(a), 0.0, (radius + 0.02) * np.sin(a)),
            turn=(np.cos(a / 2), 0.0, -np.sin(a / 2), 0.0),
        )
        for k, a in enumerate(2.0 * np.pi * np.arange(sides) / sides)
    ]  # fmt: skip
    walls += [
        spatial.Box(half=(0.35, 0.02, 0.35), at=(0.0, y, 0.0), name=name)
        for name, y in (("front", -0.17), ("back", 0.17))
    ]
    bodies, places = [spatial.SpatialBody(name="drum", mass=5.0, inertia=(0.3, 0.4, 0.3), shapes=tuple(walls))], {}
    for i in range(count):
        half, name = tuple(rng.uniform(0.02, 0.03, 3)), f"b{i:02d}"
        bodies.append(spatial.brick(name, mass=0.1, half=half) if i % 2 else spatial.ball(name, mass=0.1, radius=0.025))
        places[name] = (0.08 * (i % 4 - 1.5), 0.08 * (i // 4 % 3 - 1), 0.08 * (i // 12) - 0.1)
    axle = spatial.Hinge(name="axle", a=spatial.mark("drum", axis=(0, 1, 0)), b=spatial.mark("ground", axis=(0, 1, 0)))
    motor = spatial.Motor(joint="axle", rate=3.0)
    return SpatialSystem(bodies=bodies, joints=[axle, motor], contact=ContactLaw(mu=0.5)), places


@pytest.mark.slow
def test_a_drum_goes_on_turning_what_is_in_it() -> None:
    """24 bodies, whose contact problems no method solves at 0.676 s."""
    system, places = drum(24, 2)
    run = simulate(
        system, system.state(places, joints={"axle": 0.0}, rates={"axle": 3.0}), 0.8, stepper=MoreauJean(dt=DT)
    )
    assert run.status == "COMPLETED"
    assert max(run.steps.E) <= 1e-10
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
