"""What the tables of a run say beside its motion: of steps, of events, and where its contacts are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...arrays import EPS, Array
from ...errors import InputError
from ...integrate.contact_modes import FREE
from ...integrate.run.contact_history import Contact
from ...integrate.run.setup import WORKS
from ...integrate.run.trajectory import Trajectory
from ...integrate.run.uniqueness_checks import NOT_EXAMINED
from ...mechanics.collision.tangent_frames import chart_of, into_chart
from ...mechanics.joints.columns import Readings
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System

CLOCK = 1e-8  # of a step: how well its length and its two times agree
SAME = 1e-9  # m per m of the coordinates, and of directions: points and frames are those of the rows
MEND = "The file is damaged: gaussdyn run SCENE --out run.h5 makes it again."


def steps_told(run: Trajectory) -> Array:
    """Return for every step 0, or inf where its residual, its restitution or its margin cannot be what is told.

    Nor can its time where it does not begin when the one before has ended.
    """
    steps, kept = run.steps, kept_by_impacts(run)
    before = np.r_[steps.t[:1] - steps.dt[:1] if run.saved[0] else run.t[:1], steps.t[:-1]][: len(steps)]
    wrong = np.abs(steps.t - before - steps.dt) > CLOCK * steps.dt + 8.0 * EPS * np.abs(steps.t)
    wrong |= (steps.E < 0.0) | ~((steps.restitution >= 0.0) & (steps.restitution <= 1.0))
    wrong |= (steps.outcome == NOT_EXAMINED) & ~np.isnan(steps.friction_margin)
    ended = run.saved[run.saved > 0] - 1
    if "E" in run:
        wrong[ended] |= run["E"][run.saved > 0] != steps.E[ended]
    for step, least in kept.items():
        wrong[step] |= steps.restitution[step] != least
    return np.where(wrong, np.inf, 0.0)


def first_state(run: Trajectory) -> bool:
    """Whether nothing has happened yet at the first state: no step led there, nothing pushed, no work was done."""
    if run.saved[0]:
        return True
    begins = run.t[0] == run.before_t[0]
    begins &= np.array_equal(run.q[0], run.before_q[0]) and np.array_equal(run.v[0], run.before_v[0])
    still = not any(one.reaction.any() or one.mode != FREE for one in run.contacts(0))
    done = [name for name in ("E", *WORKS) if name in run]
    pushes = [name for key in run.rows for name in run.reaction_names(key)]
    return bool(begins and still and not any(run[name][0] for name in (*done, *pushes)))


def kept_by_impacts(run: Trajectory) -> dict[int, float]:
    """Return the fraction of all restitution that the impacts of every saved step kept, the least of them."""
    if "theta" in run.settings["stepper"]:
        return {}
    least = {int(step) - 1: 1.0 for step in run.saved if step > 0}
    for strike in run.impacts:
        if not 0.0 <= strike.kept <= 1.0:
            least[strike.step - 1] = math.nan
        if strike.step - 1 in least:
            least[strike.step - 1] = min(least[strike.step - 1], strike.kept)
    return least


def events_told(run: Trajectory) -> Array:
    """Return for every step how far its events lie outside it, relative to it; inf where some are missing."""
    steps, far = run.steps, np.zeros(len(run.steps))
    if not len(steps) or (steps.events < 0).any():
        return far
    if int(steps.events.sum()) != len(run.events):
        return np.full(len(steps), np.inf)
    t = np.array([event.t for event in run.events])
    of = np.repeat(np.arange(len(steps)), steps.events)
    outside = np.maximum(t - steps.t[of], steps.t[of] - steps.dt[of] - t) - 8.0 * EPS * np.abs(t)
    np.maximum.at(far, of, np.maximum(outside, 0.0) / steps.dt[of])
    return far


def off_readings(run: Trajectory, readings: Readings, k: int, state: State, forces: Mapping[str, Array]) -> float:
    """Return how far what joints are said to read is from what state and reactions say, over the largest of each.

    Full turns are counted along the run: of angles that wind the whole turns are the column's.
    """
    names = [name for name, _ in readings.more]
    if not names or not all(name in run for name in names):
        return 0.0
    angles = dict[str, float]()
    if readings.angles is not None:
        for joint, seen in zip(readings.winding, readings.angles(state.q, state.v)[0].tolist(), strict=True):
            said = float(run[f"{joint}:angle"][k]) if f"{joint}:angle" in run else seen
            angles[joint] = seen + math.tau * round((said - seen) / math.tau)
    found = readings.read(state.t, state.q, state.v, forces, angles)
    sizes = [max(1.0, float(np.abs(run[name]).max())) for name in names]
    return max(abs(float(run[name][k]) - x) / size for name, x, size in zip(names, found, sizes, strict=True))


def off_sensors(run: Trajectory, system: System) -> Array:
    """Return for every saved state how far the columns of sensors are from what they read there, over the largest."""
    far, sense = np.zeros(len(run)), getattr(system, "sense", None)
    for name, (_, values, *_also) in {} if sense is None else sense(run).items():
        if name in run:
            off = np.abs(run[name] - values) / max(1.0, float(np.nanmax(np.abs(values), initial=0.0)))
            far = np.maximum(far, np.where(np.isnan(run[name]) & np.isnan(values), 0.0, off))
    return far


def places(contacts: Sequence[Contact], rows: Mapping[str, Row]) -> float:
    """Return how far points, directions and friction of contacts are from those of their rows (m, 1).

    inf where they are between other bodies.


    Raises
    ------
    InputError
        A contact has another number of components than its row.
    """
    far = 0.0
    for contact in contacts:
        row = rows.get(contact.id)
        if row is None:
            continue
        if len(contact.reaction) != row.size:
            given = f"{len(contact.reaction)} components of {contact.id}"
            raise InputError("contacts/size", given, f"{row.size}, as its row has", MEND)
        if contact.between != row.between:
            return math.inf
        far = max(far, abs(contact.mu - row.mu), abs(contact.mu_s - row.mu_s), _off(contact, row))
    return far


def _off(contact: Contact, row: Row) -> float:
    """Return how far the point and the directions of a contact are from those of its row, in whichever chart (m, 1)."""
    off, said = 0.0, contact.frame
    if contact.point is not None and row.point is not None:
        off = float(np.abs(contact.point - row.point).max())
    if said is None or row.frame is None:
        return off
    turned = min(float(np.abs(said - frame).max()) for frame in _frames(row.frame))
    return max(off, turned)


def _frames(frame: Array) -> Iterator[Array]:
    """Yield the directions of a row, and what they are in the other chart of its normal, which a step may keep."""
    yield frame
    n = frame[0]
    if len(frame) == 3 and n[:2].any():
        yield np.vstack((n, into_chart(n, -chart_of(n)) @ frame[1:]))
