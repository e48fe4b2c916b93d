"""From event to event: smooth phases (flow), and what happens between them (jump).

The loop is `event_loop.onward`.
"""

from .integrator import EventDriven
from .painleve_passage import Compliance, passage
from .user_events import UserEvent

__all__ = ["Compliance", "EventDriven", "UserEvent", "passage"]
