"""Charts of a study for its page (plotly): heat maps, lines, parallel coordinates, bands over time, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ...studies.study_results import Study
from ...studies.study_tables import axes_of_grid
from ..charts import blank, embedded, graph_objects, rounded
from ..colours import PALETTE

Chart = tuple[str, str]  # its title, and its HTML
MOST = 4000  # runs that are drawn one by one, evenly taken
MOST_CHARTS = 6  # of a kind
MOST_CELLS = 250_000  # of a heat map
MOST_LINES = 8  # in one chart over one parameter
BANDS = ((0.05, 0.95, 0.2), (0.25, 0.75, 0.35))  # from quantile to quantile, and how much of the colour shows
TIME = "all:t"
SCALE = "Viridis"


def study_charts(found: Study) -> list[Chart]:
    """Return (title, HTML) of every chart that the study has something for."""
    some = thinned_runs(found)
    single = [name for name in found.values if some[name].ndim == 1 and _varies(some[name])]
    series = [name for name, x in some.items() if x.ndim == 2 and x.shape[1] > 1 and name != TIME]
    made = over_axes(found, single)
    if len(found.parameters) + len(single) > 2 and single:
        made.append(("Parallel coordinates", embedded(parallel(some, [*found.parameters, *single]))))
    made += [(f"{name.removeprefix('all:')} over time", embedded(bands(name, some))) for name in series[:MOST_CHARTS]]
    return made + [(f"How often: {name}", embedded(histogram(name, some[name]))) for name in single[:MOST_CHARTS]]


def thinned_runs(found: Study, most: int = MOST) -> dict[str, Array]:
    """Return all columns of at most so many runs, evenly taken; blocks are read one by one."""
    step = max(1, -(-len(found) // most))
    kept: dict[str, list[Any]] = {}
    first = 0
    for part in found.blocks():
        for name, x in {**part.parameters, **part.values}.items():
            kept.setdefault(name, []).append(x[-first % step :: step])
        first += len(part)
    return {name: np.concatenate(parts).astype(np.float64) for name, parts in kept.items()}


def over_axes(found: Study, single: list[str]) -> list[Chart]:
    """Return what was measured over the axes of a grid: lines over one, heat maps over the first two."""
    axes = axes_of_grid(found)
    shape = tuple(map(len, axes.values()))
    if len(axes) == 1:
        return [(f"{name} over {', '.join(axes)}", embedded(line(found, axes, name))) for name in single[:MOST_LINES]]
    if len(axes) < 2 or shape[0] * shape[1] > MOST_CELLS:
        return []
    x, y = list(axes)[:2]
    others = {name: values[len(values) // 2] for name, values in list(axes.items())[2:]}
    at = (slice(None), slice(None), *(n // 2 for n in shape[2:]))
    said = "".join(f", {name} = {value:.6g}" for name, value in others.items())
    return [
        (f"{name} over {x} and {y}{said}", embedded(heat(axes, found.values[name].reshape(shape)[at], name)))
        for name in single[:MOST_CHARTS]
    ]


def line(found: Study, axes: dict[str, Array], name: str) -> Any:
    """Return a number over the one axis of a grid."""
    ((parameter, x),) = axes.items()
    figure, order = _named(parameter, name), np.argsort(x)
    mode = "lines+markers" if len(x) <= 100 else "lines"
    figure.add_scatter(
        x=rounded(x[order]), y=_numbers(found.values[name][order]), mode=mode, line={"color": PALETTE[0]}
    )
    return figure


def heat(axes: dict[str, Array], z: Array, name: str) -> Any:
    """Return a number over two axes of a grid; cells without one stay empty."""
    (right, x), (up, y) = list(axes.items())[:2]
    figure, i, j = _named(right, up), np.argsort(x), np.argsort(y)
    rows = [_numbers(row) for row in z[np.ix_(i, j)].T]
    bar = {"title": {"text": name, "side": "right"}, "exponentformat": "power"}
    figure.add_heatmap(x=rounded(x[i]), y=rounded(y[j]), z=rows, colorscale=SCALE, colorbar=bar, hoverongaps=False)
    figure.update_layout(plot_bgcolor="#e6e9ec", height=380)
    return figure


def parallel(some: dict[str, Array], names: list[str]) -> Any:
    """Return one line per run through its parameters and what was measured, coloured by the last."""
    known = np.all([np.isfinite(some[name]) for name in names], axis=0)
    parts = [{"label": name, "values": rounded(some[name][known])} for name in names]
    colour = {"color": parts[-1]["values"], "colorscale": SCALE, "showscale": True}
    figure = blank("")
    figure.add_trace(graph_objects().Parcoords(dimensions=parts, line=colour, labelangle=-12))
    figure.update_layout(height=420, margin={"l": 60, "r": 40, "t": 70, "b": 30})
    return figure


def bands(name: str, some: dict[str, Array]) -> Any:
    """Return the median of a column over time, and between which values so many runs lie."""
    known = np.isfinite(some[name]).all(axis=1)
    x, times = some[name][known], some.get(TIME, np.empty(0))
    given = times.shape == some[name].shape and bool(known.any())
    t = times[known][0] if given else np.arange(x.shape[1], dtype=np.float64)
    figure = blank(name.removeprefix("all:"))
    figure.update_xaxes(title={"text": "t (s)" if given else f"saved state ({TIME} would give times)", "standoff": 4})
    if not len(x):
        return figure
    for low, high, share in BANDS:
        edges = [rounded(edge) for edge in np.quantile(x, (low, high), axis=0)]
        outline = {"x": rounded(t), "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
        figure.add_scatter(**outline, y=edges[0], showlegend=False)
        words = f"{100 * (high - low):.0f} % of all runs"
        figure.add_scatter(**outline, y=edges[1], fill="tonexty", fillcolor=f"rgba(0, 114, 178, {share})", name=words)
    figure.add_scatter(x=rounded(t), y=rounded(np.median(x, axis=0)), name="median", line={"color": PALETTE[0]})
    return figure


def histogram(name: str, x: Array) -> Any:
    """Return how often a number has which value."""
    count, edges = np.histogram(x[np.isfinite(x)], bins="auto" if len(x) < 10 * MOST else 100)
    figure = _named(name, "runs")
    middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    figure.add_bar(x=rounded(middle), y=count.tolist(), width=rounded(width), marker={"color": PALETTE[0]})
    figure.update_layout(bargap=0.02)
    return figure


def _varies(x: Array) -> bool:
    """Return whether there is anything to draw: the table of the page says what is the same in all runs."""
    known = x[np.isfinite(x)]
    return known.size > 0 and bool(known.min() < known.max())


def _named(x: str, y: str) -> Any:
    """Return an empty chart with the names of its axes and no legend."""
    figure = blank(y)
    figure.update_xaxes(title={"text": x, "standoff": 4})
    figure.update_layout(showlegend=False)
    return figure


def _numbers(x: Any) -> list[float | None]:
    """Return numbers for the page; those that are not known are None."""
    return [float(f"{value:.9g}") if np.isfinite(value) else None for value in x]
