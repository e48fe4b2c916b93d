"""Engines for tests of the league: one that knows free flight, one that crashes, one that hangs, one that is absent."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from gaussdyn.arrays import Array
from gaussdyn.league.engines.protocol import DEFAULTS, Lacks, Simulation
from gaussdyn.league.world import World


class Flight:
    """Bodies that fly through everything, exactly; it knows no pins."""

    name, library = "flight", "numpy"
    settings: ClassVar[Mapping[str, str]] = {DEFAULTS: "free flight"}

    def version(self) -> str:
        return "1"

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        if world.pins:
            raise Lacks("no pins")
        return Flying(world, dt)


class Flying:
    """Where bodies are after so many steps."""

    def __init__(self, world: World, dt: float) -> None:
        self.first, self.gravity, self.dt, self.taken = world.start(), np.array(world.gravity), dt, 0

    def step(self, n: int) -> None:
        self.taken += n

    def states(self) -> Array:
        now, t = self.first.copy(), self.taken * self.dt
        now[:, :3] += now[:, 7:10] * t + 0.5 * self.gravity * t * t
        now[:, 7:10] += self.gravity * t
        return now

    def said(self) -> str:
        return "flying"


class Crashing(Flight):
    """One whose process dies under it."""

    name = "crashing"

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        os.kill(os.getpid(), signal.SIGSEGV)
        raise AssertionError


class Hanging(Flight):
    """One that never answers."""

    name = "hanging"

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        time.sleep(600.0)
        raise AssertionError


class Endless(Flight):
    """One whose steps never end, though it starts and goes on with them."""

    name = "endless"

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        return Busy(world, dt)


class Busy(Flying):
    def step(self, n: int) -> None:
        while self.taken >= 0:
            self.taken += n


class Failing(Flight):
    """One that raises."""

    name = "failing"

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        raise RuntimeError("diverged")


class Absent(Flight):
    """One whose library is not there."""

    name, library = "absent", "no_such_engine"


class Overflowing(Flight):
    """One whose numbers overflow."""

    name = "overflowing"

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        return Blown(world, dt)


class Blown(Flying):
    def states(self) -> Array:
        return super().states() * (np.nan if self.taken > 300 else 1.0)
