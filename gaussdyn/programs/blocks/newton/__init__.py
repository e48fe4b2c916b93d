"""Proximal Newton methods on the natural map."""
