"""Trees of futures against closed forms, their bounds, and what they say of themselves."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from impact_cases import Contacts, poisson, random_contacts
from scipy.integrate import solve_ivp
from small_systems import Ball
from typer.testing import CliRunner

from gaussdyn import InputError, State, build, snapshot
from gaussdyn.checker_blocks import main as check
from gaussdyn.cli import app
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.futures.explore import explore
from gaussdyn.integrate.futures.future_tree import BRANCHES, COMPLETED, COUNT, DEPTH, SAME
from gaussdyn.integrate.impact.impact_laws import Newton, Poisson
from gaussdyn.integrate.impact.reverse_chatter import chatter
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.report.tree import picture, write_tree
from gaussdyn.scenes.painleve.painleve_klein import Sliders
from gaussdyn.scenes.standing.bipod import Bipod


def speeds(tree, k=0):
    return sorted(one.end.v[k] for one in tree.ends)


def test_slider_stays_or_goes():
    tree = explore(build("associated_slider"), t_end=0.2)
    assert tree.complete
    assert {one.label for one in tree.leaves} == {"S", "+"}
    assert speeds(tree) == pytest.approx([0.0, 0.1 * 0.2], abs=1e-12)  # (F - mu N) / m = 0.1
    stays = next(one for one in tree.leaves if one.label == "S")
    assert stays.open == ((0.0, 0.2),)  # it may go at any time
    goes = next(one for one in tree.leaves if one.label == "+")
    assert goes.open == ()


def test_slider_with_stick_priority_has_one_future():
    tree = explore(build("associated_slider"), t_end=0.02, mu_s_rule="stick")
    assert [one.ending for one in tree.futures] == [COMPLETED]


def rods(*parts):
    """Rods that dig in side by side with A < 0 < b: each may lift off or slide, whatever the others do."""
    bodies, contacts, place, speed = [], [], {}, {}
    for k, (l, m, share, mu, angle, omega, slip) in enumerate(parts):
        name, c, s = f"rod{k}", l * math.cos(angle), l * math.sin(angle)
        bodies.append(PlanarBody(name=name, mass=m, inertia=share * m * l * l))
        contacts.append(PlanarContact(point=Marker(name, (-l, 0.0), "tip"), plane=HalfPlane(name="floor"), mu=mu))
        place[name], speed[name] = (5.0 * k + c, s, angle), (slip - omega * s, omega * c, omega)
    system = PlanarSystem(bodies=bodies, contacts=contacts)
    return system, system.state(place, speed)


def test_two_rods_have_four_futures_however_long_the_step():
    """Speeds of turning by scipy: constant in flight; while the tip slides N = -b / A turns the rod."""
    parts, t_end = ((0.9, 1.4, 0.3, 2.1, 1.05, 4.5, -2.0), (0.5, 0.6, 0.35, 1.8, 1.1, -6.5, -3.0)), 0.01
    system, state = rods(*parts)
    tree = explore(system, state, t_end, stepper=EventDriven())
    assert tree.complete
    turns = []
    for l, m, share, mu, angle, omega, _ in parts:

        def slope(t, y, l=l, m=m, share=share, mu=mu):
            c, s = math.cos(y[0]), math.sin(y[0])
            N = -m * (l * y[1] ** 2 * s - 9.81) / (1.0 + c * (c - mu * s) / share)
            return [y[1], N * (mu * s - c) / (share * m * l)]

        slid = solve_ivp(slope, (0.0, t_end), [angle, omega], method="DOP853", rtol=1e-12, atol=1e-12).y[1, -1]
        turns.append({"D": omega, "L": slid})
    found = {one.label: (one.end.v[2], one.end.v[5]) for one in tree.ends}
    assert set(found) == {"DD", "DL", "LD", "LL"}
    for label, speeds_of in found.items():
        assert speeds_of == pytest.approx([turns[0][label[0]], turns[1][label[1]]], abs=1e-10)


@pytest.mark.parametrize("force", [-1.0, 1.0])
def test_two_sliders_and_a_link(force):
    scene = build("painleve_klein", force=force)
    exact = Sliders(mu=1.5, phi=1.0, force=force, mass=1.0).slides(1.0)
    tree = explore(scene, t_end=0.05)
    if force > 0.0:  # no acceleration: the stepper stops the sliders at once
        assert tree.futures[0].without[0][0] == 0.0
        assert len(tree.futures) == 1
        return
    assert tree.complete
    assert speeds(tree) == pytest.approx([1.0 + a * 0.05 for a in exact], abs=1e-9)


@pytest.mark.slow
def test_bipod_from_rest_has_three_futures():
    scene = build("bipod", v0=0.0, mu1=0.9)
    exact = Bipod(a=1.0, h=2.0, weight=1.0, mu1=0.9, mu2=0.4, force=1.0).rests()
    assert len(exact) == 3
    tree = explore(scene, t_end=0.05)
    assert tree.complete
    assert tree.futures[0].outcome.count == 3
    assert speeds(tree) == pytest.approx(sorted(a * 0.05 for a in exact), abs=1e-9)


def test_event_driven_futures_are_those_of_time_stepping():
    """From rest, at slip, and with contacts that pull: every branch is taken of itself, to rounding."""
    for name, params, exact in (
        ("bipod", {"v0": 0.0, "mu1": 0.9}, Bipod(a=1.0, h=2.0, weight=1.0, mu1=0.9, mu2=0.4, force=1.0).rests()),
        ("painleve_klein", {"force": -1.0}, Sliders(mu=1.5, phi=1.0, force=-1.0, mass=1.0).slides(1.0)),
        ("associated_slider", {}, [0.0, 0.1]),
    ):
        scene = build(name, **params)
        tree = explore(scene, t_end=0.01, stepper=EventDriven(dt=5e-3))
        assert tree.complete
        assert speeds(tree) == pytest.approx(sorted(scene.state.v[0] + a * 0.01 for a in exact), abs=1e-9)


def test_rod_flies_or_slides():
    scene = build("painleve_rod", omega=3.5, angle=1.0, mu=2.0)
    tree = explore(scene, t_end=0.01)
    flies, slides = tree.leaves
    assert (flies.label, slides.label) == ("D", "L")
    assert flies.end.q[1] == pytest.approx(
        scene.state.q[1] + scene.state.v[1] * 0.01 - 0.5 * 9.81 * 0.01**2, abs=1e-7
    )  # fmt: skip
    row = {r.id: r for r in scene.system.rows(slides.end.t, slides.end.q, slides.end.v)}["rod.tip/floor"]
    assert abs(row.gap) <= 1e-9
    assert slides.open[0][0] == 0.0


def test_the_branching_carries_a_certificate_that_verifies(tmp_path):
    tree = explore(build("bipod"), t_end=0.01)
    path = tree.futures[0].outcome.certificate.save(tmp_path / "proof.json")
    assert check([str(path)]) == 0


def test_bounds_cut_off_and_say_so():
    scene = build("bipod", v0=0.0, mu1=0.9)
    shallow = explore(scene, t_end=0.01, depth=0)
    assert [one.ending for one in shallow.leaves] == [DEPTH] * 3
    assert not shallow.complete
    few = explore(scene, t_end=0.01, most=3)
    assert few.futures[0].ending == COUNT
    assert len(few.futures) == 3
    assert "only 2 of 3" in few.futures[0].reason


class Frozen:
    """A stepper that lets nothing move, so that all branches end in the same state."""

    name = "frozen"

    def advance(self, system, state, t_max, *, control=None):
        step = MoreauJean(dt=0.01).advance(system, state, t_max, control=control)
        object.__setattr__(step, "state", State(t=step.state.t, q=[0.0, 0.0], v=[0.0, 0.0]))
        return step

    def settings(self):
        return {"name": self.name}


def test_the_same_state_is_not_counted_twice():
    tree = explore(build("associated_slider"), t_end=0.01, stepper=Frozen())
    assert sorted(one.ending for one in tree.leaves) == [COMPLETED, SAME]
    assert len(tree.ends) == 1
    assert [one.followed for one in tree.leaves] == [True, False]
    assert not tree.complete
    assert any("NOT FOLLOWED" in line for line in tree.lines())


def test_what_is_unique_or_in_space_is_one_future():
    for scene in (build("incline"), build("cue_ball")):
        tree = explore(scene, t_end=5 * scene.dt)
        assert [one.ending for one in tree.futures] == [COMPLETED]
    tree = explore(Ball(eps=0.5), State(q=[0.01], v=[0.0]), 0.1)
    assert tree.complete


def test_six_futures_of_a_groove():
    tree = explore(build("v_groove"), t_end=6e-4)
    assert len(tree.leaves) == 6
    assert tree.complete


class Pulled(Contacts):
    """One contact that a force pulls along while it presses it down."""

    def force(self, t, q, v, control=None):
        J, W = self.J[0], self.W
        return J.T @ np.linalg.solve(W, np.array([-1.0, 4.0]))


def test_bounces_grow_out_of_rest_as_the_map_says():
    L = np.linalg.cholesky(np.array([[1.0, 0.5], [0.5, 0.4]]))
    system = Pulled(np.eye(2), [L], mu=[3.0])
    (found,) = chatter(snapshot(system, system.start([0.0, 0.0])), Poisson(eps_n=0.8))
    slip, factor = 0.0, 0.0
    for _ in range(24):
        (u,) = poisson(system.W, np.array([-1.0, slip]), system.mu, 0.8)
        slip, factor = u[1] / u[0] + 2.0 * 4.0, u[0]
    assert factor > 1.0
    assert found.reversed
    assert found.growth == pytest.approx(factor, rel=1e-9)
    (newton,) = chatter(snapshot(system, system.start([0.0, 0.0])), Newton(eps_n=0.8))
    assert newton.growth == pytest.approx(0.8, rel=1e-9)
    assert not newton.reversed


class Loaded(Contacts):
    """Random contacts at rest under a random force."""

    load = np.zeros(0)

    def force(self, t, q, v, control=None):
        return self.load


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_contacts_end(seed):
    rng = np.random.default_rng(seed)
    given, _ = random_contacts(rng, 2, 2, spread=3.0)
    system = Loaded(given.M, given.J, given.mu)
    system.load = 3.0 * rng.normal(size=system.nv)
    tree = explore(system, system.start(np.zeros(system.nv)), 0.01, depth=2, most=12)
    assert len(tree.futures) <= 12
    assert all(one.end.t <= 0.01 + 1e-12 for one in tree.futures)


def test_page_holds_the_tree_and_its_proof(tmp_path):
    tree = explore(build("bipod", v0=0.0, mu1=0.9), t_end=0.01)
    text = write_tree(tmp_path / "tree.html", tree, title="Bipod").read_text()
    assert text.count("<circle") == 4
    assert 'download="bipod-branching-0.json"' in text
    assert not re.search(r"(src|href)=\"http", text)
    assert "3 different futures reach" in text
    assert picture(tree).count("reached the end") == 3


def test_command(tmp_path):
    page = tmp_path / "tree.html"
    words = ["explore", "associated_slider", "--t-end", "0.02", "--json", "--report", str(page)]
    answer = CliRunner().invoke(app, words)
    document = json.loads(answer.stdout)
    assert answer.exit_code == 0
    assert document["schema"] == "gaussdyn/explore/1"
    assert (document["complete"], document["report"]) == (True, str(page))
    assert [one["ending"] for one in document["futures"]] == [BRANCHES, COMPLETED, COMPLETED]
    assert document["futures"][0]["children"] == [1, 2]
    assert page.exists()
    plain = CliRunner().invoke(app, ["explore", "associated_slider", "--t-end", "0.02", "--most", "2"])
    assert plain.exit_code == 3
    assert "not complete" in plain.stdout


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"depth": -1}, "depth"), ({"most": 0}, "most"), ({"depth": True}, "depth"), ({"tol": -1.0}, "tol"),
        ({"mu_s_rule": "none"}, "mu_s_rule"), ({"law": Poisson}, "law"), ({"stepper": MoreauJean}, "stepper"),
        ({"t_end": -1.0}, "t_end"),
    ],
)  # fmt: skip
def test_bad_input_is_named(wrong, named):
    with pytest.raises(InputError, match=named):
        explore(build("bipod"), **wrong)


class Slab(Contacts):
    """A body on two contacts of a plane, under a constant force."""

    def force(self, t, q, v, control=None):
        return np.array([-6.07, -6.65, -0.45])

    def rows(self, t, q, v):
        return tuple(row.but(gap=float(row.J[0] @ q)) for row in super().rows(t, q, v))


def by_hand(system, v):
    """The accelerations of a body that slides on two contacts: each leaves or slides on, Newton's laws solved."""
    found, push = {}, system.force(0.0, None, v)
    for modes in ("DD", "DL", "LD", "LL"):
        closed = [k for k, mode in enumerate(modes) if mode == "L"]
        N = np.array([system.J[k][0] for k in closed]).reshape(-1, 3)
        F = np.array([J[0] - mu * np.sign(J[1] @ v) * J[1] for J, mu in zip(system.J, system.mu, strict=True)])[closed]
        r = np.linalg.solve(N @ np.linalg.solve(system.M, F.T), -N @ np.linalg.solve(system.M, push))
        a = np.linalg.solve(system.M, push + F.T @ r)
        if (r >= 0.0).all() and all(system.J[k][0] @ a >= 0.0 for k in range(2) if k not in closed):
            found[modes] = a
    return found


@pytest.mark.parametrize("stepper", [EventDriven(), MoreauJean(dt=1e-3)])
def test_both_futures_of_a_sliding_slab_are_in_the_tree_however_short_it_is(stepper):
    J = [[[0.35, 0.94, -0.24], [0.94, -0.35, 0.08]], [[0.35, 0.94, -0.71], [0.94, -0.35, -1.12]]]
    system = Slab(np.diag([1.07, 1.07, 0.15]), np.array(J), [3.93, 3.86])
    v = 0.2 * np.array([0.94, -0.35, 0.0])
    known = by_hand(system, v)
    assert set(known) == {"LD", "LL"}
    tree = explore(system, system.start(v), 1e-3, stepper=stepper)
    assert tree.futures[0].outcome.count == 2
    assert {one.label for one in tree.futures if one.parent == 0} == {"LD", "LL"}
    assert sum(one.followed for one in tree.futures if one.parent == 0) == 2
    assert tree.complete
    for one in tree.ends:
        if one.followed and one.parent == 0:
            assert one.end.v - v == pytest.approx(1e-3 * known[one.label], abs=1e-4 * np.abs(known[one.label]).max())
