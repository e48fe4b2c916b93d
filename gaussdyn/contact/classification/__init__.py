"""Classes of contacts, and how far they are from the border."""

from .contact_class import ContactClass, contact_classes
from .friction_margin import critical_friction, friction_margin
from .sliding_margin import sliding_margin

__all__ = ["ContactClass", "contact_classes", "critical_friction", "friction_margin", "sliding_margin"]
