"""What a system says about one state, put into arrays: the only place where kinds of system differ.

Every function returns False where a function in Python failed; the step ends there, and its caller raises.
"""

from __future__ import annotations

import math

from ...._jit import A1, A2, I1, call_back, caller, kernel
from ....arrays import Array, IntArray
from ....mechanics.collision.contact_rows import body_poses
from ....mechanics.planar.row_kernels import GAP, RATE, combine_rows, planar_forces, planar_potential, planar_rows
from ....mechanics.spatial.row_kernels import (
    HELD_POINT,
    KIND,
    OFFSET,
    SECOND,
    joint_row,
    move_bodies3,
    point_rows,
    put_bodies,
    spatial_forces,
    spatial_mass,
    spatial_potential,
)
from ....mechanics.trees.forces import drives_beside, leave_drives
from ....mechanics.trees.forest import DAMPING, MEET, RUB, WHAT, Forest
from ....mechanics.trees.frames import fastest_points
from ....mechanics.trees.kinematics import move_trees, place_bodies
from ....mechanics.trees.motion import (
    forest_forces,
    forest_kinetic,
    forest_mass,
    forest_potential,
    forest_power,
    put_forest,
)
from ....mechanics.trees.paths import put_paths
from ....mechanics.trees.row_kernels import coupling_row, meet_gap, steady_gaps, steady_rows
from .linear import dot, multiply_mass
from .records import (
    ALL,
    CALLBACK,
    CAP,
    DRY,
    FIXED,
    FIXED_ROWS,
    FOREST,
    HIGH,
    LEVEL,
    LOW,
    MU,
    MU_S,
    NO_ROWS,
    PLANAR,
    SPATIAL,
    STEADY,
    STRAIGHT,
    Callback,
    Model,
    Planar,
    Program,
    Rows,
)
from .shape_contacts import contact_of_shapes, contact_of_trees, gap_of_trees, place_touching, rates_of_trees

run = caller(f"void(float64, {A1}, {A1}, {A1}, {A1}, {A1})")
ASK_MASS, ASK_FORCE, ASK_ROWS, ASK_MOVE, ASK_POTENTIAL, ASK_POWER, ASK_CORIOLIS, ASK_PROGRAM = range(8)


@kernel(f"boolean(Callback, int64, float64, {A1}, {A1})", borrows=True)
def ask(callback: Callback, what: int, t: float, q: Array, v: Array) -> bool:
    """Ask Python something about a state."""
    asked, nq = callback.asked, len(q)
    asked[0] = t
    for i in range(nq):
        asked[1 + i] = q[i]
    for i in range(len(v)):
        asked[1 + nq + i] = v[i]
    return bool(call_back(callback.address, what) != 0)


@kernel(f"void(Planar, {A1}, {A1})", borrows=True)
def put_state(planar: Planar, q: Array, v: Array) -> None:
    """Put the state where the kernels of planar systems look for it."""
    n = len(q)
    for i in range(n):
        planar.y[i], planar.y[n + i] = q[i], v[i]


@kernel(f"boolean(Program, {A1})", borrows=True)
def is_of(program: Program, q: Array) -> bool:
    """Return whether `program.out` is of these coordinates."""
    same = program.at[0] != 0.0
    for i in range(len(q)):
        same = same and program.at[2 + i] == q[i]
    return bool(same)


@kernel("void(Program)", borrows=True)
def forget_program(program: Program) -> None:
    """Have `program.out` filled in anew: parameters or the control may be others."""
    if len(program.at) > 0:
        program.at[0] = 0.0


@kernel(f"boolean(Model, float64, {A1}, {A1})", borrows=True, rare=True)
def run_program(model: Model, t: float, q: Array, v: Array) -> bool:
    """Fill in `program.out`, by machine code or in Python, unless it is there."""
    program, at, n = model.program, model.program.at, 2 + len(q)
    same = is_of(program, q) and at[1] == t
    for j in range(len(v)):
        same = same and at[n + j] == v[j]
    if same:
        return True
    at[0], at[1] = 0.0, t
    for i in range(len(q)):
        at[2 + i] = q[i]
    for j in range(len(v)):
        at[n + j] = v[j]
    if program.address == 0:
        found = ask(model.callback, ASK_PROGRAM, t, q, v)
    else:
        run(program.address, t, q, v, program.control, program.params, program.out)
        found = True
    at[0] = 1.0 if found else 0.0
    return bool(found)


