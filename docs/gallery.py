"""Runs all scenes for the pages: a picture of each, and its exact answers with the errors of that run.

``make docs`` calls it first. What was drawn is kept in ``build/gallery``, and drawn anew when the package changes.

Usage: python docs/gallery.py
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build" / "gallery"
FLOORS = ("linalg", "programs", "mechanics", "contact", "integrate", "scenes")
WORKERS = 2
POSITIONS = 13  # of a slider over the range of a parameter
FEWEST = 5  # where fewer are within what the scene allows there is no slider
BUDGET = 1.5  # s of processor time for the sliders of a scene: some exact answers are integrals


def sources() -> str:
    """Return a hash over all sources that a picture depends on."""
    found = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(path for floor in FLOORS for path in (ROOT / "gaussdyn" / floor).rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def document(name: str) -> dict[str, Any]:
    """Return what is kept of a scene: its checks, its status, the seconds it took; empty if it was never run."""
    path = PLACE / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def drawn(name: str) -> dict[str, Any]:
    """Run a scene, draw the middle of its run, and return its document."""
    from gaussdyn import simulate
    from gaussdyn.integrate.stepper_names import named
    from gaussdyn.report.pictures import instants
    from gaussdyn.scenes import catalogue
    from gaussdyn.scenes.compare import compare

    scene, start = catalogue.build(name), time.perf_counter()
    stepper = stepper_of(scene)
    fixed = {"dt": scene.dt} if stepper in ("moreau_jean", "penalty", "viscous") else {}
    run = simulate(scene, stepper=named(stepper, **fixed), examine="cheap")
    found = {
        "stepper": stepper, "checks": compare(scene, run), "status": run.status, "outcomes": run.outcomes,
        "t": run.t_reached, "seconds": time.perf_counter() - start, "sliders": sliders(name),
    }  # fmt: skip
    pictures = instants(scene.system, run, 3)
    if pictures:
        (PLACE / f"{name}.svg").write_text(pictures[len(pictures) // 2][1], encoding="utf-8")
    return found


def sliders(name: str) -> list[dict[str, Any]]:
    """Return the exact answers of a scene over each of its parameters, the others as they are."""
    from gaussdyn.scenes import catalogue

    end, found = time.process_time() + BUDGET, []
    names = [exact.name for exact in catalogue.build(name).exact]
    for key, one in catalogue.parameters(name).items():
        grid = sorted({one.default, *(one.min + (one.max - one.min) * k / (POSITIONS - 1) for k in range(POSITIONS))})
        rows = [(value, row) for value in grid if time.process_time() < end and (row := answers(name, key, value))]
        known = [(value, [row.get(answer) for answer in names]) for value, row in rows]
        varies = any(row != known[0][1] for _, row in known)
        if len(known) >= FEWEST and varies and time.process_time() < end:
            values, table = zip(*known, strict=True)
            found.append(
                {
                    "name": key,
                    "unit": one.unit,
                    "at": values.index(one.default),
                    "values": [float(f"{x:.7g}") for x in values],
                    "answers": table,
                }
            )
    return found


def answers(name: str, key: str, value: float) -> dict[str, float]:
    """Return the exact answers of a scene at a value of a parameter; none where the scene does not allow it."""
    from gaussdyn.errors import GaussdynError
    from gaussdyn.scenes import catalogue

    try:
        exact = catalogue.build(name, **{key: value}).exact
        return {one.name: float(f"{one.value:.7g}") for one in exact if math.isfinite(one.value)}
    except (GaussdynError, ArithmeticError, ValueError):
        return {}


def stepper_of(scene: Any) -> str:
    """Return time stepping if every exact answer of a scene has a tolerance for it, else the stepper that it is for."""
    meant = [set(exact.tol) for exact in scene.exact]
    shared = set.intersection(*meant) if meant else set()
    return "moreau_jean" if not shared or "moreau_jean" in shared else sorted(shared)[0]


def draw(name: str) -> str:
    """Draw a scene and keep it; return a line about it."""
    found = drawn(name)
    (PLACE / f"{name}.json").write_text(json.dumps(found, default=str), encoding="utf-8")
    return f"{name}: {found['status']}, {found['seconds']:.1f} s"


def main() -> None:
    """Draw all scenes that are not drawn yet."""
    from gaussdyn.scenes import catalogue

    stamp, now = PLACE / "sources", sources()
    PLACE.mkdir(parents=True, exist_ok=True)
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != now:
        for path in PLACE.iterdir():
            path.unlink()
    missing = [name for name in catalogue.names() if not (PLACE / f"{name}.json").is_file()]
    with ProcessPoolExecutor(WORKERS) as pool:
        for line in pool.map(draw, missing):
            sys.stdout.write(line + "\n")
    stamp.write_text(now, encoding="utf-8")


if __name__ == "__main__":
    main()
