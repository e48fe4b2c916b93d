"""Modules that documented programs import by an earlier path: they go on working, with a word about where things are.

An import of an earlier path gives the very module that holds its names now, so that there is one class of every name.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

# earlier path -> (path of the module, what to import from instead), below gaussdyn
FORMER = {
    "analysis.branches": ("analysis.singular.configurations", "analysis.singular"),
    "analysis.periodic": ("analysis.orbits.periodic_orbit", "analysis.orbits"),
    "analysis.singular_loads": ("analysis.singular.reaction_limits", "analysis.singular"),
    "contact.friction_margin": ("contact.classification.friction_margin", "contact.classification"),
    "integrate.impact_laws": ("integrate.impact.impact_laws", "integrate.impact"),
    "integrate.moreau_jean": ("integrate.time_stepping.moreau_jean", ""),
    "integrate.on_branch": ("integrate.singular.on_branch", "integrate.singular"),
    "integrate.passages": ("integrate.event_driven.painleve_passage", "integrate.event_driven"),
    "integrate.trajectory": ("integrate.run.trajectory", ""),
    "integrate.user_events": ("integrate.event_driven.user_events", "integrate.event_driven"),
    "mechanics.consistent": ("mechanics.initial.consistent_state", "mechanics.initial"),
    "mechanics.forces": ("mechanics.planar.forces", "mechanics.planar"),
    "mechanics.overlap": ("mechanics.initial.overlap", "mechanics.initial"),
    "mechanics.planar_bodies": ("mechanics.planar.bodies", "mechanics.planar"),
    "mechanics.planar_body_file": ("mechanics.planar.body_file", "mechanics.planar"),
    "mechanics.planar_contacts": ("mechanics.planar.contacts", "mechanics.planar"),
    "mechanics.planar_joints": ("mechanics.planar.joints", "mechanics.planar"),
    "mechanics.slip_law": ("mechanics.lagrangian.friction_law", "mechanics.lagrangian"),
    "mechanics.spatial_bodies": ("mechanics.spatial.bodies", "mechanics.spatial"),
    "mechanics.spatial_body_file": ("mechanics.spatial.body_file", "mechanics.spatial"),
    "mechanics.spatial_forces": ("mechanics.spatial.forces", "mechanics.spatial"),
    "mechanics.spatial_joints": ("mechanics.spatial.joints", "mechanics.spatial"),
    "mechanics.spatial_shapes": ("mechanics.collision.shapes", "mechanics.spatial"),
    "mechanics.user_system": ("mechanics.user.system", ""),
    "programs.complementarity": ("programs.problems.complementarity", ""),
    "programs.fclib": ("programs.files.fclib", "programs.files"),
    "report.atlas": ("report.atlas_pictures", "report"),
    "report.branches": ("report.branches_pictures", "report"),
    "scenes.darboux": ("scenes.linkages.darboux", "scenes.linkages"),
    "scenes.singular_pendulum": ("scenes.linkages.singular_pendulum", "scenes.linkages"),
}
ROOT = __package__ + "."


class _Finder:
    """Asked by Python for modules that nothing else finds."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return how to load an earlier path; None for every other name."""
        if not name.startswith(ROOT) or name.removeprefix(ROOT) not in FORMER:
            return None
        return ModuleSpec(name, _Loader())  # type: ignore[arg-type]


class _Loader:
    """Puts the module that holds the names now in the place of the earlier one."""

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """Nothing is made: the module is there."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Load the module, and say where to import from."""
        name = module.__name__
        home, face = FORMER[name.removeprefix(ROOT)]
        words = f"{name} is an earlier path: import from {ROOT}{face}" if face else f"{name}: import from {__package__}"
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        sys.modules[name] = import_module(ROOT + home)


def install() -> None:
    """Have Python ask for earlier paths, once."""
    if not any(isinstance(finder, type) and finder is _Finder for finder in sys.meta_path):
        sys.meta_path.append(_Finder)
