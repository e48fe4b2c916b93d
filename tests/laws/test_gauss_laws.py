"""Laws of the Gauss program and of friction that hold for every system, on random ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from evidence import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gaussdyn.contact.admissible_set import admissible_set
from gaussdyn.contact.gauss_program import gauss_program
from gaussdyn.contact.resolve import reactions, resolve
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import UserSystem

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=examples(60), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


class Given(UserSystem):
    """A system whose rows are given as data at one state."""

    def __init__(self, M, h, rows):
        super().__init__(len(h), M, h)
        self.given = tuple(rows)

    def rows(self, t, q, v):
        return self.given


def random_mass(rng, n):
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    M = Q @ np.diag(10.0 ** rng.uniform(-1, 1, n)) @ Q.T
    return 0.5 * (M + M.T)


def random_system(rng):
    """Resting constraints that some acceleration satisfies; a third of them depend on the others."""
    n = int(rng.integers(1, 8))
    equal, unequal = int(rng.integers(0, n)), int(rng.integers(0, n + 4))
    J = rng.normal(size=(equal + unequal, n))
    for k in range(equal + unequal):
        if k > 1 and rng.random() < 1 / 3:
            J[k] = J[:2].T @ rng.normal(size=2)
    inside = rng.normal(size=n)
    slack = np.where(np.arange(len(J)) < equal, 0.0, rng.uniform(0, 1, len(J)) * (rng.random(len(J)) < 0.6))
    rows = [
        Row(id=f"c{k}", kind="bilateral" if k < equal else "unilateral", J=J[k : k + 1], rate=[0.0],
            drift=[slack[k] - J[k] @ inside])
        for k in range(len(J))
    ]  # fmt: skip
    return Given(random_mass(rng, n), 5.0 * rng.normal(size=n), rows), inside


def at_rest(system, **options):
    zero = np.zeros(system.nv)
    return snapshot(system, State(q=zero, v=zero), **options)


def solved(system):
    dynamics = at_rest(system)
    return dynamics, resolve(dynamics).require()


def near(x, y, scale=1.0):
    np.testing.assert_allclose(x, y, atol=1e-8 * (scale + np.abs(y).max(initial=0.0)), rtol=0)


@few
@given(seeds)
def test_no_admissible_acceleration_is_nearer_to_the_free_one(seed):
    """Z(a') - Z(a) >= 1/2 |a' - a|_M^2 for every admissible a'."""
    rng = np.random.default_rng(seed)
    system, inside = random_system(rng)
    dynamics, solution = solved(system)
    omega = admissible_set(dynamics)
    program = gauss_program(dynamics, omega)
    assert omega.contains(inside, 1e-10)
    assert omega.contains(solution.x, 1e-9 * (1 + np.abs(solution.x).max()))
    for other in (inside, 0.5 * (inside + solution.x)):
        step = other - solution.x
        gain = program.objective(other) - program.objective(solution.x) - 0.5 * step @ dynamics.M @ step
        assert gain >= -1e-9 * (1.0 + abs(program.objective(other)) + step @ dynamics.M @ step)


@few
@given(seeds)
def test_gauss_identity(seed):
    """Z_mf = Z_mr + Z_rf with m conceivable, r actual, f free: bilateral constraints (Kozlov)."""
    rng = np.random.default_rng(seed)
    system, _ = random_system(rng)
    system.given = tuple(row for row in system.given if row.kind == "bilateral")
    dynamics, solution = solved(system)
    omega, r, f = admissible_set(dynamics), solution.x, dynamics.x_free
    free = rng.normal(size=dynamics.nv)
    m = r + free - (np.linalg.pinv(omega.A) @ (omega.A @ free) if len(omega.b) else 0.0)

    def Z(a, b):
        return 0.5 * (a - b) @ dynamics.M @ (a - b)

    assert abs(Z(m, f) - Z(m, r) - Z(r, f)) <= 1e-10 * (1.0 + Z(m, f))


@few
@given(seeds)
def test_order_copies_and_idle_rows_change_nothing(seed):
    rng = np.random.default_rng(seed)
    system, _ = random_system(rng)
    dynamics, solution = solved(system)
    force = dynamics.M @ solution.x - dynamics.h
    reaction = reactions(dynamics, solution)
    idle = {row.id for row in system.given if row.kind == "unilateral" and row.J[0] @ solution.x + row.drift[0] > 1e-6}
    copies = [replace(row, id=f"copy of {row.id}") for row in system.given if rng.random() < 0.5]
    changed = [row for row in system.given if row.id not in idle] + copies
    changed = [changed[k] for k in rng.permutation(len(changed))]
    again, other = solved(Given(dynamics.M, dynamics.h, changed))
    near(other.x, solution.x)
    near(again.M @ other.x - again.h, force)
    for row in idle:
        assert abs(reaction[row][0]) <= 1e-12


@few
@given(seeds)
def test_change_of_coordinates_and_units(seed):
    """With q = T q' and forces measured in another unit, a = T a' and the reactions scale alike."""
    rng = np.random.default_rng(seed)
    system, _ = random_system(rng)
    n, unit = system.nv, 10.0 ** rng.uniform(-2, 2)
    T = np.linalg.qr(rng.normal(size=(n, n)))[0] @ np.diag(10.0 ** rng.uniform(-0.5, 0.5, n))
    rows = [replace(row, J=row.J @ T) for row in system.given]
    M = T.T @ system.mass(np.zeros(n)) @ T
    other = Given(unit * 0.5 * (M + M.T), unit * T.T @ system.force(0.0, np.zeros(n), np.zeros(n)), rows)
    first, a = solved(system)
    second, b = solved(other)
    near(T @ b.x, a.x)
    near(second.M @ b.x - second.h, unit * T.T @ (first.M @ a.x - first.h), unit)


@few
@given(seeds)
def test_reactions_balance_the_forces_and_push(seed):
    system, _ = random_system(np.random.default_rng(seed))
    dynamics, solution = solved(system)
    r = reactions(dynamics, solution)
    load = sum((row.J.T @ r[row.id] for row in system.given), np.zeros(dynamics.nv))
    near(dynamics.M @ solution.x - dynamics.h, load)
    assert all(r[row.id][0] >= 0.0 for row in system.given if row.kind == "unilateral")


@few
@given(seeds, st.floats(1e-3, 1.0))
def test_both_levels_agree_at_rest(seed, dt):
    """From rest, with constraints without drift, v+ = dt a and impulses are dt times forces."""
    rng = np.random.default_rng(seed)
    system, _ = random_system(rng)
    system.given = tuple(replace(row, drift=[0.0]) for row in system.given)
    dynamics, a = solved(system)
    step = at_rest(system, level="velocity", dt=dt)
    v = resolve(step).require()
    near(v.x / dt, a.x)
    near((step.M @ v.x - step.h) / dt, dynamics.M @ a.x - dynamics.h)


def random_contacts(rng, spatial):
    """A velocity-level problem with closed frictional contacts, some bilateral rows and dry friction."""
    n, dim = int(rng.integers(3, 8)), 3 if spatial else 2
    rows = [
        Row(id=f"contact{k}", kind="contact", J=J, rate=J @ np.ones(n), drift=np.zeros(dim),
            mu=float(rng.uniform(0, 1.2)))
        for k in range(int(rng.integers(1, 4)))
        for J in [rng.normal(size=(dim, n))]
    ]  # fmt: skip
    J = rng.normal(size=(2, n))
    rows.append(Row(id="rod", kind="bilateral", J=J[:1], rate=J[:1] @ np.ones(n), drift=[0.0]))
    rows.append(Row(id="joint", kind="dry", J=J[1:], rate=J[1:] @ np.ones(n), drift=[0.0], cap=3.0))
    return Given(random_mass(rng, n), rng.normal(size=n), rows)


@few
@given(seeds, st.booleans())
def test_friction_obeys_coulomb_and_only_dissipates(seed, spatial):
    system = random_contacts(np.random.default_rng(seed), spatial)
    state = State(q=np.zeros(system.nv), v=np.ones(system.nv))
    dynamics = snapshot(system, state, level="velocity", dt=0.1)
    solution = resolve(dynamics).require()
    p = reactions(dynamics, solution)
    scale = 1e-9 * (1.0 + max(np.abs(value).max() for value in p.values())) * (1.0 + np.abs(solution.x).max())
    for row in system.given:
        u, r = row.J @ solution.x, p[row.id]
        if row.kind == "contact":
            assert r[0] >= -scale
            assert u[0] >= -scale
            assert abs(r[0] * u[0]) <= scale
            assert np.linalg.norm(r[1:]) <= row.mu * r[0] + scale
            assert r[1:] @ u[1:] <= scale
        elif row.kind == "dry":
            assert abs(r[0]) <= 3.0 * 0.1 + scale
            assert r @ u <= scale
        else:
            assert abs(u[0]) <= scale


@few
@given(seeds, st.booleans())
def test_plastic_impacts_lose_energy(seed, spatial):
    system = random_contacts(np.random.default_rng(seed), spatial)
    state = State(q=np.zeros(system.nv), v=np.ones(system.nv))
    dynamics = snapshot(system, state, level="velocity")
    v = resolve(dynamics).require().x
    before, after = dynamics.v @ dynamics.M @ dynamics.v, v @ dynamics.M @ v
    assert after <= before * (1.0 + 1e-9)
