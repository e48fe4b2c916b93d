"""Integrators, the main loop, and the trajectory it leaves behind."""
