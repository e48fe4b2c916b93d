"""What a compiled MuJoCo model has to be looked at: its geoms of the groups that MuJoCo's viewer shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..trees.visuals import Skin, Visual
from .mjcf_contacts import FIELD, MESH, PLANE, UNSAID, colliding, colour_of, served, shape_of
from .mjcf_names import Names
from .skins import coarsened, share_of

SHOWN = 3  # groups 0, 1, 2


def visuals_of(m: Any, names: Names) -> list[Visual]:
    """Return what bodies are seen by, for bodies that have geoms which are only seen, or meshes."""
    touching = {g for pair in colliding(m) for g in pair}
    shown = [g for g in range(m.ngeom) if _shown(m, g)]
    clad = {int(m.geom_bodyid[g]) for g in shown if g not in touching or int(m.geom_type[g]) == MESH} - {0}
    shown = [g for g in shown if int(m.geom_bodyid[g]) in clad]
    most = share_of(sum(int(m.geom_type[g]) == MESH for g in shown))
    return [visual_of(m, names, g, most) for g in shown]


def _shown(m: Any, g: int) -> bool:
    kind = int(m.geom_type[g])
    seen = (colour_of(m, g) or UNSAID)[3] > 0.0
    return int(m.geom_group[g]) < SHOWN and served(m, g) and kind not in (PLANE, FIELD) and seen


def visual_of(m: Any, names: Names, g: int, most: int) -> Visual:
    """Return a geom that is seen; a mesh with at most so many triangles."""
    body, colour = names.bodies[int(m.geom_bodyid[g])], colour_of(m, g)
    if int(m.geom_type[g]) != MESH:
        return Visual(body=body, shape=shape_of(m, names, g), colour=colour)  # type: ignore[arg-type]
    k, at, turn = int(m.geom_dataid[g]), tuple(m.geom_pos[g].tolist()), tuple(m.geom_quat[g].tolist())
    first, count = int(m.mesh_vertadr[k]), int(m.mesh_vertnum[k])
    begin, faces = int(m.mesh_faceadr[k]), int(m.mesh_facenum[k])
    vertices = np.array(m.mesh_vert[first : first + count], dtype=np.float64)
    skin = coarsened(vertices, np.array(m.mesh_face[begin : begin + faces], dtype=np.int64), most)
    return Visual(
        body=body, shape=Skin(vertices=skin[0], faces=skin[1], at=at, turn=turn, name=names.geoms[g]), colour=colour
    )
