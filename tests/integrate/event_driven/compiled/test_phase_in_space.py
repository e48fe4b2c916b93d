"""The kernels of a phase of bodies in space against the interpreted phase: joints, contacts, forces, frictions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import examples

from gaussdyn.contact.snapshot import Activation
from gaussdyn.integrate.contact_modes import AT_REST, CLOSED, LEAST_SPEED, OPEN, Mode
from gaussdyn.integrate.event_driven.compiled.phase_arrays import CompiledPhase
from gaussdyn.integrate.event_driven.phase_integrator import Accuracy
from gaussdyn.integrate.event_driven.smooth_phase import Phase
from gaussdyn.integrate.impact.impact_laws import Moreau
from gaussdyn.mechanics.collision.shapes import Capsule, HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.joints.limits_motors import JointFriction, Limit, Motor
from gaussdyn.mechanics.spatial.bodies import SpatialBody, ball
from gaussdyn.mechanics.spatial.forces import Drag, Load, Shaking, Spring
from gaussdyn.mechanics.spatial.joints import BallJoint, Hinge, Slider, Universal, Weld
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.links import Rod, String
from gaussdyn.mechanics.spatial.system import SpatialSystem

ACCURACY = Accuracy(rtol=1e-12, atol=1e-13, activation=Activation(), law=Moreau())
TILTED = (math.cos(0.3), math.sin(0.3), 0.0, 0.0)
A = SpatialMarker("a", (0.2, -0.1, 0.3), TILTED, name="on_a")
B = SpatialMarker("b", (-0.3, 0.2, 0.1), name="on_b")
PEG = SpatialMarker("ground", (0.5, 0.1, -0.2), name="peg")
WAYS = {
    "ball": [BallJoint(name="j", a=A, b=B)],
    "hinge": [Hinge(name="j", a=A, b=B), JointFriction(joint="j", cap=0.4), Limit(joint="j", low=-2.5, high=2.5)],
    "motor": [Hinge(name="j", a=A, b=PEG), Motor(joint="j", rate=1.3)],
    "slider": [Slider(name="j", a=A, b=B), JointFriction(joint="j", cap=0.4), Limit(joint="j", low=-2.5, high=2.5)],
    "universal": [Universal(name="j", a=A, b=B)],
    "weld": [Weld(name="j", a=A, b=B)],
    "rod": [Rod(a=A, b=B, length=1.1), String(a=A, b=PEG, length=3.0)],
}


def jointed(kind, law):
    """Two bodies in a joint, one with a ball and one with a capsule above a tilted floor, pushed by every force."""
    joints = WAYS[kind]
    drive = [Drive(joint="j", stiffness=2.0, damping=0.3, target=0.4)] if kind in ("hinge", "slider") else []
    return SpatialSystem(
        bodies=[SpatialBody(name="a", mass=2.0, inertia=(0.3, 0.5, 0.7), shapes=(Sphere(radius=0.2),)),
                SpatialBody(name="b", mass=1.2, inertia=(0.2, 0.2, 0.4),
                            shapes=(Capsule(radius=0.1, half_length=0.3),))],
        joints=joints, contact=law, pairs={("a", "b"): None},
        obstacles=[HalfSpace(name="floor", normal=(0.36, 0.48, 0.8))],
        forces=[Spring(a=A, b=PEG, stiffness=3.0, length=0.4, damping=0.2), Drag(point=B, damping=0.3),
                Load(point=A, force_xyz=(0.4, -0.3, 0.1)),
                Shaking(amplitude=0.9, frequency=0.7, direction=(0.6, 0.0, 0.8)), *drive],
    )  # fmt: skip


def placed(system, rng):
    """A random state, and the system with every contact that it may have there."""
    q = rng.normal(size=system.nq)
    for k in range(0, len(q), 7):
        q[k + 3 : k + 7] /= np.linalg.norm(q[k + 3 : k + 7])
    v = rng.normal(size=system.nv)
    near = system.near(0.0, q, v, 10.0)
    return q, v, near.steady(near.rows(0.0, q, v))


def chosen(row, rng):
    """A mode that a row may be in."""
    angle = rng.uniform(0.0, 2.0 * math.pi)
    slip = (math.cos(angle), math.sin(angle)) if row.kind == "contact" else (1.0,)
    if row.kind == "bilateral":
        return CLOSED
    ways = {"dry": [CLOSED, Mode(closed=True, slip=slip)], "unilateral": [OPEN, CLOSED]}
    roll = slip if row.moments and row.moments[0][0] == slice(3, 5) else (1.0,) if row.moments else ()
    full = [OPEN, OPEN, CLOSED, Mode(closed=True, slip=slip), Mode(closed=True, slip=slip, roll=roll)]
    ways["contact"] = [*full, Mode(closed=True, roll=roll)]
    return ways[row.kind][rng.integers(len(ways[row.kind]))]


@pytest.mark.parametrize("law", [
    ContactLaw(), ContactLaw(mu=0.3, mu_s=0.5), ContactLaw(mu=0.3, mu_r=0.02), ContactLaw(mu=0.3, mu_t=0.02)
])  # fmt: skip
@pytest.mark.parametrize("kind", WAYS)
def test_kernels_give_the_accelerations_reactions_and_conditions_of_the_phase(kind, law):
    system = jointed(kind, law)
    for seed in range(examples(60, fast=6)):
        rng = np.random.default_rng(seed)
        q, v, near = placed(system, rng)
        rows, control = near.rows(0.3, q, v), rng.normal(size=system.nv)
        phase = Phase(system=near, control=control, modes={row.id: chosen(row, rng) for row in rows}, rows=rows)
        ship, now = CompiledPhase.of(phase, ACCURACY), phase.instant(0.3, q, v)
        y = np.concatenate((q, v, np.zeros(sum(row.size for row in rows) + 2)))
        expected = np.concatenate(
            (near.qdot(q, v), now.a, *now.r, [v @ now.push, near.power(0.3, q, v, control)])
        )  # fmt: skip
        scale = 1.0 + np.abs(expected).max()
        np.testing.assert_allclose(ship.slope(0.3, y), expected, rtol=0, atol=1e-10 * scale)
        forces = [guard.unit == "force" for guard in phase.guards]
        if phase.redundant and (phase.conditions(now)[forces] < 0.0).any():
            continue  # where others share redundant reactions, in Python
        seen = ship.look(0.3, y)
        np.testing.assert_allclose(seen.g, phase.conditions(now), rtol=0, atol=1e-10 * scale)
        np.testing.assert_allclose(seen.rate, phase.rates(now), rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("speed", [0.0, 0.25, 64.0])
def test_a_slip_within_rounding_of_the_speeds_has_the_direction_of_its_mode(speed):
    """A ball that rolls, and slips across a little: beyond that its friction is against its slip."""
    r, mu = 0.5, 0.3
    system = SpatialSystem(
        bodies=[ball("b", mass=1.0, radius=r)], obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=mu)
    )
    q = np.array([0.0, 0.0, r, 1.0, 0.0, 0.0, 0.0])
    for share, friction in ((0.5, (-0.6 * mu, -0.8 * mu)), (2.0, (0.0, -mu))):
        slip = share * AT_REST * max(LEAST_SPEED, speed / r)
        v = np.array([speed, 0.0, 0.0, 0.0, speed / r, 0.0])
        near = system.near(0.0, q, v, 1.0)
        (row,) = near.rows(0.0, q, v)
        v += slip * np.linalg.pinv(row.J) @ [0.0, 0.0, 1.0]
        rows = near.rows(0.0, q, v)
        phase = Phase(system=near, control=None, modes={row.id: Mode(closed=True, slip=(0.6, 0.8))}, rows=rows)
        (reaction,) = phase.instant(0.0, q, v).r
        np.testing.assert_allclose(reaction[1:] / reaction[0], friction, rtol=0, atol=1e-3)
        rates = CompiledPhase.of(phase, ACCURACY).slope(0.0, np.concatenate((q, v, np.zeros(5))))
        np.testing.assert_allclose(rates[13:16], reaction, rtol=0, atol=1e-12)
