"""The contacts of shapes that may act within a step, by the rules of `Contacts.near`, as rows after those of joints."""

from __future__ import annotations

import math

from ...._jit import A1, A2, A3, I1, kernel
from ....arrays import Array, IntArray
from ....mechanics.collision.bounds.search_records import SHAPE_KIND, ContactList
from ....mechanics.collision.broad_phase import find_again, find_features, lasts
from ....mechanics.collision.feature_kinematics import feature_geometry
from ....mechanics.spatial.contacts import CLOSED, SLACK
from ....mechanics.trees.forest import LAST
from ....mechanics.trees.kinematics import ask_for, place_asked
from ..feature_lists import copy_feature, join_lists, place_of
from ..scheme import ALLOWED
from .evaluate import move, put_motion, put_poses, standing, stands_at
from .planar_contacts import find_planar, lay_out_planar, overlooked_planar
from .projection import limit
from .records import (
    AHEAD,
    ALL,
    ALL_ROWS,
    BRANCH,
    CONTACT,
    FASTEST,
    FIXED,
    FIXED_ROWS,
    FOREST,
    FOUND,
    HIGH,
    LISTED,
    LOW,
    MISSED,
    NODE,
    NODES,
    PLACED,
    PLANAR,
    POSITION,
    PULL,
    REACH,
    SPATIAL,
    UNILATERAL,
    Carried,
    Data,
    Layout,
    Model,
    Shapes,
)

PASSED_ON = 0.125  # of the largest speed: what any body of a tree may be set in motion by within a step
SIZE = 6  # column of `Shapes.laws`: number of rows


@kernel(f"int64(Shapes, {A2}, {A3}, float64, boolean)", borrows=True)
def look(shapes: Shapes, x: Array, R: Array, reach: float, ahead: bool) -> int:
    """Find the contacts that are open by `reach` at most; return how many there are, which may be more than fit."""
    s = shapes
    out = ContactList(s.kind, s.bodies, s.label, s.data)
    if ahead:
        out = ContactList(s.kind_ahead, s.bodies_ahead, s.label_ahead, s.data_ahead)
    return int(find_features(s.arrays, x, R, reach, s.travel, s.space, out))


@kernel(f"int64(Shapes, {A2}, {A3}, float64, int64)", borrows=True)
def look_again(shapes: Shapes, x: Array, R: Array, reach: float, n: int) -> int:
    """Find those contacts ahead whose pairs are among those of the n that are listed, and may have others."""
    s = shapes
    out = ContactList(s.kind_ahead, s.bodies_ahead, s.label_ahead, s.data_ahead)
    return int(find_again(s.arrays, x, R, reach, s.travel, s.space, s.label[:n], out))


@kernel("boolean(Shapes, int64)", borrows=True)
def lasting(shapes: Shapes, n: int) -> bool:
    """Return whether n contacts are all there can be of their pairs as long as these touch nowhere farther away."""
    s, some = shapes, True
    for f in range(n):
        some = some and lasts(s.arrays.table[s.label[f, 0], SHAPE_KIND], s.arrays.table[s.label[f, 2], SHAPE_KIND])
    return some


@kernel("boolean(Model, Data)", borrows=True, rare=True)
def out_of_reach(model: Model, data: Data) -> bool:
    """Return whether bodies moved so little that no pairs can touch but those that have contacts that are listed.

    A point of a body moves by |dx| + radius |dR| / sqrt(2) at most, |dR|^2 being the sum of the squares of entries.
    """
    shapes = model.shapes
    if model.layout.who != FOREST or shapes.numbers[REACH] < 0.0:
        return False
    moving, most, half = standing(model, data.q1, model.ahead).moving, 0.0, 0.5 * shapes.numbers[REACH]
    for b in range(len(shapes.radius)):
        way = turn = 0.0
        for i in range(3):
            way += (moving.x[b, i] - shapes.x[b, i]) ** 2
            for j in range(3):
                turn += (moving.R[b, i, j] - shapes.R[b, i, j]) ** 2
        most = max(most, math.sqrt(way) + shapes.radius[b] * math.sqrt(0.5 * turn) - shapes.travel[b])
    return bool(most <= half)


@kernel(f"void(Model, {A1}, int64)", borrows=True)
def place_unsteady(model: Model, q: Array, n: int) -> None:
    """Put the bodies at q whose pairs have one of the n contacts that are listed, and may have others."""
    s, forest = model.shapes, model.forest
    for f in range(0 if stands_at(forest, q) else n):
        if not lasts(s.arrays.table[s.label[f, 0], SHAPE_KIND], s.arrays.table[s.label[f, 2], SHAPE_KIND]):
            ask_for(forest.trees, forest.moving, s.bodies[f, 0])
            ask_for(forest.trees, forest.moving, s.bodies[f, 1])
    if not stands_at(forest, q):
        place_asked(forest.trees, forest.moving, q)


