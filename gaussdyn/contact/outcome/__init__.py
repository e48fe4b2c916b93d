"""How many motions a state has, with proof."""

from .outcome import outcome
from .verdicts import Outcome, Verdict

__all__ = ["Outcome", "Verdict", "outcome"]
