"""What the sensors of a system read, as columns of its runs."""

from __future__ import annotations

from dataclasses import replace

from ...errors import InputError
from ...mechanics.system import System
from .column_names import Heads
from .trajectory import Trajectory
from .values import Column


def check_sensor_names(system: System, heads: Heads) -> None:
    """Raise InputError if a sensor has the name of another column of the run, before it begins."""
    taken = {*heads, *(also for _, also in heads.values())}
    names = [name for sensor in getattr(system, "sensors", ()) for name in sensor.names]
    if twice := sorted(set(names) & taken):
        raise InputError(
            "sensors",
            ", ".join(twice),
            "names that no other column of the run has",
            'Write name="sensor_..." for them.',
        )


def with_sensors(system: System, run: Trajectory) -> Trajectory:
    """Return a stretch of a run with the columns of the sensors that a system has (`sense`), if it lacks any."""
    sense = getattr(system, "sense", None)
    found = {} if sense is None else sense(run)
    columns = {
        name: Column(unit=unit, values=values, also="".join(also))
        for name, (unit, values, *also) in found.items()
        if name not in run
    }
    return replace(run, columns={**run.columns, **columns}) if columns else run
