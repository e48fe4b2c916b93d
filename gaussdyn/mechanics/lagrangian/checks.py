"""What can be wrong with a system from symbols as a whole: found at a few random states, said by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array, scalar
from ...errors import InputError
from ..rows import BOUNDS
from .code import Evaluate
from .model import Element, Layout, Model, names_in, of_state

SAMPLES = 6
NOTHING = 1e-13  # a derivative below this at every sample is zero
SINGULAR = 1e-12  # smallest eigenvalue of a mass matrix with unit diagonal
FRICTIONAL = ("contact", "bilateral_contact", "dry")


def check_model(model: Model, layout: Layout, evaluate: Evaluate, values: Array) -> None:
    """Raise InputError for a mass matrix that is singular everywhere and for constraints that say nothing new.

    Values where an expression is not defined are passed over.

    Raises
    ------
    InputError
        Names the coordinate or the constraint.
    """
    _check_coordinates(model)
    rng, n = np.random.default_rng(5), model.size
    u = np.zeros(len(model.controls))
    once, twice = np.empty((SAMPLES, layout.size)), np.empty((SAMPLES, layout.size))
    for k in range(SAMPLES):
        t, q, v = float(rng.uniform(0.1, 1.0)), rng.normal(size=n), rng.normal(size=n)
        evaluate(t, q, v, u, values, once[k])
        evaluate(t, q, 2.0 * v, u, values, twice[k])
    _check_mass(model, once[:, layout.M].reshape(SAMPLES, n, n))
    _check_constraints(model, layout, once, twice)


def check_coefficients(model: Model, layout: Layout, evaluate: Evaluate, values: Array) -> None:
    """Raise InputError for a coefficient of friction or restitution out of range that is the same at all states."""
    out, zero = np.empty(layout.size), np.zeros(model.size)
    evaluate(0.0, zero, zero, np.zeros(len(model.controls)), values, out)
    bounds = {name: (low, high) for name, low, high in BOUNDS}
    for element, place in zip(model.elements, layout.places, strict=True):
        given = dict(zip((name for name, _ in element.coefficients), out[place.coefficients], strict=True))
        for name, tree in element.coefficients:
            if of_state(tree):
                continue
            low, high = bounds.get(name, (given.get(name[:-2], 0.0), np.inf))  # mu_s and cap_s are at least mu and cap
            scalar(f"{name} of {element.id}", float(given[name]), low=low, high=high)


def _check_coordinates(model: Model) -> None:
    everywhere = names_in([model.kinetic, model.potential, *model.forces, [e.expressions for e in model.elements]])
    in_kinetic = names_in(model.kinetic)
    for k, coordinate in enumerate(model.coordinates):
        if not {f"q{k}", f"v{k}"} & everywhere:
            raise InputError(
                "coordinates",
                repr(coordinate.name),
                "coordinates that appear in the energies",
                "Drop it from coordinates=[...].",
            )
        if f"v{k}" not in in_kinetic:
            mend = "Give it a mass in kinetic=..., or express it by the others."
            given = f"singular: no inertia of {coordinate.name!r}"
            raise InputError("kinetic", given, "a kinetic energy of every velocity", mend)


def _check_mass(model: Model, masses: Array) -> None:
    """Raise InputError if the mass matrix is singular at every sample."""
    found: set[int] = set()
    for M in masses[np.isfinite(masses).all(axis=(1, 2))]:
        diagonal = np.diag(M)
        if diagonal.min() <= 0.0:
            found |= {int(np.argmin(diagonal))}
            continue
        scale = np.sqrt(diagonal)
        sizes, directions = np.linalg.eigh(M / np.outer(scale, scale))
        if sizes[0] > SINGULAR:
            return
        found |= {int(k) for k in np.flatnonzero(np.abs(directions[:, 0]) > 1e-3)}
    if found:
        names = ", ".join(model.coordinates[k].name for k in sorted(found))
        mend = "Give that coordinate a mass in kinetic=..., or express it by the others."
        raise InputError("kinetic", f"a mass matrix singular in {names}", "one that is positive definite", mend)


def _check_constraints(model: Model, layout: Layout, once: Array, twice: Array) -> None:
    seen: list[tuple[Element, Array]] = []
    for element, place in zip(model.elements, layout.places, strict=True):
        ok = np.isfinite(once[:, place.gap : place.coefficients.start]).all(axis=1)
        if not ok.any():
            continue
        J, gap = once[ok, place.J], once[ok, place.gap]
        _check_rows(element, J.reshape(len(J), *place.shape), gap)
        _check_linear(element, J, twice[ok, place.J])
        if element.kind != "dry":
            rows = np.concatenate([once[:, place.gap : place.gap + 1], once[:, place.J]], axis=1)
            _check_new(element, rows, seen)
            seen.append((element, rows))


def _check_rows(element: Element, J: Array, gap: Array) -> None:
    for k in range(element.size):
        if np.abs(J[:, k]).max() <= NOTHING:
            nothing = k == 0 and np.abs(gap).max() <= NOTHING
            row = element.id if element.size == 1 else f"row {k} of {element.id}"
            given = "identically zero" if nothing else "an expression that does not depend on the motion"
            raise InputError(
                row,
                given,
                "a function of the coordinates or velocities",
                "Drop it from constraints=[...], or look for a slip.",
            )


def _check_linear(element: Element, J: Array, other: Array) -> None:
    if element.kind in FRICTIONAL and np.abs(J - other).max() > 1e-9 * np.abs(J).max():
        raise InputError(
            f"slip of {element.id}",
            "not linear in the velocities",
            "a velocity: J(t, q) v + w(t, q)",
            'Write Friction(slip="xdot - v0").',
        )


def _check_new(element: Element, rows: Array, seen: Sequence[tuple[Element, Array]]) -> None:
    """Raise InputError if a constraint is a multiple of one seen before."""
    for other, theirs in seen:
        if theirs.shape != rows.shape or other.level != element.level:
            continue
        ok = np.isfinite(rows).all(axis=1) & np.isfinite(theirs).all(axis=1)
        a, b = rows[ok].ravel(), theirs[ok].ravel()
        factor = float(a @ b / (b @ b)) if a.size else 0.0
        opposite = factor < 0.0 and "unilateral" in (element.kind, other.kind)
        if not opposite and a.size and np.abs(a - factor * b).max() <= 1e-11 * np.abs(a).max():
            mend = f"It is {factor:.6g} times {other.id}. Drop one of them from constraints=[...]."
            raise InputError(element.id, f"the same constraint as {other.id}", "each constraint once", mend)
