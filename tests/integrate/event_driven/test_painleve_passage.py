"""Passages where no acceleration exists: closed forms of the impact without collision, and springs as arbiter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gaussdyn import InputError, MoreauJean, State, audit, build, outcome, simulate, snapshot
from gaussdyn.checker_blocks import main as check
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.event_driven.painleve_passage import Compliance, passage, separatrix
from gaussdyn.integrate.impact.impact_laws import Poisson
from gaussdyn.integrate.realizations.penalty import Penalty
from gaussdyn.integrate.stepper_names import from_settings
from gaussdyn.mechanics.planar.bodies import Marker, box
from gaussdyn.mechanics.planar.contacts import PlanarContact
from gaussdyn.mechanics.planar.system import PlanarSystem

TIP = "rod.tip/floor"
SIDES = ((-0.5, "left"), (0.5, "right"))
G = 9.81


def local(scene):
    """W and u of the tip, by hand from the Jacobian of a point of a rod: (N, T) of the tip."""
    (row,) = scene.system.rows(0.0, scene.state.q, scene.state.v)
    M = scene.system.mass(scene.state.q)
    return row.J @ np.linalg.solve(M, row.J.T), row.J @ scene.state.v, row


@pytest.mark.parametrize(
    "params", [{}, {"mu": 2.0, "angle": 0.9, "slip": -3.0}, {"mu": 2.0, "angle": 2.2, "slip": 2.0}]
)
def test_impact_without_collision_stops_the_slip(params, tmp_path):
    scene = build("painleve_rod", **params)
    W, u, row = local(scene)
    found = passage(scene.system, scene.state)
    assert found.solved
    assert found.outcome.verdict == "NONE"
    assert check([str(found.outcome.certificate.save(tmp_path / "none.json"))]) == 0
    assert row.J @ found.v == pytest.approx([0.0, 0.0], abs=1e-12)
    p = np.linalg.solve(W, -u)
    assert found.impulses[TIP] == pytest.approx(p, rel=1e-10)
    assert abs(p[1]) <= row.mu * p[0]
    assert found.energy == pytest.approx(0.5 * p @ (u + 0.0 * u), rel=1e-10)
    assert found.energy < 0.0


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_restitution_gives_back_a_share_of_the_impulse(e):
    scene = build("painleve_rod")
    W, u, row = local(scene)
    found = passage(scene.system, scene.state, law=Poisson(eps_n=e))
    free = W[0, 0] - W[0, 1] ** 2 / W[1, 1]  # the tip sticks while it is thrown off
    p = e * np.linalg.solve(W, -u)[0]
    assert row.J @ found.v == pytest.approx([free * p, 0.0], abs=1e-12)


def thrown_off(scene):
    """Speed with which a lossless spring of infinite stiffness throws the tip off: compression work comes back."""
    W, u, row = local(scene)
    s = math.copysign(1.0, u[1])
    A = W[0, 0] - row.mu * s * W[0, 1]
    p = -u[1] / (W[1, 0] - row.mu * s * W[1, 1])
    D = W[0, 0] - W[0, 1] ** 2 / W[1, 1]
    return math.sqrt(D * abs(A) * p * p + (A * p) ** 2)


@pytest.mark.slow
def test_springs_tend_to_the_impact_without_collision():
    scene = build("painleve_rod")
    _, _, row = local(scene)
    errors = []
    for stiffness in (1e6, 1e8, 1e10):
        found = passage(scene.system, scene.state, by=Compliance(stiffness=stiffness))
        assert found.solved
        normal, tangential = row.J @ found.v
        assert abs(tangential) <= 0.02  # 1 m/s before
        assert found.duration <= 50.0 / math.sqrt(stiffness) * 1.2
        errors.append(abs(normal - thrown_off(scene)))
    assert errors[0] > 3.0 * errors[1] > 9.0 * errors[2]
    assert errors[2] <= 0.07 * thrown_off(scene)


def test_two_sliders_jam():
    scene = build("painleve_klein")
    found = passage(scene.system, scene.state)
    assert found.solved
    assert found.v == pytest.approx(np.zeros(4), abs=1e-12)
    assert found.energy == pytest.approx(-1.0, rel=1e-12)


def test_a_run_passes_and_says_so():
    scene = build("painleve_rod")
    stopped = simulate(scene, stepper=EventDriven())
    assert stopped.status == "STOPPED"
    assert "certificate" in stopped.stop.reason
    assert f"at t = 0 s, where {TIP} may push: " in stopped.stop.reason
    run = simulate(scene, stepper=EventDriven(on_none="impact"), examine="full")
    assert run.status == "COMPLETED"
    assert [(event.t, event.kind, event.id) for event in run.events][:1] == [(0.0, "none_passed_by_impact", TIP)]
    assert run.steps.outcome[0] == "NONE"
    assert run.statistics["energy_drift_rel"] <= 1e-12
    assert audit(run, scene.system).passed
    errors = []
    for parts in (1.0, 2.0):  # time stepping passes in the same way, and converges with order 1
        stepped = simulate(scene, stepper=MoreauJean(dt=scene.dt / parts))
        errors.append(float(np.abs(stepped.final.v - run.final.v).max()))
    assert errors[0] > 1.6 * errors[1]


def test_settings_go_through_files():
    for stepper in (EventDriven(on_none="impact"), EventDriven(on_none=Compliance(stiffness=1e7))):
        assert from_settings(stepper.settings()) == stepper


@pytest.mark.slow
def test_approach_speed_decides_between_lift_off_and_impact():
    """A < 0 < b: below b / sqrt(|A| k) a stiff contact lets go, above it jams (Hogan and Kristiansen 2017)."""
    scene = build("painleve_rod", omega=3.5, angle=1.0, mu=2.0)
    _, _, row = local(scene)
    stiffness = 1e6
    saddle = separatrix(snapshot(scene.system, scene.state), TIP, stiffness)
    A = 1.0 + 3.0 * math.cos(1.0) ** 2 - 6.0 * math.sin(1.0) * math.cos(1.0)
    b = 3.5**2 * math.sin(1.0) - G
    assert saddle.speed == pytest.approx(b / math.sqrt(-A * stiffness), rel=1e-9)
    assert saddle.depth == pytest.approx(-b / (A * stiffness), rel=1e-9)
    for share, jams in ((0.8, False), (1.25, True)):
        assert saddle.compresses(0.0, share * saddle.speed) == jams
        push = np.linalg.lstsq(row.J, np.array([-share * saddle.speed, 0.0]), rcond=None)[0]
        state = State(q=scene.state.q, v=scene.state.v + push)
        stepper, largest = Penalty(stiffness=stiffness, tangential=100.0, dt=2e-4, rtol=1e-9), 0.0
        for _ in range(60):
            step = stepper.advance(scene.system, state, 1.0)
            state, largest = step.state, max(largest, float(step.reactions.get(TIP, np.zeros(2))[0]) / step.dt)
        slip = abs(float((row.J @ state.v)[1]))
        assert (largest > 20.0 * b / -A) == jams
        assert (slip < 0.5) == jams


def slide_until_nothing_pushes(mu, angle, omega, slip):
    """Slide by scipy at A < 0 < b until b, and so N = -b / A, falls through zero: t, and u, angle, omega there."""

    def slope(t, y):
        c, s = math.cos(y[1]), math.sin(y[1])
        N = -(y[2] ** 2 * s - G) / (1.0 + 3.0 * c * c - 3.0 * mu * s * c)
        turn = 3.0 * N * (mu * s - c)
        return [mu * N + s * turn + c * y[2] ** 2, y[2], turn]

    def b(t, y):
        return y[2] ** 2 * math.sin(y[1]) - G

    b.terminal = True
    found = solve_ivp(slope, (0.0, 1.0), [slip, angle, omega], method="DOP853", rtol=1e-13, atol=1e-14, events=b)
    return found.t[-1], found.y[:, -1]


@pytest.mark.parametrize(("mu", "angle", "omega", "slip"), [(2.0, 1.0, -3.8, -4.0), (2.4, 1.1, -4.2, -3.0)])
def test_a_run_that_slides_out_of_two_motions_into_none(mu, angle, omega, slip, tmp_path):
    """Beyond b = 0 the tip can neither lift off nor slide: certified, and passed by an impact that stops the slip."""
    scene = build("painleve_rod", mu=mu, angle=angle, omega=omega, slip=slip)
    t, (u, theta, turn) = slide_until_nothing_pushes(mu, angle, omega, slip)
    stopped = simulate(scene, t_end=t + 0.01, stepper=EventDriven(), examine="full")
    assert stopped.outcomes == {"MULTIPLE": 1}
    assert stopped.events == ()
    assert "certificate" in stopped.stop.reason
    assert 0.0 <= stopped.stop.t - t <= 1e-7  # nothing is sure at b = 0 itself
    assert stopped.final.q[2] == pytest.approx(theta, rel=0, abs=1e-6)
    assert stopped.final.v[2] == pytest.approx(turn, rel=0, abs=1e-6)
    said = outcome(snapshot(scene.system, stopped.final))
    assert said.verdict == "NONE"
    assert check([str(said.certificate.save(tmp_path / "none.json"))]) == 0
    watched = EventDriven(events={"never": lambda t, state: 1.0})  # no compiled phases
    assert simulate(scene, t_end=t + 0.01, stepper=watched).stop.t == pytest.approx(stopped.stop.t, rel=0, abs=1e-7)
    passed = simulate(scene, t_end=t + 0.01, stepper=EventDriven(on_none="impact"))
    assert passed.status == "COMPLETED"
    told = [(event.kind, event.id) for event in passed.events][:2]
    assert told == [("chosen", TIP), ("none_passed_by_impact", TIP)]
    assert passed.statistics["energy_drift_rel"] <= 1e-11
    assert audit(passed, scene.system).passed
    lost = u**2 * (1.0 + 3.0 * math.cos(theta) ** 2) / 8.0  # W_NN u^2 / (2 det W), det W = 4/m^2
    assert passage(scene.system, stopped.final).energy == pytest.approx(-lost, rel=1e-6)


def jam(mu, angle, omega, t_end):
    """Slide towards A = b = 0 by scipy: the impulse of the tip up to t_end, and the force and A there."""

    def slope(t, y):
        c, s = math.cos(y[0]), math.sin(y[0])
        force = -(y[1] ** 2 * s - G) / (1.0 + 3.0 * c * c - 3.0 * mu * s * c)
        return [y[1], 3.0 * force * (mu * s - c), force]

    found = solve_ivp(slope, (0.0, t_end), [angle, omega, 0.0], method="DOP853", rtol=1e-12, atol=1e-14)
    return found.y[2, -1], slope(0.0, found.y[:, -1])[2]


@pytest.mark.slow
def test_dynamic_jam_has_unbounded_force_and_bounded_impulse():
    """The slide runs into A = b = 0 in finite time; near it the force grows like (t* - t)^(x - 1) with 0 < x < 1.

    x is (t* - t) b' / b from the linear part at A = b = 0 (Genot and Brogliato 1999), so that the impulse has a bound.
    """
    mu, angle, omega = 2.0, 0.6, 2.0
    scene = build("painleve_rod", mu=mu, angle=angle, omega=omega, slip=-5.0)
    run = simulate(scene, t_end=0.05, stepper=EventDriven(dt=1e-3, rtol=1e-8, atol=1e-9))
    assert run.status == "STOPPED"
    assert "without bound" in run.stop.reason
    mean = run[f"{TIP}.r_N"][1:]
    for k in (5, 15, 21):
        impulse, _ = jam(mu, angle, omega, 1e-3 * k)
        assert 1e-3 * mean[:k].sum() == pytest.approx(impulse, rel=1e-6)
    end = 0.0210229680893  # the time at which the integrator gives up, and scipy's too
    assert run.stop.t == pytest.approx(end, rel=0, abs=1e-9)
    assert "t = 0.02102296" in run.stop.reason
    t = math.atan((6.0 - math.sqrt(20.0)) / 2.0)  # A = 0: tan^2 - 3 mu tan + 4 = 0
    c, s = math.cos(t), math.sin(t)
    x = 6.0 * s * (mu * s - c) / abs(6.0 * c * s + 3.0 * mu * math.cos(2.0 * t))
    assert 0.0 < x < 1.0
    (p1, f1), (p2, f2) = jam(mu, angle, omega, end - 1e-6), jam(mu, angle, omega, end - 1e-9)
    assert f2 > 50.0 * f1 > 1e5
    assert math.log(f2 / f1) / math.log(1e-3) == pytest.approx(x - 1.0, abs=0.03)
    assert p2 - p1 <= 1e-6 * f1 / x * 1.1


REGIONS = [
    ("slides", {"mu": 1.4, "angle": 0.5, "omega": 0.0}, ["L"]),
    ("lifts off", {"mu": 1.4, "angle": 0.5, "omega": 5.0}, ["D"]),
    ("none", {"mu": 1.4}, []),
    ("two", {"mu": 2.0, "angle": 1.0, "omega": 3.5}, ["D", "L"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "params", "motions"), REGIONS)
def test_chalk_in_its_four_regions(name, params, motions):
    """Enumeration, event-driven motion, time stepping and springs agree where the rigid model has one answer."""
    from gaussdyn.contact.outcome.motions import branches
    from gaussdyn.integrate.run.uniqueness_checks import accelerating

    scene = build("painleve_rod", **params)
    rod, t_end = scene.params, 4e-3
    s, c = math.sin(rod["angle"]), math.cos(rod["angle"])
    A, b = 1.0 + 3.0 * c * c - 3.0 * rod["mu"] * s * c, rod["omega"] ** 2 * s - G
    assert {"slides": A > 0 > b, "lifts off": A > 0 and b > 0, "none": A < 0 and b < 0, "two": A < 0 < b}[name]
    found = branches(accelerating(scene.system, scene.state, None))
    assert sorted(one.label for one in found) == motions
    events = simulate(scene, t_end=t_end, stepper=EventDriven(on_none="impact")).final
    steps = simulate(scene, t_end=t_end, stepper=MoreauJean(dt=t_end / 64)).final
    springs = simulate(scene, t_end=t_end, stepper=Penalty(stiffness=1e8, tangential=100.0, dt=t_end / 4)).final
    slip = [abs(float((scene.system.rows(0.0, x.q, x.v)[0].J @ x.v)[1])) for x in (events, steps, springs)]
    if name in ("slides", "lifts off"):
        assert np.abs(steps.v - events.v).max() <= 0.05 * t_end * G
        assert np.abs(springs.v - events.v).max() <= 0.05  # a vibration of the spring on top
        assert min(slip) > 0.9
    elif name == "none":
        assert max(slip) <= 0.02  # all three are stopped; only the spring throws the tip off
        assert np.abs(steps.v - events.v).max() <= 0.05 * t_end * G
    else:
        ends = {one.label: scene.state.v + t_end * one.x for one in found}
        for state in (events, steps):
            assert min(float(np.abs(state.v - v).max()) for v in ends.values()) <= 2e-3
        assert springs.v == pytest.approx(ends["D"], abs=2e-3)  # the spring decides for lift-off


def chalk(rng, steep, fast):
    """Random rod with mu > 4/3: parameters, A, b and the accelerations while its tip leaves and slides."""
    angle = rng.choice([rng.uniform(0.6, 0.95), rng.uniform(1.25, 1.35)])  # tan = 2 has A = 0 at mu = 4/3
    l, m = rng.uniform(1.4, 2.0), rng.uniform(0.1, 10.0)
    s, c, side = math.sin(angle), math.cos(angle), rng.choice([-1.0, 1.0])
    critical = (1.0 + 3.0 * c * c) / (3.0 * s * c)
    mu = critical * rng.uniform(1.05, 1.5) if steep else 4.0 / 3.0 + rng.uniform(0.0, 0.8) * (critical - 4.0 / 3.0)
    share = rng.uniform(1.2, 2.0) if fast else rng.uniform(0.0, 0.8)
    omega = rng.choice([-1.0, 1.0]) * math.sqrt(share * G / (l * s))
    A, b = (1.0 + 3.0 * c * c - 3.0 * mu * s * c) / m, l * omega**2 * s - G
    N = -b / A
    slides = np.array([side * mu * N / m, N / m - G, side * 3.0 * N * (mu * s - c) / (m * l)])
    shape = {"angle": angle if side > 0.0 else math.pi - angle, "half_length": l, "mass": m, "mu": mu}
    motion = {"omega": omega, "slip": -side * rng.uniform(0.5, 3.0)}
    return {**shape, **motion}, A, b, {"D": np.array([0.0, -G, 0.0]), "L": slides}


@pytest.mark.slow
@pytest.mark.parametrize(("steep", "fast", "motions"), [(0, 0, "L"), (0, 1, "D"), (1, 0, ""), (1, 1, "DL")])
def test_chalk_at_random_parameters(steep, fast, motions, tmp_path):
    """Outcome, its certificate by the checker, every acceleration, and the run, beside A, b and W by hand."""
    from gaussdyn.contact.outcome.motions import branches
    from gaussdyn.integrate.run.uniqueness_checks import CHOSEN, accelerating

    rng, t = np.random.default_rng(8), 1e-6  # A, and so the motion, changes fast where it is small
    for _ in range(12):
        params, A, b, known = chalk(rng, steep, fast)
        assert (A < 0.0, b > 0.0) == (steep, fast)
        scene = build("painleve_rod", **params)
        problem = accelerating(scene.system, scene.state, None)
        said, found = outcome(problem), branches(problem)
        assert said.verdict == ("NONE", "UNIQUE", "MULTIPLE")[len(motions)]
        assert check([str(said.certificate.save(tmp_path / "chalk.json"))]) == 0
        assert sorted(one.label for one in found) == list(motions)
        for one in found:
            np.testing.assert_allclose(one.x, known[one.label], rtol=1e-9, atol=1e-9)
        run = simulate(scene, t_end=t, stepper=EventDriven(on_none="impact"))
        assert run.status == "COMPLETED"
        if motions:
            assert [(e.t, e.kind) for e in run.events] == [(0.0, CHOSEN)] * (len(motions) - 1)
            ends = [scene.state.v + t * known[letter] for letter in motions]
            assert min(float(np.abs(run.final.v - v).max()) for v in ends) <= 1e-2 * t * G
            continue
        assert (run.events[0].t, run.events[0].kind) == (0.0, "none_passed_by_impact")
        lost = params["mass"] * params["slip"] ** 2 * (1.0 + 3.0 * math.cos(params["angle"]) ** 2) / 8.0
        passed = passage(scene.system, scene.state)
        assert passed.energy == pytest.approx(-lost, rel=1e-9)  # W_NN u^2 / (2 det W), det W = 4/m^2
        assert local(scene)[2].J @ passed.v == pytest.approx([0.0, 0.0], abs=1e-11)
        assert np.abs(run.final.v - passed.v).max() <= 1e3 * t


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: EventDriven(on_none="never"), "on_none"),
        (lambda: Compliance(stiffness=0.0), "stiffness"),
        (lambda: Compliance(damping=-1.0), "damping"),
        (lambda: passage(build("bipod").system, build("bipod").state), "state"),
        (lambda: passage(build("painleve_rod").system, build("painleve_rod").state, by="magic"), "by"),
        (lambda: separatrix(snapshot(build("painleve_rod").system, build("painleve_rod").state), TIP, 1e6), "dynamics"),
        (lambda: separatrix(snapshot(build("painleve_rod").system, build("painleve_rod").state), "x", 1e6), "id"),
    ],
)
def test_bad_input_is_named(make, named):
    with pytest.raises(InputError, match=named):
        make()


@pytest.mark.slow
def test_a_jam_is_named_beside_contacts_that_are_redundant():
    """A box that rests on two corners far from the rod changes nothing: the run goes up to the pole and says so."""
    rod = build("painleve_rod", mu=2.0, angle=0.6, omega=2.0, slip=-5.0)
    floor = rod.system.contacts[0].plane
    corners = [PlanarContact(point=Marker("box", (x, -0.1), name), plane=floor, mu=0.3) for x, name in SIDES]
    system = PlanarSystem(
        bodies=[*rod.system.bodies, box("box", mass=1.0, width=1.0, height=0.2)],
        contacts=[*rod.system.contacts, *corners], gravity=rod.system.gravity,
    )  # fmt: skip
    q, v = np.append(rod.state.q, (9.0, 0.1, 0.0)), np.append(rod.state.v, np.zeros(3))
    run = simulate(system, State(t=0.0, q=q, v=v), 0.05, stepper=EventDriven(rtol=1e-8, atol=1e-9))
    assert run.status == "STOPPED"
    assert f"the reaction of {TIP}" in run.stop.reason
    assert "dynamic jam" in run.stop.reason
    assert run.stop.t == pytest.approx(0.0210229680893, rel=0, abs=1e-8)
