"""Scenes with none, several or a continuum of motions: numbers of the theory, proofs, and runs over the whole range."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from evidence import examples, first

from gaussdyn import checker
from gaussdyn.contact.outcome.outcome import outcome
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.integrate.simulate import simulate
from gaussdyn.scenes.catalogue import build, parameters
from gaussdyn.scenes.compare import compare
from gaussdyn.scenes.painleve.painleve_klein import Sliders
from gaussdyn.scenes.references.all_modes import motions_from_rest
from gaussdyn.scenes.references.planar_contact import OneContact
from gaussdyn.scenes.references.straight_motion import Line
from gaussdyn.scenes.standing.bipod import Bipod

NAMES = (
    "associated_slider", "bipod", "ivanov_rod", "painleve_klein", "painleve_rod", "table", "v_groove", "wedge",
)  # fmt: skip


def found(name, rule="all", **params):
    scene = build(name, **params)
    return outcome(snapshot(scene.system, scene.state), mu_s_rule=rule)


def count(name, **params):
    answer = found(name, **params)
    assert answer.certificate.verify()
    return answer.count


def modes(answer):
    return sorted(name for component in answer.components for name in component.modes)


@pytest.mark.parametrize(("degrees", "omega", "expected"), [(40, 0.0, 1), (40, 1.5, 1), (60, 0.0, 0), (60, 0.9, 2)])
def test_uniform_rod_in_its_four_regions(degrees, omega, expected):
    """The rod of radius of gyration 1 (l = sqrt 3) under unit gravity, mu = 1.4."""
    params = {"angle": math.radians(degrees), "omega": omega, "mu": 1.4, "half_length": math.sqrt(3.0), "gravity": 1.0}
    assert count("painleve_rod", **params) == expected
    mirrored = params | {"angle": math.pi - params["angle"], "slip": 1.0}
    assert count("painleve_rod", **mirrored) == expected
    assert count("painleve_rod", **params | {"slip": 1.0}) == 1


@pytest.mark.parametrize(
    ("mu", "low", "high"), [(1.4, 55.5858108, 69.9518670), (1.5, 50.6415982, 73.0484694), (2.0, 37.3773681, 79.1876830)]
)
def test_angles_without_motion(mu, low, high):
    for angle, inside in itertools.product((low, high), (-1, 1)):
        degrees = angle + inside * 2e-7
        expected = 0 if low < degrees < high else 1
        assert count("painleve_rod", angle=math.radians(degrees), mu=mu) == expected


@pytest.mark.parametrize(("force", "expected"), [(-1.0, 0), (1.0, 2)])
def test_unilateral_rod_beyond_the_fold(force, expected):
    assert count("ivanov_rod", mu=2.0, slip=-1.0, force_y=force) == expected


@pytest.mark.parametrize(("slip", "P1", "expected"), [(1, 1, 2), (1, -1, 0), (-1, 1, 0), (-1, -1, 2)])
def test_bilateral_rod_beyond_the_fold(slip, P1, expected):
    assert count("ivanov_rod", mu=2.0, slip=float(slip), force_y=-float(P1), bilateral=1.0) == expected


def test_critical_friction_of_the_rod():
    critical = 61 / 48
    for mu, expected in ((critical * (1 - 1e-8), 1), (critical * (1 + 1e-8), 0)):
        assert count("ivanov_rod", a=1.2, h=1.6, mu=mu, slip=-1.0, force_y=-1.0) == expected


@pytest.mark.parametrize(("bilateral", "expected"), [(0.0, ["-", "D", "S"]), (1.0, ["-", "S", "m"])])
def test_three_motions_of_the_rod_from_rest(bilateral, expected):
    answer = found("ivanov_rod", mu=2.0, slip=0.0, force_x=-4.0, force_y=1.0, bilateral=bilateral)
    assert modes(answer) == expected
    assert answer.certificate.verify()


@pytest.mark.parametrize(
    ("mu1", "mu2", "force", "expected"), [(0.25, 0.25, 0.5, 1), (0.75, 0.6, 1.0, 0), (0.75, 0.4, 1.0, 2)]
)
def test_bipod_sliding_to_the_right(mu1, mu2, force, expected):
    assert count("bipod", a=1.0, h=2.0, weight=1.0, mu1=mu1, mu2=mu2, force=force, v0=1.0) == expected


def test_bipod_from_rest_has_three_accelerations():
    scene = build("bipod", a=1.0, h=2.0, weight=1.0, mu1=0.75, mu2=0.4, force=5.0, v0=0.0)
    answer = outcome(snapshot(scene.system, scene.state))
    along = sorted(float(component.point[2]) for component in answer.components)  # a_t of the left foot
    assert along == pytest.approx([0.0, 23 / 6, 247 / 54], abs=1e-9)
    assert answer.certificate.verify()


@pytest.mark.parametrize("phi", [0.3, 1.0, 1.3])
def test_painleve_klein_threshold(phi):
    critical = 2.0 / math.tan(phi)
    if critical * 1.01 > parameters("painleve_klein")["mu"].max:
        pytest.skip("beyond the range of mu")
    for force, beyond in ((1.0, 0), (-1.0, 2)):
        assert count("painleve_klein", phi=phi, mu=0.99 * critical, force=force) == 1
        assert count("painleve_klein", phi=phi, mu=1.01 * critical, force=force) == beyond


def test_associated_slider_and_the_two_rules():
    both, stick = found("associated_slider"), found("associated_slider", rule="stick")
    assert (both.count, sorted(modes(both))) == (2, ["+", "S"])
    assert (stick.count, modes(stick)) == (1, ["S"])
    assert found("associated_slider", v0=1.0).count == 1


def test_wedge_is_a_continuum():
    rest = found("wedge", v0=0.0)
    heights = [float(v[-1]) for component in rest.components for hull in component.hulls for v in hull.vertices]
    assert (str(rest.verdict), min(heights), max(heights)) == ("CONTINUUM", -1.0, 0.0)
    for v0, sign in ((-1.0, 1.0), (1.0, -1.0)):
        answer = found("wedge", v0=v0)
        assert str(answer.verdict) == "CONTINUUM"
        rays = [ray for component in answer.components for hull in component.hulls for ray in hull.rays]
        assert rays
        assert all(sign * ray[-1] > 0 for ray in rays)
        assert answer.certificate.verify()
    assert found("wedge", v0=0.0, pairs=2.0).count == 1


def test_table_has_one_acceleration_and_many_forces():
    for v0, force in ((0.0, 1.0), (1.0, 2.0)):
        answer = found("table", v0=v0, force=force)
        assert (str(answer.verdict), answer.count) == ("UNIQUE", 1)
        assert not answer.components[0].forces_unique


def test_v_groove_has_six_motions(tmp_path):
    answer = found("v_groove")
    assert answer.count == 6
    path = answer.certificate.save(tmp_path / "six.json")
    assert checker.verdict(path.read_bytes).startswith("VALID")


# --- closed forms against independent counts ---


def test_closed_form_of_one_contact_against_linear_programs():
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(150):
        L = rng.normal(size=(2, 2))
        W = L @ L.T + 0.02 * np.eye(2)
        q, mu = rng.normal(size=2), float(rng.uniform(0.1, 4.0))
        contact = OneContact(W_NN=W[0, 0], W_NT=W[0, 1], W_TT=W[1, 1], free_n=q[0], free_t=q[1], mu=mu)
        reference = motions_from_rest(W, q, mu)
        if reference.margin > 1e-6:
            assert contact.count(0.0) == len(reference.found)
            seen.add(contact.count(0.0))
    assert seen == {1, 3}


@pytest.mark.drawn
@pytest.mark.parametrize("s", [1.0, -1.0])
def test_closed_forms_on_a_line_against_sign_changes(s):
    """Every acceleration is a zero of a piecewise linear function; count its sign changes on a fine grid."""
    rng, w = np.random.default_rng(5), np.linspace(-400.0, 400.0, 800_001)
    for _ in range(examples(60, fast=20)):
        a, h, P, mu1, mu2, F = rng.uniform([0.5, 0.2, 0.2, 0.01, 0.01, -6], [3, 3, 5, 2, 2, 6])
        bipod = Bipod(a=a, h=h, weight=P, mu1=mu1, mu2=mu2, force=F)
        if bipod.margin(s) < 0.02:
            continue
        N1, N2 = (0.5 * (P + e * h / a * (F - w)) for e in (-1, 1))
        rest = F - w - s * (mu1 * abs(N1) + mu2 * abs(N2))
        assert len(bipod.slides(s)) == int((np.sign(rest[1:]) != np.sign(rest[:-1])).sum())
    for _ in range(examples(60, fast=20)):
        mu, phi, F, m = rng.uniform([0.01, 0.1, -5, 0.2], [5, 1.4, 5, 5])
        sliders = Sliders(mu=mu, phi=phi, force=F, mass=m)
        if sliders.margin(s) < 0.02:
            continue
        S = (F - m * w) / math.cos(phi)
        rest = S * math.cos(phi) - mu * s * abs(S) * math.sin(phi) - m * w
        assert len(sliders.slides(s)) == int((np.sign(rest[1:]) != np.sign(rest[:-1])).sum())


def test_motion_along_a_line():
    brake = Line(slides=lambda s: [1.0 - 3.0 * s], rests=lambda: [0.0])
    end = brake.travel(2.0, 5.0)
    assert (end.x, end.v) == (1.0, 0.0)
    assert brake.travel(2.0, 0.5).v == 1.0
    turns = Line(slides=lambda s: [-5.0 - s], rests=lambda: [-4.0])
    assert turns.travel(6.0, 2.0).v == -4.0
    jam = Line(slides=lambda s: [], rests=lambda: [0.0])
    assert (jam.travel(2.0, 1.0).x, jam.travel(2.0, 1.0).v) == (0.0, 0.0)
    assert Line(slides=lambda s: [0.0, 1.0], rests=lambda: [0.0]).travel(1.0, 1.0) is None


# --- runs ---


def draws(name, number, seed):
    rng, known = np.random.default_rng(seed), parameters(name)
    ends = [{}, {key: p.min for key, p in known.items()}, {key: p.max for key, p in known.items()}]
    return ends + [{key: float(rng.uniform(p.min, p.max)) for key, p in known.items()} for _ in range(number)]


def check_runs(name, cases):
    for params in cases:
        scene = build(name, **params)
        run = simulate(scene, examine="cheap")
        assert run.status == "COMPLETED", (params, run.stop)
        for one in compare(scene, run):
            assert one["pass"], (params, one)


@pytest.mark.drawn
@pytest.mark.parametrize("name", NAMES)
def test_runs_meet_their_exact_answers(name):
    check_runs(name, draws(name, 1, 1)[-examples(4, fast=1) :])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_runs_meet_their_exact_answers_over_the_whole_range(name):
    known = parameters(name)
    one_at_a_time = [{key: end} for key, p in known.items() for end in (p.min, p.max)]
    zeros = [{key: 0.0} for key, p in known.items() if p.min < 0.0 < p.max]
    check_runs(name, one_at_a_time + zeros)


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_runs_meet_their_exact_answers_anywhere(name):
    check_runs(name, draws(name, 60, 2))


@pytest.mark.parametrize("name", first(2, ["ivanov_rod", "bipod", "painleve_rod", "painleve_klein"]))
def test_a_wrong_answer_is_noticed(name):
    """The checks compare with something: a run with other friction misses them."""
    key = "mu1" if name == "bipod" else "mu"
    right, wrong = ({key: 0.2}, {key: 0.3})
    scene, other = build(name, **right), simulate(build(name, **wrong))
    misses = [one for one in compare(scene, other) if not one["pass"]]
    assert misses
