"""Mechanics: states, systems, bodies and constraints. Knows no optimisation."""

__all__ = ["lagrangian", "planar", "spatial"]  # packages, loaded where they are imported
