"""A league of engines: the same worlds in each, judged by exact answers, with what each engine said.

`world` is what all are given, `engines` has one adapter per library behind one protocol, `matches` the scenes and what
is exact about them, `one_game` plays one of them in a process of its own, `championship` all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .._lazy import on_demand as _on_demand

if _TYPE_CHECKING:
    from .championship import league as league
    from .engines.protocol import Engine as Engine
    from .engines.protocol import Lacks as Lacks
    from .engines.protocol import Simulation as Simulation
    from .standings import behind as behind
    from .world import Ball as Ball
    from .world import Block as Block
    from .world import Body as Body
    from .world import Pin as Pin
    from .world import Rod as Rod
    from .world import Wall as Wall
    from .world import World as World

__all__ = [
    "Ball", "Block", "Body", "Engine", "Lacks", "Pin", "Rod", "Simulation", "Wall", "World", "behind", "league",
]  # fmt: skip

__getattr__, __dir__ = _on_demand(
    __name__,
    {
        "championship": ("league",),
        "engines.protocol": ("Engine", "Lacks", "Simulation"),
        "standings": ("behind",),
        "world": ("Ball", "Block", "Body", "Pin", "Rod", "Wall", "World"),
    },
)