@kernel(f"void(Model, {A1}, {A1}, Rows)", borrows=True)
def planar_table(model: Model, q: Array, v: Array, rows: Rows) -> None:
    """Fill in the rows of a planar system."""
    planar, start, reach, nv, n = model.planar, model.layout.start, model.layout.reach, len(v), model.layout.counts[ALL]
    total = n + planar.beside
    put_state(planar, q, v)
    planar_rows(planar.y, nv, planar.numbers[:total], planar.data[:total], planar.J, planar.found)
    combine_rows(planar.parts, planar.factors, planar.J, planar.found)
    for k in range(n):
        e = k if k < model.layout.counts[FIXED] else k + planar.beside
        rows.gap[k] = planar.found[e, GAP]
        first, named = start[k], k < model.layout.counts[FIXED]
        for c in range(0 if named else 6):  # of those given one by one they are there, see `row_model`
            rows.law[k, c] = planar.law[k, c]
        for i in range(first, start[k + 1]):
            rows.rate[i] = planar.found[e, RATE + i - first]
            J, own = rows.J[i], planar.J[2 * e + i - first]
            for j in range(reach[i, LOW], reach[i, HIGH]):
                J[j] = own[j]


@kernel(f"boolean(Model, float64, {A1}, {A1}, Rows)", borrows=True, rare=True)
def program_table(model: Model, t: float, q: Array, v: Array, rows: Rows) -> bool:
    """Fill in the rows of a Lagrangian system."""
    program, start, nv = model.program, model.layout.start, len(v)
    if not run_program(model, t, q, v):
        return False
    out, place = program.out, program.place
    for k in range(len(rows.gap)):
        rows.gap[k] = out[place[k, 0]]
        for c in range(6):
            rows.law[k, c] = out[place[k, 3 + c]] if place[k, 3 + c] >= 0 else program.law[k, c]
        if place[k, 3 + MU_S] < 0:
            rows.law[k, MU_S] = rows.law[k, CAP if model.layout.kind[k] == DRY else MU]
        for a in range(start[k + 1] - start[k]):
            rows.rate[start[k] + a] = out[place[k, 2] + a]
            for j in range(nv):
                rows.J[start[k] + a, j] = out[place[k, 1] + a * nv + j]
    return True


@kernel(f"void(Model, {A1}, {A1}, Rows)", borrows=True, rare=True)
def spatial_table(model: Model, q: Array, v: Array, rows: Rows) -> None:
    """Fill in the rows of bodies in space: of joints, and of the contacts that are listed."""
    layout, tables = model.layout, model.mechanism
    put_bodies(tables, q, v)
    for i in range(layout.counts[FIXED_ROWS]):
        for j in range(layout.reach[i, LOW], layout.reach[i, HIGH]):
            rows.J[i, j] = 0.0
    k, joints = 0, layout.counts[FIXED]  # whose laws are there, see `row_model`; each has one row
    while k < joints:
        e = tables.parts[k, 0]
        if tables.equations[e, KIND] == OFFSET and tables.equations[e, SECOND] == HELD_POINT:
            point_rows(tables, e, rows.gap[k : k + 3], rows.rate[k : k + 3], rows.J[k : k + 3])
            k += 3
        else:
            rows.gap[k], rows.rate[k] = joint_row(tables, k, rows.J[k])
            k += 1
    for k in range(joints, layout.counts[ALL]):
        contact_of_shapes(layout, model.shapes, tables, k, rows)


@kernel(f"boolean(Forest, {A1})", borrows=True)
def stands_at(forest: Forest, q: Array) -> bool:
    """Return whether its bodies stand at q."""
    at = forest.moving.at
    for i in range(len(q)):  # noqa: SIM110
        if at[i] != q[i]:
            return False
    return True


@kernel(f"Forest(Model, {A1}, Forest)", borrows=True, rare=True)
def standing(model: Model, q: Array, otherwise: Forest) -> Forest:
    """Return which of the two forests stands at q, the one given if none does; its bodies are placed there."""
    found, there = otherwise, False
    for one in (model.forest, model.ahead):
        if not there and stands_at(one, q):
            found, there = one, True
    if not there:
        place_bodies(found.trees, found.moving, q)
    put_paths(found.trees, found.moving, found.drives)
    return found


