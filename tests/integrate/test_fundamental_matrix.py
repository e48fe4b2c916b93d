"""Derivatives of event-driven motions: closed forms, and differences of whole runs."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import sympy as sp
from evidence import first
from random_scenes import falling
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn.errors import InputError
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.fundamental_matrix import close_motion, fundamental_matrix
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.lagrangian import Contact, Friction, Holonomic, LagrangianSystem
from gaussdyn.mechanics.planar.bodies import disc
from gaussdyn.mechanics.planar.forces import Shaking
from gaussdyn.mechanics.planar.shapes import Polygon
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import ball, brick
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.trees import TreeBody, TreeJoint
from gaussdyn.mechanics.trees.system import TreeSystem
from gaussdyn.mechanics.user.constraints import Velocity
from gaussdyn.mechanics.user.system import Position, UserSystem
from gaussdyn.scenes.catalogue import build

pytestmark = pytest.mark.xdist_group("fundamental matrix")  # what they share is made once

G = 9.81


def turn(w, t):
    """The motion of q'' = -w^2 q."""
    c, s = math.cos(w * t), math.sin(w * t)
    return np.array([[c, s / w], [-w * s, c]])


def by_differences(system, state, t_end, ways, h=1e-4):
    """What differences of whole runs say of displacements of (q, v) at the beginning, of order 4."""
    nv, columns = system.nv, []
    last = simulate(system, state, t_end, stepper=EventDriven()).final
    frame = np.column_stack([system.qdot(last.q, e) for e in np.eye(nv)])
    for way in ways.T:
        total = 0.0
        for far, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
            x = far * h * way
            start = State(t=state.t, q=system.move(state.q, x[:nv], 1.0), v=state.v + x[nv:])
            end = simulate(system, start, t_end, stepper=EventDriven()).final
            moved = np.linalg.lstsq(frame, end.q - last.q, rcond=None)[0]
            total = total + weight / (12.0 * h) * np.concatenate((moved, end.v))
        columns.append(total)
    return np.column_stack(columns)


def test_an_oscillator_turns():
    system = UserSystem(1, [[1.0]], lambda t, q, v: -4.0 * q)
    found = fundamental_matrix(system, State(q=[1.0], v=[0.3]), 0.7)
    np.testing.assert_allclose(found.Phi, turn(2.0, 0.7), rtol=0, atol=1e-11)


@pytest.mark.parametrize("eps", [0.4, 1.0])
def test_a_ball_that_bounces_once(eps):
    """From height 1 at rest it hits at T with u = -g T; dT / dh = 1 / (g T), then v = -eps u - g (t - T)."""
    system = UserSystem(1, [[1.0]], [-G], [Position(lambda t, q: q[0], eps_n=eps)])
    hits, end = math.sqrt(2.0 / G), 0.7
    found, u = fundamental_matrix(system, State(q=[1.0], v=[0.0]), end), -G * hits
    late = np.array([-1.0 / u, -hits / u])  # dT / d(h, v)
    before = np.array([[0.0, 1.0]])  # du / d(h, v) at a fixed time
    struck = before - G * late  # at the touch
    speed = -eps * struck + G * late
    place = -(-eps * u) * late + (end - hits) * -eps * struck[0] + G * (end - hits) * late
    np.testing.assert_allclose(found.Phi, [place, speed[0]], rtol=0, atol=1e-10)


def hopping(eps=0.6):
    """A ball of radius 0.2 m in space that is thrown on a floor with a spin."""
    system = SpatialSystem(
        bodies=[ball("b", mass=1.0, radius=0.2)], obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=0.3, eps_n=eps),
    )  # fmt: skip
    return system, system.state({"b": (0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0)}, {"b": (1.0, 0.2, 0.0, 0.3, 0.5, 2.0)}), 0.45


def tumbling():
    """A brick whose corner strikes and slides."""
    system = SpatialSystem(
        bodies=[brick("b", mass=1.0, half=(0.2, 0.1, 0.15))], obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=0.3, eps_n=0.6),
    )  # fmt: skip
    q = np.array([0.9, 0.1, 0.3, 0.2]) / math.sqrt(0.95)
    return system, system.state({"b": (0.0, 0.0, 0.4, *q)}, {"b": (1.0, 0.2, 0.0, 0.3, 0.5, 2.0)}), 0.2


def arm():
    """Two links that swing in a plane, the outer one with a ball at its end, which strikes a floor."""
    inertia = ((0.02, 0, 0), (0, 0.02, 0), (0, 0, 0.02))
    joint = TreeJoint(name="a", axis=(0, 1, 0))
    links = [
        TreeBody(name="upper", parent="ground", mass=1.0, centre=(0, 0, -0.25), inertia=inertia, joints=(joint,)),
        TreeBody(name="lower", parent="upper", at=(0, 0, -0.5), mass=0.7, centre=(0, 0, -0.2), inertia=inertia,
                 joints=(TreeJoint(name="b", axis=(0, 1, 0)),), shapes=(Sphere(radius=0.05, at=(0, 0, -0.2)),)),
    ]  # fmt: skip
    floor = HalfSpace(name="floor", point=(0.0, 0.0, -0.7))
    system = TreeSystem(bodies=links, obstacles=[floor], contact=ContactLaw(mu=0.2, eps_n=0.5))
    return system, State(q=[1.1, 0.2], v=[0.0, 0.0]), 0.5


def on_belt():
    scene = build("belt_oscillator")
    return scene.system, scene.state, 3.0


def shaken():
    """A disc on a shaken table: it slides, rolls, slides the other way."""
    table = Polygon(points=((-3.0, -1.0), (3.0, -1.0), (3.0, 0.0), (-3.0, 0.0)), name="table")
    system = PlanarSystem(
        bodies=[disc("b", mass=1.0, radius=0.1)], obstacles=[table], contact=ContactLaw(mu=0.2, eps_n=0.0),
        forces=[Shaking(amplitude=12.0, frequency=1.0)],
    )  # fmt: skip
    return system, system.state({"b": (0.0, 0.1, 0.0)}, {"b": (0.2, 0.0, 0.0)}), 0.6


def bowled():
    """A ball that slides on a floor in space, until it rolls."""
    system, state, _ = hopping(0.0)
    return system, State(q=[0.0, 0.0, 0.2, *state.q[3:]], v=[1.0, 0.2, 0.0, 0.3, 0.5, 0.0]), 0.3


def torn_loose():
    """A user's mass on a driven spring, with dry friction: it slides, sticks, is torn loose."""
    rubs = Velocity(lambda t, q, v: v[0], kind="dry", cap=0.4)
    system = UserSystem(1, [[1.0]], lambda t, q, v: -q + 1.1 * math.sin(1.3 * t), [rubs])
    return system, State(q=[1.0], v=[0.5]), 4.0


