"""What a MuJoCo model says that a rigid engine does not do, and what cannot be done yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .mesh_files import MOST
from .mjcf_bodies import DYNAMICS
from .mjcf_contacts import MESH, colliding, mesh_of, served
from .mjcf_names import Names
from .mjcf_paths import through_space, trouble_with

INTEGRATORS = {0: "Euler", 1: "RK4", 2: "implicit", 3: "implicitfast"}
GEOMS = {1: "height field on a body", 8: "signed distance field"}
EQUALITIES = {4: "flex", 5: "flexvert", 6: "flexstrain"}  # mjtEq beyond tendon
TRANSMISSIONS = {0: "joint", 1: "joint in parent", 2: "slider-crank", 3: "tendon", 4: "site", 5: "body", 6: "SO3"}
CONSTRAINTS, EQUALITIES_OFF, RUBBING, LIMITS, CONTACTS, GRAVITY = 1, 2, 4, 8, 16, 128  # mjDSBL_..
SWITCHES = CONSTRAINTS | EQUALITIES_OFF | RUBBING | LIMITS | CONTACTS | GRAVITY
WITHOUT_EFFECT = SWITCHES | sum(
    1 << k for k in (9, *range(12, 20))
)  # mjDSBL_..: warmstart, refsafe, sensor, midphase and later
STANDARD_REF, STANDARD_IMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)


def ignored(m: Any, names: Names) -> tuple[str, ...]:
    """Return what is left out, because rigid bodies do not have it or a run chooses it."""
    found = [f"timestep {m.opt.timestep:g} s (the stepper of a run has its own; see Robot.dt)"]
    found.append(f"integrator {INTEGRATORS.get(int(m.opt.integrator), m.opt.integrator)}, solver, cone, impratio")
    found += _soft(m)
    for what, margins in (("geoms", m.geom_margin), ("joints", m.jnt_margin), ("tendons", m.tendon_margin)):
        if np.any(margins):
            found.append(f"margin of {what}: contacts and limits act where they close")
    meshes = sorted({g for pair in colliding(m) for g in pair if int(m.geom_type[g]) == MESH})
    if large := [names.geoms[g] for g in meshes if len(mesh_of(m, g)) > MOST]:
        found.append(f"points of meshes but the {MOST} outermost: {', '.join(large)}")
    for what, off in (
        ("equalities that are not active", [names.equalities[e] for e in range(m.neq) if not m.eq_active0[e]]),
        ("motion of bodies by mocap: they stand", [names.bodies[b] for b in range(m.nbody) if m.body_mocapid[b] >= 0]),
    ):
        found += [f"{what}: {', '.join(off)}"] if off else []
    return tuple(found)


def _soft(m: Any) -> Iterator[str]:
    """Yield what has softness of its own, which is left out."""
    for what, refs, imps in (
        ("contacts", m.geom_solref, m.geom_solimp), ("joint limits", m.jnt_solref, m.jnt_solimp),
        ("dry friction", m.dof_solref, m.dof_solimp), ("equalities", m.eq_solref, m.eq_solimp),
        ("tendon limits", m.tendon_solref_lim, m.tendon_solimp_lim),
    ):  # fmt: skip
        soft = sum(_differs(r, STANDARD_REF) or _differs(i, STANDARD_IMP) for r, i in zip(refs, imps, strict=True))
        if soft:
            yield f"solref, solimp of {what} ({soft} of {len(refs)}): rigid ones are not soft"


def switched(m: Any) -> None:
    """Take out of a model what its option flags switch off: contacts, limits, dry friction, equalities, gravity."""
    flags = int(m.opt.disableflags)
    every = bool(flags & CONSTRAINTS)
    if every or flags & CONTACTS:
        m.geom_contype[:], m.geom_conaffinity[:] = 0, 0
        m.pair_dim[:] = 0
    if every or flags & LIMITS:
        m.jnt_limited[:], m.tendon_limited[:] = 0, 0
    if every or flags & RUBBING:
        m.dof_frictionloss[:], m.tendon_frictionloss[:] = 0.0, 0.0
    if every or flags & EQUALITIES_OFF:
        m.eq_active0[:] = 0
    if flags & GRAVITY:
        m.opt.gravity[:] = 0.0


def _differs(given: Any, standard: tuple[float, ...]) -> bool:
    return not np.allclose(given, standard)


def missing(m: Any, names: Names) -> tuple[str, ...]:
    """Return what the model needs and cannot be had yet, each with its name."""
    found: list[str] = []
    for look in (_geoms, _joints, _tendons, _equalities, _actuators, _others):
        look(m, names, found.append)
    return tuple(found)


def _geoms(m: Any, names: Names, add: Callable[[str], None]) -> None:
    """Name shapes that cannot be served where they may touch, or what else they do."""
    pairs = colliding(m)
    used = sorted({geom for pair in pairs for geom in pair})
    for g in used:
        if not served(m, g):
            add(f"geom {names.geoms[g]}: contacts of a {GEOMS.get(int(m.geom_type[g]), 'geom of this type')}")
        if np.any(m.geom_surfacevel[g]) or m.geom_adhesion[g]:
            add(f"geom {names.geoms[g]}: surface velocity or adhesion")
    for a, b in pairs:
        if {int(m.geom_type[a]), int(m.geom_type[b])} == {0}:
            add(f"geoms {names.geoms[a]}, {names.geoms[b]}: contact of two planes")


def _joints(m: Any, names: Names, add: Callable[[str], None]) -> None:
    for j, name in enumerate(names.joints):
        d, size = int(m.jnt_dofadr[j]), {0: 6, 1: 3}.get(int(m.jnt_type[j]), 1)
        if _polynomial(m, "jnt_stiffnesspoly", j) or _polynomial(m, "dof_dampingpoly", d):
            add(f"joint {name}: stiffness or damping that is not linear")
        if m.jnt_actgravcomp[j]:
            add(f"joint {name}: weight lifted by its actuators")
        for values in (m.dof_damping, m.dof_armature, m.dof_frictionloss):
            if size > 1 and np.ptp(values[d : d + size]) > 0.0:
                add(f"joint {name}: coefficients that differ among its velocities")
        if getattr(m, "jnt_springyield", np.zeros(m.njnt))[j] > 0.0:
            add(f"joint {name}: plasticity")


def _tendons(m: Any, names: Names, add: Callable[[str], None]) -> None:
    for t, name in enumerate(names.tendons):
        if through_space(m, t) and (trouble := trouble_with(m, t)):
            add(f"tendon {name}: {trouble}")
        if m.tendon_armature[t] or m.tendon_actfrclimited[t]:
            add(f"tendon {name}: armature or a limit of its actuators' force")
        if _polynomial(m, "tendon_stiffnesspoly", t) or _polynomial(m, "tendon_dampingpoly", t):
            add(f"tendon {name}: stiffness or damping that is not linear")


def _equalities(m: Any, names: Names, add: Callable[[str], None]) -> None:
    for e, name in enumerate(names.equalities):
        kind = int(m.eq_type[e])
        if kind > 3:
            add(f"equality {name}: {EQUALITIES.get(kind, 'of this type')}")
        elif kind < 2 and int(m.eq_objtype[e]) != 1:  # mjOBJ_BODY
            add(f"equality {name}: between sites")
        elif kind == 1 and m.eq_data[e, 10] != 1.0:
            add(f"equality {name}: a weld with torquescale")


def _actuators(m: Any, names: Names, add: Callable[[str], None]) -> None:
    for k, name in enumerate(names.actuators):
        kind = int(m.actuator_trntype[k])
        if kind not in (0, 3):
            add(f"actuator {name}: transmission by {TRANSMISSIONS.get(kind, 'what is not known')}")
        elif kind == 0 and int(m.jnt_type[m.actuator_trnid[k, 0]]) < 2:
            add(f"actuator {name}: on a ball or free joint")
        if int(m.actuator_dyntype[k]) >= len(DYNAMICS):
            add(f"actuator {name}: a muscle, or activation dynamics of another kind")
        if int(m.actuator_gaintype[k]) > 1 or int(m.actuator_biastype[k]) > 1:
            add(f"actuator {name}: a gain or bias that is neither fixed nor affine")
        own = [getattr(m, f"actuator_{what}", np.zeros(m.nu))[k] for what in ("armature", "damping", "delay")]
        if any(own):
            add(f"actuator {name}: armature, damping or delay of its own")


def _others(m: Any, names: Names, add: Callable[[str], None]) -> None:
    for name, count in (("plugins", m.nplugin), ("flexes", m.nflex)):
        if count:
            add(f"{name} ({count})")
    if np.any(m.opt.wind):
        add("wind")
    if m.opt.disableflags & ~WITHOUT_EFFECT:
        add(f"disabled parts of the physics (flags {int(m.opt.disableflags):#x})")
    if np.any(m.geom_fluid[:, 0]) and (m.opt.density > 0.0 or m.opt.viscosity > 0.0):
        add("ellipsoids in a fluid (fluidshape)")


def _polynomial(m: Any, name: str, k: int) -> bool:
    """Return whether a coefficient has terms beyond the linear one."""
    return bool(np.any(getattr(m, name)[k])) if hasattr(m, name) else False
