"""The whole league: every engine, with every setting, plays every match; one that crashes or hangs is a row."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from .._version import __version__
from .._warmup import cores
from ..errors import InputError
from .engines import PLACES, engine_at, installed
from .engines.protocol import Engine
from .matches import matches
from .matches.match import Match
from .one_game import CRASHED, HUNG

SCHEMA = "gaussdyn/bench-league/1"
SECONDS = 20.0  # CPU time of all steps of a game
BUILDING = 120.0  # s that a game may take besides: importing, building, reading back, other work on the machine
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """What one process is asked to do."""

    place: str
    engine: str
    setting: str
    match: str
    seconds: float


def league(
    *,
    engines: Sequence[str] = (),
    also: Sequence[str] = (),
    only: Sequence[str] = (),
    seconds: float = SECONDS,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Play all games, and return the document of the league, ready for JSON.

    Parameters
    ----------
    engines : sequence of str
        Names; all by default.
    also : sequence of str
        Adapters of your own, ``module:Class``, that have what `engines.protocol.Engine` says.
    only : sequence of str
        Names of matches; all by default.
    seconds : float
        CPU time of the steps of a game; one that takes more is cut short.
    jobs : int, optional
        Processes at a time; one per core by default.
    progress : callable, optional
        Called as ``progress(done, all)`` after every game.

    Raises
    ------
    InputError
        An unknown engine or match, no time, no process.
    """
    places = {name: PLACES[name] for name in _known("engine", engines, PLACES)}
    chosen = [matches()[name] for name in _known("match", only, matches())]
    if not seconds > 0.0:
        raise InputError("seconds", seconds, "a CPU time > 0, s", "Write seconds=60.0.")
    workers = _workers(jobs)
    found = [(place, engine_at(place)) for place in (*places.values(), *also)]
    games = [
        Game(place=place, engine=engine.name, setting=setting, match=match.name, seconds=seconds)
        for match in chosen for place, engine in found for setting in engine.settings if installed(engine)
    ]  # fmt: skip
    rows = []
    with ThreadPoolExecutor(workers) as pool:
        for row in pool.map(played, games):
            rows.append(row)
            if progress is not None:
                progress(len(rows), len(games))
    return _document((engine for _, engine in found), chosen, rows, seconds)


def _workers(jobs: int | None) -> int:
    workers = cores() if jobs is None else jobs
    if workers < 1:
        raise InputError("jobs", workers, "a number of processes >= 1", "Write jobs=1.")
    return workers


def played(game: Game) -> dict[str, Any]:
    """Return the row of a game, played in a process of its own."""
    asked = {name: getattr(game, name) for name in ("place", "setting", "match", "seconds")}
    row: dict[str, Any] = {"engine": game.engine, "setting": game.setting, "match": game.match, "figures": []}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    limit = 6.0 * game.seconds + BUILDING
    try:
        done = subprocess.run(
            [sys.executable, "-m", "gaussdyn.league.one_game"], input=json.dumps(asked), capture_output=True, text=True,
            timeout=limit, env={**os.environ, **threads}, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return row | {"status": HUNG, "said": f"no answer after {limit:g} s"}
    if done.returncode != 0:
        return row | {"status": CRASHED, "said": _cause(done.returncode, done.stderr)}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _cause(code: int, stderr: str) -> str:
    """Return how a process ended, and its last words."""
    how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
    words = stderr.strip().splitlines()
    return f"{how}: {words[-1][:200]}" if words else how


def _known(kind: str, asked: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return the names asked for, all if none are; refuse unknown ones."""
    names = list(known)
    for name in asked:
        if name not in names:
            raise InputError(kind, repr(name), ", ".join(names), f"Write {kind}=[{next(iter(names))!r}].")
    return [name for name in names if not asked or name in asked]


def _document(
    engines: Iterable[Engine], chosen: list[Match], rows: list[dict[str, Any]], seconds: float
) -> dict[str, Any]:
    """Return all that the page shows."""
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    return {
        "schema": SCHEMA,
        "version": __version__,
        "machine": machine | {"processor": processor()},
        "seconds": seconds,
        "engines": [_about(engine) for engine in engines],
        "matches": [
            {"name": one.name, "title": one.title, "exact": one.exact, "dt": one.dt} for one in chosen
        ],
        "rows": rows,
    }  # fmt: skip


def _about(engine: Engine) -> dict[str, Any]:
    there = installed(engine)
    version = engine.version() if there else None
    return {"name": engine.name, "library": engine.library, "version": version, "settings": dict(engine.settings)}


def processor() -> str:
    """Return what the machine calls its processor."""
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor()
