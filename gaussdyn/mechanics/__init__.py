"""Mechanics: states, systems, bodies and constraints. Knows no optimisation."""
