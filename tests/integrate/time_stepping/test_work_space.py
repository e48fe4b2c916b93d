"""A step depends on nothing but its state: not on what other steps have left in the work space of the kernels."""

from __future__ import annotations

import numpy as np
import pytest
import stepping_cases as cases

from gaussdyn import MoreauJean, State
from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies

KINDS = [cases.user, cases.lagrangian, cases.tree, cases.mechanism, cases.linkage, cases.pile, cases.tumble]
STATE = {"q", "v", "last"}
CONSTANT = {"M", "L", "of", "inverse", "begin", "mid", "end", "seen"}  # in part: some entries are put once


def arrays_of(record):
    """Yield the arrays of floating point numbers of a record and of those within it."""
    for one in record:
        if isinstance(one, tuple | list):
            yield from arrays_of(one)
        elif isinstance(one, np.ndarray) and one.dtype == np.float64:
            yield one


def work_space(kernels):
    """Return the arrays whose contents no step may ask for before it has put them."""
    if isinstance(kernels, CompiledBodies):
        space = kernels.space
        moving = (space.vectors, space.q1, *space.poses[2:], space.problem[3:], space.beside[3:])
        return list(arrays_of((space.work, space.bench, space.iterate, *moving)))
    data = kernels.parts.data._asdict()
    step = [array for name, array in data.items() if name not in STATE | CONSTANT]
    fixed = [data[name] for name in CONSTANT if isinstance(data.get(name), np.ndarray)]  # the problem has some, too
    found = arrays_of((*step, kernels.work, kernels.problem, kernels._push))
    return [array for array in found if not any(array is one or np.shares_memory(array, one) for one in fixed)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_step_depends_on_nothing_but_its_state(kind) -> None:
    stepper, draw = MoreauJean(dt=2e-3), np.random.default_rng(3)
    (clean, one), (soiled, other) = kind(3), kind(3)
    for _ in range(12 if kind is cases.user else 60):  # functions in Python take their time
        step = stepper.advance(clean, one, 1e9)
        for array in work_space(stepper.kernels(soiled, other)):
            array[...] = draw.standard_normal(array.shape)
        as_read = State(t=other.t, q=other.q, v=other.v, memory=dict(other.memory))
        again = stepper.advance(soiled, as_read, 1e9)
        assert again.solution.solved == step.solution.solved
        one, other = step.state, again.state
        assert one.digest() == other.digest()
