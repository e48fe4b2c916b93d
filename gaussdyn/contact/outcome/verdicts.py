"""The outcome of a problem: how many motions there are, which, and the proof."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from ..._html import card
from ..._show import fitted, names, short
from ...linalg.rational import text
from ...programs.enumeration.enumerate import Component
from ...programs.proof.certificates import Certificate


class Verdict(StrEnum):
    """How many solutions there are."""

    UNIQUE = "UNIQUE"
    MULTIPLE = "MULTIPLE"
    CONTINUUM = "CONTINUUM"
    NONE = "NONE"
    UNDECIDED = "UNDECIDED"
    NOT_EXAMINED = "NOT_EXAMINED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a problem, with its solutions and its proof.

    Attributes
    ----------
    verdict : Verdict
    count : int or None
        Number of solutions; of connected components, if any of them is not a point; None if not known.
    level : str
        acceleration, velocity or lcp.
    exact : bool
        Whether every step was proved in exact arithmetic.
    components : tuple of Component or SpatialComponent
        Solutions, grouped by the primary unknown.
    certificate : Certificate or None
    reason : str
        What is special: degenerate data, stick priority, why undecided.
    remains : tuple of str
        Combinations of modes that are not decided, and why; `components` holds what was found beside them.
    """

    verdict: Verdict
    count: int | None = None
    level: str = "acceleration"
    exact: bool = True
    components: tuple[Component | Any, ...] = ()
    certificate: Certificate | None = None
    reason: str = ""
    remains: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the verdict, the modes of the solutions, and whether it is proved."""
        modes = [" ".join(mode or "-" for mode in getattr(one, "modes", ())) for one in self.components]
        proved = "exact" if self.exact else "numerical"
        parts = [str(self.verdict), f"count={self.count}", f"level={self.level}", proved]
        parts += [f"modes: {names(modes)}"] if modes else []
        parts += [f"certificate={self.certificate!r}"] if self.certificate is not None else []
        parts += [f"reason={self.reason!r}"] if self.reason else []
        return fitted("Outcome", [*parts, *([f"remains: {names(self.remains)}"] if self.remains else [])])

    def _repr_html_(self) -> str:
        """Return a card for notebooks: the verdict, what it means, the modes of all solutions, the proof."""
        rows = {
            f"solution {k + 1}": " ".join(mode or "–" for mode in getattr(one, "modes", ())) or short(one)
            for k, one in enumerate(self.components)
        }
        rows |= {"level": f"{self.level}, {'exact' if self.exact else 'numerical'}"}
        rows |= {"proof": self.certificate.explain()} if self.certificate is not None else {}
        return card("Outcome", self.explain(), rows, kind="good" if self.verdict is Verdict.UNIQUE else "plain")

    def explain(self) -> str:
        """Return the outcome in words, and what to do about it."""
        said = f"{self.verdict}: {(LCP_ADVICE if self.level == 'lcp' else ADVICE)[self.verdict]}"
        return said + (f" ({self.reason})" if self.reason else "")

    def solutions(self) -> list[dict[str, Any]]:
        """Return the solutions as the file formats describe them."""
        return [
            _solution(component) if isinstance(component, Component) else component.document()
            for component in self.components
        ]


ADVICE = {
    Verdict.UNIQUE: "exactly one motion obeys the laws.",
    Verdict.MULTIPLE: "several motions obey the laws; a run must choose (on_multiple), or the model needs compliance.",
    Verdict.CONTINUUM: "a continuum of motions obeys the laws; a run must choose, or the model needs compliance.",
    Verdict.NONE: "no motion obeys the laws; at this state the rigid model needs an impact or compliance.",
    Verdict.UNDECIDED: "neither a complete list nor a proof that there is none.",
    Verdict.NOT_EXAMINED: "this state was not examined.",
}
LCP_ADVICE = {
    **ADVICE,
    Verdict.UNIQUE: "exactly one z solves the LCP.",
    Verdict.MULTIPLE: "several z solve the LCP.",
    Verdict.CONTINUUM: "a continuum of z solves the LCP.",
    Verdict.NONE: "no z solves the LCP.",
}


def _solution(component: Component) -> dict[str, Any]:
    point = component.point
    faces = [] if point is not None else [
        {"mode": mode, "vertices": [list(map(_double, v)) for v in hull.vertices],
         "rays": [list(map(_double, r)) for r in hull.rays]}
        for mode, hull in zip(component.modes, component.hulls, strict=True)
    ]  # fmt: skip
    return {
        "modes": list(component.modes),
        "point": None if point is None else [_double(x) for x in point],
        "point_exact": None if point is None else text(point),
        "faces": faces,
        "force_unique": component.forces_unique,
    }


def _double(x: Fraction) -> float | str:
    """Return the nearest double; "inf" or "-inf" beyond the largest."""
    try:
        return float(x)
    except OverflowError:
        return "inf" if x > 0 else "-inf"
