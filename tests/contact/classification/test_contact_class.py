"""Classes of contacts against closed forms and a dense solve."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from impact_cases import random_contacts
from small_systems import Plain
from typer.testing import CliRunner

from gaussdyn import InputError, State, build, snapshot
from gaussdyn.cli import app
from gaussdyn.contact.classification.contact_class import contact_classes
from gaussdyn.mechanics.rows import Row


def classes(system, state):
    return {one.id: one for one in contact_classes(snapshot(system.near(state.t, state.q, state.v, 0.0), state))}


def of_scene(name, **params):
    scene = build(name, **params)
    return classes(scene.system, scene.state)


def test_rod_depends_on_its_friction_by_a_h_over_the_inertia():
    for angle in (0.4, 1.0, math.pi / 2, 2.5):
        (rod,) = of_scene("painleve_rod", angle=angle).values()
        a, h = math.cos(angle), math.sin(angle)
        assert rod.coupling == pytest.approx(abs(a * h) / (1.0 / 3.0 + a * a), abs=1e-10)
        assert (rod.dimension, rod.detachable, rod.closed) == (2, True, True)
        assert rod.associated == (angle == math.pi / 2)
    assert rod.proof == "exact"


def test_bipod_with_height_is_not_associated_and_bilateral():
    for foot in of_scene("bipod", a=2.0, h=0.5).values():
        assert foot.coupling == pytest.approx(0.5 / (2.0 * 2.0), abs=1e-10)
        assert not foot.associated
        assert not foot.detachable
        assert len(foot.depends_on) == 2


def test_slider_and_ball_are_associated_exactly():
    (slider,) = of_scene("associated_slider").values()
    (ball,) = of_scene("cue_ball").values()
    assert (slider.dimension, ball.dimension) == (2, 3)
    for one in (slider, ball):
        assert (one.associated, one.coupling, one.proof, one.depends_on) == (True, 0.0, "exact", ())
    assert (slider.mu, slider.mu_s) == (0.3, 0.5)


def test_link_between_guides():
    (rough,) = of_scene("painleve_klein", phi=1.0).values()
    assert rough.coupling == pytest.approx(math.tan(1.0) / 2.0, abs=1e-10)  # k / mu
    assert not rough.detachable


def test_frictionless_contacts_have_one_dimension():
    for one in of_scene("painleve_rod", mu=0.0).values():
        assert (one.dimension, one.associated, one.proof, one.mu) == (1, True, "exact", 0.0)


class Body(Plain):
    """A body in the plane on two feet at height h below its mass centre: x, y, angle."""

    nq = nv = 3

    def __init__(self, h, gap=0.0):
        self.h, self.gap = h, gap

    def rows(self, t, q, v):
        found = []
        for k, x in enumerate((-1.0, 1.0)):
            J = np.array([[0.0, 1.0, x], [1.0, 0.0, self.h]])
            found.append(Row(id=f"foot{k}", kind="contact", gap=k * self.gap, J=J, rate=J @ v, drift=[0, 0], mu=0.4))
        return tuple(found)


def test_a_thin_plate_is_associated_and_a_thick_one_is_not():
    state = State(q=np.zeros(3), v=np.zeros(3))
    for h in (0.0, 0.5):
        for one in classes(Body(h), state).values():
            assert one.associated == (h == 0.0)
            assert one.coupling == pytest.approx(h / 2.0)
            assert one.proof == "exact"


def test_an_open_contact_is_classed_as_if_it_closed():
    state = State(q=np.zeros(3), v=np.zeros(3))
    found = classes(Body(0.5, gap=0.1), state)
    assert [one.closed for one in found.values()] == [True, False]
    assert found["foot0"].coupling == pytest.approx(0.5 / 2.0)  # alone: x h / (1 + x^2)
    assert found["foot0"].depends_on == ("foot0",)
    assert found["foot1"].depends_on == ("foot0", "foot1")
    assert found["foot1"].gap == 0.1


def test_redundant_contacts_are_classed_in_doubles():
    found = of_scene("four_legs")
    assert {one.proof for one in found.values()} == {"numerical"}
    assert not any(one.associated for one in found.values())


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 3), dim=st.sampled_from([2, 3]))
def test_coupling_is_the_change_of_the_normal_force(seed, n, dim):
    """Push at one tangent with unit force: the normal forces that keep all normal accelerations answer."""
    system, v = random_contacts(np.random.default_rng(seed), n, dim)
    found = list(classes(system, system.start(v)).values())
    N = np.array([J[0] for J in system.J])
    W = N @ np.linalg.solve(system.M, N.T)
    for i, one in enumerate(found):
        largest = 0.0
        for J in system.J:
            answers = -np.linalg.solve(W, N @ np.linalg.solve(system.M, J[1:].T))
            largest = max(largest, np.linalg.norm(answers[i]))
        assert one.coupling == pytest.approx(largest, rel=1e-6, abs=1e-7)
        assert one.associated == (largest <= 1e-9)


def test_command_prints_one_document():
    answer = CliRunner().invoke(app, ["contacts", "bipod", "--set", "h=1", "--json"])
    document = json.loads(answer.stdout)
    assert answer.exit_code == 0
    assert document["schema"] == "gaussdyn/contacts/1"
    assert (document["scene"], document["params"]["h"], document["t"]) == ("bipod", 1.0, 0.0)
    assert [one["id"] for one in document["results"]] == ["body.left/floor", "body.right/floor"]
    first = document["results"][0]
    assert (first["dimension"], first["associated"], first["detachable"], first["proof"]) == (2, False, False, "exact")
    assert first["coupling"] == pytest.approx(0.5)


def test_command_for_people_and_later_times():
    runner = CliRunner()
    assert "no (its own friction)" in runner.invoke(app, ["contacts", "painleve_rod"]).stdout
    assert "2 contacts" in runner.invoke(app, ["contacts", "bipod", "--set", "v0=0", "--set", "force=0.1"]).stdout
    later = json.loads(runner.invoke(app, ["contacts", "zeno_ball", "--at", "0.01", "--json"]).stdout)
    assert later["t"] == 0.01


def test_bad_input():
    with pytest.raises(InputError, match="dynamics"):
        contact_classes(build("bipod").system)
    answer = CliRunner().invoke(app, ["contacts", "nowhere"])
    assert isinstance(answer.exception, InputError)
    answer = CliRunner().invoke(app, ["contacts", "bipod", "--at", "-1"])
    assert isinstance(answer.exception, InputError)
