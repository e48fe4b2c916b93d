"""How values show themselves in a notebook: a card of HTML with a head, a table, a line; all text is escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._show import short

MOST_ROWS = 12  # of a card
POINTS = 240  # of a line
WIDE, HIGH = 360, 60  # pixels of a line
EDGE = {"good": "#217346", "bad": "#a3262a", "plain": "#2463a8"}
BOX = "border:1px solid #8884;border-left:5px solid {edge};border-radius:6px;padding:8px 12px;margin:4px 0"
CELL = "text-align:left;padding:2px 14px 2px 0;overflow-wrap:anywhere"


def card(title: str, said: str, rows: Mapping[str, Any], *, kind: str = "plain", below: str = "") -> str:
    """Return a card.

    Parameters
    ----------
    title, said : str
        What it is, and what there is to say about it in a sentence.
    rows : mapping of str to anything
        A table of two columns; values that are no text are shown in short.
    kind : str
        good, bad or plain: the colour of its edge. The words say the same.
    below : str
        HTML (e.g. of `line`), taken as it is.
    """
    shown = list(rows.items())[:MOST_ROWS]
    if len(rows) > len(shown):
        shown.append(("...", f"{len(rows)} in all"))
    cells = [(_text(key), _text(x)) for key, x in shown]
    body = "".join(f'<tr><th style="{CELL}">{key}</th><td style="{CELL}">{x}</td></tr>' for key, x in cells)
    table = f'<table style="border-collapse:collapse;font-size:.92em">{body}</table>' if shown else ""
    head = f"<div><b>{_text(title)}</b> {_text(said)}</div>"
    return f'<div style="{BOX.format(edge=EDGE[kind])}">{head}{table}{below}</div>'


def line(t: Sequence[float], x: Sequence[float], words: str) -> str:
    """Return a small line chart as SVG; empty where there is nothing finite to draw."""
    every = [(float(a), float(b)) for a, b in zip(t, x, strict=True) if math.isfinite(float(b))]
    pairs = every[:: max(1, len(every) // POINTS)]
    if len(pairs) < 2 or pairs[0][0] == pairs[-1][0]:
        return ""
    low, high = min(b for _, b in every), max(b for _, b in every)
    across, up = WIDE / (pairs[-1][0] - pairs[0][0]), (HIGH - 8) / ((high - low) or 1.0)
    points = " ".join(f"{across * (a - pairs[0][0]):.1f},{HIGH - 4 - up * (b - low):.1f}" for a, b in pairs)
    drawn = f'<polyline points="{points}" fill="none" stroke="#0072b2" stroke-width="1.5"/>'
    said = _text(f"{words}: {low:.4g} to {high:.4g}")
    size = f'viewBox="0 0 {WIDE} {HIGH}" style="max-width:{WIDE}px;width:100%"'
    picture = f'<svg {size} role="img" aria-label="{said}">{drawn}</svg>'
    return f'<div style="font-size:.86em;margin-top:6px">{said}</div>{picture}'


def framed(page: str, height: int) -> str:
    """Return a whole page within the card, apart from the notebook that shows it."""
    inside = html.escape(page, quote=True)
    style = f"width:100%;height:{height}px;border:0;margin-top:8px"
    return f'<iframe sandbox="allow-scripts" srcdoc="{inside}" style="{style}"></iframe>'


def counts(found: Mapping[str, int]) -> str:
    """Return how many there are of each, in words."""
    return listed(f"{n} {name}" for name, n in found.items() if n)


def listed(words: Iterable[str]) -> str:
    """Return words with commas between; a dash if there are none."""
    return ", ".join(words) or "–"


def _text(value: Any) -> str:
    return html.escape(value if isinstance(value, str) else short(value))
