"""Springs, viscous friction and smooth equations on linear systems, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import first
from scipy.linalg import expm

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.errors import InputError
from gaussdyn.integrate.realizations.ode import Flow, Tolerance, integrate
from gaussdyn.integrate.realizations.penalty import Penalty
from gaussdyn.integrate.realizations.slow_manifold import fast_energy, slow_start
from gaussdyn.integrate.realizations.smooth import Smooth
from gaussdyn.integrate.realizations.viscous import Viscous
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.planar.bodies import Marker, Point
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import ball
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Position, UserSystem, Velocity

G, M = 9.81, 2.0
HEIGHT = np.array([[0.0, 1.0]])


def held(kind="bilateral", **options):
    """A heavy point above (or on) the line y = 0."""
    line = Position(lambda t, q: q[1], jacobian=lambda t, q: HEIGHT, kind=kind, name="line", **options)
    return UserSystem(2, M * np.eye(2), [0.0, -M * G], [line], potential=lambda t, q: M * G * q[1])


def brick(mu, slope=0.0):
    """A point on a rough floor; with a slope gravity is turned."""
    floor = HalfPlane(name="floor")
    return PlanarSystem(
        bodies=[Point(name="p", mass=M)],
        contacts=[PlanarContact(point=Marker("p"), plane=floor, mu=mu)],
        gravity=(G * math.sin(slope), -G * math.cos(slope)),
    )


REST = State(q=[0.0, 0.0], v=[1.0, 0.0])


class TestSpring:
    """y'' = -g - N y / m from y = 0: y = -(m g / N) (1 - cos w t)."""

    def test_from_the_constraint_it_vibrates(self):
        N = 1e4
        run = simulate(held(), REST, 0.2, stepper=Penalty(stiffness=N, dt=0.01))
        w = math.sqrt(N / M)
        np.testing.assert_allclose(run.q[:, 1], -M * G / N * (1.0 - np.cos(w * run.t)), atol=1e-11)
        np.testing.assert_allclose(run.v[:, 1], -G / w * np.sin(w * run.t), atol=1e-9)
        means = M * G * (1.0 - np.diff(np.sin(w * run.t)) / (w * 0.01))
        np.testing.assert_allclose(run["line.r"][1:], means, atol=1e-6 * M * G)  # Radau quadrature of order 5
        np.testing.assert_allclose(run.q[:, 0], run.t, atol=1e-13)

    @pytest.mark.parametrize("N", [1e3, 1e6])
    def test_fast_energy_and_the_slow_manifold(self, N):
        stepper = Penalty(stiffness=N)
        assert fast_energy(held(), REST, stepper) == pytest.approx((M * G) ** 2 / (2.0 * N), rel=1e-9)
        slow = slow_start(held(), REST, stepper)
        np.testing.assert_allclose(slow.q, [0.0, -M * G / N], rtol=1e-12)
        np.testing.assert_allclose(slow.v, [1.0, 0.0], atol=1e-12)
        assert fast_energy(held(), slow, stepper) <= 1e-18 * M * G

    def test_the_energy_of_the_springs_is_a_column(self):
        """The springs' work is that of the reactions; with what they hold nothing is lost, of bodies alone it is."""
        run = simulate(held(), REST, 0.2, stepper=Penalty(stiffness=1e4, dt=0.003))
        assert run.unit("spring_energy") == "J"
        np.testing.assert_allclose(run["spring_energy"], 0.5e4 * run.q[:, 1] ** 2, atol=1e-15)
        total = run["energy"] + run["spring_energy"]
        np.testing.assert_allclose(total, total[0], rtol=0.0, atol=1e-8)
        assert np.ptp(run["energy"]) > 1e-2 * np.ptp(run["potential"])
        np.testing.assert_allclose(run["work_reactions"], run["spring_energy"][0] - run["spring_energy"], atol=1e-8)

    def test_springs_of_friction_hold_energy_too(self):
        slope, N = 0.2, 1e4
        system, stepper = brick(0.5, slope), Penalty(stiffness=N, dt=0.01)
        run = simulate(system, State(q=[0.0, 0.0], v=[0.0, 0.0]), 0.05, stepper=stepper)
        total = run["energy"] + run["spring_energy"]
        np.testing.assert_allclose(total, total[0], rtol=0.0, atol=1e-7)
        assert run["spring_energy"].max() > 0.5 * N * run.q[:, 1].max() ** 2

    def test_a_start_across_the_constraint_keeps_its_energy(self):
        v0 = 0.3
        state = State(q=[0.0, 0.0], v=[1.0, v0])
        stepper = Penalty(stiffness=1e4, dt=0.01)
        run = simulate(held(), state, 0.1, stepper=stepper)
        energy = 0.5 * M * v0**2 + (M * G) ** 2 / 2e4
        assert fast_energy(held(), state, stepper) == pytest.approx(energy, rel=1e-6)
        assert fast_energy(held(), run.final, stepper) == pytest.approx(energy, rel=1e-6)
        assert run.settings["fast_energy_J"] == pytest.approx(energy, rel=1e-6)  # and it says so

    def test_damping_of_half_the_critical(self):
        """y = -(m g / N) (1 - exp(-z w t) (cos wd t + z / sqrt(1 - z^2) sin wd t)), z = 1/2."""
        N, z = 1e3, 0.5
        run = simulate(held(), REST, 0.5, stepper=Penalty(stiffness=N, damping=z, dt=0.01))
        w, t = math.sqrt(N / M), run.t
        wd = w * math.sqrt(1.0 - z * z)
        decay = np.exp(-z * w * t) * (np.cos(wd * t) + z * w / wd * np.sin(wd * t))
        np.testing.assert_allclose(run.q[:, 1], -M * G / N * (1.0 - decay), atol=1e-10)

    def test_an_implicit_method_settles_on_the_stiff_spring(self):
        """k = 1e12 from the slow manifold: 5600 periods are passed over."""
        stepper = Penalty(stiffness=1e12, dt=0.05)
        run = simulate(held(), slow_start(held(), REST, stepper), 0.05, stepper=stepper)
        np.testing.assert_allclose(run.q[-1], [0.05, -M * G / 1e12], atol=1e-12)
        assert run.stop is None

    def test_weights_scale_one_spring(self):
        slow = slow_start(held(), REST, Penalty(stiffness=1e4, weights={"line": 4.0}))
        assert slow.q[1] == pytest.approx(-M * G / 4e4, rel=1e-12)


