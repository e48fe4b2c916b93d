"""What the kernels of free bodies work on: bodies, contacts, and what is known of the step at hand.

Three records are handed on from kernel to kernel: the `BodyStep` at hand, the `BodySolver` of its contact problem, and
the `Projection` of its end. A `BodySpan` says how long it is, a `BodyAnswer` how it was solved.

Shapes: n bodies, f contacts that are listed, called features; what belongs to bodies as poses has one row more, the
ground, which the body number -1 means. "Turned" velocities have their spins in space axes, all others in body axes.
"""

from __future__ import annotations

from typing import NamedTuple

from ...._jit import A1, A2, A3, I1, I2, record
from ....arrays import Array, IntArray
from ....contact.free_bodies.body_problem import BodyProblem, BodyWork, Iterate
from ....linalg.block_lu import Ordering
from ..extrapolation import Trail

A4 = "float64[:,:,:,::1]"
OF, WHICH, ACTS, LATE, HELD, ALL, MODE, NOW, JOINED, PLACE = range(10)  # rows of `Index.marks` and `Aside.marks`
MIDDLE, SHARE, STANDS, SEEN = range(4)  # entries of `BodyStep.laws`
REST_E, REST_GOAL, REST_CONE, REST_GAP, REST_POTENTIAL, REST_ROUGH, REST_DT = range(7)  # of `LeftOut`
FACTORS, PROXIMAL, PATH = range(14, 17)  # columns of `Kept.log`, where dense steps keep what passes need
# Entries of `BodyStep.counts`
TAKEN, STAGE, FEATURES, PAIRS, ANSWERED, OTHERS, IMPACT, SERVES, CLOSES, LISTED, RETAKEN, CHECKED, CLAIMS = range(13)
DONE, GRAPH, ROOM, HARD, OVERLAP, GAINS, UNLISTED, RESTS, WAKES, BEYOND = range(10)  # what a step ends with, see `step`


@record(A1, A3, I1, by_value=True)
class Bodies(NamedTuple):
    """The bodies of a system.

    Attributes
    ----------
    mass : Array, shape (n,)
        In kg.
    inertia : Array, shape (n, 3, 3)
        In body axes, kg m^2.
    ball : IntArray, shape (n,)
        Whether that is the inertia of a ball.
    """

    mass: Array
    inertia: Array
    ball: IntArray


@record(A2, A2, A1, A1, A2, by_value=True)
class Loads(NamedTuple):
    """Forces on the bodies, and how large these are.

    Attributes
    ----------
    constant : Array, shape (n, 6)
        Force, N, and moment in body axes, N m.
    shaking : Array, shape (k, 5)
        Amplitude of the acceleration of the ground (3), m/s^2, 2 pi f, rad/s, and phase, rad.
    radius : Array, shape (n,)
        Of the balls that hold the bodies, m.
    travel : Array, shape (n,)
        How far they come until the end of the step, or how far rounding moves them, m.
    weight : Array, shape (n, 6)
        The part of the constant force that has a potential.
    """

    constant: Array
    shaking: Array
    radius: Array
    travel: Array
    weight: Array


@record(I1, I2, A2, I2, A2, by_value=True)
class Features(NamedTuple):
    """Contacts that may act within a step.

    Attributes
    ----------
    kind, bodies, data, label : shapes (f,), (f, 2), (f, 25), (f, 4)
        As in `mechanics.features.Found`.
    law : Array, shape (f, 3)
        mu, eps_n, eps_t.
    """

    kind: IntArray
    bodies: IntArray
    data: Array
    label: IntArray
    law: Array


@record(I2, I2, A3, A2, I1, by_value=True)
class Memory(NamedTuple):
    """What goes from step to step with the contacts.

    Attributes
    ----------
    mark : IntArray, shape (f, 4)
        Labels of the contacts whose impulses are known.
    pairs : IntArray, shape (f, 3)
        Pairs of bodies found, see `group_pairs`.
    table : Array, shape (k, k, 3)
        Law by pair of kinds: mu, eps_n, eps_t.
    law : Array, shape (f, 3)
        Of every contact.
    kind : IntArray, shape (s,)
        Kind of every shape.
    """

    mark: IntArray
    pairs: IntArray
    table: Array
    law: Array
    kind: IntArray


