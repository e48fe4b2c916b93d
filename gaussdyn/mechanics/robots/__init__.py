"""Robots from the files that people have."""
