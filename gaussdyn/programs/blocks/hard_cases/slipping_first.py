"""Friction that is stronger at rest: the problem without that, for a solution of it whose contacts slip is one, too.

A contact that sticks with more than its friction of slip must not slip at all. Where sticking contacts contradict each
other in their last digits (a face whose corners are not quite in one plane, with restitution along it) one of them
slips, however slowly, and its friction jumps: methods go to and fro between the two. Without the jump they do not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ....arrays import Array
from ...laws.laws import CAP, MU, MU_S, Coulomb, Dry
from ...work import Work
from ..block_method import BlockMethod
from ..interior_point.interior_point import InteriorPoint
from ..proximal_newton import ProximalNewton
from ..scaled import Scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class SlippingFirst(BlockMethod):
    """Newton's method with the friction of slip also at rest, from the best point and from zero, then interior points.

    Attributes
    ----------
    tol : float
        Residual E to reach.
    """

    tol: float = 1e-12
    name: ClassVar[str] = "proximal_newton"

    def improve(self, data: Scaled, r: Array, work: Work | None = None) -> tuple[Array, int]:
        """Return the best point, as the laws with their friction at rest judge it, and the Newton steps."""
        work = Work() if work is None else work
        P = data.P.copy()
        P[:, MU_S] = np.where(data.code == Dry.code, P[:, CAP], P[:, MU])
        if not (P[:, MU_S] < data.P[:, MU_S]).any():
            return r, 0
        lower, zero, steps, best, best_E = replace(data, P=P, form=None), np.zeros_like(r), 0, r, data.residual(r)
        newton = ProximalNewton(newton_steps=200, tol=self.tol)
        attempts: list[tuple[BlockMethod, Array]] = [(newton, r), (newton, zero)]
        if (data.code == Coulomb.code).all():
            attempts.append((InteriorPoint(tol=self.tol), zero))
        for method, start in attempts:
            x, taken = method.improve(lower, start, work)
            steps += taken
            if (E := data.residual(x)) < best_E:
                best, best_E = x, E
            if best_E <= self.tol:
                break
        return best, steps
