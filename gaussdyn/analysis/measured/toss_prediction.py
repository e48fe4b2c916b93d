"""A box on a floor as predictor of recorded tosses, and its five numbers fitted on a part of them."""

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
from .cube_tosses import GRAVITY, INERTIA, CubeTosses, TossErrors, errors, shifted

STEPS = 8  # per sample
COARSE = 1e-4  # relative error per step of the integration of springs
STEP = {"offset": 5e-4, "inertia": 5e-5, "mu": 0.0025, "eps_n": 0.025, "floor": 3e-4}  # of the pattern search, at first
ROUNDS = 3  # of it; each halves the steps


@dataclass(frozen=True, slots=True, kw_only=True)
class TossParameters:
    """What is fitted; by default where the fit begins.

    Attributes
    ----------
    mu, eps_n : float
        Friction, Newton restitution.
    floor : float
        Its height, m.
    inertia : float
        About every axis, kg m^2.
    offset : float
        Of the mass centre from the centre of the cube, along its z axis, m.
    """

    mu: float = 0.18
    eps_n: float = 0.2
    floor: float = -0.001
    inertia: float = 0.0011
    offset: float = 0.0055


@dataclass(frozen=True, slots=True, kw_only=True)
class TossSprings:
    """Contacts as springs: damping is a share of the critical one, stiffness in N/m, the rest as for rigid ones."""

    mu: float = 0.179
    damping: float = 1.0
    floor: float = -0.0005
    stiffness: float = 1e4
    inertia: float = INERTIA
    offset: float = 0.0


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
    law = ContactLaw(mu=parameters.mu, eps_n=parameters.eps_n)
    system, stepper = _box_on_floor(tosses, parameters, law), MoreauJean(dt=tosses.dt / steps)

    def predict(start: Array, t: Array) -> Array:
        """Return the states at the times of the samples; fewer if a step has no solution."""
        state = _state(start, parameters)
        kernels = CompiledBodies.of(system)
        assert kernels is not None  # they serve all free bodies of such shapes
        many = kernels.advance_many(stepper, state, steps * (len(t) - 1), t_max=float(t[-1]))
        kept = slice(steps - 1, None, steps)
        return _lifted(np.vstack([state.q, many.q[kept]]), np.vstack([state.v, many.v[kept]]), parameters)

    return predict


def springs_predictor(tosses: CubeTosses, springs: TossSprings) -> Callable[[Array, Array], Array]:
    """Return ``predict(start, t)`` with springs and dashpots in the place of the contacts: they take their time."""
    stepper = Penalty(
        stiffness=springs.stiffness, damping=springs.damping, dt=tosses.dt, rtol=COARSE, atol=0.01 * COARSE
    )
    system = _box_on_floor(tosses, springs, ContactLaw(mu=springs.mu))

    def predict(start: Array, t: Array) -> Array:
        """Return the states at the times of the samples; fewer if the run stops."""
        run = simulate(system, _state(start, springs), float(t[-1]), stepper=stepper, examine="off")
        return _lifted(run.q, run.v, springs)

    return predict


def _box_on_floor(tosses: CubeTosses, parameters: TossParameters | TossSprings, law: ContactLaw) -> SpatialSystem:
    box = Box(half=(tosses.half,) * 3, at=(0.0, 0.0, -parameters.offset))
    cube = SpatialBody(name="cube", mass=tosses.mass, inertia=[parameters.inertia] * 3, shapes=(box,))
    return SpatialSystem(bodies=[cube], obstacles=[HalfSpace(name="floor")], gravity=(0.0, 0.0, -GRAVITY), contact=law)


def _state(start: Array, parameters: TossParameters | TossSprings) -> State:
    """Return a recorded start as a state of the mass centre over the plane z = 0."""
    centre = shifted(start[None], parameters.offset)[0]
    place = centre[:3] - np.array([0.0, 0.0, parameters.floor])
    return State(t=0.0, q=np.r_[place, start[3:7] / np.linalg.norm(start[3:7])], v=centre[7:])


def _lifted(q: Array, v: Array, parameters: TossParameters | TossSprings) -> Array:
    """Return states of the centre of the cube, back over the recorded floor, shape (n, 13)."""
    made = np.column_stack([q[:, :3] + np.array([0.0, 0.0, parameters.floor]), q[:, 3:], v])
    return shifted(made, -parameters.offset)


def judged(tosses: CubeTosses, names: list[str], parameters: TossParameters | TossSprings) -> TossErrors:
    """Return the errors of our predictions, by rigid contacts or by springs."""
    if isinstance(parameters, TossSprings):
        predict = springs_predictor(tosses, parameters)
    else:
        predict = predictor(tosses, parameters)
    return errors(tosses, names, predict, parameters.floor, parameters.offset)


def fit_tosses(
    tosses: CubeTosses,
    names: list[str],
    start: TossParameters | None = None,
    progress: Callable[[int], None] | None = None,
) -> TossFit:
    """Find all five numbers by a pattern search on the tosses named; see docs/measured.md.

    The motions are chaotic and sixty are few, so that no smaller steps than a quarter of `STEP` are worth while.
    """
    steps = dict(STEP)
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
            if name not in ("floor", "offset") and moved < 0.0:
                continue
            other = replace(best, **{name: moved})
            if value(other) < value(best):
                return other
    return None
