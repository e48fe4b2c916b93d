"""Census of one contact in space: how many motions it has from rest, over all directions of the load.

The number does not depend on the size of the load, so a picture over its direction is complete: azimuth along the
plane, inclination to it (-90 degrees: straight into the plane). Cells in which rounding could decide are counted
exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array, IntArray, matrix, scalar
from ...contact.outcome.one_spatial_contact import body_contact
from ...errors import InputError
from ...integrate.run.interrupts import interruptible
from ...linalg.rational import rationals, sensible
from ...mechanics.spatial.body_file import ExactSpatialBody
from ...programs.spatial.contact import SpatialContact
from ...programs.spatial.counting import count_spatial
from ...programs.spatial.one_contact import motions

LARGEST_MU = 1e100  # its powers are doubles still
MOST_EXACT = 2000  # cells that are counted one by one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Census:
    """Number of motions over load directions.

    Attributes
    ----------
    azimuth, inclination : Array, shapes (k,), (l,)
        Centres of the cells, degrees.
    detach, stick : bool array, shape (l, k)
    slips : int array, shape (l, k)
    exact : int
        Cells that were counted exactly because rounding could decide.
    undecided : int
        Cells left at their count in doubles although rounding could decide.
    W : Array, shape (3, 3)
    mu, mu_s : float
    """

    azimuth: Array
    inclination: Array
    detach: Array
    stick: Array
    slips: Any
    exact: int
    undecided: int
    W: Array
    mu: float
    mu_s: float

    __repr__ = brief

    @property
    def total(self) -> IntArray:
        """Number of motions of every cell."""
        return np.asarray(self.detach.astype(int) + self.stick + self.slips)

    def shares(self) -> dict[str, float]:
        """Return the share of the sphere of load directions by motions, e.g. "S++" (cells weigh by their area)."""
        weight = np.repeat(np.cos(np.radians(self.inclination))[:, None], len(self.azimuth), axis=1)
        names = np.char.add(np.where(self.detach, "D", ""), np.where(self.stick, "S", ""))
        names = np.char.add(names, np.array(["", "+", "++", "+++", "++++"])[self.slips])
        return {str(name): float(weight[names == name].sum() / weight.sum()) for name in np.unique(names)}


def loads(azimuth: Array, inclination: Array) -> Array:
    """Return unit loads (n, t1, t2), shape (len(inclination), len(azimuth), 3)."""
    a, i = np.radians(azimuth)[None, :], np.radians(inclination)[:, None]
    parts = np.broadcast_arrays(np.sin(i), np.cos(i) * np.cos(a), np.cos(i) * np.sin(a))
    return np.ascontiguousarray(np.stack(parts, axis=2))


@interruptible
def census(
    body: ExactSpatialBody | Array, *, mu: float | None = None, mu_s: float | None = None, cells: int = 360
) -> Census:
    """Count the motions of a contact at rest for all directions of q, the acceleration without reaction.

    Parameters
    ----------
    body : ExactSpatialBody, or W as an array of shape (3, 3) with rows (n, t1, t2)
        Its own load is not used.
    mu, mu_s : float, optional
        Default those of the body; with W, mu is needed and mu_s defaults to it.
    cells : int
        Along the azimuth; half as many along the inclination.

    Raises
    ------
    InputError
        A wrong shape, NaN, mu < 0, mu_s < mu, fewer than 4 cells, numbers above 1e100 or (not zero) below 1e-100.
    """
    if cells != int(cells) or cells < 4:
        raise InputError("cells", repr(cells), "an integer >= 4", "Write cells=16.")
    if isinstance(body, ExactSpatialBody):
        contact = body_contact(body)
        sensible("W", contact.W)  # of which doubles are made
        W = np.array([[float(x) for x in row] for row in contact.W])
        mu_s = float(body.mu_s) if mu is None and mu_s is None else mu_s
        mu = float(body.mu) if mu is None else mu
    else:
        W = matrix("W", body, 3, 3)
        sensible("W", W.tolist())
    mu = scalar("mu", mu, low=0.0, high=LARGEST_MU)
    mu_s = mu if mu_s is None else scalar("mu_s", mu_s, low=mu, high=LARGEST_MU)
    azimuth = (np.arange(cells) + 0.5) * 360.0 / cells - 180.0
    inclination = (np.arange(cells // 2) + 0.5) * 180.0 / (cells // 2) - 90.0
    return _counted(W, mu, mu_s, azimuth, inclination)


def _counted(W: Array, mu: float, mu_s: float, azimuth: Array, inclination: Array) -> Census:
    """Count all directions by kernels, and those near a border of counts again with exact arithmetic."""
    shape = (len(inclination), len(azimuth))
    q = loads(azimuth, inclination).reshape(-1, 3)
    found = count_spatial(np.broadcast_to(W, (len(q), 3, 3)), q, mu, mu_s)
    detach, stick, slips = found.detach.copy(), found.stick.copy(), found.slips.copy()
    near, exact = np.flatnonzero(found.near), 0
    for k in near[:MOST_EXACT]:
        one = motions(_contact(W, q[k], mu, mu_s))
        if not one.undecided and not one.arcs:
            letters = [m.letter for m in one.motions]
            detach[k], stick[k], slips[k] = "D" in letters, "S" in letters, letters.count("+")
            exact += 1
    return Census(
        azimuth=azimuth, inclination=inclination, detach=detach.reshape(shape), stick=stick.reshape(shape),
        slips=slips.reshape(shape), exact=exact, undecided=len(near) - exact, W=W, mu=mu, mu_s=mu_s,
    )  # fmt: skip


def _contact(W: Array, q: Array, mu: float, mu_s: float) -> SpatialContact:
    rows = tuple(tuple(rationals(row)) for row in W.tolist())
    return SpatialContact(W=rows, q=tuple(rationals(q.tolist())), mu=Fraction(mu), mu_s=Fraction(mu_s))
