"""Forces along the free coordinate of a joint, in the plane and in space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, scalar
from ..names import check_name
from .equation import Equation

Free = Callable[..., Equation]  # (joint, target) -> its coordinate


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A force along the coordinate x of a hinge or slider: effort - stiffness (x - target) - damping (x' - rate).

    A torsional spring or damper, a drive with a given moment, or a proportional-derivative one. The angle of a hinge is
    taken within half a turn of `target`: a spring wound up further than that snaps over.

    Parameters
    ----------
    joint : str
    effort : float
        N m or N.
    stiffness, damping : float
        N m/rad or N/m, N m s or N s/m; >= 0.
    target, rate : float
        rad or m, rad/s or m/s.

    Raises
    ------
    InputError
        A negative stiffness or damping, NaN.
    """

    joint: str
    effort: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    target: float = 0.0
    rate: float = 0.0

    def __post_init__(self) -> None:
        check_name("joint of a drive", self.joint)
        check_sizes(self, f"the drive of {self.joint}", "stiffness", "damping")
        for name in ("effort", "target", "rate"):
            object.__setattr__(self, name, scalar(f"{name} of the drive of {self.joint}", getattr(self, name)))

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints it acts on."""
        return (self.joint,)

    def force(self, motion: object, free: Free) -> Array:
        """Return its generalised force, shape (nv,)."""
        x = free(self.joint, self.target)
        return np.asarray(self._along(x) * x.J)

    def along(self, free: Free) -> float:
        """Return the moment (N m) or force (N) along the coordinate."""
        return self._along(free(self.joint, self.target))

    def gradient(self, motion: object, free: Free) -> Array:
        """Return its derivative with respect to v, shape (nv, nv)."""
        x = free(self.joint, self.target)
        return np.outer(-self.damping * x.J, x.J)

    def potential(self, motion: object, free: Free) -> float:
        """Return stiffness (x - target)^2 / 2, J."""
        return 0.5 * self.stiffness * (free(self.joint, self.target).value - self.target) ** 2

    def power(self, motion: object, free: Free) -> float:
        """Return the power of all but the spring, W."""
        x = free(self.joint, self.target)
        return self._supplied(x) * x.rate

    def _along(self, x: Equation) -> float:
        return self._supplied(x) - self.stiffness * (x.value - self.target)

    def _supplied(self, x: Equation) -> float:
        return self.effort - self.damping * (x.rate - self.rate)


def check_sizes(force: object, where: str, *names: str) -> None:
    """Store these numbers as floats; raise InputError if one is negative."""
    for name in names:
        object.__setattr__(force, name, scalar(f"{name} of {where}", getattr(force, name), low=0.0))
