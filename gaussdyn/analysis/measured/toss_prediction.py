"""A box on a floor as predictor of recorded tosses, and its three numbers fitted on a part of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...integrate.realizations.penalty import Penalty
from ...integrate.simulate import simulate
from ...integrate.time_stepping.compiled.free_bodies import CompiledBodies
from ...integrate.time_stepping.moreau_jean import MoreauJean
from ...mechanics.collision.shapes import Box, HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.spatial.bodies import SpatialBody
from ...mechanics.spatial.system import SpatialSystem
from ...mechanics.state import State
from .cube_tosses import GRAVITY, INERTIA, CubeTosses, TossErrors, errors

STEPS = 8  # per sample
COARSE = 1e-4  # relative error per step of the integration of springs
ROUNDS = 3  # of the pattern search; each halves the steps


@dataclass(frozen=True, slots=True, kw_only=True)
class TossParameters:
    """What is fitted: friction, Newton restitution, height of the floor (m); by default what a coarse grid found."""

    mu: float = 0.18
    eps_n: float = 0.15
    floor: float = -0.0008


@dataclass(frozen=True, slots=True, kw_only=True)
class TossSprings:
    """Contacts as springs: friction, damping (share of the critical one), height of the floor (m), stiffness (N/m)."""

    mu: float = 0.179
    damping: float = 1.0
    floor: float = -0.0005
    stiffness: float = 1e4


@dataclass(frozen=True, slots=True, kw_only=True)
class TossFit:
    """The parameters with which the fitted tosses come out best.

    Attributes
    ----------
    parameters : TossParameters
    objective : float
    tried : int
        Sets of parameters that were tried.
    """

    parameters: TossParameters
    objective: float
    tried: int


def predictor(tosses: CubeTosses, parameters: TossParameters, steps: int = STEPS) -> Callable[[Array, Array], Array]:
    """Return ``predict(start, t)``: Moreau and Jean's scheme, `steps` per sample, Newton's law, Coulomb's friction.

    A toss is one call of the compiled loop, six times as fast as a run that records all there is, with the same bits.
    """
    law, floor = ContactLaw(mu=parameters.mu, eps_n=parameters.eps_n), parameters.floor
    system, stepper = _box_on_floor(tosses, law), MoreauJean(dt=tosses.dt / steps)

    def predict(start: Array, t: Array) -> Array:
        """Return the states at the times of the samples; fewer if a step has no solution."""
        state = _state(start, floor)
        kernels = CompiledBodies.of(system)
        assert kernels is not None  # they serve all free bodies of such shapes
        many = kernels.advance_many(stepper, state, steps * (len(t) - 1), t_max=float(t[-1]))
        kept = slice(steps - 1, None, steps)
        return _lifted(np.vstack([state.q, many.q[kept]]), np.vstack([state.v, many.v[kept]]), floor)

    return predict


def springs_predictor(tosses: CubeTosses, springs: TossSprings) -> Callable[[Array, Array], Array]:
    """Return ``predict(start, t)`` with springs and dashpots in the place of the contacts: they take their time."""
    stepper = Penalty(
        stiffness=springs.stiffness, damping=springs.damping, dt=tosses.dt, rtol=COARSE, atol=0.01 * COARSE
    )
    system, floor = _box_on_floor(tosses, ContactLaw(mu=springs.mu)), springs.floor

    def predict(start: Array, t: Array) -> Array:
        """Return the states at the times of the samples; fewer if the run stops."""
        run = simulate(system, _state(start, floor), float(t[-1]), stepper=stepper, examine="off")
        return _lifted(run.q, run.v, floor)

    return predict


def _box_on_floor(tosses: CubeTosses, law: ContactLaw) -> SpatialSystem:
    cube = SpatialBody(name="cube", mass=tosses.mass, inertia=[INERTIA] * 3, shapes=(Box(half=(tosses.half,) * 3),))
    return SpatialSystem(bodies=[cube], obstacles=[HalfSpace(name="floor")], gravity=(0.0, 0.0, -GRAVITY), contact=law)


def _state(start: Array, floor: float) -> State:
    """Return a recorded start as a state over the plane z = 0."""
    place = start[:3] - np.array([0.0, 0.0, floor])
    return State(t=0.0, q=np.r_[place, start[3:7] / np.linalg.norm(start[3:7])], v=start[7:])


def _lifted(q: Array, v: Array, floor: float) -> Array:
    """Return states back over the recorded floor, shape (n, 13)."""
    return np.column_stack([q[:, :3] + np.array([0.0, 0.0, floor]), q[:, 3:], v])


def judged(tosses: CubeTosses, names: list[str], parameters: TossParameters | TossSprings) -> TossErrors:
    """Return the errors of our predictions, by rigid contacts or by springs."""
    if isinstance(parameters, TossSprings):
        return errors(tosses, names, springs_predictor(tosses, parameters), parameters.floor)
    return errors(tosses, names, predictor(tosses, parameters), parameters.floor)


def fit_tosses(
    tosses: CubeTosses,
    names: list[str],
    start: TossParameters | None = None,
    progress: Callable[[int], None] | None = None,
) -> TossFit:
    """Find friction, restitution and floor by a pattern search on the tosses named.

    Medians over chaotic motions are no smooth functions: steps of 1/400 in mu, 1/40 in restitution and 0.3 mm in height
    are tried one by one and halved twice, which is as fine as sixty tosses tell (see docs/measured.md).
    """
    steps = {"mu": 0.0025, "eps_n": 0.025, "floor": 0.0003}
    known: dict[TossParameters, float] = {}

    def value(parameters: TossParameters) -> float:
        """Return the objective, remembered."""
        if parameters not in known:
            known[parameters] = judged(tosses, names, parameters).objective
            if progress is not None:
                progress(len(known))
        return known[parameters]

    best = start or TossParameters()
    for _ in range(ROUNDS):
        better = _neighbour(best, steps, value)
        while better is not None:
            best, better = better, _neighbour(better, steps, value)
        steps = {name: step / 2.0 for name, step in steps.items()}
    return TossFit(parameters=best, objective=value(best), tried=len(known))


def _neighbour(
    best: TossParameters, steps: dict[str, float], value: Callable[[TossParameters], float]
) -> TossParameters | None:
    """Return the first set one step away that is better, or None."""
    for name, step in steps.items():
        for sign in (-1.0, 1.0):
            moved = round(getattr(best, name) + sign * step, 8)
            if name != "floor" and moved < 0.0:
                continue
            other = replace(best, **{name: moved})
            if value(other) < value(best):
                return other
    return None
