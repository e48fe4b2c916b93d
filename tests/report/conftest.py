from __future__ import annotations

import pytest
from made_up_run import make_run

from gaussdyn.integrate.run.trajectory import Trajectory


@pytest.fixture
def run() -> Trajectory:
    return make_run()
