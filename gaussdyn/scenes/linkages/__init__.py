"""Pendulums and mechanisms, some through singular configurations."""

__all__ = ["darboux", "singular_pendulum"]  # modules whose formulas the pages use
