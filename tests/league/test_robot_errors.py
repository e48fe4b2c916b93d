"""What the contacts of a robot did, as the table beside MuJoCo says it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gaussdyn import ContactLaw, MoreauJean, State, read_robot
from gaussdyn.league import robot_errors

CRATE = """<robot name="crate"><link name="crate">
<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
</link></robot>"""


def test_a_crate_that_slides_and_then_stands(tmp_path: Path) -> None:
    """It slides on mu = 0.5 for 0.1 s: friction is mu N while it does, and nothing creeps once it stands."""
    file = tmp_path / "crate.urdf"
    file.write_text(CRATE)
    system = read_robot(file, base="free", floor=0.0, contact=ContactLaw(mu=0.5)).system()
    q, v = np.array([0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]), np.zeros(6)
    v[0] = 0.5 * 9.81 * 0.1
    found = robot_errors.ours(system, State(q=q, v=v), [np.zeros(0)] * 50, MoreauJean(dt=4e-3))
    assert abs(found.friction - 1.0) <= 1e-9
    assert found.creep <= 1e-9
    assert found.put_in <= 1e-12
