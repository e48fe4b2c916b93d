"""Proofs that a run carries: one for every stretch in which its acceleration does not exist or is not unique."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..._show import brief
from ...errors import InputError
from ...mechanics.state import State
from ...mechanics.system import System
from ..stepper import Control
from .uniqueness_checks import NOT_EXAMINED, accelerating
from .values import NOT_UNIQUE

if TYPE_CHECKING:
    from ...contact.outcome.verdicts import Outcome
    from ...programs.proof.certificates import Certificate

NONE = "NONE"
PROVED = (NONE, *NOT_UNIQUE)
MOST = 100  # proofs of one run
LEAVES = 5000  # of a tree of modes that is proved


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A certificate and the time that it speaks of.

    Attributes
    ----------
    t : float
        s.
    outcome : str
        NONE, MULTIPLE or CONTINUUM.
    document : str
        The certificate as JSON, which the stand-alone checkers read.
    """

    t: float
    outcome: str
    document: str

    __repr__ = brief

    @property
    def certificate(self) -> Certificate:
        """The certificate as a value."""
        from ...programs.proof.certificates import Certificate

        return Certificate(document=json.loads(self.document))

    def verify(self) -> bool:
        """Whether the checker accepts the certificate."""
        return self.certificate.verify()

    def save(self, path: str | Path) -> Path:
        """Write the certificate to a file and return its path."""
        return self.certificate.save(path)


@dataclass(slots=True, kw_only=True)
class Proofs:
    """The proofs of a run under way.

    Attributes
    ----------
    found : list of Proof
        Since the recorder forgot.
    last : (float, str)
        Time and outcome of the last one.
    label : str
        What was found at the last state that was looked at.
    count : int
        Of all proofs so far.
    """

    found: list[Proof] = field(default_factory=list)
    last: tuple[float, str] | None = None
    label: str = NOT_EXAMINED
    count: int = 0

    def see(self, system: System, state: State, control: Control | None, label: str) -> None:
        """Prove what was found at a state, where a stretch of it begins."""
        if label in PROVED and label != self.label and self.count < MOST:
            said = _outcome(system, state, control)
            if said is not None and str(said.verdict) == label:
                self.add(state.t, label, said.certificate)
        self.label = label

    def add(self, t: float, outcome: str, certificate: Certificate | None) -> None:
        """Enter a proof, unless there is one of this state."""
        if certificate is None or self.last == (t, outcome) or self.count >= MOST:
            return
        self.found.append(Proof(t=t, outcome=outcome, document=certificate.to_json()))
        self.last, self.count = (t, outcome), self.count + 1

    def go_on(self, earlier: tuple[Proof, ...], label: str) -> None:
        """Go on after the proofs of an earlier run, at the end of which this was found."""
        self.found, self.count, self.label = [], len(earlier), label
        self.last = (earlier[-1].t, earlier[-1].outcome) if earlier else None


def _outcome(system: System, state: State, control: Control | None) -> Outcome | None:
    """Return the outcome of a state with its proof; None where it is not enumerated."""
    from ...contact.outcome.outcome import outcome

    try:
        return outcome(accelerating(system, state, control), limit=LEAVES)
    except InputError:
        return None
