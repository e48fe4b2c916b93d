"""Moreau-Jean's scheme: one contact problem per step."""
