"""The tree of all futures as a self-contained HTML page: time runs to the right, every future is a line."""

from __future__ import annotations

from html import escape
from pathlib import Path

from ..integrate.futures.future_tree import BRANCHES, COMPLETED, MEANING, SAME, Future, Tree
from .page_template import filled
from .place import data_url, place

WIDTH, LEFT, RIGHT, ROW, TOP = 860, 24, 210, 34, 46  # px
COLOURS = {COMPLETED: "#1b7837", BRANCHES: "#2166ac", SAME: "#7a7a7a"}
OTHER = "#b2182b"


def write_tree(path: str | Path, tree: Tree, *, title: str = "", source: str = "", command: str = "") -> Path:
    """Write the page of a tree.

    Parameters
    ----------
    path : str or Path
        The HTML file to write.
    tree : Tree
    title, source : str
        Of the scene.
    command : str
        The command line that repeats it.

    Raises
    ------
    BackendMissing
        If jinja2 is not installed.
    InputError
        No room, no rights; an older page stays as it is.
    """
    text = filled(
        "tree.html", title=title or tree.name, source=source, command=command, tree=tree, picture=picture(tree),
        said=_said(tree), futures=tree.futures, meaning=MEANING, proofs=proofs(tree),
    )  # fmt: skip
    return place(Path(path), text.encode())


def picture(tree: Tree) -> str:
    """Return the tree as SVG; futures of no length (their start branches at once) are dots."""
    rows = _rows(tree)
    height = TOP + ROW * max(len(tree.leaves), 1) + 20
    first, span = tree.futures[0].start.t, tree.t_end - tree.futures[0].start.t or 1.0

    def x(t: float) -> float:
        """Return the place of a time, px."""
        return LEFT + 60 + (t - first) / span * (WIDTH - LEFT - 60 - RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" '
        f'aria-label="Tree of {len(tree.leaves)} futures" font-family="sans-serif" font-size="13">',
        f'<text x="{x(first):.1f}" y="20" fill="currentColor">t = {first:.4g} s</text>',
        f'<text x="{x(tree.t_end):.1f}" y="20" text-anchor="end" fill="currentColor">{tree.t_end:.4g} s</text>',
    ]
    for one in tree.futures:
        parts += _drawn(tree, one, rows, x(one.start.t), x(one.end.t))
    return "\n".join([*parts, "</svg>"])


def _drawn(tree: Tree, one: Future, rows: dict[int, float], a: float, b: float) -> list[str]:
    """Return one future: its stem from its parent, its line, and what it is called."""
    y, colour = rows[one.id], COLOURS.get(one.ending, OTHER)
    found = []
    if one.parent is not None:
        up = rows[one.parent]
        found.append(f'<path d="M{a:.1f} {up:.1f}C{a + 14:.1f} {up:.1f} {a:.1f} {y:.1f} {a + 14:.1f} {y:.1f}" '
                     'fill="none" stroke="#888"/>')  # fmt: skip
    dashes = "" if one.followed else ' stroke-dasharray="4 4"'
    found.append(f'<line x1="{a + (14 if one.parent is not None else 0):.1f}" y1="{y:.1f}" x2="{max(b, a + 14):.1f}" '
                 f'y2="{y:.1f}" stroke="{colour}" stroke-width="3"{dashes}/>')  # fmt: skip
    found.append(f'<circle cx="{max(b, a + 14):.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
    at = (a + 20.0, y - 7.0, f"{one.id}: {one.label}") if one.parent is not None else (LEFT, y + 4.0, "start")
    found.append(f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" fill="currentColor">{escape(at[2])}</text>')
    if one.ending != BRANCHES:
        words = MEANING[one.ending] if len(MEANING[one.ending]) < 30 else one.ending.lower()
        found.append(f'<text x="{max(b, a + 14) + 9:.1f}" y="{y + 4:.1f}" fill="{colour}">{escape(words)}</text>')
    return found


def _rows(tree: Tree) -> dict[int, float]:
    """Return the height of every future: leaves in order, parents in the middle of their children."""
    rows: dict[int, float] = {}

    def put(id: int) -> float:
        """Place a future and all that follows it."""
        one = tree.futures[id]
        below = [put(child) for child in one.children]
        leaf = TOP + 8.0 + ROW * sum(not tree.futures[known].children for known in rows)
        rows[id] = 0.5 * (below[0] + below[-1]) if below else leaf
        return rows[id]

    put(0)
    return rows


def proofs(tree: Tree) -> dict[int, tuple[str, str]]:
    """Return file name and data URL of the certificate of every branching."""
    found = {}
    for one in tree.futures:
        if one.outcome is not None and one.outcome.certificate is not None:
            url = data_url("application/json", one.outcome.certificate.to_json().encode())
            found[one.id] = (f"{tree.name}-branching-{one.id}.json", url)
    return found


def _said(tree: Tree) -> str:
    ends = len(tree.ends)
    said = f"{ends} {'future reaches' if ends == 1 else 'different futures reach'} t = {tree.t_end:.6g} s."
    return said if tree.complete else said + " The tree is not complete: see the table."
