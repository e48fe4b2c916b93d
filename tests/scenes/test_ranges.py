"""Parameters reach the values that their scenes are about, and exact answers hold there."""

import math

import pytest

from gaussdyn import build, simulate
from gaussdyn.analysis.singular.configurations import branches
from gaussdyn.integrate.singular.on_branch import OnBranch
from gaussdyn.scenes.compare import compare


def on_branch(scene, steps):
    """Errors of a run of other steps, over the tolerances."""
    run = simulate(scene, stepper=OnBranch(dt=scene.t_end / steps))
    assert run.status == "COMPLETED", run.stop
    return [abs(one.measure(run) - one.value) / one.tol["on_branch"] for one in scene.exact]


@pytest.mark.parametrize(("b", "kind"), [(1.9, "isolated"), (1.999, "isolated"), (2.0, "tangency"), (2.01, "crossing")])
def test_the_singular_pendulum_at_and_below_its_tangency(b, kind):
    scene = build("singular_pendulum", b=b, share=0.9)
    assert branches(scene, [0.0, 0.0]).kind == kind
    assert max(on_branch(scene, 12)) <= 1.0
    other = build("singular_pendulum", b=b, side=-1.0)
    assert other.state.q[0] == -build("singular_pendulum", b=b).state.q[0]
    assert max(on_branch(other, 12)) <= 1.0


@pytest.mark.parametrize("start", [-0.02, 0.0, 0.1])
def test_darboux_from_beside_and_from_the_square_itself(start):
    scene = build("darboux", start=start, end=0.25, Fx=1.0)
    assert scene.t_end / scene.dt < 100
    assert max(on_branch(scene, 5)) <= 1.0
    if start:
        assert all(one["pass"] for one in compare(scene, simulate(scene)))


@pytest.mark.parametrize("lam", [1.0, 1.01, -3.0])
def test_a_slider_at_the_border_of_what_friction_holds(lam):
    scene = build("rest_scenarios", lam=lam)
    assert all(one["pass"] for one in compare(scene, simulate(scene)))
    assert (scene.exact[0].name == "it stays") is (abs(lam) <= 1.0)


def test_rail_cars_with_loads_of_trains():
    loads = {"load0": -2e5, "load1": 1e5, "load2": 0.0, "load3": -4e5, "load4": 1e6}
    scene = build("rail_cars", **loads)
    assert all(one["pass"] for one in compare(scene, simulate(scene)))
    assert math.isclose(scene.exact[0].tol["moreau_jean"], 1e-9 * 1e6 / 9.0)
