"""Atlas of the rod: time for a million cells, and how often `outcome` agrees.

usage: python benchmarks/atlas.py [--cells 1000] [--check 500] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

from gaussdyn.analysis.atlas.atlas import Axis, atlas
from gaussdyn.scenes.catalogue import build

ANGLE = {"name": "angle", "unit": "rad", "low": 0.1, "high": 1.5}
CASES = {
    "angle and friction": ({"name": "mu", "unit": "1", "low": 0.0, "high": 3.0}, {}),
    "angle and friction, turning": ({"name": "mu", "unit": "1", "low": 0.0, "high": 3.0}, {"omega": 3.4}),
    "angle and angular velocity": ({"name": "omega", "unit": "rad/s", "low": -5.0, "high": 5.0}, {}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=1000, help="along each parameter")
    parser.add_argument("--check", type=int, default=500, help="cells asked again with outcome")
    parser.add_argument("--out", type=Path, help="folder for the pictures")
    choice = parser.parse_args()
    rod = partial(build, "painleve_rod")
    small = {**ANGLE, "size": 2}
    atlas(rod, Axis(**small), Axis(**CASES["angle and friction"][0], size=2))  # load the kernels
    print(f"{'atlas':<30}{'cells':>10}{'s':>8}{'ties':>7}{'differ':>12}")
    for title, (y, params) in CASES.items():
        start = time.perf_counter()
        found = atlas(rod, Axis(**ANGLE, size=choice.cells), Axis(**y, size=choice.cells), params)
        wall = time.perf_counter() - start
        differ = f"{len(found.check(choice.check))} of {choice.check}"
        print(f"{title:<30}{found.modes.size:>10}{wall:>8.2f}{found.ties:>7}{differ:>12}", flush=True)
        if choice.out is not None:
            from gaussdyn.report.atlas_pictures import draw_atlas

            draw_atlas(found, choice.out / f"{title.replace(' ', '_').replace(',', '')}.png")


if __name__ == "__main__":
    main()
