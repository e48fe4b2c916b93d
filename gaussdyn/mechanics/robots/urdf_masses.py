"""Whether all that moves in a URDF file has inertia, and small ones for what has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of
from .inertias import LEAST_INERTIA, LEAST_MASS
from .urdf_joints import Joint, Structure
from .urdf_links import Link
from .urdf_shapes import origin_of

Placement = tuple[Array, Array]  # place, shape (3,), and axes, shape (3, 3)


def placements(structure: Structure, links: Mapping[str, Link]) -> dict[str, Placement]:
    """Return where every link stands, seen from the root, while no joint moves anything."""
    found: dict[str, Placement] = {}
    for name, joint in structure.order:
        if joint is None:
            found[name] = np.zeros(3), np.eye(3)
            continue
        x, R = found[joint.parent]
        at, turn = origin_of(joint.element)
        found[name] = x + R @ np.array(at), R @ matrix_of(turn)
    return found


def with_masses(structure: Structure, links: Mapping[str, Link], *, free: bool, mend: bool) -> dict[str, Link]:
    """Return the links, of which all that move have inertia.

    Parameters
    ----------
    free : bool
        Whether the root moves, too.

    Raises
    ------
    InputError
        A joint that moves no inertia, unless it is to be mended: the link with file and line.
    """
    found, places = dict(links), placements(structure, links)
    sums = _sums(structure, found, places)
    for name, joint in structure.order:
        if (joint is None and not free) or (joint is not None and joint.kind == "fixed"):
            continue
        why = _lacking(joint, places[name], sums[name])
        if not why:
            continue
        link = found[name]
        if not mend:
            text = "Write its <inertial>, or let mend=True (--mend) give it a small one."
            raise link.element.wrong(f"link {link.name}", why, "a mass and an inertia for all that moves", text)
        said = f"link {link.name} (line {link.element.line}): {why}; it got {LEAST_MASS:g} kg (mended)"
        found[name] = replace(
            link, mass=link.mass + LEAST_MASS, inertia=link.inertia + LEAST_INERTIA * np.eye(3),
            mended=(*link.mended, said),
        )  # fmt: skip
    return found


def _sums(structure: Structure, links: Mapping[str, Link], places: Mapping[str, Placement]) -> dict[str, Array]:
    """Return the mass, shape (4, 4), of every link and all that hangs on it: sum of m x x^T with x = (r, 1)."""
    found: dict[str, Array] = {}
    for name, joint in reversed(structure.order):
        (x, R), link = places[name], links[name]
        r = np.append(x + R @ np.array(link.centre), 1.0)
        J = R @ link.inertia @ R.T
        own = link.mass * np.outer(r, r)
        own[:3, :3] += 0.5 * np.trace(J) * np.eye(3) - J
        found[name] = found.get(name, np.zeros((4, 4))) + own
        if joint is not None:
            found[joint.parent] = found.get(joint.parent, np.zeros((4, 4))) + found[name]
    return found


def _lacking(joint: Joint | None, place: Placement, whole: Array) -> str:
    """Return what a joint moves without inertia; empty if nothing."""
    if whole[3, 3] <= 0.0:
        return "no mass moves with it"
    if joint is not None and joint.kind == "prismatic":
        return ""
    x, R = place
    r = whole[:3, 3] / whole[3, 3]
    own = whole[:3, :3] - whole[3, 3] * np.outer(r, r)
    J = np.trace(own) * np.eye(3) - own
    size = np.trace(whole[:3, :3]) + 1e-300
    if joint is None or joint.kind == "floating":
        return "" if np.linalg.eigvalsh(J)[0] > 1e-12 * size else "no inertia turns with it"
    arm, axis = r - x, R @ np.array(joint.axis)
    turning = axis @ J @ axis + (whole[3, 3] * (arm @ arm - (axis @ arm) ** 2) if joint.kind != "planar" else 0.0)
    return "" if turning > 1e-12 * size else "no inertia turns with it"
