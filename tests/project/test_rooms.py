"""The house: rooms of at most 25 modules, one meaning for a name of a file, and a picture that is true."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gaussdyn"
MODULES = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]


def test_no_room_is_crowded():
    crowded = {str(room): count for room, count in Counter(path.parent for path in MODULES).items() if count > 25}
    assert crowded == {}


def test_no_two_floors_have_a_module_of_one_name():
    floors: dict[str, set[str]] = {}
    for path in MODULES:
        floors.setdefault(path.stem, set()).add(path.relative_to(PACKAGE).parts[0])
    assert {name: where for name, where in floors.items() if len(where) > 1} == {}


def test_the_picture_of_the_rooms_is_drawn_from_the_code():
    code = "import rooms; print(rooms.PICTURE.read_text(encoding='utf-8') == rooms.drawn())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "docs", capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True", "python docs/rooms.py draws it anew"