def stirred(cap, along, across):
    """A mass on a spring with friction in two directions, stirred."""
    x, y = dynamicsymbols("x y")
    t = dynamicsymbols._t
    return LagrangianSystem(
        [x, y], kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2, potential=(x**2 + y**2) / 2, compile=False,
        forces=[along * sp.cos(2 * t), across * sp.sin(2 * t)],
        constraints=[Friction([x.diff(), y.diff()], cap=cap, cap_s=1.03 * cap)],
    )  # fmt: skip


def swirling():
    """A slip in two directions that turns by more than a right angle without stopping: derivatives were off by 0.5."""
    return stirred(0.5, 0.7, 0.7), State(q=[1.0, 0.3], v=[0.5, -0.2]), 0.9


def stopping():
    """A slip in two directions that stops, and is torn loose another way."""
    return stirred(0.6, 0.9, 0.2), State(q=[1.0, 0.3], v=[0.5, -0.2]), 5.8


def rubbed_and_struck():
    """A mass with dry friction that strikes a stop: what is held by friction has no part in the impact."""
    x, y = dynamicsymbols("x y")
    t = dynamicsymbols._t
    stop = Holonomic(x + sp.Rational(3, 10) - y / 5, name="stop", kind="unilateral", eps_n=0.7)
    system = LagrangianSystem(
        [x, y], kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2, potential=x**2 + 2 * y**2 + x * y / 3, compile=False,
        forces=[0.8 * sp.cos(2 * t), 0.5 * sp.sin(3 * t)], constraints=[Friction([y.diff()], cap=0.3), stop],
    )  # fmt: skip
    return system, State(q=[1.0, 0.3], v=[0.2, -0.4]), 2.6


def fallen(seed, t_end):
    rng = np.random.default_rng(seed)
    return *falling(2, seed, mu=rng.choice([0.1, 0.5]), eps_n=rng.choice([0, 0.5]), count=2), t_end


def corner_near_an_end():
    """Impacts of which one is within millimetres of where a corner would meet another face."""
    return fallen(30, 0.18)


def struck_while_others_touch():
    """An impact while another contact is held, which displacements of motions keep."""
    return fallen(36, 0.1475)


HELD = {shaken: (1, 4), bowled: (2, 8), on_belt: (1, 2, 3)}  # displacements that keep what touches leave these out


SLOWED = {shaken, bowled, torn_loose, stopping}
EVENTLESS = {swirling}


