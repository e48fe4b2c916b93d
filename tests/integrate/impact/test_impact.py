"""Impact laws against brute force, closed forms, and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from impact_cases import Contacts, newton, poisson, random_contacts
from scipy.optimize import brentq
from small_systems import Ball, Plain

from gaussdyn import InputError, State, build
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.impact.impact import impact
from gaussdyn.integrate.impact.impact_laws import Moreau, Newton, OneByOne, Poisson
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.programs.solution.status import Status

LAWS = (Newton, Moreau, Poisson)


def planar(system, v):
    return np.concatenate([J @ v for J in system.J])


def among(u, known):
    return min(float(np.abs(u - x).max()) for x in known)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("n", [1, 2])
def test_velocity_is_one_of_all_that_brute_force_finds(n, e):
    rng = np.random.default_rng(7 * n + int(2 * e))
    for _ in range(8):
        system, v = random_contacts(rng, n, 2)
        u, scale = planar(system, v), np.abs(v).max() * np.abs(system.J).max()
        for law, known in (
            (Newton(eps_n=e), newton(system.W, u, system.mu, e, 0.0)),
            (Moreau(eps=e), newton(system.W, u, system.mu, e, e)),
            (Poisson(eps_n=e), poisson(system.W, u, system.mu, e)),
        ):
            found = impact(system, system.start(v), law=law)
            assert found.solved
            assert found.residual <= 1e-11
            assert among(planar(system, found.v), known) <= 1e-9 * scale


def test_impulses_give_the_velocity_and_works_the_energy():
    rng = np.random.default_rng(3)
    for dim in (2, 3):
        system, v = random_contacts(rng, 3, dim)
        for law in (Newton(eps_n=0.7), Moreau(eps=0.7), Poisson(eps_n=0.7), OneByOne(law=Poisson(eps_n=0.7))):
            found = impact(system, system.start(v), law=law)
            p = np.concatenate([found.impulses.get(f"c{k}", np.zeros(dim)) for k in range(3)])
            assert np.allclose(system.M @ (found.v - v), np.vstack(system.J).T @ p, atol=1e-9)
            change = 0.5 * found.v @ system.M @ found.v - 0.5 * v @ system.M @ v
            assert found.energy == pytest.approx(change, abs=1e-10)
            assert sum(found.works.values()) == pytest.approx(change, abs=1e-9)


def test_each_row_has_its_own_restitution_by_default():
    M, J = np.eye(2), [[[1.0, 0.0]], [[0.0, 1.0]]]
    system = Contacts(M, J, mu=[0.0, 0.0], e_n=[0.25, 0.75])
    for law in LAWS:
        assert impact(system, system.start([-1.0, -2.0]), law=law()).v == pytest.approx([0.25, 1.5], abs=1e-14)


def test_bounce_loses_one_minus_e_squared():
    for law in (Newton(eps_n=0.8), Moreau(eps=0.8), Poisson(eps_n=0.8)):
        found = impact(Ball(), State(q=[0.0], v=[-3.0]), law=law)
        assert found.v == pytest.approx([2.4], rel=1e-14)
        assert found.energy == pytest.approx(-0.5 * 2.0 * 9.0 * (1.0 - 0.64), rel=1e-13)
        assert not found.gains
        assert found.impulses["ball/floor"] == pytest.approx([2.0 * 5.4], rel=1e-14)


def test_the_largest_share_of_unequal_restitution_that_gains_nothing():
    """One planar contact, all solutions by enumeration, the share by bisection; time stepping keeps the same."""
    hit = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        system, v = random_contacts(rng, 1, 2, spread=2.0)
        system.e_n, system.e_t = np.array([1.0]), np.array([0.0])
        u, before = planar(system, v), 0.5 * v @ system.M @ v

        def work(share, W=system.W, u=u, mu=system.mu):
            (after,) = newton(W, u, mu, share, 0.0)
            return 0.5 * np.linalg.solve(W, after - u) @ (u + after)

        if work(1.0) <= 1e-6 * before:
            continue
        hit += 1
        share = brentq(work, 0.0, 1.0, xtol=1e-14)
        found = impact(system, system.start(v))
        assert found.kept == pytest.approx(share, abs=1e-10)
        assert planar(system, found.v) == pytest.approx(newton(system.W, u, system.mu, share, 0.0)[0], abs=1e-9)
        assert found.energy == pytest.approx(0.0, abs=1e-11 * before)
        assert f"no gain with {share:.6g} of the restitution" in found.explain()
        stepped = MoreauJean(dt=1e-3).advance(system, system.start(v), 1e-3)
        assert stepped.restitution == pytest.approx(share, rel=1e-2)
    assert hit >= 3


class Racket(Plain):
    """A ball that a plate meets which moves at 0.3 m/s."""

    def rows(self, t, q, v):
        gap, rate = float(q[0] - 0.3 * t), [v[0] - 0.3]
        return (Row(id="plate", kind="unilateral", gap=gap, J=[[1.0]], rate=rate, drift=[0.0], eps_n=0.9),)


@pytest.mark.parametrize("stepper", [EventDriven(), MoreauJean(dt=1e-3)])
def test_what_a_moving_support_adds_is_no_gain(stepper):
    run = simulate(Racket(), State(q=[0.1], v=[-1.0]), 0.2, stepper=stepper)
    assert run.v[-1] == pytest.approx([0.3 + 0.9 * 1.3], abs=1e-12)
    assert run.steps.restitution.min() == 1.0
    said = impact(Racket(), State(q=[0.0], v=[-1.0]))
    assert not said.gains
    assert said.energy == pytest.approx(0.5 * (1.47**2 - 1.0))
    assert said.works["plate"] == pytest.approx(0.5 * (1.17**2 - 1.3**2))


def kane_levinson():
    """Two rods of 1 m and 1 kg at 20 and 30 degrees, rates -0.1 and -0.2 rad/s: W, u of the tip, by hand."""
    one, two = math.radians(20.0), math.radians(30.0)
    c = 0.5 * math.cos(one - two)
    M, J = np.array([[4.0 / 3.0, c], [c, 1.0 / 3.0]]), np.array(
        [[math.sin(one), math.sin(two)], [math.cos(one), math.cos(two)]]
    )  # fmt: skip
    v = np.array([-0.1, -0.2])
    return M, J, v


def test_newton_gains_energy_where_kane_and_levinson_say_and_the_others_do_not():
    M, J, v = kane_levinson()
    before = 0.5 * v @ M @ v
    stick = v - np.linalg.solve(M, J.T @ np.linalg.solve(J @ np.linalg.solve(M, J.T), J @ v + [0.5 * (J @ v)[0], 0.0]))
    gain = 0.5 * stick @ M @ stick - before  # the tip sticks, and leaves with half its normal speed
    system = Contacts(M, [J], mu=[0.5])
    found = impact(system, system.start(v), law=Newton(eps_n=0.5))
    assert found.gains
    assert found.energy == pytest.approx(gain, rel=1e-12)
    assert found.energy / before == pytest.approx(0.5874947, abs=1e-7)
    assert "gain: this law is not passive" in found.explain()
    for law in (Moreau(eps=0.5), Poisson(eps_n=0.5)):
        assert impact(system, system.start(v), law=law).energy < 0.0


def test_a_scene_and_minimal_coordinates_agree():
    from gaussdyn.scenes.impacts import double_pendulum_impact as scene

    M, J, v = kane_levinson()
    angles = np.radians([20.0, 30.0])
    small = Contacts(M, [J], mu=[0.3])
    rods = scene._system(float(np.cos(angles).sum()), 0.3, 0.5, 0.5)
    state = rods.state(*scene._places(np.concatenate([angles, v])))
    for law in (Newton(eps_n=0.5), Moreau(), Poisson(eps_n=0.5)):
        one = impact(rods, state, law=law)
        two = impact(small, small.start(v), law=Moreau(eps=0.5) if isinstance(law, Moreau) else law)
        assert one.energy == pytest.approx(two.energy, abs=1e-14)
        assert one.impulses[scene.TIP] == pytest.approx(two.impulses["c0"], abs=1e-13)


def cradle(n):
    scene = build("cradle", balls=n)
    q = scene.state.q.copy()
    q[0] = 0.0
    return scene.system, State(q=q, v=scene.state.v)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_cradle_at_once_and_one_by_one(n):
    system, state = cradle(n)
    for law in (Newton(eps_n=1.0), Moreau(eps=1.0), Poisson(eps_n=1.0)):
        found = impact(system, state, law=law)
        assert found.v[0::6] == pytest.approx([2.0 / n - 1.0] + [2.0 / n] * (n - 1), abs=1e-14)
        assert found.energy == pytest.approx(0.0, abs=1e-15)
    found = impact(system, state, law=OneByOne(law=Newton(eps_n=1.0)))
    assert found.v[0::6] == pytest.approx([0.0] * (n - 1) + [1.0], abs=1e-14)
    assert len(found.phases) == n - 1


def test_one_by_one_without_end_is_not_finished():
    """Inelastic impacts of three equal balls halve the difference of two speeds each time."""
    system, state = cradle(3)
    v = state.v.copy()
    v[12] = -1.0
    found = impact(system, State(q=state.q, v=v), law=OneByOne(law=Newton(eps_n=0.0), most=4))
    assert found.status is Status.MAX_ITERATIONS
    assert len(found.phases) == 4
    found = impact(system, State(q=state.q, v=v), law=OneByOne(law=Newton(eps_n=0.0)))
    assert found.solved
    assert found.v[0::6] == pytest.approx([0.0, 0.0, 0.0], abs=1e-8)


def test_only_the_rows_named_take_part():
    system = Contacts(np.eye(2), [[[1.0, 0.0]], [[0.0, 1.0]]], mu=[0.0, 0.0])
    found = impact(system, system.start([-1.0, -1.0]), closed=["c1"])
    assert found.v == pytest.approx([-1.0, 0.0])
    assert set(found.impulses) == {"c1"}


class Jointed(Plain):
    """Two masses that a joint moves together; the first meets a wall."""

    nq = nv = 2

    def rows(self, t, q, v):
        wall = Row(id="wall", kind="unilateral", gap=0.0, J=[[1.0, 0.0]], rate=v[:1], drift=[0.0])
        joint = Row(id="joint", kind="bilateral", gap=0.0, J=[[1.0, -1.0]], rate=[v[0] - v[1]], drift=[0.0])
        dry = Row(id="dry", kind="dry", J=[[1.0, 0.0]], rate=v[:1], drift=[0.0], cap=100.0)
        return wall, joint, dry


@pytest.mark.parametrize("law", [Newton(eps_n=0.5), Moreau(eps=0.5), Poisson(eps_n=0.5)])
def test_joints_carry_impulses_and_bounded_forces_do_not(law):
    found = impact(Jointed(), State(q=[0.0, 0.0], v=[-2.0, -2.0]), law=law)
    assert found.v == pytest.approx([1.0, 1.0], abs=1e-14)
    assert found.impulses["wall"] == pytest.approx([6.0])
    assert found.impulses["joint"] == pytest.approx([-3.0])
    assert np.abs(found.impulses.get("dry", np.zeros(1))).max() == 0.0


def test_superball_turns_both_speeds_round():
    """A ball with e_n = e_t = 1 on a floor: u+ = -u-, normal and tangential (Garwin 1969)."""
    scene = build("superball")
    q = scene.state.q.copy()
    (row,) = scene.system.near(0.0, q, scene.state.v, 1.0).rows(0.0, q, scene.state.v)
    q[2] -= row.gap
    v = scene.state.v.copy()
    v[2] = -3.0
    found = impact(scene.system, State(q=q, v=v), law=Moreau())
    assert row.J @ found.v == pytest.approx(-row.J @ v, abs=1e-12)
    assert found.energy == pytest.approx(0.0, abs=1e-12)


def test_nothing_approaches_nothing_happens():
    for law in (*(law() for law in LAWS), OneByOne()):
        found = impact(Ball(), State(q=[0.0], v=[1.0]), law=law)
        assert found.v == pytest.approx([1.0], abs=0.0)
        assert found.solved


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"law": Newton}, "law"),
        ({"law": "newton"}, "law"),
        ({"closed": ["nowhere"]}, "closed"),
        ({"closed": "ball/floor"}, "closed"),
    ],
)
def test_bad_input_is_named(wrong, named):
    with pytest.raises(InputError, match=named):
        impact(Ball(), State(q=[0.0], v=[-1.0]), **wrong)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Newton(eps_n=1.1), lambda: Moreau(eps=-0.1), lambda: Poisson(eps_n=float("nan")),
        lambda: OneByOne(law=Newton), lambda: OneByOne(most=0), lambda: OneByOne(law=OneByOne()),
    ],
)  # fmt: skip
def test_bad_settings_are_refused(make):
    with pytest.raises(InputError):
        make()


def slot(e, moves=(0.0, 0.0)):
    """A body in a slot that fits: walls on both sides, which may move by themselves (m/s)."""
    walls = np.array([[[1.0, 0.0], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]])

    class Slot(Contacts):
        def rows(self, t, q, v):
            return tuple(
                row.but(rate=row.rate + np.array([speed, 0.0]))
                for row, speed in zip(super().rows(t, q, v), moves, strict=True)
            )

    return Slot(2.0 * np.eye(2), walls, [0.3, 0.3], e, [0.0, 0.0])


@pytest.mark.parametrize(
    ("v", "moves", "kept"),
    [
        (-1.0, (0.0, 0.0), 0.0),  # it cannot go back at all
        (-1.0, (0.3, -0.2), 2.0 / 7.0),  # it rebounds from 0.7 m/s with the 0.1 m/s with which the walls part
        (0.25, (0.3, -0.2), 4.0 / 9.0),  # and from 0.45 m/s, on the other side, with 0.1 m/s of them
    ],
)
def test_moreau_rebounds_as_much_as_there_is_room_for(v, moves, kept):
    system = slot([0.5, 0.5], moves)
    found = impact(system, system.start([v, 0.5]))
    assert found.solved
    assert found.kept == pytest.approx(kept, abs=1e-10)
    assert min(float(row.rate[0]) for row in system.rows(0.0, found.v, found.v)) >= -1e-11
    stiff = impact(slot([0.0, 0.0], moves), system.start([v, 0.5]))
    assert stiff.solved
    assert stiff.kept == 1.0


def test_a_run_goes_on_where_restitution_has_no_room():
    from gaussdyn.mechanics.user.system import Position, UserSystem

    walls = [Position(lambda t, q: q[0], eps_n=0.5), Position(lambda t, q: -q[0], eps_n=0.5)]
    run = simulate(UserSystem(2, 2.0 * np.eye(2), [0.0, 0.0], walls), State(q=[0.0, 0.0], v=[-1.0, 0.5]), 0.1,
                   stepper=EventDriven())  # fmt: skip
    assert run.status == "COMPLETED"
    assert [(event.t, event.kind) for event in run.events] == [(0.0, "impact")]
    assert run.steps.restitution.tolist() == [0.0]
    assert run.final.v == pytest.approx([0.0, 0.5], abs=1e-12)


def test_among_redundant_contacts_an_impact_begins_with_the_impulses_that_are_given():
    """A spinning brick comes down flat: how its corners share the load decides how fast it spins on."""
    law = ContactLaw(mu=0.3, mu_r=0.02)
    system = SpatialSystem(
        bodies=[brick("a", mass=2.0, half=(0.2, 0.1, 0.08))], obstacles=[HalfSpace(name="floor")], contact=law
    )  # fmt: skip
    state = system.state({"a": (0.0, 0.0, 0.08)}, {"a": (1.5, 0.3, -0.5, 0.0, 0.0, 5.0)})
    cold = impact(system, state)
    diagonal = {"a:c0/floor": 1.05, "a:c1/floor": 0.95, "a:c2/floor": 0.95, "a:c3/floor": 1.05}
    other = impact(system, state, start={key: diagonal[key] * p for key, p in cold.impulses.items()})
    assert max(cold.residual, other.residual) < 1e-12
    assert np.abs(other.v - cold.v).max() > 1e-3, "several velocities obey the law"
    assert impact(system, state, start=other.impulses).v == pytest.approx(other.v, abs=1e-13)
