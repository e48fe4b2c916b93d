"""What tests of runs share."""

import numpy as np


def same(one, two):
    assert (one.scene, one.status, one.stop, one.events) == (two.scene, two.status, two.stop, two.events)
    assert (one.state_hash, one.seed) == (two.state_hash, two.seed)
    assert one.final.digest() == two.final.digest() == two.state_hash
    assert list(one.names) == list(two.names)
    for name in one.names:
        assert np.array_equal(one[name], two[name])
        assert one.unit(name) == two.unit(name)
    for name in ("t", "q", "v", "saved", "before_t", "before_q", "before_v"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    for name in ("t", "dt", "E", "status", "outcome"):
        assert np.array_equal(getattr(one.steps, name), getattr(two.steps, name))
    assert np.array_equal(one.steps.friction_margin, two.steps.friction_margin, equal_nan=True)
    for name in ("offsets", "index", "gap", "size", "reaction", "mu", "mu_s", "mode"):
        assert np.array_equal(getattr(one.table, name), getattr(two.table, name))
    for name in ("point", "frame"):
        assert np.array_equal(getattr(one.table, name), getattr(two.table, name), equal_nan=True)
    assert (one.table.ids, one.table.bodies) == (two.table.ids, two.table.bodies)
    for name in ("statistics", "settings", "versions", "rows"):
        assert dict(getattr(one, name)) == dict(getattr(two, name))
