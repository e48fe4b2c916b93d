"""Contacts of ellipsoids with all other shapes."""
