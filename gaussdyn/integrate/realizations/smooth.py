"""The equations of motion with bilateral constraints, index-reduced: no time stepping, no laws of contact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array, scalar
from ...errors import InputError
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ..stepper import Control, Rebuilt, Step
from .force_laws import Role
from .stepping import Accuracy, Realized


class Touched(InputError):
    """A contact closes, which the smooth equations of motion do not know."""


@dataclass(frozen=True, slots=True)
class HoldingLaw:
    """Bilateral rows hold; contacts and strings are watched: they must stay open."""

    def role(self, row: Row) -> Role:
        """Return rigid, or watched."""
        if row.bilateral and row.kind == "bilateral":
            return "rigid"
        if row.kind in ("unilateral", "contact") and row.level == "position":
            if row.gap < -1e-9:
                raise Touched(
                    row.id,
                    f"gap {row.gap:.3g}",
                    "open contacts",
                    "Write stepper=MoreauJean(): smooth knows no impacts.",
                )
            return "watched"
        mend = "Write stepper=MoreauJean(), or Penalty and Viscous, which have laws for it."
        raise InputError(
            row.id, f"a {row.kind} row on the {row.level}", "bilateral rows, contacts that stay open", mend
        )

    def springs(self, row: Row) -> int:
        """Return 0."""
        return 0

    def energy(self, row: Row, s: Array) -> float:
        """Return 0: nothing is stored where rows hold rigidly."""
        return 0.0

    def reaction(self, row: Row, s: Array, inertia: float) -> Array:
        """Return zero."""
        return np.zeros(row.size)

    def creep(self, row: Row, s: Array, r: Array, inertia: float) -> Array:
        """Return nothing."""
        return np.zeros(0)

    def mode(self, row: Row, s: Array, r: Array) -> str | None:
        """Return open for a contact."""
        return None if row.bilateral else "open"

    def slopes(self, row: Row, r: Array | None, inertia: float) -> tuple[Array, Array]:
        """Return zero."""
        return np.zeros(row.size), np.zeros(row.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Smooth:
    """M a = h + G^T lam with G a = -drift: the constraints differentiated, integrated by a method of order 8.

    What the integration lets constraints drift is put back at the end of every step (`project`), or drawn back on the
    way (`baumgarte` alpha: gap'' + 2 alpha gap' + alpha^2 gap = 0), or both. Redundant rows share their reaction in
    the shortest way. In minimal coordinates there are no rows, and this is the plain equation of motion. Contacts must
    stay open: the run stops where one closes.

    Parameters
    ----------
    project : bool
        Put constraints back at the end of every step, the least in the metric of the mass.
    baumgarte : float
        alpha, 1/s; 0 for none.
    dt : float
        Step, s: at its ends states are seen; within it the integration is adaptive.
    method, rtol, atol, max_steps
        See `Accuracy`.

    Raises
    ------
    InputError
        Numbers out of range, NaN, an unknown method.
    """

    project: bool = True
    baumgarte: float = 0.0
    dt: float = 1e-3
    method: str = "auto"
    rtol: float = 1e-12
    atol: float = 1e-13
    max_steps: int = 200_000
    name: ClassVar[str] = "smooth"

    def __post_init__(self) -> None:
        if not isinstance(self.project, bool):
            raise InputError("project", repr(self.project), "True or False", "Write project=True.")
        object.__setattr__(self, "baumgarte", scalar("baumgarte", self.baumgarte, low=0.0))
        object.__setattr__(self, "dt", scalar("dt", self.dt, low=0.0, open_low=True))
        self._accuracy()

    def advance(self, system: System, state: State, t_max: float, *, control: Control | None = None) -> Step:
        """Return one step of length dt, or shorter if it would pass `t_max`."""
        return self.realized().advance(system, state, t_max, control)

    def rebuild(self, system: System, start: State, state: State, dt: float, control: Array | None) -> Rebuilt:
        """Return the step from `start` again."""
        return self.realized().rebuild(system, start, state, dt, control)

    def check(self, system: System, state: State) -> None:
        """Raise InputError where a row is neither bilateral nor an open contact."""
        self.realized().check(system, state, "")

    def settings(self) -> dict[str, Any]:
        """Return name and settings, ready for JSON."""
        own = {key: getattr(self, key) for key in ("project", "baumgarte", "dt")}
        return {"name": self.name, **own, **self._accuracy().settings()}

    def realized(self) -> Realized:
        """Return the law and how it is integrated."""
        return Realized(
            name=self.name, law=HoldingLaw(), dt=self.dt, stiffness=0.0, accuracy=self._accuracy(),
            alpha=self.baumgarte, project=self.project,
        )  # fmt: skip

    def _accuracy(self) -> Accuracy:
        return Accuracy(method=self.method, rtol=self.rtol, atol=self.atol, max_steps=self.max_steps)
