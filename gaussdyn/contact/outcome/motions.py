"""All motions of a state, with accelerations and reactions: where a run may go on when the outcome is not unique."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...mechanics.rows import Row
from ...programs.enumeration.enumerate import LIMIT, Component, Leaf, enumerate_modes, letters
from ...programs.enumeration.modal_problem import ModalProblem
from ...programs.enumeration.stick_priority import stick_priority
from ..active_set import active_set
from ..snapshot import LocalDynamics
from .modal_data import ContactRows, contact_rows, dynamics_problem


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Branch:
    """One motion that the laws admit.

    Attributes
    ----------
    modes : mapping of str to str
        Letter of the mode of every contact that acts, by id: D detaches, S sticks, + and - begin to slip, L slides on
        (s, p, m, l where a contact held on both sides pulls); 0 and 1 of rows without friction, or D and L.
    x : Array, shape (nv,)
        Acceleration, m/s^2.
    reactions : mapping of str to Array
        Force of every row that acts, N, by id; one choice where the forces are not unique.
    continuum : bool
        Whether it stands for a continuum of motions, of which it is one inside.
    forces_unique : bool
    """

    modes: Mapping[str, str]
    x: Array
    reactions: Mapping[str, Array]
    continuum: bool = False
    forces_unique: bool = True

    @property
    def label(self) -> str:
        """The letters of all modes."""
        return "".join(self.modes.values())


def branches(dynamics: LocalDynamics, *, mu_s_rule: str = "all", limit: int = LIMIT) -> tuple[Branch, ...]:
    """Return all accelerations of a state, with reactions; of a continuum one for every mode.

    Parameters
    ----------
    dynamics : LocalDynamics
        On the acceleration level.
    mu_s_rule : str
        all, or stick: see `outcome`.
    limit : int
        Largest number of leaves of the tree of modes; beyond it nothing is returned.

    Raises
    ------
    InputError
        No acceleration can be asked for at this state, or its modes are not linear (contacts in space at rest).
    """
    rows = contact_rows(dynamics)
    problem = dynamics_problem(dynamics)
    found = enumerate_modes(problem, certify=False, limit=limit)
    if not found.complete:
        return ()
    if mu_s_rule == "stick":
        found, _ = stick_priority(found)
    leaves = {letters(problem, leaf.modes): leaf for leaf in found.leaves if leaf.face is not None}
    made = []
    for component in found.components:
        chosen = component.modes if component.point is None else component.modes[:1]
        made += [_branch(dynamics, rows, problem, leaves[name], component) for name in chosen]
    return tuple(made)


def _branch(
    dynamics: LocalDynamics, rows: Sequence[ContactRows], problem: ModalProblem, leaf: Leaf, component: Component
) -> Branch:
    """Return the motion of a mode."""
    assert leaf.face is not None  # chosen so
    f, force, modes = np.array([float(x) for x in leaf.face.forces]), dynamics.h.copy(), letters(problem, leaf.modes)
    reactions: dict[str, Array] = {}
    held: list[tuple[str, ContactRows]] = []
    named: dict[str, str] = {}
    for active, one in zip(active_set(dynamics).rows, rows, strict=True):
        row = active.row
        if one.block is not None:
            named[row.id], modes = modes[0], modes[1:]
            r, f = f[: len(one.B)], f[len(one.B) :]
            force += one.B.T @ r
            reactions[row.id] = _full(row, one, r)
        elif one.force is not None:
            force += one.force
            reactions[row.id] = -row.cap * np.sign(row.rate)
        else:
            held.append((row.id, one))
    x, lam = _held(dynamics.M, force, [one for _, one in held])
    for name, one in held:
        reactions[name], lam = lam[: len(one.J)], lam[len(one.J) :]
    unique, many = component.forces_unique, component.point is None
    return Branch(modes=named, x=x, reactions=reactions, continuum=many, forces_unique=unique)


def _full(row: Row, one: ContactRows, r: Array) -> Array:
    """Return the reaction on all rows of a constraint; the friction of a contact that slides in space is in B."""
    full = np.zeros(row.size)
    full[: len(r)] = r
    if one.sliding and len(one.B) == 1:
        full[1:3] = -row.mu * r[0] * row.rate[1:3] / row.slip_speed
    return full


def _held(M: Array, force: Array, held: Sequence[ContactRows]) -> tuple[Array, Array]:
    """Return x and lam of M x = force + G^T lam, G x = -w; the least lam where joints are redundant."""
    free = np.asarray(np.linalg.solve(M, force))
    if not held:
        return free, np.zeros(0)
    G, w = np.vstack([one.J for one in held]), np.concatenate([one.w for one in held])
    S = np.linalg.solve(M, G.T)
    lam = np.asarray(np.linalg.lstsq(G @ S, -w - G @ free, rcond=1e-12)[0])
    return free + S @ lam, lam
