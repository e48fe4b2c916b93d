"""A run made by hand, so that pages can be tested without solving anything."""

from __future__ import annotations

import numpy as np

from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.run.values import Column, Event, StepTable, Stop
from gaussdyn.mechanics.state import State


def make_run(steps: int = 5000, *, outcomes: tuple[str, ...] = ("UNIQUE",), stop: Stop | None = None) -> Trajectory:
    """A ball in free fall with a made-up contact: every kind of column, a residual of 0, a peak of one step."""
    t = np.linspace(0.0, 1.0, steps + 1)
    x, v = 1.0 - 0.5 * t**2, -t
    peak = np.zeros_like(t)
    peak[steps // 2] = 7.0
    columns = {
        "t": ("s", t),
        "q0": ("SI", x),
        "v0": ("SI/s", v),
        "kinetic": ("J", 0.5 * v**2),
        "potential": ("J", x),
        "energy": ("J", 0.5 * v**2 + x),
        "energy_error": ("J", 0.5 * v**2 + x - 1.0),
        "E": ("1", 0 * t),
        "ball/ground.gap": ("m", x),
        "ball/ground.r_N": ("N", peak),
        "height": ("m", x),
    }
    label = np.array([outcomes[k * len(outcomes) // steps] for k in range(steps)])
    table = StepTable(
        t=t[1:],
        dt=np.diff(t),
        status=np.array(["SOLVED"] * steps),
        E=np.where(np.arange(steps) % 2, 1e-16, 0.0),
        outcome=label,
    )
    q, w = x[:, None], v[:, None]
    final = State(t=1.0, q=q[-1], v=w[-1])
    return Trajectory(
        scene="ball",
        status="COMPLETED" if stop is None else "STOPPED",
        stop=stop,
        t=t,
        q=q,
        v=w,
        saved=np.arange(steps + 1),
        before_t=t,
        before_q=q,
        before_v=w,
        steps=table,
        columns={name: Column(unit=unit, values=values) for name, (unit, values) in columns.items()},
        events=(Event(t=0.5, kind="touchdown", id="ball/ground"),),
        statistics={"steps": steps, "max_residual": 1e-16, "energy_drift_rel": None},
        settings={"scene": "ball", "params": {"mu": 0.3}, "note": "<b>not markup</b>"},
        versions={"gaussdyn": "0.1.0", "numpy": np.__version__},
        final=final,
        state_hash=final.digest(),
    )
