"""A control in Python is asked once a step, in order, and the run is the one in which each step is taken by itself."""

from __future__ import annotations

import numpy as np
import pytest
from falsified import jointed, robot
from small_systems import Block

from gaussdyn.integrate.actuator_states import told_at
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.trees import Actuator, TreeBody, TreeJoint, TreeSystem
from gaussdyn.mechanics.trees.activations import MEMORY
from gaussdyn.scenes.catalogue import build


def planar():
    found = build("rocking_block")
    return found.system, found.state, 0.2, 2e-3


def block():
    return Block(0.5, 0.2), State(q=[0.0, 0.0], v=[0.0, 0.0]), 0.1, 2e-3


def tree(*motors):
    """Two carts on a rail, the second one hung on the first; the motor of the first strikes the end of the rail."""
    I = np.diag([0.1, 0.1, 0.1])
    rail = TreeJoint(name="rail", motion="slide", axis=(1, 0, 0), low=-0.002, high=0.002)
    hinge = TreeJoint(name="hinge", motion="hinge", axis=(0, 1, 0))
    bodies = [
        TreeBody(name="cart", joints=(rail,), mass=2.0, inertia=I),
        TreeBody(name="pole", parent="cart", joints=(hinge,), mass=1.0, inertia=I, centre=(0, 0, -0.5)),
    ]
    motors = motors or [Actuator(name=name, factors={name: 1.0}) for name in ("rail", "hinge")]
    system = TreeSystem(bodies=bodies, actuators=motors)
    return system, system.state(), 0.1, 1e-3


KINDS = {"planar": planar, "block": block, "jointed": jointed(0.1, 1e-3), "robot": robot(0.1, 1e-3), "tree": tree}


class Shaking:
    """A control that notes when it is asked, and where; it fails when asked for the k-th time."""

    def __init__(self, size, fails=-1, size_then=0):
        self.size, self.fails, self.size_then, self.asked = size, fails, size_then, []

    def __call__(self, t, state):
        self.asked.append((t, state.q.copy(), state.v.copy(), dict(state.memory)))
        if len(self.asked) == self.fails:
            if not self.size_then:
                raise ZeroDivisionError("out of battery")
            return np.zeros(self.size_then)
        return 3.0 * np.sin(40.0 * t + np.arange(self.size)) - 0.1 * np.resize(state.v, self.size)

    def before(self, t):
        """Return how often it was asked before the first step: how long it is."""
        return sum(at == t for at, *_ in self.asked) - 1


def size_of(system):
    actuators = getattr(system, "actuators", None)
    return system.nv if actuators is None else len(actuators)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_asked_once_a_step_and_nothing_else_changes(kind):
    system, start, t_end, dt = KINDS[kind]()
    method, law = MoreauJean(dt=dt), Shaking(size_of(system))
    run = simulate(system, start, t_end, stepper=method, control=law)
    assert run.status == "COMPLETED"
    n, asked = len(run) - 1, law.asked[law.before(start.t) :]
    assert [t for t, *_ in asked] == list(run.t[:n])
    assert np.array_equal([q for _, q, *_ in asked], run.q[:n])
    assert np.array_equal([v for _, _, v, _ in asked], run.v[:n])
    state, again = start, Shaking(law.size)
    for k in range(n):
        state = method.advance(system, state, t_end, control=again).state
        assert np.array_equal(state.q, run.q[k + 1])
        assert np.array_equal(state.v, run.v[k + 1])
    for (*_, there), (*_, here) in zip(asked, again.asked, strict=True):
        assert there.keys() == here.keys()
        assert all(np.array_equal(there[key], here[key]) for key in here)


SLOW = (
    Actuator(name="drive", factors={"rail": 1.0}, dynamics="integrator", state_high=0.5),
    Actuator(name="turn", factors={"hinge": 1.0}, dynamics="filterexact", time=0.02, early=True),
    Actuator(name="plain", factors={"rail": 1.0}),
)


