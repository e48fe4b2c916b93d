"""Trees read from MJCF files against MuJoCo itself: M, bias, passive and actuator forces, rows of limits and loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaussdyn.mechanics.robots.mjcf import compiled
from gaussdyn.mechanics.robots.mjcf_bodies import actuators_of, bodies_of, fluid_of, parts_of, start_of
from gaussdyn.mechanics.robots.mjcf_names import names_of
from gaussdyn.mechanics.trees.dynamics import take_bias
from gaussdyn.mechanics.trees.forces import actuator_forces
from gaussdyn.mechanics.trees.forest_state import ForestState, held
from gaussdyn.mechanics.trees.motion import forest_rows, passive_forces
from gaussdyn.mechanics.trees.tables import RowName, forest_of

mujoco = pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")

EVERYTHING = """<mujoco><option gravity="1 2 -9" density="30" viscosity="0.2"/><worldbody>
<body name="a" pos="0 0 1"><freejoint/><geom size=".1 .2 .3" type="box"/>
 <body name="b" pos=".2 0 0" gravcomp="0.4">
  <joint name="ball" type="ball" pos=".1 .02 0" stiffness="3" damping=".3" range="0 40"/>
  <geom type="box" size=".1 .05 .2" pos=".2 .1 0" euler="20 30 40"/>
  <body name="c" pos=".2 0 .3" euler="10 20 30">
   <joint name="h" axis="1 2 0" pos="0 .1 0" ref="20" stiffness="2" springref="10" armature=".1" range="-50 60"
     actuatorfrcrange="-1 1" frictionloss=".2"/>
   <joint name="s" type="slide" axis="0 1 1" damping=".3"/><geom type="capsule" size=".1 .2" pos=".1 0 0"/>
   <body name="w" pos="0.1 0 0"><geom size=".1"/></body></body></body></body></worldbody>
<tendon><fixed name="t" stiffness="4" damping=".3" springlength="0.1 0.2" range="-.1 .1" limited="true">
  <joint joint="h" coef=".4"/><joint joint="s" coef="-.7"/></fixed></tendon>
<actuator><position joint="h" kp="10" kv="2" gear="3"/>
  <motor tendon="t" gear="2" ctrlrange="-.5 .5" ctrllimited="true"/>
  <velocity joint="s" kv="3" forcerange="-.3 .4" forcelimited="true"/></actuator>
<equality><joint name="cam" joint1="h" joint2="s" polycoef=".1 .2 .3 .4 .5"/>
  <connect name="pin" body1="c" anchor=".1 .2 .3"/>
  <weld name="bolt" body1="c" body2="a" relpose=".1 .2 .3 .8 .6 0 0" anchor=".1 .3 .2"/></equality></mujoco>"""


def models() -> list[Any]:
    """Every model of gymnasium, where it is installed, and one with all kinds of parts."""
    try:
        import gymnasium
    except ImportError:
        return ["everything"]
    folder = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
    return ["everything", *(pytest.param(str(path), id=path.stem) for path in sorted(folder.glob("*.xml")))]


def read(model: str) -> tuple[Any, Any, list[RowName]]:
    """Return MuJoCo's model, our tables and the names of their rows."""
    m = mujoco.MjModel.from_xml_string(EVERYTHING) if model == "everything" else compiled(Path(model))[0]
    names, none = names_of(m), [()] * m.nbody
    parts, actuators = parts_of(m, names), actuators_of(m, names)
    gravity = tuple(m.opt.gravity.tolist())
    forest, _, rows = forest_of(bodies_of(m, names, none), parts, actuators, gravity, fluid_of(m))
    return m, forest, rows


def states(m: Any, forest: Any, count: int) -> Any:
    """Yield MuJoCo's data and our state, both at the same random states."""
    rng, d = np.random.default_rng(1), mujoco.MjData(m)
    for _ in range(count):
        d.qpos[:], d.qvel[:], d.ctrl[:] = start_of(m), 2.0 * rng.normal(size=m.nv), rng.normal(size=m.nu)
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
        mujoco.mj_forward(m, d)
        yield d, ForestState.at(forest, d.qpos.copy(), d.qvel.copy(), d.ctrl.copy())


