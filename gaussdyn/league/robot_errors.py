"""What contacts of robots do step by step, ours and MuJoCo's: creep, energy put in, friction where they slide.

A contact that friction holds with a margin (less than 0.6 of its limit) should not move along: `creep` is the median
of its tangential speed, m/s. Impulses of rigid, inelastic constraints take energy out: `put_in` adds up what they put
in, J, work being h J^T r . (v + v+) / 2. Where contacts slide faster than 2 cm/s friction is mu N: `friction` is the
median of |r_T| / (mu r_N) there, NaN where nothing slides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..integrate.time_stepping.core.records import ALL, FIXED
from ..integrate.time_stepping.moreau_jean import MoreauJean
from ..mechanics.state import State

if TYPE_CHECKING:
    from ..integrate.time_stepping.core.advance import CompiledSystem

HELD_FIRMLY, SLIDES = 0.6, 0.02  # of the limit of friction; m/s


@dataclass
class Errors:
    """Figures of one run, collected contact by contact and step by step."""

    creeps: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    put_in: float = 0.0
    taken_out: float = 0.0

    def contact(self, mu: float, force: Array, speed: Array) -> None:
        """Take in a contact: its force (N, T1, T2) and its tangential velocity."""
        limit, slip = mu * force[0], float(np.linalg.norm(speed))
        if not limit > 0.0:
            return
        share = float(np.linalg.norm(force[1:])) / limit
        if share < HELD_FIRMLY:
            self.creeps.append(slip)
        if slip > SLIDES:
            self.ratios.append(share)

    def work(self, done: float) -> None:
        """Take in the work of all constraints in a step, J."""
        self.put_in += max(done, 0.0)
        self.taken_out -= min(done, 0.0)

    @property
    def creep(self) -> float:
        """The median speed of contacts that are held firmly, m/s."""
        return float(np.median(self.creeps)) if self.creeps else np.nan

    @property
    def friction(self) -> float:
        """The median share of mu N at contacts that slide."""
        return float(np.median(self.ratios)) if self.ratios else np.nan


def ours(system: Any, state: State, controls: Sequence[Array], method: MoreauJean) -> Errors:
    """Take one step per control; steps that kernels hand over count for their work only."""
    from ..integrate.time_stepping.core.advance import CompiledSystem
    from ..integrate.time_stepping.core.outside.lazy_step import CompiledStep

    errors, kernels = Errors(), CompiledSystem.of(system, state)
    assert isinstance(kernels, CompiledSystem)
    for control in controls:
        step = method.advance(system, state, state.t + method.dt, control=control)
        state = step.state
        errors.work(step.work.reactions)
        for mu, p, rate in _contacts(kernels) if isinstance(step, CompiledStep) else ():
            errors.contact(mu, p, rate)
    return errors


def _contacts(kernels: CompiledSystem) -> Iterator[tuple[float, Array, Array]]:
    """Yield coefficient, impulse and tangential velocity at the end of every contact of the last step."""
    from ..integrate.time_stepping.core.records import MU

    layout, data = kernels.parts.model.layout, kernels.parts.data
    for k in range(int(layout.counts[FIXED]), int(layout.counts[ALL])):
        at = int(layout.start[k])
        if data.acts[k] and layout.start[k + 1] - at >= 3:
            yield float(data.end.law[k, MU]), data.p[at : at + 3], data.end.rate[at + 1 : at + 3]


def theirs(model: Any, start: State, controls: Sequence[Array]) -> Errors:
    """Take the same steps with MuJoCo."""
    import mujoco

    data, errors, force = mujoco.MjData(model), Errors(), np.zeros(6)
    data.qpos[:], data.qvel[:] = start.q, start.v
    J = [np.zeros((3, model.nv)) for _ in range(2)]
    for control in controls:
        data.ctrl[:], before = control, data.qvel.copy()
        mujoco.mj_step(model, data)  # contacts and Jacobians are those of its start, qvel that of its end
        errors.work(model.opt.timestep * float(data.qfrc_constraint @ (before + data.qvel)) / 2.0)
        for i, contact in enumerate(data.contact[: data.ncon]):
            mujoco.mj_contactForce(model, data, i, force)
            for one, geom in zip(J, contact.geom, strict=True):
                mujoco.mj_jac(model, data, one, None, contact.pos, model.geom_bodyid[geom])
            u = contact.frame.reshape(3, 3) @ ((J[1] - J[0]) @ data.qvel)
            errors.contact(float(contact.friction[0]), force[:3], u[1:])
    return errors
