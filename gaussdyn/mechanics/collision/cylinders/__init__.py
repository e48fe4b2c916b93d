"""Contacts of cylinders with one another, with round shapes, and with convex polyhedra."""
