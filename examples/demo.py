"""The demonstration behind ``make demo``: three scenes and one recorded contact problem, through the command line.

Usage: python examples/demo.py [OUTPUT_FOLDER]
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from gaussdyn.cli import main

ROOT = Path(__file__).resolve().parents[1]
PROBLEM = Path(os.path.relpath(ROOT / "tests" / "data" / "rocking_stack.hdf5"))
SCENES = ("incline --set mu=0.2", "zeno_ball", "sliding_rod")


def command(line: str) -> int:
    """Show a command, run it in this process, and return its exit status."""
    print(f"\n$ gaussdyn {line}", flush=True)
    try:
        main(shlex.split(line))
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def demonstration(folder: Path) -> int:
    """Run everything; return the worst exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    worst = 0
    for scene in SCENES:
        stem = shlex.quote(str(folder / scene.split()[0]))
        worst = max(worst, command(f"run {scene} --out {stem}.h5 --report {stem}.html"))
    solved = shlex.quote(str(folder / "rocking_stack-solved.hdf5"))
    worst = max(worst, command(f"solve {shlex.quote(str(PROBLEM))} --save {solved}"))
    pictures(folder)
    print(f"\nEverything is in {folder.resolve()}:")
    for path in sorted(folder.iterdir()):
        print(f"  {path.name:32} {path.stat().st_size / 1024:8.0f} kB")
    print("Open a page (.html) in a browser; it needs no network.")
    return worst


def pictures(folder: Path) -> None:
    """Draw every run that was kept."""
    from gaussdyn import Trajectory, plot

    for run in sorted(folder.glob("*.h5")):
        plot(Trajectory.load(run), path=run.with_suffix(".png"))


if __name__ == "__main__":
    sys.exit(demonstration(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output")))
