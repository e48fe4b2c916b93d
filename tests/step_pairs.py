"""Two steps from one state, one of the kernels and one of the interpreted scheme."""

from __future__ import annotations

import numpy as np

from gaussdyn.integrate.stepper import Step


def apart(step: Step, other: Step) -> float:
    """Return by how much two steps differ, relative."""
    v, q = max(np.abs(other.state.v).max(), 1e-3), np.abs(other.state.q).max()
    assert step.reactions.keys() == other.reactions.keys()
    done, spent = step.work, other.work
    scale = abs(spent.reactions) + abs(spent.forces) + 1e-3
    work = abs(done.reactions - spent.reactions) + abs(done.forces - spent.forces)
    return max(
        np.abs(step.state.v - other.state.v).max() / v, np.abs(step.state.q - other.state.q).max() / q, work / scale
    )
