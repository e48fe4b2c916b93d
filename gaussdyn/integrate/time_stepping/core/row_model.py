"""From a system to what kernels work on: who evaluates it, which rows it has, and room for one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...._jit import nothing
from ....arrays import Array, IntArray, vector
from ....contact.snapshot import rows_of
from ....mechanics.joints.part_rows import DAMPER
from ....mechanics.lagrangian.system import LagrangianSystem
from ....mechanics.planar import tables
from ....mechanics.planar.spec import Constraint
from ....mechanics.planar.system import PlanarSystem
from ....mechanics.rows import KINDS, LEVELS, Row
from ....mechanics.spatial.mechanism import has_tables, mechanism_of
from ....mechanics.spatial.system import SpatialSystem
from ....mechanics.state import State
from ....mechanics.system import System
from ....mechanics.trees.forest import ABOVE
from ....mechanics.trees.system import TreeSystem
from ....mechanics.user.system import UserSystem
from . import forest_model, planar_model, spatial_model
from .python_system import Answers, PythonSystem, law_of
from .records import (
    ALONE,
    BRANCH,
    CALLBACK,
    CAP,
    EPS_N,
    EPS_T,
    FIXED,
    FIXED_ROWS,
    FOREST,
    HIGH,
    LOGGED,
    MU,
    MU_R,
    MU_S,
    NODES,
    PLANAR,
    PROGRAM,
    SOFT,
    SPATIAL,
    UNBENT,
    Bound,
    Callback,
    Carried,
    Data,
    Layout,
    Model,
    Program,
    Rows,
)

LISTED = 32  # contacts of shapes in the plane that there is room for at first, at most
COEFFICIENTS = {"mu": MU, "mu_s": MU_S, "cap": CAP, "mu_t": CAP, "mu_r": MU_R, "eps_n": EPS_N, "eps_t": EPS_T}


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

    def tell(self, control: Array | None, nv: int) -> bool:
        """Put a control into the arrays of the kernels, and return whether these are trees that were told the same.

        nv: the number of velocities.
        """
        model = self.model
        if model.layout.who == PLANAR:
            model.planar.bodies[4] = 0.0 if control is None else vector("control", control, nv)
        elif model.layout.who == SPATIAL:
            model.mechanism.load[1] = 0.0 if control is None else vector("control", control, nv)
        elif model.layout.who == FOREST:
            told = model.forest.drives.control
            before = told.tobytes()
            told[:] = 0.0 if control is None else vector("control", control, len(told))
            return told.tobytes() == before
        elif model.layout.who == PROGRAM:
            into = model.program.control if len(model.program.control) else model.program.push
            into[:] = 0.0 if control is None else vector("control", control, len(into))
        elif self.python is not None:
            self.python.put_control(control)
        return False


def built(system: System, state: State, room: int = 0) -> Built:
    """Return a system for kernels, with the rows that it has at a state, which are always the same but for shapes.

    Parameters
    ----------
    system : System
    state : State
    room : int
        For so many contacts of shapes; 0: a guess.
    """
    who = _who(system)
    if who == SPATIAL:
        return _built_of_bodies(system, state, room)  # type: ignore[arg-type]
    if who == FOREST:
        return _built_of_trees(system, room)  # type: ignore[arg-type]
    if who == PLANAR:
        return _built_in_plane(system, state, room)  # type: ignore[arg-type]
    return _built_of_functions(system, who, state)


def of_listed(system: System, state: State) -> Built:
    """Return a system whose contacts have been listed for kernels: by tables where it has them, else `by_answers`."""
    if type(system) is not PlanarSystem or system.listed_contacts is None or not tables.serves(system):
        return by_answers(system, state)
    return _in_plane(system, system.listed_contacts, rows_of(system, state.t, state.q, state.v), 0)


def by_answers(system: System, state: State) -> Built:
    """Return a system for kernels, whose functions Python calls."""
    return _built_of_functions(system, CALLBACK, state)


def _built_of_functions(system: System, who: int, state: State) -> Built:
    """Return a system that evaluates itself: the generated function of a Lagrangian one, or functions in Python."""
    found = rows_of(system, state.t, state.q, state.v)
    layout = _layout(system, who, found, None)
    rows = _rows(system, layout)
    law = np.array([law_of(row) for row in found]).reshape(-1, 6)
    python = PythonSystem(system, found, rows, layout.start.tolist()) if who == CALLBACK else None
    program = _program(system, found, law) if who == PROGRAM else nothing(Program)  # type: ignore[arg-type]
    answers = None if python is None else python.answers
    if who == PROGRAM and program.address == 0:
        answers = _interpreted(system, program)  # type: ignore[arg-type]
    callback = Callback(0, np.zeros(0), np.zeros(1), _counts(UNBENT + 1)) if answers is None else answers.callback
    if isinstance(system, LagrangianSystem):
        callback.known[UNBENT] = not system.model.bends
    M = np.zeros((0, 0)) if python is None else python.M
    model = nothing(Model)._replace(layout=layout, program=program, callback=callback, rows=rows, M=M)
    return Built(model, _data(system, layout), tuple(row.id for row in found), python, answers)


def _built_in_plane(system: PlanarSystem, state: State, room: int) -> Built:
    """Return a system of bodies in the plane, whose contacts of shapes kernels list."""
    detector = system.detector
    if detector is None:
        return _in_plane(system, system.contacts, rows_of(system, state.t, state.q, state.v), 0)
    room = room or min(LISTED, 4 * len(detector.laws))
    made = _in_plane(system, system.contacts, rows_of(system.taking((), system), state.t, state.q, state.v), room)
    touches, carried = planar_model.touches_of(system, room), _carried(made.model.layout)
    return replace(made, model=made.model._replace(touches=touches, carried=carried))


def _in_plane(system: PlanarSystem, contacts: Sequence[Constraint], found: tuple[Row, ...], room: int) -> Built:
    """Return a system of bodies in the plane with these contacts and rows, and room for more."""
    dampers = tables.dampers_of(system)
    soft = [_damper(entry[0], damping, system.nv) for entry, damping in dampers]
    found = tuple(sorted((*found, *soft), key=lambda row: row.id))
    law = np.array([law_of(row) for row in found]).reshape(-1, 6)
    planar = planar_model.planar_of(system, contacts, law, room, [entry for entry, _ in dampers])
    moved = [one for one, row in zip(planar_model.moved(planar), found, strict=False) for _ in range(row.size)]
    layout = _softened(_layout(system, PLANAR, found, moved, room, 2), found)
    model = nothing(Model)._replace(layout=layout, planar=planar)
    return Built(model, _data(system, layout, law), tuple(row.id for row in found), None, None)


def _carried(layout: Layout) -> Carried:
    """Return room for what goes from step to step with contacts of shapes."""
    room = len(layout.kind) - int(layout.counts[FIXED])
    last = np.zeros(len(layout.reach))
    return Carried(_counts(room), _counts(1), _counts(room), _counts(room), last, _counts(room))


def _built_of_bodies(system: SpatialSystem, state: State, room: int) -> Built:
    """Return a system of bodies in space."""
    tables, lines = mechanism_of(system)
    known = {row.id: row for row in system.joint_rows(state.t, state.q, state.v)}
    found = tuple(known[line.id] if not line.damping else _damper(line.id, line.damping, system.nv) for line in lines)
    laws = np.array([law_of(row) for row in found]).reshape(-1, 6)
    nodes, node = spatial_model.nodes_of(system)
    shapes = spatial_model.shapes_of(system, node, room)
    own = [tuple((node[list(line.bodies)] - (0, 1)).ravel().tolist()) for line in lines]
    layout = _softened(_layout(system, SPATIAL, found, own, len(shapes.kind), 5, nodes), found)
    carried = _carried(layout)
    model = nothing(Model)._replace(layout=layout, mechanism=tables, shapes=shapes, carried=carried)
    return Built(model, _data(system, layout, laws), tuple(row.id for row in found), None, None)


def _built_of_trees(system: TreeSystem, room: int) -> Built:
    """Return trees of bodies."""
    forest, ahead, nodes, node, ends = forest_model.forest_of(system)
    laws = np.array([law_of(row) for row in system.blanks]).reshape(-1, 6)
    shapes = spatial_model.shapes_of(system, np.stack([node, node + (node >= 0)], axis=1), room)
    above = forest.trees.dofs[:, ABOVE]
    own = [tuple((np.searchsorted(nodes, end, side="right") - 1).tolist()) for end in ends]
    layout = _layout(system, FOREST, system.blanks, own, len(shapes.kind), 5, nodes, above)
    layout.reach[: len(ends), HIGH] = [max(end) + 1 for end in ends]
    layout.reach[: len(ends), BRANCH] = [len(end) == 1 for end in ends]
    model = nothing(Model)._replace(layout=layout, forest=forest, ahead=ahead, shapes=shapes, carried=_carried(layout))
    data = _data(system, layout, laws)
    for rows in (data.begin, data.mid, data.end, *((data.seen,) if layout.turning else ())):  # else it is `mid`
        forest_model.put_steady_rows(forest, rows.J)
    steady = data.mid.J[: len(ends)] != 0.0
    layout.reach[: len(ends), ALONE] = np.where(steady.sum(axis=1) == 1, 1 + steady.argmax(axis=1), 0)
    return Built(model, data, tuple(row.id for row in system.blanks), None, None)


def _damper(id: str, damping: float, nv: int) -> Row:
    """Return a damper as a row, its coefficient as mu."""
    return Row(id=id, kind="bilateral", J=np.zeros((1, nv)), rate=np.zeros(1), drift=np.zeros(1), mu=damping)


def _softened(layout: Layout, found: tuple[Row, ...]) -> Layout:
    """Return a layout in which dampers are soft."""
    soft = [k for k, row in enumerate(found) if row.id.startswith(DAMPER)]
    layout.kind[soft] = SOFT
    return layout._replace(dampers=len(soft))


def _layout(
    system: System, who: int, found: tuple[Row, ...], bodies: Sequence[tuple[int, ...]] | None, room: int = 0,
    size: int = 0, nodes: IntArray | None = None, above: IntArray | None = None,
) -> Layout:  # fmt: skip
    """Return what rows are of, the nodes of each where they are known; with room for contacts of `size` rows.

    `above`: see `_branches`.
    """
    n, m, nodes = len(found), sum(row.size for row in found), _nodes(system, who) if nodes is None else nodes
    kind, level, start = _counts(n + room), _counts(n + room), np.full(n + room + 1, m)
    kind[:n], level[:n] = [KINDS.index(row.kind) for row in found], [LEVELS.index(row.level) for row in found]
    start[: n + 1] = np.cumsum([0, *(row.size for row in found)])
    reach = np.zeros((m + size * room, ALONE + 1), dtype=np.int64)
    reach[:, HIGH], reach[:, NODES] = system.nv, len(nodes) - 1
    for i in range(m if bodies is not None else 0):
        assert bodies is not None
        reach[i, :BRANCH] = nodes[min(bodies[i])], nodes[max(bodies[i]) + 1], min(bodies[i]), max(bodies[i]) + 1
    turning = int(level.any())
    return Layout(who, np.array([n, m, n, m]), kind, level, start, nodes, reach, _branches(nodes, above), turning, 0)


def _branches(nodes: IntArray, above: IntArray | None) -> IntArray:
    """Return `Layout.branches`; `above`: the next velocity to the root, None: the one before in the same node."""
    if above is None:
        above = np.arange(-1, nodes[-1] - 1)
        above[nodes[:-1]] = -1
    ways: list[list[int]] = []
    for k, up in enumerate(above.tolist()):
        ways.append([*(ways[up] if up >= 0 else []), k])
    table = np.zeros((len(ways), 2 + max(map(len, ways), default=0)), dtype=np.int64)
    for line, way in zip(table, ways, strict=True):
        line[: 1 + len(way)] = len(way), *way
        line[-1] = sum(k == way[0] + a for a, k in enumerate(way))  # they rise: what is behind a gap never is
    return table


def _counts(n: int) -> IntArray:
    return np.zeros(n, dtype=np.int64)


def _who(system: System) -> int:
    if type(system) is PlanarSystem and planar_model.serves(system):
        return PLANAR
    if type(system) is SpatialSystem and system.contacts.found is None and has_tables(system):
        return SPATIAL
    if getattr(system, "forest", None) is not None and system.contacts.found is None:  # type: ignore[attr-defined]
        return FOREST
    return PROGRAM if type(system) is LagrangianSystem else CALLBACK


def steady(system: System) -> bool:
    """Return whether the constraints of a system are always the same, but for contacts that kernels find."""
    if _who(system) in (SPATIAL, PLANAR, FOREST):
        return True
    always = (UserSystem.near, LagrangianSystem.near)
    return getattr(type(system), "near", None) in always


def shape_contact(system: System, label: tuple[int, ...]) -> str:
    """Return the id of a contact of shapes."""
    if isinstance(system, PlanarSystem):
        assert system.detector is not None
        return system.detector.contact(label).id  # type: ignore[arg-type]
    return system.contacts.shapes.id(label)  # type: ignore[attr-defined, no-any-return]


def _nodes(system: System, who: int) -> IntArray:
    """Return where the diagonal blocks of the mass begin."""
    return np.arange(system.nv + 1) if who == PLANAR else np.array([0, system.nv])


def _rows(system: System, layout: Layout) -> Rows:
    n, m = len(layout.kind), len(layout.reach)
    J, law, asked = np.zeros((m, system.nv)), np.zeros((n, 6)), np.ones(n, dtype=np.int64)
    return Rows(np.zeros(n), np.zeros(m), J, law, asked, _counts(n), _counts(n))


def _data(system: System, layout: Layout, laws: Array | None = None) -> Data:
    """Return room for a step; with the laws of all that are no contacts of shapes, where they are always the same."""
    nq, nv, n, m = system.nq, system.nv, len(layout.kind), len(layout.reach)
    acts, joined = (np.zeros(n, dtype=np.int64) for _ in range(2))
    begin, mid, end = (_rows(system, layout) for _ in range(3))
    seen = _rows(system, layout) if layout.turning else mid
    begin, end = begin._replace(keeps=mid.chart), end._replace(asked=acts, keeps=mid.chart)
    if laws is not None:
        for rows in (begin, mid, end, seen):
            rows.law[: len(laws)] = laws
    places, speeds, impulses = ([np.zeros(k) for _ in range(4)] for k in (nq, nv, m))
    M, of, L = np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros((nv, nv + 3))
    bare, h, foreseen, tried = np.zeros(nv), np.zeros(nv), np.zeros(nq + nv), np.full(nq, np.nan)
    K = np.full_like(L, np.nan) if layout.who in (FOREST, CALLBACK) else L
    inverse = np.zeros((0, 0)) if layout.who == FOREST else np.zeros((nv, nv))
    return Data(
        places[0], speeds[0], places[1], speeds[1], foreseen, places[2], places[3], tried, impulses[0], impulses[1],
        acts, joined, impulses[2], np.zeros(n), M, L, K, of, inverse, bare, h, impulses[3], begin, mid, end, seen,
        _bound(int(layout.counts[FIXED_ROWS])), np.zeros((16, nv)), np.zeros(LOGGED),
    )  # fmt: skip


def _bound(m: int) -> Bound:
    """Return room for dependences of m rows."""
    return Bound(
        _counts(4), np.full(m, -1), _counts(m), np.zeros((m, ALONE + 1), np.int64), np.zeros(m), np.zeros(m),
        np.zeros((m, m)), np.zeros((m, m)),
    )  # fmt: skip


def _program(system: LagrangianSystem, found: tuple[Row, ...], law: Array) -> Program:
    from ...._jit import address_of

    place = np.full((len(found), 9), -1, dtype=np.int64)
    for k, (at, element) in enumerate(zip(system.layout.places, system.model.elements, strict=True)):
        place[k, :3] = at.gap, at.J.start, at.rate.start
        for c, (name, _) in enumerate(element.coefficients):
            place[k, 3 + _column(name, element.kind)] = at.coefficients.start + c
    controls, nv = len(system.model.controls), system.nv
    out, seen = np.zeros(system.layout.size), np.zeros(2 + system.nq + nv)
    address = address_of(system.evaluate) if hasattr(system.evaluate, "overloads") else 0
    bending = address_of(system.bending) if address != 0 and system.model.bends else 0
    return Program(
        address, system.values_of_parameters, np.zeros(controls), out, seen, np.zeros(nv), place, law, bending,
        np.zeros(nv),
    )  # fmt: skip


def _interpreted(system: LagrangianSystem, program: Program) -> Answers:
    """Return who fills in `program.out` where the function of a system is not compiled."""
    from .evaluate import ASK_CORIOLIS, ASK_PROGRAM

    evaluate = system.evaluate

    def run(t: float, q: Array, v: Array) -> None:
        """Fill it in."""
        evaluate(t, q, v, program.control, program.params, program.out)

    def bend(t: float, q: Array, v: Array) -> None:
        """Put its Coriolis forces."""
        system.bending(t, q, v, program.control, program.params, answers.callback.answer[: len(v)])

    answers = Answers(system.nq, system.nv, {ASK_PROGRAM: run, ASK_CORIOLIS: bend})
    return answers


def _column(name: str, kind: str) -> int:
    """Return the law column of a coefficient; of dry rows the cap at rest stands where others have mu_s."""
    return MU_S if name == "cap_s" else COEFFICIENTS[name]
