"""Dynamics with contact, friction and constraints by Gauss's principle: exact, verified, certified.

The public names below are imported when they are first used, so that ``import gaussdyn`` is quick and compiles
nothing. Everything else is reachable in its module: laws in ``gaussdyn.programs.laws``, springs in place of constraints
in ``gaussdyn.integrate.realizations``, exceptions in ``gaussdyn.errors``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from .analysis.audit import audit as audit
    from .analysis.crosscheck import crosscheck as crosscheck
    from .contact.assemble import assemble as assemble
    from .contact.gauss import gauss_program as gauss_program
    from .contact.omega import admissible_set as admissible_set
    from .contact.outcome import outcome as outcome
    from .contact.resolve import resolve as resolve
    from .contact.snapshot import snapshot as snapshot
    from .errors import InputError as InputError
    from .integrate.event_driven import EventDriven as EventDriven
    from .integrate.explore import explore as explore
    from .integrate.moreau_jean import MoreauJean as MoreauJean
    from .integrate.simulate import simulate as simulate
    from .integrate.trajectory import Trajectory as Trajectory
    from .mechanics.check import check_system as check_system
    from .mechanics.contact_law import ContactLaw as ContactLaw
    from .mechanics.lagrangian import LagrangianSystem as LagrangianSystem
    from .mechanics.planar import PlanarSystem as PlanarSystem
    from .mechanics.spatial import SpatialSystem as SpatialSystem
    from .mechanics.state import State as State
    from .mechanics.user_system import Acceleration as Acceleration
    from .mechanics.user_system import Position as Position
    from .mechanics.user_system import UserSystem as UserSystem
    from .mechanics.user_system import Velocity as Velocity
    from .programs.complementarity import ComplementarityProblem as ComplementarityProblem
    from .programs.complementarity import LinearComplementarity as LinearComplementarity
    from .programs.quadratic import QuadraticProgram as QuadraticProgram
    from .programs.solve import solve as solve
    from .report.pictures import plot as plot
    from .scenes.catalogue import build as build

__all__ = [
    "Acceleration",
    "ComplementarityProblem",
    "ContactLaw",
    "EventDriven",
    "InputError",
    "LagrangianSystem",
    "LinearComplementarity",
    "MoreauJean",
    "PlanarSystem",
    "Position",
    "QuadraticProgram",
    "SpatialSystem",
    "State",
    "Trajectory",
    "UserSystem",
    "Velocity",
    "admissible_set",
    "assemble",
    "audit",
    "build",
    "check_system",
    "crosscheck",
    "explore",
    "gauss_program",
    "outcome",
    "plot",
    "resolve",
    "simulate",
    "snapshot",
    "solve",
]

_HOME = {
    "analysis.audit": ("audit",),
    "analysis.crosscheck": ("crosscheck",),
    "contact.assemble": ("assemble",),
    "contact.gauss": ("gauss_program",),
    "contact.omega": ("admissible_set",),
    "contact.outcome": ("outcome",),
    "contact.resolve": ("resolve",),
    "contact.snapshot": ("snapshot",),
    "errors": ("InputError",),
    "integrate.event_driven": ("EventDriven",),
    "integrate.explore": ("explore",),
    "integrate.moreau_jean": ("MoreauJean",),
    "integrate.simulate": ("simulate",),
    "integrate.trajectory": ("Trajectory",),
    "mechanics.check": ("check_system",),
    "mechanics.contact_law": ("ContactLaw",),
    "mechanics.lagrangian": ("LagrangianSystem",),
    "mechanics.planar": ("PlanarSystem",),
    "mechanics.spatial": ("SpatialSystem",),
    "mechanics.state": ("State",),
    "mechanics.user_system": ("Acceleration", "Position", "UserSystem", "Velocity"),
    "programs.complementarity": ("ComplementarityProblem", "LinearComplementarity"),
    "programs.quadratic": ("QuadraticProgram",),
    "programs.solve": ("solve",),
    "report.pictures": ("plot",),
    "scenes.catalogue": ("build",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
