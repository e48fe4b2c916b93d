"""The laws of contact as values, and their arithmetic."""

from .laws import Associated, BilateralCoulomb, BilateralSliding, Coulomb, Dry, Rolling, Sliding, Torsional, Unilateral

__all__ = [
    "Associated",
    "BilateralCoulomb",
    "BilateralSliding",
    "Coulomb",
    "Dry",
    "Rolling",
    "Sliding",
    "Torsional",
    "Unilateral",
]
