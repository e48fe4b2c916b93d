"""A system whose functions are Python: what kernels ask of it, and what it said when it failed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ....arrays import Array, all_finite, scalar, vector
from ....contact.snapshot import checked_mass, rows_of
from ....errors import InputError
from ....mechanics.rows import Row
from ....mechanics.system import System, coriolis_of
from ....mechanics.user.system import UserSystem, own
from ...stepper import check_same_rows
from .records import LEVEL, NO_ROWS, STEADY, STRAIGHT, UNBENT, Callback, Rows

VAST = 1e20  # m/s and rad/s: nothing moves so fast, and what passes make of such speeds overflows
Ask = Callable[[float, Array, Array], None]
CALL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


def vast(v: Array) -> bool:
    """Whether speeds are beyond all that moves, so that what functions say there may overflow."""
    return not np.abs(v).max(initial=0.0) < VAST


class Answers:
    """Answers the questions of kernels about systems of nq coordinates; an exception is kept until `error` asks.

    `asks` are what to call with (t, q, v), by number (`evaluate.ASK_..`).
    """

    def __init__(self, nq: int, nv: int, asks: Mapping[int, Ask]) -> None:
        self._asks = asks
        self._error: BaseException | None = None
        self._beyond = False
        self._call = CALL(self._answer)  # kept alive: kernels hold its address only
        address = ctypes.cast(self._call, ctypes.c_void_p).value
        asked = np.zeros(1 + nq + nv)
        self.callback = Callback(address or 0, asked, np.zeros(max(nq, nv, 1)), np.zeros(UNBENT + 1, np.int64))
        self._asked = asked, asked[1 : 1 + nq], asked[1 + nq :]

    def error(self, failed: bool) -> BaseException | None:
        """Return what a function raised, if one failed; Ctrl-C where nothing is known of it.

        Python drops an interrupt that comes while it enters or leaves a callback: then there is no answer, nor error.
        """
        error, self._error, beyond, self._beyond = self._error, None, self._beyond, False
        if beyond and isinstance(error, InputError):
            return None  # what was asked is at fault
        return KeyboardInterrupt("Ctrl-C was pressed") if failed and error is None else error

    def _answer(self, what: int) -> int:
        """Answer one question; 0: a function failed."""
        asked, q, v = self._asked
        try:
            self._asks[what](asked.item(0), q.copy(), v.copy())
        except BaseException as error:
            self._error, self._beyond = error, vast(v)
            return 0
        return 1


def raise_failed(answers: Answers | None, failed: bool, taken: int) -> None:
    """Raise what a function in Python did, unless steps were taken before, after which it does so again."""
    error = None if answers is None else answers.error(failed)
    if error is not None and (taken == 0 or not isinstance(error, Exception)):
        raise error


class Stiff(NamedTuple):
    """What stands beside the mass of a step whose forces depend on the velocity so strongly that passes diverge.

    With S = -theta dt (dh/dv + its transpose) / 2 the equation (M + S) (v+ - v) = dt h + S (v+ - v) + J^T p is the old
    one, but S on its right is that of the last guess: passes contract where dampers are stiff.

    Attributes
    ----------
    S : Array, shape (nv, nv)
    q, v : Array
        The middle of the step, where masses count; the velocity at its start.
    span : float
        theta dt, s.
    """

    S: Array
    q: Array
    v: Array
    span: float


class PythonSystem:
    """Answers kernels from a `System`: what it says is put into `answers.callback.answer`, `M` and `rows`."""

    def __init__(self, system: System, known: tuple[Row, ...], rows: Rows, start: list[int]) -> None:
        self.system, self.known, self.rows, self.start = system, known, rows, start
        self.M = np.zeros((system.nv, system.nv))
        self.stiff: Stiff | None = None
        self._control: Array | None = None
        self._forced: tuple[bytes, Array] = b"", self.M  # for what state it was last asked for the force, and that
        self._own_force, self._own_rows = own(system, "force"), own(system, "rows")
        self._own_power = self._own_force and own(system, "power")
        fill(rows, known, start)
        asks = (self._mass, self._force, self._rows, self._move, self._potential, self._power, self._coriolis)
        self.answers = Answers(system.nq, system.nv, dict(enumerate(asks)))
        self.callback = self.answers.callback
        self.callback.known[UNBENT] = not hasattr(system, "coriolis")
        self._constant: Array | None = None  # the mass, where it is always the same
        if isinstance(system, UserSystem):
            self._note_known(system)

    def _note_known(self, system: UserSystem) -> None:
        """Note what kernels need not ask."""
        known, simple = self.callback.known, system.simple
        known[NO_ROWS] = self._own_rows and simple.unbound
        known[STRAIGHT] = own(system, "move") and own(system, "qdot") and simple.straight
        known[LEVEL] = own(system, "potential") and simple.level
        if own(system, "mass") and simple.steady:
            self._constant, known[STEADY] = checked_mass(system.mass(np.zeros(system.nq)), system.nv), True
            self.M[:] = self._constant

    def put_stiff(self, stiff: Stiff | None) -> None:
        """Have this stand beside the mass from now on."""
        self.stiff = stiff
        if self._constant is not None:
            self.M[:] = self._constant
            self.callback.known[STEADY] = stiff is None

    def put_control(self, control: Array | None) -> None:
        """Have forces asked for with this control from now on."""
        self._control, self._forced = control, (b"", self.M)

    def _mass(self, t: float, q: Array, v: Array) -> None:
        self.M[:] = checked_mass(self.system.mass(q), self.system.nv)
        if self.stiff is not None and np.array_equal(q, self.stiff.q):
            self.M += self.stiff.S

    def _force_at(self, t: float, q: Array, v: Array) -> Array:
        """Return the force, which is asked for once where the same state comes twice."""
        state = self.callback.asked.tobytes()
        if state != self._forced[0]:
            h = self.system.force(t, q, v, self._control)
            if not self._own_force:  # it has checked it
                h = vector("force(t, q, v)", h, self.system.nv)
            self._forced = state, h
        return self._forced[1]

    def _force(self, t: float, q: Array, v: Array) -> None:
        h = self._force_at(t, q, v.copy())
        if self.stiff is not None:
            h = h + self.stiff.S @ (v - self.stiff.v) / self.stiff.span
        self.callback.answer[: len(v)] = h

    def _coriolis(self, t: float, q: Array, v: Array) -> None:
        self.callback.answer[: len(v)] = coriolis_of(self.system, q, v)

    def _rows(self, t: float, q: Array, v: Array) -> None:
        if not (self._own_rows and self._filled(t, q, v)):
            found = rows_of(self.system, t, q, v)
            check_same_rows(found, self.known)
            fill(self.rows, found, self.start)

    def _filled(self, t: float, q: Array, v: Array) -> bool:
        """Put values of constraints, whose laws stay, into the table; return whether all is as it should be."""
        rows, start = self.rows, self.start
        for k, one in enumerate(self.system.rates(t, q, v)):  # type: ignore[attr-defined]
            part = slice(start[k], start[k + 1])
            if one.J.shape != rows.J[part].shape:
                return False
            rows.gap[k], rows.J[part] = one.gap, one.J
            rows.rate[part] = one.drift if self.known[k].level == "acceleration" else one.rate
        return all_finite(rows.J) and all_finite(rows.rate)

    def _move(self, t: float, q: Array, v: Array) -> None:
        nq = self.system.nq
        self.callback.answer[:nq] = vector("move(q, v, dt)", self.system.move(q, v, t), nq)

    def _potential(self, t: float, q: Array, v: Array) -> None:
        self.callback.answer[0] = scalar("potential", self.system.potential(t, q))

    def _power(self, t: float, q: Array, v: Array) -> None:
        if self._own_power:
            power = self.system.power(t, q, v, self._control, self._force_at(t, q, v))  # type: ignore[call-arg]
        else:
            power = self.system.power(t, q, v, self._control)
        self.callback.answer[0] = scalar("power(t, q, v)", power)


def fill(rows: Rows, found: tuple[Row, ...], start: list[int]) -> None:
    """Put rows into a table."""
    for k, row in enumerate(found):
        part = slice(start[k], start[k + 1])
        rate = row.drift if row.level == "acceleration" else row.rate
        rows.gap[k], rows.rate[part], rows.J[part], rows.law[k] = row.gap, rate, row.J, law_of(row)


def law_of(row: Row) -> tuple[float, ...]:
    """Return mu, mu_s (the cap at rest of dry rows), cap (of contacts mu_t), mu_r, eps_n and eps_t."""
    rest, cap = (row.cap_s, row.cap) if row.kind == "dry" else (row.mu_s, row.mu_t)
    return row.mu, rest, cap, row.mu_r, row.eps_n, row.eps_t
