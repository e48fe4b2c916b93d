"""Constraints realized three ways, as cross-checks of the rigid run: by springs, by viscous friction, smoothly."""
