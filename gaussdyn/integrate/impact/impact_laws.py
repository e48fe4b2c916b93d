"""Impact laws as frozen values: Newton, Moreau, Poisson, and any of them one contact after the other.

Mechanics does not decide what happens at an impact of several contacts, or with friction: a law does. Each of these
solves velocity problems of `problem` and no others, so that they differ in their law alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from ...arrays import Array, scalar
from ...contact.resolve import NO_MOTION
from ...contact.snapshot import LocalDynamics
from ...errors import InputError
from ...mechanics.rows import Row
from ...mends import one_of
from .problem import Phase, Struck, approaching
from .restitution_scaling import GAIN, largest_share

TRIALS = 60  # fractions of the restitution, at most


class ImpactLaw(Protocol):
    """A frozen value that takes the velocity before an impact to the one after it."""

    name: ClassVar[str]

    def strike(self, struck: Struck, v: Array) -> tuple[Phase, ...]:
        """Return the velocity problems solved, in order; the last one ends with the velocity after the impact."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Newton:
    """Newton's law u_N+ >= -e u_N-, with Coulomb friction of the impulses against the slip after the impact.

    All closed contacts at once; a contact whose neighbours push it off may open faster. With friction and e > 0 it can
    gain energy (Kane and Levinson 1985), because the normal restitution is kept whatever the tangential impulse does.

    Parameters
    ----------
    eps_n : float, optional
        e in [0, 1] of all contacts; default: that of each row.
    """

    eps_n: float | None = None
    name: ClassVar[str] = "newton"

    def __post_init__(self) -> None:
        _coefficient(self, "eps_n")

    def strike(self, struck: Struck, v: Array) -> tuple[Phase, ...]:
        """Return the one velocity problem solved."""
        return (struck.phase("impact", struck.dynamics(v, self.eps_n, 0.0)),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moreau:
    """Moreau's law: u+ + e u- obeys the contact law, normal and tangential, at all closed contacts at once.

    With one e for everything the change of energy is p . (u+ + e u-) / (1 + e) - (1 - e) / (1 + e) p . W p / 2 <= 0, if
    no contact that takes part separates before the impact. Otherwise, and with coefficients that differ, it may be a
    gain; then the largest fraction of all restitution is kept for which it is none, as in time stepping. The same where
    no velocity at all obeys the law, as for a body that rebounds in a slot that fits: as much as there is room for.
    Source: Moreau (1988), Unilateral contact and dry friction in finite freedom dynamics.

    Parameters
    ----------
    eps : float, optional
        e in [0, 1], normal and tangential, of all contacts; default: eps_n and eps_t of each row, as time stepping
        takes them.
    """

    eps: float | None = None
    name: ClassVar[str] = "moreau"

    def __post_init__(self) -> None:
        _coefficient(self, "eps")

    def strike(self, struck: Struck, v: Array) -> tuple[Phase, ...]:
        """Return the one velocity problem solved, with the restitution that has a solution and gains no energy."""
        tried: dict[float, Phase] = {}
        if struck.share is not None:
            return (self._with_share(struck, v, struck.share),)

        def gain_with(share: float) -> float:
            """Return what the impact gains with a fraction of the restitution."""
            tried[share] = found = self._with_share(struck, v, share)
            return found.gain if found.solution.solved else math.nan

        high = gain_with(1.0)
        too_much = high > GAIN or tried[1.0].solution.status in NO_MOTION
        return (tried[largest_share(gain_with, high, close=0.0, trials=TRIALS) if too_much else 1.0],)

    def _with_share(self, struck: Struck, v: Array, share: float) -> Phase:
        """Return the velocity problem with a fraction of the restitution."""
        return replace(struck.phase("impact", struck.dynamics(v, self.eps, self.eps, share)), kept=share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Poisson:
    """Poisson's law in two phases: compression without restitution, then expansion with at least e times its impulse.

    In the expansion 0 <= u_N+, 0 <= p_N - e p_N of the compression, one of them zero, and Coulomb friction on the whole
    of p_N. It is the contact itself with friction on what exceeds e p_N, and dry friction of the given cap on the rest:
    the two discs of friction add up to the one of the whole. With one e the change of energy is at most
    -(1 - e^2) p_C . W p_C / 2 - (p_E - e p_C) . W (p_E - e p_C) / 2, whatever the friction. Source: Glocker and
    Pfeiffer (1995), Multiple impacts with friction in rigid multibody systems, without their tangential restitution.

    Parameters
    ----------
    eps_n : float, optional
        e in [0, 1] of all contacts; default: that of each row.
    """

    eps_n: float | None = None
    name: ClassVar[str] = "poisson"

    def __post_init__(self) -> None:
        _coefficient(self, "eps_n")

    def strike(self, struck: Struck, v: Array) -> tuple[Phase, ...]:
        """Return compression and expansion."""
        return self.expand(struck, struck.phase("compression", struck.dynamics(v, 0.0, 0.0)))

    def expand(self, struck: Struck, compression: Phase) -> tuple[Phase, ...]:
        """Return a compression and the expansion that follows it, if it gives anything back."""
        restored = self._restored(struck, compression) if compression.solution.solved else {}
        if not restored:
            return (compression,)
        expansion = self._expansion(struck, compression.v, restored)
        return compression, _merged(struck.phase("expansion", expansion, restored, compression.v))

    def _restored(self, struck: Struck, compression: Phase) -> dict[str, Array]:
        """Return e times the normal impulses of the compression, as impulses of all components, by id."""
        found = {}
        for row in struck.dynamics(compression.v, self.eps_n, 0.0).rows:
            p = compression.impulses.get(row.id)
            if row.id in struck.closed and p is not None and row.eps_n * p[0] > 0.0:
                found[row.id] = np.concatenate([[row.eps_n * p[0]], np.zeros(row.size - 1)])
        return found

    def _expansion(self, struck: Struck, v: Array, restored: Mapping[str, Array]) -> LocalDynamics:
        """Return the velocity problem that contains the restored impulses and the friction on them.

        Caps of dry friction are forces, so that the problem lasts one second in which no other force acts.
        """
        dynamics = struck.dynamics(v, 0.0, 0.0)
        h, rows = dynamics.h.copy(), []
        for row in dynamics.rows:
            rows.append(_without_duration(row))
            if row.id in restored:
                h += row.J.T @ restored[row.id]
                rows += _on_restored(row, float(restored[row.id][0]))
        return replace(dynamics, h=h, rows=tuple(rows), dt=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneByOne:
    """A law at one contact at a time, the fastest approaching first, until none approaches.

    What is not struck is free to move meanwhile, so that contacts act one after the other like bodies a little apart:
    Newton's cradle lets only its last ball go. Where contacts hit each other without end the impact is not finished.

    Parameters
    ----------
    law : Newton, Moreau or Poisson
    most : int
        Largest number of single impacts.
    """

    law: ImpactLaw = field(default_factory=Newton)
    most: int = 1000
    name: ClassVar[str] = "one_by_one"

    def __post_init__(self) -> None:
        if not isinstance(self.law, (Newton, Moreau, Poisson)):
            raise InputError("law", repr(self.law), "Newton(), Moreau() or Poisson()", "Write law=Newton().")
        if isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < 1:
            raise InputError("most", repr(self.most), "an integer >= 1", "Write most=100.")

    def strike(self, struck: Struck, v: Array) -> tuple[Phase, ...]:
        """Return all single impacts."""
        found: list[Phase] = []
        while len(found) < self.most:
            speeds = approaching(struck.rows(v), struck.closed, struck.activation)
            if not speeds and found:
                break
            first = max(speeds, key=lambda key: (speeds[key], key)) if speeds else ""
            phases = self.law.strike(struck.only({first} - {""}), v)
            found += [replace(phase, name=f"{phase.name} at {first}") if first else phase for phase in phases]
            v = found[-1].v
            if not found[-1].solution.solved:
                break
        return tuple(found)


LAWS: dict[str, type[ImpactLaw]] = {law.name: law for law in (Newton, Moreau, Poisson, OneByOne)}
FRICTION, MOMENT = " (friction of the expansion)", " (moment of friction of the expansion)"


def _coefficient(law: object, name: str) -> None:
    value = getattr(law, name)
    if value is not None:
        object.__setattr__(law, name, scalar(name, value, low=0.0, high=1.0))


def _without_duration(row: Row) -> Row:
    """Return a row whose forces that are bounded do nothing in an impact."""
    if row.kind == "dry":
        return row.but(cap=0.0, cap_s=0.0)
    return row.but(drift=np.zeros(row.size)) if row.level == "acceleration" else row


def _on_restored(row: Row, p: float) -> list[Row]:
    """Return the dry friction on a restored normal impulse, N s."""
    found = []
    moments = [(MOMENT, take, mu, mu) for take, mu in row.moments[:1]]
    for name, take, mu, mu_s in ((FRICTION, slice(1, 3), row.mu, row.mu_s), *moments):
        if row.kind == "contact" and mu_s > 0.0 and len(row.rate[take]):
            J, rate, drift = row.J[take], row.rate[take], row.drift[take]
            found.append(Row(id=row.id + name, kind="dry", J=J, rate=rate, drift=drift, cap=mu * p, cap_s=mu_s * p))
    return found


def _merged(phase: Phase) -> Phase:
    """Return a phase with the friction on restored impulses counted to its contact."""
    impulses, works = dict(phase.impulses), dict(phase.works)
    for key in list(impulses):
        for name, first in ((FRICTION, 1), (MOMENT, 3)):
            if key.endswith(name):
                own, p = key.removesuffix(name), impulses.pop(key)
                impulses[own] = impulses.get(own, np.zeros(first + len(p))).copy()
                impulses[own][first : first + len(p)] += p
                works[own] = works.get(own, 0.0) + works.pop(key)
    return replace(phase, impulses=impulses, works=works)


def law_document(law: ImpactLaw) -> dict[str, Any]:
    """Return an impact law as plain data, ready for JSON."""
    values = {one.name: getattr(law, one.name) for one in fields(law)}  # type: ignore[arg-type]
    plain = {key: law_document(value) if hasattr(value, "strike") else value for key, value in values.items()}
    return {"name": law.name, **plain}


def law_of(document: Mapping[str, Any]) -> ImpactLaw:
    """Return the impact law that `law_document` wrote.

    Raises
    ------
    InputError
        An unknown name.
    """
    values = {key: law_of(value) if isinstance(value, Mapping) else value for key, value in document.items()}
    name = str(values.pop("name", ""))
    if name not in LAWS:
        raise InputError("impact", repr(name), ", ".join(LAWS), one_of("impact", name, LAWS))
    return LAWS[name](**values)
