"""What a compiled step works on: the model, its rows at one state, and what is known of the step at hand.

Shapes: n constraints with m rows in all, nq coordinates, nv velocities.
"""

from __future__ import annotations

from typing import NamedTuple

from ...._jit import A1, A2, A3, I1, I2, record
from ....arrays import Array, IntArray
from ....mechanics.collision.bounds.search_records import SearchShapes, SearchSpace
from ....mechanics.planar.search import Outlines
from ....mechanics.spatial.row_kernels import Mechanism
from ....mechanics.trees.forest import Forest

BILATERAL, UNILATERAL, CONTACT, BILATERAL_CONTACT, DRY = range(5)  # kinds, in the order of `rows.KINDS`
SOFT = 5  # a damper, whose coefficient stands as its mu: see `contact_problem`
POSITION, VELOCITY, ACCELERATION = range(3)  # levels, in the order of `rows.LEVELS`
MU, MU_S, CAP, MU_R, EPS_N, EPS_T = range(
    6
)  # columns of `Rows.law`; CAP of contacts holds mu_t, MU_S of dry rows the cap at rest
PLANAR, PROGRAM, CALLBACK, SPATIAL, FOREST = range(5)  # who evaluates
DONE, FAULT, MASS, DEPENDENT, HARD, OVERLAP, UNSETTLED, GAINS, ROOM, BEYOND = range(10)  # how a step ended
E_, GOAL, PASSES, GAP, CONE, KINETIC, POTENTIAL, REACTIONS, FORCES, LIFTED, CHANGED = range(11)  # columns of `Data.log`
AT, KEPT, GAINED, MOVED, CHANGE, BEFORE, PUSHED = range(11, 18)  # further ones, see there
LOGGED = 18
NO_ROWS, STRAIGHT, STEADY, LEVEL, UNBENT = range(5)  # entries of `Callback.known`
ALL, ALL_ROWS, FIXED, FIXED_ROWS = range(4)  # entries of `Layout.counts`
LOW, HIGH, NODE, NODES, BRANCH, ALONE = range(6)  # columns of `Layout.reach`
PLUS, NONE = 0, 6  # rows of `Data.V` that are more than work space of one function
PULL, REACH, PLACED, FASTEST, MISSED, LISTED, AHEAD, FOUND = range(8)  # entries of `Shapes.numbers`


@record(A1, A1, A2, A2, I1, I1, I1)
class Rows(NamedTuple):
    """All constraints at one state.

    Attributes
    ----------
    gap : Array, shape (n,)
    rate : Array, shape (m,)
        Of rows that bind accelerations the drift.
    J : Array, shape (m, nv)
    law : Array, shape (n, 6)
        mu, mu_s, cap (of contacts mu_t), mu_r, eps_n, eps_t.
    asked : IntArray, shape (n,)
        Whether rates and J are asked for where a contact of shapes is open, too.
    chart, keeps : IntArray, shape (n,)
        Of contacts of shapes in space: the chart of their tangents, and that which they keep from the middle of the
        step, where impulses are (0: none), see `tangent_frames`.
    """

    gap: Array
    rate: Array
    J: Array
    law: Array
    asked: IntArray
    chart: IntArray
    keeps: IntArray


@record("int64", I1, I1, I1, I1, I1, I2, I2, "int64", "int64")
class Layout(NamedTuple):
    """What the rows are of.

    Attributes
    ----------
    who : int
        PLANAR, PROGRAM, CALLBACK, SPATIAL or FOREST.
    counts : IntArray, shape (4,)
        ALL: n; ALL_ROWS: m. FIXED, FIXED_ROWS: how many of them are always the same: contacts of shapes come
        after these, with room for more.
    kind, level : IntArray, shape (n,)
    start : IntArray, shape (n + 1,)
        The first row of every constraint.
    reach : IntArray, shape (m, 6)
        The velocities that each row depends on, or is led to by L^-T, LOW <= j < HIGH, the nodes that these are, and
        whether they are all on the branch that ends at HIGH - 1. ALONE: 1 + the only velocity that it depends on by
        itself, 0: there may be more.
    nodes : IntArray
        Where the diagonal blocks of M begin, and nv.
    branches : IntArray, shape (nv, 2 + most)
        The velocities that M couples a velocity with, before it and it itself: how many, and which. In a tree these are
        the ones on the way from the root to it, in a full block all up to it. Last, how many follow one on the other
        from the first one on.
    turning : int
        Whether the rows of some constraint depend on the velocity: it binds speeds.
    dampers : int
        How many there are among the constraints.
    """

    who: int
    counts: IntArray
    kind: IntArray
    level: IntArray
    start: IntArray
    nodes: IntArray
    reach: IntArray
    branches: IntArray
    turning: int
    dampers: int


