"""Commands about forces; each registers itself."""

from . import forces_command as forces_command
from . import margins_command as margins_command
from . import mobility_command as mobility_command
