"""Bodies that roll and spin."""
