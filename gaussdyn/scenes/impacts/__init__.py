"""Bodies that strike."""