@kernel(f"void(Model, {A1}, {A1}, Rows)", borrows=True, rare=True)
def forest_table(model: Model, q: Array, v: Array, rows: Rows) -> None:
    """Fill in the rows of trees: of joints, and of the contacts that are listed."""
    layout, forest = model.layout, standing(model, q, model.ahead)
    steady_rows(forest, q, v, layout.start, rows.gap, rows.rate)  # whose J and laws are there, see `row_model`
    kinds, n, placed = forest.couplings.kinds, layout.counts[FIXED], False
    for k in range(n):
        if kinds[k, WHAT] > RUB:
            i = layout.start[k]
            if not placed:
                put_forest(forest, q, v)
            placed = True
            rows.gap[k], rows.rate[i], _ = coupling_row(forest, q, v, k, rows.J[i])
    for k in range(n, layout.counts[ALL]):
        contact_of_trees(layout, model.shapes, forest, v, k, rows)


@kernel(f"void(Model, {A1}, {A1}, {I1}, Rows)", borrows=True, rare=True)
def forest_rates(model: Model, q: Array, v: Array, acts: IntArray, rows: Rows) -> None:
    """Fill in gaps and rates of trees where they act, but for rows that are always the same; J is not asked for."""
    layout, forest = model.layout, model.ahead
    kinds, n, placed = forest.couplings.kinds, layout.counts[FIXED], False
    for k in range(n):
        if acts[k] and kinds[k, WHAT] > RUB:
            i = layout.start[k]
            if not placed:
                forest = standing(model, q, model.ahead)
                put_forest(forest, q, v)
            placed = True
            rows.gap[k], rows.rate[i], _ = coupling_row(forest, q, v, k, rows.J[i])
    if not placed:
        forest = model.forest if stands_at(model.forest, q) else model.ahead
        if not stands_at(forest, q):
            place_touching(layout, model.shapes, forest, q, acts)
    rates_of_trees(layout, model.shapes, forest, v, acts, rows)


@kernel("void(Rows, Rows)", borrows=True)
def copy_rows(source: Rows, target: Rows) -> None:
    """Copy all rows."""
    for k in range(len(source.gap)):
        target.gap[k] = source.gap[k]
        for c in range(6):
            target.law[k, c] = source.law[k, c]
    for i in range(len(source.rate)):
        target.rate[i] = source.rate[i]
        for j in range(source.J.shape[1]):
            target.J[i, j] = source.J[i, j]


@kernel(f"boolean(Model, float64, {A1}, {A1}, Rows)", borrows=True)
def rows_at(model: Model, t: float, q: Array, v: Array, rows: Rows) -> bool:
    """Fill in all rows at a state."""
    if model.layout.who == PLANAR:
        planar_table(model, q, v, rows)
    elif model.layout.who == SPATIAL:
        spatial_table(model, q, v, rows)
    elif model.layout.who == FOREST:
        forest_table(model, q, v, rows)
    elif model.layout.who == CALLBACK:
        if model.callback.known[NO_ROWS]:
            return True
        if not ask(model.callback, ASK_ROWS, t, q, v):
            return False
        copy_rows(model.rows, rows)
    else:
        return program_table(model, t, q, v, rows)
    return True


@kernel(f"void(Model, {A1}, {A1}, boolean, Rows)", borrows=True, rare=True)
def forest_gaps(model: Model, q: Array, v: Array, normals: bool, rows: Rows) -> None:
    """Fill in the gaps of trees at q and, with `normals`, first rows of what acts."""
    layout, forest, n = model.layout, standing(model, q, model.ahead), model.layout.counts[FIXED]
    kinds = forest.couplings.kinds
    steady_gaps(forest, q, rows.gap)
    for k in range(n):
        J = rows.J[layout.start[k]]
        if kinds[k, WHAT] == MEET:
            rows.gap[k] = meet_gap(forest.trees, forest.moving, forest.couplings, k, normals, J)
        elif kinds[k, WHAT] > RUB:  # their rates are those of whatever speed bodies have
            rows.gap[k], _rate, _drift = coupling_row(forest, q, v, k, J)
    for k in range(n, layout.counts[ALL]):
        gap_of_trees(layout, model.shapes, forest, normals, k, rows)


@kernel(f"boolean(Model, float64, {A1}, {A1}, boolean, Rows)", borrows=True)
def gaps_at(model: Model, t: float, q: Array, v: Array, normals: bool, rows: Rows) -> bool:
    """Fill in the gaps of trees at q and, with `normals`, first rows of what acts; all rows of other systems."""
    if model.layout.who != FOREST:
        return bool(rows_at(model, t, q, v, rows))
    forest_gaps(model, q, v, normals, rows)
    return True


