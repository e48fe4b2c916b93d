"""A package, so that no other one of this name, which some library installs, is taken for it."""
