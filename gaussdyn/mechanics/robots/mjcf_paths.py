"""Tendons of a compiled MuJoCo model: linear combinations of joints, and paths through space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...linalg.rotations import matrix_of
from ..trees.parts import Leg, Round, SpatialTendon, Tendon
from .mjcf_names import Names

JOINT, PULLEY, SITE, SPHERE, CYLINDER = range(1, 6)  # mjtWrap


def wraps_of(m: Any, t: int) -> range:
    """Return the numbers of what a tendon runs along."""
    return range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t]))


def through_space(m: Any, t: int) -> bool:
    """Return whether a tendon runs through space."""
    return any(int(m.wrap_type[w]) != JOINT for w in wraps_of(m, t))


def tendon_of(m: Any, names: Names, t: int) -> Tendon | SpatialTendon:
    """Return a tendon."""
    low, high = (float(x) for x in m.tendon_range[t]) if m.tendon_limited[t] else (-math.inf, math.inf)
    shortest, longest = (float(x) for x in m.tendon_lengthspring[t])
    damping, stiffness, slack = float(m.tendon_damping[t]), float(m.tendon_stiffness[t]), (shortest, longest)
    if through_space(m, t):
        return SpatialTendon(
            name=names.tendons[t], legs=legs_of(m, names, t), low=low, high=high, damping=damping,
            stiffness=stiffness, slack=slack,
        )  # fmt: skip
    return Tendon(
        name=names.tendons[t], factors=factors_of(m, names, t), low=low, high=high, damping=damping,
        friction=float(m.tendon_frictionloss[t]), stiffness=stiffness, slack=slack,
    )  # fmt: skip


def factors_of(m: Any, names: Names, t: int) -> dict[str, float]:
    """Return the factors of a fixed tendon by joint."""
    found: dict[str, float] = {}
    for w in wraps_of(m, t):
        joint = names.joints[m.wrap_objid[w]]
        found[joint] = found.get(joint, 0.0) + float(m.wrap_prm[w])
    return found


def legs_of(m: Any, names: Names, t: int) -> tuple[Leg, ...]:
    """Return the legs of a tendon through space, from site to site."""
    found, before, ring, share = list[Leg](), -1, None, 1.0
    for w in wraps_of(m, t):
        kind, k = int(m.wrap_type[w]), int(m.wrap_objid[w])
        if kind == PULLEY:
            before, ring, share = -1, None, 1.0 / float(m.wrap_prm[w])
        elif kind == SITE:
            if before >= 0:
                ends = {"a": names.bodies[m.site_bodyid[before]], "b": names.bodies[m.site_bodyid[k]]}
                at_a, at_b = (tuple(m.site_pos[one].tolist()) for one in (before, k))
                found.append(Leg(**ends, at_a=at_a, at_b=at_b, around=ring, share=share))
            before, ring = k, None
        else:
            ring = round_of(m, names, w)
    return tuple(found)


def round_of(m: Any, names: Names, w: int) -> Round:
    """Return what a leg may wind around, with the site that says on which side as its mark."""
    g, site, sphere = int(m.wrap_objid[w]), int(m.wrap_prm[w]), int(m.wrap_type[w]) == SPHERE
    mark = (0.0, 0.0)
    if site >= 0:
        x, y, _ = (matrix_of(m.geom_quat[g]).T @ (m.site_pos[site] - m.geom_pos[g])).tolist()
        mark = (x, y)
    return Round(
        body=names.bodies[m.geom_bodyid[g]], radius=float(m.geom_size[g, 0]), shape="sphere" if sphere else "cylinder",
        at=tuple(m.geom_pos[g].tolist()), turn=tuple(m.geom_quat[g].tolist()), mark=mark,
    )  # fmt: skip


def trouble_with(m: Any, t: int) -> str:
    """Return what of a path through space cannot be had, or nothing."""
    if m.tendon_frictionloss[t] > 0.0:
        return "dry friction along a path through space"
    for w in wraps_of(m, t):
        if int(m.wrap_type[w]) in (SPHERE, CYLINDER) and (site := int(m.wrap_prm[w])) >= 0:
            g = int(m.wrap_objid[w])
            seen = matrix_of(m.geom_quat[g]).T @ (m.site_pos[site] - m.geom_pos[g])
            if int(m.wrap_type[w]) == SPHERE or m.site_bodyid[site] != m.geom_bodyid[g]:
                return "a side site of a sphere, or on another body"
            if np.hypot(seen[0], seen[1]) < m.geom_size[g, 0]:
                return "a path within a cylinder"
    return ""
