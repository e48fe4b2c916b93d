"""When passes have settled, hover or only seem to."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.integrate.time_stepping.settling import hopeless, stalled


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([1e-13, 2e-13, 1.5e-13], True),  # hovers
        ([1e-3, 1e-6, 1e-9], False),  # falls
        ([1e-9, 4e-9, 4e-10], False),  # swings as it falls
        ([1e-6, 2e-13, 2e-9], False),  # jumps, as to another answer within the tolerance
        ([2e-13, 2e-9, 1.5e-13], True),  # back after a jump
        ([2e-6, 3e-6, 2.5e-6], False),  # hovers far above rounding
        ([2e-6, 3e-2, 2.5e-6], False),
        ([np.inf, 1e-12, 1e-12], False),
    ],
)
def test_changes_that_only_rounding_leaves(changes, expected):
    earlier, last, change = changes
    assert stalled(change, last, earlier) is expected


def test_passes_that_halve_their_change_will_not_settle_in_a_few():
    assert hopeless(1e-3, 2e-3, 4e-3, 5)
    assert not hopeless(1e-3, 1e-2, 1e-1, 15)
    assert not hopeless(1e-9, 2e-9, 4e-9, 5)  # rounding, soon
