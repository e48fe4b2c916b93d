"""The first step of a rod on one contact, in closed form: it presses on, or it jams."""

from __future__ import annotations

import math

from ...mechanics.scene import Exact
from ..measures.first_state import TIE
from ..measures.measures import check
from .planar_contact import Body, OneContact

STEADY = 0.02  # least A, relative to W_NN, and least share of a step in which the slip would end


def first_step(body: Body, contact: OneContact, slip: float, dt: float, tip: str) -> list[Exact]:
    """Return the checks of the first step: the only force while it slides, or the jam where there is no motion."""
    if not slip or contact.margin(math.copysign(1.0, slip)) <= TIE:
        return []
    forces = contact.sliding(math.copysign(1.0, slip))
    if not forces:
        return jam(body, contact, slip, dt)
    return pressing(body, contact, slip, dt, tip) if len(forces) == 1 and forces[0] else []


def pressing(body: Body, contact: OneContact, slip: float, dt: float, tip: str) -> list[Exact]:
    """Return the check of the normal force N = -b / A over the first step, which changes a little within the step."""
    s = math.copysign(1.0, slip)
    (N,) = contact.sliding(s)
    T = -contact.mu * s * abs(N)
    if (
        abs(contact.A(s, math.copysign(1.0, N))) < STEADY * contact.W_NN
        or abs(slip) < abs(contact.a_T(N, T)) * dt / STEADY
    ):
        return []
    later = body.after(dt, N, T).contact(contact.mu, contact.bilateral).sliding(s)
    if len(later) != 1:
        return []
    tol = 2.0 * abs(later[0] - N) + 1e-4 * abs(N)
    return [check("normal force of the first step", N, "N", lambda run: float(run[f"{tip}.r_N"][1]), moreau_jean=tol)]


def jam(body: Body, contact: OneContact, slip: float, dt: float) -> list[Exact]:
    """Return the checks of an impact without collision: the first step stops the slip by an impulse.

    In the limit dt -> 0 the impulse is the one that cancels the slip alone. Over a step the loads and the turning of
    the body change it by the order of dt.
    """
    arm = math.hypot(*body.centre)
    after = body.omega + body.turn(*contact.stick(0.0, slip))
    speed = abs(slip) / arm + abs(body.omega) + abs(after)
    load = math.hypot(*contact.stick(contact.free_n, contact.free_t)) * arm / body.inertia
    tol = 10.0 * dt * (load + speed * speed)
    rest = 1e-8 * (1.0 + speed)
    return [
        check("slip after the first step", 0.0, "m/s", lambda run: float(run["tip.u"][1]), moreau_jean=rest),
        check("omega after the first step", after, "rad/s", lambda run: float(run["rod.omega"][1]), moreau_jean=tol),
    ]
