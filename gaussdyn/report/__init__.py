"""Pages and pictures of runs. The only floor that draws; its libraries come with the extra ``report``.

Names are imported when they are first used: no page needs what another one draws with.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from .animation import animate as animate
    from .atlas_pictures import draw_atlas as draw_atlas
    from .branches_pictures import draw_branches as draw_branches
    from .branches_pictures import draw_reactions as draw_reactions
    from .census_pictures import draw_census as draw_census
    from .phase import draw_phase as draw_phase

__all__ = ["animate", "draw_atlas", "draw_branches", "draw_census", "draw_phase", "draw_reactions"]

_HOME = {
    "animate": "animation",
    "draw_atlas": "atlas_pictures",
    "draw_branches": "branches_pictures",
    "draw_census": "census_pictures",
    "draw_phase": "phase",
    "draw_reactions": "branches_pictures",
}


def __getattr__(name: str) -> _Any:
    """Import a name when it is first used (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