@record(*[A2] * 10, by_value=True)
class BodyState(NamedTuple):
    """The bodies in the step at hand.

    Attributes
    ----------
    q, v : shapes (n, 7) and (n, 6)
        At its start; at its end when it is done.
    impulse : Array, shape (f, 3)
        Of the last step, N s.
    force : Array, shape (n, 6)
        Applied force, N, and moment in body axes, N m.
    v0, guess : Array, shape (n, 6)
        The velocity at the start, and what v+ is taken to be, turned at the middle.
    v1 : Array, shape (n, 6)
        `guess` in body axes.
    mean : Array, shape (n, 6)
        The velocity that moves the bodies through the step; else work space.
    free : Array, shape (n, 6)
        The velocity without impulses.
    q1 : Array, shape (n, 7)
        The end of the step, as far as known.
    """

    q: Array
    v: Array
    impulse: Array
    force: Array
    v0: Array
    guess: Array
    v1: Array
    mean: Array
    free: Array
    q1: Array


@record(A3, A4, A3, A2, I1, A2, by_value=True)
class Poses(NamedTuple):
    """Where bodies and contacts are at the start, the middle and the end of the step.

    Attributes
    ----------
    x, R : shapes (3, n + 1, 3) and (3, n + 1, 3, 3)
        Centres, m, and rotations.
    geometry : Array, shape (3, f, 7)
        Gap, m, normal and point, m, of every contact.
    frame : Array, shape (6, 3)
        Work space.
    moved : IntArray, shape (n + 1,)
        Which bodies move.
    rows : Array, shape (3, 7)
        Work space.
    """

    x: Array
    R: Array
    geometry: Array
    frame: Array
    moved: IntArray
    rows: Array


@record(I2, A2, A1, by_value=True)
class Index(NamedTuple):
    """The contacts of the step by feature.

    Attributes
    ----------
    marks : IntArray, shape (10, f)
        Of every feature OF: the number of its pair; ACTS, LATE: whether it acts, and whether it closes late; MODE, NOW:
        how it ends, and what that says; JOINED: whether it acts since it closed in the step; PLACE: its number among
        all that a step leaves behind, those of bodies left out too. WHICH: the feature of every contact.
    bounce : Array, shape (f, 3)
        Restitution terms, m/s.
    value : Array, shape (f,)
        When a contact closes, as a fraction; or its normal speed while that is laid aside, m/s.
    """

    marks: IntArray
    bounce: Array
    value: Array


@record(I2, A2, A1, by_value=True)
class Aside(NamedTuple):
    """The contacts of the projection by feature.

    Attributes
    ----------
    marks : IntArray, shape (10, f)
        As in `Index`; of every feature HELD: whether it ends closed, see `LOOSELY`; ALL: whether it is looked at.
        ACTS: which acted when this was noted.
    shifts : Array, shape (f, passes + 1)
        Pushes of every pass, see `note_shift`.
    goal : Array, shape (f,)
        The gap with which a contact ends that is held, m.
    """

    marks: IntArray
    shifts: Array
    goal: Array


@record(I1, I1, A2, A2, A1, I1, I2, A2, A1, I2, by_value=True)
class LeftOut(NamedTuple):
    """What rests apart from all that moves, and is left out of the step: it ends as it began.

    Attributes
    ----------
    rests : IntArray, shape (n,)
        Which bodies `find_resting` has found at rest, as the step at hand numbers them.
    bodies : IntArray, shape (m,)
        The numbers in the system of the m bodies that take part in the step.
    q, v : shapes (n, 7) and (n, 6)
        Of all n bodies of the system, in its order.
    figures : Array, shape (7,)
        Of what is left out: the largest residual E and what counts as solved (REST_E, REST_GOAL), how far impulses
        leave their cones (REST_CONE), the lowest gap, m (REST_GAP), the potential energy, J (REST_POTENTIAL), whether
        there is friction (REST_ROUGH); the length of the steps for which it rests, s (REST_DT).
    key : IntArray, shape (r,)
        Numbers that grow with the ids of the r features left out, see `feature_lists.place_of`.
    label, impulse, gap : shapes (r, 4), (r, 3) and (r,)
    marks : IntArray, shape (r, 3)
        Mode, whether it acts, and how many entries of the impulse are kept.
    """

    rests: IntArray
    bodies: IntArray
    q: Array
    v: Array
    figures: Array
    key: IntArray
    label: IntArray
    impulse: Array
    gap: Array
    marks: IntArray


