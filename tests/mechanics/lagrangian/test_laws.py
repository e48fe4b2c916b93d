"""Laws of systems from symbols with random numbers: energy, Lagrange's equations, drift terms, other coordinates."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp
from evidence import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from lagrangian_systems import accelerate, cartesian_pendulum, t
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn.mechanics.lagrangian.system import Contact, Friction, Holonomic, LagrangianSystem, Nonholonomic

NAMES = sp.symbols("c0:12")
number = st.floats(-1.5, 1.5)
numbers = st.lists(number, min_size=12, max_size=12)
motion = st.lists(number, min_size=6, max_size=6)
TIME = 0.4


def expressions(q, v, c):
    """Energies, forces and constraints with every kind of term; the mass is positive for all coefficients."""
    (x, y, z), (a, b, w) = q, v
    s = a + c[0] * sp.sin(y) * b + sp.cos(t) * c[1] * x
    r = b * (1 + c[2] ** 2 * x**2) + c[3] * sp.sin(t * z)
    T = (a**2 + b**2 + w**2 + s**2 + r**2 + (w * sp.exp(-(y**2)) + c[4] * x * z) ** 2) / 2
    V = c[5] * sp.cos(x - y) + c[6] * z**2 * (1 + t**2) + c[7] * sp.sqrt(1 + x**2 + z**2)
    Q = [-c[8] * a * sp.Abs(a), c[9] * sp.sin(3 * t) * x, c[10] * w * y - c[11]]
    phi = x**2 + c[0] * y * z + sp.sin(t * y) - c[1]
    psi = a * sp.cos(z) + b * sp.sin(z) + c[2] * w**2 * x - t
    return T, V, Q, phi, psi


@cache
def general():
    """The system with all of these, derived once; its numbers are parameters."""
    q = dynamicsymbols("x y z")
    T, V, Q, phi, psi = expressions(q, [x.diff() for x in q], NAMES)
    return LagrangianSystem(
        q,
        kinetic=T,
        potential=V,
        forces=Q,
        constraints=[
            Holonomic(phi, name="joint"),
            Nonholonomic(psi, name="knife"),
            Contact(phi + q[2], q[0].diff() * q[1] + q[2].diff() * t, mu=0.3, name="floor"),
            Friction(q[0].diff() * sp.sin(q[1]) + t, cap=1, name="belt"),
        ],
        parameters=dict.fromkeys(NAMES, 0.5),
        compile=False,
    )


@cache
def numeric():
    """T, V, Q, phi, psi as numpy functions of (t, q, v, c), straight from the expressions."""
    q, v = sp.symbols("x y z", real=True), sp.symbols("a b w", real=True)
    return sp.lambdify([t, q, v, NAMES], expressions(q, v, NAMES))


def slope(f, h=2e-3):
    """Derivative at 0 by differences of sixth order."""
    weights = ((1, 45), (2, -9), (3, 1))
    return sum(w * (np.asarray(f(k * h)) - np.asarray(f(-k * h))) for k, w in weights) / (60 * h)


def split(values):
    return np.array(values[:3]), np.array(values[3:])


@settings(max_examples=examples(30), deadline=None)
@given(numbers, motion)
def test_lagranges_equations_hold_along_the_motion(c, values):
    """d/dt dT/dv - dT/dq + dV/dq = Q, by differences of T and V alone, at the acceleration that M and h give."""
    system, (q, v) = general().with_params(**dict(zip(map(str, NAMES), c, strict=True))), split(values)
    a = np.linalg.solve(system.mass(q), system.force(TIME, q, v))
    E = np.eye(3)

    def T(time, x, y):
        return numeric()(time, x, y, c)[0]

    def momentum(s):
        x, y = q + s * v + s**2 / 2 * a, v + s * a
        return [slope(lambda d, e=e: T(TIME + s, x, y + d * e)) for e in E]

    def pull(e):
        return slope(lambda d: T(TIME, q + d * e, v) - numeric()(TIME, q + d * e, v, c)[1])

    left = slope(momentum) - np.array([pull(e) for e in E])
    Q = np.array(numeric()(TIME, q, v, c)[2], float)
    np.testing.assert_allclose(left, Q, atol=2e-7)


@settings(max_examples=examples(30), deadline=None)
@given(numbers, motion)
def test_energy_changes_with_the_power(c, values):
    """d/dt (1/2 v.M v + V) of the free motion; and of the motion with a scleronomic ideal joint just the same."""
    system, (q, v) = general().with_params(**dict(zip(map(str, NAMES), c, strict=True))), split(values)
    a = np.linalg.solve(system.mass(q), system.force(TIME, q, v))

    def energy(s):
        x, y = q + s * v + s**2 / 2 * a, v + s * a
        return 0.5 * y @ system.mass(x) @ y + numeric()(TIME + s, x, y, c)[1]

    assert system.power(TIME, q, v) == pytest.approx(float(slope(energy)), abs=1e-7)
    assert system.potential(TIME, q) == pytest.approx(numeric()(TIME, q, v, c)[1], abs=1e-13)
    assert system.kinetic(TIME, q, v) == pytest.approx(numeric()(TIME, q, v, c)[0], abs=1e-12)


@settings(max_examples=examples(30), deadline=None)
@given(numbers, motion, st.lists(number, min_size=3, max_size=3))
def test_second_rates_are_jacobian_times_acceleration_and_drift(c, values, a):
    system, (q, v), a = general().with_params(**dict(zip(map(str, NAMES), c, strict=True))), split(values), np.array(a)

    def path(s):
        return TIME + s, q + s * v + s**2 / 2 * a, v + s * a

    for k, row in enumerate(system.rows(TIME, q, v)):
        second = slope(lambda s, k=k: system.rows(*path(s))[k].rate)
        np.testing.assert_allclose(row.J @ a + row.drift, second, atol=1e-7)
    phi, psi = (lambda s, k=k: numeric()(*path(s), c)[k] for k in (3, 4))
    joint, knife, _, _ = system.rows(TIME, q, v)
    assert joint.gap == pytest.approx(phi(0.0), abs=1e-13)
    assert joint.rate[0] == pytest.approx(float(slope(phi)), abs=1e-8)
    assert knife.rate[0] == pytest.approx(psi(0.0), abs=1e-13)


@settings(max_examples=20, deadline=None)
@given(numbers, motion)
def test_the_constrained_acceleration_keeps_the_constraints_and_minimises_gauss(c, values):
    """Of all accelerations that keep joint and knife the motion's is nearest to the free one, in the metric of M."""
    system, (q, v) = general().with_params(**dict(zip(map(str, NAMES), c, strict=True))), split(values)
    rows = system.rows(TIME, q, v)[:2]
    J, drift = np.vstack([row.J for row in rows]), np.concatenate([row.drift for row in rows])
    if np.linalg.svd(J)[1][-1] < 0.1:
        return
    a, _ = accelerate(system, TIME, q, v)
    free = np.linalg.solve(system.mass(q), system.force(TIME, q, v))
    np.testing.assert_allclose(J @ a + drift, 0.0, atol=1e-9 * (1 + np.abs(drift).max() + np.abs(a).max()))
    along = np.linalg.svd(J)[2][2]
    assert along @ system.mass(q) @ (a - free) == pytest.approx(0.0, abs=1e-8 * (1 + np.abs(free).max()))


