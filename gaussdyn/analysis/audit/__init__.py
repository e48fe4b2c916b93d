"""A run judged by the laws it claims to obey."""

from .audit import Audit, audit

__all__ = ["Audit", "audit"]