@record("Bodies", "Loads", "Memory", "Features", "BodyState", "Poses", "Index", "LeftOut", A1, I1, I1)
class BodyStep(NamedTuple):
    """The step at hand: the bodies and their loads, where they are and what touches.

    Attributes
    ----------
    bodies, loads, memory, features, state, poses
        As they are named.
    acting : Index
        Which contacts act.
    left : LeftOut
        What is not of this step, which is that of all other bodies.
    laws : Array, shape (4,)
        What may change while it is solved. MIDDLE: whether the laws hold at its middle (2: with the contacts that
        acted when they first did); SHARE: the fraction of all restitution that is kept; STANDS: the length of the step
        for which the contacts known still stand, as nothing has moved, s; SEEN: that for which contacts have been
        looked for where it begins, as the step before ended there, s; 0: they have not.
    counts : IntArray, shape (13,)
        Steps TAKEN of a call; the STAGE of this one; FEATURES and PAIRS found; whether the impulses at hand are an
        answer (ANSWERED); whether the features are others than at the end of the last step (OTHERS); the feature of the
        largest IMPACT; whether the factors of the last step serve if nothing has moved (SERVES); the feature that
        CLOSES in a crowd (+ 1); how many are LISTED if the step is taken again with others that were overlooked; how
        often it was RETAKEN; whether it has been looked at what rests (CHECKED); whether E <= CLAIMED is enough since
        it was not solved to less (CLAIMS).
    touched : IntArray, shape (n + 1,)
        Work space: by body, in how many pairs it is.
    """

    bodies: Bodies
    loads: Loads
    memory: Memory
    features: Features
    state: BodyState
    poses: Poses
    acting: Index
    left: LeftOut
    laws: Array
    counts: IntArray
    touched: IntArray


@record("BodyProblem", "Ordering", "BodyWork", "Iterate", "Trail")
class BodySolver(NamedTuple):
    """The contact problem of the step, and Newton's method on it.

    Attributes
    ----------
    problem : BodyProblem
    ordering : Ordering
        In which its matrix is factorised.
    work : BodyWork
        The factors at hand may serve the next step.
    iterate : Iterate
    trail : Trail
        The velocities that the last passes were given and gave, body after body.
    """

    problem: BodyProblem
    ordering: Ordering
    work: BodyWork
    iterate: Iterate
    trail: Trail


@record("Aside", "BodyProblem", "Ordering", "BodyWork", "Iterate")
class Projection(NamedTuple):
    """The position projection: the least shift of the end of the step that opens its gaps.

    Attributes
    ----------
    aside : Aside
        The contacts that it looks at.
    problem : BodyProblem
        Of gaps and shifts in place of velocities.
    ordering, iterate : Ordering and Iterate
        Those of the contact problem.
    work : BodyWork
        Its own, so that the factors of the contact problem are kept from pass to pass.
    """

    aside: Aside
    problem: BodyProblem
    ordering: Ordering
    work: BodyWork
    iterate: Iterate


@record("float64", "float64", *["int64"] * 5, "boolean", by_value=True)
class BodyAnswer(NamedTuple):
    """How a step was solved.

    Attributes
    ----------
    E, goal : float
        Residual, and what counted as solved.
    factors, passes, slow : int
        Factorisations, contact problems, and those that needed more than Newton's method on the modes.
    code : int
        DONE, HARD or OVERLAP.
    closes : int
        The feature that closes with the largest impulse in a step of a pile, else -1.
    keeps : bool
        Whether the next step may hold the factors if nothing moves till then.
    """

    E: float
    goal: float
    factors: int
    passes: int
    slow: int
    code: int
    closes: int
    keeps: bool


@record(*["float64"] * 5, "boolean", "boolean", "float64", by_value=True)
class Rules(NamedTuple):
    """What steps go by, whatever happens in them.

    Attributes
    ----------
    theta : float
    gap, speed : float
        What counts as closed and at rest, m and m/s.
    tol : float
        The residual that counts as solved.
    gravity : float
        m/s^2.
    project : bool
        Whether ends of steps are projected.
    trusts : bool
        Whether contacts are looked for only where something has moved.
    short : float
        Steps that are longer are cut where piles cost too much, s.
    """

    theta: float
    gap: float
    speed: float
    tol: float
    gravity: float
    project: bool
    trusts: bool
    short: float


@record(*["float64"] * 7, "boolean", "float64", by_value=True)
class BodySpan(NamedTuple):
    """The step's start, length and end, and the rules for it.

    Attributes
    ----------
    t, dt, t_end : float
        In s.
    theta : float
    gap, speed : float
        What counts as closed and at rest, m and m/s.
    tol : float
        The residual that counts as solved.
    project : bool
        Whether its end is projected.
    most : float
        Factorisations after which an island of a pile is left, and the step is cut; inf where it is not.
    """

    t: float
    dt: float
    t_end: float
    theta: float
    gap: float
    speed: float
    tol: float
    project: bool
    most: float
