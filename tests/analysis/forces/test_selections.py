"""Reactions chosen by a rule: closed forms, other programs, and the set of all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gaussdyn import InputError, Position, State, UserSystem, build, forces, snapshot
from gaussdyn.analysis.forces import ReactionSet, elastic, interior, shortest, smoothest
from gaussdyn.contact.reactions import reactions
from gaussdyn.contact.resolve import resolve
from gaussdyn.programs.blocks.smallest_reactions import canonical_reaction


def bar(moment: float = 0.0) -> ReactionSet:
    """Return the forces of a bar under 60 N on supports at -1, 0 and 1 m."""
    held = [Position(lambda t, q, x=x: q[0] + x * q[1], jacobian=lambda t, q, x=x: [1.0, x], name=name)
            for name, x in (("left", -1.0), ("middle", 0.0), ("right", 1.0))]  # fmt: skip
    return forces(UserSystem(2, np.eye(2), [-60.0, moment], held), State(q=[0.0, 0.0], v=[0.0, 0.0]))


def test_a_bar_shares_its_load_by_each_rule() -> None:
    found = bar()
    assert shortest(found) == pytest.approx([20.0, 20.0, 20.0], abs=1e-9)
    assert interior(found) == pytest.approx([20.0, 20.0, 20.0], abs=1e-8)
    # middle support of stiffness 2: springs k w sink as much, 60 = (1 + 2 + 1) w
    assert elastic(found, {"middle": 2.0}) == pytest.approx([15.0, 30.0, 15.0], abs=1e-9)
    assert elastic(found, {"middle": 1e6})[1] == pytest.approx(60.0, abs=1e-3)


def test_supports_that_would_pull_are_left_out_by_the_elastic_rule() -> None:
    """Under 60 N and 45 N m springs alone give 42.5, 20, -2.5 N; with no pull (47.5, 10, 2.5) to (52.5, 0, 7.5)."""
    found = bar(45.0)
    assert elastic(found) == pytest.approx([45.0, 15.0, 0.0], abs=1e-9)


def test_the_shortest_in_space_is_what_the_solver_calls_canonical() -> None:
    dynamics = snapshot(build("four_legs"))
    found = forces(dynamics)
    canonical = found.vector(reactions(dynamics, canonical_reaction(resolve(dynamics))))
    assert shortest(found) == pytest.approx(canonical, abs=1e-5)
    assert np.linalg.norm(shortest(found)) <= np.linalg.norm(canonical) * (1.0 + 1e-9)


def test_the_most_interior_keeps_away_from_slipping_at_every_foot() -> None:
    found = forces(build("four_legs"))
    r = interior(found).reshape(4, 3)
    room = (r[:, 0] - np.hypot(r[:, 1], r[:, 2]) / 0.4).min()
    other = shortest(found).reshape(4, 3)
    assert room > (other[:, 0] - np.hypot(other[:, 1], other[:, 2]) / 0.4).min()
    assert found.contains(r.ravel(), 1e-9)


def test_the_smoothest_history_changes_least() -> None:
    """The forced change of the outer supports is all that is left: a jump of (-m/2, 0, m/2) for a moment m."""
    series = [bar(moment) for moment in (0.0, 6.0, 12.0)]
    chosen = smoothest(series)
    jumps = [np.linalg.norm(b - a) for a, b in itertools.pairwise(chosen)]
    assert sum(jumps) == pytest.approx(2 * 6.0 / np.sqrt(2.0), abs=1e-9)
    for one, r in zip(series, chosen, strict=True):
        assert one.contains(r, 1e-9)


def test_what_cannot_be_chosen_is_said() -> None:
    walls = [Position(lambda t, q, s=s: s * q[0], jacobian=lambda t, q, s=s: [s, 0.0], name=name, mu=1.0,
                      tangent=lambda t, q: [0.0, 1.0]) for s, name in ((1.0, "left"), (-1.0, "right"))]  # fmt: skip
    system, state = UserSystem(2, np.eye(2), [0.0, -1.0], walls), State(q=[0.0, 0.0], v=[0.0, 0.0])
    wedge = forces(system, state, motion=[0.0, 0.0])
    with pytest.raises(InputError, match="a wedge"):
        interior(wedge)
    assert np.abs(shortest(wedge)) == pytest.approx(np.full(4, 0.5), abs=1e-9)
    empty = forces(system, state, motion=[0.0, 5.0])
    with pytest.raises(InputError, match="an empty set"):
        shortest(empty)
    with pytest.raises(InputError, match="stiffness of left"):
        elastic(wedge, {"left": 0.0})
    with pytest.raises(InputError, match="two or more"):
        smoothest([wedge])