def is_as_differences_say(made, tol):
    system, state, t_end = made()
    ways = np.delete(np.eye(2 * system.nv), HELD.get(made, ()), axis=1)
    found = fundamental_matrix(system, state, t_end)
    expected = by_differences(system, state, t_end, ways)
    kinds = {one.kind for one in found.changes}
    assert bool(kinds) == (made not in EVENTLESS)
    assert made not in SLOWED or "stick" in kinds
    np.testing.assert_allclose(found.Phi @ ways, expected, rtol=0, atol=tol * np.abs(expected).max())


FALLEN = (corner_near_an_end, struck_while_others_touch)


@pytest.mark.parametrize(
    "made", [hopping, tumbling, arm, on_belt, shaken, bowled, torn_loose, swirling, rubbed_and_struck, *FALLEN]
)
def test_it_is_what_differences_of_runs_say(made):
    is_as_differences_say(made, 1e-7)


@pytest.mark.slow
def test_a_slip_in_two_directions_stops_and_is_torn_loose():
    """How a slip turns as it stops is a power of its speed that rounding ends."""
    is_as_differences_say(stopping, 1e-5)


def test_conservative_motion_with_elastic_impacts_is_symplectic():
    """With p = M v the derivative of (q, p) keeps dp ^ dq: a mass on a spring in a round room, M = diag(1, r^2)."""
    r, turn = dynamicsymbols("r phi")
    wall = Holonomic(1 - r, name="wall", kind="unilateral", eps_n=1.0)
    system = LagrangianSystem(
        [r, turn], kinetic=(r.diff() ** 2 + r**2 * turn.diff() ** 2) / 2, potential=2 * r**2 + sp.cos(turn) * r,
        constraints=[wall], compile=False,
    )  # fmt: skip
    found = fundamental_matrix(system, State(q=[0.8, 0.3], v=[1.5, 2.0]), 1.5)
    assert [one.kind for one in found.changes].count("impact") >= 2

    def in_momenta(state):
        """d(q, p) / d(q, v)."""
        (r, _), (_, rate) = state.q, state.v
        return np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [2 * r * rate, 0, 0, r * r]])

    first, last = State(q=[0.8, 0.3], v=[1.5, 2.0]), found.state
    A = in_momenta(last) @ found.Phi @ np.linalg.inv(in_momenta(first))
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    np.testing.assert_allclose(A.T @ J @ A, J, rtol=0, atol=1e-9 * np.abs(A).max())


w, W, F, KEPT = 1.3, 2.6, 1.0, 0.5


def in_symbols():
    q = dynamicsymbols("q")
    energy = w**2 * q**2 / 2 - q * F * sp.cos(W * dynamicsymbols._t)
    stop = Holonomic(q, name="stop", kind="unilateral", eps_n=KEPT)
    return LagrangianSystem([q], kinetic=q.diff() ** 2 / 2, potential=energy, constraints=[stop])


class Driven(TreeSystem):
    """A tree on a spring that is driven."""

    def force(self, t, q, v, control=None):
        return super().force(t, q, v, control) - w**2 * q + F * math.cos(W * t)


def in_a_tree():
    inertia = ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1))
    slider = TreeJoint(name="z", axis=(0, 0, 1), motion="slide")
    bob = TreeBody(
        name="bob", parent="ground", mass=1.0, centre=(0, 0, 0), inertia=inertia, joints=(slider,),
        shapes=(Sphere(radius=0.1),),
    )  # fmt: skip
    floor = HalfSpace(name="floor", point=(0.0, 0.0, -0.1))
    return Driven(bodies=[bob], obstacles=[floor], contact=ContactLaw(eps_n=KEPT), gravity=(0.0, 0.0, 0.0))


@cache
def settled():
    """Where the orbit is at 0.3 s, nearly."""
    run = simulate(in_symbols(), State(q=[0.5], v=[0.0]), 20.0 * math.pi / W * 2.0 + 0.3, stepper=EventDriven())
    return np.round([run.q[-1, 0], run.v[-1, 0]], 2)


@pytest.mark.parametrize("made", [in_symbols, pytest.param(in_a_tree, marks=pytest.mark.slow)])
def test_an_impact_oscillator_whose_multipliers_are_a_closed_form(made):
    """q'' = -w^2 q + F cos(W t) with a stop at q = 0: two turns, and S at the stop; det Phi = eps^2."""
    system, eps = made(), KEPT
    period = 2.0 * math.pi / W
    start, found = close_motion(system, State(t=0.3, q=settled()[:1], v=settled()[1:]), period)
    (hit,) = [one for one in found.changes if one.kind == "impact"]
    u, f = float(hit.before.v[0]), F * math.cos(W * hit.t)
    S = np.array([[-eps, 0.0], [-(1.0 + eps) * f / u, -eps]])
    Phi = turn(w, start.t + period - hit.t) @ S @ turn(w, hit.t - start.t)
    np.testing.assert_allclose(found.Phi, Phi, rtol=0, atol=1e-9)
    assert np.prod(found.multipliers).real == pytest.approx(eps**2, abs=1e-10)


