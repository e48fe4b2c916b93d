"""Pages and pictures of runs. The only floor that draws; its libraries come with the extra ``report``.

Names are imported when they are first used: no page needs what another one draws with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .._lazy import on_demand as _on_demand

if _TYPE_CHECKING:
    from .animation import animate as animate
    from .atlas_pictures import draw_atlas as draw_atlas
    from .branches_pictures import draw_branches as draw_branches
    from .branches_pictures import draw_reactions as draw_reactions
    from .census_pictures import draw_census as draw_census
    from .crosscheck_pictures import draw_crosscheck as draw_crosscheck
    from .equilibria_pictures import draw_equilibria as draw_equilibria
    from .forces_pictures import draw_forces as draw_forces
    from .orbits_pictures import draw_orbits as draw_orbits
    from .phase import draw_phase as draw_phase
    from .studies.study_page import write_study_page as write_study_page
    from .view.live import LiveView as LiveView

__all__ = [
    "LiveView",
    "animate",
    "draw_atlas",
    "draw_branches",
    "draw_census",
    "draw_crosscheck",
    "draw_equilibria",
    "draw_forces",
    "draw_orbits",
    "draw_phase",
    "draw_reactions",
    "write_study_page",
]

__getattr__, __dir__ = _on_demand(
    __name__,
    {
        "animation": ("animate",),
        "atlas_pictures": ("draw_atlas",),
        "branches_pictures": ("draw_branches", "draw_reactions"),
        "census_pictures": ("draw_census",),
        "crosscheck_pictures": ("draw_crosscheck",),
        "equilibria_pictures": ("draw_equilibria",),
        "forces_pictures": ("draw_forces",),
        "orbits_pictures": ("draw_orbits",),
        "phase": ("draw_phase",),
        "studies.study_page": ("write_study_page",),
        "view.live": ("LiveView",),
    },
)
