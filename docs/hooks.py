"""Fills in, when the pages are built, what would go stale if it were written: the list of public names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MARK = "<!-- public names -->"


def on_page_markdown(markdown: str, **page: Any) -> str:
    """Replace the mark by one entry per public name, under its module."""
    return markdown.replace(MARK, public_names()) if MARK in markdown else markdown


def public_names() -> str:
    """Return the directives of all public names, sorted by the module they live in."""
    sys.path.insert(0, str(ROOT))
    import gaussdyn

    homes: dict[str, list[str]] = {}
    for name in gaussdyn.__all__:
        homes.setdefault(gaussdyn._MODULE[name], []).append(name)
    lines = []
    for module in sorted(homes):
        lines.append(f"\n## gaussdyn.{module}\n")
        lines += [f"\n::: gaussdyn.{module}.{name}\n" for name in homes[module]]
    return "\n".join(lines)
