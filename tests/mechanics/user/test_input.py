"""What a user may hand to a UserSystem: many shapes of numbers are taken, and what cannot be used is named at once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.mechanics.check import check_system
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.constraints import Acceleration, Position, Velocity
from gaussdyn.mechanics.user.system import UserSystem

EYE, ZERO = np.eye(2), [0.0, 0.0]


class Bare:
    """Knows how it moves freely, and nothing else."""

    nq = nv = 1

    def mass(self, q):
        return [[1.0]]

    def force(self, t, q, v, control=None):
        return [1.0]

    def rows(self, t, q, v):
        return ()


WRONG = {
    "mass of complex numbers": (lambda: UserSystem(2, EYE * 1j, ZERO), "mass: .*real numbers"),
    "mass of text": (lambda: UserSystem(2, [["1", "0"], ["0", "1"]], ZERO), "mass: .*real numbers"),
    "mass of too many arguments": (
        lambda: UserSystem(2, lambda t, q: EYE, ZERO),
        r"mass: .*\(t, q\).*function of \(q\)",
    ),
    "force of one argument": (lambda: UserSystem(2, EYE, lambda q: ZERO), r"force: .*function of \(t, q, v\)"),
    "qdot no function": (lambda: UserSystem(2, EYE, ZERO, qdot=[1.0, 0.0]), "qdot: .*a function"),
    "potential of one argument": (lambda: UserSystem(2, EYE, ZERO, potential=lambda q: 0.0), "potential: "),
    "one constraint, no list": (lambda: UserSystem(2, EYE, ZERO, Position(lambda t, q: q[0])), "constraints: .*a list"),
    "no constraints, None": (lambda: UserSystem(2, EYE, ZERO, None), "constraints: "),
    "gap of one argument": (lambda: Position(lambda q: q[0]), r"phi: .*function of \(t, q\)"),
    "Jacobian no function": (lambda: Position(lambda t, q: q[0], jacobian=[1.0, 0.0]), "jacobian: .*a function"),
    "drift no function": (lambda: Position(lambda t, q: q[0], drift=0.0), r"drift: .*\(t, q, v\)"),
    "tangent no function": (lambda: Position(lambda t, q: q[0], mu=0.1, tangent=[1.0, 0.0]), "tangent: "),
    "name no text": (lambda: Position(lambda t, q: q[0], name=3), "name: given 3"),
    "psi of two arguments": (lambda: Velocity(lambda q, v: v[0]), r"psi: .*function of \(t, q, v\)"),
    "C of two arguments": (lambda: Acceleration(lambda q, v: [1.0, 0.0], 0.0), r"C: .*function of \(t, q, v\)"),
    "memory no mapping": (lambda: State(q=ZERO, v=ZERO, memory=3), "memory: given 3"),
    "nothing to check": (lambda: check_system(None), "system: given NoneType"),
    "rolling resistance without rolling": (lambda: Position(lambda t, q: q[2], mu=0.1, mu_r=0.1), "mu_r: given 0.1"),
    "a bare system": (lambda: check_system(Bare()), "system: given Bare.*lacks qdot, move, near, potential, power"),
    "no samples": (lambda: check_system(UserSystem(2, EYE, ZERO), samples=0), "samples: given 0"),
    "states that are none": (lambda: check_system(UserSystem(2, EYE, ZERO), states=[3]), "states: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_named(name):
    make, message = WRONG[name]
    with pytest.raises(InputError, match=f"(?s){message}"):
        make()


def test_a_forgotten_return_is_suspected():
    with pytest.raises(InputError, match=r"phi of gap: .*return"):
        UserSystem(2, EYE, ZERO, [Position(lambda t, q: None, name="gap")]).rows(0.0, ZERO, ZERO)


@pytest.mark.parametrize("shape", [lambda x: x, lambda x: [x], lambda x: [[x]], np.float32, np.array])
def test_a_gap_may_be_a_number_in_any_wrapping(shape):
    given = Position(lambda t, q: shape(0.5 * q[0] - q[1] + 1.0), name="gap")
    (row,) = UserSystem(2, EYE, ZERO, [given]).rows(0.0, [1.0, 1.5], [2.0, 1.0])
    np.testing.assert_allclose([row.gap, row.rate[0], row.drift[0]], 0.0, atol=1e-4 if shape is np.float32 else 1e-12)
    np.testing.assert_allclose(row.J, [[0.5, -1.0]], atol=1e-5 if shape is np.float32 else 1e-12)


def test_a_function_of_the_library_math_may_leave_its_domain():
    bowl = Position(lambda t, q: q[1] - 1.0 + math.sqrt(1.0 - q[0] ** 2), name="bowl")
    (row,) = UserSystem(2, EYE, ZERO, [bowl]).rows(0.0, [0.95, 1.0], [0.0, 0.0])
    np.testing.assert_allclose(row.J, [[-0.95 / math.sqrt(1 - 0.95**2), 1.0]], rtol=1e-9)


@pytest.mark.parametrize("hertz", [8, 16, 40, 50, 64])
def test_a_shaking_table_moves(hertz):
    w, height = 2 * np.pi * hertz, 1e-4
    table = Position(lambda t, q: q[0] - height * np.sin(w * t))
    (row,) = UserSystem(1, [[1.0]], [0.0], [table]).rows(0.3 / hertz, [0.0], [0.0])
    assert row.rate[0] == pytest.approx(-height * w * np.cos(0.6 * np.pi), rel=1e-9)
    assert row.drift[0] == pytest.approx(height * w * w * np.sin(0.6 * np.pi), rel=1e-8)
