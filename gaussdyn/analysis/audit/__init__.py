"""A run judged by the laws it claims to obey."""

from .audit import Audit, audit
from .recorded_scheme import Scheme
from .recorded_states import RecordedStates

__all__ = ["Audit", "RecordedStates", "Scheme", "audit"]