@record(I2, A2, I2, A2, I2, A2, A2, A2, A2, A1, A2, "int64")
class Planar(NamedTuple):
    """A planar system for `row_kernels`: its tables, law (n, 6) and work space.

    Rows of the tables are those of joints and contacts given one by one, `beside` second coordinates of gears, contacts
    of shapes.
    """

    numbers: IntArray
    data: Array
    parts: IntArray
    factors: Array
    forces: IntArray
    strength: Array
    bodies: Array
    J: Array
    found: Array
    y: Array
    law: Array
    beside: int


@record("Outlines", A2, I2, I2, A1, I2, I1)
class Touches(NamedTuple):
    """The contacts of shapes in the plane that may act within a step.

    Attributes
    ----------
    outlines : Outlines
    laws : Array, shape (pairs, 7)
        The six law columns of every pair, and the number of their rows.
    found, ahead : IntArray, shape (c, 4)
        Contacts, see `search`; those found where bodies end.
    pull : Array, shape (1,)
        The acceleration of free fall, m/s^2.
    late : IntArray, shape (c, 4)
        Contacts in which shapes overlapped where the step at hand has ended before.
    missed : IntArray, shape (1,)
        How many these are.
    """

    outlines: Outlines
    laws: Array
    found: IntArray
    ahead: IntArray
    pull: Array
    late: IntArray
    missed: IntArray


@record(I1, I1, I1, I1, A1, I1)
class Carried(NamedTuple):
    """What goes from step to step with the contacts of shapes.

    Attributes
    ----------
    place : IntArray, shape (c,)
        A number for every contact, by which they are sorted.
    known : IntArray, shape (1,)
        How many the last step had.
    place_then, start_then, last_then, now_then
        Their numbers, first rows, impulses and modes.
    """

    place: IntArray
    known: IntArray
    place_then: IntArray
    start_then: IntArray
    last_then: Array
    now_then: IntArray


@record("int64", A1, A1, A1, A1, A1, I2, A2, "int64", A1)
class Program(NamedTuple):
    """The generated function of a Lagrangian system.

    Attributes
    ----------
    address : int
        Of its machine code; 0: Python is asked, which fills `out`.
    params, control, out : Array
    at : Array, shape (2 + nq + nv,)
        Whether `out` is of the step at hand, and then of which t, q, v.
    push : Array, shape (nv,)
        A generalised force beside those of the program.
    place : IntArray, shape (n, 9)
        Where gap, J and rate of every constraint and its six law columns stand in `out`, -1: as in `law`.
    law : Array, shape (n, 6)
    bending : int
        The address of the machine code of its Coriolis forces; 0: Python is asked, if there are any.
    bent : Array, shape (nv,)
        Where it puts them.
    """

    address: int
    params: Array
    control: Array
    out: Array
    at: Array
    push: Array
    place: IntArray
    law: Array
    bending: int
    bent: Array


@record("int64", A1, A1, I1)
class Callback(NamedTuple):
    """A system in Python.

    Attributes
    ----------
    address : int
        Of the C function that takes what is asked (`evaluate.ASK_..`) and returns whether it could answer.
    asked : Array, shape (1 + nq + nv,)
        t, q and v.
    answer : Array
        Where it puts vectors and numbers.
    known : IntArray
        Whether there are no rows, q moves by dt v, the mass is always that in `Model.M`, the potential is zero, and
        Coriolis forces have no function of their own: then Python is not asked.
    """

    address: int
    asked: Array
    answer: Array
    known: IntArray


