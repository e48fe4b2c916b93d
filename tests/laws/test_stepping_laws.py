"""Laws that every step obeys, on random systems: cone, dissipation, momentum, energy, determinism."""

from __future__ import annotations

import numpy as np
from evidence import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_systems import Plain

from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.state import State


class Random(Plain):
    """Constant mass, force and contact directions; a bilateral row; gyroscopic and damping terms; all from a seed."""

    def __init__(self, seed, nv, contacts, dim, joint):
        rng = np.random.default_rng(seed)
        self.nq = self.nv = nv
        A = rng.normal(size=(nv, nv))
        self.M = A @ A.T + 0.5 * np.eye(nv)
        self.f = rng.normal(size=nv)
        D = rng.normal(size=(nv, nv))
        self.D = D - D.T + np.eye(nv)
        self.J = [rng.normal(size=(dim, nv)) for _ in range(contacts)]
        self.mu = rng.uniform(0.0, 1.5, size=contacts)
        self.G = rng.normal(size=(1, nv)) if joint else np.zeros((0, nv))
        q = rng.normal(size=nv)
        v = rng.normal(size=nv)
        if joint:
            v = v - self.G.T[:, 0] * (self.G @ v)[0] / (self.G @ self.G.T)[0, 0]
        self.start = State(q=q, v=v)
        self.offset = [float(J[0] @ q) for J in self.J]  # all contacts closed at the start

    def mass(self, q):
        return self.M

    def force(self, t, q, v, control=None):
        return self.f - self.D @ v

    def potential(self, t, q):
        return -float(self.f @ q)

    def power(self, t, q, v, control=None):
        return -float(v @ self.D @ v)

    def rows(self, t, q, v):
        found = []
        for k, J in enumerate(self.J):
            gap = float(J[0] @ q) - self.offset[k]
            found.append(
                Row(id=f"c{k}", kind="contact", gap=gap, J=J, rate=J @ v, drift=np.zeros(len(J)), mu=self.mu[k])
            )
        if len(self.G):
            gap = float(self.G[0] @ (q - self.start.q))
            found.append(Row(id="joint", kind="bilateral", gap=gap, J=self.G, rate=self.G @ v, drift=[0.0]))
        return tuple(found)


systems = st.builds(
    Random,
    seed=st.integers(0, 10**6),
    nv=st.integers(2, 6),
    contacts=st.integers(0, 3),
    dim=st.sampled_from([2, 3]),
    joint=st.booleans(),
).filter(lambda system: system.nv > len(system.J[0]) if system.J else True)


def steps(system, number=4, dt=0.05):
    state, stepper = system.start, MoreauJean(dt=dt)
    for _ in range(number):
        step = stepper.advance(system, state, 10.0)
        assume(step.solution.solved)  # a random corner may have no motion at all: then the run stops, which is tested
        yield step
        state = step.state


def speed_of(step):
    """The speed that rounding is measured by: of the start, and of the motion without reactions."""
    return np.abs(step.dynamics.x_free).max() + np.abs(step.start.v).max()


@settings(max_examples=examples(40), deadline=None)
@given(systems)
def test_reactions_lie_in_their_cones_and_friction_never_drives(system):
    for step in steps(system):
        size = max((np.abs(p).max() for p in step.reactions.values()), default=0.0)
        speed = speed_of(step)
        for row in step.rows:
            p = step.reactions.get(row.id)
            if p is None or row.bilateral:
                continue
            assert p[0] >= -1e-12 * size
            assert np.linalg.norm(p[1:]) <= row.mu * p[0] + 1e-12 * size
            assert p[1:] @ row.rate[1:] <= 1e-11 * size * speed
            assert row.rate[0] >= -1e-10 * speed
            assert abs(p[0] * row.rate[0]) <= 1e-10 * size * speed


@settings(max_examples=examples(40), deadline=None)
@given(systems)
def test_momentum_and_energy_balance(system):
    for step in steps(system):
        v, v_plus = step.start.v, step.state.v
        v_mid = 0.5 * (v + v_plus)
        h = system.force(0.0, None, v_mid)
        push = sum(
            (row.J.T @ step.reactions[row.id] for row in step.rows if row.id in step.reactions), np.zeros(len(v))
        )
        gain = system.M @ (v_plus - v)
        scale = np.abs(system.M) @ (np.abs(v) + np.abs(v_plus)) + np.abs(push)
        assert np.abs(gain - step.dt * h - push).max() <= 1e-12 * scale.max()
        speeds = np.abs(v) + np.abs(step.dynamics.x_free)
        scale = speeds @ np.abs(system.M) @ speeds + abs(v_mid) @ abs(push)
        kinetic = 0.5 * (v_plus @ system.M @ v_plus - v @ system.M @ v)
        lifted = system.potential(0.0, step.state.q) - system.potential(0.0, step.start.q)
        balance = kinetic + lifted - step.work.reactions - step.work.forces - step.work.projection
        assert abs(balance) <= 1e-11 * scale
        assert abs(step.work.reactions - v_mid @ push) <= 1e-11 * scale


@settings(max_examples=examples(40), deadline=None)
@given(systems)
def test_joints_hold_and_contacts_do_not_penetrate(system):
    for step in steps(system):
        for row in step.rows:
            scale = 1.0 + np.abs(step.state.q).max()
            if row.bilateral:
                assert abs(row.gap) <= 1e-11 * scale
            else:
                assert row.gap >= -1e-11 * scale


@settings(max_examples=15, deadline=None)
@given(systems)
def test_the_same_run_is_the_same_to_the_bit(system):
    one, two = (simulate(system, system.start, 0.2, stepper=MoreauJean(dt=0.05)) for _ in range(2))
    assert one.status == two.status
    assert one.state_hash == two.state_hash


@settings(max_examples=examples(25), deadline=None)
@given(systems, st.floats(0.1, 10.0))
def test_units_of_mass_change_reactions_only(system, factor):
    heavy = Random.__new__(Random)
    heavy.__dict__.update(system.__dict__)
    heavy.M, heavy.f, heavy.D = factor * system.M, factor * system.f, factor * system.D
    for one, two in zip(steps(system, 2), steps(heavy, 2), strict=False):
        assert np.abs(one.state.v - two.state.v).max() <= 1e-8 * speed_of(one)