@kernel(f"boolean(Model, float64, {A1}, {A1}, {A1})", borrows=True)
def force_at(model: Model, t: float, q: Array, v: Array, h: Array) -> bool:
    """Fill in h."""
    nv = len(v)
    if model.layout.who == PLANAR:
        planar = model.planar
        put_state(planar, q, v)
        planar_forces(t, planar.y, nv, planar.forces, planar.strength, planar.bodies, h)
        return True
    if model.layout.who == SPATIAL:
        spatial_forces(model.mechanism, t, q, v, h)
        return True
    if model.layout.who == FOREST:
        forest_forces(model.forest, t, q, v, model.forest.moving.damped, h)
        return True
    if model.layout.who == CALLBACK:
        found, answer = ask(model.callback, ASK_FORCE, t, q, v), model.callback.answer
        for i in range(nv):
            h[i] = answer[i]
        return found
    found = run_program(model, t, q, v)
    for i in range(nv):
        h[i] = model.program.out[nv * nv + i] + model.program.push[i]
    return found


@kernel(f"boolean(Model, {A1}, {A1}, {A2})", borrows=True)
def mass_at(model: Model, q: Array, rest: Array, M: Array) -> bool:
    """Fill in M; `rest` are velocities of zero."""
    nv = len(M)
    if model.layout.who == PLANAR:
        for i in range(nv):
            for j in range(nv):
                M[i, j] = 0.0
            M[i, i] = 1.0 / model.planar.bodies[0, i]
        return True
    if model.layout.who == SPATIAL:
        spatial_mass(model.mechanism, M)
        return True
    if model.layout.who == FOREST:
        forest_mass(model.forest, q, M)
        return True
    if model.layout.who == CALLBACK:
        if not (model.callback.known[STEADY] or ask(model.callback, ASK_MASS, 0.0, q, rest)):
            return False
        for i in range(nv):
            for j in range(nv):
                M[i, j] = model.M[i, j]
        return True
    found = is_of(model.program, q) or run_program(model, 0.0, q, rest)  # whatever t and v are
    for i in range(nv):
        for j in range(nv):
            M[i, j] = model.program.out[i * nv + j]
    return found


@kernel(f"boolean(Model, {A1}, {A1}, float64, {A2})", borrows=True)
def resist(model: Model, q: Array, v: Array, way: float, M: Array) -> bool:
    """Take dampers of joints, and drives at q, beside the mass for a step that begins with v: `force_at` has the rest.

    Returns whether there can be any.

    With D the damping, v_m = (1 - theta) v + theta v+ and way = theta dt:
    M (v+ - v) = dt (f - D v_m) is (M + way D) (v+ - v) = dt (f - D v).
    """
    if model.layout.who != FOREST:
        return False
    damped, losses = model.forest.moving.damped, model.forest.trees.losses
    for j in range(len(v)):
        damped[j] = v[j]
        M[j, j] += way * losses[j, DAMPING]
    leave_drives(model.forest.drives)
    drives_beside(model.forest.trees, model.forest.drives, q, v, way, False, M)
    return True


@kernel(f"boolean(Model, {A1}, {A1}, float64, boolean, {A2})", borrows=True)
def resist_anew(model: Model, q: Array, v: Array, way: float, one: bool, M: Array) -> bool:
    """Take those drives beside the mass that are not at a limit at (q, v); return whether others were before."""
    if model.layout.who != FOREST:
        return False
    forest = model.forest
    return bool(drives_beside(forest.trees, forest.drives, q, v, way, one, M))


@kernel(f"boolean(Model, {A1}, {A1}, float64, {A1})", borrows=True)
def move(model: Model, q: Array, v: Array, dt: float, moved: Array) -> bool:
    """Put the coordinates after dt at the velocity v."""
    if model.layout.who == CALLBACK and not model.callback.known[STRAIGHT]:
        found, answer = ask(model.callback, ASK_MOVE, dt, q, v), model.callback.answer
        for i in range(len(q)):
            moved[i] = answer[i]
        return found
    if model.layout.who == SPATIAL:
        move_bodies3(q, v, dt, moved)
        return True
    if model.layout.who == FOREST:
        move_trees(model.forest.trees, q, v, dt, moved)
        return True
    for i in range(len(q)):
        moved[i] = q[i] + dt * v[i]
    return True


