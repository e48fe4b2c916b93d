"""``gaussdyn explain``: what a word means; it registers itself."""

from . import explain_command as explain_command
