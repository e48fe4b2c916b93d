"""A phase as kernels see it: who evaluates its system, what its modes make of the rows, and room to work in.

Shapes: n constraints with m rows, nq coordinates, nv velocities, h rows held, w guards.
"""

from __future__ import annotations

from typing import NamedTuple

from ...._jit import A1, A2, A3, I1, I2, record
from ....arrays import Array, IntArray
from ....linalg.redundant_rows import Redundant
from ....mechanics.spatial.row_kernels import Mechanism
from ....mechanics.trees.forest import Forest
from ...time_stepping.core.records import Callback

PLANAR, SPATIAL, FOREST, FUNCTION = range(4)  # who evaluates; the mass of the last two depends on the place
TOUCHDOWN, LIFT_OFF, TURN, SLIP, STOP, DRY_SLIP, ROLL, BORDER = range(8)  # kinds of guards
PLACE, SPEED, FORCE, ACCELERATED = range(4)  # their units
OF, ROW, SIZE, DRY = range(4)  # columns of `Held.slips`
WHAT, WHOSE, FIRST, MANY, UNIT = range(5)  # columns of `Held.guards`
LIMIT = 2  # column of `Held.limits` behind a direction
SIDE, LOAD, REACTION, ACCELERATION, REST = range(5)  # entries of `Room.info`
LOADS, PUSH, A = range(3)  # lines of `Room.V`
T, H, END, STIFFNESS, WAY, RTOL, ERROR, BEND, TAKEN, NEXT, WHICH, CROSS, FOUND, LENGTH = range(14)
"""Entries of `PhaseStep.control`."""
GAP, STILL, WEAK, LEAST = range(4)
"""Entries of what counts as zero: gaps (m), speeds (m/s); forces and accelerations below which none are measured."""
LOADED, FREE, OFF, CONE, KINETIC, POTENTIAL, GAINED = range(7)
"""Entries of what `phase_jump.begins` and `phase_impact.rebounds` say."""
OUTSIDE = 2
"""What is returned where redundant reactions are outside their cones, 1: where there are none."""
REFUSED, BEGINS, UNCLEAR = range(3)
"""What they return: the modes of a phase do not hold, they do, or that is left to others."""
FRICTION, STATIC, EPS_N, EPS_T = range(4)
"""Columns of laws of contacts: mu and mu_s, coefficients of restitution."""


@record(I2, A2, I2, A2, I2, A2, A2, A2)
class PlanarParts(NamedTuple):
    """Tables of a planar system, see `planar.row_kernels`; `found` (n, 7) is work space."""

    numbers: IntArray
    data: Array
    parts: IntArray
    factors: Array
    forces: IntArray
    strength: Array
    bodies: Array
    found: Array


@record(I1, I1, I2, A2, A1, A3, A2)
class SpatialContacts(NamedTuple):
    """Which rows of bodies in space are joints, and the contacts of the others.

    Attributes
    ----------
    joint : IntArray, shape (n,)
        The row of `Mechanism.parts`, of `Couplings` in trees; -1 - c: contact c.
    chart : IntArray, shape (c,)
        1 or -1: the chart that tangents keep; 0: that of the normal.
    bodies, data : shapes (c, 2) and (c, 25)
        As in `features.Found`.
    moved, frame : shapes (13,) and (c, 6, 3)
        Work space.
    drift : Array, shape (b + 1, 3)
        Accelerations of the frames of bodies that come from velocities alone; zeros but in trees.
    """

    joint: IntArray
    chart: IntArray
    bodies: IntArray
    data: Array
    moved: Array
    frame: Array
    drift: Array


@record("int64", A1, A1, A1, I2, "int64", I1, A1, I1)
class FunctionOfSystem(NamedTuple):
    """What says all of a system at (t, q, v) in one array: the generated function of a Lagrangian one, or Python.

    Attributes
    ----------
    address : int
        Of its machine code; 0: Python is asked.
    control, params, out : Array
        `out` as `lagrangian.Layout` has it: M, h, energies, power, rows.
    place : IntArray, shape (n, 4)
        Where gap, J, rate and drift of every constraint stand in `out`.
    qdot : int
        Where dq/dt does; -1: it is v.
    pull_at, pull_sign : shape (p,)
        Where the coefficient of a slip does (see `HeldRows.pull`), and what it is multiplied with.
    limit_at : IntArray, shape (w,)
        Where the limit of a guard does; -1: it has none.
    """

    address: int
    control: Array
    params: Array
    out: Array
    place: IntArray
    qdot: int
    pull_at: IntArray
    pull_sign: Array
    limit_at: IntArray