@record("SearchShapes", "SearchSpace", I1, A3, A1, A1, A1, I2, A2, A3, *[I1, I2, I2, A2] * 2, A1, A2, A2)
class Shapes(NamedTuple):
    """The shapes of a system in space, and the contacts that may act within a step.

    Attributes
    ----------
    arrays, space : SearchShapes and SearchSpace
    kind_of : IntArray, shape (s,)
        Kind of every shape: what has one law is of one kind.
    laws : Array, shape (kinds, kinds, 7)
        The six law columns of pairs of kinds, and the number of their rows.
    radius, speed, travel : Array, shape (bodies,)
        Of the balls that hold the bodies; the largest speeds of points in these, m/s; how far they come until the end
        of the step, or rounding moves them, m.
    node : IntArray, shape (bodies, 2)
        The first of the nodes that a body belongs to, see `Layout.nodes`, and their end; -1: it stands still.
    x, R : shapes (bodies + 1, 3) and (bodies + 1, 3, 3)
        Where bodies come to without reactions, or where they end.
    kind, bodies, label, data : shapes (c,), (c, 2), (c, 4), (c, 25)
        Contacts, as in `mechanics.features.Found`.
    kind_ahead, bodies_ahead, label_ahead, data_ahead
        Those found at x, R.
    numbers : Array, shape (8,)
        PULL: the acceleration of free fall, m/s^2. REACH: how far contacts were open at most that were found
        (-1: x, R or the lists are others since). PLACED: whether x and R are those of the start of the step already,
        FASTEST: then the largest speed of a point of any body, m/s. MISSED: that at the end of a step whose contacts
        were too few, 0: they were not. LISTED: how many were listed. AHEAD: as REACH, of those found ahead, of
        bodies at x, R; FOUND: how many these are.
    out, frame : shapes (1, 7) and (3, 3)
        Work space.
    """

    arrays: SearchShapes
    space: SearchSpace
    kind_of: IntArray
    laws: Array
    radius: Array
    speed: Array
    travel: Array
    node: IntArray
    x: Array
    R: Array
    kind: IntArray
    bodies: IntArray
    label: IntArray
    data: Array
    kind_ahead: IntArray
    bodies_ahead: IntArray
    label_ahead: IntArray
    data_ahead: Array
    numbers: Array
    out: Array
    frame: Array


@record(
    "Layout",
    "Planar",
    "Touches",
    "Program",
    "Callback",
    "Mechanism",
    "Forest",
    "Forest",
    "Shapes",
    "Carried",
    "Rows",
    A2,
)
class Model(NamedTuple):
    """A system as kernels see it; only the part that `layout.who` names is filled. `rows` and `M`: for callbacks.

    `ahead` is the forest once more: one stands at the middle of a step while the other goes to its end.
    """

    layout: Layout
    planar: Planar
    touches: Touches
    program: Program
    callback: Callback
    mechanism: Mechanism
    forest: Forest
    ahead: Forest
    shapes: Shapes
    carried: Carried
    rows: Rows
    M: Array


@record(I1, I1, I1, I2, A1, A1, A2, A2)
class Bound(NamedTuple):
    """Joints whose rows depend on one another in the step at hand, see `dependent_joints`.

    Attributes
    ----------
    known : IntArray, shape (4,)
        Whether this has been looked at, how many dependences there are, among how many rows, and how many there nearly
        are.
    of_row : IntArray, shape (m,)
        The number of a row among those of joints, -1: is none.
    rows : IntArray, shape (m,)
        These rows.
    reach : IntArray, shape (m, 6)
        What they depend on by themselves, see `Layout.reach`.
    lengths : Array, shape (m,)
        Of these rows in the metric of the inverse mass.
    column : Array, shape (m,)
        Work space.
    N, null : Array, shape (m, m)
        In the first columns, orthonormal: left null vectors of the rows divided by their lengths, and of the rows.
    """

    known: IntArray
    of_row: IntArray
    rows: IntArray
    reach: IntArray
    lengths: Array
    column: Array
    N: Array
    null: Array


