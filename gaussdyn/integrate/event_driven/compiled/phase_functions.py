"""A phase whose system is asked as a whole at one state: the generated function of a Lagrangian one, or Python.

What it says stands in one array, as `lagrangian.Layout` has it. Coefficients of friction are read from there, too:
those from symbols and of rows of your own may depend on the state, those of other rows are put once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from ...._jit import address_of, nothing
from ....arrays import Array
from ....mechanics.lagrangian.model import Layout
from ....mechanics.lagrangian.system import LagrangianSystem
from ....mechanics.planar.system import PlanarSystem
from ....mechanics.spatial.system import SpatialSystem
from ....mechanics.system import System
from ....mechanics.trees.jointed_system import JointedSystem
from ....mechanics.trees.system import TreeSystem
from ....mechanics.user.system import UserSystem, own
from ...contact_modes import rough
from ...time_stepping.core.python_system import Answers, Ask
from ...time_stepping.core.records import Callback
from ..guards import limit_name
from ..smooth_phase import Phase
from .records import FunctionOfSystem

OF_NUMBERS = PlanarSystem, SpatialSystem, TreeSystem, JointedSystem  # coefficients of their rows depend on nothing
LAWS = ("mu", "mu_s", "mu_r", "mu_t", "cap", "cap_s")  # of a row that Python has made, behind its drift


class Blank(NamedTuple):
    """What `Layout` asks of a row: how many rows it has, and what coefficients."""

    size: int
    coefficients: tuple[str, ...] = LAWS


_laws = attrgetter(*LAWS)


class Asked(NamedTuple):
    """A function for kernels, who answers where it is Python, and the force of a control that it does not know."""

    function: FunctionOfSystem
    answers: Answers | None
    push: Array


def function_of(phase: Phase) -> Asked:
    """Return what says all of the system of a phase."""
    system = phase.system
    return _generated(phase, system) if type(system) is LagrangianSystem else _in_python(phase, system)


def may_set_in(phase: Phase) -> bool:
    """Whether friction may set in within a phase that no mode was chosen for, as it is zero where that begins.

    Rows of your own may have any coefficients at the next state: those of the library's systems are numbers.
    """
    smooth, system = [not rough(row) and row.kind != "bilateral" for row in phase.rows], phase.system
    if type(system) is LagrangianSystem:
        return any(none and element.varies for none, element in zip(smooth, system.model.elements, strict=True))
    return any(smooth) and not _of_numbers(system)


def _of_numbers(system: System) -> bool:
    """Whether coefficients of rows depend on nothing."""
    return own(system, "rows") if isinstance(system, UserSystem) else type(system) in OF_NUMBERS


def _generated(phase: Phase, system: LagrangianSystem) -> Asked:
    layout, elements = system.layout, system.model.elements
    named = [{name: at.coefficients.start + c for c, (name, _) in enumerate(element.coefficients)}
             for at, element in zip(layout.places, elements, strict=True)]  # fmt: skip
    out, controls = np.zeros(layout.size), len(system.model.controls)
    control, push = np.zeros(controls), np.zeros(system.nv)
    if phase.control is not None:
        (control if controls else push)[:] = phase.control
    evaluate, params = system.evaluate, system.values_of_parameters
    address = address_of(evaluate) if hasattr(evaluate, "overloads") else 0

    def run(t: float, q: Array, v: Array) -> None:
        """Fill it in."""
        evaluate(t, q, v, control, params, out)

    answers = None if address else Answers(system.nq, system.nv, {0: run})
    function = nothing(FunctionOfSystem)._replace(address=address, control=control, params=params, out=out, qdot=-1)
    return Asked(_with_rows(phase, function, layout, named), answers, push)


def _in_python(phase: Phase, system: System) -> Asked:
    layout = Layout.of(system.nv, [Blank(row.size) for row in phase.rows])  # type: ignore[misc]
    out, end = np.zeros(layout.size + system.nq), layout.size
    named = [{name: at.coefficients.start + c for c, name in enumerate(LAWS)} for at in layout.places]
    for row, at in zip(phase.rows, layout.places, strict=True):
        out[at.coefficients] = _laws(row)
    answers = Answers(system.nq, system.nv, {0: _asking(phase, system, layout, out)})
    function = nothing(FunctionOfSystem)._replace(out=out, qdot=end)
    return Asked(_with_rows(phase, function, layout, named), answers, np.zeros(system.nv))


def _asking(phase: Phase, system: System, layout: Layout, out: Array) -> Ask:
    """Return what puts the answers of a system in Python at (t, q, v)."""
    M, rates = out[layout.M].reshape(system.nv, system.nv), out[layout.size :]
    parts = [(at.gap, out[at.J].reshape(at.shape), out[at.rate], out[at.drift]) for at in layout.places]
    simple = isinstance(system, UserSystem) and own(system, "rows")
    known = own(system, "force") and own(system, "power")
    laws = [] if _of_numbers(system) else [out[at.coefficients] for at in layout.places]

    def answer(t: float, q: Array, v: Array) -> None:
        """Put them."""
        rows = system.rates(t, q, v, drifts=True) if simple else system.rows(t, q, v)  # type: ignore[attr-defined]
        for row, (gap, J, rate, drift) in zip(rows, parts, strict=True):
            out[gap], J[:], rate[:], drift[:] = row.gap, row.J, row.rate, row.drift
        for row, law in zip(rows, laws, strict=False):
            law[:] = _laws(row)
        h = system.force(t, q, v, phase.control)
        M[:], out[layout.h], rates[:] = system.mass(q), h, system.qdot(q, v)
        out[layout.power] = system.power(t, q, v, phase.control, **({"force": h} if known else {}))

    return answer


def _with_rows(
    phase: Phase, function: FunctionOfSystem, layout: Layout, named: Sequence[Mapping[str, int]]
) -> FunctionOfSystem:  # fmt: skip
    """Return a function with the places of rows, and of what friction of the modes of a phase depends on."""
    place = [(at.gap, at.J.start, at.rate.start, at.drift.start) for at in layout.places]
    pulls = [
        (_place(named[part.k], "cap" if part.dry else mu), 1.0 if part.dry else part.sign)
        for part in phase.parts for _, mu, _ in part.slips
    ]  # fmt: skip
    limits = [_place(named[g.k], name) if (name := limit_name(g, phase.rows[g.k])) else -1 for g in phase.guards]
    return function._replace(
        place=np.array(place, dtype=np.int64).reshape(len(place), 4),
        pull_at=np.array([at for at, _ in pulls], dtype=np.int64), pull_sign=np.array([sign for _, sign in pulls]),
        limit_at=np.array(limits, dtype=np.int64),
    )  # fmt: skip


def _place(at: Mapping[str, int], name: str) -> int:
    """Return where a coefficient stands; at rest it is that of sliding where it was not given."""
    return at[name] if name in at else at[{"mu_s": "mu", "cap_s": "cap"}[name]]


def callback_of(answers: Answers | None) -> Callback:
    """Return how kernels ask, if they do."""
    return nothing(Callback) if answers is None else answers.callback
