"""A toy woodpecker hops down a pole: its sleeve jams and slides, its beak hits, and the motion repeats itself.

Coordinates: height y of the sleeve (m), angle of the sleeve phi_M and of the bird phi_S (rad), joined by a spring.
Contact 1 is the beak against the pole, 2 and 3 are the lower and the upper edge of the sleeve. Parameters of Glocker's
model. The reference integrates every mode exactly (a matrix exponential, since the model is linear in each), finds
events by bisection, and modes and impulses by enumeration.

Sources: F. Pfeiffer, C. Glocker (1996), Multibody dynamics with unilateral contacts; R. I. Leine, D. H. van Campen,
C. Glocker (2003), Nonlinear dynamics and modeling of various wooden toys with impact and friction.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...mechanics.lagrangian.system import Contact, LagrangianSystem
from ...mechanics.scene import Exact, Parameter, Scene, WhenAsked
from ...mechanics.state import State
from ..measures.measures import Columns, at_event, check, coordinate, last, rate
from ..references.woodpecker_motion import (  # fmt: skip
    H_M,
    H_S,
    HINGED,
    L_G,
    L_M,
    L_S,
    MASS,
    NAMES,
    NORMAL,
    OFFSET,
    R_M,
    R_O,
    TANGENT,
    WEIGHT,
    Motion,
    Woodpecker,
)

PARAMETERS = {
    "mu": Parameter(default=0.3, unit="1", min=0.25, max=0.35, meaning="friction of all contacts"),
    "beak": Parameter(default=0.5, unit="1", min=0.4, max=0.6, meaning="restitution of the beak"),
    "spring": Parameter(default=0.0056, unit="N m/rad", min=0.005, max=0.006, meaning="between sleeve and bird"),
    "omega": Parameter(default=-7.4583, unit="rad/s", min=-8.0, max=-7.0, meaning="rate of the bird at the start"),
}
T_END, DT, LATE = 0.1, 2e-4, 3.0


def build(mu: float, beak: float, spring: float, omega: float) -> Scene:
    """Return the scene: the sleeve slides with its lower edge on the pole while the bird swings out."""
    start, fast = np.array([0.0, HINGED / H_M, -0.2788]), np.array([-0.3411, 0.0, omega])
    known = Woodpecker(mu=mu, beak=beak, spring=spring)
    columns: Columns = {
        "sleeve.y": ("m", coordinate(0)), "sleeve.angle": ("rad", coordinate(1)), "bird.angle": ("rad", coordinate(2)),
        "sleeve.vy": ("m/s", rate(0)), "bird.omega": ("rad/s", rate(2)),
    }  # fmt: skip
    return Scene(
        name="woodpecker",
        title="Woodpecker toy",
        source="Glocker's parameters; exact motion within every mode, modes and impulses by enumeration",
        system=_system().with_params(mu=mu, beak=beak, spring=spring),
        state=State(q=start, v=fast),
        t_end=T_END,
        dt=DT,
        params={"mu": mu, "beak": beak, "spring": spring, "omega": omega},
        exact=WhenAsked(lambda: _exact(*known.motion(start, fast, T_END))),
        tests=("impacts with and without restitution", "jamming", "stick and slip", "a limit cycle"),
        columns=columns,
    )


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    """Return the toy in its three coordinates; drawn with the pole to the left of the bird."""
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    y, sleeve, bird = q = dynamicsymbols("y sleeve bird")
    mu, beak, spring = sp.symbols("mu beak spring")
    v = sp.Matrix([one.diff() for one in q])
    gaps = [
        sum(float(n) * x for n, x in zip(row, q, strict=True)) + float(c) for row, c in zip(NORMAL, OFFSET, strict=True)
    ]
    slips = [sum(float(n) * x for n, x in zip(row, v, strict=True)) for row in TANGENT]
    corners = ((-R_M, -H_M), (R_M, -H_M), (R_M, H_M), (-R_M, H_M), (-R_M, -H_M))
    return LagrangianSystem(
        {y: "m", sleeve: "rad", bird: "rad"},
        kinetic=(v.T * sp.Matrix(MASS.tolist()) * v)[0, 0] / 2,
        potential=spring * (sleeve - bird) ** 2 / 2 - sum(float(w) * x for w, x in zip(WEIGHT, q, strict=True)),
        constraints=[
            Contact(gap, slip=slip, mu=mu, eps_n=beak if name == "beak" else 0.0, name=name)
            for gap, slip, name in zip(gaps, slips, NAMES, strict=True)
        ],
        parameters={name: (p.default, p.unit) for name, p in PARAMETERS.items() if name != "omega"},
        drawing={
            "pole": [(-R_O, y - 0.03), (-R_O, y + 0.03)],
            "sleeve": [(a - b * sleeve, y + b + a * sleeve) for a, b in corners],
            "bird": [(L_M, y + L_M * sleeve), (L_M + L_G, y + L_M * sleeve + L_G * bird),
                     (L_M + L_G - L_S - H_S * bird, y + H_S)],
        },
        compile=False,
        name="woodpecker toy",
    )  # fmt: skip


def _exact(end: Motion, hits: list[tuple[str, float]]) -> tuple[Exact, ...]:
    """Return the checks; time stepping knows each event to a step, and what the speeds there make of it."""
    found = []
    for contact, t in reversed(dict(reversed(hits)).items()):
        measure = at_event(_closing(contact), "impact", contact)
        name = f"time of the first impact: {contact}"
        found.append(check(name, t, "s", measure, moreau_jean=LATE * DT, located=True))
    names = (
        ("sleeve.y", "m", end.q[0], 1.0),
        ("bird.angle", "rad", end.q[2], 10.0),
        ("bird.omega", "rad/s", end.v[2], 1e3),
    )
    for name, unit, value, speed in names:
        found.append(
            check(f"{name} at the end", float(value), unit, last(name), moreau_jean=LATE * speed * DT, located=True)
        )  # fmt: skip
    return tuple(found)


def _closing(contact: str) -> Any:
    """Return the measure: the time of the state in which a contact pushes first, s."""

    def measure(run: Any) -> float:
        """Read it off the reactions."""
        pushes = np.flatnonzero(run[f"{contact}.r_N"] > 0.0)
        return float(run.t[pushes[0]]) if len(pushes) else math.nan

    return measure
