"""Many steps of free bodies in space in one call."""
