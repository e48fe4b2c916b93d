"""A progress bar on standard error, for what takes longer than two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

PATIENCE = 2.0  # s before the bar appears
REFRESH = 0.2  # s between updates


class Bar:
    """Counts from 0 to a total; invisible at first, and where standard error is not a terminal.

    Parameters
    ----------
    title : str
        What is being done.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.bar: Any = None
        self.due = time.perf_counter() + PATIENCE

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        if self.bar is not None:
            self.bar.stop()

    def update(self, done: float, total: float, said: str = "") -> None:
        """Show how far it is, and what is said about it."""
        now = time.perf_counter()
        if now < self.due or not sys.stderr.isatty():
            return
        self.due = now + REFRESH
        if self.bar is None:
            self.bar = self._start(total)
        self.bar.update(self.task, completed=done, said=said)

    def _start(self, total: float) -> Any:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        from .app import console

        told = TextColumn("{task.description}"), TextColumn("{task.fields[said]}")
        parts = (told[0], BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), told[1])
        bar = Progress(*parts, console=console(stderr=True), transient=True)
        self.task = bar.add_task(self.title, total=total, said="")
        bar.start()
        return bar
