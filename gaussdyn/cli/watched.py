"""``--view``: a run in the browser while it is computed."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..mechanics.scene import Scene
    from ..mechanics.state import State
    from ..mechanics.system import System
    from ..report.view.live import LiveView

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")  # of which one is set on Linux where a browser can open


@contextmanager
def watched(wanted: bool, scene: Scene | System, state: State | None = None) -> Iterator[LiveView | None]:
    """Give a live view of a run if it is wanted: its address is said, and a browser opened where there is a screen.

    Raises
    ------
    BackendMissing, InputError
        See `LiveView`.
    """
    if not wanted:
        yield None
        return
    from ..report.view.live import LiveView

    with LiveView(scene, state) as live:
        sys.stderr.write(f"live, until the run ends: {live.address}\n")
        if sys.stderr.isatty() and (not sys.platform.startswith("linux") or any(map(os.environ.get, SCREENS))):
            webbrowser.open(live.address)
        yield live
