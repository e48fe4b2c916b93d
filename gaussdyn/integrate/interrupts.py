"""Ctrl-C during a run: at once while a step is computed, later while one is recorded or written."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

PRESSED = "Ctrl-C was pressed"


class Interrupts:
    """Holds a keyboard interrupt back while `held`; the second one in a row comes through all the same.

    Does nothing outside the main thread, and where the program handles the signal itself.
    """

    def __init__(self) -> None:
        self.held = True
        self.pending = 0
        self.before: Any = None

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self.before = signal.signal(signal.SIGINT, self._heard)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)

    def allow(self) -> None:
        """Let interrupts through; one that was held back comes now."""
        self.held = False
        if self.pending:
            self.pending = 0
            raise KeyboardInterrupt(PRESSED)

    def hold(self) -> None:
        """Hold interrupts back from here on."""
        self.held = True

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.pending += 1
        if not self.held or self.pending > 1:
            self.pending = 0
            raise KeyboardInterrupt(PRESSED)
