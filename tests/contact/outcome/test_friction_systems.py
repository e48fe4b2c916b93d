"""Friction through resolve: closed forms at rest, sliding, held, dry and rolling, on both levels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from gaussdyn.contact.assemble import assemble, blocks
from gaussdyn.contact.resolve import reactions, resolve
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.errors import InputError
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Acceleration, Position, UserSystem, Velocity
from gaussdyn.programs.blocks.gauss_seidel.gauss_seidel import GaussSeidel
from gaussdyn.programs.laws.laws import BilateralSliding, Coulomb, Dry, Rolling, Sliding, Unilateral
from gaussdyn.programs.solution.status import Status

G = 9.81


def answer(system, q, v, t=0.0, **options):
    """Resolve, and check that M x = h + sum of J^T reaction."""
    dynamics = snapshot(system, State(q=q, v=v, t=t), **options)
    solution = resolve(dynamics).require()
    r = reactions(dynamics, solution)
    load = sum((row.J.T @ r[row.id] for row in dynamics.rows if row.id in r), np.zeros(dynamics.nv))
    scale = 1.0 + np.abs(dynamics.h).max() + np.abs(load).max()
    np.testing.assert_allclose(dynamics.M @ solution.x, dynamics.h + load, atol=1e-11 * scale)
    return solution, r, dynamics


class TestBlockOnAnIncline:
    ANGLE, MU = 0.5, 0.3

    def system(self, mu=MU, **options):
        s, c = np.sin(self.ANGLE), np.cos(self.ANGLE)
        floor = Position(lambda t, q: -s * q[0] + c * q[1], mu=mu, name="incline", **options)
        return UserSystem(2, 2.0 * np.eye(2), [0.0, -2.0 * G], [floor]), np.array([c, s]), np.array([-s, c])

    @pytest.mark.parametrize("speed", [3.0, -3.0])
    def test_sliding(self, speed):
        system, up, _ = self.system()
        solution, r, dynamics = answer(system, [0.0, 0.0], speed * up)
        a = -G * np.sin(self.ANGLE) - np.sign(speed) * self.MU * G * np.cos(self.ANGLE)
        np.testing.assert_allclose(solution.x, a * up, atol=1e-10)
        N = 2.0 * G * np.cos(self.ANGLE)
        np.testing.assert_allclose(r["incline"], [N, -np.sign(speed) * self.MU * N], atol=1e-9)
        assert isinstance(assemble(dynamics).laws[0], Sliding)

    def test_starts_to_slide(self):
        system, up, _ = self.system()
        solution, _, dynamics = answer(system, [0.0, 0.0], [0.0, 0.0])
        a = -G * (np.sin(self.ANGLE) - self.MU * np.cos(self.ANGLE))
        np.testing.assert_allclose(solution.x, a * up, atol=1e-10)
        assert assemble(dynamics).laws == (Coulomb(self.MU, dim=2),)

    def test_stays(self):
        system, _, _ = self.system(mu=0.6)
        solution, r, _ = answer(system, [0.0, 0.0], [0.0, 0.0])
        np.testing.assert_allclose(solution.x, 0.0, atol=1e-11)
        weight = 2.0 * G
        np.testing.assert_allclose(
            r["incline"], [weight * np.cos(self.ANGLE), weight * np.sin(self.ANGLE)], atol=1e-9
        )  # T points up the slope

    def test_static_friction_holds_more_than_sliding_friction(self):
        system, up, _ = self.system(mu=0.3, mu_s=0.6)
        np.testing.assert_allclose(answer(system, [0, 0], [0, 0])[0].x, 0.0, atol=1e-11)
        moving = answer(system, [0, 0], -1.0 * up)[0].x @ up
        assert moving == pytest.approx(-G * (np.sin(self.ANGLE) - 0.3 * np.cos(self.ANGLE)), abs=1e-10)

    def test_leaves_the_incline(self):
        system, _, n = self.system()
        system = UserSystem(2, 2.0 * np.eye(2), 5.0 * n, system.constraints.values())
        solution, r, _ = answer(system, [0, 0], [0, 0])
        np.testing.assert_allclose(solution.x, 2.5 * n, atol=1e-11)
        np.testing.assert_allclose(r["incline"], 0.0, atol=1e-11)

    def test_a_step_stops_the_block(self):
        system, up, _ = self.system(mu=0.8)
        dt, v = 0.1, 0.2
        solution, r, dynamics = answer(system, [0, 0], -v * up, level="velocity", dt=dt)
        np.testing.assert_allclose(solution.x, 0.0, atol=1e-11)
        assert assemble(dynamics).laws == (Coulomb(0.8, dim=2),)
        needed = 2.0 * (v + dt * G * np.sin(self.ANGLE))
        np.testing.assert_allclose(r["incline"], [2.0 * G * dt * np.cos(self.ANGLE), needed], atol=1e-11)

    def test_oblique_impact_with_friction(self):
        floor = Position(lambda t, q: q[1], mu=0.3, eps_n=0.5, name="floor")
        system = UserSystem(2, np.eye(2), [0.0, -G], [floor])
        solution, r, _ = answer(system, [0, 0], [4.0, -2.0], level="velocity")
        np.testing.assert_allclose(solution.x, [4.0 - 0.3 * 3.0, 1.0], atol=1e-12)
        np.testing.assert_allclose(r["floor"], [3.0, -0.9], atol=1e-12)

    def test_tangential_restitution(self):
        floor = Position(lambda t, q: q[1], mu=5.0, eps_n=0.5, eps_t=0.4, name="floor")
        solution, _, _ = answer(UserSystem(2, np.eye(2), [0, 0], [floor]), [0, 0], [3.0, -2.0], level="velocity")
        np.testing.assert_allclose(solution.x, [-1.2, 1.0], atol=1e-12)


def test_moving_belt_drags_the_block():
    belt = Position(lambda t, q: q[1], mu=0.3, surface=2.0, name="belt")
    system = UserSystem(2, np.eye(2), [0.0, -10.0], [belt])
    assert answer(system, [0, 0], [0.0, 0.0])[0].x[0] == pytest.approx(3.0, abs=1e-11)
    assert answer(system, [0, 0], [2.0, 0.0])[0].x[0] == pytest.approx(0.0, abs=1e-11)
    assert answer(system, [0, 0], [3.0, 0.0])[0].x[0] == pytest.approx(-3.0, abs=1e-11)


def test_sliding_in_space_points_against_the_slip():
    floor = Position(lambda t, q: q[2], mu=0.5, tangent=lambda t, q: [[1.0, 0, 0], [0, 1.0, 0]], name="floor")
    system = UserSystem(3, np.diag([2.0, 2.0, 2.0]), [1.0, 0, -2.0 * G], [floor])
    solution, r, _ = answer(system, [0] * 3, [3.0, 4.0, 0.0])
    np.testing.assert_allclose(r["floor"], 2.0 * G * np.array([1.0, -0.3, -0.4]), atol=1e-10)
    np.testing.assert_allclose(solution.x, [0.5 - 0.3 * G, -0.4 * G, 0.0], atol=1e-10)


class TestRod:
    """Unit mass and radius of gyration, centre at C + (a, h); Ivanov (2009), section 5.2."""

    l, angle = 2.0, 1.0

    def parts(self, kind, mu, load, v_slip, omega):
        a, h = self.l * np.cos(self.angle), self.l * np.sin(self.angle)
        tip = Position(
            lambda t, q: q[1] - self.l * np.sin(q[2]), kind=kind, mu=mu, name="tip",
            tangent=lambda t, q: [1.0, 0.0, self.l * np.sin(q[2])],
        )  # fmt: skip
        system = UserSystem(3, np.eye(3), load, [tip])
        v = [v_slip - h * omega, a * omega, omega]
        return system, [0.0, h, self.angle], v, a, h

    @pytest.mark.parametrize("kind", ["unilateral", "bilateral"])
    @pytest.mark.parametrize("slip", [1.0, -1.0])
    @pytest.mark.parametrize("load", [(0.3, -9.81, 0.2), (0.0, 2.0, -3.0), (-1.0, -5.0, 4.0)])
    def test_sliding(self, kind, slip, load):
        mu, omega = 0.6, 0.7
        system, q, v, a, h = self.parts(kind, mu, load, slip, omega)
        P1 = a * load[2] - load[1] - h * omega**2
        k = mu * a * h * slip
        if kind == "unilateral":
            N = max(P1 / (1 + a * a + k), 0.0)
        else:
            N = P1 / (1 + a * a + k * np.sign(P1))
        T = -slip * mu * abs(N)
        solution, r, dynamics = answer(system, q, v)
        np.testing.assert_allclose(r["tip"], [N, T], atol=1e-9)
        np.testing.assert_allclose(solution.x, np.array(load) + np.array([T, N, -a * N + h * T]), atol=1e-9)
        law = assemble(dynamics).laws[0]
        assert type(law) is (Sliding if kind == "unilateral" else BilateralSliding)

    def test_stick_from_rest(self):
        load, mu = (0.3, -9.81, 1.0), 5.0
        system, q, v, a, h = self.parts("unilateral", mu, load, 0.0, 0.0)
        P = [a * load[2] - load[1], load[0] + h * load[2]]
        N, T = np.linalg.solve([[1 + a * a, -a * h], [a * h, -(1 + h * h)]], P)
        assert N > 0
        assert abs(T) < mu * N
        _, r, _ = answer(system, q, v)
        np.testing.assert_allclose(r["tip"], [N, T], atol=1e-9)


def bipod(mu, load, v, a=1.0, h=0.6, mass=2.0):
    """Two feet at (-a, -h) and (a, -h) of a body, both held on the ground; Ivanov (2009), section 5.3."""

    def foot(side, mu):
        return Position(
            lambda t, q: q[1] - h * np.cos(q[2]) + side * a * np.sin(q[2]) + h, mu=mu, kind="bilateral",
            tangent=lambda t, q: [1.0, 0.0, h * np.cos(q[2]) - side * a * np.sin(q[2])], name=f"foot{side}",
        )  # fmt: skip

    return UserSystem(3, np.diag([mass, mass, 1.0]), load, [foot(-1, mu[0]), foot(1, mu[1])]), [0.0, 0, 0], v


@pytest.mark.parametrize("load", [(5.0, -20.0, 0.0), (40.0, -20.0, 0.0), (-3.0, -20.0, 0.0)])
def test_bipod_sliding_right(load):
    a, h, mass, mu = 1.0, 0.6, 2.0, (0.5, 0.9)  # k1 + k2 = (mu1 + mu2) h / (2 a) < 1: one solution
    F, P = load[0], -load[1]

    def feet(w):
        lean = h / a * (F - mass * w)
        return (P - lean) / 2, (P + lean) / 2

    def balance(w):
        N1, N2 = feet(w)
        return F - mass * w - mu[0] * abs(N1) - mu[1] * abs(N2)

    w = brentq(balance, -100.0, 100.0, xtol=1e-14)
    solution, r, dynamics = answer(*bipod(mu, load, [1.0, 0.0, 0.0]))
    assert {type(law) for law in assemble(dynamics).laws} == {BilateralSliding}
    np.testing.assert_allclose(solution.x, [w, 0.0, 0.0], atol=1e-10)
    np.testing.assert_allclose([r["foot-1"][0], r["foot1"][0]], feet(w), atol=1e-9)


class TestDryFriction:
    def wheel(self, torque, cap_s=None, **options):
        joint = Velocity(lambda t, q, v: v[0], kind="dry", cap=2.0, cap_s=cap_s, name="joint")
        return UserSystem(1, [[0.5]], [torque], [joint])

    def test_rests_below_the_cap(self):
        solution, r, dynamics = answer(self.wheel(1.5), [0.0], [0.0])
        assert solution.x[0] == pytest.approx(0.0, abs=1e-12)
        assert r["joint"][0] == pytest.approx(-1.5, abs=1e-12)
        assert assemble(dynamics).laws == (Dry(2.0, 2.0),)

    def test_breaks_loose_above_the_cap(self):
        assert answer(self.wheel(3.0), [0.0], [0.0])[0].x[0] == pytest.approx(2.0, abs=1e-12)

    def test_static_cap(self):
        assert answer(self.wheel(3.0, cap_s=3.5), [0.0], [0.0])[0].x[0] == pytest.approx(0.0, abs=1e-12)

    def test_slipping_is_a_given_force(self):
        solution, r, dynamics = answer(self.wheel(3.0), [0.0], [-1.0])
        assert solution.x[0] == pytest.approx(10.0)
        assert r["joint"][0] == 2.0
        assert assemble(dynamics).laws == ()

    def test_impulse_of_a_step_is_at_most_cap_times_dt(self):
        solution, r, _ = answer(self.wheel(0.0), [0.0], [1.0], level="velocity", dt=0.1)
        assert solution.x[0] == pytest.approx(0.6, abs=1e-12)
        assert r["joint"][0] == pytest.approx(-0.2, abs=1e-13)
        stopped, r, _ = answer(self.wheel(0.0), [0.0], [0.1], level="velocity", dt=0.1)
        assert stopped.x[0] == pytest.approx(0.0, abs=1e-13)
        assert r["joint"][0] == pytest.approx(-0.05, abs=1e-13)

    def test_two_joints_in_a_row(self):
        # the second body is dragged along: joint 2 rests between the bodies, joint 1 slips against the ground
        grounded = Velocity(lambda t, q, v: v[0], kind="dry", cap=1.0, name="ground")
        between = Velocity(lambda t, q, v: v[1] - v[0], kind="dry", cap=5.0, name="between")
        system = UserSystem(2, np.diag([1.0, 3.0]), [0.0, 9.0], [grounded, between])
        solution, r, _ = answer(system, [0, 0], [2.0, 2.0])
        np.testing.assert_allclose(solution.x, [2.0, 2.0], atol=1e-12)
        np.testing.assert_allclose([r["ground"][0], r["between"][0]], [-1.0, -3.0], atol=1e-12)


class Ball(UserSystem):
    """A ball of mass 2, radius 0.5 and inertia 0.3 on the plane z = 0, with rolling resistance.

    v = (velocity of the centre, angular velocity); q is not used. Rolling rows: (0.0, horizontal angular velocity).
    """

    R, INERTIA, MASS = 0.5, 0.3, 2.0

    def __init__(self, load, mu, mu_r):
        super().__init__(6, np.diag([self.MASS] * 3 + [self.INERTIA] * 3), load)
        self._friction = mu, mu_r

    def rows(self, t, q, v):
        R = self.R
        J = np.zeros((5, 6))
        J[0, 2] = J[1, 0] = J[2, 1] = J[3, 3] = J[4, 4] = 1.0
        J[1, 4], J[2, 3] = -R, R  # velocity of the lowest point: v + omega x (0, 0, -R)
        mu, mu_r = self._friction
        return (Row(id="ball", kind="contact", J=J, rate=J @ v, drift=np.zeros(5), mu=mu, mu_r=mu_r),)


class TestRolling:
    WEIGHT = 2.0 * G

    def ball(self, push, v, mu=0.5, mu_r=0.01, **options):
        return answer(Ball([push, 0, -self.WEIGHT, 0, 0, 0], mu, mu_r), np.zeros(6), v, **options)

    def test_rests_below_the_threshold(self):
        threshold = 0.01 * self.WEIGHT / Ball.R
        solution, _, dynamics = self.ball(0.99 * threshold, np.zeros(6))
        np.testing.assert_allclose(solution.x, 0.0, atol=1e-9)
        assert assemble(dynamics).laws == (Rolling(0.5, 0.01),)

    def test_rolls_without_slipping(self):
        v = [1.0, 0, 0, 0, 1.0 / Ball.R, 0]
        solution, r, dynamics = self.ball(3.0, v)
        # m a = push + T, I a / R = -R T - mu_r N
        a = (3.0 - 0.01 * self.WEIGHT / Ball.R) / (Ball.MASS + Ball.INERTIA / Ball.R**2)
        np.testing.assert_allclose(solution.x, [a, 0, 0, 0, a / Ball.R, 0], atol=1e-9)
        np.testing.assert_allclose(r["ball"][[3, 4]], [0.0, -0.01 * self.WEIGHT], atol=1e-9)
        assert assemble(dynamics).laws == (Coulomb(0.5),)

    def test_slips_and_rolls(self):
        solution, r, dynamics = self.ball(0.0, [2.0, 0, 0, 0, 1.0, 0], mu_r=0.02)
        np.testing.assert_allclose(r["ball"], self.WEIGHT * np.array([1, -0.5, 0, 0, -0.02]), atol=1e-9)
        np.testing.assert_allclose(solution.x[4], (0.5 * Ball.R - 0.02) * self.WEIGHT / Ball.INERTIA, atol=1e-9)
        assert type(assemble(dynamics).laws[0]) is Sliding

    def test_slips_without_rolling_yet(self):
        # friction torque mu N R exceeds mu_r N: the ball starts to turn; with mu_r > mu R it does not
        turns, _, dynamics = self.ball(0.0, [2.0, 0, 0, 0, 0, 0], mu_r=0.02)
        assert assemble(dynamics).laws == (Coulomb(0.02),)
        np.testing.assert_allclose(turns.x[4], (0.5 * Ball.R - 0.02) * self.WEIGHT / Ball.INERTIA, atol=1e-9)
        held, r, _ = self.ball(0.0, [2.0, 0, 0, 0, 0, 0], mu_r=0.3)
        np.testing.assert_allclose(held.x[3:], 0.0, atol=1e-9)
        np.testing.assert_allclose(r["ball"][4], -0.5 * Ball.R * self.WEIGHT, atol=1e-9)

    def test_a_step_keeps_a_resting_ball(self):
        solution, _, dynamics = self.ball(0.3, np.zeros(6), level="velocity", dt=0.1)
        np.testing.assert_allclose(solution.x, 0.0, atol=1e-9)
        assert assemble(dynamics).laws == (Rolling(0.5, 0.01),)

    def test_five_rows_without_rolling_resistance_are_a_plain_contact(self):
        _, r, dynamics = self.ball(1.0, np.zeros(6), mu_r=0.0)
        assert assemble(dynamics).laws == (Coulomb(0.5),)
        assert r["ball"].shape == (5,)


class TestWithBilateralRows:
    def guided(self, *guides):
        """A block on a rough floor whose load is carried by vertical rows as well."""
        floor = Position(lambda t, q: q[1], mu=0.4, name="floor")
        return UserSystem(2, np.eye(2), [3.0, -10.0], [*guides, floor])

    def test_redundant_rows_share_their_load(self):
        guides = [Position(lambda t, q: q[0], kind="bilateral", name=f"guide{k}") for k in range(2)]
        solution, r, _ = answer(self.guided(*guides), [0, 0], [0, 0])
        np.testing.assert_allclose(solution.x, 0.0, atol=1e-11)
        # the guides hold x: what they carry together goes beside the friction, equally
        assert r["guide0"][0] == pytest.approx(r["guide1"][0], abs=1e-10)

    def test_redundant_rows_of_another_scale_carry_the_shortest_multiplier(self):
        rail = [Acceleration([[1.0, -1.0, 0.0]], [0.0], "bilateral", name="one"),
                Acceleration([[2.0, -2.0, 0.0]], [0.0], "bilateral", name="two")]  # fmt: skip
        rough = Position(lambda t, q: q[2], mu=0.1, tangent=lambda t, q: [[0.0, 1.0, 0.0]], name="floor")
        system = UserSystem(3, np.diag([1.0, 2.0, 1.0]), [6.0, 0.0, -10.0], [*rail, rough])
        solution, r, _ = answer(system, [0] * 3, [0] * 3)
        a = (6.0 - 1.0) / 3.0
        np.testing.assert_allclose(solution.x, [a, a, 0.0], atol=1e-10)
        S = a - 6.0  # carried by one + 2 * two
        np.testing.assert_allclose([r["one"][0], r["two"][0]], [S / 5, 2 * S / 5], atol=1e-10)

    def test_contradictory_rows_are_infeasible(self):
        rows = [Acceleration([1.0, 0.0], 1.0, "bilateral"), Acceleration([1.0, 0.0], 2.0, "bilateral")]
        solution = resolve(snapshot(self.guided(*rows), State(q=[0, 0], v=[0, 0])))
        assert solution.status is Status.INFEASIBLE
        assert solution.certificate is not None


def test_blocks_say_which_constraint_they_belong_to():
    floor = Position(lambda t, q: q[1], mu=0.4, name="floor")
    smooth = Position(lambda t, q: q[1] + q[0], name="smooth")
    rod = Velocity(lambda t, q, v: v[0], kind="bilateral", name="rod")
    far = Position(lambda t, q: q[1] + 1.0, mu=0.4, name="far")
    system = UserSystem(2, np.eye(2), [0.0, -1.0], [far, rod, floor, smooth])
    dynamics = snapshot(system, State(q=[0, 0], v=[0, 0]))
    found = [(part.active.row.id, type(part.law)) for part in blocks(dynamics)]
    assert found == [("rod", type(None)), ("floor", Coulomb), ("smooth", Unilateral)]
    assert assemble(dynamics).laws == (Coulomb(0.4, dim=2), Unilateral())


def test_frictionless_contact_with_a_method_for_blocks():
    system = UserSystem(1, [[2.0]], [-8.0], [Position(lambda t, q: q[0], mu=None, name="floor")])
    dynamics = snapshot(system, State(q=[0.0], v=[0.0]))
    solution = resolve(dynamics, method=GaussSeidel()).require()
    assert reactions(dynamics, solution)["floor"][0] == pytest.approx(8.0)


def test_a_method_for_programs_is_refused_where_friction_acts():
    from gaussdyn.programs.quadratic.dual_active_set import ActiveSet

    system = UserSystem(2, np.eye(2), [0.0, -8.0], [Position(lambda t, q: q[1], mu=0.3)])
    with pytest.raises(InputError, match=r"^method"):
        resolve(snapshot(system, State(q=[0, 0], v=[0, 0])), method=ActiveSet())


def test_assemble_refuses_a_state_without_acceleration():
    system = UserSystem(2, np.eye(2), [0.0, -8.0], [Position(lambda t, q: q[1], mu=0.3, name="floor")])
    dynamics = snapshot(system, State(q=[0, 0], v=[0, -1.0]))
    with pytest.raises(InputError, match="IMPACT_NEEDED at floor"):
        assemble(dynamics)
    assert resolve(dynamics).status is Status.IMPACT_NEEDED


def test_nonlinear_velocity_constraint_with_friction():
    # a skater held to constant speed while sliding on a rough floor
    speed = Velocity(lambda t, q, v: v[0] ** 2 + v[1] ** 2 - 4.0, kind="bilateral", name="speed")
    floor = Position(lambda t, q: q[2], mu=0.2, tangent=lambda t, q: [[1.0, 0, 0], [0, 1.0, 0]], name="floor")
    system = UserSystem(3, np.eye(3), [1.0, 3.0, -10.0], [speed, floor])
    dynamics = snapshot(system, State(q=[0] * 3, v=[2.0, 0.0, 0.0]), level="velocity", dt=0.1)
    solution = resolve(dynamics).require()
    r = reactions(dynamics, solution)
    v = solution.x
    assert abs(v[0] ** 2 + v[1] ** 2 - 4.0) <= 1e-12
    load = np.array([2 * v[0], 2 * v[1], 0.0]) * r["speed"][0] + r["floor"][[1, 2, 0]]
    np.testing.assert_allclose(v - dynamics.h, load, atol=1e-9)
    np.testing.assert_allclose(r["floor"][1:], -0.2 * r["floor"][0] * v[:2] / 2.0, atol=1e-9)
