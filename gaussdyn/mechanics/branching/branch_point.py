"""How many branches of the configuration space meet at a configuration, and how.

Branches are found where they pierce small spheres of the kernel of J, at four radii; halves are joined to the smooth
branch that runs through. Tangents come from the second-order form sum n_i v^T phi_i'' v where it is not degenerate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..._show import brief, fitted, names, short
from ...arrays import Array, scalar
from ...errors import InputError
from .configuration_space import RANK, ConfigurationSpace, check_on
from .half_branches import on_circle, on_sphere, quadric_lines
from .lyapunov_schmidt import Reduction
from .pairing import Halves, cone_lines, joined

RADII = (1.0, 0.75, 0.5, 0.25)
SHRINKS = 9
MOST = 16
RADIUS = 0.1  # rad or m; halved until the picture no longer changes
DEGENERATE = 1e-7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Branch:
    """One smooth branch through a configuration, or one half of a cusp.

    Attributes
    ----------
    tangent : Array, shape (nv,)
        Unit vector; its largest component is positive.
    s : Array, shape (n,)
        Signed distance along the tangent of points on the branch.
    places : Array, shape (n, nq)
        Those points: they satisfy the constraints to rounding.
    second : Array, shape (nv,)
        Second derivative with respect to s of the part in ker J: how it bends away from the tangent.
    whole : bool
        False for a branch that ends here (half of a cusp).
    """

    tangent: Array
    s: Array
    places: Array
    second: Array
    whole: bool = True

    __repr__ = brief


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BranchPoint:
    """The configuration space at a configuration.

    Attributes
    ----------
    reduction : Reduction
        Rank, kernels and reduced equations.
    kind : str
        regular (a smooth manifold), redundant (the same, though rows depend on each other), isolated (no motion),
        crossing, tangency, cusp, several (of more than one kind), double (an equation that vanishes without changing
        sign), many (more may meet than `max_branches`, and only the one asked for was looked for), or surface (of
        dimension two and more, not analysed further).
    dimension : int
        Of the manifold, where it is one; of the branches else.
    order : int
        For a tangency the order of contact: n if the branches part like s^(n + 1); 0 for a crossing.
    forms : Array, shape (c, k, k)
        Matrices of n_i v^T phi'' v on ker J.
    branches : tuple of Branch
    radius : float
        Of the spheres that were searched.
    complete : bool
        Whether it is certain that no branch was missed.
    """

    reduction: Reduction
    kind: str
    dimension: int
    order: int
    forms: Array
    branches: tuple[Branch, ...]
    radius: float
    complete: bool

    def __repr__(self) -> str:
        """Return the kind, the branches, and where."""
        return fitted("BranchPoint", self.said())

    def said(self) -> list[str]:
        """Return what a person wants to know first, in short parts."""
        tangents = ", ".join(short(branch.tangent) for branch in self.branches)
        count = len(self.branches)
        many = f"{count} branch{'' if count == 1 else 'es'}" + (f" along {tangents}" if tangents else "")
        parts = [f"kind={self.kind!r}", many, f"dimension={self.dimension}", f"order={self.order}"]
        parts += [f"q={short(self.q)}", f"constraints={names(self.reduction.space.ids)}"]
        return [*parts, f"radius={self.radius:g}", f"complete={self.complete}"]

    @property
    def q(self) -> Array:
        """The configuration."""
        return self.reduction.q

    @property
    def singular(self) -> bool:
        """Whether it is no point of a smooth manifold."""
        return self.kind not in ("regular", "redundant")


def branch_point(
    space: ConfigurationSpace,
    q: Array,
    *,
    rank_tol: float = RANK,
    radius: float = RADIUS,
    max_branches: int = MOST,
    project: bool = False,
    tol: float = 1e-9,
    along: Array | None = None,
) -> BranchPoint:
    """Analyse the configuration space at q.

    Parameters
    ----------
    rank_tol : float
        Singular values of J below this, relative to the largest, count as zero.
    radius : float
        Largest distance at which branches are looked for, rad or m; halved as needed.
    max_branches : int
        Where so many independent equations lose rank that there may be more, only the branch `along` is looked for.
    project : bool
        Move q to the nearest configuration that obeys the constraints first.
    tol : float
        Largest violation (m, rad) that counts as none.
    along : Array, shape (nv,), optional
        A direction known to be a tangent, from a curve that comes this way.

    Raises
    ------
    InputError
        A violated constraint; a tolerance that cannot separate the singular values; more branches than allowed; no
        clear picture down to the smallest radius.
    """
    rank_tol = scalar("rank_tol", rank_tol, low=1e-14, high=1e-2)
    radius = scalar("radius", radius, low=0.0, open_low=True)
    if isinstance(max_branches, bool) or not isinstance(max_branches, int) or max_branches < 1:
        raise InputError("max_branches", max_branches, "an integer >= 1", "Write max_branches=16.")
    q = check_on(space, q, project=project, tol=scalar("tol", tol, low=0.0, open_low=True))
    red = Reduction.at(space, q, rank_tol)
    k, c = red.freedom, red.N.shape[1]
    if c == 0 or k == 0:
        kind = "regular" if c == 0 else "isolated"
        return _found(red, kind, dimension=k, radius=radius, forms=np.zeros((c, k, k)))
    forms = red.forms()
    for shrink in range(SHRINKS):
        try:
            seen = _picture(red, forms, radius * 0.5**shrink, max_branches, along)
        except _Blurred:
            continue
        return seen
    allowed = f"a configuration whose branches part within {radius * 0.5**SHRINKS:.1g}"
    raise InputError("radius", radius, allowed, f"Lengths may be far from 1 m: radius={0.1 * radius:g}.")


class _Blurred(Exception):
    """The branches differ from one radius to the next."""


def _found(red: Reduction, kind: str, **values: Any) -> BranchPoint:
    about: dict[str, Any] = {"order": 0, "branches": (), "complete": True, "dimension": 0}
    return BranchPoint(reduction=red, kind=kind, **(about | values))


def _picture(red: Reduction, forms: Array, radius: float, most: int, along: Array | None) -> BranchPoint:
    """Return what is seen within a radius."""
    k = red.freedom
    own = _equations(red, radius)
    about: dict[str, Any] = {"radius": radius, "forms": forms}
    c = own.shape[1]
    if c == 0:
        return _found(red, "redundant", dimension=k, **about)
    if k == 1:
        return _found(red, "isolated", **about)
    if c < k - 1:
        return _found(red, "surface", dimension=k - c, complete=False, **about)
    known = np.zeros((0, k)) if along is None else (along @ red.K / np.linalg.norm(along @ red.K))[None]
    many = k > 2 and len(known) > 0 and 2**c > most
    lines = known if many else _lines(own, forms, known)
    halves = _halves(red, own, lines, radius)
    if not len(halves.d):
        return _found(red, "isolated", complete=k == 2, **about)
    if len(halves.d) > 2 * most:
        given = f"{len(halves.d)} half-branches"
        raise InputError(
            "max_branches",
            most,
            f"at least {(len(halves.d) + 1) // 2} here: {given}",
            f"Write max_branches={(len(halves.d) + 1) // 2}.",
        )
    pairs, tangents = joined(halves, lines)
    branches = _sorted([_branch(red, halves, ends, t) for ends, t in zip(pairs, tangents, strict=True)])
    kind, order = ("many", 0) if many else _kind(red, forms, own, branches)
    complete = k == 2 or len(branches) == 2**c
    return _found(red, kind, dimension=1, order=order, branches=branches, complete=complete, **about)


def _lines(own: Array, forms: Array, known: Array) -> Array:
    """Return unit vectors along the lines of the tangent cone, shape (n, k)."""
    return cone_lines(forms, own) if forms.shape[1] == 2 else quadric_lines(np.tensordot(own.T, forms, axes=1), known)


def _equations(red: Reduction, radius: float) -> Array:
    """Return orthonormal combinations of the reduced equations, shape (c, e), that do not vanish by themselves."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(4 * red.freedom + 4, red.freedom))
    points *= radius / np.linalg.norm(points, axis=1)[:, None]
    values = _values(red, points)
    _, s, Vt = np.linalg.svd(values / math.sqrt(len(points)), full_matrices=False)
    return np.ascontiguousarray(Vt[s > 8.0 * red.noise()].T)


