"""programs/backends."""