def test_events_at_one_time_have_no_derivative():
    both = [Position(lambda t, q: q[0]), Position(lambda t, q: q[1])]
    system = UserSystem(2, np.eye(2), [-G, -G], both)
    with pytest.raises(InputError, match="events that are apart"):
        fundamental_matrix(system, State(q=[1.0, 1.0], v=[0.0, 0.0]), 1.0)


def track(mu):
    """Return a block on a floor."""
    x, y = dynamicsymbols("x y")
    rough = Contact(y, x.diff(), mu=mu(x), name="track")
    return LagrangianSystem([x, y], kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2, potential=G * y, constraints=[rough])


@pytest.mark.parametrize("t_end", [0.334, 0.6, 1.2])
@pytest.mark.parametrize("sign", [1, -1])
def test_friction_that_sets_in_bends_the_equations_and_jumps_nothing(sign, t_end):
    """mu = max(0, |x| - 1/2): then x'' = -G (x - 1/2) until it stops after a quarter of a period, where it stays."""
    w = math.sqrt(G)
    found = fundamental_matrix(
        track(lambda x: sp.Max(0, sign * x - sp.Rational(1, 2))), State(q=[0.0, 0.0], v=[1.5 * sign, 0.0]), t_end
    )
    assert [one.kind for one in found.changes] == ["slip", "stick"][: 1 + (t_end > 1.0)]
    # displacements of x and x' at x = 1/2, at a fixed time
    ahead, T = 0.5 / 1.5, t_end - 0.5 / 1.5
    come = np.array([[1.0, ahead], [0.0, 1.0]])
    expected = turn(w, T) @ come if t_end < 1.0 else np.array([[0.0, 1.0 / w], [0.0, 0.0]])
    np.testing.assert_allclose(found.Phi[np.ix_([0, 2], [0, 2])], expected, rtol=0, atol=2e-8)


@pytest.mark.parametrize("seed", first(2, range(6)))
def test_a_pendulum_on_a_track_that_gets_rough_is_displaced_as_whole_runs_are(seed):
    """Friction sets in with place and time, and the load that gives it is that of all that moves."""
    rng = np.random.default_rng(seed)
    x, y, p = dynamicsymbols("x y p")
    bob = sp.Matrix([x + sp.sin(p), y - sp.cos(p)]).diff(dynamicsymbols._t)
    late, steep, start = (float(z) for z in rng.uniform((0.1, 0.2, 0.5), (0.4, 0.8, 1.5)))
    mu = sp.Max(0, steep * (x + dynamicsymbols._t / 2 - late))
    system = LagrangianSystem(
        [x, y, p], kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2 + bob.dot(bob) / 6,
        potential=G * (y + (y - sp.cos(p)) / 3), constraints=[Contact(y, x.diff(), mu=mu, name="track")],
    )  # fmt: skip
    state = State(q=[0.0, 0.0, rng.uniform(-1.0, 1.0)], v=[start, 0.0, rng.uniform(-1.0, 1.0)])
    found = fundamental_matrix(system, state, 0.5)
    assert "slip" in {one.kind for one in found.changes}
    ways = np.delete(np.eye(6), [1, 4], axis=1)
    differences = by_differences(system, state, 0.5, ways, h=1e-6)
    np.testing.assert_allclose(found.Phi @ ways, differences, rtol=0, atol=2e-6)


@pytest.mark.parametrize("v", [0.0, 1.0])
def test_friction_that_sets_in_with_time_has_a_derivative_unless_things_rest(v):
    """What rests sticks where nothing held it before: displaced motions slide on."""
    system, state = track(lambda _: sp.Max(0, dynamicsymbols._t - sp.Rational(1, 10))), State(q=[0.0, 0.0], v=[v, 0.0])
    if v == 0.0:
        with pytest.raises(InputError, match=r"friction of track that sets in at 0.1 s, at rest"):
            fundamental_matrix(system, state, 0.2)
    else:
        np.testing.assert_allclose(fundamental_matrix(system, state, 0.2).Phi[[0, 2], 2], [0.2, 1.0], rtol=0, atol=1e-9)


def test_friction_that_jumps_as_it_sets_in_has_no_derivative_here():
    system = track(lambda x: sp.Piecewise((0, x < sp.Rational(1, 2)), (sp.Rational(1, 4), True)))
    state = State(q=[0.0, 0.0], v=[1.5, 0.0])
    with pytest.raises(InputError, match=r"friction of track that jumps as it sets in at 0.333333333 s"):
        fundamental_matrix(system, state, 0.6)
    assert fundamental_matrix(system, state, 0.3).Phi[0, 2] == pytest.approx(0.3, abs=1e-9)
