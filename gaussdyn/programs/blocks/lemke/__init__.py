"""Lemke's method, and friction cones with facets."""
