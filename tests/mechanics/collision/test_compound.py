"""Compounds: inertia by closed forms, parts that move with the body, meshes cut into convex parts."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, simulate
from gaussdyn.errors import InputError
from gaussdyn.mechanics.collision.bounds.inner_corners import inner_corners
from gaussdyn.mechanics.collision.solid_hull import hull_of
from gaussdyn.mechanics.collision.solid_tables import box_polyhedron
from gaussdyn.mechanics.spatial import Box, Compound, ConvexMesh, HalfSpace, Mesh, Sphere, ball, decomposed, solid
from gaussdyn.mechanics.specs import system_of

SIDES = [((0, 0), (0.3, 0)), ((0.3, 0), (0.3, 0.1)), ((0.3, 0.1), (0.1, 0.1)), ((0.1, 0.1), (0.1, 0.3)),
         ((0.1, 0.3), (0, 0.3)), ((0, 0.3), (0, 0))]  # fmt: skip
LEGS = [Box(half=(0.15, 0.05, 0.05), at=(0.15, 0.05, 0.0)), Box(half=(0.05, 0.1, 0.05), at=(0.05, 0.2, 0.0))]


def _angle():
    """Return the surface of an L of 0.3 m, its legs 0.1 m wide and thick: corners and triangles."""
    outline = [a for a, _ in SIDES]
    points = [(x, y, z) for z in (-0.05, 0.05) for x, y in outline]
    n = len(outline)
    sides = [t for k in range(n) for t in ((k, (k + 1) % n, n + (k + 1) % n), (k, n + (k + 1) % n, n + k))]
    cap = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    return np.array(points), [*sides, *((a + n, b + n, c + n) for a, b, c in cap), *((a, c, b) for a, b, c in cap)]


def _moments():
    """Return mass, centre and inertia of the L at density 1000, from those of two bricks."""
    m, x = np.array([3.0, 2.0]), np.array([[0.15, 0.05, 0.0], [0.05, 0.2, 0.0]])
    half = np.array([[0.15, 0.05, 0.05], [0.05, 0.1, 0.05]])
    centre = m @ x / m.sum()
    inertia = np.zeros((3, 3))
    for mass, h, d in zip(m, half, x - centre, strict=True):
        inertia += mass / 3.0 * np.diag(h @ h - h * h) + mass * (d @ d * np.eye(3) - np.outer(d, d))
    return m.sum(), centre, inertia


def test_inertia_of_parts_and_of_their_surface():
    mass, centre, inertia = _moments()
    vertices, faces = _angle()
    whole = Mesh(vertices=vertices, faces=faces, name="angle")
    for compound in (Compound(parts=LEGS), Compound(parts=[LEGS[0]], surface=whole)):
        body = solid("angle", compound, density=1000.0)
        assert body.mass == pytest.approx(mass, rel=1e-14)
        assert np.array(body.inertia) == pytest.approx(inertia, rel=1e-13, abs=1e-15)
        assert body.shapes[0].at == pytest.approx(np.array(LEGS[0].at) - centre, abs=1e-15)


def test_a_compound_turns_and_moves_with_its_parts():
    turn, at = Rotation.from_rotvec([0.3, -0.5, 0.2]), np.array([0.1, 0.2, -0.3])
    parts = [LEGS[0], Sphere(radius=0.05, at=(0.0, 0.3, 0.1), name="knob")]
    moved = Compound(parts=parts, at=at, turn=turn.as_quat()[[3, 0, 1, 2]], name="hook")
    leg, knob = moved.shapes
    assert (leg.name, knob.name) == ("hook00", "hook_knob")
    assert knob.at == pytest.approx(at + turn.apply([0.0, 0.3, 0.1]))
    still, other = (solid("b", one, density=1.0) for one in (Compound(parts=parts), moved))
    Q = turn.as_matrix()
    assert np.array(other.inertia) == pytest.approx(Q @ np.array(still.inertia) @ Q.T, rel=1e-12, abs=1e-15)


def _standing(body):
    """Return a system in which the body, an L that lies, holds a ball in its corner."""
    floor = HalfSpace(name="floor", point=(0.0, 0.0, -0.05))
    marble = ball("marble", mass=0.1, radius=0.05)
    system = SpatialSystem(bodies=[body, marble], obstacles=[floor], contact=ContactLaw(mu=0.3))
    corner = np.array([0.15, 0.15, 0.0]) - _moments()[1]
    return system, system.state({body.name: (0, 0, 0), "marble": corner})


def test_what_is_in_its_hollow_does_not_overlap_and_its_spec_comes_back():
    system, state = _standing(solid("angle", Compound(parts=LEGS, name="leg"), density=1000.0))
    run = simulate(system, state, 0.05, stepper=MoreauJean(dt=1e-3))
    assert np.abs(run.q - run.q[0]).max() < 1e-12
    drawn = {one["name"] for one in system.drawables(state.q)}
    assert drawn == {"angle.leg00", "angle.leg01", "marble", "floor"}
    assert system_of(json.loads(json.dumps(system.spec()))).spec() == system.spec()


def test_a_mesh_cut_into_convex_parts():
    pytest.importorskip("coacd", reason="the extra coacd is not installed")
    vertices, faces = _angle()
    compound = decomposed(vertices, faces)
    assert len(compound.parts) >= 2
    mass, _, inertia = _moments()
    body = solid("angle", compound, density=1000.0)
    assert body.mass == pytest.approx(mass, rel=1e-13)
    assert np.array(body.inertia) == pytest.approx(inertia, rel=1e-12, abs=1e-14)
    filled = sum(solid("p", ConvexMesh(vertices=part.vertices), density=1.0).mass for part in compound.parts)
    assert filled == pytest.approx(mass / 1000.0, rel=0.05)


def test_bad_compounds_are_named():
    vertices, faces = _angle()
    ground = Mesh(vertices=vertices, faces=faces, name="m")
    twice = [Sphere(radius=1.0, name="a")] * 2
    for parts, said in (((), r"given \(\)"), ([ground], "convex shapes"), (twice, "different")):
        with pytest.raises(InputError, match=said):
            Compound(parts=parts)
    with pytest.raises(InputError, match=r"open surface \(3 edges.*Close the holes"):
        decomposed(vertices, faces[:-1])
    with pytest.raises(InputError, match="inside out"):
        decomposed(vertices, [face[::-1] for face in faces])


def _bar():
    """Return a bar of two boxes with a common face, and the same of one box."""
    halves = [Box(half=(0.1, 0.05, 0.05), at=(x, 0.0, 0.0), name=name) for x, name in ((-0.1, "left"), (0.1, "right"))]
    return [solid("bar", one, density=1000.0) for one in (Compound(parts=halves), Box(half=(0.2, 0.05, 0.05)))]


def _on(body, other, law=None, **pairs):
    return SpatialSystem(
        bodies=[body, *other[0]],
        obstacles=other[1],
        contact=law or ContactLaw(mu=0.3, eps_n=0.3),
        pairs=pairs.get("pairs", {}),
    )


GROUNDS = {
    "plane": ([], [HalfSpace(name="floor")]),
    "box": ([], [Box(half=(1.0, 1.0, 0.1), at=(0.0, 0.0, -0.1), name="floor")]),
    "ball": ([ball("marble", mass=0.1, radius=0.05)], [HalfSpace(name="floor", point=(0.0, 0.0, -1.0))]),
}


def test_corners_within_what_parts_make_are_no_contacts():
    """A bar of two boxes stands on its four corners; with a law of its own a part keeps its contacts."""
    for ground in ("plane", "box"):
        two, one = (_on(body, GROUNDS[ground]) for body in _bar())
        counts = {}
        for lift in (0.0, 1e-13, 1e-4):
            q = two.state({"bar": (0, 0, 0.05 + lift)}).q
            found = two.contacts.shapes.find([q[:3]], [np.eye(3)], 1e-3)
            places = {tuple(np.round(f.geometry(q[:3], np.eye(3), np.zeros(3), np.eye(3))[2], 9)) for f in found}
            assert len(places) == len(found) == 4
            counts[lift] = [f.id for f in found]
            assert sum("left" in f.id for f in found) == 2
        assert len({tuple(ids) for ids in counts.values()}) == 1
        own = _on(_bar()[0], GROUNDS[ground], pairs={("bar.left", "floor"): ContactLaw(mu=0.9)})
        assert len(own.contacts.shapes.find([q[:3]], [np.eye(3)], 1e-3)) == 8
        assert len(one.contacts.shapes.find([q[:3]], [np.eye(3)], 1e-3)) == 4


def test_a_ball_over_the_seam_of_two_parts_touches_once():
    bar, marble = _bar()[0], ball("marble", mass=0.1, radius=0.05)
    shapes = SpatialSystem(bodies=[bar, marble], contact=ContactLaw(mu=0.3)).contacts.shapes
    for y in (0.0, 0.06):  # on the face, and over its edge
        at = np.array([0.0, y, 0.05 + 0.05 - 1e-3 if y == 0.0 else 0.09])
        assert len(shapes.find([np.zeros(3), at], [np.eye(3)] * 2, 5e-3)) == 1


def test_a_bar_of_two_boxes_moves_as_one_box():
    """Dropped flat, and sliding: the contacts are as many as the statics needs and the motion is that of the whole."""
    ends = []
    for body in _bar():
        system = _on(body, GROUNDS["plane"])
        start = system.state({"bar": (0, 0, 0.06)}, {"bar": (0.4, 0.1, 0, 0, 0, 0)})
        run = simulate(system, start, 0.3, stepper=MoreauJean(dt=1e-3))
        ends.append(run.q[-1])
        assert run.status == "COMPLETED"
    assert ends[0] == pytest.approx(ends[1], abs=1e-10)


def test_a_plank_of_two_boxes_yaws_as_one_box():
    """It slides and spins: the shares of redundant corners would lead it elsewhere."""
    ends = []
    for body in _bar():
        system = _on(body, GROUNDS["box"])
        run = simulate(
            system, system.state({"bar": (0, 0, 0.05)}, {"bar": (0.6, 0.4, 0, 0, 0, 1.0)}), 0.2, stepper=MoreauJean()
        )
        assert len(run.contacts(-1)) == 4
        ends.append(run.q[-1])
    assert ends[0] == pytest.approx(ends[1], abs=1e-10)


@pytest.mark.parametrize("step", [0.01, -0.01])
def test_a_bar_that_leaves_a_table_is_borne_where_its_edges_pass_the_border(step):
    """Before and behind the joint, over it and tilted: as the border passes the joint no support jumps."""
    two, one = (_on(body, ([], [Box(half=(1.0, 1.0, 0.1), at=(1.0, 0.0, -0.1), name="table")])) for body in _bar())
    for x in (step, 1e-9 * step, 0.0):
        for tilt in (0.0, 1e-6, 1e-3):
            turn = Rotation.from_rotvec([0.0, tilt, 0.0])
            at, R = np.array([x, 0.0, 0.05]), turn.as_matrix()
            lows = []
            for system in (two, one):
                found = system.contacts.shapes.find([at], [R], 5e-3)
                lows.append({tuple(np.round(f.geometry(at, R, np.zeros(3), np.eye(3))[2], 8)) for f in found})
            assert lows[0] == lows[1]
            assert len(lows[0]) == 4


def _moved(solid_, at):
    return solid_.moved(np.array(at))


def test_inner_corners_are_those_through_which_a_line_goes_on():
    cube = box_polyhedron(Box(half=(1.0, 1.0, 1.0)))
    beside, above = _moved(cube, (2.0, 0.0, 0.0)), _moved(cube, (0.5, 0.0, 2.0))
    assert len(inner_corners([cube, beside])) == 8  # all of the common face
    tiles = [_moved(cube, (x, y, 0.0)) for x in (0.0, 2.0) for y in (0.0, 2.0)]
    assert len({found[:2] for found in inner_corners(tiles)}) == 32 - 8
    assert len(inner_corners([cube, _moved(cube, (1.0, 2.0, 1.0))])) == 2  # in the midst of faces
    assert {(a, b) for a, _, b in inner_corners([cube, above])} == {(0, 1), (1, 0)}
    assert len(inner_corners([cube, above])) == 4  # in the midst of edges
    assert inner_corners([cube]) == []
    wedge = hull_of("wedge", np.array([(1, -1, -1), (1, 1, -1), (1, -1, 1), (1, 1, 1), (3, -1, -1), (3, 1, -1)], float))
    assert len(inner_corners([cube, wedge])) == 4  # the lower ones, twice; the upper ones are where the roof begins
