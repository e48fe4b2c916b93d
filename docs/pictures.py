"""Draws the pictures of pages: their Python blocks are run, and what they draw is kept in ``build/pages``.

``make docs`` calls it; a page is run anew when its code changes. Where they stand a page says ``<!-- pictures -->``.

Usage: python docs/pictures.py
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build" / "pages"
PAGES = tuple(f"papers/{name}" for name in ("b18", "b24", "g93", "i09", "k08"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def code_of(page: str) -> str:
    """Return the code of a page, all blocks one after the other."""
    return "\n".join(BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")))


def pictures(page: str) -> list[Path]:
    """Return what the code of a page drew; none if it was not run."""
    return sorted((PLACE / page).glob("*.svg"))


def draw(page: str) -> list[Path]:
    """Run the code of a page in a folder of its own, unless it was run as it is, and return what it drew."""
    folder, code, here = PLACE / page, code_of(page), Path.cwd()
    done = folder / "code.txt"
    if not done.is_file() or done.read_text(encoding="utf-8") != code:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        os.chdir(folder)
        try:
            exec(compile(code, f"{page}.md", "exec"), {"__name__": "page"})
        finally:
            os.chdir(here)
        done.write_text(code, encoding="utf-8")
    return pictures(page)


if __name__ == "__main__":
    for name in PAGES:
        sys.stdout.write(f"{name}: {', '.join(path.name for path in draw(name))}\n")
