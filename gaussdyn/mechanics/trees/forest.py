"""Trees of bodies in joint coordinates as kernels see them: what stays the same, and how all moves at one state.

Shapes: n bodies, j joints, nq coordinates, nv velocities. Bodies come after their parents; the ground is body n, the
last entry of every array of bodies. Spatial vectors are (angular, linear) in the axes of space about one point per
tree, where the frame of its first body is: nothing has to be transformed from body to body.
Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 2 and 6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, A3, I1, I2, record
from ...arrays import Array, IntArray

HINGE, SLIDE, BALL, FREE = range(4)  # kinds of joints
PARENT, ROOT, FIRST, JOINTS, LAST = range(5)  # columns of `Trees.bodies`
KIND, Q, V, BODY, ALIGNED = range(5)  # columns of `Trees.joints`
ANCHOR, AXIS, ZERO = 0, 3, 6  # columns of `Trees.axes`
MASS, CENTRE, INERTIA, LIFT = 0, 1, 4, 10  # columns of `Trees.inertia`
STIFFNESS, REST = 0, 1  # columns of `Trees.springs`
ARMATURE, DAMPING = range(2)  # columns of `Trees.losses`
ABOVE, OF, SCALAR = range(3)  # columns of `Trees.dofs`
PUSHED, WITH, TURNED, DRAG, SPIN_DRAG = 0, 3, 6, 9, 10  # columns of `Trees.pushes`
INERTIAS, SPEEDS, ASKED = range(3)  # entries of `Moving.known`; from ASKED on one for each body


@record(I2, A2, A2, I2, A2, A2, I2, A2, A2, I1, A2, A2, A1)
class Trees(NamedTuple):
    """Bodies and their joints.

    Attributes
    ----------
    bodies : IntArray, shape (n + 1, 5)
        Parent (n: the ground), the first body of the tree, the first joint and how many there are, and the last
        velocity that moves the body (-1: none).
    frames : Array, shape (n, 12)
        Place and axes (one after the other) in the frame of the parent, where no joint moves the body.
    inertia : Array, shape (n, 11)
        Mass, mass centre, inertia about it (xx, yy, zz, xy, xz, yz) in the axes of the body, and which part of its
        weight something lifts.
    joints : IntArray, shape (j, 5)
        Kind, first coordinate, first velocity, body. ALIGNED: 1 + the axis of its frame that a joint has as its own,
        less than 0 the other way, 0 where it has another or none.
    axes : Array, shape (j, 7)
        A point of the axis and the axis in the frame of the body, and the coordinate at which the body is not moved.
    springs : Array, shape (j, 8)
        Stiffness, and the coordinates at rest.
    dofs : IntArray, shape (nv, 3)
        The velocity above on the way to the ground (-1: none), the body, and the coordinate of which this is the rate
        (-1: of balls and free bodies).
    losses : Array, shape (nv, 2)
        Armature and damping.
    fluid : Array, shape (n + 1, 12)
        Axes (row by row) and sides of the box that has the inertia of a body; density and viscosity come last.
    pushed : IntArray, shape (p,)
        Bodies that something pushes beside gravity.
    pushes : Array, shape (p, 11)
        A point in the frame of the body, a force and a moment in the axes of space, and the damping of the velocity of
        the point and of the angular velocity.
    shaking : Array, shape (s, 5)
        Of a frame that shakes: its largest acceleration, angular frequency and phase.
    gravity : Array, shape (3,)
    """

    bodies: IntArray
    frames: Array
    inertia: Array
    joints: IntArray
    axes: Array
    springs: Array
    dofs: IntArray
    losses: Array
    fluid: Array
    pushed: IntArray
    pushes: Array
    shaking: Array
    gravity: Array


@record(A2, A3, A2, A2, A2, A2, A2, A2, A2, A2, A3, A1, A1, A1, A1, A1, A1, A1, I1)
class Moving(NamedTuple):
    """How trees stand and move. What is asked for again at the same place and velocity is not computed again.

    Attributes
    ----------
    x, R : Array, shapes (n + 1, 3) and (n + 1, 3, 3)
        Frames of the bodies in space.
    anchor, axis : Array, shape (j, 3)
        In space, of balls and of the joints of the first body of a tree.
    S : Array, shape (nv, 6)
        Motion at unit velocity.
    speed : Array, shape (n + 1, 6)
        Of the bodies.
    bias : Array, shape (n + 1, 6)
        Their accelerations as far as they come from velocities alone.
    inertia, composite : Array, shape (n + 1, 10)
        Mass, mass times centre, inertia (xx, yy, zz, xy, xz, yz) about the point of the tree: of a body, and of it and
        all beyond.
    wrench : Array, shape (n + 1, 6)
        Work space.
    turn : Array, shape (2, 3, 3)
        Work space.
    angle, sine, cosine : Array, shape (j,)
        By which hinges turn, see `kinematics.put_turns`.
    spare : Array, shape (nv,)
        Work space.
    damped : Array, shape (nv,)
        The velocities that dampers of joints see, where a step takes the rest of them beside the mass.
    at, going : Array, shapes (nq,) and (nv,)
        The coordinates at which the bodies have been placed, and the velocities that the speeds are those of.
    known : IntArray, shape (2 + n,)
        Whether `inertia`, and `speed` with `bias`, are those there; which bodies `place_asked` is to place.
    """

    x: Array
    R: Array
    anchor: Array
    axis: Array
    S: Array
    speed: Array
    bias: Array
    inertia: Array
    composite: Array
    wrench: Array
    turn: Array
    angle: Array
    sine: Array
    cosine: Array
    spare: Array
    damped: Array
    at: Array
    going: Array
    known: IntArray


END_A, END_B, AROUND, WOUND = range(4)  # columns of `Paths.ends`
SHARE, ROUND_AT, ROUND_TURN, RADIUS, MARK = 6, 7, 10, 19, 20  # columns of `Paths.numbers`
SPHERE, CYLINDER = 1, 2  # what a leg may wind around


@record(I1, I2, A2, A1, A1, A1, A1, A1)
class Paths(NamedTuple):
    """Lines whose lengths are those of paths through space, leg by leg; `paths` has their kernels.

    Attributes
    ----------
    start : IntArray, shape (lines + 1,)
        The legs of line k are start[k] up to start[k + 1]; none of a linear combination of coordinates.
    ends : IntArray, shape (s, 4)
        The bodies of both ends, what it winds around (0: nothing), and the body of that.
    numbers : Array, shape (s, 22)
        Both ends in the frames of their bodies, the share of the leg in the length, place and axes (one after the
        other) of what it winds around, its radius, and the mark (in its plane) that says on which side; zeros: any.
    length : Array, shape (lines,)
    row : Array, shape (nv,)
        Work space.
    leg : Array, shape (10,)
        Of one leg, see `paths`.
    centre : Array, shape (3,)
        Work space.
    at : Array, shape (nq,)
        The coordinates for which lengths and factors have been put.
    """

    start: IntArray
    ends: IntArray
    numbers: Array
    length: Array
    row: Array
    leg: Array
    centre: Array
    at: Array


FREE_SIDE = 2  # of `Drives.side`
GAIN, BIAS, CONTROL_LOW, CONTROL_HIGH, FORCE_LOW, FORCE_HIGH = 0, 3, 6, 7, 8, 9  # columns of `Drives.actuators`
PULL, LOSS, SLACK_LOW, SLACK_HIGH, PUSH, WINDS = range(6)  # columns of `Drives.tendons`


@record(I1, I1, A1, A2, A2, A2, A1, A1, A1, I1, "Paths")
class Drives(NamedTuple):
    """What pulls on linear combinations of joint coordinates ("lines"): tendons, drives with them, then actuators.

    Attributes
    ----------
    start : IntArray, shape (lines + 1,)
    dof : IntArray, shape (m,)
        The velocities of line k are dof[start[k] : start[k + 1]], of hinges and sliders all.
    factor : Array, shape (m,)
        Of lines through space those at the last place.
    tendons : Array, shape (t, 6)
        Stiffness, damping, the lengths between which they are slack, a force that is always there, and whether the
        length is an angle that winds: it is taken within half a turn of where it is slack.
    actuators : Array, shape (u, 10)
        Gain and bias, each constant, by length and by rate; limits of control and force.
    effort : Array, shape (nv, 2)
        Least and largest sum of the forces of actuators along a velocity.
    control : Array, shape (u,)
        What the actuators are told.
    push : Array, shape (nv,)
        A generalised force beside them.
    beside : Array, shape (u,)
        By how much the force of each falls with the rate of its line, where a step takes that beside the mass; else 0.
    side : IntArray, shape (u,)
        In a step, for those whose force falls with the rate: 1 and -1 where it is the largest and the least allowed, 0
        in between. FREE_SIDE: whatever the law says, as outside of steps.
    paths : Paths
    """

    start: IntArray
    dof: IntArray
    factor: Array
    tendons: Array
    actuators: Array
    effort: Array
    control: Array
    push: Array
    beside: Array
    side: IntArray
    paths: Paths


ALONG, RUB, EQUAL, SWING, MEET, FACE, TAUT, LEAN, PACE, PLANE = range(10)  # kinds of rows
WHAT, ONE, OTHER, PART, SHARED = range(5)  # columns of `Couplings.kinds`
SPACE = 3  # of PART


@record(I2, A2)
class Couplings(NamedTuple):
    """Rows of joints, each one number.

    Attributes
    ----------
    kinds : IntArray, shape (r, 5)
        WHAT and on what it acts. ALONG: limit of a line; RUB: dry friction along a line (or, where that is -1, the
        velocity OTHER); EQUAL: a line by a polynomial of another (-1: none); SWING: limit of the angle of a ball (a
        joint); MEET: component PART of the distance of two points as the last body SHARED by both branches sees it, in
        the axes of that body or, from SPACE on, in those of space; FACE: of the turn of two bodies along an axis of the
        second; TAUT: limit of a line through space; LEAN: a direction of one body stays across one of another; PACE: a
        velocity is a rate and a ratio of another (-1: none); PLANE: a point of one body stays in a plane of another.
    numbers : Array, shape (r, 7)
        Sign and offset; the rate at which it rests; zeros and coefficients; the largest angle; two points; a
        quaternion and an axis; sign and offset; both directions; rate and ratio; the point, the normal of the plane
        and its offset.
    """

    kinds: IntArray
    numbers: Array


@record("Trees", "Moving", "Drives", "Couplings")
class Forest(NamedTuple):
    """Trees with what drives and couples them, and how they move at one state."""

    trees: Trees
    moving: Moving
    drives: Drives
    couplings: Couplings


def moving_of(trees: Trees) -> Moving:
    """Return work space for one state; the ground stands still."""
    n, j, nv = len(trees.inertia), len(trees.joints), len(trees.dofs)
    nq = nv + int((trees.joints[:, KIND] >= BALL).sum())  # a quaternion has one more
    made = Moving(
        np.zeros((n + 1, 3)), np.zeros((n + 1, 3, 3)), np.zeros((j, 3)), np.zeros((j, 3)), np.zeros((nv, 6)),
        np.zeros((n + 1, 6)), np.zeros((n + 1, 6)), np.zeros((n + 1, 10)), np.zeros((n + 1, 10)),
        np.zeros((n + 1, 6)), np.zeros((2, 3, 3)), np.zeros(j), np.zeros(j), np.zeros(j), np.zeros(nv), np.zeros(nv),
        np.full(nq, np.nan), np.zeros(nv), np.zeros(2 + n, dtype=np.int64),
    )  # fmt: skip
    made.R[n] = np.eye(3)
    return made


def own_drives(drives: Drives) -> Drives:
    """Return drives whose lines through space have lengths and factors of their own."""
    if not len(drives.paths.ends):
        return drives
    paths = drives.paths
    own = paths._replace(
        length=paths.length.copy(), row=paths.row.copy(), leg=paths.leg.copy(), centre=paths.centre.copy(),
        at=np.full_like(paths.at, np.nan),
    )  # fmt: skip
    return drives._replace(factor=drives.factor.copy(), paths=own)
