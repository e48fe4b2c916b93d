"""Picture of a census: the number of motions of one contact in space over the direction of its load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.atlas.census import Census
from .colours import INK
from .pictures import finished, matplotlib_part, new_sheet

ALONE = {"D": "#dcecf6", "S": "#6fb1dd", "+": "#c6ddf5"}
SEVERAL = {0: ("#d55e00",), 2: ("#f0c808", "#fbe27a"), 3: ("#1b9e77", "#8fd3bd", "#57bd9e"), 4: ("#7b4ea3",)}
WORDS = {"D": "detaches", "S": "rests", "+": "slips"}


def draw_census(census: Census, path: str | Path | None = None, *, title: str = "one contact in space") -> Any:
    """Draw a census and, if `path` is given, write it (.png, .svg, .pdf); return the figure.

    Raises
    ------
    BackendMissing
        If matplotlib is not installed.
    InputError
        If `path` has an unknown ending or cannot be written.
    """
    sheet = new_sheet((9.0, 5.2))
    axis = sheet.add_subplot()
    shares = census.shares()
    names = sorted(shares, key=lambda name: (len(name), name))
    colours = _colours(names)
    code = census.detach * 16 + census.stick * 8 + census.slips
    codes = [("D" in name) * 16 + ("S" in name) * 8 + name.count("+") for name in names]
    which = np.searchsorted(np.sort(codes), code)
    order = np.argsort(codes)
    shown = [colours[k] for k in order]
    axis.imshow(which, origin="lower", extent=(-180, 180, -90, 90), aspect="auto", interpolation="nearest",
                cmap=matplotlib_part("colors").ListedColormap(shown), vmin=-0.5, vmax=len(names) - 0.5)  # fmt: skip
    axis.set_xlabel("azimuth of the load along the plane, degrees")
    axis.set_ylabel("inclination, degrees (below 0: into the plane)")
    axis.set_xticks(range(-180, 181, 60))
    axis.set_yticks(range(-90, 91, 30))
    friction = f"mu = {census.mu:.4g}" + (f", mu_s = {census.mu_s:.4g}" if census.mu_s != census.mu else "")
    axis.set_title(f"Number of motions: {title}, {friction}", loc="left", fontsize=12, color=INK)
    patch = matplotlib_part("patches").Patch
    handles = [
        patch(facecolor=colour, edgecolor=INK, label=f"{len(name)}: {said(name)} ({100 * shares[name]:.2f} %)")
        for name, colour in zip(names, colours, strict=True)
    ]
    sheet.legend(handles=handles, loc="outside lower left", ncols=3, frameon=False, fontsize=9)
    return finished(sheet, path)


def said(name: str) -> str:
    """Return motions in words, e.g. "S++": rests, slips in 2 directions."""
    slips = name.count("+")
    words = [WORDS[letter] for letter in name if letter != "+"]
    return ", ".join(words + ([f"slips in {slips} directions"] if slips > 1 else ["slips"] if slips else [])) or "none"


def _colours(names: list[str]) -> list[str]:
    """Return one colour per region: the number of motions decides the hue."""
    used, found = dict.fromkeys(SEVERAL, 0), []
    for name in names:
        if len(name) == 1:
            found.append(ALONE[name])
            continue
        count = min(len(name), max(SEVERAL))
        found.append(SEVERAL[count][used[count] % len(SEVERAL[count])])
        used[count] += 1
    return found