def _values(red: Reduction, points: Array) -> Array:
    try:
        return np.array([red.value(x) for x in points])
    except InputError:
        raise _Blurred from None


def _halves(red: Reduction, own: Array, lines: Array, radius: float) -> Halves:
    """Return the half-branches at four radii, the same ones in the same order at each."""
    mix = own if own.shape[1] == 1 else own @ _mixing(own.shape[1])
    noise, k = red.noise(), red.freedom

    def g(x: Array) -> Array:
        """Return the mixed equations at `x`."""
        return np.asarray(mix.T @ red.value(x))

    def both(x: Array) -> tuple[Array, Array]:
        """Return the mixed equations at `x` and their derivative."""
        value, slope = red.sloped(x)
        return mix.T @ value, mix.T @ slope

    try:
        around = (
            on_circle(g, r * radius, noise) if k == 2 else on_sphere(both, lines, r * radius, noise) for r in RADII
        )
        seen = list(around)
    except InputError:
        raise _Blurred from None
    if len({len(d) for d in seen}) > 1:
        raise _Blurred
    rows = [seen[0]]
    for d in seen[1:]:
        if len(d) == 0:
            break
        nearest = _matched(rows[-1], d)
        rows.append(d[nearest])
    d = np.array(rows)
    if len(seen[0]) and np.linalg.norm(d[0] - d[-1], axis=-1).max() > 0.25:
        raise _Blurred
    return Halves(radii=radius * np.array(RADII), d=np.swapaxes(d, 0, 1) if len(seen[0]) else np.zeros((0, 4, k)))


