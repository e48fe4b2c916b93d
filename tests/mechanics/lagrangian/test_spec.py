"""Systems from symbols as data: stored, read back, pickled, cached; parameters; compiled equals interpreted."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp
from lagrangian_systems import chain, double_pendulum, eulers_disc, pendulum, sleigh, slider_crank
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn import UserSystem, check_system
from gaussdyn.errors import InputError
from gaussdyn.mechanics.lagrangian.expressions import symbol, to_sympy, to_tree
from gaussdyn.mechanics.lagrangian.system import Contact, Holonomic, LagrangianSystem
from gaussdyn.mechanics.user.system import Position, Velocity

BUILDERS = (chain, double_pendulum, eulers_disc, pendulum, sleigh, slider_crank)


def build(builder, **options):
    return builder(3, **options) if builder is chain else builder(**options)


def at(system, seed=0):
    rng = np.random.default_rng(seed)
    return 0.3, rng.normal(size=system.nq), rng.normal(size=system.nv)


@pytest.mark.parametrize("builder", BUILDERS, ids=lambda builder: builder.__name__)
def test_a_system_comes_back_from_its_spec(builder):
    system = build(builder, compile=False)
    through_json = LagrangianSystem.from_spec(json.loads(json.dumps(system.spec())))
    for other in (through_json, pickle.loads(pickle.dumps(system))):
        np.testing.assert_array_equal(other.values(*at(system)), system.values(*at(system)))
        assert other.spec() == system.spec()
        assert repr(other) == repr(system)


@pytest.mark.slow
@pytest.mark.parametrize("builder", BUILDERS, ids=lambda builder: builder.__name__)
def test_compiled_equals_interpreted(builder):
    one, other = build(builder, compile=True), build(builder, compile=False)
    for seed in range(5):
        a, b = one.values(*at(one, seed)), other.values(*at(one, seed))
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13 * np.abs(b).max())


def test_latex_comes_back_from_a_spec():
    system = pendulum(compile=False)
    assert LagrangianSystem.from_spec(system.spec()).latex() == system.latex()


@pytest.mark.slow
def test_every_function_compiles_and_is_differentiated():
    """Compiled, interpreted and mpmath agree on every function that an expression may hold."""
    x = sp.Symbol("x", real=True)
    low = x / 3  # within the domain of asin and atanh
    functions = [sp.sin, sp.cos, sp.tan, sp.sinh, sp.cosh, sp.tanh, sp.asin, sp.acos, sp.atan, sp.asinh, sp.atanh,
                 sp.exp, sp.Abs, sp.sign, sp.Heaviside]  # fmt: skip
    V = sum(f(low) * (k + 1) for k, f in enumerate(functions))
    V += (
        sp.acosh(2 + x**2)
        + sp.log(3 + x)
        + sp.atan2(x, 2)
        + sp.sqrt(4 + x) ** -3
        + sp.Max(x, sp.S.Half)
        + sp.Min(x, 1, sp.S.One / 10)
    )
    V += sp.Piecewise((x**2, (x > 0) & (x < 2)), (sp.pi * x, sp.Or(x < -1, sp.Eq(x, 3))), (sp.E, True))
    w = sp.Symbol("w")
    pair = [LagrangianSystem([x], velocities=[w], kinetic=w**2 / 2, potential=V, compile=c) for c in (True, False)]
    for value in (-1.5, -0.4, 0.3, 1.2):
        exact = float(V.subs(x, sp.Float(value, 30)).evalf(20))
        h = sp.Rational(1, 10**8)
        ends = [V.subs(x, sp.Rational(str(value)) + s * h).evalf(40) for s in (1, -1)]
        slope = float((ends[0] - ends[1]) / (2 * h))
        for system in pair:
            assert system.potential(0.0, np.array([value])) == pytest.approx(exact, rel=1e-13)
            assert system.force(0.0, np.array([value]), np.ones(1))[0] == pytest.approx(-slope, rel=1e-10)


def test_parameters_change_without_deriving_anew(monkeypatch):
    from gaussdyn.mechanics.lagrangian import equations as lagrangian_equations

    system = pendulum(m=1.0, L=2.0, compile=False)

    def never(_):
        raise AssertionError("derived again")

    monkeypatch.setattr(lagrangian_equations, "equations", never)
    longer = system.with_params(L=3.0)
    assert longer.params["L"] == 3.0
    assert system.params["L"] == 2.0
    assert longer.mass(np.zeros(1))[0, 0] == 9.0
    assert longer.evaluate is system.evaluate
    with pytest.raises(InputError, match=r"'length'.*m, L, g"):
        system.with_params(length=1.0)
    with pytest.raises(InputError, match="parameter L"):
        system.with_params(L=np.inf)


def test_the_digest_follows_the_expressions_and_nothing_else():
    a, b = pendulum(compile=False), pendulum(m=7.0, compile=False, name="other")
    assert a.model.digest() == b.model.digest()
    assert a.model.digest() != double_pendulum(compile=False).model.digest()
    x = dynamicsymbols("x")
    one, two = (LagrangianSystem([x], kinetic=k * x.diff() ** 2, compile=False) for k in (1, 2))
    assert one.model.digest() != two.model.digest()


def test_a_stored_system_is_built_again_without_sympy():
    spec = json.dumps(pendulum(m=2.0, L=0.5, compile=False).spec())
    code = (
        "import json, sys; from gaussdyn.mechanics.lagrangian.system import LagrangianSystem; "
        f"s = LagrangianSystem.from_spec(json.loads({spec!r})); "
        "print(s.mass([0.0])[0, 0], 'sympy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["0.5", "False"]


@pytest.mark.parametrize(
    "change",
    [
        {"kinetic": ["os.system", "echo"]},
        {"kinetic": "__import__('os')"},
        {"kinetic": ["Mul", "v0", ["sin", "v0", "v0"]]},
        {"kinetic": ["Rational", 1, 0]},
        {"potential": ["Pow", "p99", None]},
        {"potential": float("nan")},
        {"potential": ["Piecewise", ["q0"]]},
        {"constraints": [{"id": "a", "kind": "magic", "level": "position", "expressions": [0], "coefficients": {}}]},
        {"forces": []},
        {"coordinates": []},
        {"values": [1.0]},
        {"values": [1.0, float("inf"), 1.0]},
    ],
    ids=str,
)
def test_data_of_another_form_are_refused(change):
    spec = pendulum(compile=False).spec()
    with pytest.raises(InputError):
        LagrangianSystem.from_spec({**spec, **change})
    with pytest.raises(InputError):
        LagrangianSystem.from_spec({key: value for key, value in spec.items() if key not in change})


def test_trees_of_any_depth_end_in_a_message():
    tree = "q0"
    for _ in range(3000):
        tree = ["sin", tree]
    with pytest.raises(InputError, match="nested"):
        to_sympy("deep", tree)
    with pytest.raises(InputError, match="nested"):
        LagrangianSystem.from_spec({**pendulum(compile=False).spec(), "potential": tree})
    expression = symbol("q0")
    for _ in range(120):
        expression = sp.sin(expression, evaluate=False)
    with pytest.raises(InputError, match="nested"):
        to_tree("deep", expression)


def test_trees_keep_numbers_exactly():
    for value in (sp.Rational(1, 3), sp.Integer(-7), sp.Float(0.1), sp.pi, sp.E, sp.Float(1e300)):
        tree = to_tree("number", value)
        assert to_sympy("number", json.loads(json.dumps(tree))) == value


def test_contact_in_space_with_rolling():
    x, y, z, a, b = dynamicsymbols("x y z a b")
    rates = [c.diff() for c in (x, y, z, a, b)]
    floor = Contact(z, rates[:2], mu=0.3, rolling=rates[3:], mu_r=0.01)
    ball = LagrangianSystem([x, y, z, a, b], kinetic=sum(r**2 for r in rates), constraints=[floor], compile=False)
    (row,) = ball.rows(0.0, np.ones(5), np.arange(1.0, 6.0))
    assert (row.kind, row.size, row.mu_r) == ("contact", 5, 0.01)
    assert row.rate.tolist() == [3.0, 1.0, 2.0, 4.0, 5.0]


@pytest.mark.slow
def test_compiled_functions_of_numba_serve_in_a_user_system():
    numba = pytest.importorskip("numba")

    @numba.njit
    def mass(q):
        return np.array([[1.0 + q[0] ** 2, 0.0], [0.0, 1.0]])

    @numba.njit("float64[::1](float64, float64[::1], float64[::1])")
    def force(t, q, v):
        return np.array([-q[0] - q[0] * v[0] ** 2, -9.81])

    @numba.njit
    def gap(t, q):
        return q[1] - 0.1 * np.sin(q[0])

    @numba.njit
    def gradient(t, q):
        return np.array([-0.1 * np.cos(q[0]), 1.0])

    @numba.njit
    def slip(t, q, v):
        return v[0] - np.sin(t)

    @numba.njit
    def short(t):
        return t

    constraints = [Position(gap, jacobian=gradient, mu=0.3), Velocity(slip, kind="dry", cap=1.0)]
    system = UserSystem(2, mass, force, constraints, potential=lambda t, q: 0.5 * q[0] ** 2 + 9.81 * q[1])
    report = check_system(system)
    assert report.ok, report
    with pytest.raises(InputError, match=r"a function of \(t, q\)"):
        Position(short)


def test_a_holonomic_constraint_without_coordinates_in_the_mass_survives_pickling_of_names():
    """Names may be any text: they are labels, never evaluated."""
    x = sp.Function("__import__('os').getcwd()")(dynamicsymbols._t)
    system = LagrangianSystem([x], kinetic=x.diff() ** 2, constraints=[Holonomic(x)], compile=False)
    again = LagrangianSystem.from_spec(system.spec())
    assert again.names == ("__import__('os').getcwd()",)
    assert again.mass(np.zeros(1))[0, 0] == 2.0
