"""Boxes about shapes: which of them overlap, and which pairs may for a while."""
