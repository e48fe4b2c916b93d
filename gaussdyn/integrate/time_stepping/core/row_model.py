"""From a system to what kernels work on: who evaluates it, which rows it has, and room for one step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....arrays import Array, IntArray
from ....contact.snapshot import rows_of
from ....mechanics.lagrangian.system import LagrangianSystem
from ....mechanics.planar.system import PlanarSystem
from ....mechanics.rows import KINDS, LEVELS, Row
from ....mechanics.state import State
from ....mechanics.system import System
from ....mechanics.user.system import UserSystem
from ...stepper import near_of
from . import planar_model
from .python_system import Answers, PythonSystem, law_of
from .records import (
    CALLBACK,
    CAP,
    EPS_N,
    EPS_T,
    LOGGED,
    MU,
    MU_R,
    MU_S,
    PLANAR,
    PROGRAM,
    Callback,
    Data,
    Layout,
    Model,
    Program,
    Rows,
)

LARGEST = 200  # velocities: more are for sparse factors
COEFFICIENTS = {"mu": MU, "mu_s": MU_S, "cap": CAP, "mu_r": MU_R, "eps_n": EPS_N, "eps_t": EPS_T}


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A system for kernels.

    Attributes
    ----------
    model : Model
    data : Data
    ids : tuple of str
    python : PythonSystem or None
        Who answers where functions are Python.
    answers : Answers or None
        The same for a Lagrangian system that is not compiled.
    """

    model: Model
    data: Data
    ids: tuple[str, ...]
    python: PythonSystem | None
    answers: Answers | None


def built(system: System, state: State) -> Built | None:
    """Return a system for kernels, with the rows that it has at a state; None if they do not serve it.

    They serve every system whose constraints are always the same, but not those that bind accelerations.
    """
    who = _who(system)
    if system.nv > LARGEST or (who == CALLBACK and _left_to_others(system)):
        return None
    if near_of(system, state, 0.0) is not system:
        return None
    found = rows_of(system, state.t, state.q, state.v)
    if any(row.level == "acceleration" for row in found):
        return None
    start = np.cumsum([0, *(row.size for row in found)])
    levels = [LEVELS.index(row.level) for row in found]
    layout = Layout(
        who, np.array([KINDS.index(row.kind) for row in found], dtype=np.int64),
        np.array(levels, dtype=np.int64), start.astype(np.int64), _nodes(system, who),
        int(any(levels)),
    )  # fmt: skip
    rows = _rows(system, layout)
    law = np.array([law_of(row) for row in found]).reshape(-1, 6)
    python = PythonSystem(system, found, rows, start.tolist()) if who == CALLBACK else None
    program = _program(system, found, law) if who == PROGRAM else _no_program()  # type: ignore[arg-type]
    answers = None if python is None else python.answers
    if who == PROGRAM and program.address == 0:
        answers = _interpreted(system, program)  # type: ignore[arg-type]
    callback = Callback(0, np.zeros(0), np.zeros(1)) if answers is None else answers.callback
    planar = planar_model.planar_of(system, law) if who == PLANAR else planar_model.none()  # type: ignore[arg-type]
    M = np.zeros((0, 0)) if python is None else python.M
    model = Model(layout, planar, program, callback, rows, M)
    return Built(model, _data(system, layout), tuple(row.id for row in found), python, answers)


def _who(system: System) -> int:
    if type(system) is PlanarSystem and planar_model.serves(system):
        return PLANAR
    return PROGRAM if type(system) is LagrangianSystem else CALLBACK


def _left_to_others(system: System) -> bool:
    """Return whether a system is one for the interpreted scheme: it lists contacts late, or gives dh/dv itself."""
    return hasattr(system, "taking") or hasattr(system, "force_gradient")


def steady(system: System) -> bool:
    """Return whether the constraints of a system are the same in all states, without asking `near` each time."""
    always = (UserSystem.near, LagrangianSystem.near, PlanarSystem.near)  # of a planar one that was found to be so
    return getattr(type(system), "near", None) in always


def _nodes(system: System, who: int) -> IntArray:
    """Return where the diagonal blocks of the mass begin."""
    return np.arange(system.nv + 1) if who == PLANAR else np.array([0, system.nv])


def _rows(system: System, layout: Layout) -> Rows:
    n, m = len(layout.kind), int(layout.start[-1])
    return Rows(np.zeros(n), np.zeros(m), np.zeros((m, system.nv)), np.zeros((n, 6)))


def _data(system: System, layout: Layout) -> Data:
    """Return room for a step."""
    nq, nv, n, m = system.nq, system.nv, len(layout.kind), int(layout.start[-1])
    begin, mid, end = (_rows(system, layout) for _ in range(3))
    seen = _rows(system, layout) if layout.turning else mid
    places, speeds, impulses = ([np.zeros(k) for _ in range(4)] for k in (nq, nv, m))
    acts, joined = (np.zeros(n, dtype=np.int64) for _ in range(2))
    return Data(
        places[0], speeds[0], places[1], speeds[1], places[2], places[3], impulses[0], impulses[1], acts, joined,
        impulses[2], np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros(nv), impulses[3], begin, mid, end, seen,
        np.zeros((15, nv)), np.zeros(LOGGED),
    )  # fmt: skip


def _program(system: LagrangianSystem, found: tuple[Row, ...], law: Array) -> Program:
    from ...._jit import address_of

    place = np.full((len(found), 9), -1, dtype=np.int64)
    for k, (at, element) in enumerate(zip(system.layout.places, system.model.elements, strict=True)):
        place[k, :3] = at.gap, at.J.start, at.rate.start
        for c, (name, _) in enumerate(element.coefficients):
            place[k, 3 + _column(name, element.kind)] = at.coefficients.start + c
    controls, nv = len(system.model.controls), system.nv
    out = np.zeros(system.layout.size)
    address = address_of(system.evaluate) if hasattr(system.evaluate, "overloads") else 0
    return Program(
        address, system.values_of_parameters, np.zeros(controls), out, np.zeros(nv), place, law
    )  # fmt: skip


def _interpreted(system: LagrangianSystem, program: Program) -> Answers:
    """Return who fills in `program.out` where the function of a system is not compiled."""
    from .evaluate import ASK_PROGRAM

    evaluate = system.evaluate

    def run(t: float, q: Array, v: Array) -> None:
        """Fill it in."""
        evaluate(t, q, v, program.control, program.params, program.out)

    return Answers(system.nq, system.nv, {ASK_PROGRAM: run})


def _column(name: str, kind: str) -> int:
    """Return the law column of a coefficient; of dry rows the cap at rest stands where others have mu_s."""
    return MU_S if name == "cap_s" else COEFFICIENTS[name]


def _no_program() -> Program:
    nothing = np.zeros(0)
    return Program(0, nothing, nothing, nothing, nothing, np.zeros((0, 9), dtype=np.int64), np.zeros((0, 6)))