@record(*[A1] * 10, I1, I1, A1, A1, *[A2] * 5, A1, A1, A1, *["Rows"] * 4, "Bound", A2, A1)
class Data(NamedTuple):
    """One step.

    Attributes
    ----------
    q, v : Array
        At its start; at its end when it is done.
    q1, v1 : Array
        At its end, as far as known: v1 is the guess of v+ that the rows at the end were evaluated for.
    foreseen : Array, shape (nq + nv,)
        The end, q and v, that force and rates of a step with one contact problem are for, see `solve_once`.
    middle, moved : Array, shape (nq,)
        At its middle; at its end before the projection.
    tried : Array, shape (nq,)
        Where it ended when a contact was overlooked there; NaN where none was.
    last, p : Array, shape (m,)
        Impulses of the last step, and of this one.
    acts, joined : IntArray, shape (n,)
        Whether a constraint acts; whether it does because it closes within the step, -1: it shall not join.
    bounce : Array, shape (m,)
        Restitution terms, m/s.
    slides : Array, shape (n,)
        Impulses of dry joints that surely slide until the end of the step: they stand beside the force, and no row of
        theirs is in the contact problem. Zero where one is.
    M, L : Array, shapes (nv, nv) and (nv, nv + 3)
        Mass at the middle, dampers of trees beside it, and its factor, see `linalg.branches`.
    K : Array, shape (nv, nv + 3)
        The factor of the mass alone, in whose metric shifts are least; L itself where no dampers stand beside it. Of
        trees it is made when it is asked for, see `linear.factor_bare_mass`: until then K[0, 0] is NaN.
        That of a system in Python stays NaN where nothing stands beside its mass.
    bare : Array, shape (nv,)
        Of trees: the diagonal of the mass alone, which is all that dampers change.
    of, inverse : Array, shape (nv, nv)
        The mass that the factor is of, and the inverse of L where nodes are bodies; without entries for trees.
    h : Array, shape (nv,)
        Force at the middle, for the mean velocity.
    w : Array, shape (m,)
        u+ = J v+ + w.
    begin, mid, end, seen : Rows
        At the start, the middle and the end; `seen`: at the middle for the mean velocity.
    bound : Bound
    V : Array, shape (16, nv)
        PLUS: v+ as far as it is known, the free motion until the contact problem has been solved. NONE: zeros,
        which nothing writes to. The others are work space of one function each.
    log : Array, shape (18,)
        See `E_` and its followers. AT: 0 where the laws hold at the end of the step; 1 + the constraint because of
        which they hold at its middle. KEPT: the fraction of all restitution. GAINED: work of the impulses, relative.
        MOVED: 1 + the constraint whose predicted rate changed most in the last pass; of steps that gain energy the
        one with the largest impulse. CHANGE, BEFORE: how far the data changed in the last pass and in the one before.
        PUSHED: how far the force alone did in the last one.
    """

    q: Array
    v: Array
    q1: Array
    v1: Array
    foreseen: Array
    middle: Array
    moved: Array
    tried: Array
    last: Array
    p: Array
    acts: IntArray
    joined: IntArray
    bounce: Array
    slides: Array
    M: Array
    L: Array
    K: Array
    of: Array
    inverse: Array
    bare: Array
    h: Array
    w: Array
    begin: Rows
    mid: Rows
    end: Rows
    seen: Rows
    bound: Bound
    V: Array
    log: Array


@record(*["float64"] * 7, "boolean", "boolean", by_value=True)
class Span(NamedTuple):
    """The step's start, length and end (s), theta, what counts as closed and at rest (m, m/s), tol, project, corrects.

    corrects: see `MoreauJean.corrections`.
    """

    t: float
    dt: float
    t_end: float
    theta: float
    gap: float
    speed: float
    tol: float
    project: bool
    corrects: bool
