"""Interior points."""
