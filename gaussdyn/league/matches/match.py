"""A match: a scene with exact answers that all engines play."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..playing import Field, Figure
from ..world import Ball, Block, Body, Triple, Wall

G = 9.81
FLOOR = Wall(point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A scene that engines play.

    Attributes
    ----------
    name, title : str
    exact : str
        What is exact about it, and from where.
    dt : float
        The step that all get, s.
    play : callable
        ``play(field)`` plays its worlds and returns the figures, the most telling first.
    """

    name: str
    title: str
    exact: str
    dt: float
    play: Callable[[Field], list[Figure]]


def ball(radius: float, mass: float, place: Triple, velocity: Triple = (0.0,) * 3, spin: Triple = (0.0,) * 3) -> Body:
    """Return a homogeneous ball."""
    moment = 0.4 * mass * radius * radius
    shape = Ball(radius=radius)
    return Body(mass=mass, inertia=(moment,) * 3, place=place, velocity=velocity, spin=spin, shape=shape)


def block(half: Triple, mass: float, place: Triple) -> Body:
    """Return a homogeneous box, upright and at rest."""
    a, b, c = (x * x for x in half)
    inertia = mass * (b + c) / 3.0, mass * (a + c) / 3.0, mass * (a + b) / 3.0
    return Body(mass=mass, inertia=inertia, place=place, shape=Block(half=half))
