"""Systems from symbols: what they say about themselves, their motion against equations written by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import small_systems as by_hand
import sympy as sp
from lagrangian_systems import (
    SQUEEZER_START,
    accelerate,
    cartesian_pendulum,
    chain,
    double_pendulum,
    ellipse_distance,
    eulers_disc,
    knife_edge,
    motion,
    pendulum,
    singular_pendulum,
    sleigh,
    slider_crank,
    spring_pendulum,
    squeezer,
    t,
    upright_disc,
)
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import LagrangesMethod, Particle, Point, ReferenceFrame, dynamicsymbols, kinetic_energy

from gaussdyn import MoreauJean, State, check_system, resolve, simulate, snapshot
from gaussdyn.mechanics.lagrangian.system import Contact, Friction, Holonomic, LagrangianSystem, Nonholonomic
from gaussdyn.mechanics.system import System

PLAIN = {"compile": False}
BUILDERS = (
    cartesian_pendulum, double_pendulum, eulers_disc, knife_edge, pendulum, singular_pendulum, sleigh, slider_crank,
    spring_pendulum, upright_disc,
)  # fmt: skip


def states(system, count=4, seed=1):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield float(rng.uniform()), 0.5 * rng.normal(size=system.nq), rng.normal(size=system.nv)


def same_rows(ours, theirs, time, q, v):
    pairs = zip(ours.rows(time, q, v), theirs.rows(time, q, v), strict=True)
    for one, other in pairs:
        assert (one.kind, one.level) == (other.kind, other.level)
        assert one.gap == pytest.approx(other.gap, abs=1e-13)
        for name in ("J", "rate", "drift"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-12)
        for name in ("mu", "mu_s", "cap", "cap_s", "eps_n", "eps_t"):
            assert getattr(one, name) == getattr(other, name)


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_says_the_same_as_differences(build):
    system = build(**PLAIN)
    assert isinstance(system, System)
    sample = [State(t=time, q=q, v=v) for time, q, v in states(system)]
    report = check_system(system, states=sample)
    assert report.ok, report


def test_everything_at_once_says_the_same_as_differences():
    x, y = dynamicsymbols("x y")
    m, c, mu = sp.symbols("m c mu")
    system = LagrangianSystem(
        [x, y],
        kinetic=m * ((x.diff() - sp.cos(t) * y) ** 2 + (y.diff() + t * x) ** 2) / 2 + (x * y * x.diff()) ** 2,
        potential=m * y * (1 + t) + sp.Abs(x),
        forces={x: -c * x.diff() * y, y: sp.sin(t) * y.diff() + sp.sign(y)},
        constraints=[
            Holonomic(x**2 + y**2 - 4 - sp.sin(t), name="rod"),
            Contact(y - sp.sin(x), x.diff() + y.diff() * sp.cos(x) - t**2, mu=mu, mu_s=2 * mu, eps_n=0.5),
            Nonholonomic(x.diff() ** 2 + y * y.diff() ** 3 - t, kind="unilateral"),
            Friction([x.diff() * y - t, y.diff()], cap=3 * mu),
        ],
        parameters={m: 1.5, c: 0.3, mu: 0.25},
        **PLAIN,
    )
    report = check_system(system)
    assert report.ok, report
    row = system.rows(0.0, np.ones(2), np.ones(2))[1]
    assert (row.kind, row.mu, row.mu_s, row.eps_n) == ("contact", 0.25, 0.5, 0.5)


def test_rows_equal_those_written_by_hand():
    x, y, angle = dynamicsymbols("x y angle")
    rod = LagrangianSystem(
        [x, y, angle],
        kinetic=(x.diff() ** 2 + y.diff() ** 2 + angle.diff() ** 2 / 3) / 2,
        potential=by_hand.G * y,
        constraints=[Contact(y - sp.sin(angle), (x - sp.cos(angle)).diff(t), mu=0.3)],
        **PLAIN,
    )
    for state in states(rod):
        same_rows(rod, by_hand.SlidingRod(), *state)
        np.testing.assert_allclose(rod.mass(state[1]), by_hand.SlidingRod().mass(state[1]), atol=1e-15)
        np.testing.assert_allclose(rod.force(*state), [0.0, -by_hand.G, 0.0], atol=1e-14)
    speed = LagrangianSystem(
        [x, y],
        kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2,
        potential=-3 * y,
        constraints=[Nonholonomic(x.diff() ** 2 + y.diff() ** 2 - 1)],
        **PLAIN,
    )
    drive = LagrangianSystem([x], kinetic=x.diff() ** 2 / 2, constraints=[Holonomic(x - sp.sin(t))], **PLAIN)
    for ours, theirs in ((speed, by_hand.Governed()), (drive, by_hand.Driven()), (sleigh(**PLAIN), by_hand.Sleigh())):
        for state in states(ours):
            same_rows(ours, theirs, *state)
            np.testing.assert_allclose(ours.force(*state), theirs.force(*state), atol=1e-14)


def test_symbols_with_named_rates_are_the_same_as_functions_of_time():
    q, w, m, k = sp.symbols("q w m k", positive=True)
    plain = LagrangianSystem([q], velocities=[w], kinetic=m * w**2 * q / 2, potential=k * q**2, forces=[-w],
                             parameters={"m": 2.0, "k": 3.0}, **PLAIN)  # fmt: skip
    x = dynamicsymbols("q")
    other = LagrangianSystem([x], kinetic=m * x.diff() ** 2 * x / 2, potential=k * x**2, forces=[-x.diff()],
                             parameters={"m": 2.0, "k": 3.0}, **PLAIN)  # fmt: skip
    state = (0.0, np.array([1.7]), np.array([0.4]))
    np.testing.assert_array_equal(plain.values(*state), other.values(*state))
    np.testing.assert_allclose(plain.force(*state), [-(0.4**2) - 6.0 * 1.7 - 0.4], rtol=1e-14)  # - m w^2/2 - 2 k q - w


def test_pendulum_in_two_ways_and_by_hand():
    times = np.linspace(0.2, 2.0, 10)
    m, L, g, a0, w0 = 1.3, 0.7, 9.81, 0.9, 1.4
    hand = solve_ivp(lambda s, y: [y[1], -g / L * np.sin(y[0])], (0, 2), [a0, w0], method="DOP853", rtol=1e-12,
                     atol=1e-13, t_eval=times).y.T  # fmt: skip
    np.testing.assert_allclose(motion(pendulum(**PLAIN), [a0], [w0], times), hand, atol=1e-9)
    e, f = np.array([np.sin(a0), -np.cos(a0)]), np.array([np.cos(a0), np.sin(a0)])
    found = motion(cartesian_pendulum(**PLAIN), L * e, L * w0 * f, times)
    np.testing.assert_allclose(np.arctan2(found[:, 0], -found[:, 1]), hand[:, 0], atol=1e-9)
    system = cartesian_pendulum(**PLAIN)
    tension = -accelerate(system, 0.0, L * e, L * w0 * f)[1][0]
    assert tension == pytest.approx(m * (g * np.cos(a0) + L * w0**2), rel=1e-12)


def test_double_pendulum_against_the_textbook():
    m1, m2, L1, L2, g = 1.0, 0.6, 0.8, 0.5, 9.81

    def rhs(s, y):
        a, b, p, r = y
        d, k = a - b, 2 * m1 + m2 - m2 * np.cos(2 * a - 2 * b)
        pa = -g * (2 * m1 + m2) * np.sin(a) - m2 * g * np.sin(a - 2 * b)
        pa -= 2 * np.sin(d) * m2 * (r**2 * L2 + p**2 * L1 * np.cos(d))
        pb = 2 * np.sin(d) * (p**2 * L1 * (m1 + m2) + g * (m1 + m2) * np.cos(a) + r**2 * L2 * m2 * np.cos(d))
        return [p, r, pa / (L1 * k), pb / (L2 * k)]

    times, y0 = np.linspace(0.1, 1.5, 8), [1.1, -0.4, 0.3, 2.0]
    hand = solve_ivp(rhs, (0, 1.5), y0, method="DOP853", rtol=1e-12, atol=1e-13, t_eval=times).y.T
    np.testing.assert_allclose(motion(double_pendulum(**PLAIN), y0[:2], y0[2:], times), hand, atol=1e-8)


def test_slider_crank_against_one_equation_in_the_crank_angle():
    r, L, J, mr, m, g = 0.2, 0.5, 0.04, 0.7, 1.1, 9.81

    def place(a):
        b = np.arcsin(r / L * np.sin(a))
        return np.array([r * np.cos(a) + L / 2 * np.cos(b), L / 2 * np.sin(b), b, r * np.cos(a) + L * np.cos(b)])

    def slope(f, a, h=1e-4):  # fourth order differences
        return (8 * (f(a + h) - f(a - h)) - (f(a + 2 * h) - f(a - 2 * h))) / (12 * h)

    def inertia(a):
        x, y, b, s = slope(place, a)
        return J + mr * (x**2 + y**2 + L**2 / 12 * b**2) + m * s**2

    def rhs(s, y):
        torque = -mr * g * slope(place, y[0])[1]
        return [y[1], (torque - 0.5 * slope(inertia, y[0], 1e-3) * y[1] ** 2) / inertia(y[0])]

    a0, w0, times = 0.4, 6.0, np.array([0.5, 1.0])
    hand = solve_ivp(rhs, (0, 1.0), [a0, w0], method="DOP853", rtol=1e-10, atol=1e-11, t_eval=times).y.T
    _, _, b, x = place(a0)
    db, dx = slope(place, a0)[2:] * w0
    found = motion(slider_crank(**PLAIN), [a0, b, x], [w0, db, dx], times)
    np.testing.assert_allclose(found[:, [0, 3]], hand, atol=1e-6)


def test_sleigh_follows_its_closed_form():
    m, J, c, phi, v0, w0 = 1.0, 0.5, 0.4, 0.3, 1.0, 2.0
    system = sleigh(m, J, c, **PLAIN)
    e, f = np.array([np.cos(phi), np.sin(phi)]), np.array([-np.sin(phi), np.cos(phi)])
    start = np.r_[v0 * e + c * w0 * f, w0]
    assert accelerate(system, 0.0, np.array([0, 0, phi]), start)[1][0] == pytest.approx(1.515151515152, abs=1e-12)
    y = motion(system, [0, 0, phi], start, [2.0])[0]
    k2 = (J + m * c**2) / m
    R = np.sqrt(v0**2 + k2 * w0**2)
    s = c * R / k2 * 2.0 + np.arctanh(v0 / R)
    e = np.array([np.cos(y[2]), np.sin(y[2])])
    assert y[3:5] @ e == pytest.approx(R * np.tanh(s), abs=1e-10)
    assert y[5] == pytest.approx(R / np.sqrt(k2) / np.cosh(s), abs=1e-10)
    assert accelerate(system, 2.0, y[:3], y[3:])[1][0] == pytest.approx(0.372121935653, abs=1e-9)
    np.testing.assert_allclose(y[:3], [-0.706333786, 3.212171553, 2.145294982], atol=1e-9)
    steep = motion(sleigh(slope=1.5, **PLAIN), [0, 0, phi], start, [2.0])[0]
    np.testing.assert_allclose(steep[:3], [-0.09276824503929, 0.78237980929908, 2.47475054411426], atol=1e-9)


def test_knife_edge_on_a_slope_goes_round_in_cycloids():
    g, w, times = 3.0, 1.7, np.linspace(0.3, 3.0, 7)
    y = motion(knife_edge(g, **PLAIN), [0, 0, 0], [0, 0, w], times)
    np.testing.assert_allclose(y[:, 0], g / (2 * w**2) * np.sin(w * times) ** 2, atol=1e-9)
    np.testing.assert_allclose(y[:, 1], g / (2 * w**2) * (w * times - np.sin(2 * w * times) / 2), atol=1e-9)


def test_upright_disc_rolls_in_a_circle():
    R, turn, roll, times = 0.3, 0.8, 2.5, np.array([1.0, 2.0])
    y = motion(upright_disc(R=R, **PLAIN), [0, 0, 0, 0], [R * roll, 0, turn, roll], times)
    radius = R * roll / turn
    np.testing.assert_allclose(y[:, 0], radius * np.sin(turn * times), atol=1e-9)
    np.testing.assert_allclose(y[:, 1], radius * (1 - np.cos(turn * times)), atol=1e-9)


@pytest.mark.parametrize("tilt", [0.2, 0.9, 1.4])
def test_eulers_disc_precesses_about_its_resting_centre(tilt):
    """With the centre at rest the precession is sqrt(4 g / (R sin tilt))."""
    R, g = 0.08, 9.81
    rate = np.sqrt(4 * g / (R * np.sin(tilt)))
    a, _ = accelerate(eulers_disc(R=R, g=g, **PLAIN), 0.0, np.array([0, 0, 0.7, tilt, 0.2]),
                      np.array([0, 0, rate, 0, -rate * np.cos(tilt)]))  # fmt: skip
    np.testing.assert_allclose(a, 0.0, atol=1e-9 * rate**2)


def test_singular_pendulum_rigid_and_with_a_spring():
    a, b, u0 = 4.0, 2.3, 0.5
    d = float(ellipse_distance(u0, a, b, 1.0 - a))
    theta = np.arccos((4 + d**2 - 1) / (4 * d))
    assert theta == pytest.approx(0.176582738639, abs=1e-11)
    B, C = (s * np.array([np.cos(w), np.sin(w)]) for s, w in ((2.0, u0 + theta), (d, u0)))
    y = motion(singular_pendulum(**PLAIN), [*B, *C], np.zeros(4), [0.5])[0]
    u = np.arctan2(y[3], y[2])
    assert u == pytest.approx(0.224692874, abs=1e-8)
    assert np.arctan2(y[1], y[0]) - u == pytest.approx(0.078678698, abs=1e-8)


@pytest.mark.slow
def test_spring_of_the_singular_pendulum_at_one_second():
    y = motion(spring_pendulum(k=1e5), [0.5, 0.176582738639], [0.0, 0.0], [1.0])[0]
    np.testing.assert_allclose(y[:2], [-0.3046444001, -0.1072080191], atol=1e-8)


@pytest.mark.slow
def test_andrews_squeezer_ends_where_the_test_set_says():
    """Reference solution at 0.03 s of the Test Set for IVP Solvers (Mazzia & Magherini, 2008)."""
    system, start = squeezer(), np.array(SQUEEZER_START)
    a, _ = accelerate(system, 0.0, start, np.zeros(7))
    np.testing.assert_allclose(a[:2], [14222.4439199541138705911625887, -10666.8329399655854029433719415], rtol=1e-11)
    y = motion(system, start, np.zeros(7), [0.03], rtol=1e-12, atol=1e-13)[0]
    reference = [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
                 0.5347301163226948, 1.048080741042263]  # fmt: skip
    np.testing.assert_allclose(y[:7], reference, atol=1e-8)


@pytest.mark.slow
def test_the_same_equations_as_sympys_own_method():
    """Mass and forcing of Lagrange's method of sympy, for a chain of three rods in a moving frame, with damping."""
    q, t_ = dynamicsymbols("q1:4"), dynamicsymbols._t
    m, L, g, c = sp.symbols("m L g c")
    N = ReferenceFrame("N")
    x, y, T, V = sp.sin(t_), sp.S.Zero, sp.S.Zero, sp.S.Zero
    for k, angle in enumerate(q):
        x, y = x + L * sp.sin(angle), y - L * sp.cos(angle)
        point = Point(f"P{k}")
        point.set_vel(N, x.diff(t_) * N.x + y.diff(t_) * N.y)
        T, V = T + kinetic_energy(N, Particle(f"p{k}", point, m)), V + m * g * y
    damping = [-c * angle.diff() for angle in q]
    values = {m: 0.4, L: 0.3, g: 9.81, c: 0.05}
    ours = LagrangianSystem(q, kinetic=T, potential=V, forces=damping, parameters=values, **PLAIN)
    theirs = LagrangesMethod(T - V, q)
    theirs.form_lagranges_equations()
    rates = [angle.diff() for angle in q]
    plain = sp.symbols("a0:3 b0:3")
    table = dict(zip([*rates, *q], [*plain[3:], *plain[:3]], strict=True))
    pair = [sp.lambdify([t_, *plain], part.subs(values).subs(table)) for part in (theirs.mass_matrix, theirs.forcing)]
    for time, a, b in states(ours):
        M, h = (np.asarray(f(time, *a, *b), float) for f in pair)
        np.testing.assert_allclose(ours.mass(a), M, atol=1e-13)
        np.testing.assert_allclose(ours.force(time, a, b), h[:, 0] - 0.05 * b, atol=1e-12)


