"""A half circle of wedge-shaped stones without mortar: it stands if it is thick enough, and rough enough.

It stands if forces in the joints, pushing only and within the friction cone, can carry all stones: a linear program.
With N = 51 and mu = 0.7 the least thickness is 0.10737 of the mean radius (Milankovitch: 0.1075 for infinitely many
stones). Source: H. Alexakis, N. Makris (2013), the limit equilibrium analysis of masonry arches.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, G, check, coordinate, largest_shift
from ..references.arch_statics import ArchStatics

PARAMETERS = {
    "stones": Parameter(default=7.0, unit="1", min=7.0, max=51.0, meaning="N (rounded)"),
    "thickness": Parameter(default=0.1, unit="1", min=0.08, max=0.2, meaning="over the mean radius"),
    "mu": Parameter(default=0.7, unit="1", min=0.32, max=1.0, meaning="friction of the joints"),
    "radius": Parameter(default=1.0, unit="m", min=0.5, max=5.0, meaning="mean radius"),
}
DENSITY, DT, STEPS = 1000.0, 1e-3, 10  # kg/m^2, s
TIE = 1e-4  # of the thickness: closer to the least one nothing is promised


def build(stones: float, thickness: float, mu: float, radius: float) -> Scene:
    """Return the scene: at rest; stone 0 stands on the right abutment."""
    n = round(stones)
    system, state = arch(n, thickness, mu, radius)
    middle = 3 * (n // 2)
    columns: Columns = {"top.x": ("m", coordinate(middle)), "top.y": ("m", coordinate(middle + 1))}
    return Scene(
        name="arch",
        title="Arch of stones without mortar: how thin it may be",
        source="statics as a linear program; Milankovitch's 0.1075 as the limit of many stones",
        system=system,
        state=state,
        t_end=STEPS * DT,
        dt=DT,
        params={"stones": stones, "thickness": thickness, "mu": mu, "radius": radius},
        exact=_exact(n, thickness, mu, system),
        tests=("a hundred redundant contacts", "statics at the limit", "collapse"),
        columns=columns,
    )


def arch(n: int, thickness: float, mu: float, radius: float) -> tuple[PlanarSystem, Any]:
    """Return n stones ``stone00`` .. with two contacts at every joint, and their state at rest."""
    inner, outer = radius * (1.0 - thickness / 2.0), radius * (1.0 + thickness / 2.0)
    half = 0.5 * math.pi / n
    area, centre, polar = sector(inner, outer, half)
    corners = [(r * math.cos(s * half) - centre, r * math.sin(s * half)) for r, s in
               ((inner, -1.0), (outer, -1.0), (outer, 1.0), (inner, 1.0))]  # fmt: skip
    names = [f"stone{k:02d}" for k in range(n)]
    mass = DENSITY * area
    bodies = [
        PlanarBody(name=name, mass=mass, inertia=DENSITY * polar - mass * centre**2, outline=corners) for name in names
    ]
    right, left = HalfPlane(name="right"), HalfPlane(name="left")
    faces = [right]
    faces += [
        HalfPlane(name="face", point=corners[2], normal=(-math.sin(half), math.cos(half)), body=name) for name in names
    ]
    contacts = []
    for k, name in enumerate(names):
        for word, corner in (("in", corners[0]), ("out", corners[1])):
            contacts.append(PlanarContact(point=Marker(name, corner, word), plane=faces[k], mu=mu))
    for word, corner in (("left_in", corners[3]), ("left_out", corners[2])):
        contacts.append(PlanarContact(point=Marker(names[-1], corner, word), plane=left, mu=mu))
    system = PlanarSystem(bodies=bodies, contacts=contacts, gravity=(0.0, -G))
    turns = [(2 * k + 1) * half for k in range(n)]
    place = {
        name: (centre * math.cos(a), centre * math.sin(a), a) for name, a in zip(names, turns, strict=True)
    }  # fmt: skip
    return system, system.state(place)


def sector(inner: float, outer: float, half: float) -> tuple[float, float, float]:
    """Return area (m^2), distance of the centre and polar moment of area about the middle of the arch of one stone."""
    area = half * (outer**2 - inner**2)
    centre = 2.0 / 3.0 * (outer**3 - inner**3) / (outer**2 - inner**2) * math.sin(half) / half
    return area, centre, half * (outer**4 - inner**4) / 2.0


@lru_cache(maxsize=256)
def stands(n: int, thickness: float, mu: float) -> bool:
    """Whether forces in the joints can carry the stones (mean radius and density 1)."""
    area, centre, _ = sector(1.0 - thickness / 2.0, 1.0 + thickness / 2.0, 0.5 * math.pi / n)
    return ArchStatics(n=n, thickness=thickness, mu=mu, area=area, centre=centre).stands


def _exact(n: int, thickness: float, mu: float, system: PlanarSystem) -> tuple[Exact, ...]:
    up, thin, thick = (stands(n, thickness * (1.0 + s * TIE), mu) for s in (0.0, -1.0, 1.0))
    found = [check("stands", float(up), "1", _still, moreau_jean=0.5 if thin == thick else 9.0)]
    if up and thin:
        weight = G * sum(body.mass for body in system.bodies)
        found += [
            check("largest way of a stone", 0.0, "m", largest_shift, moreau_jean=1e-10),
            check("weight on the abutments", weight, "N", _carried(n), moreau_jean=1e-9 * weight),
        ]
    return tuple(found)


def _still(run: Any) -> float:
    """Whether no stone is quicker than rounding at the end, over what it would fall."""
    return float(np.abs(run.v[-1]).max() < 1e-8 * G * STEPS * DT)


def _carried(n: int) -> Any:
    last = f"stone{n - 1:02d}"
    ids = ("stone00.in/right", "stone00.out/right", f"{last}.left_in/left", f"{last}.left_out/left")
    return lambda run: float(sum(run[f"{id}.r_N"][-1] for id in ids))
