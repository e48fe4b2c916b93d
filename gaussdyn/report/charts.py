"""Charts of a run for the page (plotly), as pieces of HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..analysis.forces.margins_along import margins as force_margins
from ..analysis.margins import friction_margins
from ..arrays import Array
from ..errors import BackendMissing
from ..integrate.run.trajectory import Trajectory
from ..mechanics.scene import Scene
from ..programs.solution.residuals import TOL
from .colours import OUTCOME_COLOURS, PALETTE
from .series import POINTS, Group, groups, spans, thinned
from .view.packing import deflated

DASHES = ("solid", "dash", "dot", "dashdot")
PATTERNS = {"MULTIPLE": "/", "CONTINUUM": "x", "NONE": "\\", "UNDECIDED": "."}
SHOWN = 8  # series drawn at first; the others are one click away in the legend
MOST_SERIES = 40  # in one chart; a longer legend is read by nobody
NUMBERS = 60_000  # points of all charts together: about 1.6 MB
FEWEST = 100
TICK = "#dfe4e9"
# Placed in the container, ticks level, one side each for their labels: no margin depends on another, none is sought
# in circles.
LEGEND = {"orientation": "h", "xref": "container", "x": 0.01, "yref": "container", "y": 0.01, "yanchor": "bottom"}
PLOT, ROW, WIDE, LETTER, LINE = 260, 19, 420, 6.5, 50  # pixels: of the plot, and of the legend below it
MOST_EVENTS = 2000
FLOOR = 1e-18  # an exact zero has no logarithm
FEW_CONTACTS, LOOKED_AT = 16, 40  # constraints up to which distances are drawn, and at how many states


def graph_objects() -> Any:
    """Return plotly's graph objects.

    Raises
    ------
    BackendMissing
        If plotly is not installed.
    """
    try:
        import plotly.graph_objects as go
    except ImportError:
        raise BackendMissing("plotly", "report") from None
    return go


@cache
def library() -> str:
    """Return plotly's JavaScript, packed, to be put into the page once: `charts.js` unpacks it."""
    graph_objects()
    from plotly.offline import get_plotlyjs

    return deflated(get_plotlyjs().encode())


