"""Draws the rooms of the package and who imports whom, from the imports themselves: ``python docs/rooms.py``.

Writes rooms.svg beside this file; a test compares it with the code, so that the picture stays true.
"""

from __future__ import annotations

import ast
import colorsys
from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "gaussdyn"
PICTURE = HERE / "rooms.svg"
FLOORS = (
    ("cli",), ("report",), ("studies",), ("analysis", "scenes"), ("integrate",), ("contact",),
    ("programs", "mechanics"), ("linalg",),
)  # fmt: skip
WIDTH, MARGIN, BAND, GAP, TOP = 1180, 96, 46, 34, 28  # of the picture and its bands, pixels
DOOR = "·"  # the modules that stand in no room of their floor


@dataclass(frozen=True)
class Box:
    """A room in the picture: its place, and how many modules stand in it."""

    x: float
    y: float
    width: float
    label: str
    modules: int

    @property
    def middle(self) -> float:
        """Horizontal middle, pixels."""
        return self.x + self.width / 2.0


def room_of(parts: tuple[str, ...]) -> tuple[str, str] | None:
    """Return (floor, room) of a module or package given by its path below the package; None for the ground floor."""
    floors = {name for band in FLOORS for name in band}
    if not parts or parts[0] not in floors:
        return None
    inside = len(parts) > 2 or (len(parts) == 2 and (PACKAGE / parts[0] / parts[1]).is_dir())
    return parts[0], parts[1] if inside else DOOR


def imported(path: Path) -> list[tuple[str, ...]]:
    """Return what a module imports from the package while it runs, as paths below the package."""
    tree, found = ast.parse(path.read_text(encoding="utf-8")), []
    for node in _running(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.relative_to(PACKAGE).parts[: -node.level]
            found.append((*base, *(node.module or "").split(".")) if node.module else base)
    return found


def _running(node: ast.AST) -> list[ast.AST]:
    """Return a node and all statements below it, but for what only type checkers see."""
    nodes = [node]
    for child in ast.iter_child_nodes(node):
        hidden = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if isinstance(child, ast.stmt | ast.excepthandler) and not hidden:
            nodes += _running(child)
    return nodes


def survey() -> tuple[Counter[tuple[str, str]], Counter[tuple[tuple[str, str], tuple[str, str]]]]:
    """Return how many modules stand in every room, and how many of its modules import from another room."""
    rooms: Counter[tuple[str, str]] = Counter()
    arrows: Counter[tuple[tuple[str, str], tuple[str, str]]] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        here = room_of(path.relative_to(PACKAGE).with_suffix("").parts)
        if here is None or path.name == "__init__.py":
            continue
        rooms[here] += 1
        there = {room for parts in imported(path) if (room := room_of(parts)) not in (None, here)}
        arrows.update((here, room) for room in there if room is not None)
    return rooms, arrows


def placed(rooms: Counter[tuple[str, str]]) -> dict[tuple[str, str], Box]:
    """Return the boxes: a band for every floor, its rooms side by side, as wide as their names and modules ask for."""
    boxes: dict[tuple[str, str], Box] = {}
    for level, band in enumerate(FLOORS):
        names = [(floor, room) for floor in band for room in sorted(name for at, name in rooms if at == floor)]
        wanted = {
            name: max(34.0, 6.3 * len(name[1 if name[1] != DOOR else 0]) + 12.0) + 1.2 * rooms[name] for name in names
        }
        free = WIDTH - MARGIN - 10.0 - 6.0 * (len(names) - 1)
        scale, y = min(free / sum(wanted.values()), 1.6), TOP + level * (BAND + GAP)
        x = MARGIN + (free - scale * sum(wanted.values())) / 2.0
        for name in names:
            width = wanted[name] * scale
            boxes[name] = Box(x, y, width, name[0] if name[1] == DOOR else name[1], rooms[name])
            x += width + 6.0
    return boxes


def drawn() -> str:
    """Return the picture as SVG."""
    rooms, arrows = survey()
    boxes = placed(rooms)
    height = TOP + len(FLOORS) * (BAND + GAP)
    hues = {floor: k / 10.0 for k, floor in enumerate(name for band in FLOORS for name in band)}
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for (here, there), count in sorted(arrows.items()):
        lines.append(_arrow(boxes[here], boxes[there], count, _colour(hues[here[0]], 0.45, 0.62)))
    for level, band in enumerate(FLOORS):
        y = TOP + level * (BAND + GAP) + BAND / 2.0
        for k, floor in enumerate(band):
            at = y + 14.0 * (k - (len(band) - 1) / 2.0) + 4.0
            colour = _colour(hues[floor], 0.8, 0.4)
            lines.append(f'<text x="8" y="{at:.1f}" font-size="13" font-weight="bold" fill="{colour}">{floor}</text>')
    for (floor, _), box in sorted(boxes.items()):
        lines += _room(box, hues[floor])
    return "\n".join([*lines, "</svg>", ""])


def _colour(hue: float, saturation: float, lightness: float) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, lightness, saturation))


def _arrow(here: Box, there: Box, count: int, colour: str) -> str:
    """Return a curve from a room down to one that it imports; rooms of one band are joined below them."""
    down = there.y > here.y
    x0, y0, x1 = here.middle, here.y + BAND, there.middle
    y1 = there.y if down else there.y + BAND
    bend = (y1 - y0) / 2.0 if down else GAP * 0.8
    path = f"M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend if down else y1 + bend:.1f} {x1:.1f} {y1}"
    wide = 0.5 + 0.35 * count**0.5
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{wide:.2f}" stroke-opacity="0.45"/>'


def _room(box: Box, hue: float) -> list[str]:
    fill, edge = _colour(hue, 0.6, 0.9), _colour(hue, 0.6, 0.5)
    size = min(12.0, 1.75 * (box.width - 6.0) / max(len(box.label), 1))
    return [
        f'<rect x="{box.x:.1f}" y="{box.y}" width="{box.width:.1f}" height="{BAND}" rx="5" fill="{fill}" '
        f'stroke="{edge}"/>',
        f'<text x="{box.middle:.1f}" y="{box.y + 20}" font-size="{size:.1f}" text-anchor="middle">'
        f"{escape(box.label)}</text>",
        f'<text x="{box.middle:.1f}" y="{box.y + 37}" font-size="10" text-anchor="middle" fill="#555">'
        f"{box.modules}</text>",
    ]


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    print(PICTURE)
