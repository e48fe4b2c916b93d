"""Shapes in space, and which of them may touch where."""