def test_curvature_is_the_derivative_of_the_gradients():
    system, h = singular_pendulum(**PLAIN), 1e-3
    q, rest = np.array([1.9, 0.3, 0.8, 0.4]), np.zeros(4)
    for k, (id, (second, third)) in enumerate(system.curvature(0.0, q).items()):
        assert id == system.rows(0.0, q, rest)[k].id
        for i, e in enumerate(np.eye(4)):
            ahead, back = (system.rows(0.0, q + s * h * e, rest)[k].J[0] for s in (1, -1))
            np.testing.assert_allclose(second[i], (ahead - back) / (2 * h), atol=1e-9)
            ahead, back = (system.curvature(0.0, q + s * h * e)[id][0] for s in (1, -1))
            np.testing.assert_allclose(third[i], (ahead - back) / (2 * h), atol=1e-9)
    x, y, z = dynamicsymbols("x y z")
    cubic = LagrangianSystem([x, y, z], kinetic=x.diff() ** 2 + y.diff() ** 2 + z.diff() ** 2,
                             constraints=[Holonomic(x * y * z + x**3, name="c")], **PLAIN)  # fmt: skip
    second, third = cubic.curvature(0.0, [2.0, 3.0, 5.0])["c"]
    np.testing.assert_array_equal(second, [[12, 5, 3], [5, 0, 2], [3, 2, 0]])
    expected = np.zeros((3, 3, 3))
    expected[0, 0, 0] = 6.0
    for way in itertools.permutations(range(3)):
        expected[way] = 1.0
    np.testing.assert_array_equal(third, expected)


