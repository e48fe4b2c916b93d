"""A curve of configurations, chart by chart, with the points at which other branches leave it.

Charts are made when they are first needed and kept: a mechanism that swings to and fro uses the same ones again. A
regular chart that meets a singular point hands over to charts centred there, one for every branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Array
from ...errors import InputError
from .branch_point import BranchPoint, branch_point
from .chart import COEFFICIENTS, NODES, Chart, chart_around, interpolation
from .configuration_space import ConfigurationSpace

ON = 1e-8  # distance up to which a configuration lies on a chart
LOCATED = 1e-7  # relative singular value at a singular point that was found by polynomials
HANDOVER = 0.3  # of the half width of a singular chart: where it takes over
REACH = 0.5  # half width of a chart at the most, m or rad
CLEAR = 0.8  # how far a regular chart goes towards a singular point
BEYOND = 1.4  # of its half width: how far a chart looks for singular points
MOST = 16  # branches at a point; where there may be more only the one along which a curve comes is looked for
SLANT = 1e-7  # relative: how far a velocity may be from a tangent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Meeting:
    """A point of the curve at which constraints lose rank.

    Attributes
    ----------
    point : BranchPoint
    charts : dict of int to int
        Branch -> number of its chart, once that has been made.
    """

    point: BranchPoint
    charts: dict[int, int]


@dataclass(slots=True, kw_only=True, eq=False)
class Curve:
    """The configurations of a system of one degree of freedom, as far as they have been asked for.

    Attributes
    ----------
    space : ConfigurationSpace
    charts : list of Chart
    meetings : list of Meeting
    links : dict
        (chart, side) -> the chart beyond that end.
    made : list of (int, int, int)
        What was asked for and had to be made: (0, chart, side) or (1, meeting, branch). Charts depend on those made
        before them, so that `again` alone gives the same curve to the last bit.
    """

    space: ConfigurationSpace
    reach: float = REACH
    charts: list[Chart] = field(default_factory=list)
    meetings: list[Meeting] = field(default_factory=list)
    links: dict[tuple[int, int], int] = field(default_factory=dict)
    made: list[tuple[int, int, int]] = field(default_factory=list)

    def start(self, q: Array, v: Array, branch: int | None = None) -> tuple[int, float]:
        """Return the chart in which a motion from (q, v) begins, and where in it.

        Parameters
        ----------
        branch : int, optional
            Which branch, at a singular point where the velocity does not tell.

        Raises
        ------
        InputError
            More or less than one degree of freedom; a velocity along no branch; branches that it does not tell apart.
        """
        point = self._regular_or_point(q)
        if point is None:
            return self._contained(q) or self._regular(q, v)
        number = self._meeting(point)
        return self._branch_chart(number, self._branch_of(self.meetings[number], v, branch)), 0.0

    def where(self, q: Array, hint: int) -> tuple[int, float] | None:
        """Return where a configuration lies: in the chart of a hint if it can be there, else in any that there is."""
        if 0 <= hint < len(self.charts):
            chart = self.charts[hint]
            p, off = chart.parameter(q)
            if chart.low <= p <= chart.high and off < ON:
                return hint, p
        return self._contained(q)

    def beyond(self, index: int, side: int) -> int:
        """Return the chart that goes on where a chart is left at its low (-1) or high (+1) end."""
        if (index, side) not in self.links:
            chart = self.charts[index]
            q, T, _ = chart.at(chart.high if side > 0 else chart.low)
            found = self._contained(q, but=index) or self._regular(q, T)
            self.links[(index, side)] = found[0]
            self.made.append((0, index, side))
        return self.links[(index, side)]

    def meeting_at(self, index: int) -> tuple[int, int] | None:
        """Return the numbers of the singular point and of the branch at which a chart is centred; None if regular."""
        centre = self.charts[index].centre
        if not centre:
            return None
        meeting, _, branch = centre.partition(".")
        return int(meeting), int(branch)

    def _regular_or_point(self, q: Array) -> BranchPoint | None:
        """Return None on a regular curve, else the singular point that q is.

        Raises
        ------
        InputError
            Anything else than a curve.
        """
        for meeting in self.meetings:
            if np.linalg.norm(meeting.point.q - q) < ON:
                return meeting.point
        point = branch_point(self.space, q)
        if point.singular and point.branches:
            return point
        if point.singular or point.dimension != 1:
            allowed = "a configuration with one degree of freedom"
            raise InputError(
                "configuration",
                f"{point.kind}, of dimension {point.dimension}",
                allowed,
                "Look what meets there: gaussdyn branches SCENE.",
            )
        return None

    def _contained(self, q: Array, but: int = -1) -> tuple[int, float] | None:
        """Return the chart in which q lies best inside, and its parameter there."""
        best: tuple[int, float] | None = None
        inside = 0.85
        for index, chart in enumerate(self.charts):
            if index == but or np.linalg.norm(chart.Q[NODES // 2] - q) > 4.0 * np.linalg.norm(np.ptp(chart.Q, axis=0)):
                continue
            p, off = chart.parameter(q)
            depth = abs(p) / chart.half
            if off < ON and chart.low < p < chart.high and depth < inside:
                best, inside = (index, p), depth
        return best

    def _regular(self, q: Array, v: Array) -> tuple[int, float]:
        """Make a chart centred at a regular point, and those of the singular points in it; return where q lies."""
        tangent = np.linalg.svd(self.space.jacobian(q))[2][-1]
        tangent = tangent if tangent @ v >= 0.0 else -tangent
        chart = chart_around(self.space, q, tangent, self.reach)
        probe = self._further(chart, q, tangent)
        found = [(p, self._meeting_near(probe, p)) for p in singular_places(probe)]
        for p, meeting in found:
            if meeting is not None:
                index = self._smooth(meeting, probe, p)
                own = self.charts[index]
                room = HANDOVER * own.half
                at, off = own.parameter(q)
                if off < ON and abs(at) < 0.9 * own.half:
                    return index, at
                if CLEAR * abs(p) < chart.half:  # nodes near the point have no digits to spare
                    cut = chart_around(self.space, q, tangent, CLEAR * abs(p))
                    chart = replace(cut, low=max(cut.low, chart.low), high=min(cut.high, chart.high))
                chart = replace(chart, low=max(chart.low, p + room) if p < 0 else chart.low,
                                high=min(chart.high, p - room) if p > 0 else chart.high)  # fmt: skip
        self.charts.append(chart)
        return len(self.charts) - 1, 0.0

    def _further(self, chart: Chart, q: Array, tangent: Array) -> Chart:
        """Return a longer chart where a singular point seems to lie shortly beyond the end of one."""
        beyond = [abs(p) for p in singular_places(chart, beyond=BEYOND) if abs(p) > chart.half]
        for p in sorted(beyond):
            longer = chart_around(self.space, q, tangent, 1.1 * p)
            if longer.half > p:
                return longer
        return chart

    def _meeting_near(self, chart: Chart, p: float) -> int | None:
        """Return the number of the singular point at p of a chart, None if it is no end of smooth motion after all."""
        place, T, _ = chart.at(p)
        q = self.space.nearest(place)
        for number, meeting in enumerate(self.meetings):
            if np.linalg.norm(meeting.point.q - q) < 1e-6:
                return number
        point = branch_point(self.space, q, rank_tol=LOCATED, max_branches=MOST, along=T)
        return self._meeting(point) if point.singular and point.branches else None

    def _meeting(self, point: BranchPoint) -> int:
        """Return the number of the meeting at a singular point."""
        for number, meeting in enumerate(self.meetings):
            if np.linalg.norm(meeting.point.q - point.q) < 1e-6:
                return number
        self.meetings.append(Meeting(point=point, charts={}))
        return len(self.meetings) - 1

    def branch_chart(self, number: int, j: int) -> int:
        """Return the number of the chart centred at a singular point on one of its branches.

        Raises
        ------
        InputError
            There is no such branch, or it ends there (half of a cusp).
        """
        new = j not in self.meetings[number].charts
        index = self._branch_chart(number, j)
        if new:
            self.made.append((1, number, j))
        return index

    def again(self, made: Sequence[tuple[int, int, int]]) -> None:
        """Make once more what was made after the same start."""
        for kind, a, b in made:
            _ = self.branch_chart(a, b) if kind else self.beyond(a, b)

    def _branch_chart(self, number: int, j: int) -> int:
        """Return the number of the chart of a branch, made if it has not been."""
        meeting = self.meetings[number]
        known = meeting.point.branches
        if not 0 <= j < len(known):
            raise InputError("on_branch", j, f"0 to {len(known) - 1}", "Write on_branch=0.")
        if j not in meeting.charts:
            branch = known[j]
            if not branch.whole:
                raise InputError(
                    "on_branch", j, "a branch that goes on", "This one ends here, in a cusp: write on_branch=0."
                )
            chart = chart_around(
                self.space, meeting.point.q, branch.tangent, self.reach, (branch.s, branch.places)
            )  # fmt: skip
            chart = replace(chart, centre=f"{number}.{j}")
            others = [p for p in singular_places(chart) if abs(p) > 0.05 * chart.half]
            low = max([chart.low] + [0.6 * p for p in others if p < 0])
            self.charts.append(replace(chart, low=low, high=min([chart.high] + [0.6 * p for p in others if p > 0])))
            meeting.charts[j] = len(self.charts) - 1
        return meeting.charts[j]

    def _smooth(self, number: int, chart: Chart, p: float) -> int:
        """Return the chart of the branch that a regular chart is on."""
        branches = self.meetings[number].point.branches
        _, T, _ = chart.at(p)
        aligned = [abs(float(b.tangent @ T)) if b.whole else 0.0 for b in branches]
        fits = [j for j, x in enumerate(aligned) if x > max(aligned) - 1e-3]
        ends = [x for x in (p - 0.2 * chart.half, p + 0.2 * chart.half) if abs(x) <= 0.999 * chart.half]
        places = [chart.at(x)[0] for x in ends]
        charts = [self._branch_chart(number, j) for j in fits]
        return min(charts, key=lambda j: max(self.charts[j].parameter(q)[1] for q in places))

    def _branch_of(self, meeting: Meeting, v: Array, branch: int | None) -> int:
        """Return the branch along which a velocity points at a singular point."""
        size, branches = float(np.linalg.norm(v)), meeting.point.branches
        if branch is not None and not 0 <= branch < len(branches):
            raise InputError("on_branch", branch, f"0 to {len(branches) - 1}", "Write on_branch=0.")
        off = [float(np.linalg.norm(v - (v @ b.tangent) * b.tangent)) for b in branches]
        fits = [j for j, x in enumerate(off) if x <= SLANT * size and branches[j].whole]
        if not fits:
            given = f"{min(off):.3g} of {size:.3g} lies off the nearest tangent"
            raise InputError(
                "velocity",
                given,
                f"a velocity along one of {len(branches)} branches",
                "Write v = speed * branch.tangent.",
            )
        if branch in fits:
            return fits[fits.index(branch)]
        if branch is None and len(fits) == 1:
            return fits[0]
        mend = f"Say on_branch={fits[0]}, say: branches {', '.join(map(str, fits))} fit."
        raise InputError("on_branch", branch, "the number of a branch along which the velocity points", mend)


def singular_places(chart: Chart, beyond: float = 1.0) -> list[float]:
    """Return the p at which J loses rank within a chart, rising.

    They are zeros of 1 / |B^-1|, B the independent rows of J and the tangent: simple where branches cross, double where
    they touch, however many ranks are lost. Up to `beyond` times the half width there are guesses, which nothing but
    the polynomials tells.
    """
    space, n = chart.space, chart.space.size
    jacobians = [space.jacobian(q) for q in chart.Q]
    base = (NODES * 7) // 8 if chart.centre else NODES // 2
    U = np.linalg.svd(jacobians[base])[0][:, : n - 1]
    bordered = [np.vstack([U.T @ J, chart.T[base]]) for J in jacobians]
    regular = np.array([_regularity(B) for B in bordered])
    usual = max(float(np.linalg.svd(J, compute_uv=False)[n - 2]) for J in jacobians[:: NODES // 4])
    found: list[float] = []
    for x in _roots(_smoothest(regular), beyond):
        if all(abs(x * chart.half - p) > 1e-4 * chart.half for p in found) and (
            abs(x) > 1.0 or _dependent(space, (interpolation(np.array([x])) @ chart.Q)[0], usual)
        ):
            found.append(x * chart.half)
    return sorted(found)


def _regularity(B: Array) -> float:
    """Return 1 / |B^-1| with the sign of det B."""
    spread = np.maximum(np.linalg.svd(B, compute_uv=False), 1e-300)
    return float(np.linalg.slogdet(B)[0] * (1.0 / np.sqrt((spread**-2.0).sum())))


def _smoothest(values: Array) -> Array:
    """Return the coefficients of a function known up to its sign on either side of its zeros: those that fall fastest.

    The sign of a determinant is right where one rank is lost; where two are, it has to be changed there.
    """
    size = np.abs(values)
    least = [j for j in range(1, NODES - 1) if size[j] <= min(size[j - 1], size[j + 1])]
    after = np.arange(NODES)
    tries = [values] + [np.where(after >= k, -values, values) for j in least for k in (j, j + 1)]
    series = [COEFFICIENTS @ one for one in tries]
    return min(series, key=lambda c: float(np.abs(c[-4:]).max()))


def _dependent(space: ConfigurationSpace, q: Array, usual: float) -> bool:
    """Return whether J has lost another rank at q, against what its smallest singular value is elsewhere."""
    return bool(np.linalg.svd(space.jacobian(q), compute_uv=False)[space.size - 2] <= 1e-6 * usual)


def _roots(coefficients: Array, beyond: float) -> list[float]:
    """Return the real roots in [-beyond, beyond] of a Chebyshev series, double ones from the derivative."""
    from numpy.polynomial import chebyshev

    kept = np.flatnonzero(np.abs(coefficients) > 1e-13 * np.abs(coefficients).max())
    series = coefficients[: kept[-1] + 1]
    if len(series) < 2:
        return []
    simple = [complex(z) for z in chebyshev.chebroots(series)]
    flat = [complex(z) for z in chebyshev.chebroots(chebyshev.chebder(series))] if len(series) > 2 else []
    near = [z.real for z in flat if abs(z.imag) < 1e-4 and any(abs(z - r) < 3e-3 for r in simple)]
    alone = [z.real for z in simple if abs(z.imag) < 1e-6 and all(abs(z.real - x) > 3e-3 for x in near)]
    return sorted(x for x in near + alone if abs(x) <= beyond)
