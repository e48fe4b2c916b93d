"""Names of bodies and markers, and what is meant by one that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import InputError
from ..mends import meant

GROUND = "ground"


def nearest(given: str, known: Iterable[str]) -> tuple[str, str]:
    """Return what is allowed and what to write, for an `InputError` about an unknown name."""
    names = sorted(known)
    if not names:
        return "nothing, for there is none", f"Leave {str(given)!r} out, or add what is called so: name={str(given)!r}."
    return ", ".join(names), meant(given, names) or f"Write {names[0]!r}."


def parts(name: str, given: object) -> tuple[Any, ...]:
    """Return the parts of a list of bodies, joints, ...; raise InputError for one that stands alone."""
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise InputError(name, repr(given), f"a list of {name}", f"Write {name}=[...], also for one.")
    return tuple(given)


def check_name(what: str, name: object) -> None:
    """Raise InputError unless `name` is a usable name: not empty, not ``ground``, without ``. / :``."""
    if not isinstance(name, str) or not name or name == GROUND or set(name) & set("./: "):
        raise InputError(what, repr(name), "a word without . / : and blanks, not 'ground'", "E.g. name='left_foot'.")
