"""Systems from symbols: what is refused, and what the message names."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from lagrangian_systems import cartesian_pendulum, chain, t
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn import State
from gaussdyn.errors import InputError
from gaussdyn.mechanics.lagrangian.system import Contact, Friction, Holonomic, LagrangianSystem, Nonholonomic

x, y = dynamicsymbols("x y")
vx, vy = x.diff(), y.diff()
m, g, L, mu = sp.symbols("m g L mu")
T = m * (vx**2 + vy**2) / 2


def make(coordinates=(x, y), **given):
    options = {"kinetic": T, "parameters": {m: 1.0, g: 9.81, L: 2.0, mu: 0.3}, "compile": False}
    return LagrangianSystem(coordinates, **{**options, **given})


def refused(*words, **given):
    with pytest.raises(InputError) as caught:
        make(**given)
    for word in words:
        assert word in str(caught.value)


def rod(**given):
    return Holonomic(x**2 + y**2 - L**2, **given)


def test_symbols_without_a_value_are_named_with_their_places():
    refused("no value for L (in rod); g (in potential)", potential=m * g * y, constraints=[rod(name="rod")],
            parameters={m: 1.0})  # fmt: skip
    refused("no value for f (in holonomic0)", constraints=[Holonomic(sp.Function("f")(x))])
    refused("no value for z (in forces[0])", forces=[dynamicsymbols("z"), 0])
    refused("no value for u", forces=[sp.Symbol("u"), 0])


def test_constraints_given_twice_are_named():
    refused("again", "the same constraint as rod", constraints=[rod(name="rod"), rod(name="again")])
    refused("-3 times rod", constraints=[rod(name="rod"), Holonomic(3 * (L**2 - x**2 - y**2), name="again")])
    same = sp.expand_trig(sp.cos(x + y))
    refused("the same constraint", constraints=[Holonomic(sp.cos(x + y)), Holonomic(same, name="again")])
    refused("knife", "the same", constraints=[Nonholonomic(vx, name="edge"), Nonholonomic(2 * vx, name="knife")])
    refused("'rod'", "one name per constraint", constraints=[rod(name="rod"), Holonomic(x, name="rod")])


def test_constraints_that_share_a_line_but_not_their_sense_are_kept():
    between = make(constraints=[Holonomic(x, kind="unilateral"), Holonomic(2 - x, kind="unilateral")])
    assert len(between.rows(0.0, np.ones(2), np.ones(2))) == 2
    make(constraints=[Holonomic(x, kind="unilateral"), Holonomic(-x, kind="unilateral")])
    make(constraints=[Friction(vx, cap=1), Friction(vx, cap=2)])
    make(constraints=[Holonomic(x, name="wall"), Nonholonomic(vx, name="stop")])


def test_constraints_that_say_nothing_are_named():
    refused("nothing", "identically zero", constraints=[Holonomic(sp.S.Zero, name="nothing")])
    zero = sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1
    refused("nothing", "identically zero", constraints=[Holonomic(zero, name="nothing")])
    refused("length", "does not depend on the motion", constraints=[Holonomic(L - 2 + t, name="length")])
    refused("row 1 of contact0", "does not depend", constraints=[Contact(y, sp.sin(t), mu=mu)])
    refused("psi", "does not depend", constraints=[Nonholonomic(x + y, name="psi")])


def test_mass_matrices_that_are_singular_are_named_by_coordinate():
    refused("no inertia of 'y'", kinetic=m * vx**2, potential=y)
    refused("singular in x, y", kinetic=m * (vx + vy) ** 2 / 2)
    refused("singular in y", kinetic=m * vx**2 - vy**2)
    refused("'y'", "appear in the energies", kinetic=m * vx**2)
    w = dynamicsymbols("w")
    tilted = (vx * sp.cos(x) - w.diff() * sp.sin(x)) ** 2 + vy**2
    refused("singular in x, w", coordinates=[x, y, w], kinetic=tilted)


def test_mass_that_is_singular_somewhere_only_is_kept():
    polar = make(kinetic=m * (vx**2 + x**2 * vy**2) / 2)
    assert polar.mass(np.array([3.0, 0.0]))[1, 1] == 9.0


def test_kinetic_energies_of_another_form():
    refused("depends on the time", "coordinate s of its own", kinetic=T * (1 + t))
    refused("quadratic in the velocities", kinetic=T + vx**4)
    refused("quadratic in the velocities", kinetic=m * sp.sqrt(1 + vx**2) + m * vy**2)


def test_expressions_that_hold_what_they_must_not():
    refused("knife", "acceleration", constraints=[Nonholonomic(x.diff(t, 2) - y, name="knife")])
    refused("acceleration", forces=[x.diff(t, 2), 0])
    u = dynamicsymbols("u")
    refused("acceleration", coordinates=[x], velocities=[u], kinetic=u**2, forces=[u.diff()])
    refused("rod", "velocities", "Nonholonomic", constraints=[Holonomic(x + vx, name="rod")])
    refused("potential", "velocities", "forces=", potential=m * vx)
    refused("eps_n of c", "velocities", constraints=[Contact(y, vx, mu=mu, eps_n=mu * vx, name="c")])
    refused("slip of c", "not linear", constraints=[Contact(y, vx**2, mu=mu, name="c")])
    refused("'m * v'", "Text is not evaluated", kinetic="m * v")
    refused("Integral", potential=sp.Integral(y**L, (y, 0, L)))
    refused("ImaginaryUnit", potential=sp.I * y)
    refused("gamma", potential=sp.gamma(y))
    refused("finite", potential=sp.oo)


def test_a_coefficient_of_friction_may_depend_on_the_slip_and_is_refused_where_it_is_negative():
    system = make(constraints=[Contact(y, vx, mu=mu * (1 - vx), name="c")])
    (row,) = system.rows(0.0, np.zeros(2), np.array([0.5, 0.0]))
    assert row.mu == row.mu_s == 0.15
    with pytest.raises(InputError, match="mu of c"):
        system.rows(0.0, np.zeros(2), np.array([2.0, 0.0]))


def test_derivatives_of_complex_functions_are_told_how_to_become_real():
    refused("real=True", forces=[sp.Abs(x).diff(t), 0])
    z = dynamicsymbols("z", real=True)
    speed = sp.Abs(z).diff(t)
    system = make([z], kinetic=z.diff() ** 2 / 2, forces=[speed])
    assert system.force(0.0, np.array([-2.0]), np.array([3.0])).tolist() == [-3.0]


def test_a_slider_in_its_guide_has_bilateral_contact_rows():
    guide = make(constraints=[Contact(y - x, vx + vy, mu=mu, kind="bilateral", name="guide")])
    (row,) = guide.rows(0.0, np.array([1.0, 1.5]), np.array([2.0, 3.0]))
    assert (row.kind, row.gap, row.mu) == ("bilateral_contact", 0.5, 0.3)
    assert row.rate.tolist() == [1.0, 5.0]
    assert row.J.tolist() == [[-1.0, 1.0], [1.0, 1.0]]


def test_sizes_and_names():
    refused("forces", "3 expressions", "2, one per coordinate", forces=[0, 0, 0])
    refused("forces", "a force on 'm'", forces={m: 1})
    refused("velocities", "one symbol per coordinate", coordinates=[sp.Symbol("q")], kinetic=sp.S.One)
    refused("velocities", "1", "2", velocities=[m], coordinates=sp.symbols("a b"))
    refused("coordinates", "none", coordinates=[])
    refused("'x'", "each name once", coordinates=[x, x])
    refused("'x'", "each name once", parameters={m: 1.0, "x": 2.0})
    refused("'t'", coordinates=[sp.Symbol("t")], velocities=[m])
    refused("parameter m", "nan", parameters={m: float("nan")})
    refused("parameters", parameters=[1.0])
    refused("constraints[0]", "Holonomic", constraints=[3])
    refused("drawing", drawing={"rod": [(1, 2, 3)]})
    for build, words in (
        (lambda: Contact(y, [vx, vy, vx], mu=mu), "slip"),
        (lambda: Contact(y, vx, mu=mu, mu_r=0.1), "rolling"),
        (lambda: Contact(y, vx, mu=mu, rolling=[vx, vy]), "rolling"),
        (lambda: Holonomic(x, kind="sometimes"), "unilateral, bilateral"),
        (lambda: Nonholonomic(vx, name=""), "name"),
    ):
        with pytest.raises(InputError, match=words):
            build()


def test_coefficients_out_of_range_are_named():
    refused("mu of floor", "-0.3", constraints=[Contact(y, vx, mu=-mu, name="floor")])
    refused("mu_s of floor", constraints=[Contact(y, vx, mu=mu, mu_s=mu / 2, name="floor")])
    refused("eps_n of stop", constraints=[Holonomic(y, kind="unilateral", eps_n=m + 1, name="stop")])
    refused("cap of joint", constraints=[Friction(vx, cap=-1, name="joint")])
    system = make(constraints=[Contact(y, vx, mu=mu, name="floor")])
    with pytest.raises(InputError, match="mu of floor"):
        system.with_params(mu=-1.0)
    place = make(constraints=[Contact(y, vx, mu=sp.Abs(x) * mu, name="floor")])
    assert place.rows(0.0, np.array([-2.0, 0.0]), np.zeros(2))[0].mu == pytest.approx(0.6)


def test_states_of_a_wrong_shape():
    system = make()
    for q, v in ((np.zeros(3), np.zeros(2)), (np.zeros(2), np.zeros(1)), (np.zeros((2, 1)), np.zeros(2))):
        with pytest.raises(InputError, match="shape"):
            system.rows(0.0, q, v)
    strided = np.arange(4.0)[::2]
    assert system.mass(strided)[0, 0] == 1.0
    assert system.mass([1, 2])[1, 1] == 1.0


def test_what_is_not_defined_at_a_state_is_refused_by_name():
    system = make(constraints=[Holonomic(sp.log(x) + y, name="log")])
    with pytest.raises(InputError, match="log"):
        system.rows(0.0, np.array([-1.0, 0.0]), np.ones(2))
    assert np.isfinite(system.mass(np.array([-1.0, 0.0]))).all()


def test_inconsistent_initial_data_are_found_and_mended():
    consistent = pytest.importorskip("gaussdyn.mechanics.initial.consistent_state")
    system = cartesian_pendulum(L=1.0, compile=False)
    off = State(q=[0.6, -0.81], v=[0.5, 0.1])
    with pytest.raises(InputError, match="rod"):
        consistent.check_initial(system, off)
    mended = consistent.check_initial(system, off, project=True)
    row = system.rows(0.0, mended.q, mended.v)[0]
    assert abs(row.gap) < 1e-9
    assert abs(row.rate[0]) < 1e-9


def test_long_systems_are_interpreted_and_say_so(monkeypatch):
    from gaussdyn.mechanics.lagrangian import code as lagrangian_program

    monkeypatch.setattr(lagrangian_program, "LONGEST", 100)
    system = chain(2)
    with pytest.warns(UserWarning, match="interpreted: .* characters"):
        system.mass(np.zeros(2))
    assert system.note.startswith("interpreted")
    assert system.with_params(m=2.0).mass(np.zeros(2))[1, 1] == pytest.approx(2.0 * 0.3**2 / 3)