@pytest.mark.slow
def test_a_ball_on_a_one_sided_spring_comes_back_as_with_restitution_one():
    """Contact lasts (pi + 2 atan(g / (w v))) / w, and the speed returns; the spring never pulls."""
    N, h = 1e5, 0.1
    w, v = math.sqrt(N / M), math.sqrt(2.0 * G * h)
    fall, contact = v / G, (math.pi + 2.0 * math.atan(G / (w * v))) / w
    run = simulate(held("unilateral"), State(q=[0.0, h], v=[0.0, 0.0]), fall + contact + 0.05, stepper=Penalty(
        stiffness=N, dt=1e-3))  # fmt: skip
    t = 0.05
    np.testing.assert_allclose(run.q[-1, 1], v * t - 0.5 * G * t * t, atol=1e-8)
    np.testing.assert_allclose(run.v[-1, 1], v - G * t, atol=1e-7)
    assert run["line.r_N"].min() >= 0.0


@pytest.mark.parametrize("apart", first(1, [1e-4, 1e-3]))
def test_springs_of_a_ball_that_another_one_strikes_push_from_where_it_meets_a_third(apart):
    """The second ball of a row is at rest when the step begins: its contact with the third is found at the end."""
    R, N = 0.1, 1e6
    system = SpatialSystem(bodies=[ball(name, mass=1.0, radius=R) for name in "abc"], gravity=(0.0, 0.0, 0.0))
    state = system.state({"a": (-2 * R - 1e-4, 0, 0), "b": (0, 0, 0), "c": (2 * R + apart, 0, 0)}, {"a": (2, 0, 0)})
    long, short = (simulate(system, state, 0.02, stepper=Penalty(stiffness=N, dt=dt)) for dt in (0.02, 2e-4))
    np.testing.assert_allclose(long.final.v, short.final.v, atol=1e-6)
    assert (long.final.v**2).sum() == pytest.approx(4.0, rel=1e-6)
    assert len(long.evidence[1].tries) == 1
    assert audit(long, system).passed


