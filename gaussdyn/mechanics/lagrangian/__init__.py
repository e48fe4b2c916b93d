"""Systems from symbols."""

from .constraints import Contact, Friction, Holonomic, Nonholonomic
from .friction_law import SlipLaw, slip_law
from .system import LagrangianSystem

__all__ = ["Contact", "Friction", "Holonomic", "LagrangianSystem", "Nonholonomic", "SlipLaw", "slip_law"]