def test_controls_go_where_they_are_declared():
    x, u = dynamicsymbols("x"), sp.Symbol("u")
    own = LagrangianSystem([x], kinetic=x.diff() ** 2, forces=[3 * u - x.diff()], controls=[u], **PLAIN)
    assert own.force(0.0, np.zeros(1), np.ones(1), np.array([2.0])).tolist() == [5.0]
    assert own.force(0.0, np.zeros(1), np.ones(1)).tolist() == [-1.0]
    assert own.power(0.0, np.zeros(1), np.ones(1), np.array([2.0])) == 5.0
    added = LagrangianSystem([x], kinetic=x.diff() ** 2, forces=[-x.diff()], **PLAIN)
    assert added.force(0.0, np.zeros(1), np.ones(1), np.array([2.0])).tolist() == [1.0]
    assert added.power(0.0, np.zeros(1), np.full(1, 3.0), np.array([2.0])) == -3.0


def test_resolve_and_simulate_take_it():
    x, y = dynamicsymbols("x y")
    mu = sp.Symbol("mu")
    block = LagrangianSystem(
        {x: "m", y: "m"},
        kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2,
        potential=9.81 * y,
        constraints=[Contact(y, x.diff(), mu=mu, name="block/floor")],
        parameters={mu: 0.25},
        **PLAIN,
    )
    answer = resolve(snapshot(block, State(q=[0.0, 0.0], v=[2.0, 0.0]))).require()
    np.testing.assert_allclose(answer.x, [-0.25 * 9.81, 0.0], atol=1e-10)
    run = simulate(block, State(q=[0.0, 0.0], v=[2.0, 0.0]), 0.5, stepper=MoreauJean(dt=0.01))
    assert run["v0"][-1] == pytest.approx(2.0 - 0.25 * 9.81 * 0.5, abs=1e-10)


