"""Pictures of periodic orbits: one in its phase plane with its events; a branch over a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.orbits.continuation import Branch
from ..analysis.orbits.periodic_orbit import Orbit
from ..arrays import Array
from .colours import INK
from .page_template import filled
from .pictures import finished, new_sheet, png_url
from .place import place

PHASES = {"s": "#d55e00", "+": "#0072b2", "-": "#009e73", "o": "#7b4ea3", "c": "#5b6b7a"}
WORDS = {"s": "stick", "+": "slip forward", "-": "slip back", "o": "open", "c": "closed"}


def draw_orbits(
    orbit: Orbit, branch: Branch | None = None, path: str | Path | None = None, *, names: Sequence[str] = ("q",),
    title: str = "",
) -> Any:  # fmt: skip
    """Draw an orbit in its phase plane, and the branch it lies on.

    Parameters
    ----------
    orbit : Orbit
    branch : Branch, optional
    path : str or Path, optional
        Where to write it too; the ending decides the format (.png, .svg, .pdf).
    names : sequence of str
        Of the coordinates.
    title : str

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    BackendMissing
        If matplotlib is not installed.
    InputError
        If `path` has an unknown ending or cannot be written.
    """
    count = 1 if branch is None else 3
    sheet = new_sheet((5.0 * count, 4.6))
    axes = np.atleast_1d(sheet.subplots(1, count))
    _phase_plane(axes[0], orbit, names[0])
    if branch is not None:
        _extremes(axes[1], branch, names[0])
        _multipliers(axes[2], branch)
    return finished(sheet, path, f"Periodic orbits{': ' + title if title else ''}")


def write_orbits_page(
    path: str | Path, orbit: Orbit, branch: Branch | None = None, *, names: Sequence[str] = ("q",), title: str = "",
    command: str = "",
) -> Path:  # fmt: skip
    """Write a self-contained page: the diagram, the orbit with its events, the bifurcations.

    Raises
    ------
    BackendMissing
        If matplotlib or jinja2 is not installed.
    """
    picture = png_url(draw_orbits(orbit, branch, names=names, title=title))
    text = filled(
        "orbits.html", orbit=orbit, branch=branch, title=title, command=command, number=_number, picture=picture
    )
    return place(Path(path), text.encode())


def fine(t: Array, y: Array, count: int = 12) -> Array:
    """Return states between those of a stretch: cubic pieces for q, from v; shape (count (m - 1), 2 n)."""
    n = y.shape[1] // 2
    h = np.diff(t)[:, None, None]
    s = np.linspace(0.0, 1.0, count)[None, :, None]
    a, b = y[:-1, None, :], y[1:, None, :]
    q = (1 + 2 * s) * (1 - s) ** 2 * a[..., :n] + s**2 * (3 - 2 * s) * b[..., :n]
    q = q + h * (s * (1 - s) ** 2 * a[..., n:] + s**2 * (s - 1) * b[..., n:])
    v = 6 * s * (1 - s) * (b[..., :n] - a[..., :n]) / h
    v = v + (1 - s) * (1 - 3 * s) * a[..., n:] + s * (3 * s - 2) * b[..., n:]
    return np.asarray(np.concatenate([q, v], axis=2).reshape(-1, 2 * n))


def _number(z: complex) -> str:
    """Return a multiplier as text."""
    return f"{z.real:.9g}" + (f" {'+' if z.imag > 0 else '-'} {abs(z.imag):.9g}i" if z.imag else "")


def _phase_plane(axis: Any, orbit: Orbit, name: str) -> None:
    n, seen = len(orbit.y) // 2, set()
    for one in orbit.motion.stretches:
        y = fine(one.t, one.y) if len(one.t) > 1 else one.y
        letter = next((x for x in one.mode if x in "s+-"), one.mode[:1] or "o")
        label = WORDS.get(letter) if letter not in seen else None
        seen.add(letter)
        axis.plot(y[:, 0], y[:, n], color=PHASES.get(letter, INK), lw=1.8, label=label)
    for event in orbit.motion.passages:
        axis.plot(event.y[0], event.y[n], "o", ms=5.5, mfc="white", mec=INK, mew=1.3, zorder=5)
        axis.annotate(event.kind, (event.y[0], event.y[n]), xytext=(4, 5), textcoords="offset points", fontsize=8)
    axis.set_xlabel(name)
    axis.set_ylabel(f"{name}'")
    axis.set_title(f"period {orbit.period:.6g} s", fontsize=9.5, color=INK)
    if seen:
        axis.legend(fontsize=8, frameon=False)


def _extremes(axis: Any, branch: Branch, name: str) -> None:
    high, low = (np.array([getattr(one, side)[0] for one in branch.orbits]) for side in ("high", "low"))
    stable = np.array([one.stable for one in branch.orbits])
    for values in (high, low):
        axis.plot(branch.values, np.where(stable, values, np.nan), color="#0072b2", lw=1.6)
        axis.plot(branch.values, np.where(stable, np.nan, values), color="#d55e00", lw=1.6, ls="--")
        axis.plot(branch.values, values, ".", ms=3, color=INK)
    _marks(axis, branch)
    axis.set_xlabel(_label(branch))
    axis.set_ylabel(f"least and greatest {name}")
    axis.set_title("dashed: unstable", fontsize=9.5, color=INK)


def _multipliers(axis: Any, branch: Branch) -> None:
    sizes = [np.abs(one.nontrivial) for one in branch.orbits]
    for k in range(min((len(one) for one in sizes), default=0)):
        axis.plot(branch.values, [one[k] for one in sizes], ".-", ms=3, lw=1.2)
    axis.axhline(1.0, color=INK, lw=0.8)
    _marks(axis, branch)
    axis.set_xlabel(_label(branch))
    axis.set_ylabel("modulus of the multipliers")


def _marks(axis: Any, branch: Branch) -> None:
    top = axis.get_ylim()[1]
    for one in branch.changes:
        axis.axvline(one.value, color=INK, lw=0.7, ls=":")
        axis.annotate(one.kind, (one.value, top), xytext=(-9, -4), textcoords="offset points", fontsize=7.5,
                      rotation=90, va="top")  # fmt: skip


def _label(branch: Branch) -> str:
    return branch.parameter if branch.unit in ("1", "SI") else f"{branch.parameter} ({branch.unit})"
