"""Sites and sensors of a compiled MuJoCo model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...linalg.rotations import IDENTITY
from ..names import GROUND
from ..trees.sensors import KINDS, Form, Sensor, Site
from .mjcf_names import Names
from .mjcf_numbers import triple, unit_quaternion
from .usable_names import different, usable

FORMS: dict[int, Form] = {2: "sphere", 3: "capsule", 4: "ellipsoid", 6: "box"}  # mjtGeom
BODY, XBODY, GEOM, SITE = 1, 2, 5, 6  # mjtObj
Kinds = Mapping[int, str]  # what the numbers of kinds of sensors mean, which differs between versions
OF_BODIES = ("force", "torque", "subtreecom", "subtreelinvel")  # the ground has none
FREE = 0  # mjtJoint


def sites_of(m: Any, names: Names) -> tuple[Site, ...]:
    """Return the sites; those of forms that have no volume here are spheres of the same size."""
    given = different([usable(m.site(s).name, f"site{s}") for s in range(m.nsite)])
    return tuple(
        Site(
            name=name, body=names.bodies[m.site_bodyid[s]],
            at=triple(m.site_pos[s]), turn=unit_quaternion(m.site_quat[s]),
            form=FORMS.get(int(m.site_type[s]), "sphere"), half=triple(np.maximum(m.site_size[s], 1e-9)),
        )
        for s, name in enumerate(given)
    )  # fmt: skip


def sensors_of(m: Any, names: Names, kinds: Kinds) -> tuple[Sensor, ...]:
    """Return the sensors that can be had, in the order of the file."""
    return tuple(sensor for _, sensor in _sensors(m, names, kinds) if sensor is not None)


def sensors_left_out(m: Any, names: Names, kinds: Kinds) -> tuple[str, ...]:
    """Return the names and kinds of those that cannot be had."""
    found = zip(m.sensor_type, _sensors(m, names, kinds), strict=True)
    left = [f"{name} ({kinds[int(kind)]})" for kind, (name, sensor) in found if sensor is None]
    return (f"sensors that nothing reads: {', '.join(left)}",) if left else ()


def _sensors(m: Any, names: Names, kinds: Kinds) -> Iterator[tuple[str, Sensor | None]]:
    given = different([usable(m.sensor(k).name, f"sensor{k}") for k in range(m.nsensor)])
    sites = sites_of(m, names)
    for k, name in enumerate(given):
        yield name, _sensor(m, names, sites, k, name, kinds[int(m.sensor_type[k])])


def _sensor(m: Any, names: Names, sites: tuple[Site, ...], k: int, name: str, kind: str) -> Sensor | None:  # fmt: skip
    """Return a sensor; None if it cannot be had: of another kind, seen from a frame that moves, or beside a loop."""
    if kind not in KINDS or int(m.sensor_refid[k]) >= 0:
        return None
    if KINDS[kind][0] != "body":
        return _of_named(m, names, sites, k, name, kind)
    frame = _frame(m, names, sites, int(m.sensor_objtype[k]), int(m.sensor_objid[k]))
    loops = kind in ("force", "torque") and any(m.eq_active0[e] and m.eq_type[e] < 2 for e in range(m.neq))
    if frame is None or loops or (kind in OF_BODIES and frame[0] == GROUND):
        return None
    body, at, turn = frame
    return Sensor(name=name, reads=kind, of=body, at=at, turn=turn, cutoff=float(m.sensor_cutoff[k]))


def _of_named(
    m: Any, names: Names, sites: tuple[Site, ...], k: int, name: str, kind: str
) -> Sensor | None:  # fmt: skip
    """Return a sensor of a joint, a tendon, an actuator, a site, or of all; None if it cannot be had."""
    what, number = KINDS[kind][0], int(m.sensor_objid[k])
    labels = {
        "joint": names.joints, "ball": names.joints, "tendon": names.tendons, "actuator": names.actuators,
        "site": tuple(one.name for one in sites), "": ("",),
    }[what]  # fmt: skip
    bad = kind == "touch" and (int(m.site_type[number]) not in FORMS or sites[number].body == GROUND)
    bad |= what == "ball" and int(m.jnt_type[number]) == FREE
    of = labels[number if what else 0]
    return None if bad else Sensor(name=name, reads=kind, of=of, cutoff=float(m.sensor_cutoff[k]))


def _frame(m: Any, names: Names, sites: tuple[Site, ...], of: int, number: int) -> tuple[str, Any, Any] | None:
    """Return body, place and turn of what a sensor is of."""
    if of == SITE:
        return sites[number].body, sites[number].at, sites[number].turn
    if of == GEOM:
        return names.bodies[m.geom_bodyid[number]], triple(m.geom_pos[number]), unit_quaternion(m.geom_quat[number])
    if of == BODY:
        return names.bodies[number], triple(m.body_ipos[number]), unit_quaternion(m.body_iquat[number])
    return (names.bodies[number], (0.0, 0.0, 0.0), IDENTITY) if of == XBODY else None
