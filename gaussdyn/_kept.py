"""What pure functions say of a frozen value, kept in the value itself: asked once, gone with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar


class Keeps(Protocol):
    """A value with room for what was asked of it; whatever makes another one of it gives that room of its own."""

    @property
    def answers(self) -> dict[str, Any]:
        """By the names of functions."""
        ...


Value = TypeVar("Value", bound=Keeps)
Answer = TypeVar("Answer")


def kept(ask: Callable[[Value], Answer]) -> Callable[[Value], Answer]:
    """Return a function of one value that keeps its answer there."""
    name = f"{ask.__module__}.{ask.__qualname__}"

    @wraps(ask)
    def asked(value: Value) -> Answer:
        """Return the answer."""
        answers = value.answers
        if name not in answers:
            answers[name] = ask(value)
        found: Answer = answers[name]
        return found

    return asked
