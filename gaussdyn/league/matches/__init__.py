"""The matches, by name."""

from __future__ import annotations

import os

from ...analysis.measured.recorded_file import VARIABLE
from . import impacts, mechanisms, painleve, sliding, standing, tosses
from .match import Match

ROOMS = (sliding, impacts, mechanisms, painleve, standing)


def matches() -> dict[str, Match]:
    """Return all matches by name; tosses only where the recordings are."""
    rooms = (*ROOMS, tosses) if os.environ.get(VARIABLE) else ROOMS
    return {match.name: match for room in rooms for match in room.MATCHES}