@kernel(f"int64(Model, Data, {A1}, int64, float64, float64, boolean)", borrows=True)
def join_those_at(model: Model, data: Data, q: Array, n: int, reach: float, least: float, known: bool) -> int:
    """Add to the n contacts those that are open by `reach` at most at q, and by `least` at least where bodies are.

    known: only those of pairs that have contacts already: pairs that are farther away do not meet within the step.
    """
    s = model.shapes
    if model.layout.who == FOREST:  # whose bodies stand there, and `shapes` says where they are all the same
        if known:
            place_unsteady(model, q, n)
        moving = model.forest.moving if known else standing(model, q, model.forest).moving
        ahead = look_again(s, moving.x, moving.R, reach, n) if known else look(s, moving.x, moving.R, reach, True)
    else:
        put_poses(model, q, model.forest)
        ahead = look_again(s, s.x, s.R, reach, n) if known else look(s, s.x, s.R, reach, True)
        put_poses(model, data.q, model.ahead)
    if ahead > len(s.kind):
        return n + ahead
    now = ContactList(s.kind, s.bodies, s.label, s.data)
    seen = ContactList(s.kind_ahead, s.bodies_ahead, s.label_ahead, s.data_ahead)
    return int(join_lists(s.arrays.table, now, n, seen, ahead, s.x, s.R, (least, math.inf)))


@kernel(f"boolean(Model, {A1})", borrows=True)
def stay(model: Model, q: Array) -> bool:
    """Return whether trees stand at q where they stood when contacts were listed."""
    shapes = model.shapes
    if model.layout.who != FOREST:
        return False
    moving, same = standing(model, q, model.ahead).moving, True
    for b in range(len(shapes.radius)):
        for i in range(3):
            same = same and moving.x[b, i] == shapes.x[b, i]
            for j in range(3):
                same = same and moving.R[b, i, j] == shapes.R[b, i, j]
    return same


@kernel("void(Shapes, float64)", borrows=True)
def put_travel(shapes: Shapes, dt: float) -> None:
    """Put how far bodies come within dt at the speeds of `put_motion`, and with dt = 0 how far rounding moves any."""
    s = shapes
    for k in range(len(s.radius)):
        s.travel[k] = max(SLACK * s.radius[k], CLOSED) + dt * s.speed[k]


@kernel("float64(Model, float64, float64)", borrows=True)
def reach_of(model: Model, dt: float, speed: float) -> float:
    """Return how far contacts that may act within dt are open at most beyond what bodies travel.

    speed: of the fastest point, of trees alone, whose bodies set one another in motion. A step that has missed a
    contact for that is taken again with what any may come at its speed.
    """
    s, passed = model.shapes, 0.0
    if model.layout.who == FOREST:
        passed = max(PASSED_ON * speed, s.numbers[MISSED])
    return float(s.numbers[PULL] * dt * dt + 2.0 * dt * passed)


@kernel(f"int64(Model, {A1}, float64)", borrows=True)
def look_from(model: Model, q: Array, reach: float) -> int:
    """Find the contacts of bodies at q, where `shapes` has them; those that `overlooked` has found there serve."""
    s = model.shapes
    n = int(s.numbers[FOUND]) if s.numbers[AHEAD] == reach and stay(model, q) else -1
    s.numbers[AHEAD] = -1.0
    if n < 0:
        put_poses(model, q, model.ahead)
        return look(s, s.x, s.R, reach, False)
    now = ContactList(s.kind, s.bodies, s.label, s.data)
    seen = ContactList(s.kind_ahead, s.bodies_ahead, s.label_ahead, s.data_ahead)
    for f in range(n):
        copy_feature(seen, f, now, f)
    return n


