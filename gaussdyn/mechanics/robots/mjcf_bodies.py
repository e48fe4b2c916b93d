"""Bodies, joints, tendons, couplings and actuators of a compiled MuJoCo model, as parts of a tree.

Every function takes the model (`mujoco.MjModel`) as it is; its integers are MuJoCo's enumerations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of
from ..collision.shapes import Shape
from ..trees.bodies import TreeBody, TreeJoint
from ..trees.parts import Actuator, Connect, Dynamics, Fluid, JointEquality, Part
from .mjcf_names import Names
from .mjcf_numbers import bounds_of, triple, unit_quaternion
from .mjcf_paths import factors_of, tendon_of, through_space

KINDS = {0: "free", 1: "ball", 2: "slide", 3: "hinge"}  # mjtJoint
CONNECT, JOINT, TENDON = 0, 2, 3  # mjtEq
DYNAMICS: tuple[Dynamics, ...] = ("none", "integrator", "filter", "filterexact")  # mjtDyn
ON_TENDON = 3  # mjtTrn
AFFINE_GAIN, AFFINE_BIAS = 1, 1  # mjtGain, mjtBias


def bodies_of(m: Any, names: Names, shapes: Sequence[Sequence[Shape]]) -> tuple[TreeBody, ...]:
    """Return all bodies but the world, in the order of the file."""
    found = []
    for b in range(1, m.nbody):
        R = matrix_of(m.body_iquat[b])
        J = R @ np.diag(m.body_inertia[b]) @ R.T
        free = m.body_jntnum[b] > 0 and KINDS[int(m.jnt_type[m.body_jntadr[b]])] == "free"
        joints = [joint_of(m, names, j) for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b])]
        found.append(
            TreeBody(
                name=names.bodies[b],
                parent=names.bodies[m.body_parentid[b]],
                at=(0.0, 0.0, 0.0) if free else triple(m.body_pos[b]),
                turn=(1.0, 0.0, 0.0, 0.0) if free else unit_quaternion(m.body_quat[b]),
                joints=tuple(joints),
                mass=float(m.body_mass[b]),
                centre=triple(m.body_ipos[b]),
                inertia=tuple(tuple(row) for row in (0.5 * (J + J.T)).tolist()),
                lift=float(m.body_gravcomp[b]),
                shapes=tuple(shapes[b]),
            )
        )
    return tuple(found)


def joint_of(m: Any, names: Names, j: int) -> TreeJoint:
    """Return a joint."""
    kind, d, a = KINDS[int(m.jnt_type[j])], m.jnt_dofadr[j], m.jnt_qposadr[j]
    size = {"free": 7, "ball": 4}.get(kind, 1)
    limits = bounds_of(m.jnt_range[j], m.jnt_limited[j])
    effort = bounds_of(m.jnt_actfrcrange[j], m.jnt_actfrclimited[j])
    rest = np.array(m.qpos_spring[a : a + size])
    if size > 1:
        rest[-4:] /= np.linalg.norm(rest[-4:])
    return TreeJoint(
        name=names.joints[j],
        motion=kind,  # type: ignore[arg-type]
        axis=triple(m.jnt_axis[j]) if size == 1 else (0.0, 0.0, 1.0),
        at=triple(m.jnt_pos[j]) if kind != "free" else (0.0, 0.0, 0.0),
        zero=float(m.qpos0[a]) if size == 1 else 0.0,
        low=-math.inf if kind == "ball" else limits[0],
        high=limits[1],
        armature=float(m.dof_armature[d]),
        damping=float(m.dof_damping[d]),
        stiffness=float(m.jnt_stiffness[j]),
        rest=tuple(rest.tolist()),
        friction=float(m.dof_frictionloss[d]),
        effort_low=effort[0],
        effort_high=effort[1],
    )


def parts_of(m: Any, names: Names) -> tuple[Part, ...]:
    """Return tendons and active equalities."""
    tendons = [tendon_of(m, names, t) for t in range(m.ntendon)]
    equalities = [equality_of(m, names, e) for e in range(m.neq) if m.eq_active0[e]]
    return (*tendons, *equalities)


def equality_of(m: Any, names: Names, e: int) -> Part:
    """Return an equality of joints or tendons, or a closed loop."""
    kind, one, other, data = int(m.eq_type[e]), int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
    name = names.equalities[e]
    if kind == JOINT:
        zeros = [float(m.qpos0[m.jnt_qposadr[j]]) if j >= 0 else 0.0 for j in (one, other)]
        labels = names.joints
    elif kind == TENDON:
        zeros, labels = [float(m.tendon_length0[t]) if t >= 0 else 0.0 for t in (one, other)], names.tendons
    else:
        return closure_of(m, names, e)
    coefficients = data[:5].tolist() if other >= 0 else [float(data[0])]
    return JointEquality(
        name=name, one=labels[one], other=labels[other] if other >= 0 else "", coefficients=tuple(coefficients),
        zeros=(zeros[0], zeros[1]),
    )  # fmt: skip


def closure_of(m: Any, names: Names, e: int) -> Connect:
    """Return a `connect` or a `weld`; of a weld, whose data are anchor of b, place and turn of b in a, as rows of a."""
    kind, one, other, data = int(m.eq_type[e]), int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
    a, b = names.bodies[one], names.bodies[other]
    if kind == CONNECT:
        return Connect(name=names.equalities[e], a=a, b=b, at_a=triple(data[:3]), at_b=triple(data[3:6]))
    w, x, y, z = (np.array(data[6:10]) / np.linalg.norm(data[6:10])).tolist()  # of b in a
    return Connect(
        name=names.equalities[e], a=a, b=b, at_a=triple(data[3:6]), at_b=triple(data[:3]), turn=(w, -x, -y, -z)
    )  # fmt: skip


def actuators_of(m: Any, names: Names) -> tuple[Actuator, ...]:
    """Return the actuators, in the order of the file."""
    return tuple(actuator_of(m, names, k) for k in range(m.nu))


def actuator_of(m: Any, names: Names, k: int) -> Actuator:
    """Return an actuator on a joint or a tendon."""
    target, gear = int(m.actuator_trnid[k, 0]), float(m.actuator_gear[k, 0])
    on_tendon = int(m.actuator_trntype[k]) == ON_TENDON
    factors, tendon = {names.joints[target]: 1.0} if not on_tendon else {}, ""
    if on_tendon and through_space(m, target):
        tendon = names.tendons[target]
    elif on_tendon:
        factors = factors_of(m, names, target)
    control = bounds_of(m.actuator_ctrlrange[k], m.actuator_ctrllimited[k])
    force = bounds_of(m.actuator_forcerange[k], m.actuator_forcelimited[k])
    states = bounds_of(m.actuator_actrange[k], m.actuator_actlimited[k])
    gain = triple(m.actuator_gainprm[k, :3])
    return Actuator(
        name=names.actuators[k],
        factors={joint: gear * x for joint, x in factors.items()},
        tendon=tendon,
        gear=gear if tendon else 1.0,
        gain=gain if int(m.actuator_gaintype[k]) == AFFINE_GAIN else (gain[0], 0.0, 0.0),
        bias=triple(m.actuator_biasprm[k, :3]) if int(m.actuator_biastype[k]) == AFFINE_BIAS else (0.0, 0.0, 0.0),
        control_low=control[0],
        control_high=control[1],
        force_low=force[0],
        force_high=force[1],
        dynamics=DYNAMICS[int(m.actuator_dyntype[k])],
        time=float(m.actuator_dynprm[k, 0]) if m.actuator_dyntype[k] in (2, 3) else 1.0,
        state_low=states[0],
        state_high=states[1],
        early=bool(m.actuator_actearly[k]) and m.actuator_dyntype[k] > 0,
    )


def fluid_of(m: Any) -> Fluid:
    """Return the fluid around."""
    return Fluid(density=float(m.opt.density), viscosity=float(m.opt.viscosity))


def start_of(m: Any, key: int = -1) -> Array:
    """Return the coordinates of a keyframe, or those of the file."""
    q = np.array(m.qpos0 if key < 0 else m.key_qpos[key])
    for j in range(m.njnt):
        i = m.jnt_qposadr[j] + (3 if KINDS[int(m.jnt_type[j])] == "free" else 0)
        if KINDS[int(m.jnt_type[j])] in ("free", "ball"):
            q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
    return q


def states_of(m: Any, key: int) -> Array:
    """Return the states of the actuators in a keyframe, 0 for those that have none."""
    return np.array([m.key_act[key, a] if a >= 0 else 0.0 for a in m.actuator_actadr])
