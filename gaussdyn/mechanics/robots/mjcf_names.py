"""What things of a compiled MuJoCo model are called: as in the file, or, where it gives no name, by their numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..names import GROUND


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
    bodies = [GROUND, *(_name(m.body(b).name, f"body{b}") for b in range(1, m.nbody))]
    return Names(
        bodies=_different(bodies),
        joints=_different([_name(m.joint(j).name, f"joint{j}") for j in range(m.njnt)]),
        geoms=_different([_name(m.geom(g).name, f"geom{g}") for g in range(m.ngeom)]),
        tendons=_different([_name(m.tendon(t).name, f"tendon{t}") for t in range(m.ntendon)]),
        actuators=_different([_name(m.actuator(k).name, f"actuator{k}") for k in range(m.nu)]),
        equalities=_different([_name(m.equality(e).name, f"equality{e}") for e in range(m.neq)]),
        keyframes=_different([_name(m.key(k).name, f"key{k}") for k in range(m.nkey)]),
    )


def _name(given: str, otherwise: str) -> str:
    """Return a usable name: ids are made with ``. / :``, and the ground is the world itself."""
    name = re.sub(r"[./:\s]", "_", given) or otherwise
    return f"{name}_" if name == GROUND else name


def _different(names: list[str]) -> tuple[str, ...]:
    """Return the names with a number after those that come again."""
    seen: set[str] = set()
    for k, name in enumerate(names):
        n = 2
        while names[k] in seen:
            names[k], n = f"{name}_{n}", n + 1
        seen.add(names[k])
    return tuple(names)