class TestTwoMasses:
    """Masses 1 and 2, the first on a spring to the wall, held together: the soft motion by the matrix exponential."""

    K = 3.0

    def system(self):
        rod = Position(lambda t, q: q[0] - q[1], jacobian=lambda t, q: np.array([[1.0, -1.0]]), kind="bilateral",
                       name="rod")  # fmt: skip
        return UserSystem(2, np.diag([1.0, 2.0]), lambda t, q, v: np.array([-self.K * q[0], 0.0]), [rod],
                          potential=lambda t, q: 0.5 * self.K * q[0] ** 2)  # fmt: skip

    def exact(self, N, y0, t):
        A = np.zeros((4, 4))
        A[:2, 2:] = np.eye(2)
        A[2:, :2] = np.diag([1.0, 0.5]) @ -np.array([[self.K + N, -N], [-N, N]])
        return expm(A * t) @ y0

    def test_soft_motion(self):
        run = simulate(self.system(), State(q=[1.0, 1.0], v=[0.0, 0.0]), 1.0, stepper=Penalty(stiffness=1e3, dt=0.25))
        np.testing.assert_allclose(
            np.r_[run.q[-1], run.v[-1]], self.exact(1e3, np.array([1.0, 1, 0, 0]), 1.0), atol=1e-8
        )

    def test_order_one_from_the_slow_manifold_and_one_half_in_the_velocity_from_the_constraint(self):
        """x = cos(w t), w^2 = K / 3; the slow start leaves O(1/N) in all, the given one v = O(N^-1/2)."""
        w, t = math.sqrt(self.K / 3.0), 0.83
        rigid = np.array([math.cos(w * t)] * 2 + [-w * math.sin(w * t)] * 2)
        ladder, state = [1e4, 1e5, 1e6], State(q=[1.0, 1.0], v=[0.0, 0.0])
        found = []
        for N in ladder:
            slow = slow_start(self.system(), state, Penalty(stiffness=N))
            y = self.exact(N, np.r_[slow.q, slow.v], t)
            found.append(np.abs(y - rigid).max())
            far = np.abs(self.exact(N, np.array([1.0, 1, 0, 0]), t) - rigid)
            assert far[2:].max() * math.sqrt(N) < 2.0
        assert -np.polyfit(np.log(ladder), np.log(found), 1)[0] == pytest.approx(1.0, abs=0.005)


class TestFriction:
    """A point on a rough floor of springs."""

    def test_sliding(self):
        state = State(q=[0.0, 0.0], v=[1.0, 0.0])
        stepper = Penalty(stiffness=1e5, dt=0.01)
        run = simulate(brick(0.3), slow_start(brick(0.3), state, stepper), 0.1, stepper=stepper)
        np.testing.assert_allclose(run.q[-1, 0], 0.1 - 0.5 * 0.3 * G * 0.01, atol=1e-5)
        np.testing.assert_allclose(run["p/floor.r_T"][1:], -0.3 * M * G, rtol=1e-4)
        np.testing.assert_allclose(run["p/floor.r_N"][1:], M * G, rtol=1e-6)

    def test_sticking_gives_way_by_the_force_over_the_stiffness(self):
        slope, N = 0.2, 1e4
        system, stepper = brick(0.5, slope), Penalty(stiffness=1e4, dt=0.01)
        state = slow_start(system, State(q=[0.0, 0.0], v=[0.0, 0.0]), stepper)
        run = simulate(system, state, 0.05, stepper=stepper)
        np.testing.assert_allclose(run["p/floor.r_T"][1:], -M * G * math.sin(slope), rtol=1e-9)
        assert run.modes["p/floor"][-1] == "stick" if hasattr(run, "modes") else True
        assert abs(run.q[-1, 0]) <= 1e-12
        assert run.q[-1, 1] == pytest.approx(-M * G * math.cos(slope) / N, rel=1e-9)

    def test_viscous_creep_on_a_slope(self):
        """Below the cap friction is -N u: the point creeps at m g sin(slope) / N."""
        slope, N = 0.2, 1e4
        system, stepper = brick(0.5, slope), Viscous(stiffness=N, dt=0.01)
        state = slow_start(system, State(q=[0.0, 0.0], v=[0.0, 0.0]), stepper)
        run = simulate(system, state, 0.05, stepper=stepper)
        np.testing.assert_allclose(run.v[:, 0], M * G * math.sin(slope) / N, rtol=1e-6)


