"""One game: one engine with one setting plays one match, in a process of its own.

``python -m gaussdyn.league.one_game`` reads a request from standard input and writes its row, both JSON, the row in the
last line of standard output: libraries may write others before it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from functools import partial
from typing import Any

from .engines import engine_at, installed
from .engines.protocol import Engine, Lacks
from .matches import matches
from .matches.match import Match
from .playing import Field, Start

PLAYED, CUT, LACKS, FAILED, CRASHED, HUNG, ABSENT = (
    "played", "cut short", "lacks", "failed", "crashed", "hung", "not installed",
)  # fmt: skip


def game(engine: Engine, setting: str, match: Match, seconds: float) -> dict[str, Any]:
    """Let an engine play a match, and return the row of the table.

    Parameters
    ----------
    engine : Engine
    setting : str
        One of its settings.
    match : Match
    seconds : float
        CPU time for all steps.
    """
    row: dict[str, Any] = {"engine": engine.name, "setting": setting, "match": match.name, "figures": [], "said": ""}
    if not installed(engine):
        return row | {"status": ABSENT, "said": f"no module {engine.library}"}
    start: Start = partial(_start, engine, setting)
    field = Field(start, seconds, (engine.name, setting))
    try:
        figures = match.play(field)
    except Lacks as reason:
        return row | {"status": LACKS, "said": str(reason)}
    except Exception as error:  # of a library, of any kind: it is the row
        return row | {"status": FAILED, "said": f"{type(error).__name__}: {error}"[:300]}
    said = "; ".join(dict.fromkeys(filter(None, [field.cut, *field.said])))
    return row | {
        "status": CUT if field.cut else PLAYED,
        "figures": [asdict(one) for one in figures] if field.t > 0.0 else [],
        "said": said[:300],
        "steps": field.steps,
        "cpu_s": field.cpu,
        "simulated_s": field.t,
        "version": engine.version(),
    }


def _start(engine: Engine, setting: str, world: Any, dt: float) -> Any:
    return engine.start(world, setting, dt)


def main() -> None:
    """Play what is asked for on standard input."""
    asked = json.load(sys.stdin)
    match = matches()[asked["match"]]
    found = game(engine_at(asked["place"]), asked["setting"], match, asked["seconds"])
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
