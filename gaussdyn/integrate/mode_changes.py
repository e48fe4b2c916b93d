"""What an event-driven run passes: the changes of modes, with the states before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..mechanics.state import State
from .contact_modes import Mode

if TYPE_CHECKING:
    from ..programs.proof.certificates import Certificate


ChangeKind = Literal[
    "impact", "touchdown", "lift_off", "handed_over", "taken_over", "stick", "slip", "reversal", "roll", "stop_roll",
    "turn", "accumulation", "none_passed_by_impact", "none_passed_by_compliance", "undecided", "user", "branch_point",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Change:
    """One event of one row.

    Attributes
    ----------
    t : float
        s.
    kind : ChangeKind
        impact (the velocity jumps), touchdown, lift_off, handed_over and taken_over (of a feature that ends, and of the
        one that pushes on in its place: an edge and its corner), stick, slip, reversal (of the slip), roll, stop_roll,
        turn (the normal reaction of a bilateral contact that slips changes its sign), accumulation (infinitely many
        impacts end here), none_passed_by_impact and none_passed_by_compliance (no
        acceleration existed, see `passage`), undecided (a gap came within 1e-12 m of zero: touch or not), user (a
        function of the user is zero), branch_point (branches of the configuration space meet).
    id : str
        The row, or the name that the user gave.
    before, after : State
        Differ where the velocity jumps.
    modes_before, modes_after : mapping of str to Mode
        Of all rows.
    certificate : Certificate or None
        That no acceleration existed, where that was passed.
    """

    t: float
    kind: ChangeKind
    id: str
    before: State
    after: State
    modes_before: Mapping[str, Mode] = field(default_factory=dict)
    modes_after: Mapping[str, Mode] = field(default_factory=dict)
    certificate: Certificate | None = None


def kind_of(before: Mode, after: Mode) -> ChangeKind | None:
    """Return what a change of the mode of one row is called, None where it is none."""
    if before.closed != after.closed:
        return "touchdown" if after.closed else "lift_off"
    if bool(before.slip) != bool(after.slip):
        return "slip" if after.slip else "stick"
    if len(before.slip) == 1 and before.slip != after.slip:
        return "reversal"
    if before.sign != after.sign:
        return "turn"
    if bool(before.roll) != bool(after.roll):
        return "roll" if after.roll else "stop_roll"
    return None