@kernel("int64(Model, Data, float64)", borrows=True, rare=True)
def find_contacts(model: Model, data: Data, dt: float) -> int:
    """Put the contacts of the step; return how many there are, which may be more than fit.

    Those of where bodies are, of where they come to freely, and of where they overlap at the end of a step that did not
    list them: these are told by nothing before where a body slides from one feature of another to the next.
    """
    s = model.shapes
    placed = s.numbers[PLACED] != 0.0
    speed = s.numbers[FASTEST] if placed else put_motion(model, data.q, data.v)
    s.numbers[PLACED] = 0.0
    put_travel(s, dt)
    reach = reach_of(model, dt, speed)
    if not (placed or speed > 0.0) and reach == s.numbers[REACH] and stay(model, data.q):
        return int(s.numbers[LISTED])
    s.numbers[REACH] = reach
    found = look(s, s.x, s.R, reach, False) if placed else look_from(model, data.q, reach)
    if dt * speed > 0.0 and found <= len(s.kind) and not lasting(s, found):
        move(model, data.q, data.v, dt, data.moved)
        found = join_those_at(model, data, data.moved, found, reach, -CLOSED, True)
        if s.numbers[MISSED] > 0.0 and found <= len(s.kind):
            put_travel(s, 0.0)
            found = join_those_at(model, data, data.q1, found, 0.0, -math.inf, False)
    s.numbers[LISTED] = found
    return int(found)


@kernel(f"void(Layout, Carried, {A1}, {I1})", borrows=True)
def remember(layout: Layout, carried: Carried, last: Array, now: IntArray) -> None:
    """Keep what the last step knew of its contacts."""
    n, joints = layout.counts[ALL], layout.counts[FIXED]
    carried.known[0] = n - joints
    for k in range(joints, n):
        f = k - joints
        carried.place_then[f], carried.start_then[f], carried.now_then[f] = carried.place[f], layout.start[k], now[k]
        for i in range(layout.start[k], layout.start[k + 1]):
            carried.last_then[i] = last[i]


@kernel("UniTuple(int64, 2)(Model, int64, int64, int64)", borrows=True)
def end_of_branches(model: Model, a: int, b: int, end: int) -> tuple[int, int]:
    """Return the end of the velocities that move bodies a and b of trees, and whether one of them stands still.

    Of others `end`, that of their nodes.
    """
    if model.layout.who != FOREST:
        return end, 0
    bodies = model.forest.trees.bodies
    first, second = bodies[a, LAST] if a >= 0 else -1, bodies[b, LAST] if b >= 0 else -1
    return max(first, second) + 1, int(min(first, second) < 0)


@kernel("void(Model, int64)", borrows=True, rare=True)
def lay_out(model: Model, contacts: int) -> None:
    """Give the contacts their rows."""
    layout, shapes = model.layout, model.shapes
    joints, row = layout.counts[FIXED], layout.counts[FIXED_ROWS]
    for f in range(contacts):
        k, a, b = joints + f, shapes.bodies[f, 0], shapes.bodies[f, 1]
        size = int(shapes.laws[shapes.kind_of[shapes.label[f, 0]], shapes.kind_of[shapes.label[f, 2]], SIZE])
        layout.kind[k], layout.level[k], layout.start[k] = CONTACT if size > 1 else UNILATERAL, POSITION, row
        first, second = shapes.node[a, 0] if a >= 0 else -1, shapes.node[b, 0] if b >= 0 else -1
        low, high = max(first, second, 0), shapes.node[a if first > second else b, 1] if max(first, second) >= 0 else 0
        if min(first, second) >= 0:
            low = min(first, second)
        end, alone = end_of_branches(model, a, b, layout.nodes[high])
        for i in range(row, row + size):
            layout.reach[i, NODE], layout.reach[i, NODES], layout.reach[i, BRANCH] = low, high, alone
            layout.reach[i, LOW], layout.reach[i, HIGH] = layout.nodes[low], end
        row += size
    for k in range(joints + contacts, len(layout.start)):
        layout.start[k] = row
    layout.counts[ALL], layout.counts[ALL_ROWS] = joints + contacts, row


@kernel(f"boolean(Layout, Carried, {A1}, {I1})", borrows=True)
def recall(layout: Layout, carried: Carried, last: Array, now: IntArray) -> bool:
    """Give the contacts the impulses and modes that they had in the last step; return whether they are the same."""
    joints, f, same = layout.counts[FIXED], 0, layout.counts[ALL] - layout.counts[FIXED] == carried.known[0]
    for k in range(joints, layout.counts[ALL]):
        place, now[k] = carried.place[k - joints], -1
        while f < carried.known[0] and carried.place_then[f] < place:
            f += 1
        held = f < carried.known[0] and carried.place_then[f] == place
        same = same and held
        if held:
            now[k] = carried.now_then[f]
        for i in range(layout.start[k], layout.start[k + 1]):
            last[i] = carried.last_then[carried.start_then[f] + i - layout.start[k]] if held else 0.0
    return bool(same)