@record("int64", I1, I1, I2, A2, I2, A2)
class HeldRows(NamedTuple):
    """What the modes of a phase make of its rows.

    Attributes
    ----------
    unknowns : int
        Number of rows held.
    at : IntArray, shape (m,)
        Which unknown the reaction of a row is, -1: none.
    closed : IntArray, shape (n,)
        Whether a gap is held; -1: neither that nor a rate is, but an acceleration.
    slips : IntArray, shape (p, 4)
        Constraint, first row and number of rows of what slips, and whether its friction is given.
    pull : Array, shape (p, 3)
        Coefficient times sign, or the cap; the direction.
    guards : IntArray, shape (w, 5)
        Kind, constraint, first row and number of rows of what is looked at, unit.
    limits : Array, shape (w, 3)
        Sign or direction, and the limit of friction.
    """

    unknowns: int
    at: IntArray
    closed: IntArray
    slips: IntArray
    pull: Array
    guards: IntArray
    limits: Array


@record(A1, A1, A1, A1, A2, A2, A2, A2, A2, A1)
class Room(NamedTuple):
    """The rows at one state, and work space.

    Attributes
    ----------
    gap, rate, drift, r : Array, shapes (n,), (m,), (m,), (m,)
        `r`: reactions, N.
    J : Array, shape (m, nv)
    B, X : Array, shape (h, nv)
        Directions of the reactions of what is held, and these over the mass.
    W : Array, shape (h, h + 1)
    V : Array, shape (3, nv)
        Force, push of all reactions, acceleration.
    info : Array, shape (5,)
        Sign of det W (0: unclear), the largest |h|, |r| and |a|; m/s: what slips no faster has no direction of its own.
    """

    gap: Array
    rate: Array
    drift: Array
    r: Array
    J: Array
    B: Array
    X: Array
    W: Array
    V: Array
    info: Array


@record(
    "int64", "int64", "int64", I1, I1, I1, A2, A2, A1, "PlanarParts", "Mechanism", "SpatialContacts", "Forest",
    "FunctionOfSystem", "Callback", "HeldRows", "Redundant", "Room",
)  # fmt: skip
class PhaseTables(NamedTuple):
    """A phase.

    Attributes
    ----------
    who, nq, nv : int
    start, size : IntArray, shape (n,)
        The first row of every constraint, and how many it has; rows in between are empty.
    kind : IntArray, shape (c,)
        Of the contacts in space.
    inverse, mass : Array, shape (nv, b)
        The inverse of the mass, and the mass, in blocks of b velocities along the diagonal. Where it depends on the
        place there is one block, and `inverse` is U, with M = U^T U, at the last state.
    push : Array, shape (nv,)
        Force of a control that the tables do not know.
    forest : Forest
        Trees; the frames of their bodies stand in `mechanism`, too.
    """

    who: int
    nq: int
    nv: int
    start: IntArray
    size: IntArray
    kind: IntArray
    inverse: Array
    mass: Array
    push: Array
    planar: PlanarParts
    mechanism: Mechanism
    touches: SpatialContacts
    forest: Forest
    function: FunctionOfSystem
    callback: Callback
    held: HeldRows
    redundant: Redundant
    room: Room


@record(A1, A1, A1, A2, A2, A1, A1, A1, A2, A1, A1, A2)
class PhaseStep(NamedTuple):
    """A step of a phase, y = (q, v, impulses, work of reactions, work of forces), and what is looked at in it.

    Attributes
    ----------
    control : Array, shape (14,)
        t, h, end, steps that stability bounds, side of the poles, relative tolerance, and what comes back: error, bend,
        steps taken, the next h, which condition falls below zero (-1: that is not clear), when on the dense output, and
        whether the motion itself has been followed up to it. The last one is the length of steps where it is given, s.
    y, end : Array, shape (n,)
    K, F : Array, shapes (17, n) and (7, n)
        Slopes, the last line for work; coefficients of the dense output.
    place : Array, shape (n,)
        Work space.
    offset, noise : Array, shape (w,)
        Of the conditions, see `event_location.Search`.
    seen : Array, shape (8, w)
        Conditions and rates at the beginning, in the middle, at the end, and where they are looked at.
    bracket : Array, shape (4,)
        See `event_location.narrowed`.
    atol : Array, shape (nq + nv,)
    table : Array
        Of the method.
    """

    control: Array
    y: Array
    end: Array
    K: Array
    F: Array
    place: Array
    offset: Array
    noise: Array
    seen: Array
    bracket: Array
    atol: Array
    table: Array


@record("PhaseTables", "PhaseStep", "PhaseStep")
class Voyage(NamedTuple):
    """A phase with its step, and another one with which the motion is followed up to an event within that step."""

    phase: PhaseTables
    step: PhaseStep
    again: PhaseStep
