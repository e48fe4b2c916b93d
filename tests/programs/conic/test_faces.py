"""Faces of the laws: the reactions that a motion of one block allows are those with which the law holds."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.arrays import Array
from gaussdyn.errors import InputError
from gaussdyn.programs.conic.faces import Piece, faces
from gaussdyn.programs.laws.laws import (
    Associated,
    BilateralCoulomb,
    BilateralSliding,
    Coulomb,
    Dry,
    Rolling,
    Unilateral,
)

LAWS = (
    (Unilateral(), [0.0]), (Unilateral(), [1.0]),
    (Coulomb(0.5, 0.7, 2), [0.0, 0.0]), (Coulomb(0.5, 0.7, 2), [0.0, -2.0]), (Coulomb(0.5, dim=2), [1.0, 2.0]),
    (Coulomb(0.5), [0.0, 0.0, 0.0]), (Coulomb(0.5), [0.0, 3.0, -4.0]), (Coulomb(0.0), [0.0, 0.0, 0.0]),
    (BilateralCoulomb(0.5), [0.0, 0.0, 0.0]), (BilateralCoulomb(0.5, dim=2), [0.0, 1.0]),
    (BilateralSliding(0.5, (1.0, 0.0)), [0.0]),
    (Dry(2.0, 3.0), [0.0]), (Dry(2.0, 3.0), [1.0]), (Dry(2.0, dim=2), [0.0, 0.0]), (Dry(2.0, dim=2), [3.0, 4.0]),
    (Rolling(0.5, 0.1), [0.0] * 5), (Rolling(0.5, 0.1), [0.0, 3.0, 4.0, 0.0, 0.0]),
    (Rolling(0.5, 0.1), [0.0, 0.0, 0.0, 0.0, 2.0]), (Rolling(0.5, 0.1), [0.0, 1.0, 0.0, 0.0, 2.0]),
)  # fmt: skip


def inside(piece: Piece, rng: np.random.Generator) -> Array:
    """Return a random reaction of a piece."""
    parts = []
    for cone in piece.cones:
        e = rng.standard_normal(cone.size - 1)
        tail = cone.mu * rng.uniform() * e / max(float(np.linalg.norm(e)), 1e-300)
        parts.append(np.r_[1.0, tail] if cone.kind == "cone" else rng.uniform(0.1, 1.0, 1))
    s = np.concatenate([np.zeros(0), *parts])
    if len(piece.right):
        size = piece.equal[0] @ s
        if piece.right[0]:
            s *= piece.right[0] / size
        else:  # both normal forces of rolling are one
            split = piece.cones[0].size
            s[split:] *= (piece.equal[0, :split] @ s[:split]) / -(piece.equal[0, split:] @ s[split:])
    assert piece.equal @ s == pytest.approx(piece.right)
    return np.asarray(piece.offset + piece.spread @ s)


@pytest.mark.parametrize(("law", "u"), LAWS, ids=lambda x: str(x))
def test_every_reaction_of_a_face_obeys_the_law(law: object, u: list[float]) -> None:
    rng = np.random.default_rng(0)
    for piece in faces(law, np.array(u), 1e-9):  # type: ignore[arg-type]
        for _ in range(5):
            residual = law.residual(np.array(u), inside(piece, rng))  # type: ignore[attr-defined]
            assert np.abs(residual).max() <= 1e-12


def test_a_block_that_is_held_has_two_sides() -> None:
    above, below = faces(BilateralCoulomb(0.5), np.zeros(3), 1e-9)
    assert above.spread[0, 0] == 1.0
    assert below.spread[0, 0] == -1.0


def test_the_associated_relaxation_is_refused() -> None:
    with pytest.raises(InputError, match="not Coulomb's law"):
        faces(Associated(0.5), np.zeros(3), 1e-9)