@kernel(f"Tuple((boolean, float64))(Model, float64, {A1}, {A1})", borrows=True)
def potential_at(model: Model, t: float, q: Array, rest: Array) -> tuple[bool, float]:
    """Return the potential energy; `rest` are velocities of zero."""
    if model.layout.who == PLANAR:
        planar = model.planar
        put_state(planar, q, rest)
        return True, planar_potential(planar.y, len(rest), planar.forces, planar.strength, planar.bodies)
    if model.layout.who == SPATIAL:
        return True, spatial_potential(model.mechanism, q, rest)
    if model.layout.who == FOREST:
        return True, forest_potential(standing(model, q, model.forest), q, rest)
    if model.layout.who == CALLBACK:
        if model.callback.known[LEVEL]:
            return True, 0.0
        found = ask(model.callback, ASK_POTENTIAL, t, q, rest)
        return found, model.callback.answer[0]
    n, program = len(q), model.program
    found = (is_of(program, q) and program.at[1] == t) or run_program(model, t, q, rest)  # whatever v is
    return bool(found), program.out[n * n + n]


@kernel(f"Tuple((boolean, float64))(Model, {A1}, {A1}, {A1}, {A2}, {A1})", borrows=True)
def kinetic_at(model: Model, q: Array, v: Array, rest: Array, M: Array, momentum: Array) -> tuple[bool, float]:
    """Return the kinetic energy; `rest` are velocities of zero, M and M v work space."""
    if model.layout.who == FOREST:
        return True, forest_kinetic(standing(model, q, model.forest), q, v)
    found = mass_at(model, q, rest, M)
    multiply_mass(M, model.layout.nodes, v, momentum)
    return found, 0.5 * dot(v, momentum)


@kernel(f"Tuple((boolean, float64))(Model, float64, {A1}, {A1}, {A1})", borrows=True)
def power_at(model: Model, t: float, q: Array, v: Array, h: Array) -> tuple[bool, float]:
    """Return the power of what has no potential; h is work space."""
    n = len(v)
    if model.layout.who == PLANAR:
        planar = model.planar
        put_state(planar, q, v)
        return True, planar_forces(t, planar.y, n, planar.forces, planar.strength, planar.bodies, h)
    if model.layout.who == SPATIAL:
        return True, spatial_forces(model.mechanism, t, q, v, h)
    if model.layout.who == FOREST:
        return True, forest_power(model.forest, t, q, v, h)
    if model.layout.who == CALLBACK:
        found = ask(model.callback, ASK_POWER, t, q, v)
        return found, model.callback.answer[0]
    return run_program(model, t, q, v), model.program.out[n * n + n + 2] + dot(model.program.push, v)


@kernel(f"float64({A1}, int64, float64)", borrows=True)
def point_speed(v: Array, i: int, radius: float) -> float:
    """Return the largest speed of a point of a body in its own coordinates, v[i : i + 6]."""
    speed = math.sqrt(v[i] * v[i] + v[i + 1] * v[i + 1] + v[i + 2] * v[i + 2])
    spin = math.sqrt(v[i + 3] * v[i + 3] + v[i + 4] * v[i + 4] + v[i + 5] * v[i + 5])
    return speed + radius * spin


@kernel(f"float64(Model, {A1}, {A1})", borrows=True, rare=True)
def put_motion(model: Model, q: Array, v: Array) -> float:
    """Put how bodies with shapes move at a state, and the largest speeds of their points; return the largest of all."""
    shapes, most = model.shapes, 0.0
    if model.layout.who == FOREST:
        forest = standing(model, q, model.ahead)
        put_forest(forest, q, v)
        return fastest_points(forest.trees, forest.moving, shapes.radius, shapes.speed)
    put_bodies(model.mechanism, q, v)
    for k in range(len(shapes.radius)):
        shapes.speed[k] = point_speed(v, 6 * k, shapes.radius[k])
        most = max(most, shapes.speed[k])
    return most


@kernel(f"void(Model, {A1}, Forest)", borrows=True)
def put_poses(model: Model, q: Array, otherwise: Forest) -> None:
    """Put where bodies with shapes are, into `shapes.x` and `shapes.R`; `otherwise`: see `standing`."""
    shapes = model.shapes
    if model.layout.who != FOREST:
        body_poses(q, shapes.x, shapes.R)
        return
    moving = standing(model, q, otherwise).moving
    for b in range(len(shapes.radius)):
        x, R, here, there = moving.x[b], moving.R[b], shapes.x[b], shapes.R[b]
        for i in range(3):
            here[i], there[i, 0], there[i, 1], there[i, 2] = x[i], R[i, 0], R[i, 1], R[i, 2]
