"""Planar bodies with known outcomes, built from their mechanics, for several test files."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaussdyn.contact.outcome.outcome import planar_body_problem
from gaussdyn.mechanics.planar.body_file import ExactBody
from gaussdyn.programs.enumeration.modal_problem import ModalProblem


def problem(data: dict[str, Any]) -> ModalProblem:
    return planar_body_problem(ExactBody.of(data))


def rod(
    *, a: Any = "6/5", h: Any = "8/5", mu: Any = 2, state: int = -1, P1: Any = None, P2: Any = None, J: Any = 1,
    force: Any = ("0", "-1", "0"), bilateral: bool = False, drift: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """A rod of unit mass whose tip is at (-a, -h) from its centre; P1, P2 are the reduced loads of the theory.

    With unit central inertia: w_n = (1 + a^2) N - a h T - P1 and w_t = P2 + (1 + h^2) T - a h N at the tip. The
    loads are set by the drift of the tip (normal, tangential).
    """
    body = {"m": 1, "J": J, "points": [[f"-{a}", f"-{h}"]], "normals": "all (0,1)", "mu": [mu], "state": [state],
            "force": list(force), "bilateral": [bilateral]}  # fmt: skip
    if P1 is not None:
        body |= {"force": [0, 0, 0], "drift": [[-P1, P2 or 0]]}
    if drift is not None:
        body["drift"] = [drift]
    return body


def bipod(mu: tuple[Any, Any], F: Any, state: int, *, a: int = 1, h: int = 2, P: int = 1) -> dict[str, Any]:
    """Two feet at (+-a, -h), held on the ground from both sides, pushed by F to the right, weight P, unit mass.

    Rotation is excluded by the two held feet; J does not matter.
    """
    return {"m": 1, "J": 1, "points": [[-a, -h], [a, -h]], "normals": "all (0,1)", "mu": list(mu),
            "state": [state, state], "bilateral": [True, True], "force": [F, -P, 0]}  # fmt: skip


def table(feet: int, *, mu: Any = "1/2", force: Any = ("0", "-1", "0")) -> dict[str, Any]:
    points = [[f"{2 * i - feet + 1}/2", "-1"] for i in range(feet)]
    return {"m": 1, "J": 1, "points": points, "normals": "all (0,1)", "mu": [mu] * feet, "state": [0] * feet,
            "force": list(force)}  # fmt: skip


def groove(rng: np.random.Generator, contacts: int, states: tuple[int, ...] = (0,)) -> dict[str, Any]:
    """A body in a V-groove: half of the contacts on either wall."""
    left, right = rng.uniform(0.3, 1.2, 2)
    points, normals = [], []
    for i in range(contacts):
        side, angle = (-1.0, left) if i < contacts // 2 else (1.0, right)
        reach = rng.uniform(0.5, 2.0)
        points.append([side * reach * np.cos(angle), reach * np.sin(angle) - 1.0])
        normals.append([-side * np.sin(angle), np.cos(angle)])
    return {"m": 1.0, "J": float(rng.uniform(0.1, 1.0)), "points": points, "normals": normals,
            "mu": rng.uniform(0.1, 1.5, contacts).tolist(), "state": [int(x) for x in rng.choice(states, contacts)],
            "force": [*rng.normal(size=2), float(rng.normal())]}  # fmt: skip


def random_body(rng: np.random.Generator, contacts: int, *, at_rest: bool = True) -> dict[str, Any]:
    normals = np.c_[0.6 * rng.normal(size=contacts), np.ones(contacts)]
    return {"m": 1.0, "J": float(rng.uniform(0.05, 1.0)), "points": rng.normal(size=(contacts, 2)).tolist(),
            "normals": normals.tolist(), "mu": rng.uniform(0.0, 2.5, contacts).tolist(),
            "state": [0] * contacts if at_rest else [int(x) for x in rng.integers(-1, 2, contacts)],
            "force": rng.normal(size=3).tolist()}  # fmt: skip


def doubles(modal: ModalProblem) -> tuple[np.ndarray, np.ndarray]:
    W = np.array([[float(x) for x in row] for row in modal.W]).reshape(len(modal.q), modal.forces)
    return W, np.array([float(x) for x in modal.q])