@pytest.mark.parametrize("control", [Shaking(3), np.array([3.0, -1.0, 0.5])], ids=["asked", "constant"])
def test_actuators_with_states_follow_it_step_by_step(control, monkeypatch):
    """The last step is a shorter one; of a start that remembers states the run goes on with these."""
    (system, start, t_end, dt), alone = tree(*SLOW), []
    start, t_end = State(q=start.q, v=start.v, memory={MEMORY: np.array([0.1, -0.2, 0.0])}), t_end + 0.3 * dt
    method, single = MoreauJean(dt=dt), MoreauJean.advance
    with monkeypatch.context() as patch:
        patch.setattr(MoreauJean, "advance", lambda *given, **more: alone.append(1) or single(*given, **more))
        run = simulate(system, start, t_end, stepper=method, control=control)
    assert run.status == "COMPLETED"
    n, state = len(run) - 1, start
    assert len(alone) < 0.2 * n
    for k in range(n):
        told = told_at(system, control, state, method)
        step = told.after(method.advance(system, state, t_end, control=told.control))
        state = step.state
        assert np.array_equal(state.q, run.q[k + 1])
        assert np.array_equal(state.v, run.v[k + 1])
        assert [run[f"control{i}"][k + 1] for i in range(3)] == list(step.control)
    assert state.memory.keys() == run.final.memory.keys()
    assert all(np.array_equal(x, run.final.memory[key]) for key, x in state.memory.items())
    if callable(control):
        runs, one_by_one = control.asked[-2 * n : -n], control.asked[-n:]
        for (t, *_, there), (again, *_, here) in zip(runs, one_by_one, strict=True):
            assert t == again
            assert np.array_equal(there[MEMORY], here[MEMORY])


class LooksAhead(Shaking):
    """A control that takes a step of the same system itself, every third time, and a whole run every ninth."""

    def __init__(self, size, system, method, t_end):
        super().__init__(size)
        self.system, self.method, self.t_end = system, method, t_end

    def __call__(self, t, state):
        said, k = super().__call__(t, state), len(self.asked)
        if k % 9 == 0:
            ahead = simulate(self.system, state, t + 4 * self.method.dt, stepper=self.method).final
        elif k % 3 == 0:
            ahead = self.method.advance(self.system, state, self.t_end + 1.0, control=said).state
        else:
            return said
        return said - 0.1 * ahead.v[: self.size]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("moment", [0.0, 0.05])
def test_it_may_look_ahead_with_the_same_system(kind, moment, monkeypatch):
    """Kernels keep the arrays of one run: those of the run at hand are not where a look ahead has left them."""
    monkeypatch.setattr("gaussdyn.integrate.simulate.MOMENT", moment)  # on a slow machine, and on a quick one
    system, start, t_end, dt = KINDS[kind]()
    method = MoreauJean(dt=dt)
    law, again = (LooksAhead(size_of(system), system, method, t_end) for _ in range(2))
    run = simulate(system, start, t_end, stepper=method, control=law)
    assert run.status == "COMPLETED"
    for _ in range(law.before(start.t)):  # it is asked where the run begins, too
        again(start.t, start)
    state = start
    for k in range(len(run) - 1):
        state = method.advance(system, state, t_end, control=again).state
        assert np.array_equal(state.q, run.q[k + 1])
    assert [t for t, *_ in law.asked] == [t for t, *_ in again.asked]


@pytest.mark.parametrize("kind", ["planar", "tree"])
@pytest.mark.parametrize(("fails", "size_then", "said"), [(7, 0, "battery"), (9, 5, "control")])
def test_where_it_fails_the_steps_before_are_kept(kind, fails, size_then, said):
    system, start, t_end, dt = KINDS[kind]()
    law = Shaking(size_of(system), fails, size_then)
    run = simulate(system, start, t_end, stepper=MoreauJean(dt=dt), control=law)
    assert run.status != "COMPLETED"
    assert said in run.stop.reason
    assert len(law.asked) == fails
    assert len(run) == fails - law.before(start.t)