def charts(run: Trajectory, scene: Scene | None = None) -> list[tuple[str, str]]:
    """Return (title, HTML) of every chart: columns, energy, residual, events, outcomes, friction margin."""
    parts = groups(run)
    count = sum(min(len(group.names), MOST_SERIES) for group in parts)
    points = int(np.clip(NUMBERS // max(count, 1), FEWEST, POINTS))
    found = [(_heading(group), embedded(columns(run, group, points))) for group in parts]
    if len(run.steps.t):
        found.append(("Residual of every step", embedded(residual(run))))
    if run.events:
        found.append(("Events", embedded(events(run))))
    if set(run.outcomes) - {"NOT_EXAMINED"}:
        found.append(("Outcome of the acceleration problem", embedded(outcomes(run))))
    if scene is not None:
        t, margins = friction_margins(run, scene)
        if len(t):
            found.append(("Friction margin: factor by which all friction may grow", embedded(margin(run, t, margins))))
        found += distances(run, scene)
    return found


def distances(run: Trajectory, scene: Scene) -> list[tuple[str, str]]:
    """Return charts of how far contacts are from slipping and opening; none of runs with many contacts."""
    sample = {0, len(run) // 2, len(run) - 1} if len(run) else set()
    if not 0 < max([len(run.rows), *(len(run.contacts(k)) for k in sample)]) <= FEW_CONTACTS:
        return []
    near = force_margins(run, scene, points=LOOKED_AT)
    found = []
    for kind, words in (("slipping", "slipping: largest mu r_N - |r_T|"), ("opening", "opening: largest normal force")):
        names = [name for name in near.columns if name.endswith(f".{kind}")][:MOST_SERIES]
        if names:
            figure = blank("N", names)
            for k, name in enumerate(names):
                line = {"color": PALETTE[k % len(PALETTE)], "width": 1.8, "dash": DASHES[k % len(DASHES)]}
                values = [None if np.isnan(x) else float(x) for x in near.columns[name]]
                figure.add_scatter(x=rounded(near.t), y=values, name=name.removesuffix(f".{kind}"), line=line)
            found.append((f"Distance to {words} that the laws allow", embedded(figure)))
    return found


def columns(run: Trajectory, group: Group, points: int = POINTS) -> Any:
    """Return a line chart of the first columns of a group over time, of about so many points each."""
    names = group.names[:MOST_SERIES]
    figure, t = blank(group.unit.replace("SI", "SI units"), names), run["t"]
    for k, name in enumerate(names):
        keep = thinned([run[name]], points)
        visible = True if k < SHOWN else "legendonly"
        line = {"color": PALETTE[k % len(PALETTE)], "width": 1.8, "dash": DASHES[k % len(DASHES)]}
        figure.add_scatter(x=rounded(t[keep]), y=rounded(run[name][keep]), name=name, line=line, visible=visible)
    return figure


def residual(run: Trajectory) -> Any:
    """Return the residual E of every step on a logarithmic axis, with the limit of SOLVED."""
    E = np.maximum(run.steps.E, FLOOR)
    keep = thinned([E])
    figure = blank("E (dimensionless)")
    marker = {"color": PALETTE[0], "size": 4}
    figure.add_scatter(
        x=rounded(run.steps.t[keep]),
        y=rounded(E[keep]),
        name=f"E (0 is drawn at {FLOOR:g})",
        mode="markers",
        marker=marker,
    )
    ends, line = [float(run.t[0]), float(run.t[-1])], {"color": PALETTE[1], "dash": "dot"}
    figure.add_scatter(x=ends, y=[TOL, TOL], name=f"limit {TOL:g}", mode="lines", line=line)
    top = max(-10.0, float(np.log10(E.max())) + 1.0)
    figure.update_yaxes(type="log", exponentformat="power", range=[np.log10(FLOOR) - 0.5, top])
    return figure


def events(run: Trajectory) -> Any:
    """Return when which constraint changed."""
    figure = blank("")
    for k, kind in enumerate(sorted(run.event_counts)):
        some = [event for event in run.events if event.kind == kind][:MOST_EVENTS]
        marker = {"color": PALETTE[k % len(PALETTE)], "size": 8, "symbol": k}
        x, y = [event.t for event in some], [event.id for event in some]
        figure.add_scatter(x=x, y=y, name=kind, mode="markers", marker=marker)
    room = 0.02 * float(run.t[-1] - run.t[0])
    figure.update_xaxes(range=[float(run.t[0]) - room, float(run.t[-1]) + room])
    figure.update_yaxes(type="category", automargin="left")
    return figure


def outcomes(run: Trajectory) -> Any:
    """Return the time line of outcomes: one bar per stretch of equal outcomes."""
    figure, seen = blank(""), set()
    borders = np.r_[run.steps.t[0] - run.steps.dt[0], run.steps.t]
    for label, start, stop in spans(run.steps.outcome.tolist(), borders):
        figure.add_bar(
            x=[stop - start], base=[start], y=["outcome"], orientation="h", name=label, legendgroup=label,
            showlegend=label not in seen, marker=_bar(label),
        )  # fmt: skip
        seen.add(label)
    figure.update_layout(barmode="overlay", height=200)
    figure.update_yaxes(visible=False)
    return figure


def _bar(label: str) -> dict[str, Any]:
    """Return how a bar of an outcome looks: told by its pattern as well as by its colour."""
    pattern = {"shape": PATTERNS.get(label, ""), "fgcolor": "#1d2733", "size": 6, "solidity": 0.2}
    return {"color": OUTCOME_COLOURS.get(label, "#5b6b7a"), "line": {"width": 0}, "pattern": pattern}


def margin(run: Trajectory, t: Array, margins: Array) -> Any:
    """Return the friction margin over time, with 1 as the limit of uniqueness."""
    figure, ends = blank("factor"), [float(run.t[0]), float(run.t[-1])]
    marker = {"color": PALETTE[0], "size": 4}
    figure.add_scatter(x=rounded(t), y=rounded(margins), name="margin", mode="markers", marker=marker)
    line = {"color": PALETTE[1], "dash": "dot"}
    figure.add_scatter(x=ends, y=[1.0, 1.0], name="uniqueness ends", mode="lines", line=line)
    figure.update_yaxes(type="log")
    return figure


def blank(unit: str, names: Sequence[str] = ()) -> Any:
    """Return an empty chart, high enough for a legend of those names below it."""
    across = max(1, int(WIDE // (LINE + LETTER * max(map(len, names), default=1))))
    rows = max(2, -(-len(names) // across))
    time = {"automargin": "bottom", "ticks": "outside", "tickcolor": TICK, "tickangle": 0}
    return graph_objects().Figure(
        layout={
            "template": {},  # `embedded` puts it in: plotly would copy it for every chart and every change
            "height": PLOT + 40 + ROW * rows,
            "margin": {"l": 8, "r": 14, "t": 10, "b": 8},
            "legend": LEGEND,
            "showlegend": True,
            "font": {"size": 12},
            "hovermode": "closest",
            "xaxis": {"title": {"text": "t (s)", "standoff": 4}, **time},
            "yaxis": {"title": {"text": unit, "standoff": 4}, "automargin": "left", "exponentformat": "power"},
        }
    )


def _heading(group: Group) -> str:
    name = group.title
    title = name if group.unit in ("", "SI", "SI/s") else f"{name} ({group.unit})"
    more = len(group.names) - MOST_SERIES
    return title if more <= 0 else f"{title}: the first {MOST_SERIES} of {len(group.names)}"


@cache
def _template() -> dict[str, Any]:
    """Return how plotly draws what a chart does not say."""
    from plotly.io import templates

    white: dict[str, Any] = templates["plotly_white"].to_plotly_json()
    return white


def embedded(figure: Any) -> str:
    """Return a chart as a piece of HTML, drawn by `charts.js`."""
    chart = json.loads(figure.to_json())
    chart["layout"]["template"] = _template()
    height = chart["layout"].get("height", PLOT)
    data = deflated(json.dumps(chart, separators=(",", ":"), allow_nan=False).encode())
    return f'<div class="chart" style="min-height:{height}px"><script type="text/plain">{data}</script></div>'


def rounded(x: Any) -> list[float]:
    """Return numbers for the page, to nine digits."""
    return [float(f"{value:.9g}") for value in x]
