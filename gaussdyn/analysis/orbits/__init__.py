"""Periodic orbits and their bifurcations."""

from ...integrate.fundamental_matrix import Linearised, close_motion, fundamental_matrix
from .continuation import branch_of_orbits
from .periodic_orbit import Orbit, periodic_orbit

__all__ = ["Linearised", "Orbit", "branch_of_orbits", "close_motion", "fundamental_matrix", "periodic_orbit"]
