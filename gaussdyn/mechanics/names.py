"""Names of bodies and markers, and what is meant by one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ..errors import InputError

GROUND = "ground"


def nearest(given: str, known: Iterable[str]) -> tuple[str, str]:
    """Return what is allowed and a suggestion, for an `InputError` about an unknown name."""
    names = sorted(known)
    close = difflib.get_close_matches(given, names, n=2, cutoff=0.5)
    return ", ".join(names) or "nothing", f"Did you mean {' or '.join(close)}?" if close else ""


def check_name(what: str, name: object) -> None:
    """Raise InputError unless `name` is a usable name: not empty, not ``ground``, without ``. / :``."""
    if not isinstance(name, str) or not name or name == GROUND or set(name) & set("./: "):
        raise InputError(what, repr(name), "a word without . / : and blanks, not 'ground'", "E.g. name='left_foot'.")
