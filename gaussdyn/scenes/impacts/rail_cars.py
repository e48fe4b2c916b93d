"""Five rail cars in a row under constant forces: a rigid coupling, the others buffers that can only push.

From rest, buffers closed, the accelerations are those of least deviation from the free ones with a_i >= a_{i+1}: trains
are merged while the one behind would be faster (pool adjacent violators), and stay as they are.
Source: Grzesikiewicz, Jarzebowska, Wakulicz (1993).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...mechanics.lagrangian.system import Holonomic, LagrangianSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, last

Train = tuple[float, float, int]  # mass (kg), force (N), number of cars

MASSES = (2.0, 1.0, 3.0, 1.0, 2.0)  # kg, from the first car to the last
RIGID = 1  # the coupling between the second car and the third
LOADS = (4.0, -2.0, 9.0, 1.0, 7.0)  # N, forwards

PARAMETERS = {
    f"load{k}": Parameter(default=F, unit="N", min=-1e6, max=1e6, meaning=f"force on car {k}, forwards; car 0 leads")
    for k, F in enumerate(LOADS)
}
T_END, DT = 1.0, 2e-3


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    s = dynamicsymbols("s:5")
    load = sp.symbols("load:5")
    couplings = [
        Holonomic(s[k] - s[k + 1], kind="bilateral" if k == RIGID else "unilateral", name=f"coupling{k}")
        for k in range(len(s) - 1)
    ]
    places = [one - 2 * k for k, one in enumerate(s)]  # s is the way from where each car stood
    return LagrangianSystem(
        dict.fromkeys(s, "m"),
        kinetic=sum(sp.Rational(m) * one.diff() ** 2 / 2 for m, one in zip(MASSES, s, strict=True)),
        forces=load,
        constraints=couplings,
        parameters={one: (F, "N") for one, F in zip(load, LOADS, strict=True)},
        drawing={f"car {k}": [(x - 0.9, 0), (x + 0.9, 0), (x + 0.9, 1), (x - 0.9, 1)] for k, x in enumerate(places)},
        compile=False,
        name="rail cars",
    )


def build(**load: float) -> Scene:
    """Return the scene: the ways of the cars are measured from where each stood."""
    forces = [load[f"load{k}"] for k in range(len(MASSES))]
    a = accelerations(forces)
    size = max(1.0, *map(abs, forces)) / max(LOADS)  # of loads over those by which tolerances were taken
    columns: Columns = {f"car{k}.way": ("m", coordinate(k)) for k in range(len(a))}
    exact = [
        check(f"way of car {k}", 0.5 * one * T_END**2, "m", last(f"car{k}.way"), moreau_jean=1e-9 * max(1.0, size))
        for k, one in enumerate(a)
    ]
    behind = np.cumsum([m * one - F for m, one, F in zip(MASSES, a, forces, strict=True)])
    for k in range(len(a) - 1):
        exact.append(
            check(f"force in coupling {k}", float(behind[k]), "N", _force(k), moreau_jean=1e-8 * max(1.0, size))
        )
    return Scene(
        name="rail_cars",
        title="Rail cars with buffers",
        source="pool adjacent violators; Grzesikiewicz, Jarzebowska, Wakulicz (1993)",
        system=_system().with_params(**load),
        state=State(q=np.zeros(5), v=np.zeros(5)),
        t_end=T_END,
        dt=DT,
        params=dict(load),
        exact=tuple(exact),
        tests=("a Gauss program in closed form", "release of unilateral constraints"),
        columns=columns,
    )


def accelerations(forces: list[float]) -> list[float]:
    """Return the accelerations: trains (mass, force, number of cars) merged while the one behind would be faster."""
    single = [(m, F, 1) for m, F in zip(MASSES, forces, strict=True)]
    coupled = [*single[:RIGID], _joined(*single[RIGID : RIGID + 2]), *single[RIGID + 2 :]]
    trains: list[Train] = []
    for one in coupled:
        trains.append(one)
        while len(trains) > 1 and trains[-2][1] / trains[-2][0] < trains[-1][1] / trains[-1][0]:
            trains[-2:] = [_joined(*trains[-2:])]
    return [F / m for m, F, cars in trains for _ in range(cars)]


def _joined(a: Train, b: Train) -> Train:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _force(k: int) -> Any:
    name = f"coupling{k}"
    return lambda run: float(run[f"{name}.r" if k == RIGID else f"{name}.r_N"][-1])
