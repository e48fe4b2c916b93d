"""Constraints realized in several ways, beside the rigid run: how fast they converge to it, and where they part."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from ...arrays import Array, scalar
from ...contact.resolve import resolve
from ...contact.snapshot import snapshot
from ...errors import GaussdynError, InputError
from ...integrate.realizations.penalty import Penalty
from ...integrate.realizations.slow_manifold import fast_energy, slow_start
from ...integrate.realizations.smooth import Smooth
from ...integrate.realizations.viscous import Viscous
from ...integrate.run.interrupts import interruptible
from ...integrate.run.trajectory import Trajectory
from ...integrate.simulate import simulate
from ...integrate.time_stepping.moreau_jean import MoreauJean
from ...mechanics.scene import Scene
from ...mechanics.state import State
from ...mends import one_of
from .boundary_layer import layer_of
from .orders import Order, order_of
from .results import Compared, CrossCheck, Gap, Level

Soft = Penalty | Viscous
REALIZATIONS: dict[str, Any] = {"penalty": Penalty, "viscous": Viscous, "smooth": Smooth}
LADDER = (1e3, 1e4, 1e5, 1e6)
QUANTITIES = ("position", "velocity", "reaction")
INSTANTS = 50  # at which the runs are compared
ABOVE = 10.0  # times the error of the reference: from there on an error is one of the realization
ROUNDING = 1e-13  # share of its size up to which a difference is none
SKIP = 0.1  # share of the time after which reactions are compared: before, there are layers


@interruptible
def crosscheck(
    scene: Scene,
    realizations: Sequence[str | Soft | Smooth] = ("penalty", "viscous", "smooth"),
    *,
    stiffness: Sequence[float] = LADDER,
    start: Literal["given", "slow"] = "given",
    t_end: float | None = None,
    dt: float | None = None,
) -> CrossCheck:
    """Run realizations of the constraints of a scene beside its rigid run.

    Parameters
    ----------
    scene : Scene
    realizations : sequence of str or stepper
        penalty, viscous, smooth, or a Penalty or Viscous whose settings are kept (its stiffness is replaced).
    stiffness : sequence of float
        N of every run, rising.
    start : str
        given: the state of the scene; slow: next to it on the slow manifold of every realization.
    t_end : float, optional
        Default that of the scene.
    dt : float, optional
        Interval at whose ends the runs are compared, s; the default makes 50 of them.

    Raises
    ------
    InputError
        Unknown names, a ladder that does not rise, a rigid run that does not get to the end.
    """
    if not isinstance(scene, Scene):
        raise InputError("scene", type(scene).__name__, "a Scene", "E.g. gaussdyn.build('pendulum').")
    chosen = [_chosen(one) for one in realizations]
    ladder = _checked(stiffness)
    if start not in ("given", "slow"):
        raise InputError("start", repr(start), "given, slow", one_of("start", start, ("given", "slow")))
    end = scene.t_end if t_end is None else scalar("t_end", t_end, low=scene.state.t, open_low=True)
    interval = (end - scene.state.t) / INSTANTS if dt is None else scalar("dt", dt, low=0.0, open_low=True)
    span = _Span(scene=scene, t_end=end, dt=interval, start=start)
    rigid = _reference(span)
    results = tuple(_compared(span, one, ladder, rigid) for one in chosen)
    return CrossCheck(
        scene=scene.name, params=dict(scene.params), t_end=end, start=start, reference=rigid.name,
        floor=rigid.floor, results=results,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Span:
    scene: Scene
    t_end: float
    dt: float
    start: str

    def run(self, stepper: Any, state: State | None = None) -> Trajectory:
        """Run the scene with a stepper."""
        return simulate(self.scene, state=state, t_end=self.t_end, stepper=stepper)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Samples:
    """Columns of a run at common times; reactions are means over the interval before."""

    t: Array
    values: Mapping[str, dict[str, Array]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rigid:
    name: str
    samples: _Samples
    floor: Mapping[str, float]
    shared: bool


def _chosen(one: Any) -> Any:
    """Return the realization that a name, or a stepper, stands for."""
    if isinstance(one, str):
        if one not in REALIZATIONS:
            raise InputError(
                "realization", repr(one), ", ".join(REALIZATIONS), one_of("realization", one, REALIZATIONS)
            )
        return REALIZATIONS[one]()
    if not isinstance(one, (Penalty, Viscous, Smooth)):
        raise InputError(
            "realization",
            repr(one),
            f"{', '.join(REALIZATIONS)}, or a stepper of these",
            f'Write "{next(iter(REALIZATIONS))}".',
        )
    return one


def _checked(stiffness: Sequence[float]) -> tuple[float, ...]:
    if isinstance(stiffness, (str, int, float)) or not len(stiffness):
        raise InputError(
            "stiffness", repr(stiffness), "a list of rising positive numbers", "Write stiffness=[1e3, 1e4, 1e5]."
        )
    found = tuple(scalar("stiffness", N, low=0.0, open_low=True) for N in stiffness)
    if any(b <= a for a, b in pairwise(found)):
        raise InputError("stiffness", found, "a list of rising positive numbers", "Write stiffness=[1e3, 1e4, 1e5].")
    return found


def _reference(span: _Span) -> _Rigid:
    """Return the rigid run: smooth where all rows are joints, else time stepping; with its own error."""
    rows = span.scene.system.rows(span.scene.state.t, span.scene.state.q, span.scene.state.v)
    if all(row.kind == "bilateral" for row in rows):
        runs = [span.run(Smooth(dt=span.dt, rtol=rtol)) for rtol in (1e-10, 1e-12)]
        name = "smooth"
    else:
        fine = max(1, int(np.ceil(span.dt / span.scene.dt)))
        runs = [span.run(MoreauJean(dt=span.dt / (n * fine))) for n in (1, 2)]
        name = f"moreau_jean (dt = {span.dt / (2 * fine):.3g} s)"
    for run in runs:
        if run.stop is not None:
            raise InputError(
                "t_end",
                span.t_end,
                f"at most {run.t_reached:g} s: {run.stop.reason}",
                f"Write t_end={run.t_reached:g}.",
            )
    coarse, best = (_samples(run, span) for run in runs)
    gaps = _gaps(coarse, best)
    floor = {key: max(gap.value, ROUNDING * _size(best, key)) for key, gap in gaps.items()}
    return _Rigid(name=name, samples=best, floor=floor, shared=_shared(span.scene))


def _size(samples: _Samples, quantity: str) -> float:
    """Return the largest value of a quantity, at least 1 (SI)."""
    return max([1.0, *(float(np.nanmax(np.abs(x[1:]), initial=0.0)) for x in samples.values[quantity].values())])


def _shared(scene: Scene) -> bool:
    """Whether redundant constraints share the reactions at the start in ways that rigid bodies do not decide."""
    try:
        return resolve(snapshot(scene.system, scene.state)).r_unique is False
    except GaussdynError:
        return False


def _samples(run: Trajectory, span: _Span) -> _Samples:
    """Return the states at the ends of all intervals, and the mean reactions over them."""
    count = round((run.t_reached - run.t[0]) / span.dt)
    per = max(1, round((len(run.t) - 1) / max(count, 1)))
    keep = np.arange(0, len(run.t), per)
    values: dict[str, dict[str, Array]] = {"position": {}, "velocity": {}, "reaction": {}}
    values["position"] = {f"q{k}": run.q[keep, k] for k in range(run.q.shape[1])}
    values["velocity"] = {f"v{k}": run.v[keep, k] for k in range(run.v.shape[1])}
    for row in run.rows:
        for name in run.reaction_names(row):
            values["reaction"][name] = _means(run[name], per, len(keep))
    for name, forces in _tabled(run).items():
        values["reaction"][name] = _means(forces, per, len(keep))
    return _Samples(t=run.t[keep], values=values)


def _means(x: Array, per: int, count: int) -> Array:
    """Return means over intervals of `per` steps, NaN at the start."""
    means: Array = x[1:][: per * (count - 1)].reshape(-1, per).mean(axis=1)
    return np.concatenate([[np.nan], means])


def _tabled(run: Trajectory) -> dict[str, Array]:
    """Return the reactions of contacts that come and go, N, at all saved states: zero where they are not there."""
    found: dict[str, Array] = {}
    table = run.table
    if table is None:
        return found
    saved = np.repeat(np.arange(len(run.t)), np.diff(table.offsets))
    for k, id in enumerate(table.ids):
        if id in run.rows:
            continue
        lines = table.index == k
        for component in range(int(table.size[lines].max(initial=0))):
            x = np.zeros(len(run.t))
            x[saved[lines]] = table.reaction[lines, component]
            found[f"{id}.r{component}"] = x
    return found


def _gaps(one: _Samples, other: _Samples) -> dict[str, Gap]:
    """Return the largest difference of every quantity, over the time both have."""
    n = min(len(one.t), len(other.t))
    found = {}
    for quantity in QUANTITIES:
        best = Gap(value=0.0, t=float(one.t[0]), name="")
        first = 1 + int(SKIP * n) if quantity == "reaction" else 0
        mine, theirs = one.values[quantity], other.values[quantity]
        for name in dict.fromkeys([*mine, *theirs]):  # a contact that only one of them has pushes with 0 in the other
            x, y = mine.get(name, np.zeros(n)), theirs.get(name, np.zeros(n))
            far = np.abs(x[first:n] - y[first:n])
            if len(far) and float(np.nanmax(far)) > best.value:
                k = int(np.nanargmax(far))
                best = Gap(value=float(far[k]), t=float(one.t[first + k]), name=name)
        found[quantity] = best
    return found


def _compared(span: _Span, stepper: Any, ladder: tuple[float, ...], rigid: _Rigid) -> Compared:
    """Return one realization over the ladder."""
    none = {quantity: Order(value=None) for quantity in QUANTITIES}
    try:
        stepper.check(span.scene.system, span.scene.state)
        steppers = [replace(stepper, dt=span.dt)]
        if not isinstance(stepper, Smooth):
            steppers = [replace(stepper, dt=span.dt, stiffness=N) for N in ladder]
        levels = tuple(_level(span, one, rigid) for one in steppers)
    except GaussdynError as error:
        return Compared(name=stepper.name, orders=none, reason=f"does not apply: {error}")
    stiff = [level.stiffness for level in levels]
    orders = none
    if not isinstance(stepper, Smooth):
        orders = {
            key: order_of(
                [N for N, level in zip(stiff, levels, strict=True) if not level.stop],
                [level.gaps[key].value for level in levels if not level.stop],
                ABOVE * rigid.floor[key],
            )
            for key in QUANTITIES
        }
    layer = layer_of(span.scene, steppers[-1]) if isinstance(stepper, Viscous) else None
    compared = Compared(name=stepper.name, levels=levels, orders=orders, layer=layer)
    return replace(compared, words=_words(compared, rigid))


def _level(span: _Span, stepper: Any, rigid: _Rigid) -> Level:
    """Run one realization at one stiffness, and compare it with the rigid run."""
    begin, scene = time.perf_counter(), span.scene
    state, soft = scene.state, isinstance(stepper, (Penalty, Viscous))
    if soft and span.start == "slow":
        state = slow_start(scene.system, state, stepper, control=scene.control)
    run = span.run(stepper, state)
    fast = [float("nan")] * 2
    if soft and not isinstance(stepper, Viscous):
        fast = [fast_energy(scene.system, at, stepper, control=scene.control) for at in (state, run.final)]
    stop = "" if run.stop is None else run.stop.reason
    if run.stop is not None and run.t_reached == scene.state.t:
        raise InputError(
            f"{stepper.name} at stiffness {stepper.stiffness:g}" if soft else stepper.name,
            stop,
            "a run",
            "Take a shorter time: t_end=..., or stiffness=[1e3, 1e4].",
        )
    return Level(
        stiffness=stepper.stiffness if soft else float("nan"),
        gaps=_gaps(_samples(run, span), rigid.samples),
        fast_start=fast[0],
        fast_end=fast[1],
        stop=stop,
        t_reached=run.t_reached,
        wall_s=time.perf_counter() - begin,
    )


def _words(compared: Compared, rigid: _Rigid) -> str:
    """Return what was found in a sentence."""
    last = compared.levels[-1]
    parts = []
    if last.stop:
        parts.append(f"stopped: {last.stop}")
    for quantity in QUANTITIES:
        gap, order = last.gaps[quantity], compared.orders[quantity]
        at = f" in {gap.name} at t = {gap.t:.4g} s" if gap.name else ""
        fall = "" if np.isnan(last.stiffness) else f", {order}"
        why = " (redundant constraints: stiffness decides how they share it)" if _undecided(quantity, rigid) else ""
        parts.append(f"{quantity} differs by {gap.value:.3g}{at}{fall}{why}")
    if np.isfinite(last.fast_start) and last.fast_start > 0.0:
        parts.append(f"energy in fast vibration {last.fast_start:.3g} J at the start, {last.fast_end:.3g} J at the end")
    if compared.layer is not None:
        parts.append(str(compared.layer))
    verdict = _verdict(compared, rigid)
    return "; ".join([*parts, verdict])


def _undecided(quantity: str, rigid: _Rigid) -> bool:
    return quantity == "reaction" and rigid.shared


def _verdict(compared: Compared, rigid: _Rigid) -> str:
    """Return whether the realization tends to the rigid motion, as far as the ladder shows."""
    last = compared.levels[-1]
    until = f"up to t = {last.t_reached:.4g} s " if last.stop else ""
    if np.isnan(last.stiffness):
        near = last.gaps["position"].value <= ABOVE * rigid.floor["position"] + 1e-9
        return until + ("it agrees" if near else "it differs by more than the error of the rigid run")
    order = compared.orders["position"]
    if order.value is None:
        return until + "it agrees as far as the rigid run is known"
    if order.settled and order.value > 0.0:
        return until + f"it tends to the rigid motion like N^-{order.value:.2f}"
    if order.settled:
        return until + "it does NOT tend to the rigid motion on this ladder"
    return until + "this ladder does not settle whether it tends to the rigid motion"
