"""The planar system as a whole: forces against energies, names, bad input, spec and drawing."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.mechanics.check import check_system
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody, Point, box, fixed
from gaussdyn.mechanics.planar.contacts import DryFriction, HalfPlane, PlanarContact, Rod, String
from gaussdyn.mechanics.planar.forces import Drag, Load, Spring
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.system import System

FLOOR = HalfPlane(name="floor")


def everything():
    plank = PlanarBody(name="plank", mass=2.0, inertia=0.3, outline=((-1.0, 0.0), (1.0, 0.0)))
    wheel = PlanarBody(name="wheel", mass=1.0, inertia=0.2, radius=0.5)
    end, hub = Marker("plank", (1.0, 0.0), "end"), Marker("wheel", (0.1, 0.0))
    return PlanarSystem(
        bodies=[plank, Point(name="bob", mass=0.5), wheel, box("crate", mass=3.0, width=0.4, height=0.6)],
        contacts=[
            PlanarContact(point=Marker("wheel"), plane=FLOOR, mu=0.4, radius=0.5),
            PlanarContact(point=end, plane=HalfPlane(name="rim", point=(0.0, 0.3), body="crate"), mu=0.1),
            String(a=Marker("bob"), b=end, length=0.7),
            Rod(a=hub, b=fixed(0.0, 3.0, "hook"), length=2.0),
            DryFriction(point=end, direction=(0.0, 2.0), cap=1.0),
        ],
        forces=[
            Spring(a=end, b=hub, stiffness=30.0, length=0.4, damping=2.0),
            Spring(a=Marker("bob"), b=fixed(0.2, 0.1), stiffness=5.0),
            Drag(point=end, damping=0.3),
            Load(point=hub, force_xy=(1.0, -2.0), torque=0.5),
        ],
        gravity=(0.5, -9.0),
    )


@pytest.fixture
def state():
    rng = np.random.default_rng(4)
    return rng.normal(size=11), rng.normal(size=11)


def test_it_is_a_system(state):
    system = everything()
    assert isinstance(system, System)
    assert (system.nq, system.nv) == (11, 11)
    np.testing.assert_array_equal(np.diag(system.mass(state[0]))[:6], [2.0, 2.0, 0.3, 0.5, 0.5, 1.0])
    np.testing.assert_array_equal(system.qdot(*state), state[1])


def test_check_system_finds_nothing_wrong():
    report = check_system(everything(), samples=3)
    assert report.ok, str(report)


def test_rows_come_sorted_by_id_whatever_the_order_given(state):
    system = everything()
    ids = [row.id for row in system.rows(0.0, *state)]
    assert ids == sorted(ids)
    assert ids == ["bob~plank.end", "plank.end/rim", "plank.end:dry", "wheel/floor", "wheel~ground.hook"]
    turned = PlanarSystem(bodies=system.bodies, contacts=system.contacts[::-1], forces=system.forces)
    assert [row.id for row in turned.rows(0.0, *state)] == ids


def test_conservative_force_is_minus_the_gradient_of_the_potential(state):
    system = everything()
    still = PlanarSystem(bodies=system.bodies, forces=system.forces[:2], gravity=system.gravity)
    q, h = state[0], 1e-5
    steps = h * np.eye(11)
    slope = np.array([(still.potential(0.0, q + e) - still.potential(0.0, q - e)) / (2 * h) for e in steps])
    np.testing.assert_allclose(still.force(0.0, q, np.zeros(11)), -slope, atol=1e-7)


def test_power_is_what_the_potential_leaves_out(state):
    """h . v = power - d potential / dt, with every kind of force and a control."""
    system, (q, v), control, h = everything(), state, np.arange(11.0), 1e-5
    rate = (system.potential(0.0, q + h * v) - system.potential(0.0, q - h * v)) / (2 * h)
    work = system.force(0.0, q, v, control) @ v
    assert work == pytest.approx(system.power(0.0, q, v, control) - rate, abs=1e-7)
    assert system.power(0.0, q, np.zeros(11)) == 0.0


def test_damper_takes_energy_along_its_line_only():
    ball, anchor = Marker("ball"), fixed(0.0, 0.0)
    spring = Spring(a=ball, b=anchor, stiffness=0.0, damping=3.0)
    system = PlanarSystem(bodies=[Point(name="ball", mass=1.0)], forces=[spring], gravity=(0.0, 0.0))
    q = np.array([2.0, 0.0])
    np.testing.assert_array_equal(system.force(0.0, q, np.array([1.0, 5.0])), [-3.0, 0.0])
    assert system.power(0.0, q, np.array([1.0, 5.0])) == -3.0
    np.testing.assert_array_equal(system.force(0.0, 0 * q, np.array([1.0, 5.0])), [0.0, 0.0])
    assert system.power(0.0, 0 * q, np.array([1.0, 5.0])) == 0.0


def test_state_by_names():
    system = everything()
    state = system.state({"wheel": (1.0, 2.0, 0.3)}, {"bob": (4.0, 5.0)}, t=2.0)
    np.testing.assert_array_equal(state.q, [0, 0, 0, 0, 0, 1.0, 2.0, 0.3, 0, 0, 0])
    np.testing.assert_array_equal(state.v, [0, 0, 0, 4.0, 5.0, 0, 0, 0, 0, 0, 0])
    assert state.t == 2.0
    assert (system.index("wheel", "angle"), system.index("bob", "y")) == (7, 4)


def test_spec_is_plain_data_and_builds_the_same_system(state):
    system = everything()
    again = PlanarSystem.from_spec(json.loads(json.dumps(system.spec())))
    pickled = pickle.loads(pickle.dumps(system))
    for other in (again, pickled):
        assert other.spec() == system.spec()
        np.testing.assert_array_equal(other.force(0.0, *state), system.force(0.0, *state))
        for row, copy in zip(system.rows(0.0, *state), other.rows(0.0, *state), strict=True):
            np.testing.assert_array_equal(row.J, copy.J)


def test_drawables_follow_the_pose(state):
    shapes = everything().drawables(state[0])
    kinds = [(shape["shape"], shape["name"]) for shape in shapes]
    assert kinds[:4] == [("segment", "plank"), ("point", "bob"), ("disc", "wheel"), ("polygon", "crate")]
    assert ("halfplane", "floor") in kinds
    assert ("segment", "bob~plank.end") in kinds
    x, y, angle = state[0][:3]
    end = [x + np.cos(angle), y + np.sin(angle)]
    np.testing.assert_allclose(shapes[0]["ends"][1], end, atol=1e-15)
    json.dumps(shapes, allow_nan=False)


def test_a_half_plane_is_drawn_unless_the_body_that_carries_it_has_a_shape():
    bodies = [box("crate", mass=1.0, width=1.0, height=1.0), PlanarBody(name="bare", mass=1.0, inertia=1.0)]
    planes = [HalfPlane(name=f"on_{body}", body=body) for body in ("crate", "bare")]
    tip = PlanarBody(name="tip", mass=1.0, inertia=1.0)
    contacts = [PlanarContact(point=Marker("tip"), plane=plane) for plane in planes]
    system = PlanarSystem(bodies=[*bodies, tip], contacts=contacts)
    drawn = [shape["name"] for shape in system.drawables(np.zeros(9)) if shape["shape"] == "halfplane"]
    assert drawn == ["on_bare"]


def test_normals_are_scaled_and_zero_normals_refused():
    assert HalfPlane(name="slope", normal=(3.0, 4.0)).normal == (0.6, 0.8)
    with pytest.raises(InputError, match=r"normal of slope.*not both zero"):
        HalfPlane(name="slope", normal=(0.0, 0.0))


@pytest.mark.parametrize("mass", [0.0, -1.0, np.nan, np.inf, "heavy", True])
def test_mass_must_be_positive(mass):
    with pytest.raises(InputError, match="mass of ball"):
        Point(name="ball", mass=mass)


def test_inertia_must_be_positive():
    with pytest.raises(InputError, match="inertia of rod"):
        PlanarBody(name="rod", mass=1.0, inertia=0.0)


@pytest.mark.parametrize("name", ["", "ground", "a/b", "a.b", "a b", 3])
def test_names_must_be_words(name):
    with pytest.raises(InputError, match="name of a point"):
        Point(name=name, mass=1.0)


def _with(**options):
    return PlanarSystem(bodies=[Point(name="ball", mass=1.0), PlanarBody(name="rod", mass=1.0, inertia=1.0)], **options)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: PlanarSystem(bodies=[]), "at least one"),
        (lambda: PlanarSystem(bodies=["ball"]), "Point or PlanarBody"),
        (lambda: PlanarSystem(bodies=[Point(name="x", mass=1.0)] * 2), "two bodies called 'x'"),
        (lambda: _with(contacts=[PlanarContact(point=Marker("bal"), plane=FLOOR)]), "Did you mean ball"),
        (lambda: _with(contacts=[PlanarContact(point=Marker("ball", (1.0, 0.0)), plane=FLOOR)]), "on a point mass"),
        (lambda: _with(contacts=[PlanarContact(point=Marker("ball"), plane=FLOOR)] * 2), "two called 'ball/floor'"),
        (lambda: _with(contacts=[FLOOR]), "PlanarContact, String, Rod, DryFriction"),
        (lambda: _with(forces=[Point(name="x", mass=1.0)]), "Spring, Drag, Load"),
        (lambda: _with(gravity=(0.0, np.nan)), "gravity"),
        (lambda: PlanarContact(point=Marker("ball"), plane=FLOOR, mu=-0.1), "mu of ball/floor"),
        (lambda: PlanarContact(point=Marker("ball"), plane=FLOOR, mu=0.3, mu_s=0.2), "mu_s of ball/floor"),
        (lambda: PlanarContact(point=Marker("ball"), plane=FLOOR, eps_n=1.1), "eps_n of ball/floor"),
        (lambda: Marker("ball", (np.nan, 0.0)), "at of marker"),
        (lambda: String(a=Marker("ball"), b=Marker("ball"), length=1.0), "two different bodies"),
        (lambda: Rod(a=Marker("ball"), b=fixed(0.0, 0.0), length=0.0), "length of ball~ground"),
        (lambda: DryFriction(point=Marker("ball"), cap=-1.0), "cap of ball:dry"),
        (lambda: DryFriction(point=Marker("ball"), cap=1.0, cap_s=0.5), "cap_s of ball:dry"),
        (lambda: Spring(a=Marker("ball"), b=fixed(0.0, 0.0), stiffness=-1.0), "stiffness of spring"),
        (lambda: Drag(point=Marker("ball"), damping=-1.0), "damping of ball"),
        (lambda: Load(point=Marker("ball"), force_xy=(np.inf, 0.0)), "force on ball"),
        (lambda: box("crate", mass=1.0, width=0.0, height=1.0), "width of crate"),
        (lambda: _with().state({"bal": (0.0, 0.0)}), "Did you mean ball"),
        (lambda: _with().state({"ball": (0.0, 0.0, 0.0)}), "place of ball"),
        (lambda: _with().state({}, {"rod": (0.0, np.nan, 0.0)}), "velocity of rod"),
        (lambda: _with().index("ball", "angle"), "coordinate of ball"),
        (lambda: _with().force(0.0, np.zeros(5), np.zeros(5), np.zeros(3)), "control"),
    ],
)
def test_bad_input_is_refused_in_words(build, message):
    with pytest.raises(InputError, match=message):
        build()
