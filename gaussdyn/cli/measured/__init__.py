"""Commands about what was measured: parameters from recorded runs."""

from . import fit_command as fit_command
