"""Periodic orbits and their bifurcations."""

from .continuation import branch_of_orbits
from .periodic_orbit import Orbit, periodic_orbit

__all__ = ["Orbit", "branch_of_orbits", "periodic_orbit"]
