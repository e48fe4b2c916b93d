"""Systems in space: laws of free motion, forces, states, contacts found, and specifications."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest
from spatial_cases import A, B, Flight, all_joints, random_marker, rotation_of, slope

from gaussdyn import check_system
from gaussdyn.errors import InputError
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.joints.limits_motors import Limit
from gaussdyn.mechanics.spatial.bodies import ball, brick, pill
from gaussdyn.mechanics.spatial.forces import Drag, Load, Shaking, Spring
from gaussdyn.mechanics.spatial.joints import Hinge, Slider
from gaussdyn.mechanics.spatial.kinematics import mark
from gaussdyn.mechanics.spatial.system import SpatialSystem

FLOOR = HalfSpace(name="floor")
BODIES = [
    ball("ball", mass=1.0, radius=0.3),
    brick("up", mass=1.0, half=(0.4, 0.4, 0.4)),
    brick("low", mass=2.0, half=(0.5, 0.5, 0.5)),
]


def two(seed=0, **more):
    return SpatialSystem(bodies=[A, B], **more), Flight(seed)


def test_free_motion_keeps_energy_and_spatial_angular_momentum():
    system, flight = two(gravity=(0, 0, 0))
    v = flight.v(0.0)
    h = system.force(0.0, flight.q(0.0), v)
    assert v @ h == pytest.approx(0.0, abs=1e-14)
    for k, body in enumerate((A, B)):
        J, w, moment = np.array(body.inertia), v[6 * k + 3 : 6 * k + 6], h[6 * k + 3 : 6 * k + 6]
        np.testing.assert_allclose(moment + np.cross(w, J @ w), 0.0, atol=1e-14)  # d(R J w)/dt = R (J dw/dt + w x J w)


def test_move_follows_qdot_and_keeps_quaternions():
    system, flight = two()
    q, v = flight.q(0.0), flight.v(0.0)
    np.testing.assert_allclose(slope(lambda t: system.move(q, v, t)), system.qdot(q, v), atol=1e-9)
    np.testing.assert_allclose(slope(flight.q), system.qdot(q, v), atol=1e-9)
    far = system.move(q, v, 3.0)
    np.testing.assert_allclose(np.linalg.norm(far.reshape(-1, 7)[:, 3:], axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(system.move(far, v, -3.0), q, atol=1e-14)


def forces(seed):
    rng = np.random.default_rng(seed)
    return [
        Spring(a=random_marker(rng, "a"), b=random_marker(rng, "b"), stiffness=3.0, length=0.4, damping=0.2),
        Drag(point=random_marker(rng, "a"), damping=0.1, spin_damping=0.3),
        Load(point=random_marker(rng, "b"), force_xyz=(1, 2, 3), moment=(0.1, 0.2, 0.3)),
        Drive(joint="Hinge", effort=0.3, stiffness=2.0, damping=0.4, target=0.3, rate=0.1),
        Drive(joint="Slider", stiffness=3.0),
        Shaking(direction=(1, 1, 0), amplitude=2.0, frequency=1.3, phase=0.2),
    ]


@pytest.mark.parametrize("seed", range(4))
def test_forces_are_gradients_of_the_potential_and_the_rest_is_power(seed):
    """Along every path v.h = -dV/dt + power (gyroscopic moments do no work)."""
    system, flight = two(seed, joints=all_joints(seed), forces=forces(seed))
    q, v, t, control = flight.q(0.0), flight.v(0.0), 0.37, np.arange(12.0)
    change = slope(lambda s: system.potential(t, flight.q(s)))
    supply = v @ system.force(t, q, v, control)
    assert supply == pytest.approx(-change + system.power(t, q, v, control), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_the_conservative_force_is_minus_the_gradient(seed):
    system, flight = two(seed, joints=all_joints(seed), forces=[forces(seed)[0], *forces(seed)[3:5]])
    q, rest = flight.q(0.0), np.zeros(12)
    quiet = SpatialSystem(bodies=[A, B], joints=all_joints(seed), forces=[
        Spring(a=system.forces[0].a, b=system.forces[0].b, stiffness=3.0, length=0.4),
        Drive(joint="Hinge", stiffness=2.0, target=0.3),
        Drive(joint="Slider", stiffness=3.0),
    ])  # fmt: skip
    gradient = [slope(lambda s, e=e: quiet.potential(0.0, quiet.move(q, e, s))) for e in np.eye(12)]
    np.testing.assert_allclose(quiet.force(0.0, q, rest), -np.array(gradient), atol=1e-7)


def test_a_load_acts_at_its_point():
    system, flight = two(
        gravity=(0, 0, 0), forces=[Load(point=mark("a", (1, 0, 0)), force_xyz=(0, 2, 0), moment=(3, 0, 0))]
    )
    q = flight.q(0.0)
    R = rotation_of(q[3:7])
    h = system.force(0.0, q, np.zeros(12))
    moment = np.cross(R.apply([1, 0, 0]), [0, 2, 0]) + np.array([3, 0, 0])
    np.testing.assert_allclose(h, [0, 2, 0, *R.inv().apply(moment), *np.zeros(6)], atol=1e-15)


def test_shaking_is_an_inertial_force_on_every_body():
    system, flight = two(
        forces=[Shaking(direction=(2, 0, 0), amplitude=3.0, frequency=0.5, phase=0.1)], gravity=(0, 0, -9)
    )
    t = 0.3
    a = 3.0 * math.sin(2 * math.pi * 0.5 * t + 0.1)
    h = system.force(t, flight.q(0.0), np.zeros(12))
    np.testing.assert_allclose(h, [-2 * a, 0, -18, 0, 0, 0, -a, 0, -9, 0, 0, 0], atol=1e-14)


def test_state_and_index():
    system, _ = two()
    half = math.sqrt(0.5)
    state = system.state({"b": (1, 2, 3, half, 0, half + 1e-8, 0)}, {"a": (4, 5, 6), "b": (0, 0, 0, 7, 8, 9)}, t=2.0)
    assert state.t == 2.0
    assert state.q[system.index("b", "z")] == 3.0
    assert np.linalg.norm(state.q[10:14]) == pytest.approx(1.0, abs=1e-15)
    assert state.q[system.index("a", "qw")] == 1.0
    assert (state.v[system.index("a", "vz")], state.v[system.index("b", "wx")]) == (6.0, 7.0)
    for place, text in (
        ({"c": (0, 0, 0)}, "body"),
        ({"a": (0, 0)}, r"\(3,\) or \(7,\)"),
        ({"a": (0, 0, 0, 1, 0.1, 0, 0)}, "quaternion of a.*unit"),
        ({"a": (0, 0, np.nan)}, "place of a"),
    ):
        with pytest.raises(InputError, match=text):
            system.state(place)
    with pytest.raises(InputError, match="velocity of a"):
        system.state({}, {"a": (0, 0, 0, 1)})
    with pytest.raises(InputError, match="coordinate of a"):
        system.index("a", "angle")


def stack(bodies=None, **more):
    return SpatialSystem(bodies=bodies or BODIES, obstacles=[FLOOR], contact=ContactLaw(mu=0.4), **more)


PLACES = {"ball": (3, 0, 0.3), "low": (0, 0, 0.5), "up": (0.05, 0, 1.4)}


def test_contacts_have_their_laws():
    laws = {("floor", "ball"): ContactLaw(mu=0.2, mu_r=0.01, eps_n=0.5), ("up", "low"): ContactLaw()}
    system = stack(pairs=laws)
    rows = {row.id: row for row in system.rows(0.0, system.state(PLACES).q, np.zeros(18))}
    assert list(rows) == sorted(rows)
    assert set(rows) == {"ball/floor", *(f"low:c{i}/floor" for i in range(4)), *(f"up:c{i}/low:f5" for i in range(4))}
    rolls, slips, smooth = rows["ball/floor"], rows["low:c0/floor"], rows["up:c0/low:f5"]
    assert (rolls.size, rolls.mu, rolls.mu_r, rolls.eps_n) == (5, 0.2, 0.01, 0.5)
    assert (slips.kind, slips.size, slips.mu) == ("contact", 3, 0.4)
    assert (smooth.kind, smooth.size) == ("unilateral", 1)
    assert smooth.between == ("up", "low")


def test_pairs_can_be_switched_off():
    system = stack(pairs={("low", "up"): None})
    ids = [row.id for row in system.rows(0.0, system.state(PLACES).q, np.zeros(18))]
    assert ids == ["ball/floor", *(f"low:c{i}/floor" for i in range(4))]


def test_joined_bodies_do_not_touch_unless_told():
    hinge = Hinge(name="h", a=mark("up", (0, 0, -0.4)), b=mark("low", (0, 0, 0.5)))
    pinned = Hinge(name="p", a=mark("ball"), b=mark("ground", (3, 0, 0.3)))
    system = stack(joints=[hinge, pinned])
    ids = [row.id for row in system.rows(0.0, system.state(PLACES).q, np.zeros(18)) if "/" in row.id]
    assert ids == [f"low:c{i}/floor" for i in range(4)]
    system = stack(joints=[hinge, pinned], pairs={("up", "low"): ContactLaw(), ("ball", "floor"): ContactLaw()})
    assert sum("/" in row.id for row in system.rows(0.0, system.state(PLACES).q, np.zeros(18))) == 9


def test_near_freezes_the_contacts_that_may_act():
    system = stack()
    state = system.state({**PLACES, "ball": (3, 0, 0.8)}, {"ball": (0, 0, -1.0)})
    assert "ball/floor" not in {row.id for row in system.near(0.0, state.q, state.v, 0.1).rows(0.0, state.q, state.v)}
    near = system.near(0.0, state.q, state.v, 0.6)
    assert isinstance(near, SpatialSystem)
    ids = [row.id for row in near.rows(0.0, state.q, state.v)]
    assert "ball/floor" in ids
    far = near.move(state.q, state.v, 5.0)
    assert [row.id for row in near.rows(5.0, far, state.v)] == ids
    assert near.near(5.0, far, state.v, 0.1) is near


def test_force_gradient_is_the_derivative_of_the_force():
    slide = Slider(name="s", a=mark("low", (0, 0, 0.1)), b=mark("ground"))
    forces = [
        Spring(a=mark("up", (0.1, 0.2, 0)), b=mark("low", (0, 0, 0.3)), stiffness=3.0, length=0.2, damping=0.7),
        Drag(point=mark("ball", (0, 0.1, 0)), damping=0.4, spin_damping=0.3),
        Drive(joint="s", damping=0.6, stiffness=2.0, rate=0.1),
        Load(point=mark("up"), force_xyz=(1, 2, 3)),
        Shaking(amplitude=1.0, frequency=2.0),
    ]
    bodies = [brick(name, mass=1.0, half=(0.2, 0.4, 0.3)) for name in ("ball", "up", "low")]
    system = SpatialSystem(bodies=bodies, joints=[slide], forces=forces)
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=21), rng.normal(size=18)
    # h is quadratic in v: central differences are exact but for rounding.
    D = np.array([0.5 * (system.force(0.3, q, v + e) - system.force(0.3, q, v - e)) for e in np.eye(18)]).T
    np.testing.assert_allclose(system.force_gradient(0.3, q, v), D, atol=1e-12)


@pytest.mark.parametrize("radius", [1e-4, 1e-2, 1.0])
def test_what_counts_as_closed_is_found_without_a_step(radius):
    system = SpatialSystem(bodies=[ball("b", mass=1.0, radius=radius)], obstacles=[FLOOR])
    for gap, known in ((0.99e-9, True), (1e-5 * radius + 1e-8, False)):
        q = system.state({"b": (0, 0, radius + gap)}).q
        assert bool(system.near(0.0, q, np.zeros(6), 0.0).rows(0.0, q, np.zeros(6))) is known


def test_a_corner_that_comes_over_a_face_within_the_step_is_found():
    """Corner is nearest to corner while the boxes are apart, which makes no contact; at the end one is in the other."""
    boxes = [brick(name, mass=1.0, half=(0.5, 0.5, 0.5)) for name in ("a", "b")]
    system = SpatialSystem(bodies=boxes, gravity=(0, 0, 0))
    state = system.state({"b": (1.02, 1.03, 1.04)}, {"b": (-1.2, -1.1, -1.0)})
    assert not system.near(0.0, state.q, 0.0 * state.v, 0.0).rows(0.0, state.q, state.v)
    rows = system.near(0.0, state.q, state.v, 0.1).rows(0.0, state.q, state.v)
    assert [row.id for row in rows] == sorted(row.id for row in rows)
    # At the end it is least deep in the top face.
    assert min(row.gap + 0.1 * row.rate[0] for row in rows) == pytest.approx(-0.06, abs=1e-12)
    end = MoreauJean(dt=0.1).advance(system, state, 0.1).state.q.reshape(2, 7)
    assert separation(end[0], end[1]) > -1e-10


def separation(a, b):
    """Return the largest distance of the projections of two unit cubes on the normals of faces and pairs of edges."""
    d, R, S = b[:3] - a[:3], rotation_of(a[3:]).as_matrix(), rotation_of(b[3:]).as_matrix()
    axes = [*R.T, *S.T, *(np.cross(u, v) for u in R.T for v in S.T)]
    axes = [n / np.linalg.norm(n) for n in axes if np.linalg.norm(n) > 1e-6]
    return max(abs(d @ n) - 0.5 * (np.abs(R.T @ n).sum() + np.abs(S.T @ n).sum()) for n in axes)


def test_permuted_bodies_change_nothing_but_places():
    one, two_ = stack(), stack(BODIES[::-1])
    rows = [s.rows(0.0, s.state(PLACES).q, s.state({}, {"up": (1, 2, 3, 4, 5, 6)}).v) for s in (one, two_)]
    for x, y in zip(*rows, strict=True):
        assert (x.id, x.gap) == (y.id, y.gap)
        np.testing.assert_array_equal(x.J.reshape(x.size, 3, 6), y.J.reshape(y.size, 3, 6)[:, ::-1])
        np.testing.assert_array_equal(x.rate, y.rate)


def test_check_system_finds_nothing_with_contacts():
    system = SpatialSystem(
        bodies=[pill("p", mass=1.0, radius=0.2, half_length=0.5), ball("s", mass=1.0, radius=0.3)],
        obstacles=[FLOOR],
        contact=ContactLaw(mu=0.3, mu_r=0.1),
    )
    state = system.state(
        {"p": (0, 0, 0.4, 0.8, 0.6, 0, 0), "s": (0.3, 0.1, 0.9)}, {"p": np.arange(6), "s": -np.arange(6)}
    )
    report = check_system(system, states=[state])
    assert report.ok, report


def test_check_system_finds_nothing_in_a_random_attitude():
    joints = [Slider(name="s", a=mark("a", axis=(1, 2, 3)), b=mark("ground")), Limit(joint="s", low=-1.0, high=1.0)]
    assert check_system(SpatialSystem(bodies=[A], joints=joints), samples=2).ok


def test_a_mistake_in_a_spatial_system_is_found():
    class Wrong(SpatialSystem):
        def move(self, q, v, dt):
            return super().move(q, np.concatenate([v[:3], 2.0 * v[3:]]), dt)

    joints = [Slider(name="s", a=mark("a", axis=(1, 2, 3)), b=mark("ground"))]
    assert not check_system(Wrong(bodies=[A], joints=joints), samples=1).ok


def test_a_system_is_built_again_from_its_spec():
    bodies = [A, B, brick("c", mass=1.0, half=(1, 2, 3)), ball("d", mass=1.0, radius=1.0)]
    pairs = {("c", "floor"): ContactLaw(mu=0.7), ("d", "rock"): None}
    system = SpatialSystem(
        bodies=bodies, joints=all_joints(1), forces=forces(1),
        obstacles=[FLOOR, Sphere(radius=2.0, at=(0, 0, -3), name="rock")],
        gravity=(1, 2, 3), contact=ContactLaw(mu=0.3, mu_s=0.4), pairs=pairs,
    )  # fmt: skip
    spec = system.spec()
    again = SpatialSystem.from_spec(json.loads(json.dumps(spec, allow_nan=False)))
    assert again.spec() == spec
    rng = np.random.default_rng(0)
    q = system.move(rng.normal(size=system.nq), np.zeros(system.nv), 0.0)
    v = rng.normal(size=system.nv)
    for other in (again, pickle.loads(pickle.dumps(system))):
        np.testing.assert_array_equal(system.force(0.1, q, v), other.force(0.1, q, v))
        for x, y in zip(system.rows(0.1, q, v), other.rows(0.1, q, v), strict=True):
            assert (x.id, x.kind, x.mu, x.eps_n, x.cap) == (y.id, y.kind, y.mu, y.eps_n, y.cap)
            np.testing.assert_array_equal(x.J, y.J)


def test_drawables_stand_where_the_bodies_are():
    system = stack(forces=[Spring(a=mark("ball"), b=mark("ground"), stiffness=1.0)])
    drawn = {shape["name"]: shape for shape in system.drawables(system.state(PLACES).q)}
    assert (drawn["ball"]["shape"], drawn["ball"]["at"]) == ("sphere", [3.0, 0.0, 0.3])
    assert (drawn["low"]["shape"], drawn["low"]["half"]) == ("box", [0.5, 0.5, 0.5])
    assert (drawn["floor"]["shape"], drawn["floor"]["normal"]) == ("plane", [0.0, 0.0, 1.0])
    assert drawn["ball~ground"]["ends"] == [[3.0, 0.0, 0.3], [0.0, 0.0, 0.0]]
    json.dumps(list(drawn.values()), allow_nan=False)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"bodies": []}, "bodies"),
        ({"bodies": [A, A]}, "two bodies called 'a'"),
        ({"bodies": ["a"]}, "SpatialBody"),
        ({"joints": ["hinge"]}, "joints"),
        ({"forces": ["push"]}, "forces"),
        ({"forces": [Drag(point=mark("c"))]}, "body of a marker"),
        ({"forces": [Drive(joint="none")]}, "joint"),
        ({"gravity": (0, 0)}, "gravity"),
        ({"contact": 0.5}, "ContactLaw"),
        ({"pairs": {("a", "b"): 0.5}}, "law of"),
        ({"pairs": {("a", "floo"): None}}, "Did you mean floor"),
        ({"pairs": {("a", "b"): None, ("b", "a"): None}}, "twice"),
        ({"pairs": {"ab": None}}, "tuple of two"),
        ({"obstacles": ["floor"]}, "obstacles"),
    ],
)
def test_bad_systems_are_refused(options, text):
    with pytest.raises(InputError, match=text):
        SpatialSystem(**{"bodies": [A, B], "obstacles": [FLOOR], **options})


def test_control_is_a_generalised_force():
    system, flight = two()
    q, v, u = flight.q(0.0), flight.v(0.0), np.arange(12.0)
    np.testing.assert_allclose(system.force(0.0, q, v, u) - system.force(0.0, q, v), u, atol=1e-13)
    with pytest.raises(InputError, match="control"):
        system.force(0.0, q, v, np.zeros(3))