def test_pictures_and_columns():
    system = pendulum(L=2.0, **PLAIN)
    angle = np.pi / 6
    segment, bob = system.drawables(np.array([angle]))
    np.testing.assert_allclose(segment["ends"], [[0, 0], [1.0, -np.sqrt(3)]], atol=1e-14)
    np.testing.assert_allclose(bob["at"], [1.0, -np.sqrt(3)], atol=1e-14)
    assert (segment["shape"], bob["shape"], bob["name"]) == ("segment", "point", "bob")
    columns = system.columns()
    assert [(name, unit) for name, (unit, _) in columns.items()] == [("angle", "rad"), ("angle'", "rad/s")]
    state = State(q=[0.3], v=[0.7])
    assert [read(state) for _, read in columns.values()] == [0.3, 0.7]
    assert system.units["m"] == "kg"


def test_latex_shows_the_equations_in_the_given_names():
    text = pendulum(**PLAIN).latex()
    assert text.startswith("\\begin{align*}")
    assert "\\ddot{\\mathrm{angle}} m L^{2} &= - m L g \\sin{\\left(\\mathrm{angle} \\right)}" in text
    text = double_pendulum(**PLAIN).latex()
    assert "m_{1} L_{1}^{2} + m_{2} L_{1}^{2}" in text
    assert "m_{2} L_{1} L_{2} \\cos{\\left(a - b \\right)}" in text
    text = cartesian_pendulum(**PLAIN).latex()
    assert "\\lambda_{\\mathrm{rod}}" in text
    assert "&= 0" in text
    text = chain(2, **PLAIN).latex()
    assert "\\perp r_{N,\\mathrm{middle/floor}} \\ge 0" in text
    assert "\\ddot{q}_{1}" in text
