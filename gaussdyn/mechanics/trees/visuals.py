"""What is only seen of bodies: shapes and surfaces of triangles that touch nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from ..._show import brief
from ...arrays import Array, IntArray, vector
from ...errors import InputError
from ...linalg.rotations import IDENTITY, matrix_of, quaternion_of
from ..collision.shapes import Quaternion, Shape, Triple, triple
from ..spatial.drawables import Posed, drawn_shape


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Skin:
    """A surface of triangles that is only seen: it may be open, or cross itself.

    Parameters
    ----------
    vertices : array_like, shape (k, 3)
        m.
    faces : array_like of int, shape (F, 3)
        Three vertices each, counterclockwise seen from outside.
    at : (x, y, z)
        Where the origin of these axes is on the body, m.
    turn : (w, x, y, z)
        Quaternion from these axes to those of the body.
    name : str

    Raises
    ------
    InputError
        Vertices that are no numbers, faces of no vertex.
    """

    vertices: Array
    faces: IntArray
    at: Triple = (0.0, 0.0, 0.0)
    turn: Quaternion = IDENTITY
    name: str = ""

    __repr__ = brief

    def __post_init__(self) -> None:
        vertices, faces = np.array(self.vertices, dtype=np.float64), np.array(self.faces, dtype=np.int64)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise InputError(
                f"vertices of {self.name}",
                f"shape {vertices.shape}",
                "finite numbers of shape (k, 3)",
                "Write vertices=numpy.zeros((3, 3)): a row for each.",
            )
        if faces.ndim != 2 or faces.shape[1] != 3 or not np.isin(faces, np.arange(len(vertices))).all():
            raise InputError(
                f"faces of {self.name}",
                f"shape {faces.shape}",
                f"three of 0 to {len(vertices) - 1} each",
                "Count from 0: faces = faces - faces.min().",
            )
        values = {"vertices": vertices, "faces": faces, "at": triple("at", self.at)}
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Visual:
    """What a body is seen by, in the place of the shapes that touch.

    Parameters
    ----------
    body : str
    shape : a shape, or Skin
        On the body.
    colour : (r, g, b, a) or None
        Numbers from 0 to 1; None for that of the body.
    """

    body: str
    shape: Shape | Skin
    colour: Sequence[float] | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        if self.colour is not None:
            object.__setattr__(self, "colour", tuple(vector(f"colour of {self.body}", self.colour, 4).tolist()))

    def drawn(self, pose: Posed) -> dict[str, Any]:
        """Return it as `spatial.drawables` has it, its body in the frame `pose`."""
        name = f"{self.body}.{self.shape.name}" if self.shape.name else self.body
        found = (
            drawn_skin(name, self.shape, pose) if isinstance(self.shape, Skin) else drawn_shape(name, self.shape, pose)
        )
        return found if self.colour is None else found | {"colour": list(self.colour)}


def drawn_skin(name: str, skin: Skin, pose: Posed) -> dict[str, Any]:
    """Return a surface as a solid; its corners and faces are the same objects in every pose."""
    at, turn = pose.x + pose.R @ np.array(skin.at), quaternion_of(pose.R @ matrix_of(skin.turn))
    return {
        "shape": "solid", "name": name, "at": at.tolist(), "turn": turn.tolist(), "corners": skin.vertices,
        "faces": skin.faces,
    }  # fmt: skip


class WhenSeen(Sequence[Visual]):
    """Visuals that are read when something is first drawn: meshes may be large, and most runs are not looked at.

    Parameters
    ----------
    read : callable
        Returns them.
    """

    def __init__(self, read: Callable[[], Sequence[Visual]]) -> None:
        self.read = read

    @cached_property
    def all(self) -> tuple[Visual, ...]:
        """All of them."""
        return tuple(self.read())

    def __len__(self) -> int:
        return len(self.all)

    @overload
    def __getitem__(self, k: int) -> Visual: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[Visual]: ...
    def __getitem__(self, k: int | slice) -> Visual | Sequence[Visual]:
        return self.all[k]

    def __repr__(self) -> str:
        return "WhenSeen()"
