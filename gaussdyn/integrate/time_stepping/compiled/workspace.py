"""The arrays that the kernels of `step_loop` work in, for one system of free bodies."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ....arrays import IntArray
from ....contact.free_bodies.body_problem import BodyProblem, BodyWork, Contacts, Iterate
from ....linalg.block_lu import Ordering
from ....mechanics.spatial.forces import Shaking
from ....mechanics.spatial.system import SpatialSystem
from ..extrapolation import trail_of
from ..scheme import PASSES
from .records import (
    FEATURES,
    SEEN,
    Aside,
    Bodies,
    BodySolver,
    BodyState,
    BodyStep,
    Features,
    Index,
    LeftOut,
    Loads,
    Memory,
    Poses,
    Projection,
)


def unconnected(n: int) -> Ordering:
    """Return the elimination of n bodies none of which touches another, as `analyse` does."""
    number, none = np.arange(n), np.zeros(n + 1, dtype=np.int64)
    return Ordering(number, number.copy(), none, none[:0].copy(), none.copy(), np.zeros((0, 3), dtype=np.int64))


def nothing_left(n: int) -> LeftOut:
    """Return that nothing is left out of n bodies."""
    none, r = np.zeros((0, 4), dtype=np.int64), np.zeros(0, dtype=np.int64)
    return LeftOut(
        np.zeros(n, dtype=np.int64), np.arange(n), np.zeros((n, 7)), np.zeros((n, 6)), np.zeros(7), r, none,
        np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3), dtype=np.int64),
    )  # fmt: skip


class Workspace:
    """Arrays of the kernels for one system, reused from step to step.

    Attributes
    ----------
    system : SpatialSystem
    shapes : Shapes
    bodies, loads, state, poses, index, aside, problem, beside, ordering, work, bench, iterate, memory, laws, count
        What the records are made of; `beside` is the problem of the projection, and `bench` its work space. Bodies that
        are left out stand behind all others.
    order : IntArray, shape (n,)
        The bodies by their numbers in the system, as they stand.
    awake : int
        How many are not left out.
    left : LeftOut
        What is.
    torn : bool
        Whether Ctrl-C came while bodies were put in another order: the arrays are of no use any more.
    search, step, solver, projection
        The records that kernels take.
    """

    def __init__(self, system: SpatialSystem) -> None:
        n = len(system.bodies)
        shapes = system.contacts.shapes
        own = shapes.arrays._replace(table=shapes.arrays.table.copy())  # its numbers of bodies change
        self.system, self.shapes = system, replace(shapes, arrays=own)
        self.order, self.awake, self.left, self.torn = np.arange(n), n, nothing_left(n), False
        inertia = np.array([body.inertia for body in system.bodies])
        ball = np.array([np.array_equal(J, J[0, 0] * np.eye(3)) for J in inertia], dtype=np.int64)
        self.bodies = Bodies(np.array([body.mass for body in system.bodies]), inertia, ball)
        self.weight = np.zeros((n, 6))
        self.weight[:, :3] = self.bodies.mass[:, None] * np.array(system.gravity)
        shakings = [
            [*(f.amplitude * x for x in f.direction), 2.0 * math.pi * f.frequency, f.phase]
            for f in system.forces
            if isinstance(f, Shaking)
        ]
        self.loads = Loads(
            self.weight.copy(),
            np.array(shakings, dtype=np.float64).reshape(-1, 5),
            system.contacts.radii.copy(),
            np.zeros(n),
            self.weight,
        )  # fmt: skip
        self.kind, laws = system.contacts.laws_by_kind()
        self.table = np.array([[(law.mu, law.eps_n, law.eps_t) for law in line] for line in laws])
        self.q, self.v, self.q1 = np.zeros((n, 7)), np.zeros((n, 6)), np.zeros((n, 7))
        self.vectors = [np.zeros((n, 6)) for _ in range(6)]
        self.by_body = [[np.zeros((n, 6)) for _ in range(3)] for _ in range(2)]
        self.solid = [(np.zeros((n, 4, 3)), np.zeros((n, 4, 3)), np.zeros((n, 6))) for _ in range(2)]
        self.places, self.turns = np.zeros((3, n + 1, 3)), np.zeros((3, n + 1, 3, 3))
        self.turns[:, n] = np.eye(3)
        self.pair = np.zeros((0, 2), dtype=np.int64)
        self.count, self.laws = np.zeros(13, dtype=np.int64), np.array([0.0, 1.0, 0.0, 0.0])
        self.search: Any = None
        self.step: Any = None
        self.solver: Any = None
        self.ahead: Any = None
        self.features, self.modes = list[Any](), np.zeros(0, dtype=np.int64)  # of what is left out, see `left_out`
        self.projection: Any = None
        self.buffers = self.shapes.buffers()
        self.reserve(self.buffers.room)

    def reserve(self, room: int) -> None:
        """Make room for so many features; what was known of contacts is forgotten."""
        n, b = len(self.v), self.buffers
        b.reserve(room)
        self.impulse, self.rows, self.speeds = np.zeros((room, 3)), np.zeros((4, room, 3)), np.zeros((n, 6))
        self.poses = Poses(
            self.places,
            self.turns,
            np.zeros((3, room, 7)),
            np.zeros((6, 3)),
            np.zeros(n + 1, dtype=np.int64),
            np.zeros((3, 7)),
        )  # fmt: skip
        self.index = Index(np.zeros((10, room), dtype=np.int64), np.zeros((room, 3)), np.zeros(room))
        self.aside = Aside(np.zeros((10, room), dtype=np.int64), np.zeros((room, PASSES + 1)), np.zeros(room))
        self.memory = Memory(
            np.zeros((room, 4), dtype=np.int64), np.zeros((room, 3), dtype=np.int64), self.table, np.zeros((room, 3)),
            self.kind,
        )  # fmt: skip
        self.by_contact = [
            (
                (np.zeros((room, 3, 3)), *(np.zeros((room, 3)) for _ in range(2))),
                np.zeros((room, 3)),
                np.zeros(room),
                np.zeros(room),
            )
            for _ in range(2)
        ]
        self.by_row = [
            (np.zeros((room, 3, 3)), *(np.zeros((room, 3)) for _ in range(3)), np.zeros(room, dtype=np.int64))
            for _ in range(2)
        ]
        self.count[FEATURES], self.laws[SEEN] = 0, 0.0
        self._put_step()
        self.join(self.pair)

    def _put_step(self) -> None:
        """Make the records of a search and of the step, for the bodies that are not left out."""
        from ...._jit import Held
        from ....mechanics.collision.bounds.search_records import ContactList
        from .contact_search import Search

        m, found = self.awake, self.buffers.answer
        by_body = [x[:m] for x in (*self.vectors, self.q1)]
        self.state = BodyState._make((self.q[:m], self.v[:m], self.impulse, *by_body))
        self.iterate = Iterate._make((*self.rows, self.speeds[:m]))
        loads = self.loads._replace(constant=self.loads.constant[:m], weight=self.loads.weight[:m])
        shapes, space = self.buffers.shapes.value, self.buffers.space.value
        if self.ahead is None or len(self.ahead.kind) != len(found.kind):
            self.ahead = ContactList._make([np.zeros_like(part) for part in found])
        search = Search(shapes, space, ContactList(*found), self.ahead)
        features = Features(found.kind, found.bodies, found.data, found.label, self.memory.law)
        bodies = Bodies._make([x[:m] for x in self.bodies])
        step = (bodies, loads, self.memory, features, self.state, self.poses, self.index, self.left)
        touched = np.zeros(m + 1, dtype=np.int64)
        whole = BodyStep(*step, self.laws, self.count, touched)
        if self.step is None:
            self.search, self.step = Held(search), Held(whole)
        self.search.renew(search)
        self.step.renew(whole)

    def put_records(self) -> None:
        """Make all records anew: other bodies are left out."""
        self._put_step()
        self.join(self.pair[:0])

    def join(self, pair: IntArray) -> None:
        """Take the pairs of bodies that may touch, and analyse their graph."""
        from ...._jit import Held
        from ....contact.free_bodies.block_places import block_places
        from ....linalg.block_lu import analyse

        n = self.awake
        self.pair = np.ascontiguousarray(pair)
        a, b = np.ascontiguousarray(pair[:, 0]), np.ascontiguousarray(pair[:, 1])
        self.ordering = analyse(n, a, b) if (a >= 0).any() else unconnected(n)
        slot, rows = block_places(n, self.pair, self.ordering), self.ordering.rows
        self.problem, self.beside = (
            BodyProblem._make(
                (
                    Contacts(self.pair, np.zeros(len(pair) + 1, dtype=np.int64), slot, *frames),
                    *[x[:n] for x in solid],
                    *by_contact,
                )
            )
            for solid, (frames, *by_contact) in zip(self.solid, self.by_contact, strict=True)
        )
        self.work, self.bench = (
            BodyWork._make((np.zeros((n + 2 * len(rows), 6, 6)), *by_row, *[x[:n] for x in by_body], mode))
            for (*by_row, mode), by_body in zip(self.by_row, self.by_body, strict=True)
        )
        solver = BodySolver(self.problem, self.ordering, self.work, self.iterate, trail_of(6 * n))
        projection = Projection(self.aside, self.beside, self.ordering, self.bench, self.iterate)
        if self.solver is None:
            self.solver, self.projection = Held(solver), Held(projection)
        self.solver.renew(solver)
        self.projection.renew(projection)
