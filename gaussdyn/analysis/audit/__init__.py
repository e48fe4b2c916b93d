"""A run judged by the laws it claims to obey."""

from .audit import Audit, audit
from .recorded_states import RecordedStates
from .scheme import Scheme

__all__ = ["Audit", "RecordedStates", "Scheme", "audit"]