def _mixing(n: int) -> Array:
    """Return a fixed rotation: the first combination then vanishes only where all do, in general."""
    return np.asarray(np.linalg.qr(np.random.default_rng(2).normal(size=(n, n)))[0])


def _matched(one: Array, other: Array) -> list[int]:
    """Return for every direction of one radius the nearest of the next, each used once."""
    from scipy.optimize import linear_sum_assignment

    far = np.linalg.norm(one[:, None] - other[None], axis=-1)
    _, columns = linear_sum_assignment(far)
    return [int(j) for j in columns]


def _branch(red: Reduction, halves: Halves, ends: tuple[int, ...], tangent: Array) -> Branch:
    """Return the branch that two half-branches make (or one of them), its tangent of positive largest component."""
    along = red.K @ tangent
    sign = 1.0 if along[np.abs(along).argmax()] > 0 else -1.0
    x = np.concatenate([halves.radii[:, None] * halves.d[j] for j in ends])
    s = x @ (sign * tangent)
    order = np.argsort(s)
    x, s = x[order], s[order]
    rest = x - s[:, None] * (sign * tangent)[None]
    powers = s[:, None] ** np.arange(2, 6)[None]
    second = 2.0 * np.linalg.lstsq(powers, rest, rcond=None)[0][0]
    places = np.array([red.lift(one)[0] for one in x])
    return Branch(tangent=sign * along, s=s, places=places, second=red.K @ second, whole=len(ends) == 2)


def _sorted(branches: list[Branch]) -> tuple[Branch, ...]:
    """Return the branches in an order that depends on the curves only."""
    key = [tuple(np.round(-b.tangent, 4)) + tuple(np.round(-b.second, 4)) for b in branches]
    return tuple(branches[j] for j in sorted(range(len(branches)), key=lambda j: key[j]))


def _kind(red: Reduction, forms: Array, own: Array, branches: tuple[Branch, ...]) -> tuple[str, int]:
    """Return the kind, and the order of contact of a tangency."""
    if not all(b.whole for b in branches):
        return ("cusp" if not any(b.whole for b in branches) else "several"), 0
    if len(branches) == 1:
        return "double", 0
    kinds = {_contact(red, a, b) for a, b in combinations(branches, 2)}
    if kinds == {0}:
        return "crossing", 0
    if len(kinds) == 1:
        return "tangency", kinds.pop()
    return "several", max(kinds)


def _contact(red: Reduction, a: Branch, b: Branch) -> int:
    """Return the order of contact of two branches: 0 if their tangents differ, else n where they part like s^(n+1)."""
    if np.linalg.norm(a.tangent - b.tangent) > 1e-4:
        return 0
    n = min(len(a.s), len(b.s))
    far = np.linalg.norm(a.places[:n] - b.places[:n], axis=1)
    slope = np.polyfit(np.log(np.abs(a.s[:n])), np.log(np.maximum(far, 1e-300)), 1)[0]
    return max(round(float(slope)) - 1, 1)
