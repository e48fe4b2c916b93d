"""Ctrl-C during a run: at once while a step is computed, later while one is recorded or written."""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

from ...errors import PRESSED, interrupts

P = ParamSpec("P")
T = TypeVar("T")


class Interrupts:
    """Knows of every keyboard interrupt, and holds it back while `held`; the second one comes through all the same.

    Compiled code may make another exception of a KeyboardInterrupt that is raised in it, and libraries may drop it. So
    what arrives is not trusted: an interrupt that was heard and that nobody has `answered` is raised again, at the next
    `allow` or `check`, and when this ends. Outside the main thread, and where the program handles the signal itself,
    nothing is heard; then exceptions that were raised from a KeyboardInterrupt are known as such.
    """

    def __init__(self) -> None:
        self.held = False
        self.pending = False  # held back
        self.raised = False  # raised, and not seen since
        self.before: Any = None

    def __enter__(self) -> Interrupts:
        before = signal.getsignal(signal.SIGINT)
        ours = isinstance(getattr(before, "__self__", None), Interrupts)  # a run within a run
        if threading.current_thread() is threading.main_thread() and (ours or before is signal.default_int_handler):
            self.before = signal.signal(signal.SIGINT, self._heard)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
        lost = self.pending or self.raised or interrupts(error)
        if lost and (error is None or (isinstance(error, Exception))):
            raise KeyboardInterrupt(PRESSED) from (None if interrupts(error) else error)

    def allow(self) -> None:
        """Let interrupts through; one that was held back comes now."""
        self.held = False
        if self.pending or self.raised:
            self.pending, self.raised = False, True
            raise KeyboardInterrupt(PRESSED)

    def hold(self) -> None:
        """Hold interrupts back from here on."""
        self.held = True

    def check(self) -> None:
        """Raise KeyboardInterrupt if one was raised before and got lost on its way."""
        if self.raised:
            raise KeyboardInterrupt(PRESSED)

    def behind(self, error: BaseException) -> bool:
        """Whether an interrupt is the reason of an exception, or was lost before it; it counts as answered then."""
        found, self.raised = self.raised or interrupts(error), False
        return found

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self.held and not (self.pending or self.raised):
            self.pending = True
            return
        self.raised = True
        raise KeyboardInterrupt(PRESSED)


def interruptible(verb: Callable[P, T]) -> Callable[P, T]:
    """Let a verb that takes long end in KeyboardInterrupt wherever in it, or in a library, Ctrl-C arrives."""

    @functools.wraps(verb)
    def call(*args: P.args, **options: P.kwargs) -> T:
        with Interrupts():
            return verb(*args, **options)

    return call
