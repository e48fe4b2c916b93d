"""What things of a compiled MuJoCo model are called: as in the file, or, where it gives no name, by their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..names import GROUND
from .usable_names import different, usable


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Names by number; bodies begin with the ground."""

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    geoms: tuple[str, ...]
    tendons: tuple[str, ...]
    actuators: tuple[str, ...]
    equalities: tuple[str, ...]
    keyframes: tuple[str, ...]


def names_of(m: Any) -> Names:
    """Return the names of a model."""
    bodies = [GROUND, *(usable(m.body(b).name, f"body{b}") for b in range(1, m.nbody))]
    return Names(
        bodies=different(bodies),
        joints=different([usable(m.joint(j).name, f"joint{j}") for j in range(m.njnt)]),
        geoms=different([usable(m.geom(g).name, f"geom{g}") for g in range(m.ngeom)]),
        tendons=different([usable(m.tendon(t).name, f"tendon{t}") for t in range(m.ntendon)]),
        actuators=different([usable(m.actuator(k).name, f"actuator{k}") for k in range(m.nu)]),
        equalities=different([usable(m.equality(e).name, f"equality{e}") for e in range(m.neq)]),
        keyframes=different([usable(m.key(k).name, f"key{k}") for k in range(m.nkey)]),
    )
