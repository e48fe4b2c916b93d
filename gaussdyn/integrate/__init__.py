"""Integrators, the main loop, and the trajectory it leaves behind."""

from .compiled_control import CompiledControl

__all__ = ["CompiledControl"]
