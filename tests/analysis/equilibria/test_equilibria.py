"""Families of equilibria against closed forms, and against plain counting on a grid."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from evidence import first
from scipy.ndimage import label
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn.analysis.equilibria.equilibria import equilibria
from gaussdyn.errors import InputError
from gaussdyn.mechanics.lagrangian.system import Contact, Friction, LagrangianSystem
from gaussdyn.scenes.catalogue import build

q, x, y = dynamicsymbols("q x y")
A, C = sp.symbols("A C")


def line(force, cap=2.0, **params):
    values = {A: 1.0, C: cap} | {sp.Symbol(key): value for key, value in params.items()}
    return LagrangianSystem([q], kinetic=q.diff() ** 2 / 2, forces=[force], parameters=values, compile=False,
                            constraints=[Friction(q.diff(), cap=C)])  # fmt: skip


def plane(force, cap=1.0):
    rough = [Friction([x.diff(), y.diff()], cap=C)]
    return LagrangianSystem([x, y], kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2, forces=force, compile=False,
                            parameters={A: 1.0, C: cap}, constraints=rough)  # fmt: skip


@pytest.mark.parametrize("cap", [2.0, 0.37])
def test_duffing_splits_twice_at_the_critical_value(cap):
    found = equilibria(build("duffing_friction", C=cap).system, "A", -2.0, 5.0)
    exact = 3.0 * (cap / 2.0) ** (2.0 / 3.0)
    assert [one.kind for one in found.bifurcations] == ["splitting", "splitting"]
    for one in found.bifurcations:
        assert abs(one.value - exact) < 1e-10
        assert one.low <= exact <= one.high
        assert abs(abs(one.q[0]) - (cap / 2.0) ** (1.0 / 3.0)) < 1e-10
    assert [one.components for one in found.families] == [1, 3]
    assert found.complete
    assert found.consistent


def test_duffing_counts():
    found = equilibria(build("duffing_friction").system, "A", -2.0, 5.0)
    assert [found.at(a).components for a in (-1.5, 1.5, 2.97, 3.03, 4.5)] == [1, 1, 1, 3, 3]
    ends = found.at(4.5).intervals
    assert np.allclose(sorted(abs(4.5 * e - e**3) for pair in ends for e in pair), 2.0, atol=1e-12)
    assert found.at(4.5).borders == (("L+", "L-"), ("L-", "L+"), ("L+", "L-"))


def test_families_far_from_the_others_are_not_left_out():
    found = equilibria(build("duffing_friction").system, "A", 50.0, 60.0)
    assert [one.components for one in found.families] == [3]
    outer = max(max(pair) for pair in found.at(55.0).intervals)
    assert abs(outer - np.roots([-1.0, 0.0, 55.0, 2.0]).max()) < 1e-10


TYPES = {
    ("L+", 1, 1): "death", ("L+", 1, -1): "splitting", ("L+", -1, 1): "birth", ("L+", -1, -1): "merging",
    ("L-", 1, 1): "merging", ("L-", 1, -1): "birth", ("L-", -1, 1): "splitting", ("L-", -1, -1): "death",
}  # fmt: skip


@pytest.mark.parametrize(("case", "kind"), TYPES.items(), ids=str)
def test_type_by_the_corrected_theorem(case, kind):
    border, rate, bend = case
    sign = 1.0 if border == "L+" else -1.0
    # F = sign C at q = 1/3, A = 0.3, with the wanted signs of F_lam and F_qq
    found = equilibria(line(sign * C + rate * (A - 0.3) + bend * (q - sp.Rational(1, 3)) ** 2), "A", 0.1, 0.5,
                       window=[(-1.0, 1.2)])  # fmt: skip
    (one,) = [one for one in found.bifurcations if one.border == border]
    assert (one.kind, one.certified) == (kind, True)
    assert abs(one.value - 0.3) < 1e-10
    assert abs(one.q[0] - 1.0 / 3.0) < 1e-10
    change = {"death": -1, "birth": 1, "splitting": 1, "merging": -1}[kind]
    assert found.families[1].components - found.families[0].components == change


@pytest.mark.slow
@pytest.mark.parametrize("cap", [1.0, 0.4])
def test_plane_is_perforated_and_then_comes_apart(cap):
    found = equilibria(build("duffing_plane", C=cap).system, "A", 0.4, 4.0)
    first, second = 3.0 * (cap / 2.0) ** (2.0 / 3.0), 2.0 * cap ** (2.0 / 3.0)
    values = [one.value for one in found.bifurcations]
    assert np.allclose(values, [first] * 2 + [second] * 4, atol=1e-10)
    assert [one.kind for one in found.bifurcations[:2]] == ["perforation"] * 2
    assert {one.kind for one in found.bifurcations[2:]} == {"splitting, opening of a hole"}
    assert abs(found.bifurcations[0].det - 16.0 * first**4 / 9.0) < 1e-9
    assert [(f.components, f.holes, f.euler) for f in found.families] == [(1, 0, 1), (1, 2, -1), (3, 0, 3)]
    assert found.complete
    assert found.consistent
    near = [found.at(share * first) for share in (0.99, 1.01)]
    assert [(f.components, f.holes, f.certified) for f in near] == [(1, 0, True), (1, 2, True)]


def test_thickness_is_not_largest_at_the_points_of_the_trident():
    # A = 3, C = 1: the outer piece reaches |q2| at q1 = 1.6610, not at sqrt(3)
    outer = equilibria(build("duffing_plane").system, "A", 2.9, 3.1, window=[(1.2, 2.2), (-1.0, 1.0)]).at(3.0)
    assert (outer.components, outer.holes, outer.certified) == (1, 0, True)
    grid = np.linspace(1.4, 2.0, 601)
    reach = []
    for q1 in grid:
        q2 = np.linspace(0.0, 1.0, 4001)
        rho = q1**2 + q2**2
        held = q1**2 * (3.0 - rho) ** 2 + q2**2 * rho**2 <= 1.0
        reach.append(q2[held].max() if held.any() else 0.0)
    top = max(reach)
    assert abs(grid[int(np.argmax(reach))] - 1.6610) < 0.02
    assert abs(outer.intervals[1][1] - top) < 2e-2


SCENARIOS = [
    ((1.0, 2.0), ["filling of a hole", "death"]),
    ((-1.0, -2.0), ["birth", "perforation"]),
    ((1.0, -2.0), ["merging", "splitting"]),
]


@pytest.mark.parametrize(("bend", "kinds"), first(1, SCENARIOS), ids=str)
def test_scenarios_of_the_plane(bend, kinds):
    system = build("rest_scenarios", k1=bend[0], k2=bend[1]).system
    found = equilibria(system, "lam", -1.2, 1.2)
    at_zero = [one for one in found.bifurcations if abs(one.q[0]) + abs(one.q[1]) < 1e-9]
    assert [one.kind for one in at_zero] == kinds
    assert np.allclose([one.value for one in at_zero], [-1.0, 1.0], atol=1e-10)
    assert found.consistent
    for one in at_zero:  # A7: with A > 0, -sign det B
        assert one.change == -int(np.sign(one.A) * np.sign(bend[0] * bend[1]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_forces_of_the_plane_are_counted_as_on_a_grid(seed):
    rng = np.random.default_rng(seed)
    c = [sp.Rational(int(k), 8) for k in rng.integers(-8, 9, 8)]
    rho = x**2 + y**2
    force = [
        A * x + c[0] * x * y + c[1] * y**2 + c[2] - x * rho,
        c[3] * y + c[4] * x * y + c[5] * x**2 + c[6] - y * rho,
    ]
    found = equilibria(plane(force), "A", 0.5, 2.5)
    low, high = np.array(found.window).T
    assert found.consistent is not False
    for one in found.families:
        X, Y = np.meshgrid(*(np.linspace(a, b, 1500) for a, b in zip(low, high, strict=True)), indexing="ij")
        R = X**2 + Y**2
        k = [float(part) for part in c]
        F1 = one.value * X + k[0] * X * Y + k[1] * Y**2 + k[2] - X * R
        F2 = k[3] * Y + k[4] * X * Y + k[5] * X**2 + k[6] - Y * R
        held = F1**2 + F2**2 <= 1.0
        assert one.components == label(held, np.ones((3, 3)))[1]
        assert one.holes == label(~held)[1] - 1
        if one.certified:
            assert one.euler == one.components - one.holes


def test_a_bead_on_a_rough_wire_rests_where_it_is_not_steep():
    # y = f(x) = A (x^3 - x) / 3, |f'| <= mu_s: three pieces while A/3 > mu_s
    m, g, mu, mu_s = sp.symbols("m g mu mu_s")
    bead = LagrangianSystem([x, y], kinetic=m * (x.diff() ** 2 + y.diff() ** 2) / 2, potential=m * g * y, compile=False,
                            parameters={m: 2.0, g: 9.81, mu: 0.2, mu_s: 0.25, A: 1.0},
                            constraints=[Contact(y - A * (x**3 - x) / 3, x.diff(), mu, mu_s)])  # fmt: skip
    found = equilibria(bead, "A", 0.3, 2.0, window=[(-2.0, 2.1)])
    assert found.names == ("x",)
    (one,) = found.bifurcations
    assert (one.kind, one.border) == ("splitting", "L+")  # at x = 0, f' = -A/3: gravity pulls it to the right there
    assert abs(one.value - 0.75) < 1e-10
    assert [f.components for f in found.families] == [1, 2]
    ends = np.sort(np.ravel(found.at(1.5).intervals))
    assert np.allclose(ends, np.sort([s * np.sqrt((1 + k) / 3.0) for s in (-1, 1) for k in (0.5, -0.5)]), atol=1e-12)


def test_functions_that_are_no_polynomials():
    # sin q + A cos(2 q), against the zeros that a fine grid shows
    found = equilibria(line(sp.sin(q) + A * sp.cos(2 * q) / 3, cap=1.0), "A", 0.1, 4.0, window=[(-3.1, 3.1)])
    assert found.complete
    for one in found.families:
        grid = np.linspace(-3.1, 3.1, 200_001)
        held = np.abs(np.sin(grid) + one.value * np.cos(2 * grid) / 3) <= 1.0
        assert one.components == label(held)[1]


BAD = [
    (lambda: LagrangianSystem([q], kinetic=q.diff() ** 2 / 2, parameters={A: 1.0}, compile=False,
                              constraints=[Friction(q.diff() - 1, cap=A)]), "a slip that vanishes at rest"),
    (lambda: line(sp.cos(sp.Symbol("t"))), "depends on the time"),
    (lambda: line(A * sp.Abs(q)), "smooth functions"),
    (lambda: line(A + 5), "is at least 4"),
    (lambda: LagrangianSystem([q], kinetic=q.diff() ** 2 / 2, parameters={A: 1.0}, compile=False), "one constraint"),
    (lambda: build("incline").system, "a LagrangianSystem"),
]  # fmt: skip


@pytest.mark.parametrize(("system", "words"), BAD, ids=[words for _, words in BAD])
def test_what_cannot_be_asked_is_said(system, words):
    with pytest.raises(InputError, match=words):
        equilibria(system(), "A", 1.0, 2.0)


def test_a_range_and_a_parameter_are_checked():
    system = build("duffing_friction").system
    with pytest.raises(InputError, match="low < high"):
        equilibria(system, "A", 2.0, 1.0)
    with pytest.raises(InputError, match="parameter"):
        equilibria(system, "B", 1.0, 2.0)
    with pytest.raises(InputError, match="pairs low < high"):
        equilibria(system, "A", 1.0, 2.0, window=[(1.0, -1.0)])


def test_a_degenerate_critical_point_is_not_named():
    found = equilibria(line(A + q**4, cap=2.0), "A", 1.0, 3.0, window=[(-1.1, 1.0)])
    assert not found.complete
    assert {one.kind for one in found.bifurcations} == {"degenerate"}
    assert all(abs(one.value - 2.0) < 1e-3 and abs(one.det) < 1e-2 for one in found.bifurcations)
    assert [found.families[0].components, found.families[-1].components] == [1, 0]
    tie = found.at(2.0)  # the border touches: F = C at q = 0 alone
    assert not tie.certified
    assert "2" in tie.reason


@pytest.mark.slow
def test_thin_families_far_out_are_not_missed():
    # C = 0.01: at A = 30 the outer families are about q = +-sqrt(30), 2e-4 wide
    found = equilibria(build("duffing_friction", C=0.1).system.with_params(C=0.01), "A", -2.0, 60.0)
    assert [one.components for one in found.families] == [1, 3]
    assert found.complete
    plane = equilibria(build("duffing_plane", C=0.1).system, "A", 3.0, 5.0, window=[(-4.1, 4.0), (-1.0, 1.1)])
    small = plane.at(4.2)
    assert (small.components, small.holes, small.euler, small.certified, small.cut) == (3, 0, 3, True, False)
