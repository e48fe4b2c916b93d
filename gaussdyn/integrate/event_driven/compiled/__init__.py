"""Smooth phases of planar systems, many steps in one call."""
