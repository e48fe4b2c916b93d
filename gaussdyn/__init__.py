"""Dynamics with contact, friction and constraints by Gauss's principle: exact, verified, certified.

The public names below are imported when they are first used, so that ``import gaussdyn`` is quick and compiles
nothing. Bodies, shapes, joints, forces and markers are in ``gaussdyn.mechanics.planar`` and
``gaussdyn.mechanics.spatial``, bodies in joint coordinates in ``gaussdyn.mechanics.trees``, laws in
``gaussdyn.programs.laws``, springs in the place of constraints in ``gaussdyn.integrate.realizations``, exceptions in
``gaussdyn.errors``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import _former_paths
from ._lazy import on_demand as _on_demand
from ._version import __version__ as __version__

if _TYPE_CHECKING:
    from .analysis.audit.audit import audit as audit
    from .analysis.crosscheck.crosscheck import crosscheck as crosscheck
    from .analysis.forces.at_state import forces as forces
    from .contact.admissible_set import admissible_set as admissible_set
    from .contact.assemble import assemble as assemble
    from .contact.gauss_program import gauss_program as gauss_program
    from .contact.outcome.outcome import outcome as outcome
    from .contact.resolve import resolve as resolve
    from .contact.snapshot import snapshot as snapshot
    from .errors import InputError as InputError
    from .integrate.event_driven.integrator import EventDriven as EventDriven
    from .integrate.futures.explore import explore as explore
    from .integrate.run.trajectory import Trajectory as Trajectory
    from .integrate.simulate import simulate as simulate
    from .integrate.time_stepping.moreau_jean import MoreauJean as MoreauJean
    from .integrate.time_stepping.tolerance import Tolerance as Tolerance
    from .mechanics.check import check_system as check_system
    from .mechanics.contact_law import ContactLaw as ContactLaw
    from .mechanics.lagrangian.system import LagrangianSystem as LagrangianSystem
    from .mechanics.planar.system import PlanarSystem as PlanarSystem
    from .mechanics.robots.read_robot import read_robot as read_robot
    from .mechanics.spatial.system import SpatialSystem as SpatialSystem
    from .mechanics.state import State as State
    from .mechanics.user.system import Acceleration as Acceleration
    from .mechanics.user.system import Position as Position
    from .mechanics.user.system import UserSystem as UserSystem
    from .mechanics.user.system import Velocity as Velocity
    from .programs.problems.complementarity import ComplementarityProblem as ComplementarityProblem
    from .programs.problems.complementarity import LinearComplementarity as LinearComplementarity
    from .programs.problems.quadratic import QuadraticProgram as QuadraticProgram
    from .programs.solve import solve as solve
    from .report.plot import plot as plot
    from .scenes.catalogue import build as build
    from .studies.fitting.fit_runs import fit as fit
    from .studies.run_study import study as study

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
    "Tolerance",
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
    "fit",
    "forces",
    "gauss_program",
    "outcome",
    "plot",
    "read_robot",
    "resolve",
    "simulate",
    "snapshot",
    "solve",
    "study",
]

_HOME = {
    "analysis.audit.audit": ("audit",),
    "analysis.crosscheck.crosscheck": ("crosscheck",),
    "analysis.forces.at_state": ("forces",),
    "contact.admissible_set": ("admissible_set",),
    "contact.assemble": ("assemble",),
    "contact.gauss_program": ("gauss_program",),
    "contact.outcome.outcome": ("outcome",),
    "contact.resolve": ("resolve",),
    "contact.snapshot": ("snapshot",),
    "errors": ("InputError",),
    "integrate.event_driven.integrator": ("EventDriven",),
    "integrate.futures.explore": ("explore",),
    "integrate.run.trajectory": ("Trajectory",),
    "integrate.simulate": ("simulate",),
    "integrate.time_stepping.moreau_jean": ("MoreauJean",),
    "integrate.time_stepping.tolerance": ("Tolerance",),
    "mechanics.check": ("check_system",),
    "mechanics.contact_law": ("ContactLaw",),
    "mechanics.lagrangian.system": ("LagrangianSystem",),
    "mechanics.planar.system": ("PlanarSystem",),
    "mechanics.robots.read_robot": ("read_robot",),
    "mechanics.spatial.system": ("SpatialSystem",),
    "mechanics.state": ("State",),
    "mechanics.user.system": ("Acceleration", "Position", "UserSystem", "Velocity"),
    "programs.problems.complementarity": ("ComplementarityProblem", "LinearComplementarity"),
    "programs.problems.quadratic": ("QuadraticProgram",),
    "programs.solve": ("solve",),
    "report.plot": ("plot",),
    "scenes.catalogue": ("build",),
    "studies.fitting.fit_runs": ("fit",),
    "studies.run_study": ("study",),
}
_former_paths.install()
__getattr__, __dir__ = _on_demand(__name__, _HOME)