class TestViscous:
    """m v' = F - N v: v = F / N + (v0 - F / N) exp(-N t / m)."""

    @staticmethod
    def system():
        law = Velocity(lambda t, q, v: v[1], kind="bilateral", name="across")
        return UserSystem(2, M * np.eye(2), [0.0, 3.0], [law])

    @pytest.mark.parametrize("v0", [0.0, 0.5])
    def test_layer_in_force_and_velocity(self, v0):
        N = 200.0
        run = simulate(self.system(), State(q=[0.0, 0.0], v=[1.0, v0]), 0.06, stepper=Viscous(stiffness=N, dt=0.002))
        v = 3.0 / N + (v0 - 3.0 / N) * np.exp(-N * run.t / M)
        np.testing.assert_allclose(run.v[:, 1], v, atol=1e-10)
        y = 3.0 / N * run.t + (v0 - 3.0 / N) * (1.0 - np.exp(-N * run.t / M)) * M / N
        np.testing.assert_allclose(run["across.r"][1:], -N * np.diff(y) / 0.002, rtol=1e-6, atol=1e-8)

    def test_its_slow_manifold(self):
        slow = slow_start(self.system(), State(q=[0.0, 0.0], v=[1.0, 0.0]), Viscous(stiffness=200.0))
        np.testing.assert_allclose(slow.v, [1.0, 3.0 / 200.0], rtol=1e-9)


class TestSmooth:
    """Baumgarte: gap'' + 2 alpha gap' + alpha^2 gap = 0 from a start beside the line."""

    def test_baumgarte_draws_back(self):
        alpha, gap, rate, t = 5.0, 0.1, 0.2, 0.3
        stepper = Smooth(baumgarte=alpha, project=False, dt=t)
        step = stepper.advance(held(), State(q=[0.0, gap], v=[1.0, rate]), t)
        wanted = (gap + (rate + alpha * gap) * t) * math.exp(-alpha * t)
        assert step.state.q[1] == pytest.approx(wanted, abs=1e-11)
        assert step.solution.iterations >= 1

    def test_projection_puts_it_back(self):
        step = Smooth(dt=0.1).advance(held(), State(q=[0.0, 0.1], v=[1.0, 0.2]), 0.1)
        np.testing.assert_allclose([step.state.q[1], step.state.v[1]], 0.0, atol=1e-15)

    def test_redundant_rows_share_their_reaction(self):
        twice = [Position(lambda t, q: q[1], kind="bilateral", name=name) for name in ("one", "two")]
        system = UserSystem(2, M * np.eye(2), [0.0, -M * G], twice)
        run = simulate(system, REST, 0.1, stepper=Smooth(dt=0.05))
        for name in ("one", "two"):
            np.testing.assert_allclose(run[f"{name}.r"][1:], M * G / 2.0, rtol=1e-8)

    def test_a_contact_that_closes_stops_the_run_and_is_named(self):
        run = simulate(held("unilateral"), State(q=[0.0, 0.1], v=[0.0, 0.0]), 1.0, stepper=Smooth(dt=0.05))
        assert "line" in run.stop.reason
        assert "MoreauJean" in run.stop.reason
        assert run.t_reached == pytest.approx(0.1)  # the last step before sqrt(2 h / g) = 0.1428


class TestEscape:
    """U = -x^4 from x = 1 at rest: at infinity at t* = int_1^oo dx / sqrt(2 (x^4 - 1)), for every N."""

    T_STAR = 0.927037338463

    @pytest.mark.parametrize("stepper", first(1, [Penalty(stiffness=1e2, dt=0.05), Penalty(stiffness=1e4, dt=0.05),
                                                  Smooth(dt=0.05)]))  # fmt: skip
    def test_escape_is_told_from_a_failure_of_the_solver(self, stepper):
        line = Position(lambda t, q: q[1], jacobian=lambda t, q: HEIGHT, kind="bilateral", name="line")
        system = UserSystem(2, np.eye(2), lambda t, q, v: np.array([4.0 * q[0] ** 3, 0.0]), [line],
                            potential=lambda t, q: -(q[0] ** 4))  # fmt: skip
        run = simulate(system, State(q=[1.0, 0.0], v=[0.0, 0.0]), 2.0, stepper=stepper)
        assert run.stop.reason.startswith("Escape")
        at = float(run.stop.reason.split("t = ")[1].split(" s")[0])
        assert at == pytest.approx(self.T_STAR, abs=1e-8)
        assert run.t_reached == pytest.approx(0.9)

    def test_fast_growth_is_no_escape(self):
        """x'' = 100 x grows a thousandfold within a second and stays finite."""
        system = UserSystem(1, [[1.0]], lambda t, q, v: 100.0 * q)
        run = simulate(system, State(q=[1.0], v=[10.0]), 1.0, stepper=Smooth(dt=0.1))
        assert run.stop is None
        assert run.q[-1, 0] == pytest.approx(math.exp(10.0), rel=1e-9)


