"""Frozen values that are made often, in the time of plain ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

T = TypeVar("T")


def maker(cls: type[T]) -> Callable[..., T]:
    """Return a function of all fields of a frozen dataclass with slots, in their order or by name, that makes one.

    It does what `__init__` does without `__post_init__` and without defaults, in a sixth of the time: that one puts
    each field past a class that forbids it. Here the fields are put into a value of a class with the same slots that
    does not, which then gets its own class.
    """
    names, place = _fields(cls)
    made: Callable[..., T] = _compiled(place, f"{', '.join(names)}", "made = open_()", names)
    return made


def filler(cls: type[T]) -> Callable[..., T]:
    """Return a function of a new value of a frozen dataclass with slots, and all its fields, that puts these: `maker`.

    For an `__init__` of its own. Values of classes derived from it have other slots, and are filled field by field.
    """
    names, place = _fields(cls)

    def each(made: Any, *values: Any) -> Any:
        """Put the fields past the class that forbids it."""
        for name, value in zip(names, values, strict=True):
            object.__setattr__(made, name, value)
        return made

    given = ", ".join(names)
    first = f"if made.__class__ is not closed: return each(made, {given})\n    put(made, '__class__', open_)"
    filled: Callable[..., T] = _compiled({**place, "each": each}, f"made, {given}", first, names)
    return filled


def _fields(cls: type[Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the names of the fields, and what the code refers to."""
    names = [field.name for field in fields(cls)]
    open_ = type(cls.__name__, (), {"__slots__": tuple(names)})
    return names, {"open_": open_, "closed": cls, "put": object.__setattr__}


def _compiled(place: dict[str, Any], arguments: str, first: str, names: list[str]) -> Any:
    """Return a function that puts fields into a value of the open class, and closes it."""
    lines = [f"def make({arguments}):", first, *(f"made.{name} = {name}" for name in names)]
    exec("\n    ".join([*lines, "made.__class__ = closed", "return made"]), place)
    return place["make"]