def off(ours: np.ndarray, theirs: np.ndarray, scale: float = 0.0) -> float:
    """Return the largest difference, relative to the largest entry or to `scale`."""
    return float(np.abs(ours - theirs).max(initial=0.0) / max(scale, np.abs(theirs).max(initial=0.0), 1e-300))


@pytest.mark.parametrize("model", models())
def test_mass_and_forces_are_those_of_mujoco(model: str) -> None:
    m, forest, _ = read(model)
    for d, here in states(m, forest, 10):
        M, h, passive, acting, spare = np.zeros((m.nv, m.nv)), *np.zeros((4, m.nv))
        mujoco.mj_fullM(m, M, d.qM) if hasattr(d, "qM") else mujoco.mj_fullM(m, d, M)
        assert off(here.mass(), M) < 1e-12
        assert here.placed
        take_bias(*map(held, (forest.trees, here.forest.moving)), h)
        passive_forces(here.held, 0.0, here.q, here.v, here.v, passive)
        actuator_forces(*map(held, (forest.trees, here.forest.drives)), here.q, here.v, here.v, spare, acting)
        scale = max(np.abs(x).max() for x in (d.qfrc_bias, d.qfrc_passive, d.qfrc_actuator))
        assert off(-h, d.qfrc_bias, scale) < 1e-12
        assert off(passive, d.qfrc_passive) < 1e-12
        assert off(acting, d.qfrc_actuator) < 1e-12
        assert off(here.force(0.0)[0], d.qfrc_passive + d.qfrc_actuator - d.qfrc_bias) < 1e-11


def seen_by(m: Any, d: Any, body: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how far two points are apart, and the rows of that, where MuJoCo's rows k to k + 2 are those in space.

    As a body sees them: in its axes, and less by what the points are carried along with it.
    """
    turn, axes, apart = np.zeros((3, m.nv)), d.xmat[body].reshape(3, 3), d.efc_pos[k : k + 3]
    mujoco.mj_jacBody(m, d, None, turn, body)
    rows = d.efc_J.reshape(-1, m.nv)[k : k + 3] - np.cross(turn, apart, axisa=0, axisb=0, axisc=0)
    return axes.T @ apart, axes.T @ rows


def test_rows_are_those_of_mujoco() -> None:
    """Gaps and Jacobians of gear, loops and limits; MuJoCo's turns of welds are half as large, of either sign.

    Points of loops are as the last body sees them that both branches come from: the world at the pin, a at the bolt.
    """
    m, forest, names = read("everything")
    J, numbers = np.zeros((len(names), m.nv)), np.zeros((len(names), 3))
    for d, here in states(m, forest, 10):
        assert here.placed
        forest_rows(here.held, here.q, here.v, numbers, J)
        ours = {row.id: (numbers[k, 0], J[k].copy()) for k, row in enumerate(names)}
        half = [f"bolt:turn_{x}" for x in "xyz"]
        order = ["cam", *(f"pin:{x}" for x in "xyz"), *(f"bolt:{x}" for x in "xyz"), *half]
        theirs, apart = d.efc_J.reshape(-1, m.nv).copy(), d.efc_pos.copy()
        for body, first in (("world", 1), ("a", 4)):
            apart[first : first + 3], theirs[first : first + 3] = seen_by(m, d, m.body(body).id, first)
        kinds, at = d.efc_type[: d.nefc], 0
        for id in order:
            factor = 0.5 * np.sign(ours[id][1] @ theirs[at]) if id in half else 1.0
            assert off(factor * ours[id][1], theirs[at]) < 1e-12
            assert factor * ours[id][0] == pytest.approx(apart[at], rel=1e-12, abs=1e-13)
            at += 1
        for k in range(at, int((kinds < 5).sum())):  # friction, and limits where they are broken
            matches = [id for id, (gap, j) in ours.items() if off(j, theirs[k]) < 1e-12
                       and (kinds[k] == 1 or abs(gap - d.efc_pos[k]) < 1e-12)]  # fmt: skip
            assert matches, (kinds[k], d.efc_pos[k], theirs[k], ours)
