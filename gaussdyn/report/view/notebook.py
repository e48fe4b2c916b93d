"""A run as it shows itself in a notebook."""

from __future__ import annotations

from ..._html import card, counts, framed, line
from ...errors import BackendMissing, GaussdynError
from ...integrate.run.trajectory import Trajectory
from ..page_template import MEANING, figure
from ..subject import subject
from .view_page import render_view

LARGEST = 1_500_000  # characters of a player within a notebook; larger ones are written by run.view
HEIGHT = 720  # pixels of the player


def run_card(run: Trajectory) -> str:
    """Return how a run ended, its statistics, and the run in motion, or its energy where it cannot be drawn."""
    said = f"{run.status} at t = {run.t_reached:.6g} s" + (f": {run.stop.reason}" if run.stop is not None else "")
    rows = {MEANING.get(key, key): figure(value) for key, value in run.statistics.items()}
    rows |= {"events": counts(run.event_counts), "outcomes of steps": counts(run.outcomes)}
    kind = "plain" if run.stop is None else "bad"
    return card(run.scene, said, rows, kind=kind, below=_player(run) or _energy(run))


def _player(run: Trajectory) -> str:
    """Return the player; empty where jinja2 is missing, the shapes are not known, or it would be large."""
    try:
        page = render_view(run, subject(run))
    except (BackendMissing, GaussdynError):
        return ""
    return framed(page, HEIGHT) if len(page) <= LARGEST else ""


def _energy(run: Trajectory) -> str:
    return line(run.t.tolist(), run["energy"].tolist(), "energy, J") if "energy" in run else ""
