"""Many states of one system advanced together by one compiled call per core; every world as if it ran alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from ..._warmup import cores
from ...arrays import Array, IntArray
from ...errors import InputError
from ...mechanics.state import State
from ...mechanics.system import System, check_is_system
from ..stepper import CUT
from ..time_stepping.core.advance import CompiledSystem
from ..time_stepping.core.outside.cut_steps import end_of_cut
from ..time_stepping.core.row_model import built
from ..time_stepping.moreau_jean import MoreauJean

if TYPE_CHECKING:
    from .lane import Lane
    from .world_kernels import Stock

PIECES = 8  # of the worlds, per thread where there are some: who is done early takes another one


class Worlds:
    """N states of one system, at one time, advanced together.

    Steps are those of `MoreauJean`, bit by bit: a world comes to where a run from its state under its control would.
    Threads share out the worlds and need no Python on the way, where the system is in the plane, of bodies with joints
    in space or of trees, or Lagrangian and its functions are compiled; worlds that kernels cannot serve, or steps that
    they cannot solve, are taken one by one.

    Parameters
    ----------
    system : System
    states : sequence of State
        Where the worlds start, all at the same time.
    stepper : MoreauJean, optional
        Default ``MoreauJean()``, dt = 1e-3 s.
    threads : int, optional
        Default: one per core.

    Attributes
    ----------
    t : float
        s.
    stopped : mapping of int to str
        Worlds that stand still because their step has no solution, with the reason.

    Raises
    ------
    InputError
        No system, no states, states at different times or of other sizes.

    Examples
    --------
    >>> from gaussdyn import build
    >>> from gaussdyn.integrate.worlds import Worlds
    >>> scene = build("incline")
    >>> worlds = Worlds(scene.system, [scene.state] * 3)
    >>> worlds.step(n=10)
    >>> worlds.v.shape
    (3, 3)
    """

    def __init__(
        self, system: System, states: Sequence[State], *, stepper: MoreauJean | None = None, threads: int | None = None
    ) -> None:  # fmt: skip
        check_is_system("system", system)
        self.system, self.stepper = system, MoreauJean() if stepper is None else stepper
        if not isinstance(self.stepper, MoreauJean):
            raise InputError("stepper", repr(stepper), "a MoreauJean", "Other steppers: gaussdyn.study(...).")
        if self.stepper.step is not None:
            raise InputError(
                "stepper",
                repr(stepper),
                "steps of one length, which all worlds take together",
                "Write MoreauJean(dt=1e-3).",
            )
        if getattr(system, "activations", None) is not None:
            raise InputError("system", "actuators with states", "a system without", "gaussdyn.study(...) runs those.")
        self._states = _checked(system, states, self.stepper)
        self.t = self._states[0].t
        self.stopped: Mapping[int, str] = {}
        self.threads = _threads(threads)
        self._pool = ThreadPoolExecutor(max(1, self.threads - 1))  # the caller is one more
        self._room = 0
        self._fill(list(self._states))

    def __len__(self) -> int:
        """Return the number of worlds."""
        return len(self._states)

    @property
    def q(self) -> Array:
        """Coordinates of all worlds, shape (N, nq)."""
        return np.array([state.q for state in self._states]) if self._stock is None else self._stock.value.q.copy()

    @property
    def v(self) -> Array:
        """Velocities of all worlds, shape (N, nv)."""
        return np.array([state.v for state in self._states]) if self._stock is None else self._stock.value.v.copy()

    def state(self, k: int) -> State:
        """Return where world k stands, e.g. for `simulate`."""
        if not 0 <= k < len(self):
            raise InputError("k", k, f"a world, 0 to {len(self) - 1}", f"Write worlds.state({len(self) - 1}).")
        return self._at(k, self.t)

    def _at(self, k: int, t: float) -> State:
        """Return where world k stands at a time."""
        if self._stock is not None:
            self._states[k] = self._lanes[0].state(self._stock.value, k, t, self._states[k])
        return self._states[k]

    def put(self, k: int, state: State) -> None:
        """Put another state into world k, which goes on from there if it was stopped.

        Raises
        ------
        InputError
            A state at another time, or of another size; no such world.
        """
        self.state(k)
        _checked(self.system, [state], self.stepper)
        if state.t != self.t:
            raise InputError(
                "state",
                f"t = {state.t:g} s",
                f"t = {self.t:g} s, as the other worlds",
                f"Write state=dataclasses.replace(state, t={self.t:g}).",
            )
        self._states[k] = state
        self.stopped = {world: reason for world, reason in self.stopped.items() if world != k}
        if self._stock is not None and not self._lanes[0].put(self._stock.value, k, state, self.stepper.dt):
            self._fill([self.state(one) if one != k else state for one in range(len(self))])

    def step(self, control: object = None, n: int = 1) -> None:
        """Take n steps with all worlds.

        Ctrl-C ends it where each world then is, while `t` stays: `put` their states before going on.

        Parameters
        ----------
        control : array_like, shape (N, nu), (nu,) or (n, N, nu), optional
            Held over these steps, or one for each; nu as `control` of `simulate` has it.
        n : int
            Number of steps.

        Raises
        ------
        InputError
            A control of another shape, NaN, n < 1; a function of the system returns NaN.
        """
        from ..time_stepping.core.outside.spans import spans_of

        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise InputError("n", repr(n), "a number of steps, 1 and more", "Write n=1.")
        told = self._told(control, n)
        spans = spans_of(self.stepper, self.t, n, math.inf)
        taken = np.zeros(len(self), dtype=np.int64)  # steps, by world
        while len(which := self._going(taken, n)):
            if self._stock is not None:
                taken = self._together(spans, which, told, taken)
            for k in which[taken[which] < n].tolist():
                self._alone(k, spans[taken[k]], None if told is None else told[min(taken[k], len(told) - 1), k])
                taken[k] += 1
        self.t = float(spans[-1, 2])

    def _going(self, taken: IntArray, n: int) -> IntArray:
        """Return the worlds that have taken less than n steps and have not stopped."""
        going = taken < n
        going[list(self.stopped)] = False
        return np.flatnonzero(going)

    def _together(self, spans: Array, which: IntArray, told: Array | None, taken: IntArray) -> IntArray:
        """Take these worlds through steps in threads, up to one that kernels cannot take; return the steps taken."""
        from .lane import rules_of
        from .world_kernels import Call

        assert self._stock is not None
        stock: Stock = self._stock.value
        stock.taken[:, 0] = taken
        control = np.zeros((1, len(self), self._lanes[0].controls)) if told is None else told
        pieces = PIECES * self.threads if self.threads > 1 else 1
        rules = rules_of(self.stepper)
        calls = [Call(spans, control, piece, rules) for piece in np.array_split(which, pieces) if len(piece)]
        following = count()

        def run(lane: Lane) -> None:
            """Take one piece after the other."""
            while (at := next(following)) < len(calls):
                lane.advance_worlds(self._stock, calls[at])

        others = [self._pool.submit(run, lane) for lane in self._lanes[1:]]
        try:
            run(self._lanes[0])
        finally:
            for one in others:
                one.result()
        return stock.taken[:, 0].copy()

    def _alone(self, k: int, span: Array, control: Array | None) -> None:
        """Take world k through one step as `simulate` does; without a solution it stops where the step begins."""
        state, limit = self._at(k, float(span[0])), float(span[2]) + 2.0 * self.stepper.dt
        step = self.stepper.advance(self.system, state, limit, control=control)
        while step.solution.solved and CUT in step.state.memory:
            step = self.stepper.advance(self.system, step.state, limit, control=control)
        self._states[k] = step.state if step.solution.solved else state
        if not step.solution.solved:
            self.stopped = {**self.stopped, k: f"t = {state.t:g} s: {step.solution.explain()}"}
        elif self._stock is not None and not self._lanes[0].put(self._stock.value, k, step.state, self.stepper.dt):
            self._fill([step.state if one == k else self.state(one) for one in range(len(self))])

    def _fill(self, states: list[State]) -> None:
        """Make room for the worlds and put states into them; with more where their contacts do not fit."""
        from ..._jit import Held
        from .lane import Lane

        self._states, self._stock, self._lanes = states, None, []
        found = self.stepper.kernels(self.system, states[0])
        if not isinstance(found, CompiledSystem) or found.parts.answers is not None:
            return
        while True:
            lanes = [Lane(self.system, built(self.system, states[0], self._room)) for _ in range(self.threads)]
            stock = lanes[0].stock(len(states))
            if all(lanes[0].put(stock, k, state, self.stepper.dt) for k, state in enumerate(states)):
                self._lanes, self._stock = lanes, Held(stock)
                return
            self._room = 2 * len(lanes[0].parts.model.carried.place)

    def _told(self, control: object, n: int) -> Array | None:
        """Return the controls of all worlds, shape (1 or n, N, nu)."""
        if control is None:
            return None
        given = np.asarray(control, dtype=np.float64)
        size = self._lanes[0].controls if self._lanes else given.shape[-1] if given.ndim else 1
        shapes = ((len(self), size), (size,), (n, len(self), size))
        if given.shape not in shapes:
            allowed = "shape {}, {} or {}".format(*shapes)
            mend = f"Write control=numpy.zeros(({len(self)}, {size}))."
            raise InputError("control", f"shape {given.shape}", allowed, mend)
        if not np.isfinite(given).all():
            mend = "Look with numpy.isfinite(control).all(axis=-1)."
            raise InputError("control", "NaN or infinity", "finite numbers", mend)
        steps = n if given.ndim == 3 else 1
        return np.ascontiguousarray(np.broadcast_to(given, (steps, len(self), size)))


def _checked(system: System, states: object, stepper: MoreauJean) -> list[State]:
    """Return states of a system, all at one time and none within a step that is cut."""
    if isinstance(states, State) or not isinstance(states, Sequence) or not states:
        raise InputError("states", repr(states), "a list of at least one State", "Write states=[system.state()].")
    for k, state in enumerate(states):
        if not isinstance(state, State):
            raise InputError(f"states[{k}]", repr(state), "a State", "Write states=[system.state()].")
        if (len(state.q), len(state.v)) != (system.nq, system.nv):
            sizes = f"{len(state.q)} coordinates and {len(state.v)} velocities"
            raise InputError(f"states[{k}]", sizes, f"{system.nq} and {system.nv}", "Write states=[system.state()].")
        end, left = end_of_cut(stepper, state)
        if left > 0.0:
            mend = f"Take it there first: simulate(system, states[{k}], {end!r}, stepper=stepper).final."
            raise InputError(f"states[{k}]", f"t = {state.t:g} s, within a step that is cut", f"t = {end:g} s", mend)
        if state.t != states[0].t:
            raise InputError(
                f"states[{k}]",
                f"t = {state.t:g} s",
                f"t = {states[0].t:g} s, as the first",
                f"Write states[{k}] = dataclasses.replace(states[{k}], t={states[0].t:g}).",
            )
    return list(states)


def _threads(given: object) -> int:
    if given is None:
        return cores()
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InputError("threads", repr(given), "an integer >= 1, or None", "Write threads=2.")
    return given