class TestRefused:
    """What a realization cannot do is said before work, or with what it could do."""

    def test_a_stiffness_that_rounding_forbids(self):
        with pytest.raises(InputError, match=r"stiffness: given 1e\+17; allowed: <= .*Rounding"):
            simulate(held(), State(q=[1.0, 0.0], v=[0.0, 0.0]), 1.0, stepper=Penalty(stiffness=1e17))

    def test_a_stiffness_that_the_steps_cannot_follow(self):
        stepper = Penalty(stiffness=1e8, dt=0.05, max_steps=100, method="DOP853")
        run = simulate(held(), REST, 0.5, stepper=stepper)
        assert run.t_reached == 0.0
        largest = float(run.stop.reason.split("allowed: about ")[1].split(" ")[0])
        assert 1e5 < largest < 1e8
        again = simulate(held(), REST, 0.1, stepper=Penalty(stiffness=largest / 4.0, dt=0.05, max_steps=100,
                                                            method="DOP853"))  # fmt: skip
        assert again.stop is None

    def test_a_start_off_the_joints(self):
        with pytest.raises(InputError, match=r"line: gap 0\.1.*project=True"):
            simulate(held(), State(q=[0.0, 0.1], v=[0.0, 0.0]), 0.1, stepper=Smooth())
        run = simulate(held(), State(q=[0.0, 0.1], v=[1.0, 0.2]), 0.1, stepper=Smooth(dt=0.1), project=True)
        np.testing.assert_allclose(run.q[:, 1], 0.0, atol=1e-12)

    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda: Penalty(stiffness=-1.0), "stiffness"),
            (lambda: Penalty(stiffness=float("nan")), "stiffness"),
            (lambda: Penalty(damping=11.0), "damping"),
            (lambda: Penalty(method="Euler"), "DOP853"),
            (lambda: Penalty(weights={"line": 0.0}), "weight of line"),
            (lambda: Penalty(weights=3), "weights"),
            (lambda: Viscous(normal=-1.0), "normal"),
            (lambda: Smooth(project=1), "project"),
            (lambda: Smooth(rtol=0.5), "rtol"),
            (lambda: Smooth(max_steps=0), "max_steps"),
        ],
    )
    def test_settings(self, make, words):
        with pytest.raises(InputError, match=words):
            make()

    def test_rows_that_no_force_law_knows(self):
        law = Velocity(lambda t, q, v: v[1], kind="unilateral", name="across")
        system = UserSystem(2, np.eye(2), [0.0, 0.0], [law])
        with pytest.raises(InputError, match="level of across"):
            simulate(system, REST, 0.1, stepper=Penalty())
        with pytest.raises(InputError, match="constraints for viscous"):
            simulate(held(), REST, 0.1, stepper=Viscous())


def flow(slope):
    return Flow(slope=slope, jacobian=lambda t, y: np.zeros((1, 1)), collect=lambda t, y: np.zeros(1), places=0)


def test_a_trial_stage_where_the_slope_is_not_defined_only_shortens_the_step():
    def slope(t, y):
        if abs(y[0]) > 1.0 + 1e-9:
            raise InputError("y", y[0], "at most 1", "Write y0=0.5.")
        return -1000.0 * y

    course = integrate(flow(slope), 0.0, np.ones(1), 0.02, "DOP853", Tolerance(rtol=1e-8, atol=1e-10, max_steps=1000))
    assert course.y[0] == pytest.approx(math.exp(-20.0), abs=1e-9)


def test_a_slope_that_ends_ends_the_integration_with_its_own_words():
    def slope(t, y):
        if y[0] > 0.5:
            raise InputError("y", y[0], "at most 1/2", "Write y0=0.2.")
        return np.ones(1)

    with pytest.raises(InputError, match="at most 1/2"):
        integrate(flow(slope), 0.0, np.zeros(1), 1.0, "DOP853", Tolerance(rtol=1e-8, atol=1e-10, max_steps=1000))
