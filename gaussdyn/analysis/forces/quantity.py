"""What a range is asked for: one reaction, the sum of several, or any linear combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, vector
from ...errors import InputError
from .allowed import PARTS, Allowed

TURNING = ("tilt", "turn", "cross", "angle", "R1", "R2")
Quantity = str | Mapping[str, float] | ArrayLike


def combination(found: Allowed, of: Quantity) -> tuple[str, Array]:
    """Return the label and the factors of a quantity, shape (R,).

    Parameters
    ----------
    found : Allowed
    of : str, mapping or array_like
        The name of a reaction ("table.leg0/floor.T1"); of a constraint (its normal force); a word that stands in the
        ids of contacts, with a part or without ("floor", "leg3.T2"): the sum over them; factors by name; factors of
        all reactions in the order of their names.

    Raises
    ------
    InputError
        Nothing of that name (what is near is offered), a joint of several rows without saying which, a vector of the
        wrong length.
    """
    if isinstance(of, str):
        chosen = _named(found, of)
        label = of if len(chosen) == 1 else f"sum of {len(chosen)} reactions {of}"
        return (found.names[chosen[0]] if len(chosen) == 1 else label), _ones(found, chosen)
    if isinstance(of, Mapping):
        factors = np.zeros(len(found.names))
        for name, factor in of.items():
            factors += float(factor) * _ones(found, _named(found, name))
        return " + ".join(f"{factor:g} {name}" for name, factor in of.items()), factors
    given = np.shape(of)
    if given != (len(found.names),):
        mend = (
            f"In this order: {', '.join(found.names[:6])}{', ..' if len(found.names) > 6 else ''}: "
            f"of=numpy.ones({len(found.names)})."
        )
        raise InputError("of", f"shape {given}", f"one factor per reaction, {len(found.names)}", mend)
    return "a combination", vector("of", of)


def _ones(found: Allowed, chosen: Sequence[int]) -> Array:
    factors = np.zeros(len(found.names))
    factors[list(chosen)] = 1.0
    return factors


def _named(found: Allowed, text: str) -> list[int]:
    """Return the places of the reactions that a text means."""
    if text in found.names:
        return [found.names.index(text)]
    word, dot, part = text.rpartition(".")
    if not dot or part not in PARTS:
        word, part = text, ""
    ids = _constraints(found, word)
    chosen = _components(found, ids, part or "N")
    if chosen:
        return chosen
    joints = [name for id in ids for name in found.names[found.rows[id]]]
    if len(joints) == 1:
        return [found.names.index(joints[0])]
    allowed = "a reaction, a constraint, or a word in the ids of contacts"
    raise InputError("of", repr(text), allowed, _near(found, text, joints))


def _constraints(found: Allowed, word: str) -> list[str]:
    """Return the id that is a word, or all those in which it stands."""
    if word in found.rows:
        return [word]
    return [id for id in found.rows if word and word in id]


def _components(found: Allowed, ids: Sequence[str], part: str) -> list[int]:
    """Return the places of one component ("N", "T1", ..) of those constraints that have it."""
    chosen = []
    for id in ids:
        places = found.rows[id]
        names = found.names[places]
        if f"{id}.{part}" in names:
            chosen.append(places.start + names.index(f"{id}.{part}"))
    return chosen


def _near(found: Allowed, text: str, joints: Sequence[str]) -> str:
    if joints:
        return f"Choose one of {', '.join(joints[:8])}."
    if not found.names:
        return "No constraint acts at this state."
    close = get_close_matches(text, found.names, n=3, cutoff=0.3) or list(found.names[:6])
    return f"There are {', '.join(close)}{' and others' if len(found.names) > len(close) else ''}."


def unit_of(found: Allowed, factors: Array, unit: str) -> str:
    """Return the unit of a quantity, with the unit of forces given: of rows that turn it is that of a torque."""
    used = [name for name, factor in zip(found.names, factors, strict=True) if factor]
    last = [name.replace(":", ".").rpartition(".")[2] for name in used]
    turning = [one == "S" or any(word in one for word in TURNING) for one in last]
    return unit.replace("N", "N m", 1) if used and all(turning) else unit
