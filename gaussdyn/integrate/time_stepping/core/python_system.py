"""A system whose functions are Python: what kernels ask of it, and what it said when it failed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from ....arrays import Array, scalar, vector
from ....contact.snapshot import checked_mass, rows_of, unchanging
from ....mechanics.rows import Row
from ....mechanics.system import System
from ....mechanics.user.system import UserSystem
from ...stepper import check_same_rows
from .records import Callback, Rows

Ask = Callable[[float, Array, Array], None]
CALL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Answers:
    """Answers the questions of kernels about systems of nq coordinates; an exception is kept until `error` asks.

    `asks` are what to call with (t, q, v), by number (`evaluate.ASK_..`).
    """

    def __init__(self, nq: int, nv: int, asks: Mapping[int, Ask]) -> None:
        self._nq, self._asks = nq, asks
        self._error: BaseException | None = None
        self._call = CALL(self._answer)  # kept alive: kernels hold its address only
        address = ctypes.cast(self._call, ctypes.c_void_p).value
        self.callback = Callback(address or 0, np.zeros(1 + nq + nv), np.zeros(max(nq, nv, 1)))

    def error(self, failed: bool) -> BaseException | None:
        """Return what a function raised, if one failed; Ctrl-C where nothing is known of it.

        Python drops an interrupt that comes while it enters or leaves a callback: then there is no answer, nor error.
        """
        error, self._error = self._error, None
        return KeyboardInterrupt("Ctrl-C was pressed") if failed and error is None else error

    def _answer(self, what: int) -> int:
        """Answer one question; 0: a function failed."""
        asked, nq = self.callback.asked, self._nq
        try:
            self._asks[what](float(asked[0]), asked[1 : 1 + nq].copy(), asked[1 + nq :].copy())
        except BaseException as error:
            self._error = error
            return 0
        return 1


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
        self.control: Array | None = None
        self.stiff: Stiff | None = None
        self._constant: Array | None = None  # the mass, where the system returns what nobody can change
        plain = isinstance(system, UserSystem) and type(system).rows is UserSystem.rows
        self._evaluate = system.rates if plain else partial(rows_of, system)  # type: ignore[attr-defined]
        asks = (self._mass, self._force, self._rows, self._move, self._potential, self._power)
        self.answers = Answers(system.nq, system.nv, dict(enumerate(asks)))
        self.callback = self.answers.callback

    def _mass(self, t: float, q: Array, v: Array) -> None:
        given = self.system.mass(q)
        if given is not self._constant or self.stiff is not None:
            self.M[:] = checked_mass(given, self.system.nv)
            self._constant = given if self.stiff is None and unchanging(given) else None
        if self.stiff is not None and np.array_equal(q, self.stiff.q):
            self.M += self.stiff.S

    def _force(self, t: float, q: Array, v: Array) -> None:
        nv = self.system.nv
        h = vector("force(t, q, v)", self.system.force(t, q, v, self.control), nv)
        if self.stiff is not None:
            h = h + self.stiff.S @ (v - self.stiff.v) / self.stiff.span
        self.callback.answer[:nv] = h

    def _rows(self, t: float, q: Array, v: Array) -> None:
        found = self._evaluate(t, q, v)
        check_same_rows(found, self.known)
        fill(self.rows, found, self.start)

    def _move(self, t: float, q: Array, v: Array) -> None:
        nq = self.system.nq
        self.callback.answer[:nq] = vector("move(q, v, dt)", self.system.move(q, v, t), nq)

    def _potential(self, t: float, q: Array, v: Array) -> None:
        self.callback.answer[0] = scalar("potential", self.system.potential(t, q))

    def _power(self, t: float, q: Array, v: Array) -> None:
        self.callback.answer[0] = scalar("power(t, q, v)", self.system.power(t, q, v, self.control))


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
