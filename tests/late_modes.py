"""Event-driven runs a segment at a time, and events that find no modes when they are asked first."""

from __future__ import annotations

from gaussdyn.integrate.event_driven import clear_events, event_stepper, jump
from gaussdyn.integrate.event_driven.mode_selection import Chosen
from gaussdyn.programs.solution.solution import Solution
from gaussdyn.programs.solution.status import Status


def without_clear_steps(monkeypatch):
    """Let runs take no steps at once that end at clear events."""
    for module in (clear_events, event_stepper):
        monkeypatch.setattr(module, "clear_steps", lambda *given: None)
        monkeypatch.setattr(module, "more_clear_steps", lambda *given: None)


def found_late(monkeypatch):
    """Let every event find no modes when asked first; return the list of their times, which begins with 0 s."""
    choose, broken = jump.choose, [0.0]

    def late(setting, state, *given):
        if state.t > broken[-1] + 1e-9:
            broken.append(state.t)
            return Chosen(phase=None, failure=Solution(problem=None, status=Status.UNDECIDED))
        return choose(setting, state, *given)

    monkeypatch.setattr(jump, "choose", late)
    without_clear_steps(monkeypatch)
    return broken
