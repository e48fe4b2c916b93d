"""Names and units of the columns of a run: general ones for every system, readable ones where bodies have names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...mechanics.joints.columns import Readings
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from .setup import WORKS, Outputs

LETTERS = {
    ("contact", 1): ("r_N",), ("contact", 2): ("r_N", "r_T"), ("contact", 3): ("r_N", "r_T1", "r_T2"),
    ("contact", 4): ("r_N", "r_T1", "r_T2", "r_S"), ("contact", 5): ("r_N", "r_T1", "r_T2", "r_R1", "r_R2"),
    ("contact", 6): ("r_N", "r_T1", "r_T2", "r_R1", "r_R2", "r_S"),
    ("unilateral", 1): ("r_N",), ("dry", 1): ("r_T",), ("dry", 2): ("r_T1", "r_T2"), ("bilateral", 1): ("r",),
}  # fmt: skip
ENERGIES = ("kinetic", "potential", "energy", *WORKS, "energy_error")
Heads = dict[str, tuple[str, str]]  # name -> (unit, other name or "")
Entry = tuple[str, str, str]  # general name, unit, readable name or ""


def component_names(row: Row) -> tuple[str, ...]:
    """Return the column suffix of every reaction component of a row."""
    kind = "contact" if row.kind == "bilateral_contact" else row.kind
    return LETTERS.get((kind, row.size)) or tuple(f"r_{k}" for k in range(row.size))


def readings_of(system: System) -> Readings | None:
    """Return what a system calls its numbers; None where it does not say."""
    ask = getattr(system, "readings", None)
    return None if ask is None else ask()


def heads_of(
    state: State, control: Array | None, named: Sequence[Row], outputs: Outputs, readings: Readings | None
) -> Heads:  # fmt: skip
    """Return the heads of all columns, in the order of `Recorder._values`.

    A readable name that an output has, or another column, is left to that one.

    Raises
    ------
    InputError
        An output with the name of another column.
    """
    heads: Heads = {}
    entries = list(_entries(state, control, named, readings))
    general = {name for name, _, _ in entries}
    for name, unit, readable in entries:
        shown = name if not readable or readable in outputs or readable in heads or readable in general else readable
        heads[shown] = unit, name if shown != name else ""
    twice = sorted(set(outputs) & (general | set(heads)))
    if twice:
        raise InputError(
            "columns",
            ", ".join(twice),
            "names that the trajectory does not use itself",
            f'Write columns={{"my_{twice[0]}": ...}}.',
        )
    return heads | {name: (unit, "") for name, (unit, _) in outputs.items()}


def _entries(
    state: State, control: Array | None, named: Sequence[Row], readings: Readings | None
) -> Iterator[Entry]:  # fmt: skip
    q, v, rows, more = (readings.q, readings.v, readings.rows, readings.more) if readings else ((), (), {}, ())
    yield "t", "s", ""
    yield from _coordinates("q", "SI", len(state.q), q)
    yield from _coordinates("v", "SI/s", len(state.v), v)
    yield from _coordinates("control", "SI", 0 if control is None else len(control), ())
    yield from ((name, "J", "") for name in ENERGIES)
    yield "E", "1", ""
    for row in named:
        plain = [(f"{row.id}.gap", "m" if row.level == "position" else "m/s")]
        plain += [(f"{row.id}.{name}", "N") for name in component_names(row)]
        better = rows.get(row.id) or [("", unit) for _, unit in plain]
        yield from ((name, unit, readable) for (name, _), (readable, unit) in zip(plain, better, strict=True))
    for name, unit in more:
        yield name, unit, name.replace(":", ".", 1)


def _coordinates(letter: str, unit: str, n: int, names: Sequence[tuple[str, str]]) -> Iterator[Entry]:
    """Yield the columns of n coordinates; `names` are readable ones with units, if there are any."""
    for k in range(n):
        readable, own = names[k] if names else ("", unit)
        yield f"{letter}{k}", own, readable


@dataclass(slots=True, eq=False)
class Winding:
    """Angles that are seen within half a turn only, followed through a run so that full turns count.

    Between two states the angle goes on by about the mean of the rates there: the turn nearest to that is taken.
    """

    readings: Readings
    angle: Array
    rate: Array = field(repr=False)

    @classmethod
    def start(cls, readings: Readings | None, state: State) -> Winding | None:
        """Begin at a state; None where nothing winds."""
        if readings is None or readings.angles is None or not readings.winding:
            return None
        return cls(readings, *readings.angles(state.q, state.v))

    def follow(self, q: Array, v: Array, dt: Array) -> list[Mapping[str, float]]:
        """Go on through the ends (n, nq) and (n, nv) of steps of lengths dt (s); return the angles there by joint."""
        found = list[Mapping[str, float]]()
        for angle, rate, h in (
            zip(*self.readings.angles(q, v), dt.tolist(), strict=True) if self.readings.angles else ()
        ):
            expected = self.angle + 0.5 * h * (self.rate + rate)
            self.angle, self.rate = angle + math.tau * np.round((expected - angle) / math.tau), rate
            found.append(self.by_joint())
        return found

    def go_on(self, state: State, angle: Sequence[float]) -> None:
        """Take the angles of an earlier run at its last state; one of an earlier version has none."""
        if self.readings.angles is not None:
            found, self.rate = self.readings.angles(state.q, state.v)
            self.angle = np.array(angle) if len(angle) == len(found) else found

    def by_joint(self) -> Mapping[str, float]:
        """Return the angles by name of the joint."""
        return dict(zip(self.readings.winding, self.angle.tolist(), strict=True))
