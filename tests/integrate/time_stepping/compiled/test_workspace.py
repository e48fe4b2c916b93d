"""What kernels know of a system: laws by kinds of shapes, and nothing whose size is that of all pairs."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest

from gaussdyn import MoreauJean, snapshot
from gaussdyn.integrate.time_stepping.compiled.workspace import Workspace
from gaussdyn.mechanics.collision.features import Feature
from gaussdyn.mechanics.collision.shapes import HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.names import GROUND
from gaussdyn.mechanics.spatial.bodies import SpatialBody, ball
from gaussdyn.mechanics.spatial.system import SpatialSystem


def test_laws_by_kinds_are_those_of_the_shapes_and_bodies_that_are_named():
    two = (Sphere(name="left", radius=0.1), Sphere(name="right", radius=0.2, at=(0.5, 0.0, 0.0)))
    bodies = [SpatialBody(name=name, mass=1.0, inertia=[0.1] * 3, shapes=two) for name in "abcd"]
    pairs = {
        ("a", "b"): ContactLaw(mu=0.1, eps_n=0.3),
        ("floor", "c"): ContactLaw(mu=0.7),
        ("a", "floor"): ContactLaw(),
    }
    floor = HalfSpace(name="floor")
    system = SpatialSystem(bodies=bodies, obstacles=[floor], contact=ContactLaw(mu=0.4, eps_t=-0.2), pairs=pairs)
    space, contacts = Workspace(system), system.contacts
    labels, of = contacts.shapes.labels, contacts.shapes.arrays.table[:, 1].tolist()
    names = [contacts.shapes.bodies[k] if k >= 0 else GROUND for k in of]
    seen = set()
    for i, j in itertools.product(range(len(labels)), repeat=2):
        feature = Feature(id="", kind=1, bodies=(names[i], names[j]), data=np.zeros(19), shapes=(labels[i], labels[j]))
        law = contacts.law(feature)
        assert tuple(space.table[space.kind[i], space.kind[j]]) == (law.mu, law.eps_n, law.eps_t)
        seen.add(law)
    assert len(seen) == 4
    state = system.state({name: (2.0 * k, 0.0, 0.1) for k, name in enumerate("abcd")})
    found = {(row.id.split(".")[0], row.mu) for row in snapshot(system, state).rows if row.id.endswith("/floor")}
    assert found == {("a", 0.0), ("b", 0.4), ("c", 0.7), ("d", 0.4)}


@pytest.mark.parametrize("pairs", [[], [(0, 1)], [(0, 1), (1, 2), (0, 2), (-1, 0)]])
def test_records_of_another_graph_are_those_made_anew(pairs):
    """What kernels read after a join, in the place where it was: addresses, shapes and strides of all arrays."""
    from gaussdyn._jit import Held

    space = Workspace(SpatialSystem(bodies=[ball(name, mass=1.0, radius=0.1) for name in "abc"]))
    for held in (space.solver, space.projection):
        assert held.address == held.words.ctypes.data
    places = space.solver.address, space.projection.address
    space.join(np.array(pairs, dtype=np.int64).reshape(-1, 2))
    assert (space.solver.address, space.projection.address) == places
    for held, problem in ((space.solver, space.problem), (space.projection, space.beside)):
        assert held.problem is problem
        np.testing.assert_array_equal(held.words, Held(held.value).words)
        assert len(held.problem.contacts.pair) == len(pairs)


def test_what_is_empty_in_a_record_is_made_once_and_has_the_words_of_any_other():
    from gaussdyn._jit import Held, nothing
    from gaussdyn.integrate.time_stepping.core.records import Model

    def written(value):
        """Return the same tuples anew, around the same arrays."""
        return type(value)._make(map(written, value)) if isinstance(value, tuple) else value

    assert nothing(Model) is nothing(Model)
    model = nothing(Model)._replace(M=np.eye(2))
    assert model.rows is nothing(Model).rows
    np.testing.assert_array_equal(Held(model).words, Held(written(model)).words)


def test_thousands_of_balls_take_a_step_without_a_matrix_of_all_velocities():
    names = [f"b{k}" for k in range(3000)]
    system = SpatialSystem(
        bodies=[ball(name, mass=1.0, radius=0.05) for name in names], obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=0.5),
    )  # fmt: skip
    state = system.state({name: (0.11 * (k % 60), 0.11 * (k // 60), 0.05) for k, name in enumerate(names)})
    step = MoreauJean(dt=1e-3).advance(system, state, 1.0)
    assert step.solution.solved
    np.testing.assert_allclose(step.state.q, state.q, atol=1e-15)
    push = np.array([p[0] for p in step.reactions.values()])
    np.testing.assert_allclose(push, 9.81e-3, rtol=1e-12)
    assert len(push) == len(names)
    assert "mass" not in vars(system.layout)  # 2.6 GB


def test_a_record_is_copied_to_an_address_of_its_own():
    from gaussdyn._jit import Held

    held = Held(Workspace(SpatialSystem(bodies=[ball("a", mass=1.0, radius=0.1)])).projection.value)
    other = copy.deepcopy(held)
    assert other.address != held.address
    np.testing.assert_array_equal(other.words, Held(other.value).words)
    assert not np.array_equal(other.words, held.words)
