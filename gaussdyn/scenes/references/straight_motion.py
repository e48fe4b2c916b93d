"""Motion along a line under forces that are constant but for the direction of friction, in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from ...mechanics.scene import Exact
from ..measures.first_state import TIE
from ..measures.measures import check, last


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What the laws allow on a line.

    Attributes
    ----------
    slides : callable
        Sign of the velocity -> all accelerations that obey the laws, m/s^2.
    rests : callable
        All accelerations that obey the laws from rest; 0 is rest.
    """

    slides: Callable[[float], list[float]]
    rests: Callable[[], list[float]]

    def count(self, v: float) -> int:
        """Return the number of accelerations at velocity v."""
        return len(self.slides(math.copysign(1.0, v)) if v else self.rests())

    def travel(self, v: float, t: float) -> Travel | None:
        """Return the motion over t (s) from velocity v (m/s); None where it is not unique.

        Where no acceleration obeys the laws while it slides, it stops at once, by an impulse.
        """
        x, jolts, begin = 0.0, 0.0, t
        for _ in range(4):
            found = self.slides(math.copysign(1.0, v)) if v else self.rests()
            if len(found) > 1 or not (found or v):
                return None
            if not found:
                v, jolts = 0.0, jolts + abs(v)
                continue
            w = found[0]
            if v == 0.0 and w and self.slides(math.copysign(1.0, w)) != [w]:
                return None
            if w * v >= 0.0 or -v / w >= t:
                return Travel(x=x + v * t + w * t * t / 2, v=v + w * t, jolts=jolts + (abs(w) if t < begin else 0.0))
            stop, jolts = -v / w, jolts + abs(w)
            x, v, t = x + v * stop / 2, 0.0, t - stop
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Travel:
    """Where it is at the end (m), how fast (m/s), and what bounds the error of time stepping.

    Attributes
    ----------
    x, v : float
    jolts : float
        Sum of the accelerations (m/s^2) and speeds (m/s) that change within a step.
    """

    x: float
    v: float
    jolts: float = field(default=0.0)

    def errors(self, dt: float, t: float) -> tuple[float, float]:
        """Bound the errors of time stepping, m and m/s: it is exact, but for the steps in which it stops or starts."""
        v_error = self.jolts * dt if self.v else 0.0
        return 1e-9 + 2.0 * self.jolts * dt * dt + self.jolts * dt * (1.0 if self.v == 0.0 else t + 1.0), 1e-9 + v_error


def end_checks(
    line: Line, v0: float, margin: float, span: tuple[int, float], columns: tuple[str, str]
) -> tuple[Exact, ...]:  # fmt: skip
    """Return the checks of place and velocity at the end, if the motion is unique all the way.

    Nothing is promised where the `margin` to a change of the number of motions vanishes; `span` is (steps, dt).
    """
    steps, dt = span
    end = line.travel(v0, steps * dt) if margin > TIE else None
    if end is None:
        return ()
    x_error, v_error = end.errors(dt, steps * dt)
    return (
        check("distance at the end", end.x, "m", last(columns[0]), moreau_jean=x_error),
        check("velocity at the end", end.v, "m/s", last(columns[1]), moreau_jean=v_error),
    )