@kernel("void(Layout, Data)", borrows=True)
def forget_rows(layout: Layout, data: Data) -> None:
    """Clear the rows of the contacts of shapes, which were others before, and may have reached other bodies."""
    if layout.who == SPATIAL and len(data.v) == 6:  # all reach the one body, and evaluations write all that they reach
        return
    for i in range(layout.counts[FIXED_ROWS], layout.counts[ALL_ROWS]):
        for j in range(len(data.v)):
            data.begin.J[i, j] = data.mid.J[i, j] = data.end.J[i, j] = data.seen.J[i, j] = 0.0


@kernel("boolean(Model)", borrows=True)
def searches(model: Model) -> bool:
    """Return whether there are shapes that may touch."""
    return len(model.shapes.arrays.table) > 1 or len(model.touches.outlines.pairs) > 0


@kernel(f"boolean(Model, Data, {I1}, float64)", borrows=True, entry=True)
def list_contacts(model: Model, data: Data, now: IntArray, dt: float) -> bool:
    """List the contacts that may act within dt, with what the last step knew of them; False if they do not fit."""
    layout, s, plane = model.layout, model.shapes, model.layout.who == PLANAR
    if not searches(model):
        return True
    remember(layout, model.carried, data.last, now)
    found = find_planar(model, data, dt) if plane else find_contacts(model, data, dt)
    if found > len(model.carried.place):
        return False
    if plane:
        lay_out_planar(model, found)
    else:
        lay_out(model, found)
        for f in range(found):
            model.carried.place[f] = place_of(s.arrays.table, s.label, f)
    if not recall(layout, model.carried, data.last, now):
        forget_rows(layout, data)
    return True


@kernel("boolean(Model)", borrows=True)
def misses(model: Model) -> bool:
    """Return whether a step of bodies has ended in a contact that was not listed."""
    if len(model.touches.missed) > 0:
        return bool(model.touches.missed[0] > 0)
    return len(model.shapes.numbers) > 0 and model.shapes.numbers[MISSED] > 0.0


@kernel("void(Model)", borrows=True)
def forget_missed(model: Model) -> None:
    """List contacts by the speeds at the start again."""
    if len(model.touches.missed) > 0:
        model.touches.missed[0] = 0
    if len(model.shapes.numbers) > 0:
        model.shapes.numbers[MISSED] = 0.0


@kernel("int64(Model, Data, float64, int64, boolean)", borrows=True, rare=True)
def look_at_end(model: Model, data: Data, dt: float, n: int, near: bool) -> int:
    """Put bodies where the step ends, and find contacts that overlap there ahead; of trees all of the next step.

    near: only pairs that have one of the n that are listed may have others.
    """
    s = model.shapes
    s.numbers[REACH], s.numbers[AHEAD] = -1.0, -1.0  # the places of the start are not there any longer
    put_poses(model, data.q1, model.ahead)
    if model.layout.who == FOREST:
        reach = reach_of(model, dt, put_motion(model, data.q1, data.v1))
        put_travel(s, dt)
        found = look(s, s.x, s.R, reach, True)
        if found <= len(s.kind):
            s.numbers[AHEAD], s.numbers[FOUND] = reach, found
            return found
    put_travel(s, 0.0)
    return look_again(s, s.x, s.R, 0.0, n) if near else look(s, s.x, s.R, 0.0, True)


@kernel("boolean(Model, Data, float64)", borrows=True)
def overlooked(model: Model, data: Data, dt: float) -> bool:
    """Return whether bodies overlap at the end of a step of dt in a contact that is not listed."""
    layout, s, f, still = model.layout, model.shapes, 0, True
    for i in range(len(data.q)):
        still = still and data.q[i] == data.q1[i]
    if still or not searches(model):
        return False
    if layout.who == PLANAR:
        return bool(overlooked_planar(model, data))
    n, out = layout.counts[ALL] - layout.counts[FIXED], s.out[0]
    near = out_of_reach(model, data)
    if near and lasting(s, n):
        return False
    found = look_at_end(model, data, dt, n, near)
    if found > len(s.kind):  # there will be room when the step is taken again
        s.numbers[MISSED] = put_motion(model, data.q1, data.v1)
        return True
    for k in range(found):
        place = place_of(s.arrays.table, s.label_ahead, k)
        while f < n and place_of(s.arrays.table, s.label, f) < place:
            f += 1
        if f < n and place_of(s.arrays.table, s.label, f) == place:
            continue
        a, b = s.bodies_ahead[k, 0] % len(s.x), s.bodies_ahead[k, 1] % len(s.x)
        feature_geometry(s.kind_ahead[k], s.data_ahead[k], s.x[a], s.R[a], s.x[b], s.R[b], out)
        if out[0] < -limit(ALLOWED, data.q1):
            s.numbers[MISSED] = put_motion(model, data.q1, data.v1)
            return True
    return False