@settings(max_examples=20, deadline=None)
@given(st.floats(0.2, 2.0), st.floats(-3.0, 3.0), number, number)
def test_polar_and_cartesian_coordinates_move_alike(r, angle, dr, turn):
    polar, plane = planes()
    e, f = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    p, s = np.array([r, angle]), np.array([dr, turn])
    q, v = r * e, dr * e + r * turn * f
    ap, aq = accelerate(polar, TIME, p, s), accelerate(plane, TIME, q, v)
    back = (ap[0][0] - r * turn**2) * e + (r * ap[0][1] + 2 * dr * turn) * f
    scale = 1 + np.abs(aq[0]).max()
    np.testing.assert_allclose(back, aq[0], atol=1e-10 * scale)
    np.testing.assert_allclose(ap[1], aq[1], atol=1e-10 * scale)  # the reaction belongs to the constraint
    assert polar.power(TIME, p, s) == pytest.approx(plane.power(TIME, q, v), abs=1e-12)


@cache
def planes():
    """A point with a spring, drag and a moving wire, in polar and in Cartesian coordinates."""
    r, angle, x, y = dynamicsymbols("r angle x y")
    systems = []
    for q, X, Y in (([r, angle], r * sp.cos(angle), r * sp.sin(angle)), ([x, y], x, y)):
        F = [-X.diff(t) + Y, -Y.diff(t) * sp.Rational(1, 2)]
        Q = [sum(f * part.diff(c) for f, part in zip(F, (X, Y), strict=True)) for c in q]
        wire = X + Y / 3 - sp.sin(t)
        T, V = (X.diff(t) ** 2 + Y.diff(t) ** 2) / 2, (X**2 + Y**2) * 2 + 9 * Y
        kind = {"kinetic": T, "potential": V, "forces": Q, "constraints": [Holonomic(wire)], "compile": False}
        systems.append(LagrangianSystem(q, **kind))
    return systems


def test_coriolis_forces_are_those_of_a_mass_that_changes():
    """-(dM/dt) v + (v.M v)' / 2 by differences of M, and what of h is even in v beside what is there at rest."""
    system, rng, h = general(), np.random.default_rng(3), 1e-5
    q, v = rng.normal(size=(2, 3))
    c = system.coriolis(q, v)
    slopes = [(system.mass(q + h * e) - system.mass(q - h * e)) / (2.0 * h) for e in np.eye(3)]  # dM/dq_k
    expected = [0.5 * v @ slope @ v for slope in slopes] - np.tensordot(v, slopes, axes=1) @ v
    np.testing.assert_allclose(c, expected, rtol=1e-7, atol=1e-8)
    force = [system.force(TIME, q, way * v) for way in (1.0, -1.0, 0.0)]
    np.testing.assert_allclose(c, 0.5 * (force[0] + force[1]) - force[2], rtol=1e-11, atol=1e-12)


def test_a_mass_that_is_the_same_everywhere_has_no_coriolis_forces():
    system = cartesian_pendulum(compile=False)
    assert not system.model.bends
    assert not system.coriolis(np.ones(2), np.ones(2)).any()
